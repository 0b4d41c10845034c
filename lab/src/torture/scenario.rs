//! What a seed stands for: a scheduler, nodes, jobs, and what goes wrong when.

use std::collections::BTreeSet;
use std::fmt;

use gridweave_core::id::NodeId;
use gridweave_core::job::{Outcome, Retry};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};

use super::dice::{Dice, For};
use super::fault::Fault;
use super::flaw::Flaw;
use crate::schedulers::name::Scheduler;
use gridweave_sim::network::{Cut, Delay, NetworkConfig, Passage, Trouble};

/// The fewest and the most nodes that a run begins with.
pub const NODES: [u32; 2] = [4, 24];

/// The fewest and the most jobs that a seed picks.
pub const JOBS: [u32; 2] = [5, 60];

/// How far apart clocks may be, by the rules of all schedulers.
pub const MAX_SKEW: Span = Span::from_secs(1);

/// After a node was down for so long, all it has on disk is stale: no lease lasts longer.
pub(super) const STALE: Span = Span::from_secs(150);

/// What clocks show at the beginning where they differ, so that no time is negative.
const BASE: Span = Span::from_secs(1000);

/// What to run: a seed, and what to leave out or change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The seed, which decides everything that is not given here.
    pub seed: u64,
    /// The scheduler; if left out, the seed picks one.
    pub scheduler: Option<Scheduler>,
    /// Faults to leave out, although the seed picks them.
    pub without: BTreeSet<Fault>,
    /// How many nodes there are at the beginning; if left out, the seed decides.
    pub nodes: Option<u32>,
    /// How many jobs there are; if left out, the seed decides. A smaller number keeps the first jobs.
    pub jobs: Option<u32>,
    /// For how many seconds things go wrong; if left out, the seed decides.
    pub chaos: Option<u32>,
    /// Whether nodes make the records of all events of an instant durable at once, before their other effects.
    pub group_commit: bool,
    /// A bug to plant, to see that it is caught.
    pub flaw: Option<Flaw>,
}

impl Request {
    /// A request that leaves everything to the seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            scheduler: None,
            without: BTreeSet::new(),
            nodes: None,
            jobs: None,
            chaos: None,
            group_commit: false,
            flaw: None,
        }
    }

    /// The scheduler of this run.
    pub fn scheduler(&self) -> Scheduler {
        let all: Vec<Scheduler> = Scheduler::tortured().collect();
        let picked = all[(self.seed % all.len() as u64) as usize];
        self.scheduler.unwrap_or(picked)
    }
}

/// Writes the command that runs this request.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "gridweave torture --scheduler {} --seed {}",
            self.scheduler(),
            self.seed
        )?;
        if !self.without.is_empty() {
            let names: Vec<&str> = self.without.iter().map(|fault| fault.name()).collect();
            write!(f, " --without {}", names.join(","))?;
        }
        for (option, number) in [
            ("nodes", self.nodes),
            ("jobs", self.jobs),
            ("chaos", self.chaos),
        ] {
            if let Some(number) = number {
                write!(f, " --{option} {number}")?;
            }
        }
        if self.group_commit {
            f.write_str(" --group-commit")?;
        }
        Ok(())
    }
}

/// A planned job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Planned {
    /// When it is submitted.
    pub at: Time,
    /// How long the user says that it runs.
    pub estimate: Span,
    /// How long it really runs.
    pub runs: Span,
    /// How it ends.
    pub outcome: Outcome,
    /// How long after its submission it is cancelled, if at all.
    pub cancelled: Option<Span>,
    /// Whether it may run again.
    pub retry: Retry,
}

/// How many jobs are submitted in the calm, when all others are over.
pub(crate) const PROBES: usize = 3;

/// A job that is submitted in the calm.
pub(crate) const PROBE: Planned = Planned {
    at: Time::MAX,
    estimate: Span::from_secs(20),
    runs: Span::from_secs(20),
    outcome: Outcome::Done,
    cancelled: None,
    retry: Retry::Never,
};

/// A planned fault of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mishap {
    /// It goes down, and comes back after this time.
    Crash(Span),
    /// It goes down after so many more effects, and comes back after this time.
    Doom(u32, Span),
    /// It is lost for ever, with its disk.
    Gone,
    /// It is told to leave.
    Leave,
    /// It is drained, and told to take jobs again after this time.
    Drain(Span),
}

/// What a node has, or a job takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Equipped {
    /// The number of cores.
    pub cores: u32,
    /// The amount of memory.
    pub memory: u32,
}

/// Everything that a run is made of.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// The request that it comes from.
    pub request: Request,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// How many nodes there are at the beginning.
    pub nodes: u32,
    /// The planned jobs; the index is the number of the job.
    pub jobs: Vec<Planned>,
    /// When the calm begins: from then on nothing goes wrong.
    pub calm: Time,
    /// The kinds of faults in this run.
    pub faults: BTreeSet<Fault>,
    /// The network, with its rates of loss, duplication and reordering.
    pub network: NetworkConfig,
    /// Cuts, late messages and slow nodes, until the calm.
    pub trouble: Trouble,
    /// What happens to which node, in the order of time.
    pub mishaps: Vec<(Time, NodeId, Mishap)>,
    /// When further nodes join, in the order of their ids, which follow those of the first nodes.
    pub joins: Vec<Time>,
    /// How many of the joiners, the first ones, replace nodes whose disk is lost.
    pub replacements: u32,
    /// The nodes that lie.
    pub liars: BTreeSet<NodeId>,
    /// The nodes that are slow.
    pub slow: BTreeSet<NodeId>,
    /// The nodes that stand before foreign sites.
    pub foreign: BTreeSet<NodeId>,
    /// The honest nodes that neither leave nor are lost: joiners are introduced by one of these.
    pub stay: Vec<NodeId>,
}

fn millis(millis: u32) -> Span {
    Span::from_millis(u64::from(millis))
}

fn thousandths(dice: &mut Dice, least: u32, most: u32) -> f64 {
    f64::from(dice.between(least, most)) / 1000.0
}

impl Scenario {
    /// The scenario of a request.
    pub fn new(request: &Request) -> Self {
        let seed = request.seed;
        let mut shape = Dice::new(seed, For::Shape, 0);
        let drawn = shape.between(NODES[0], NODES[1]);
        let nodes = request.nodes.unwrap_or(drawn).max(2);
        let drawn = shape.between(JOBS[0], JOBS[1]);
        let jobs = request.jobs.unwrap_or(drawn);
        let drawn = shape.between(200, 500);
        let chaos = Span::from_secs(u64::from(request.chaos.unwrap_or(drawn)));
        let may_be_foreign = request.scheduler() == Scheduler::Aria;
        let picked = |fault: &Fault| {
            if *fault == Fault::Foreign && !may_be_foreign {
                return false;
            }
            let mut dice = Dice::new(seed, For::Picks, *fault as u64);
            dice.below(60) < fault.frequency() && !request.without.contains(fault)
        };
        let faults: BTreeSet<Fault> = Fault::ALL.into_iter().filter(picked).collect();
        let mut scenario = Self {
            scheduler: request.scheduler(),
            nodes,
            jobs: Vec::new(),
            calm: Time::ZERO + chaos,
            faults,
            network: NetworkConfig::default(),
            trouble: Trouble::default(),
            mishaps: Vec::new(),
            joins: Vec::new(),
            replacements: 0,
            liars: BTreeSet::new(),
            slow: BTreeSet::new(),
            foreign: BTreeSet::new(),
            stay: Vec::new(),
            request: request.clone(),
        };
        scenario.jobs = (0..jobs).map(|job| scenario.plan_job(job)).collect();
        scenario.lay_network();
        scenario.trouble_network();
        scenario.pick_liars();
        scenario.pick_foreign();
        scenario.plan_mishaps();
        let unsafe_nodes = |node: &NodeId| {
            let goes = |(_, who, what): &(Time, NodeId, Mishap)| {
                who == node && matches!(what, Mishap::Gone | Mishap::Leave)
            };
            scenario.liars.contains(node) || scenario.mishaps.iter().any(goes)
        };
        let all = (0..u64::from(nodes)).map(NodeId::new);
        scenario.stay = all.filter(|node| !unsafe_nodes(node)).collect();
        scenario
    }

    /// Whether this fault is in the run.
    pub fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    fn dice(&self, fault: Fault) -> Dice {
        Dice::new(self.request.seed, For::Fault, fault as u64)
    }

    /// How many times as long as usual a job is. In every fourth run, some jobs are longer than all leases, permissions
    /// and graces.
    fn longer(&self, number: u32) -> u64 {
        let seed = self.request.seed;
        let mut dice = Dice::new(seed, For::Lengths, 0);
        let some = dice.percent(25);
        let mut dice = Dice::new(seed, For::Lengths, 1 + u64::from(number));
        if some && dice.percent(25) { 6 } else { 1 }
    }

    fn plan_job(&self, number: u32) -> Planned {
        let mut dice = Dice::new(self.request.seed, For::Job, u64::from(number));
        // A fifth of all jobs comes in the calm.
        let chaos = self.calm - Time::ZERO;
        let latest = Span::from_micros(chaos.as_micros() / 4 * 5);
        let at = dice.before(Time::ZERO + latest);
        let estimate = Span::from_secs(u64::from(dice.between(5, 60))).times(self.longer(number));
        let bad = dice.percent(20);
        let breaks = dice.percent(50);
        let tenths = u64::from(dice.between(3, 10));
        let cancel = dice.percent(30);
        let later = dice.within(Span::from_secs(60));
        let bad = bad && self.has(Fault::BadJobs);
        let mut dice = Dice::new(self.request.seed, For::Retries, u64::from(number));
        let retry = match dice.between(0, 9) {
            0..3 => Retry::Never,
            3..8 => Retry::OnNodeLoss(3),
            _ => Retry::Always(2),
        };
        let tenths = if bad && !breaks { 13 } else { tenths };
        Planned {
            at,
            estimate,
            runs: Span::from_micros(estimate.as_micros() * tenths / 10),
            outcome: if bad && breaks {
                Outcome::Broke
            } else {
                Outcome::Done
            },
            cancelled: (cancel && self.has(Fault::Cancels)).then_some(later),
            retry,
        }
    }

    fn lay_network(&mut self) {
        let mut dice = Dice::new(self.request.seed, For::Network, 1);
        let delay = match dice.below(3) {
            0 => Delay::Constant(millis(dice.between(1, 50))),
            _ => Delay::Uniform {
                min: millis(dice.between(1, 20)),
                max: millis(dice.between(30, 200)),
            },
        };
        let report_unreachable = dice.percent(30);
        let chance = |fault: Fault, least, most| match self.has(fault) {
            true => thousandths(&mut self.dice(fault), least, most),
            false => 0.0,
        };
        self.network = NetworkConfig {
            delay,
            loss: chance(Fault::Loss, 5, 200),
            duplication: chance(Fault::Duplication, 10, 300),
            reordering: chance(Fault::Reordering, 50, 400),
            held_up: millis(700),
            report_unreachable,
            partitions: Vec::new(),
        };
    }

    fn trouble_network(&mut self) {
        self.trouble.until = self.calm;
        if self.has(Fault::Delay) {
            let mut dice = self.dice(Fault::Delay);
            self.trouble.late = thousandths(&mut dice, 5, 80);
            self.trouble.late_by = Span::from_secs(u64::from(dice.between(5, 100)));
        }
        for fault in [Fault::OneWay, Fault::Partition] {
            if self.has(fault) {
                let mut dice = self.dice(fault);
                for _ in 0..dice.between(1, 3) {
                    let cut = self.cut(fault, &mut dice);
                    self.trouble.cuts.push(cut);
                }
            }
        }
        if self.has(Fault::Slow) {
            let mut dice = self.dice(Fault::Slow);
            let node = dice.below(self.nodes);
            let longer = Span::from_millis(u64::from(dice.between(300, 3000)));
            self.trouble.slow.push((node, longer));
            self.slow.insert(NodeId::new(u64::from(node)));
        }
    }

    fn cut(&self, fault: Fault, dice: &mut Dice) -> Cut {
        let from = dice.before(self.calm);
        let lasts = Span::from_secs(u64::from(dice.between(5, 150)));
        let mut nodes: Vec<u32> = (0..self.nodes).collect();
        let count = dice.between(1, (self.nodes / 2).max(1)) as usize;
        let nodes = dice.sample(&mut nodes, count).0.to_vec();
        Cut {
            from,
            until: (from + lasts).min(self.calm),
            nodes,
            passage: match fault {
                Fault::Partition => Passage::None,
                _ if dice.percent(50) => Passage::In,
                _ => Passage::Out,
            },
        }
    }

    fn pick_liars(&mut self) {
        if self.has(Fault::Liars) && self.nodes >= 3 {
            let mut dice = self.dice(Fault::Liars);
            let mut nodes: Vec<u64> = (0..u64::from(self.nodes)).collect();
            let count = dice.between(1, self.nodes / 3) as usize;
            let liars = dice.sample(&mut nodes, count).0.iter();
            self.liars = liars.map(|node| NodeId::new(*node)).collect();
        }
    }

    fn pick_foreign(&mut self) {
        if self.has(Fault::Foreign) {
            let mut dice = Dice::new(self.request.seed, For::Foreign, 0);
            let mut nodes: Vec<u64> = (0..u64::from(self.nodes)).collect();
            let count = dice.between(1, self.nodes) as usize;
            let foreign = dice.sample(&mut nodes, count).0.iter();
            self.foreign = foreign.map(|node| NodeId::new(*node)).collect();
        }
    }

    fn some_node(&self, dice: &mut Dice) -> NodeId {
        NodeId::new(u64::from(dice.below(self.nodes)))
    }

    fn plan_mishaps(&mut self) {
        let mut mishaps = Vec::new();
        if self.has(Fault::Crash) {
            let mut dice = self.dice(Fault::Crash);
            for _ in 0..dice.between(1, 12) {
                let (at, node) = (dice.before(self.calm), self.some_node(&mut dice));
                let down = Span::from_millis(1) + dice.within(Span::from_secs(60));
                let effects = dice.below(12);
                let what = match dice.percent(50) {
                    true => Mishap::Crash(down),
                    false => Mishap::Doom(effects, down),
                };
                mishaps.push((at, node, what));
            }
        }
        if self.has(Fault::Stale) {
            let mut dice = self.dice(Fault::Stale);
            for _ in 0..dice.between(1, 2) {
                let (at, node) = (dice.before(self.calm), self.some_node(&mut dice));
                let down = Span::from_secs(u64::from(dice.between(150, 500)));
                mishaps.push((at, node, Mishap::Crash(down)));
            }
        }
        // At least two thirds of the nodes stay, and the first one always does.
        let mut going: Vec<u64> = (1..u64::from(self.nodes)).collect();
        let mut dice = Dice::new(self.request.seed, For::Fault, 100);
        let most = (self.nodes / 3) as usize;
        let mut going = dice.sample(&mut going, most).0.iter().copied();
        if self.has(Fault::DiskLoss) {
            let mut dice = self.dice(Fault::DiskLoss);
            for node in going.by_ref().take(dice.between(1, 2) as usize) {
                let at = dice.before(self.calm);
                mishaps.push((at, NodeId::new(node), Mishap::Gone));
                let later = Span::from_secs(1) + dice.within(Span::from_secs(60));
                self.joins.push(at + later);
            }
            self.replacements = self.joins.len() as u32;
        }
        if self.has(Fault::Churn) {
            let mut dice = self.dice(Fault::Churn);
            for _ in 0..dice.between(1, 4) {
                let at = dice.before(self.calm);
                self.joins.push(at);
            }
            for node in going.take(dice.between(1, 3) as usize) {
                mishaps.push((dice.before(self.calm), NodeId::new(node), Mishap::Leave));
            }
        }
        if self.has(Fault::Drain) {
            let mut dice = self.dice(Fault::Drain);
            for _ in 0..dice.between(1, 6) {
                let (at, node) = (dice.before(self.calm), self.some_node(&mut dice));
                let drained = Span::from_secs(1) + dice.within(Span::from_secs(200));
                mishaps.push((at, node, Mishap::Drain(drained)));
            }
        }
        mishaps.sort_by_key(|(at, node, _)| (*at, *node));
        self.mishaps = mishaps;
    }

    /// Whether the jobs of a node that goes down at this time go on without its machine.
    pub fn crashes_alone(&self, node: NodeId, at: Time) -> bool {
        let which = node.get() ^ at.as_micros().rotate_left(20);
        Dice::new(self.request.seed, For::Survivors, which).below(2) == 0
    }

    /// After how many effects a node that comes up at this time goes down again, if it does.
    pub fn falters(&self, node: NodeId, at: Time) -> Option<u32> {
        let which = node.get() ^ at.as_micros().rotate_left(20);
        let mut dice = Dice::new(self.request.seed, For::Recoveries, which);
        let falters = at < self.calm && dice.below(6) == 0;
        falters.then(|| dice.below(16))
    }

    /// What a node's clock shows at the beginning.
    pub fn clock(&self, node: NodeId) -> Span {
        let mut dice = Dice::new(self.request.seed, For::Clocks, node.get());
        let apart = if self.has(Fault::FarClocks) {
            MAX_SKEW.times(u64::from(dice.between(2, 500)))
        } else if self.has(Fault::Skew) {
            MAX_SKEW
        } else {
            return Span::ZERO;
        };
        // Most clocks are at the limits of what is allowed.
        let part = match dice.below(4) {
            0 => Span::ZERO,
            1 => dice.within(apart),
            _ => apart,
        };
        BASE + part
    }

    /// What a node has. The first node can run any job.
    pub fn equipment(&self, node: NodeId) -> Equipped {
        let mut dice = Dice::new(self.request.seed, For::Equipment, node.get());
        if node.get() == 0 {
            return Self::MOST;
        }
        Equipped {
            cores: dice.between(1, Self::MOST.cores),
            memory: dice.between(1, Self::MOST.memory),
        }
    }

    /// The most that a node has.
    pub const MOST: Equipped = Equipped {
        cores: 4,
        memory: 8,
    };

    /// The node through which this one joins.
    pub fn introducer(&self, node: NodeId) -> NodeId {
        let mut dice = Dice::new(self.request.seed, For::Overlay, node.get());
        let introducer = dice.pick(&self.stay).copied();
        introducer.unwrap_or(NodeId::new(0))
    }
}

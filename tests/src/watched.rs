//! A grid whose host does not trust its nodes: it submits, runs and cancels jobs, makes nodes crash, join and leave,
//! and watches every job.

mod hearing;
mod scene;

pub mod criteria;

pub use scene::{
    BUSY_TIME, CONFIG, DEGREE, EXCHANGES, INSTANT, Scene, bad, partitioned, rules, scenes,
};

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use core::fmt::Debug;

use gridweave_core::commit::{self, Everyone};
use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Outcome, Retry};
use gridweave_core::machine::Machine;
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::asap::{Asap, Bootstrap, Config};
use gridweave_core::time::{Span, Time};
use gridweave_lab::overlay::warmed_up;
use gridweave_sim::engine::{Checking, Simulated, Simulation};
use gridweave_sim::hosting::{Asks, Invariant, Rooms, Terms, Watch, Wish};
use gridweave_sim::network::Network;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::scaled;

/// An `asap` node with at most eight links.
pub type Node = Asap<8, 4>;

/// How often the jobs may run again after a node was lost.
const RERUNS: u8 = 3;

/// A scheduler that the host can watch.
pub trait Watched: Simulated + Machine<Command = Command, Notice = Notice> {
    /// Its rules.
    type Config: Copy + Debug + 'static;

    /// A node.
    fn build(me: NodeId, config: Self::Config, bootstrap: Bootstrap) -> Self;

    /// Its part in the commit protocol, with its schedule.
    fn commitments(&self) -> &commit::Node;

    /// How many jobs were submitted there and have no outcome yet.
    fn open_jobs(&self) -> usize;

    /// What else the job of this number asks for.
    fn refine(_job: &mut Job, _number: usize) {}
}

impl Watched for Node {
    type Config = Config;

    fn build(me: NodeId, config: Config, bootstrap: Bootstrap) -> Self {
        Asap::new(me, config, bootstrap, Everyone).expect("the rules are sound")
    }

    fn commitments(&self) -> &commit::Node {
        self.commitments()
    }

    fn open_jobs(&self) -> usize {
        self.jobs().count()
    }
}

/// No sound run takes longer.
const MOST_TIME: Time = Time::from_secs(4 * 3600);

/// After the last outcome, everything is forgotten within this time.
const SETTLING: Span = Span::from_secs(scaled(900, 240) as u64);

/// What happened in a run, faults included.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Jobs that were done.
    pub finished: u32,
    /// Jobs that were cancelled.
    pub cancelled: u32,
    /// Jobs that failed, for any reason.
    pub failed: BTreeMap<&'static str, u32>,
    /// How often a job began on a node.
    pub begun: u32,
    /// How often a job was stopped on a node.
    pub stopped: u32,
    /// How often a new start was told for a job.
    pub moved: u32,
    /// How often a node went down.
    pub crashed: u32,
    /// How often a node started after time zero.
    pub started: u32,
    /// How many nodes left for good.
    pub left: u32,
    /// What must not happen.
    pub faults: Vec<String>,
}

impl Ledger {
    /// How many jobs have an outcome.
    pub fn last_words(&self) -> u32 {
        self.finished + self.cancelled + self.failed.values().sum::<u32>()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Todo {
    /// First in the order of an instant, so that a job that ends with its reservation is not cut.
    End {
        job: usize,
        node: NodeId,
        epoch: Epoch,
        since: Time,
    },
    Submit(usize),
    Cancel(usize),
    Leave(NodeId),
    Depart(NodeId),
}

/// A job, as its host sees it.
#[derive(Clone, Debug)]
struct Hosted {
    job: Job,
    runs: Span,
    is_unwanted: bool,
    accepted: Option<Time>,
}

/// A grid and its host.
pub struct Grid<M: Watched = Node> {
    /// The nodes.
    pub simulation: Simulation<M>,
    /// What happened.
    pub ledger: Ledger,
    watch: Watch,
    jobs: Vec<Hosted>,
    todo: BTreeSet<(Time, Todo)>,
    now: Time,
    leaving: BTreeSet<NodeId>,
    gone: BTreeSet<NodeId>,
    rng: Xoshiro256PlusPlus,
}

impl<M: Watched> Grid<M> {
    /// Nodes with the links that CYCLON makes, and no jobs yet.
    pub fn new(scene: &Scene<M::Config>) -> Self {
        let Scene {
            nodes,
            seed,
            config,
            ..
        } = *scene;
        let network = Network::new(&scene.network, seed).expect("the network is sound");
        let views = warmed_up(nodes, DEGREE, 4, 20, seed);
        let build = move |me: NodeId| {
            let peers = views.get(me.get() as usize);
            let bootstrap = match peers {
                Some(peers) => {
                    let peers = peers.iter().map(|peer| NodeId::new(u64::from(*peer)));
                    Bootstrap::Meet(peers.collect())
                }
                None => Bootstrap::Join(NodeId::new(me.get() * 7 % u64::from(nodes)).into()),
            };
            M::build(me, config, bootstrap)
        };
        let mut simulation = Simulation::new(nodes, network, seed, build);
        simulation.check(Checking::EveryEvent);
        let terms = Terms {
            // How long a part may run alone is what torture looks at: there clocks and delays are known.
            grace: None,
            lingers: Span::ZERO,
            calm: Time::MAX,
            kept: Invariant::ALL.into_iter().collect(),
        };
        Self {
            simulation,
            ledger: Ledger::default(),
            watch: Watch::new(terms, Rooms::Whole),
            jobs: Vec::new(),
            todo: BTreeSet::new(),
            now: Time::ZERO,
            leaving: BTreeSet::new(),
            gone: BTreeSet::new(),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Plays a scene until every job has its outcome and has been forgotten.
    pub fn play(scene: &Scene<M::Config>) -> Self {
        let mut grid = Self::new(scene);
        grid.plan(scene);
        grid.finish();
        grid
    }

    fn some_time(&mut self) -> Time {
        let millis = self.rng.below((BUSY_TIME.as_micros() / 1000) as u32);
        Time::from_millis(u64::from(millis))
    }

    fn some_node(&mut self, nodes: u32) -> NodeId {
        NodeId::new(u64::from(self.rng.below(nodes)))
    }

    fn plan(&mut self, scene: &Scene<M::Config>) {
        for _ in 0..scene.jobs {
            let at = self.some_time();
            let count = 1 + self.rng.below(scene.widest);
            let estimate = Span::from_secs(u64::from(5 + self.rng.below(60)));
            // Most jobs end before their estimate, some exactly with it.
            let tenths = match self.rng.below(100) < scene.late {
                true => 13,
                false => 4 + u64::from(self.rng.below(7)),
            };
            let runs = Span::from_micros(estimate.as_micros() * tenths / 10);
            let job = self.add(count, estimate, runs);
            self.todo.insert((at, Todo::Submit(job)));
            if self.rng.below(100) < scene.cancelled {
                let later = Span::from_millis(u64::from(self.rng.below(60_000)));
                self.todo.insert((at + later, Todo::Cancel(job)));
            }
        }
        for crash in 0..scene.crashes {
            let (at, node) = (self.some_time(), self.some_node(scene.nodes));
            if crash % 2 == 0 {
                self.simulation.crash(at, node);
            } else {
                let effects = self.rng.below(12);
                self.simulation.crash_after(at, node, effects);
            }
        }
        for _ in 0..scene.joins {
            let at = self.some_time();
            self.simulation.join(at);
        }
        for _ in 0..scene.leaves {
            let (at, node) = (self.some_time(), self.some_node(scene.nodes));
            self.todo.insert((at, Todo::Leave(node)));
        }
    }

    /// Adds a job for `count` nodes that runs for `runs`; returns its number.
    pub fn add(&mut self, count: u32, estimate: Span, runs: Span) -> usize {
        let number = self.jobs.len();
        let demand = Demand::Nodes(NonZeroU32::new(count).expect("a job wants a node"));
        let mut job = Job::new(JobId::new(number as u64), demand, estimate).expect("it takes time");
        job.retry = Retry::OnNodeLoss(RERUNS);
        M::refine(&mut job, number);
        self.jobs.push(Hosted {
            job,
            runs,
            is_unwanted: false,
            accepted: None,
        });
        self.watch.add(Wish {
            nodes: count,
            takes: None,
            reruns: RERUNS.into(),
            asks: Asks::default(),
        });
        number
    }

    /// Submits a job now, at this node.
    pub fn submit_at(&mut self, job: usize, node: NodeId) {
        self.watch.submitted(job, node);
        let submitted = self.jobs[job].job;
        self.tell(node, Command::submit(submitted));
    }

    /// The start that was last told for a job.
    pub fn accepted(&self, job: usize) -> Option<Time> {
        self.jobs[job].accepted
    }

    /// The outcome of a job, if it has one.
    pub fn last_word(&self, job: usize) -> Option<News> {
        self.watch.last_word(job)
    }

    fn is_up(&self, node: NodeId) -> bool {
        self.simulation.machine(node).is_some()
    }

    fn tell(&mut self, node: NodeId, command: Command) {
        self.simulation.command_first(self.now, node, command);
        self.look();
    }

    /// Runs until `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            let event = self.simulation.next_at().filter(|at| *at <= end);
            let todo = self.todo.first().copied().filter(|(at, _)| *at <= end);
            match (event, todo) {
                (event, Some((at, todo))) if event.is_none_or(|event| at <= event) => {
                    self.todo.pop_first();
                    self.now = self.now.max(at);
                    self.act(todo);
                }
                (Some(event), _) => {
                    self.now = event;
                    self.simulation.step();
                    self.look();
                }
                (None, _) => break,
            }
        }
        self.simulation.run_until(end);
        self.now = end;
    }

    /// Runs until all jobs have their outcomes, and checks that nothing is left of them.
    pub fn finish(&mut self) {
        let step = Span::from_secs(60);
        while (0..self.jobs.len()).any(|job| self.last_word(job).is_none()) {
            if self.now > MOST_TIME {
                break;
            }
            self.run_until(self.now + step);
        }
        self.run_until(self.now + SETTLING);
        for (number, job) in self.jobs.iter().enumerate() {
            if self.last_word(number).is_none() {
                let fault = format!("job {number} never has its last word: {job:?}");
                self.ledger.faults.push(fault);
            }
        }
        let breaches = self.watch.breaches().iter().map(ToString::to_string);
        self.ledger.faults.extend(breaches);
        for broken in self.simulation.broken() {
            self.ledger.faults.push(format!("{broken:?}"));
        }
        for node in (0..self.simulation.len() as u64).map(NodeId::new) {
            let Some(machine) = self.simulation.machine(node) else {
                continue;
            };
            let parts = machine.commitments();
            let left = [
                machine.open_jobs(),
                parts.coordinator.jobs().count(),
                parts.participant.schedule().len(),
            ];
            // At most three records may stay: two lives and the known peers.
            let records = self.simulation.disk(node).count();
            if left != [0; 3] || records > 3 {
                let fault = format!("{node} still has {left:?} and {records} records");
                self.ledger.faults.push(fault);
            }
        }
    }

    fn act(&mut self, todo: Todo) {
        let now = self.now;
        match todo {
            Todo::End {
                job,
                node,
                epoch,
                since,
            } => {
                if self.watch.runs(node, job, epoch, since) {
                    self.watch.ended(now, node, job, epoch, false);
                    let ended = Command::Ended {
                        job: self.jobs[job].job.id,
                        attempt: epoch,
                        outcome: Outcome::Done,
                    };
                    self.tell(node, ended);
                }
            }
            Todo::Submit(job) => {
                if self.last_word(job).is_some() {
                    return;
                }
                match self.watch.home(job) {
                    // The home may not know the job yet; if it does, it refuses. If it is down, it is asked later.
                    Some(home) if self.is_up(home) => self.submit_at(job, home),
                    Some(_) => {}
                    None => match self.some_node_to_ask() {
                        Some(node) => self.submit_at(job, node),
                        None => {
                            let later = now + Span::from_secs(1);
                            self.todo.insert((later, Todo::Submit(job)));
                        }
                    },
                }
            }
            Todo::Cancel(job) => {
                self.jobs[job].is_unwanted = true;
                self.watch.unwanted(job);
                let home = self.watch.home(job);
                match home.filter(|home| self.is_up(*home)) {
                    Some(home) => self.tell(home, Command::Cancel(self.jobs[job].job.id)),
                    None if home.is_none() => {
                        let later = now + Span::from_secs(1);
                        self.todo.insert((later, Todo::Cancel(job)));
                    }
                    None => {}
                }
            }
            Todo::Leave(node) => {
                self.leaving.insert(node);
                if self.is_up(node) {
                    self.tell(node, Command::Leave);
                }
                let later = now + Span::from_secs(30);
                self.todo.insert((later, Todo::Depart(node)));
            }
            Todo::Depart(node) => {
                let idle = self.simulation.machine(node).is_none_or(|machine| {
                    let parts = machine.commitments();
                    machine.open_jobs() == 0
                        && parts.coordinator.jobs().count() == 0
                        && parts.participant.schedule().is_empty()
                });
                if idle && self.is_up(node) && self.gone.insert(node) {
                    self.ledger.left += 1;
                    self.simulation.crash(now, node);
                } else if !self.gone.contains(&node) {
                    let later = now + Span::from_secs(30);
                    self.todo.insert((later, Todo::Depart(node)));
                }
            }
        }
    }

    /// A random node that is up and not leaving.
    fn some_node_to_ask(&mut self) -> Option<NodeId> {
        let all = (0..self.simulation.len() as u64).map(NodeId::new);
        let fit = all.filter(|node| self.is_up(*node) && !self.leaving.contains(node));
        let fit: Vec<NodeId> = fit.collect();
        self.rng.pick(&fit).copied()
    }
}

impl<M: Watched> Grid<M> {
    /// Plays a scene, and asserts that there are no faults and that every job has its outcome.
    pub fn play_soundly(scene: &Scene<M::Config>) -> Self {
        let grid = Self::play(scene);
        let (ledger, seed) = (&grid.ledger, scene.seed);
        let mishaps = grid.simulation.network().mishaps();
        println!("seed {seed}, {:?}: {ledger:?}, {mishaps:?}", scene.config);
        assert!(
            ledger.faults.is_empty(),
            "seed {seed}: {:#?}",
            ledger.faults
        );
        assert_eq!(ledger.last_words(), scene.jobs, "seed {seed}");
        grid
    }
}

#[cfg(test)]
mod tests {
    use gridweave_core::job::Failure;
    use gridweave_core::scheduler::asap::Links;

    use super::*;

    /// A grid in which a job for two nodes was submitted at node 0 and found its time.
    fn grid() -> (Grid, usize) {
        let config = rules(INSTANT, Links::Static, EXCHANGES[1]);
        let mut grid = Grid::<Node>::new(&Scene::calm(1, config));
        grid.run_until(Time::from_secs(1));
        let (estimate, runs) = (Span::from_secs(20), Span::from_secs(15));
        let job = grid.add(2, estimate, runs);
        grid.submit_at(job, NodeId::new(0));
        grid.run_until(Time::from_secs(11));
        assert_eq!(grid.watch.running(), 2);
        (grid, job)
    }

    #[test]
    fn a_job_without_a_last_word_and_what_is_left_of_it_are_noticed() {
        let (mut grid, job) = grid();
        // The host never ends the job, so it is cut at its end, and is not placed again.
        grid.jobs[job].runs = Span::MAX;
        grid.todo.clear();
        grid.finish();
        assert_eq!(
            grid.last_word(job),
            Some(News::Failed(Failure::Overran)),
            "it was cut"
        );
        assert!(grid.ledger.faults.is_empty(), "{:?}", grid.ledger.faults);
        let unheard = grid.add(1, Span::from_secs(1), Span::from_secs(1));
        grid.watch.submitted(unheard, NodeId::new(0));
        grid.finish();
        assert_eq!(grid.ledger.faults.len(), 1, "{:?}", grid.ledger.faults);
    }
}

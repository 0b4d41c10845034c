//! Emulates a grid of `criteria` nodes on a network without delay, and follows one job through its iterations.

use gridweave_core::scheduler::criteria::Exploration;
use gridweave_core::scheduler::criteria::Helper;
use std::num::NonZeroU32;

use gridweave_core::id::JobId;
use gridweave_core::job::{Command, Criterion, Demand, Job};
use gridweave_core::profile::Profile;
use gridweave_core::time::{Span, Time};

use super::{Setting, Setup, id};
use crate::config::NetworkConfig;
use crate::config::network::connect;
use crate::experiment::nodes::bootstrap;
use crate::kinds::policies;
use crate::overlay::warmed_up;
use crate::reproduce::Rules;
use crate::schedulers::criteria::{CriteriaConfig, CriterionName};
use crate::schedulers::criteria::{HINTS, Node as CriteriaNode};
use gridweave_sim::engine::Simulation;
use gridweave_sim::monitor::Monitor;

/// The period of gossip, and the length of an iteration.
pub(super) const CYCLE: Span = Span::from_secs(10);

/// How many cycles overlays gossip before the job is submitted.
const SETTLING: u64 = 100;

/// How many iterations are followed.
pub(super) const ITERATIONS: u16 = 50;

/// The slot of schedules: longer than all that is measured, so that no job starts before.
pub(super) const SLOT: Span = Span::from_secs(3_600);

/// A protocol that finds nodes for a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Contender {
    pub(super) title: &'static str,
    pub(super) exploration: Exploration,
    /// Whether selection is the genetic algorithm of the paper alone.
    pub(super) paper_selection: bool,
}

/// The protocols of the paper, and the second one with this project's selection.
pub(super) const CONTENDERS: [Contender; 3] = [
    Contender {
        title: "basic",
        exploration: Exploration::Basic,
        paper_selection: true,
    },
    Contender {
        title: "proactive",
        exploration: Exploration::Proactive,
        paper_selection: true,
    },
    Contender {
        title: "proactive, own selection",
        exploration: Exploration::Proactive,
        paper_selection: false,
    },
];

impl Contender {
    /// Whose rules it follows.
    pub(super) const fn rules(self) -> Rules {
        match self.paper_selection {
            true => Rules::Paper,
            false => Rules::Ours,
        }
    }

    pub(super) fn config(self, helper: Helper) -> CriteriaConfig {
        let helpers = match self.exploration {
            Exploration::Basic => Vec::new(),
            Exploration::Proactive => vec![helper],
        };
        CriteriaConfig {
            criterion: CriterionName::Closest,
            exploration: self.exploration,
            helpers: Some(helpers),
            paper_selection: self.paper_selection,
            iterations: ITERATIONS,
            pause: (CYCLE),
            period: (CYCLE),
            width: 1,
            slot: (SLOT),
            ..CriteriaConfig::paper()
        }
    }
}

/// Our rules, for jobs that want near nodes.
pub(super) fn ours() -> CriteriaConfig {
    CriteriaConfig {
        criterion: CriterionName::Closest,
        helpers: Some(vec![Helper::Proximity]),
        iterations: ITERATIONS,
        pause: CYCLE,
        period: CYCLE,
        slot: SLOT,
        ..CriteriaConfig::default()
    }
}

/// A running grid.
pub(super) struct Emulation {
    pub(super) simulation: Simulation<CriteriaNode>,
    next_job: u64,
}

impl Emulation {
    /// A grid of nodes with these profiles, with warmed-up random overlays.
    pub(super) fn new(profiles: &[Profile], config: &CriteriaConfig, seed: u64) -> Self {
        let nodes = u32::try_from(profiles.len()).unwrap_or(u32::MAX);
        let views = warmed_up(nodes, config.degree, config.shuffle, config.warm_up, seed);
        let network = NetworkConfig::default();
        let machines = config.for_machines(&network);
        let network = connect(&network, nodes, seed).expect("no delay is always possible");
        let (profiles, catalogue) = (profiles.to_vec(), config.catalogue());
        let policy = policies(None);
        let build = move |me: gridweave_core::id::NodeId| {
            let profile = profiles[me.get() as usize].clone();
            let bootstrap = bootstrap(&views, me);
            CriteriaNode::new(
                me,
                machines,
                bootstrap,
                profile,
                catalogue.clone(),
                policy(me),
            )
            .expect("the defaults and what is changed here go together")
        };
        Self {
            simulation: Simulation::with_hints(nodes, network, seed, HINTS, build),
            next_job: 0,
        }
    }

    /// When overlays have settled.
    pub(super) const fn settled() -> Time {
        Time::from_micros(CYCLE.as_micros().saturating_mul(SETTLING))
    }

    /// Runs up to an instant, or until the monitor says stop.
    pub(super) fn run_until(&mut self, until: Time, monitor: &Monitor) {
        let mut at = self.simulation.now();
        while at < until && !monitor.stopped() {
            at = (at + CYCLE).min(until);
            self.simulation.run_until(at);
            self.simulation.happenings();
        }
    }

    /// Submits a job for so many nodes and slots.
    pub(super) fn submit(
        &mut self,
        at: Time,
        node: u32,
        count: u32,
        slots: u32,
        criterion: Criterion,
    ) -> JobId {
        let name = JobId::new(self.next_job);
        self.next_job += 1;
        let demand = Demand::Nodes(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN));
        let length = SLOT.times(u64::from(slots.max(1)));
        let mut job = Job::new(name, demand, length).expect("a slot takes time");
        job.criterion = criterion;
        self.simulation.command(at, id(node), Command::submit(job));
        name
    }

    /// The cost of the job's placement after each iteration; `None` while it has none.
    pub(super) fn follow(
        &mut self,
        node: u32,
        job: JobId,
        iterations: u16,
        monitor: &Monitor,
    ) -> Vec<Option<f64>> {
        let begin = self.simulation.now();
        let after = |iteration: u64| {
            let middle = Span::from_micros(CYCLE.as_micros() / 2);
            begin + CYCLE.times(iteration) + middle
        };
        let costs = (0..u64::from(iterations)).map(|iteration| {
            self.run_until(after(iteration), monitor);
            let machine = self.simulation.machine(id(node))?;
            machine.progress(job)?.cost
        });
        costs.collect()
    }
}

/// How many cases a setting has: one for each contender, and the centralised reference.
pub(super) const CASES: usize = CONTENDERS.len() + 1;

/// The setting and the contender of a case; `None` for the centralised reference.
pub(super) fn case(setup: &Setup, number: usize) -> (Setting, Option<Contender>) {
    let setting = setup.settings()[number / CASES];
    (setting, CONTENDERS.get(number % CASES).copied())
}

/// The names of all cases.
pub(super) fn cases(setup: &Setup) -> Vec<String> {
    let all = 0..setup.settings().len() * CASES;
    let name = |number| {
        let (Setting { nodes, job }, contender) = case(setup, number);
        let title = contender.map_or("centralised", |known| known.title);
        format!("{job} of {nodes}, {title}")
    };
    all.map(name).collect()
}

/// The cost of the nodes that a contender finds on an idle grid, after each iteration; NaN while it has none.
pub(super) fn found(
    profiles: &[Profile],
    job: u32,
    config: &CriteriaConfig,
    seed: u64,
    monitor: &Monitor,
) -> Vec<f64> {
    let mut grid = Emulation::new(profiles, config, seed);
    grid.run_until(Emulation::settled(), monitor);
    let submitter = submitter(profiles.len(), seed);
    let now = grid.simulation.now();
    let job = grid.submit(now, submitter, job, 1, config.job_criterion());
    let costs = grid.follow(submitter, job, ITERATIONS, monitor);
    costs.iter().map(|cost| cost.unwrap_or(f64::NAN)).collect()
}

/// The node at which the followed job is submitted.
pub(super) fn submitter(nodes: usize, seed: u64) -> u32 {
    (seed % nodes.max(1) as u64) as u32
}

/// The iterations that are in tables.
pub(super) const SHOWN: [usize; 5] = [1, 5, 10, 20, 50];

//! Builds and simulates the nodes of schedulers that are one machine per node.

use std::num::NonZeroU32;

use gridweave_core::id::NodeId;
use gridweave_core::job::{Command, Criterion, Notice};
use gridweave_core::machine::Machine;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::time::{Span, Time};
use gridweave_sim::engine::{Checking, Hints, Simulated, Simulation};
use gridweave_sim::monitor::Monitor;
use gridweave_sim::network::Network;

use super::error::{InputError, MOST_NODES};
use super::prepare::Prepared;
use crate::config::Config;
use crate::config::fault::Fault;
use crate::config::network::{NetworkError, connect};
use crate::grid::Grid;
use crate::kinds::Kinds;
use crate::memory;
use crate::overlay::warmed_up;
use crate::picture::Drawn;
use crate::replay::{self, Hosting, Submissions};
use crate::run::Run;

/// A seed for one use of the main seed. Different uses get different streams of random numbers.
pub(crate) fn stream(seed: u64, number: u64) -> u64 {
    seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// How a node enters the overlay: with its view, or for a later joiner, through the first node.
pub(crate) fn bootstrap(views: &[Box<[u32]>], me: NodeId) -> Bootstrap {
    match views.get(me.get() as usize) {
        Some(view) if view.is_empty() => Bootstrap::Alone,
        Some(view) => {
            let peers = view.iter().map(|&peer| NodeId::new(u64::from(peer)));
            Bootstrap::Meet(peers.collect())
        }
        // A node that joins later is introduced by the first node.
        None => Bootstrap::Join(NodeId::new(0).into()),
    }
}

/// The nodes of a scheduler that is one machine per node: how they are built, and how to look at them.
pub(crate) struct Nodes<M: Simulated> {
    build: Box<dyn FnMut(NodeId) -> M>,
    hints: Hints<M>,
    /// The criterion of all jobs.
    criterion: Criterion,
    /// The peers to which a node has links; empty if it keeps none.
    neighbours: fn(&M) -> Vec<NodeId>,
    /// How a node is drawn in a space; `None` if it is in none.
    drawn: fn(&M) -> Option<Drawn>,
    /// What a node counted.
    counts: fn(&M) -> Vec<(&'static str, u64)>,
}

impl<M: Simulated> Nodes<M> {
    pub(crate) fn built_by(build: impl FnMut(NodeId) -> M + 'static) -> Self {
        Self {
            build: Box::new(build),
            hints: Hints::default(),
            criterion: Criterion::Soonest,
            neighbours: |_| Vec::new(),
            drawn: |_| None,
            counts: |_| Vec::new(),
        }
    }

    pub(crate) fn hinted(self, hints: Hints<M>) -> Self {
        Self { hints, ..self }
    }

    pub(crate) fn asking_for(self, criterion: Criterion) -> Self {
        Self { criterion, ..self }
    }

    pub(crate) fn linked(self, neighbours: fn(&M) -> Vec<NodeId>) -> Self {
        Self { neighbours, ..self }
    }

    pub(crate) fn counting(self, counts: fn(&M) -> Vec<(&'static str, u64)>) -> Self {
        Self { counts, ..self }
    }

    pub(crate) fn drawn(self, drawn: fn(&M) -> Option<Drawn>) -> Self {
        Self { drawn, ..self }
    }
}

/// A node takes at least so many times the size of its machine: the machine's heap, its timers and its part of the
/// overlay take as much again.
const BESIDE_MACHINES: u64 = 2;

impl Prepared {
    /// Refuses an experiment that does not suit a scheduler of one machine per node, each of so many bytes.
    pub(crate) fn check_nodes(
        &self,
        places_requirements: bool,
        machine: usize,
    ) -> Result<(), InputError> {
        let scheduler = self.config.scheduler;
        if matches!(*self.grid, Grid::Mixed(_)) && !places_requirements {
            return Err(InputError::MixedGrid(scheduler));
        }
        let nodes = self.nodes_ever() as usize;
        if nodes > MOST_NODES as usize {
            let nodes = nodes as u64;
            return Err(InputError::TooManyNodes { scheduler, nodes });
        }
        let needed = nodes as u64 * machine as u64 * BESIDE_MACHINES;
        if let Some(free) = memory::free_bytes().filter(|free| needed > *free) {
            return Err(InputError::TooLittleMemory {
                scheduler,
                nodes: nodes as u64,
                needed,
                free,
            });
        }
        for fault in &self.config.faults {
            if let Fault::Crash { node, .. } | Fault::Restart { node, .. } = *fault
                && node as usize >= nodes
            {
                return Err(InputError::NoSuchNode { node, nodes });
            }
        }
        if let Some(node) = self.config.network.last_cut_off()
            && node as usize >= nodes
        {
            return Err(InputError::NoSuchNodeCutOff { node, nodes });
        }
        self.network()?;
        Ok(())
    }

    /// How many nodes there are in all, later joiners included. A mixed grid lists the joiners as its last nodes.
    pub(crate) fn nodes_ever(&self) -> u32 {
        let nodes = match &*self.grid {
            Grid::Uniform(nodes) => *nodes as usize + self.joining_later().count(),
            Grid::Mixed(mixed) => mixed.nodes.len(),
        };
        u32::try_from(nodes).unwrap_or(u32::MAX)
    }

    /// The kinds of all nodes, later joiners included; `None` if all nodes are equal.
    pub(crate) fn kinds(&self) -> Option<Kinds> {
        Kinds::of(&self.config, self.nodes_ever())
    }

    /// How many nodes there are at the beginning.
    pub(crate) fn nodes_at_start(&self) -> u32 {
        let joining = u32::try_from(self.joining().count()).unwrap_or(u32::MAX);
        self.nodes_ever().saturating_sub(joining)
    }

    /// When nodes join, in the order of their ids.
    pub(crate) fn joining(&self) -> impl Iterator<Item = Time> {
        self.joining_first().chain(self.joining_later())
    }

    /// When nodes join that are there before the first job comes. The first node does not join.
    fn joining_first(&self) -> impl Iterator<Item = Time> {
        let every = self.joins_every();
        every.into_iter().flat_map(|every| {
            let later = self.joining_later().count();
            let nodes = match &*self.grid {
                Grid::Uniform(nodes) => *nodes as usize,
                Grid::Mixed(mixed) => mixed.nodes.len().saturating_sub(later),
            };
            (1..nodes as u64).map(move |node| Time::ZERO + every.times(node))
        })
    }

    /// The time between two joins before the first job comes, if nodes join one by one.
    fn joins_every(&self) -> Option<Span> {
        self.config.rules.joins_every(self.config.scheduler)
    }

    /// When the nodes join that are planned under `faults`.
    pub(crate) fn joining_later(&self) -> impl Iterator<Item = Time> {
        self.config.faults.iter().filter_map(|fault| match fault {
            Fault::Join { at } => Some(Time::ZERO + *at),
            _ => None,
        })
    }

    /// The network between all nodes, later joiners included.
    fn network(&self) -> Result<Network, NetworkError> {
        let seed = stream(self.config.seed, 1);
        connect(&self.config.network, self.nodes_ever(), seed)
    }

    /// The links of each node at the beginning, in the order of ids.
    pub(crate) fn warmed_up(&self, degree: u8, shuffle: u8, cycles: u32) -> Vec<Box<[u32]>> {
        let nodes = u32::try_from(self.grid.len()).unwrap_or(u32::MAX);
        let seed = stream(self.config.seed, 4);
        warmed_up(nodes, degree, shuffle, cycles, seed)
    }

    /// Simulates a scheduler that is one machine per node.
    pub(crate) fn simulate_nodes<M>(
        &self,
        nodes: Nodes<M>,
        monitor: &Monitor,
    ) -> Result<Run, InputError>
    where
        M: Simulated + Machine<Command = Command, Notice = Notice>,
    {
        let Config {
            seed,
            faults,
            report,
            grid,
            ..
        } = &self.config;
        let (count, seed_of_nodes) = (self.nodes_at_start(), stream(*seed, 2));
        let network = self.network()?;
        let mut simulation =
            Simulation::with_hints(count, network, seed_of_nodes, nodes.hints, nodes.build);
        simulation.count_per(report.window);
        // A zero is refused when the configuration is read.
        let every = NonZeroU32::new(report.check_every).unwrap_or(NonZeroU32::MIN);
        simulation.check(Checking::Every(every));
        // Joiners get their ids before any fault can name them.
        for at in self.joining() {
            simulation.join(at);
        }
        let id = |node: u32| NodeId::new(u64::from(node));
        for fault in faults {
            match *fault {
                Fault::Crash { at, node } => simulation.crash(Time::ZERO + at, id(node)),
                Fault::Restart { at, node } => simulation.restart(Time::ZERO + at, id(node)),
                Fault::Join { .. } => {}
            }
        }
        let kinds = self.kinds();
        let submissions = Submissions {
            grid: &self.grid,
            workload: &self.workload,
            kinds: kinds.as_ref(),
            estimates: self.config.workload.estimates,
            criterion: nodes.criterion,
        };
        let hosting = Hosting {
            seed: stream(*seed, 3),
            pictures: report.zones.map(|every| (every, nodes.drawn)),
            neighbours: nodes.neighbours,
            counts: nodes.counts,
            explained: self.explained,
            patience: grid.patience.max(Span::from_secs(1)),
            until: grid.until.map_or(Time::MAX, |until| Time::ZERO + until),
        };
        Ok(replay::simulate(simulation, submissions, &hosting, monitor))
    }
}

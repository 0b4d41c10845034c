//! A prepared experiment, simulated and summed up.

use std::io::Write;
use std::path::Path;

use gridweave_core::id::NodeId;
use gridweave_core::time::{Span, Time};

use super::{InputError, Prepared};
use crate::central;
use crate::config::{Config, Fault, Lasting};
use crate::decentral::random::Random;
use crate::decentral::{self, Hosting};
use crate::engine::{Checking, Protocol, Simulation, Traffic};
use crate::grid::Grid;
use crate::monitor::Monitor;
use crate::network::Network;
use crate::results::{
    Cost, Draft, FolderError, Meter, Row, Summary, series, write_jobs, write_json,
};
use crate::run::{Faults, Placement, Run};
use crate::scheduler::Scheduler;

/// What an experiment came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// What happened.
    pub run: Run,
    /// How it went over time.
    pub series: Vec<Row>,
    /// It in a few numbers.
    pub summary: Summary,
    /// What it cost to simulate.
    pub cost: Cost,
}

/// Different uses of one seed must not meet in the same stream.
fn stream(seed: u64, number: u64) -> u64 {
    seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Prepared {
    /// Simulates it. If the monitor is told to stop, results are partial, and say so.
    pub fn execute(&self, monitor: &Monitor) -> Result<Results, InputError> {
        let meter = Meter::start();
        let run = match self.config.scheduler {
            Scheduler::Central(central) => {
                let estimates = self.config.workload.estimates;
                central::simulate(central, &self.grid, &self.workload, estimates, monitor)?.into()
            }
            Scheduler::Random => {
                let Grid::Uniform(nodes) = *self.grid else {
                    return Err(InputError::MixedGrid(self.config.scheduler));
                };
                self.simulate(move |_| Random::new(nodes), monitor)?
            }
        };
        let cost = meter.stop(run.events);
        let facts = self.facts();
        let series = series(&facts, &run, self.config.report.window.span());
        let threshold = self.config.report.slowdown_threshold.span();
        let summary = Summary::new(&facts, &run, &series, threshold);
        Ok(Results {
            run,
            series,
            summary,
            cost,
        })
    }

    /// Runs a scheduler that is one machine per node.
    fn simulate<P>(
        &self,
        build: impl FnMut(NodeId) -> P + 'static,
        monitor: &Monitor,
    ) -> Result<Run, InputError>
    where
        P: Protocol<Command = gridweave_core::job::Command, Notice = gridweave_core::job::Notice>,
    {
        let Config {
            seed,
            network,
            faults,
            report,
            grid,
            ..
        } = &self.config;
        let nodes = self.grid.len();
        let count = u32::try_from(nodes).unwrap_or(u32::MAX);
        let network = Network::new(network, count, stream(*seed, 1))?;
        let mut simulation = Simulation::new(count, network, stream(*seed, 2), build);
        simulation.count_per(report.window.span());
        simulation.check(Checking::EveryEvent);
        let at = |at: Lasting| Time::ZERO + at.span();
        for fault in faults {
            let (Fault::Crash { node, .. } | Fault::Restart { node, .. }) = *fault;
            if node as usize >= nodes {
                return Err(InputError::NoSuchNode { node, nodes });
            }
            let id = NodeId::new(u64::from(node));
            match *fault {
                Fault::Crash { at: when, .. } => simulation.crash(at(when), id),
                Fault::Restart { at: when, .. } => simulation.restart(at(when), id),
            }
        }
        let hosting = Hosting {
            grid: &self.grid,
            workload: &self.workload,
            estimates: self.config.workload.estimates,
            seed: stream(*seed, 3),
            patience: grid.patience.span().max(Span::from_secs(1)),
        };
        Ok(decentral::simulate(simulation, hosting, monitor))
    }
}

impl From<central::Run> for Run {
    fn from(run: central::Run) -> Self {
        let placement = if run.nodes.is_empty() {
            Placement::Interchangeable
        } else {
            let nodes = run.nodes.iter();
            Placement::Assigned(nodes.map(|node| node.iter().copied().collect()).collect())
        };
        Self {
            outcomes: run.outcomes,
            placement,
            traffic: Traffic::default(),
            faults: Faults::default(),
            violations: 0,
            events: run.events,
            digest: run.digest,
        }
    }
}

impl Results {
    /// Writes all files of the run into a folder under construction, below `place`.
    pub fn write(
        &self,
        prepared: &Prepared,
        draft: &Draft,
        place: &Path,
    ) -> Result<(), FolderError> {
        draft.write(place.join("config.toml"), |file| {
            file.write_all(prepared.config.to_toml().as_bytes())
        })?;
        draft.write(place.join("jobs.csv"), |file| {
            write_jobs(&prepared.facts(), &self.run, file)
        })?;
        draft.write(place.join("series.csv"), |file| {
            let mut csv = csv::Writer::from_writer(file);
            for row in &self.series {
                csv.serialize(row)?;
            }
            csv.flush()
        })?;
        draft.write(place.join("summary.json"), |file| {
            write_json(&self.summary, file)
        })?;
        draft.write(place.join("engine.json"), |file| {
            write_json(&self.cost, file)
        })
    }
}

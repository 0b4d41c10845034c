//! What the lab needs of the centralised schedulers.

use gridweave_core::time::Time;
use gridweave_sim::engine::Traffic;
use gridweave_sim::monitor::Monitor;

use super::{Central, check, simulate};
use crate::experiment::error::InputError;
use crate::experiment::prepare::Prepared;
use crate::run::{self, Faults, Placement};
use crate::schedulers::side::Side;

impl Side for Central {
    fn is_central(&self) -> bool {
        true
    }

    /// The shortest job first is a measure for sites with that policy, and lets long jobs starve. The bound is a reading of
    /// P4's centralised scheduler.
    fn is_compared(&self) -> bool {
        !matches!(self, Self::Sjf | Self::Bounded)
    }

    fn places_gangs(&self) -> bool {
        true
    }

    fn places_requirements(&self) -> bool {
        self.order_on_mixed().is_some()
    }

    fn check(&self, prepared: &Prepared) -> Result<(), InputError> {
        let estimates = prepared.config.workload.estimates;
        Ok(check(*self, &prepared.grid, &prepared.workload, estimates)?)
    }

    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<run::Run, InputError> {
        let estimates = prepared.config.workload.estimates;
        let (grid, workload) = (&prepared.grid, &prepared.workload);
        let run = simulate(*self, grid, workload, estimates, monitor)?;
        let placement = if run.nodes.is_empty() {
            Placement::Interchangeable
        } else {
            let nodes = run.nodes.iter();
            Placement::Assigned(nodes.map(|node| node.iter().copied().collect()).collect())
        };
        Ok(run::Run {
            outcomes: run.outcomes,
            promised: run.promised,
            placement,
            traffic: Traffic::default(),
            faults: Faults::default(),
            stopped: run.stopped,
            // A centralised scheduler sends nothing, so nothing happens after the last job.
            ended: Time::ZERO,
            pictures: Vec::new(),
            in_degrees: Vec::new(),
            counts: Default::default(),
            violations: 0,
            life: None,
            events: run.events,
            digest: run.digest,
        })
    }
}

//! The load of a workload on a grid.

use gridweave_core::resource::Dimension;
use gridweave_core::time::Span;

use super::Workload;
use crate::outcome::Estimates;

/// Requested work divided by the capacity, while jobs are submitted (PROTOCOLS D16, D19): an exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// Requested processors times microseconds.
    pub work: u128,
    /// Available processors times microseconds, from the first submission to the last.
    pub available: u128,
}

impl Load {
    /// The fraction as a number; 1 is the full capacity. `None` if the capacity is zero.
    pub fn ratio(self) -> Option<f64> {
        (self.available > 0).then(|| self.work as f64 / self.available as f64)
    }
}

/// The unit of work, of jobs and of grids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkUnit {
    /// Processors or whole nodes: as many as a job requests.
    Processor,
    /// Units of the dimension that jobs share: as many as a job requires, one if it does not say.
    Share(Dimension),
    /// Jobs: each counts as one.
    Place,
}

impl Workload {
    /// How many of these units the job at this position takes.
    pub fn units(&self, position: usize, unit: WorkUnit) -> u32 {
        match unit {
            WorkUnit::Processor => self.jobs[position].processors,
            WorkUnit::Share(dimension) => {
                let needed = self.requirement(position).value(dimension);
                needed.map_or(1, |needed| u32::try_from(needed).unwrap_or(u32::MAX))
            }
            WorkUnit::Place => 1,
        }
    }

    /// Processors times microseconds of all jobs, by run times ([`Estimates::Exact`], as in PROTOCOLS D22) or by other
    /// estimates.
    pub fn work(&self, estimates: Estimates) -> u128 {
        self.work_in(WorkUnit::Processor, estimates)
    }

    /// The same in any unit.
    pub fn work_in(&self, unit: WorkUnit, estimates: Estimates) -> u128 {
        let work = self.jobs.iter().enumerate().map(|(position, job)| {
            let duration = estimates.apply(job.run_time, job.requested_time);
            let micros = u128::from(duration.estimate.as_micros());
            micros.saturating_mul(u128::from(self.units(position, unit)))
        });
        work.fold(0, u128::saturating_add)
    }

    /// The load on so many processors or nodes, over the time of submissions.
    pub fn load(&self, nodes: u32, estimates: Estimates) -> Load {
        Load {
            work: self.work(estimates),
            available: capacity(nodes, self.span()),
        }
    }
}

/// The capacity of so many nodes in this time.
pub(super) fn capacity(nodes: u32, span: Span) -> u128 {
    u128::from(nodes).saturating_mul(u128::from(span.as_micros()))
}

//! What schedulers need to know of each job, close together in memory.

use gridweave_core::resource::Requirement;
use gridweave_core::time::{Span, Time};

use crate::grid::Mixed;
use crate::outcome::{Ending, Estimates};
use crate::workload::{Submission, Workload};

/// A job as a scheduler sees it, and how long it really takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// How long it takes by its estimate.
    pub(super) estimate: Span,
    /// How long it takes; never longer than the estimate.
    pub(super) actual: Span,
    /// How many processors it takes.
    pub(super) size: u32,
    pub(super) ending: Ending,
    pub(super) admission: Admission,
}

/// Whether a grid takes a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admission {
    /// It can run once enough processors or cores are free.
    Taken,
    /// This grid can never run it.
    Rejected,
}

/// All jobs, in the order of the workload.
#[derive(Debug)]
pub(super) struct Tasks {
    tasks: Vec<Task>,
    over_by: Time,
}

impl Tasks {
    /// Jobs that take whole, equal processors.
    pub(super) fn on_uniform(processors: u32, workload: &Workload, estimates: Estimates) -> Self {
        Self::new(workload, estimates, |_, job| job.processors <= processors)
    }

    /// Jobs that take a share of one node, on nodes that differ.
    pub(super) fn on_mixed(mixed: &Mixed, workload: &Workload, estimates: Estimates) -> Self {
        Self::new(workload, estimates, |job, _| {
            let requirement = requirement(workload, job);
            let mut nodes = mixed.nodes.iter();
            nodes.any(|node| mixed.dimensions.matches(&node.capability, &requirement))
        })
    }

    fn new(
        workload: &Workload,
        estimates: Estimates,
        suits: impl Fn(usize, &Submission) -> bool,
    ) -> Self {
        let estimates = estimates.for_central();
        let mut over_by = workload.jobs.last().map_or(Time::ZERO, |job| job.at);
        let tasks = workload.jobs.iter().enumerate().map(|(index, job)| {
            let duration = estimates.apply(job.run_time, job.requested_time);
            // A job without processors or run time breaks the promise of a workload, and cannot run.
            let sound = job.processors > 0 && !duration.actual.is_zero();
            let admission = if sound && suits(index, job) {
                over_by += duration.estimate;
                Admission::Taken
            } else {
                Admission::Rejected
            };
            Task {
                estimate: duration.estimate,
                actual: duration.actual,
                size: job.processors,
                ending: duration.ending,
                admission,
            }
        });
        let tasks = tasks.collect();
        Self { tasks, over_by }
    }

    /// When all jobs would be over if they ran one after another; no sensible schedule takes longer.
    pub(super) fn over_by(&self) -> Time {
        self.over_by
    }

    /// The job of this index in the workload.
    pub(super) fn of(&self, job: u32) -> &Task {
        &self.tasks[job as usize]
    }
}

/// What a job requires of its node; nothing if the workload does not say.
pub(super) fn requirement(workload: &Workload, job: usize) -> Requirement {
    let told = workload.requirements.get(job).copied();
    told.unwrap_or_else(Requirement::any)
}

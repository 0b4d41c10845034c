//! Two schedulers on the same jobs.

use gridweave_core::time::Span;

use crate::outcome::Outcome;
use crate::run::Run;
use crate::workload::Workload;

/// How long each job waited, if it ran to an end: what remains of a run to be compared with another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waits(Vec<Option<Span>>);

impl Waits {
    /// Those of a run of this workload.
    pub fn of(workload: &Workload, run: &Run) -> Self {
        let pairs = workload.jobs.iter().zip(&run.outcomes);
        let waits = pairs.map(|(job, outcome)| match outcome {
            Outcome::Ran { start, .. } => Some(*start - job.at),
            _ => None,
        });
        Self(waits.collect())
    }
}

/// How long jobs waited under one scheduler for each second under another, over the jobs that ran to an end under both;
/// none if nobody waited under the other.
pub fn wait_ratio(waits: &Waits, reference: &Waits) -> Option<f64> {
    let (mut ours, mut theirs) = (0_u128, 0_u128);
    for pair in waits.0.iter().zip(&reference.0) {
        if let (Some(one), Some(other)) = pair {
            ours += u128::from(one.as_micros());
            theirs += u128::from(other.as_micros());
        }
    }
    (theirs > 0).then(|| ours as f64 / theirs as f64)
}

//! Two schedulers on the same jobs.

use crate::outcome::Outcome;
use crate::run::Run;
use crate::workload::Workload;

/// How long jobs waited under one scheduler for each second under another, over the jobs that ran to an end under both;
/// none if nobody waited under the other.
pub fn wait_ratio(workload: &Workload, run: &Run, reference: &Run) -> Option<f64> {
    let (mut ours, mut theirs) = (0_u128, 0_u128);
    let pairs = run.outcomes.iter().zip(&reference.outcomes);
    for (job, pair) in workload.jobs.iter().zip(pairs) {
        if let (Outcome::Ran { start, .. }, Outcome::Ran { start: other, .. }) = pair {
            ours += u128::from((*start - job.at).as_micros());
            theirs += u128::from((*other - job.at).as_micros());
        }
    }
    (theirs > 0).then(|| ours as f64 / theirs as f64)
}

//! Two schedulers on the same jobs.

use gridweave_core::time::Span;

use crate::outcome::Outcome;
use crate::run::Run;
use crate::workload::Workload;

/// How long each job waited, if it ran to its end. This is all that a comparison needs of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waits(Vec<Option<Span>>);

impl Waits {
    /// The waits of a run of this workload.
    pub fn of(workload: &Workload, run: &Run) -> Self {
        let pairs = workload.jobs.iter().zip(&run.outcomes);
        let waits = pairs.map(|(job, outcome)| match outcome {
            Outcome::Ran { start, .. } => Some(*start - job.at),
            _ => None,
        });
        Self(waits.collect())
    }
}

/// The total wait under one scheduler divided by that under the reference, over the jobs that ran to their end under
/// both; `None` if no job waited under the reference.
pub fn wait_ratio(waits: &Waits, reference: &Waits) -> Option<f64> {
    let totals = Totals::of(waits, reference);
    (totals.theirs > 0).then(|| totals.ours as f64 / totals.theirs as f64)
}

/// By how many seconds jobs waited longer than under the reference, on average over the jobs that ran to their end
/// under both; `None` if there are none.
pub fn wait_difference(waits: &Waits, reference: &Waits) -> Option<f64> {
    let Totals { ours, theirs, jobs } = Totals::of(waits, reference);
    (jobs > 0).then(|| (ours as f64 - theirs as f64) / 1e6 / jobs as f64)
}

/// The total waits of the jobs that ran to their end under both, in microseconds.
struct Totals {
    ours: u128,
    theirs: u128,
    jobs: u64,
}

impl Totals {
    fn of(waits: &Waits, reference: &Waits) -> Self {
        let mut totals = Self {
            ours: 0,
            theirs: 0,
            jobs: 0,
        };
        for pair in waits.0.iter().zip(&reference.0) {
            if let (Some(one), Some(other)) = pair {
                totals.ours += u128::from(one.as_micros());
                totals.theirs += u128::from(other.as_micros());
                totals.jobs += 1;
            }
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_jobs_that_both_ran_are_compared() {
        let waits =
            |seconds: [Option<u64>; 4]| Waits(seconds.map(|s| s.map(Span::from_secs)).into());
        let one = waits([Some(10), None, Some(20), Some(7)]);
        let other = waits([Some(4), Some(99), Some(8), None]);
        assert_eq!(wait_ratio(&one, &other), Some(2.5));
        assert_eq!(wait_difference(&one, &other), Some(9.0));
        assert_eq!(wait_difference(&other, &one), Some(-9.0));
        let nothing = waits([None; 4]);
        assert_eq!(wait_ratio(&one, &nothing), None);
        assert_eq!(wait_difference(&one, &nothing), None);
    }
}

//! Centralised schedulers at work on a generated workload of a busy machine.
//!
//! Jobs come in bursts of one shape, as users submit them, ask for up to ten times as long as they run, and keep some
//! 80 % of 128 processors busy, so that queues grow and shrink.

use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_lab::grid::Grid;
use gridweave_lab::outcome::Estimates;
use gridweave_lab::schedulers::central::{self, Central, Run};
use gridweave_lab::workload::{Submission, Workload};
use gridweave_sim::monitor::Monitor;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// How many processors the machine has.
pub const PROCESSORS: u32 = 128;

/// Generates this many jobs, the same for the same seed.
pub fn workload(jobs: usize, seed: u64) -> Workload {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut list = Vec::with_capacity(jobs);
    let mut now = 0;
    while list.len() < jobs {
        let burst = 1 + rng.below(12);
        let processors = 1 << rng.below(7);
        let run = 60 + u64::from(rng.below(3600));
        let requested = run * u64::from(1 + rng.below(10));
        for place in 0..burst {
            let (number, at) = (list.len() as u64, Time::from_secs(now + u64::from(place)));
            list.push(Submission {
                requested_time: Some(Span::from_secs(requested)),
                ..Submission::new(number, at, Span::from_secs(run), processors)
            });
        }
        // On average as long as the burst keeps an 80 % busy machine at work.
        let work = u64::from(burst * processors) * run;
        let busy = work * 100 / 80 / u64::from(PROCESSORS);
        now += u64::from(burst) + busy * u64::from(rng.below(201)) / 100;
    }
    list.truncate(jobs);
    Workload {
        name: "bursts".into(),
        jobs: list,
        ..Workload::default()
    }
}

/// Replays a workload; jobs that reach their estimate end there.
pub fn replay(central: Central, workload: &Workload) -> Run {
    let grid = Grid::Uniform(PROCESSORS);
    central::simulate(
        central,
        &grid,
        workload,
        Estimates::Kill,
        &Monitor::default(),
    )
    .expect("the grid is uniform")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridweave_lab::outcome::Outcome;

    #[test]
    fn jobs_wait_and_pass_each_other() {
        let workload = workload(5_000, 1);
        let starts = |central| -> Vec<Time> {
            let run = replay(central, &workload);
            let start = |outcome: &Outcome| match outcome {
                Outcome::Ran { start, .. } => *start,
                other => panic!("all of them fit: {other:?}"),
            };
            run.outcomes.iter().map(start).collect()
        };
        let fcfs = starts(Central::Fcfs);
        let waited = fcfs
            .iter()
            .zip(&workload.jobs)
            .filter(|(start, job)| **start > job.at);
        assert!(waited.count() > 1_000);
        for central in [Central::Easy, Central::Conservative, Central::Greedy] {
            let passed = starts(central)
                .windows(2)
                .filter(|pair| pair[1] < pair[0])
                .count();
            assert!(passed > 100, "{central}: {passed}");
        }
    }
}

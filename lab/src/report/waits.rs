//! How long jobs waited, and their slowdowns.

use gridweave_core::time::Span;
use serde::Serialize;

use super::rounded;
use crate::outcome::Outcome;
use crate::reproduce::statistics::log_bins;
use crate::results::{Distribution, Facts};
use crate::run::Run;

/// How many points a distribution has per power of ten.
const POINTS_PER_DECADE: u32 = 12;

/// The most windows of submission times.
const MOST_WINDOWS: u64 = 120;

/// Waits by size, by run time and by time of submission.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Waits {
    /// How many jobs ran to their end; only these count here.
    pub jobs: u64,
    /// The part of the jobs that waited at most so many seconds.
    pub distribution: Vec<Share>,
    /// The part of the jobs with at most so large a bounded slowdown.
    pub slowdown: Vec<Share>,
    /// Waits by the number of nodes, or of shared units, that jobs take.
    pub by_size: Vec<Binned>,
    /// Waits by how many seconds jobs ran.
    pub by_duration: Vec<Binned>,
    /// Waits by the time of submission, in seconds.
    pub over_time: Vec<Binned>,
}

/// A value, and the part of the numbers that is at most this value.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Share(pub f64, pub f64);

/// The waits of the jobs in one bin, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Binned {
    /// The lower bound of the bin, included.
    pub from: f64,
    /// The upper bound of the bin, left out.
    pub until: f64,
    /// How many jobs are in the bin.
    pub jobs: u64,
    /// Their mean wait.
    pub mean: f64,
    /// Their median wait.
    pub median: f64,
    /// The 95th percentile of their waits.
    pub p95: f64,
}

impl Binned {
    fn new(from: f64, until: f64, jobs: u64, values: &Distribution) -> Self {
        Self {
            from,
            until,
            jobs,
            mean: rounded(values.mean, 1),
            median: rounded(values.median, 1),
            p95: rounded(values.p95, 1),
        }
    }
}

/// A job that ran to its end.
struct Ran {
    at: u64,
    size: u64,
    /// How long it waited and how long it ran, in seconds.
    wait: f64,
    duration: f64,
}

impl Waits {
    /// The waits of a run. In slowdowns, shorter run times count as the threshold.
    pub(crate) fn of(facts: &Facts<'_>, run: &Run, threshold: Span) -> Self {
        let seconds = |span: Span| span.as_micros() as f64 / 1e6;
        let jobs = facts.workload.jobs.iter().zip(&run.outcomes).enumerate();
        let ran = jobs.filter_map(|(index, (job, outcome))| match *outcome {
            Outcome::Ran { start, end, .. } => Some(Ran {
                at: job.at.as_micros(),
                size: u64::from(facts.weight(index)),
                wait: seconds(start - job.at),
                duration: seconds(end - start),
            }),
            _ => None,
        });
        let ran: Vec<Ran> = ran.collect();
        let least = seconds(threshold);
        let slowdown =
            |job: &Ran| ((job.wait + job.duration) / job.duration.max(least).max(1e-6)).max(1.0);
        let by = |key: fn(&Ran) -> u64| {
            let bins = log_bins(ran.iter().map(|job| (key(job), job.wait)));
            let binned = bins.iter();
            binned
                .map(|bin| Binned::new(bin.from as f64, bin.until as f64, bin.count, &bin.values))
                .collect()
        };
        Self {
            jobs: ran.len() as u64,
            distribution: shares(ran.iter().map(|job| job.wait).collect()),
            slowdown: shares(ran.iter().map(slowdown).collect()),
            by_size: by(|job| job.size),
            by_duration: by(|job| (job.duration as u64).max(1)),
            over_time: over_time(&ran),
        }
    }
}

/// The part of the numbers that is at most 1, and at most each larger value on a logarithmic scale, up to the value
/// that no number exceeds.
fn shares(mut numbers: Vec<f64>) -> Vec<Share> {
    numbers.sort_unstable_by(f64::total_cmp);
    let mut shares = Vec::new();
    for step in 0..20 * POINTS_PER_DECADE {
        let value = 10_f64.powf(f64::from(step) / f64::from(POINTS_PER_DECADE));
        let within = numbers.partition_point(|number| *number <= value);
        if numbers.is_empty() {
            break;
        }
        let share = within as f64 / numbers.len() as f64;
        shares.push(Share(rounded(value, 3), rounded(share, 5)));
        if within == numbers.len() {
            break;
        }
    }
    shares
}

/// Waits by the window of submission, without empty windows.
fn over_time(ran: &[Ran]) -> Vec<Binned> {
    // Jobs are in the order of submission.
    let last = ran.last().map_or(0, |job| job.at);
    // The width is a multiple of ten minutes, so large that a chart can show all windows.
    let minutes = (last / 60_000_000 / MOST_WINDOWS + 1).next_multiple_of(10);
    let width = minutes * 60_000_000;
    let windows = ran.chunk_by(|one, next| one.at / width == next.at / width);
    windows
        .filter_map(|jobs| {
            let from = jobs.first()?.at / width * width;
            let waits = Distribution::of(jobs.iter().map(|job| job.wait).collect())?;
            let (from, until) = (from as f64 / 1e6, (from + width) as f64 / 1e6);
            Some(Binned::new(from, until, jobs.len() as u64, &waits))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_begin_at_one_and_end_with_all() {
        let shares = shares(vec![0.0, 0.5, 3.0, 150.0]);
        assert_eq!(shares.first(), Some(&Share(1.0, 0.5)));
        let last = shares.last().unwrap();
        assert_eq!(last.1, 1.0);
        assert!(last.0 >= 150.0 && last.0 < 200.0, "{last:?}");
        assert!(shares.is_sorted_by_key(|share| share.1));
        assert_eq!(super::shares(Vec::new()), []);
    }

    #[test]
    fn windows_without_a_job_are_left_out() {
        let ran = [0, 1, 3 * 86_400].map(|second| Ran {
            at: second * 1_000_000,
            size: 1,
            wait: second as f64,
            duration: 1.0,
        });
        let binned = over_time(&ran);
        assert_eq!(
            binned.iter().map(|bin| bin.jobs).collect::<Vec<_>>(),
            [2, 1]
        );
        assert_eq!((binned[0].from, binned[0].mean), (0.0, 0.5));
        assert!(binned[1].from <= 259_200.0 && 259_200.0 < binned[1].until);
    }
}

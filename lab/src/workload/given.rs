//! Jobs that a caller brings, instead of a file.

use gridweave_core::time::{Span, Time};

use super::reader::{LONGEST_TRACE, MOST_READ};
use super::record::LONGEST;
use super::{Submission, Workload};
use gridweave_sim::history::History;

/// Why jobs cannot be replayed; indices count from 0 in the order in which the jobs were given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GivenError {
    /// There are none.
    #[error("there are no jobs; give at least one")]
    NoJobs,
    /// There are more than memory should hold.
    #[error("there are {0} jobs, and at most {MOST_READ} can be replayed; leave some out")]
    TooMany(usize),
    /// A job runs for no time.
    #[error("job {0} runs for no time; give its run time, or leave it out")]
    NoRunTime(usize),
    /// A job runs for longer than a year.
    #[error("job {0} runs for longer than 365 days; correct it, or leave it out")]
    RunsTooLong(usize),
    /// A job takes no processors.
    #[error("job {0} takes no processors; give their number, or leave it out")]
    NoProcessors(usize),
    /// The last job is submitted much later than the first.
    #[error(
        "there are more than 100 years between the first job and the last; are the times in seconds?"
    )]
    TooFarApart,
}

impl Workload {
    /// A workload of jobs in any order. They are sorted by time of submission, and the first one comes at time zero. A
    /// requested time of zero counts as unknown.
    pub fn given(name: &str, mut jobs: Vec<Submission>) -> Result<Self, GivenError> {
        if jobs.len() > MOST_READ {
            return Err(GivenError::TooMany(jobs.len()));
        }
        for (index, job) in jobs.iter_mut().enumerate() {
            if job.run_time.is_zero() {
                return Err(GivenError::NoRunTime(index));
            }
            if job.run_time > LONGEST {
                return Err(GivenError::RunsTooLong(index));
            }
            if job.processors == 0 {
                return Err(GivenError::NoProcessors(index));
            }
            job.requested_time = job.requested_time.filter(|time| !time.is_zero());
        }
        if !jobs.is_sorted_by_key(|job| job.at) {
            jobs.sort_by_key(|job| job.at);
        }
        let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else {
            return Err(GivenError::NoJobs);
        };
        if last.at - first.at > LONGEST_TRACE {
            return Err(GivenError::TooFarApart);
        }
        let offset = first.at - Time::ZERO;
        for job in &mut jobs {
            job.at = job.at - offset;
        }
        Ok(Self {
            name: name.to_owned(),
            jobs,
            ..Self::default()
        })
    }

    /// A digest of all jobs.
    pub(crate) fn digest(&self) -> String {
        let mut history = History::new();
        let micros = |span: Option<Span>| span.map_or(0, Span::as_micros);
        for job in &self.jobs {
            let numbers = [
                job.number,
                job.at.as_micros(),
                job.run_time.as_micros(),
                micros(job.requested_time),
                u64::from(job.processors),
                u64::from(job.user),
                u64::from(job.group),
                // Zero stands for a site, and for memory, that is not known.
                job.site.map_or(0, |site| u64::from(site) + 1),
                job.memory.map_or(0, |memory| memory.saturating_add(1)),
            ];
            for number in numbers {
                history.bytes(&number.to_le_bytes());
            }
        }
        history.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u64, at: u64, run_time: u64, processors: u32) -> Submission {
        let (at, run_time) = (Time::from_secs(at), Span::from_secs(run_time));
        Submission::new(number, at, run_time, processors)
    }

    #[test]
    fn given_jobs_are_sorted_and_begin_at_zero() {
        let given = vec![job(0, 90, 5, 1), job(1, 70, 6, 2), job(2, 90, 7, 3)];
        let workload = Workload::given("mine", given).unwrap();
        let order = workload
            .jobs
            .iter()
            .map(|job| (job.number, job.at.as_secs()));
        assert_eq!(order.collect::<Vec<_>>(), [(1, 0), (0, 20), (2, 20)]);
        let mut other = workload.clone();
        other.jobs[2].user = 7;
        assert_ne!(workload.digest(), other.digest());
        assert_eq!(workload.digest(), workload.clone().digest());
    }

    #[test]
    fn jobs_that_cannot_run_are_refused_by_their_index() {
        for (jobs, error) in [
            (vec![], GivenError::NoJobs),
            (
                vec![job(0, 0, 1, 1), job(1, 0, 0, 1)],
                GivenError::NoRunTime(1),
            ),
            (vec![job(0, 0, 1, 0)], GivenError::NoProcessors(0)),
            (vec![job(0, 0, 400 * 86_400, 1)], GivenError::RunsTooLong(0)),
            (
                vec![job(0, 0, 1, 1), job(1, 4_000_000_000, 1, 1)],
                GivenError::TooFarApart,
            ),
        ] {
            assert_eq!(Workload::given("mine", jobs), Err(error));
        }
    }
}

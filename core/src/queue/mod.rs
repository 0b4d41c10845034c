//! Local queues: the order in which one site runs its jobs, and the cost of one more job.
//!
//! - [`LocalScheduler`]: what a meta-scheduler needs of a site's own scheduler. With it come [`offer`] and
//!   [`present_cost`], the cost of a job at a site (P3): its time to completion, or accumulated lateness.
//! - [`SiteQueue`]: a local scheduler for one processor or many. Its order is first come first served, shortest job
//!   first, earliest deadline first, or priorities with ageing. Options: EASY backfilling, windows for the owner.
//! - [`BackfillQueue`]: runs as many jobs at once as fit. It backfills without run times, and bounds how often a job
//!   can be passed, after P4.
//!
//! ```
//! use gridweave_core::id::JobId;
//! use gridweave_core::queue::{Lateness, LocalScheduler, Policy, QueuedJob, SiteQueue, offer};
//! use gridweave_core::resource::Speed;
//! use gridweave_core::time::{Span, Time};
//!
//! let hours = |n: u64| Span::from_secs(3600 * n);
//! let job = |id, estimate| QueuedJob::new(JobId::new(id), estimate);
//!
//! let mut site = SiteQueue::new(Policy::ShortestFirst, Speed::try_from(2.0)?, 100);
//! let now = Time::ZERO;
//! site.push(now, job(1, hours(8)))?;
//! site.push(now, job(2, hours(2)))?;
//! assert_eq!(site.start_next(now), Some(JobId::new(2)));
//!
//! // An hour of job 2 at double speed, then three hours of the newcomer, which is shorter than job 1.
//! let bid = offer(&site, now, &job(3, hours(6)), Lateness::Literal);
//! assert_eq!(bid.as_micros(), hours(1 + 3).as_micros() as i64);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backfill;
mod cost;
mod local;
mod site;
#[cfg(test)]
mod tests;

pub(crate) use backfill::may_pass;
pub use backfill::{BackfillQueue, Discipline, MigrantRefusal, Passing, Waiting};
pub use cost::Cost;
pub use local::{Change, Expected, Lateness, LocalScheduler, expected, offer, present_cost};
pub use site::{
    Policy, Priorities, QueuedJob, Running, SiteQueue, TooManyOrganisations, Window, WindowError,
};

use core::fmt;

/// Why a job is not queued. The queue is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum QueueError {
    /// It is in the queue or running already.
    Known,
    /// There is no room for another job.
    Full,
    /// The node could not run it even if it were idle.
    Unsuitable,
}

/// The job does not run here. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NotRunning;

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Known => "the job is queued or running already",
            Self::Full => "the queue is full",
            Self::Unsuitable => "the node can never run the job",
        })
    }
}

impl fmt::Display for NotRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the job does not run here")
    }
}

impl core::error::Error for QueueError {}
impl core::error::Error for NotRunning {}

//! A site with its own policy.

mod order;
mod plan;
mod scheduling;
#[cfg(test)]
mod tests;
mod windows;

pub use order::{Policy, Priorities, TooManyOrganisations};
pub use windows::{Window, WindowError};

use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::id::JobId;
use crate::job::{Demand, Job, Submitter};
use crate::resource::Speed;
use crate::time::{Interval, Span, Time};
use windows::Windows;

/// A job in a site's queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QueuedJob {
    /// Which.
    pub job: JobId,
    /// How long it is expected to run at baseline speed: P3's ERT.
    pub estimate: Span,
    /// When it should be done.
    pub deadline: Option<Time>,
    /// How many processors it takes.
    pub processors: NonZeroU32,
    /// Who wants it.
    pub submitter: Submitter,
    /// When it came into the grid.
    pub submitted: Time,
    /// When it came to the site.
    pub arrived: Time,
}

impl QueuedJob {
    /// A job for one processor, of user 0 in organisation 0, submitted and arrived at the origin, without a deadline.
    pub const fn new(job: JobId, estimate: Span) -> Self {
        Self {
            job,
            estimate,
            deadline: None,
            processors: NonZeroU32::MIN,
            submitter: Submitter::NOBODY,
            submitted: Time::ZERO,
            arrived: Time::ZERO,
        }
    }

    /// A job that came to the site then.
    pub fn arriving(job: &Job, arrived: Time) -> Self {
        Self {
            arrived,
            ..Self::from(job)
        }
    }
}

/// As if it came to the site at the origin of time, see [`QueuedJob::arriving`].
impl From<&Job> for QueuedJob {
    fn from(job: &Job) -> Self {
        let (Demand::Nodes(processors) | Demand::Cores(processors)) = job.demand;
        Self {
            deadline: job.deadline,
            processors,
            submitter: job.submitter,
            submitted: job.submitted,
            ..Self::new(job.id, job.estimate())
        }
    }
}

/// A job that a site runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Running {
    /// Which.
    pub job: QueuedJob,
    /// Since when.
    pub started: Time,
    /// When its estimate is used up.
    pub estimated_end: Time,
}

impl Running {
    /// When it is expected to end, seen from now (PROTOCOLS A21).
    pub fn ends(&self, now: Time) -> Time {
        if self.estimated_end > now {
            self.estimated_end
        } else {
            now + SiteQueue::OVERRUN
        }
    }
}

/// A site that runs jobs on its processors, and the jobs that wait for it in the order of its policy.
///
/// It is used through [`LocalScheduler`](super::LocalScheduler). A site has one processor, unless told otherwise. A job takes all its
/// processors at once, and starts when it is first in the queue and enough are free.
///
/// - [`backfilling`](Self::backfilling): others may pass the first while it waits, if that does not delay it by all that estimates tell
///   (EASY, PROTOCOLS 7.1).
/// - [`reserving`](Self::reserving): the owner keeps processors for a while. No job starts that is expected to need them then.
///
/// The forecast places the waiting jobs in order: each as soon as enough processors are free for as long as it is expected to run, and not
/// before the one ahead of it. It comes true if jobs run as long as estimated and nothing else happens. On a site that backfills, each is placed
/// where it first fits without delaying those ahead of it; that is what conservative backfilling would do, and no promise: only the first
/// is certain not to be delayed.
///
/// A job is expected to run for a microsecond at least. One that has outrun its estimate is expected to end in [`OVERRUN`](Self::OVERRUN), at any
/// time.
///
/// ```
/// use core::num::NonZeroU32;
/// use gridweave_core::id::JobId;
/// use gridweave_core::queue::{Change, LocalScheduler, Policy, QueuedJob, SiteQueue, expected};
/// use gridweave_core::resource::Speed;
/// use gridweave_core::time::{Interval, Span, Time};
///
/// let (t, two) = (Time::from_secs, NonZeroU32::new(2).unwrap());
/// let job = |id, secs| QueuedJob::new(JobId::new(id), Span::from_secs(secs));
///
/// // Two processors, both of which the owner wants from 100 to 200.
/// let mut site = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 100)
///     .with_processors(two)
///     .backfilling()
///     .reserving(Interval::new(t(100), t(200))?, two)?;
/// for waiting in [job(1, 50), QueuedJob { processors: two, ..job(2, 60) }, job(3, 90)] {
///     site.push(t(0), waiting)?;
/// }
///
/// // Job 2 would fit at 50, but not end before the window; job 3 passes it.
/// assert_eq!(site.start_next(t(0)), Some(JobId::new(1)));
/// assert_eq!(site.start_next(t(0)), Some(JobId::new(3)));
/// assert_eq!(site.start_next(t(0)), None);
/// assert_eq!(site.look_again(t(0)), Some(t(200)));
/// let second = expected(&site, t(0), Change::None, JobId::new(2)).unwrap();
/// assert_eq!((second.start, second.end), (t(200), t(260)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SiteQueue {
    policy: Policy,
    speed: Speed,
    processors: NonZeroU32,
    limit: usize,
    passing: Passing,
    windows: Windows,
    /// Sorted by when their estimates are used up; ties by id.
    running: Vec<Running>,
    /// Sorted by the policy; equals stay in the order in which they were pushed.
    waiting: Vec<QueuedJob>,
}

/// Who may start before the first of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Passing {
    Nobody,
    /// Who does not delay it.
    Backfilled,
}

impl SiteQueue {
    /// What a job that has outrun its estimate is expected to need still (PROTOCOLS A21).
    pub const OVERRUN: Span = Span::from_secs(1);

    /// In how many windows that are not over a site can keep processors.
    pub const MOST_WINDOWS: usize = Windows::MOST;

    /// An idle site with one processor for at most `limit` jobs, waiting and running.
    pub const fn new(policy: Policy, speed: Speed, limit: usize) -> Self {
        Self {
            policy,
            speed,
            processors: NonZeroU32::MIN,
            limit,
            passing: Passing::Nobody,
            windows: Windows::none(),
            running: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// The same site with so many processors. Say so before there are jobs or windows.
    #[must_use]
    pub fn with_processors(mut self, processors: NonZeroU32) -> Self {
        self.processors = processors;
        self
    }

    /// The same site, on which jobs may pass the first while it waits, if they do not delay it by what is estimated.
    ///
    /// Who may pass is asked whenever something is to start. When a job overruns, the first waits longer than was expected, and another might
    /// pass then: it does at the next occasion.
    #[must_use]
    pub fn backfilling(mut self) -> Self {
        self.passing = Passing::Backfilled;
        self
    }

    /// The same site, whose owner keeps processors for a while.
    pub fn reserving(
        mut self,
        interval: Interval,
        processors: NonZeroU32,
    ) -> Result<Self, WindowError> {
        self.reserve(Time::ZERO, interval, processors)?;
        Ok(self)
    }

    /// Keeps processors for the owner for a while. Jobs that run already are not stopped for that; no other is started that would still be
    /// expected to need them.
    pub fn reserve(
        &mut self,
        now: Time,
        interval: Interval,
        processors: NonZeroU32,
    ) -> Result<(), WindowError> {
        let window = Window {
            interval,
            processors,
        };
        self.windows.add(now, window, self.processors)
    }

    /// The jobs that run, in the order in which their estimates are used up.
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    /// The jobs that wait, in the order of the policy.
    pub fn waiting(&self) -> &[QueuedJob] {
        &self.waiting
    }

    /// What the owner keeps, in the order in which the windows begin. Those that are over may be missing.
    pub fn windows(&self) -> &[Window] {
        self.windows.all()
    }

    /// The site's policy.
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// How many processors there are.
    pub const fn processors(&self) -> NonZeroU32 {
        self.processors
    }

    /// How many processors no job uses. Some of them may be the owner's.
    pub fn free_processors(&self) -> u32 {
        self.processors.get().saturating_sub(self.busy_processors())
    }

    fn busy_processors(&self) -> u32 {
        let taken = self.running.iter().map(|job| job.job.processors.get());
        taken.fold(0, u32::saturating_add)
    }

    const fn backfills(&self) -> bool {
        matches!(self.passing, Passing::Backfilled)
    }

    /// All that run, then those that wait.
    fn jobs(&self) -> impl Iterator<Item = &QueuedJob> {
        let running = self.running.iter().map(|running| &running.job);
        running.chain(&self.waiting)
    }

    /// Where a new job stands: behind all that come before it and all its equals.
    fn index_of(&self, job: &QueuedJob) -> usize {
        self.waiting
            .partition_point(|queued| self.policy.compare(queued, job).is_le())
    }

    /// How long a job is expected to run here.
    fn duration(&self, job: &QueuedJob) -> Span {
        let least = Span::from_micros(1);
        self.speed.duration_of(job.estimate).max(least)
    }
}

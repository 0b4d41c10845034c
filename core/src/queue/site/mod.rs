//! A site with its own policy.

mod mirror;
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
use mirror::Starts;
use windows::Windows;

/// A job in a site's queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QueuedJob {
    /// The name of the job.
    pub job: JobId,
    /// How long it is expected to run at baseline speed: P3's ERT.
    pub estimate: Span,
    /// When it should be done.
    pub deadline: Option<Time>,
    /// How many processors it takes.
    pub processors: NonZeroU32,
    /// The user that submitted it.
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

    /// A job that came to the site at `arrived`.
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
    /// The job as it was queued.
    pub job: QueuedJob,
    /// When it started.
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
/// It is used through [`LocalScheduler`](super::LocalScheduler). By default a site has one processor. A job takes all
/// its processors at once, and starts when it is the head of the queue and enough processors are free.
///
/// - [`backfilling`](Self::backfilling): a job may pass the waiting head if, by the estimates, it does not delay the
///   head (EASY, PROTOCOLS 7.1).
/// - [`reserving`](Self::reserving): the owner keeps processors for a while. No job that would need them then starts.
/// - [`mirroring`](Self::mirroring): a foreign site starts the jobs, and this queue forecasts what it will do.
///
/// The forecast places the waiting jobs in order: each as soon as enough processors are free for its expected run time,
/// and not before the job ahead of it. It comes true if jobs run as long as estimated and nothing else happens. With
/// backfilling, each job is placed where it first fits without delaying the jobs ahead of it. That is what conservative
/// backfilling would do. It is no promise: only the head is certain not to be delayed.
///
/// A job is expected to run for at least a microsecond. A job that has outrun its estimate is always expected to end
/// [`OVERRUN`](Self::OVERRUN) from now.
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
    /// The longest estimate of a job that it admits.
    longest: Span,
    passing: Passing,
    starts: Starts,
    windows: Windows,
    /// Sorted by when their estimates are used up; ties by id.
    running: Vec<Running>,
    /// Sorted by the policy; equals stay in the order in which they were pushed.
    waiting: Vec<QueuedJob>,
}

/// Which jobs may start before the head of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Passing {
    NoJob,
    /// Jobs that do not delay the head.
    Backfilled,
}

impl SiteQueue {
    /// What a job that has outrun its estimate is expected to need still (PROTOCOLS A21).
    pub const OVERRUN: Span = Span::from_secs(1);

    /// How many windows, current and future, a site can have.
    pub const MOST_WINDOWS: usize = Windows::MOST;

    /// An idle site with one processor for at most `limit` jobs, waiting and running.
    pub const fn new(policy: Policy, speed: Speed, limit: usize) -> Self {
        Self {
            policy,
            speed,
            processors: NonZeroU32::MIN,
            limit,
            longest: Span::MAX,
            passing: Passing::NoJob,
            starts: Starts::Here,
            windows: Windows::none(),
            running: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// The same site with this many processors. Call it before there are jobs or windows.
    #[must_use]
    pub fn with_processors(mut self, processors: NonZeroU32) -> Self {
        self.processors = processors;
        self
    }

    /// The same site, which admits no job with a longer estimate: the time limit of a partition.
    #[must_use]
    pub const fn up_to(mut self, longest: Span) -> Self {
        self.longest = longest;
        self
    }

    /// The same site with backfilling: a job may pass the waiting head if, by the estimates, the head is not delayed.
    ///
    /// [`start_next`](super::LocalScheduler::start_next) decides this anew at each call. When a job overruns, the head
    /// waits longer than expected, so that another job may pass: it starts at the next call, not before.
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

    /// Keeps processors for the owner for a while. Jobs that run already are not stopped; no job is started that is
    /// expected to need the processors in that interval.
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

    /// All running jobs, then all waiting jobs.
    fn jobs(&self) -> impl Iterator<Item = &QueuedJob> {
        let running = self.running.iter().map(|running| &running.job);
        running.chain(&self.waiting)
    }

    /// The index for a new job: behind all jobs that the policy puts before it, and behind its equals.
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

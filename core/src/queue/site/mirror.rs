//! A queue as the mirror of a foreign site's queue.

use super::SiteQueue;

/// Which scheduler starts the jobs of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Starts {
    /// The queue itself.
    Here,
    /// A foreign site, which is only seen.
    Elsewhere,
}

impl SiteQueue {
    /// The same queue as a mirror: a foreign site decides what starts, and this queue only forecasts.
    ///
    /// It is told what is seen there. [`start_next`](crate::queue::LocalScheduler::start_next) starts nothing;
    /// [`resume`](crate::queue::LocalScheduler::resume) notes a start. What is seen is taken, even if by this queue's
    /// own count there is no room for it: the site counts in its own way, and an end is seen later than a start.
    ///
    /// ```
    /// use gridweave_core::id::JobId;
    /// use gridweave_core::queue::{Change, LocalScheduler, Policy, QueuedJob, SiteQueue, expected};
    /// use gridweave_core::resource::Speed;
    /// use gridweave_core::time::{Span, Time};
    ///
    /// let (t, job) = (Time::from_secs, |id| QueuedJob::new(JobId::new(id), Span::from_secs(100)));
    /// let mut mirror = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 100).mirroring();
    /// mirror.push(t(0), job(1))?;
    /// assert_eq!(mirror.start_next(t(0)), None);
    ///
    /// // The site starts the job at 20, which is seen at 25.
    /// let waiting = mirror.withdraw(JobId::new(1)).ok_or("it waits")?;
    /// mirror.resume(t(25), waiting, t(20))?;
    /// let next = expected(&mirror, t(25), Change::With(&job(2)), JobId::new(2));
    /// assert_eq!(next.map(|job| job.start), Some(t(120)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn mirroring(mut self) -> Self {
        self.starts = Starts::Elsewhere;
        self
    }

    pub(super) const fn mirrors(&self) -> bool {
        matches!(self.starts, Starts::Elsewhere)
    }
}

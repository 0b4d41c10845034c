use alloc::vec::Vec;

use core::num::NonZeroU32;

use super::cost::AccumulatedLateness;
use super::{Change, Cost, Expected, LocalScheduler, NotRunning, QueueError};
use crate::id::JobId;
use crate::job::{Demand, Job, Submitter};
use crate::machine::Violation;
use crate::resource::Speed;
use crate::time::{Span, Time};

/// In which order a site runs its jobs. Ties go by arrival at the site.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Policy {
    /// First come, first served: by arrival at the site.
    FirstCome,
    /// The shortest estimate first, at baseline speed.
    ShortestFirst,
    /// The earliest deadline first; jobs without one come last.
    EarliestDeadline,
}

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
}

impl QueuedJob {
    /// A job for one processor, of user 0 in organisation 0, submitted at the origin, without a deadline.
    pub const fn new(job: JobId, estimate: Span) -> Self {
        Self {
            job,
            estimate,
            deadline: None,
            processors: NonZeroU32::MIN,
            submitter: Submitter::NOBODY,
            submitted: Time::ZERO,
        }
    }
}

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

/// The job a site runs, and since when.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Running {
    /// Which.
    pub job: QueuedJob,
    /// Since when.
    pub started: Time,
}

/// A site that runs one job at a time, and the jobs that wait for it in the order they will run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SiteQueue {
    policy: Policy,
    speed: Speed,
    limit: usize,
    running: Option<Running>,
    /// Sorted by the policy; equals stay in the order of arrival.
    waiting: Vec<QueuedJob>,
}

impl SiteQueue {
    /// What a job that has outrun its estimate is expected to need still (PROTOCOLS A21).
    pub const OVERRUN: Span = Span::from_secs(1);

    /// An idle site for at most `limit` jobs, waiting and running.
    pub const fn new(policy: Policy, speed: Speed, limit: usize) -> Self {
        Self {
            policy,
            speed,
            limit,
            running: None,
            waiting: Vec::new(),
        }
    }

    /// Adds a job where the policy puts it.
    pub fn push(&mut self, job: QueuedJob) -> Result<(), QueueError> {
        if self.jobs().any(|known| known.job == job.job) {
            return Err(QueueError::Known);
        }
        if self.jobs().count() >= self.limit {
            return Err(QueueError::Full);
        }
        self.waiting.insert(self.place(&job), job);
        Ok(())
    }

    /// Takes a waiting job out.
    pub fn remove(&mut self, job: JobId) -> Option<QueuedJob> {
        let place = self.waiting.iter().position(|queued| queued.job == job)?;
        Some(self.waiting.remove(place))
    }

    /// Starts the first waiting job if the site is idle.
    pub fn start_next(&mut self, now: Time) -> Option<QueuedJob> {
        if self.running.is_some() || self.waiting.is_empty() {
            return None;
        }
        let job = self.waiting.remove(0);
        self.running = Some(Running { job, started: now });
        Some(job)
    }

    /// Makes the site idle again.
    pub fn finish(&mut self, job: JobId) -> Result<Running, NotRunning> {
        self.running
            .take_if(|running| running.job.job == job)
            .ok_or(NotRunning)
    }

    /// The job that runs.
    pub const fn running(&self) -> Option<&Running> {
        self.running.as_ref()
    }

    /// The jobs that wait, in the order they will run.
    pub fn waiting(&self) -> &[QueuedJob] {
        &self.waiting
    }

    /// The site's policy.
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// P3's ETTC: how long from now until a new job would be done, were it queued now. What it does to the jobs behind it
    /// does not count (PROTOCOLS A11).
    pub fn completion_with(&self, now: Time, candidate: &QueuedJob) -> Cost {
        let ahead = self.waiting.iter().take(self.place(candidate));
        let wait: Span = ahead.map(|queued| self.duration(queued)).sum();
        let whole = self.remaining(now) + wait + self.duration(candidate);
        Cost::saturating(i128::from(whole.as_micros()))
    }

    /// P3's ETTC of a job that waits here.
    pub fn completion_of(&self, now: Time, job: JobId) -> Option<Cost> {
        let place = self.waiting.iter().position(|queued| queued.job == job)?;
        let through: Span = self
            .waiting
            .iter()
            .take(place.saturating_add(1))
            .map(|queued| self.duration(queued))
            .sum();
        Some(Cost::saturating(i128::from(
            (self.remaining(now) + through).as_micros(),
        )))
    }

    /// P3's NAL of the queue as it is, the running job included (PROTOCOLS A10); zero if it is empty.
    pub fn lateness(&self, now: Time) -> Cost {
        Cost::saturating(self.without(now))
    }

    /// P3's NAL of the queue with a new job in it, read literally: it adds up all that wait, so that many jobs in time make a
    /// site look better than none (PROTOCOLS A9).
    pub fn lateness_with(&self, now: Time, candidate: &QueuedJob) -> Cost {
        Cost::saturating(self.with(now, candidate))
    }

    /// What a new job adds to the NAL of the queue (PROTOCOLS A9, the marginal variant).
    pub fn added_lateness(&self, now: Time, candidate: &QueuedJob) -> Cost {
        Cost::saturating(self.with(now, candidate).saturating_sub(self.without(now)))
    }

    /// Names a rule that this queue breaks.
    pub fn check(&self) -> Result<(), Violation> {
        let in_order = |a: &QueuedJob, b: &QueuedJob| match self.policy {
            Policy::FirstCome => true,
            Policy::ShortestFirst => a.estimate <= b.estimate,
            Policy::EarliestDeadline => due(a) <= due(b),
        };
        Violation::unless(
            self.waiting.is_sorted_by(in_order),
            "waiting jobs stand in the order of the policy",
        )?;
        let once = |job: &QueuedJob| self.jobs().filter(|other| other.job == job.job).count() == 1;
        Violation::unless(self.jobs().all(once), "a job waits or runs, and once")?;
        Violation::unless(
            self.jobs().count() <= self.limit,
            "a queue keeps within its limit",
        )
    }

    fn without(&self, now: Time) -> i128 {
        self.lateness_in_order(now, self.waiting.iter())
    }

    fn with(&self, now: Time, candidate: &QueuedJob) -> i128 {
        let (before, after) = self
            .waiting
            .split_at(self.place(candidate).min(self.waiting.len()));
        self.lateness_in_order(now, before.iter().chain([candidate]).chain(after))
    }

    fn lateness_in_order<'a>(
        &self,
        now: Time,
        waiting: impl Iterator<Item = &'a QueuedJob>,
    ) -> i128 {
        let free = now + self.remaining(now);
        let running = self
            .running
            .iter()
            .map(|running| (running.job.deadline, free));
        let waiting = waiting.scan(free, |end, queued| {
            *end += self.duration(queued);
            Some((queued.deadline, *end))
        });
        let mut lateness = AccumulatedLateness::default();
        for (deadline, end) in running.chain(waiting) {
            lateness.add(deadline, end);
        }
        lateness.total()
    }

    /// The running job, then those that wait.
    fn jobs(&self) -> impl Iterator<Item = &QueuedJob> {
        self.running
            .iter()
            .map(|running| &running.job)
            .chain(&self.waiting)
    }

    /// Where a new job stands: behind all that come before it and all its equals.
    fn place(&self, job: &QueuedJob) -> usize {
        match self.policy {
            Policy::FirstCome => self.waiting.len(),
            Policy::ShortestFirst => self
                .waiting
                .partition_point(|queued| queued.estimate <= job.estimate),
            Policy::EarliestDeadline => self
                .waiting
                .partition_point(|queued| due(queued) <= due(job)),
        }
    }

    fn duration(&self, job: &QueuedJob) -> Span {
        self.speed.duration_of(job.estimate)
    }

    fn remaining(&self, now: Time) -> Span {
        self.running.map_or(Span::ZERO, |running| {
            let left = self.duration(&running.job) - (now - running.started);
            if left.is_zero() { Self::OVERRUN } else { left }
        })
    }
}

impl LocalScheduler for SiteQueue {
    fn admits(&self, job: &QueuedJob) -> Result<(), QueueError> {
        if job.processors > NonZeroU32::MIN {
            return Err(QueueError::Unsuitable);
        }
        if self.jobs().any(|known| known.job == job.job) {
            return Err(QueueError::Known);
        }
        if self.jobs().count() >= self.limit {
            return Err(QueueError::Full);
        }
        Ok(())
    }

    fn push(&mut self, _: Time, job: QueuedJob) -> Result<(), QueueError> {
        self.admits(&job)?;
        self.waiting.insert(self.place(&job), job);
        Ok(())
    }

    fn withdraw(&mut self, job: JobId) -> Option<QueuedJob> {
        self.remove(job)
    }

    fn start_next(&mut self, now: Time) -> Option<JobId> {
        Self::start_next(self, now).map(|started| started.job)
    }

    fn finish(&mut self, _: Time, job: JobId) -> Result<(), NotRunning> {
        Self::finish(self, job).map(|_| ())
    }

    fn look_again(&self, _: Time) -> Option<Time> {
        None
    }

    fn forecast(&self, now: Time, change: Change<'_>, tell: &mut dyn FnMut(Expected)) {
        let mut end = now + self.remaining(now);
        if let Some(running) = &self.running {
            tell(Expected {
                job: running.job.job,
                deadline: running.job.deadline,
                start: running.started,
                end,
            });
        }
        let (newcomer, gone) = match change {
            Change::None => (None, None),
            Change::With(job) => (Some(job), None),
            Change::Without(job) => (None, Some(job)),
        };
        let place = newcomer.map_or(0, |job| self.place(job));
        let (before, after) = self.waiting.split_at(place.min(self.waiting.len()));
        for queued in before.iter().chain(newcomer).chain(after) {
            if Some(queued.job) == gone {
                continue;
            }
            let start = end;
            end += self.duration(queued);
            tell(Expected {
                job: queued.job,
                deadline: queued.deadline,
                start,
                end,
            });
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Self::check(self)
    }
}

fn due(job: &QueuedJob) -> Time {
    job.deadline.unwrap_or(Time::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_queue_is_named() {
        let job = |id, secs, deadline| QueuedJob {
            deadline: Some(Time::from_secs(deadline)),
            ..QueuedJob::new(JobId::new(id), Span::from_secs(secs))
        };
        let mut site = SiteQueue::new(Policy::ShortestFirst, Speed::BASELINE, 2);
        site.waiting.extend([job(1, 20, 5), job(2, 10, 9)]);
        assert_eq!(
            site.check().unwrap_err().invariant,
            "waiting jobs stand in the order of the policy"
        );
        site.policy = Policy::EarliestDeadline;
        assert_eq!(site.check(), Ok(()));
        site.waiting.reverse();
        assert!(site.check().is_err());
        site.policy = Policy::FirstCome;
        assert_eq!(site.check(), Ok(()));
        site.limit = 1;
        assert_eq!(
            site.check().unwrap_err().invariant,
            "a queue keeps within its limit"
        );
        site.waiting = Vec::from([job(1, 1, 1); 2]);
        assert_eq!(
            site.check().unwrap_err().invariant,
            "a job waits or runs, and once"
        );
    }
}

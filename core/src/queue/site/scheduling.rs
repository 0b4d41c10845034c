//! What a site does when it is told something.

use core::num::NonZeroU32;

use super::plan::{Passing, Plan, Profile};
use super::{QueuedJob, Running, SiteQueue};
use crate::id::JobId;
use crate::machine::Violation;
use crate::queue::{Change, Expected, LocalScheduler, NotRunning, QueueError};
use crate::time::{Interval, Span, Time};

impl SiteQueue {
    /// Whether a job is taken: a mirror takes what is seen.
    fn takes(&self, job: &QueuedJob) -> Result<(), QueueError> {
        match self.admits(job) {
            Err(QueueError::Full | QueueError::Unsuitable) if self.mirrors() => self.is_new(job),
            admitted => admitted,
        }
    }

    fn is_new(&self, job: &QueuedJob) -> Result<(), QueueError> {
        if self.jobs().any(|known| known.job == job.job) {
            return Err(QueueError::Known);
        }
        Ok(())
    }

    /// Notes that a job runs since `started`. Running jobs are kept in the order of their estimated ends.
    fn run(&mut self, job: QueuedJob, started: Time) {
        let running = Running {
            job,
            started,
            estimated_end: started + self.duration(&job),
        };
        let order = |running: &Running| (running.estimated_end, running.job.job);
        let index = self
            .running
            .partition_point(|other| order(other) < order(&running));
        self.running.insert(index, running);
    }
}

impl LocalScheduler for SiteQueue {
    fn admits(&self, job: &QueuedJob) -> Result<(), QueueError> {
        if job.processors > self.processors || job.estimate > self.longest {
            return Err(QueueError::Unsuitable);
        }
        self.is_new(job)?;
        if self.room() == 0 {
            return Err(QueueError::Full);
        }
        Ok(())
    }

    fn room(&self) -> usize {
        self.limit.saturating_sub(self.len())
    }

    fn push(&mut self, _: Time, job: QueuedJob) -> Result<(), QueueError> {
        self.takes(&job)?;
        self.waiting.insert(self.index_of(&job), job);
        Ok(())
    }

    fn withdraw(&mut self, job: JobId) -> Option<QueuedJob> {
        let index = self.waiting.iter().position(|queued| queued.job == job)?;
        Some(self.waiting.remove(index))
    }

    fn start_next(&mut self, now: Time) -> Option<JobId> {
        self.windows.drop_past(now);
        if self.mirrors() {
            return None;
        }
        let index = self.next_to_start(now)?;
        let job = self.waiting.remove(index);
        self.run(job, now);
        Some(job.job)
    }

    fn resume(&mut self, _: Time, job: QueuedJob, started: Time) -> Result<(), QueueError> {
        self.takes(&job)?;
        let used = self
            .running
            .iter()
            .map(|running| running.job.processors.get());
        let used = used.fold(job.processors.get(), u32::saturating_add);
        if used > self.processors.get() && !self.mirrors() {
            return Err(QueueError::Full);
        }
        self.run(job, started);
        Ok(())
    }

    fn finish(&mut self, now: Time, job: JobId) -> Result<(), NotRunning> {
        self.windows.drop_past(now);
        let mut running = self.running.iter();
        let index = running
            .position(|running| running.job.job == job)
            .ok_or(NotRunning)?;
        self.running.remove(index);
        Ok(())
    }

    fn is_mirror(&self) -> bool {
        self.mirrors()
    }

    /// The next end of a window, if jobs wait.
    fn look_again(&self, now: Time) -> Option<Time> {
        if self.waiting.is_empty() || self.mirrors() {
            return None;
        }
        self.windows.next_end(now)
    }

    fn forecast(&self, now: Time, change: Change<'_>, tell: &mut dyn FnMut(Expected)) {
        for running in &self.running {
            tell(Expected {
                job: running.job.job,
                deadline: running.job.deadline,
                start: running.started,
                end: running.ends(now),
            });
        }
        let (newcomer, gone) = match change {
            Change::None => (None, None),
            Change::With(job) => (Some(job), None),
            Change::Without(job) => (None, Some(job)),
        };
        let index = newcomer.map_or(0, |job| self.index_of(job));
        let (before, after) = self.waiting.split_at(index.min(self.waiting.len()));
        let mut jobs = self.waiting.iter().chain(newcomer);
        let passing = match self.backfills() && jobs.any(|job| job.processors != NonZeroU32::MIN) {
            true => Passing::Possible,
            false => Passing::Never,
        };
        let mut plan = Plan::new(self, now, passing);
        let order = before.iter().chain(newcomer).chain(after);
        order
            .filter(|queued| Some(queued.job) != gone)
            .for_each(|queued| {
                let duration = self.duration(queued);
                let start = if queued.processors > self.processors {
                    Time::MAX
                } else {
                    plan.place(queued.processors, duration)
                };
                tell(Expected {
                    job: queued.job,
                    deadline: queued.deadline,
                    start,
                    end: start + duration,
                });
            });
    }

    fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.waiting
                .is_sorted_by(|a, b| self.policy.compare(a, b).is_le()),
            "waiting jobs stand in the order of the policy",
        )?;
        let order = |running: &Running| (running.estimated_end, running.job.job);
        Violation::unless(
            self.running.is_sorted_by_key(order),
            "running jobs stand in the order of their estimated ends",
        )?;
        let once = |job: &QueuedJob| self.jobs().filter(|other| other.job == job.job).count() == 1;
        Violation::unless(self.jobs().all(once), "a job waits or runs, and once")?;
        if self.mirrors() {
            // What a site does within its limits, it decides itself.
            return Ok(());
        }
        let suits = |job: &QueuedJob| job.processors <= self.processors;
        Violation::unless(
            self.jobs().all(suits),
            "no job wants more processors than there are",
        )?;
        Violation::unless(
            self.busy_processors() <= self.processors.get(),
            "jobs run on no more processors than there are",
        )?;
        let time = Interval::since(Time::ZERO);
        let kept = time.map_or(0, |time| self.windows.most_kept(time));
        let windows = self.windows.all();
        Violation::unless(
            kept <= self.processors.get()
                && windows.len() <= Self::MOST_WINDOWS
                && windows.is_sorted(),
            "the owner keeps no more than there is",
        )?;
        Violation::unless(self.len() <= self.limit, "a queue keeps within its limit")
    }
}

impl SiteQueue {
    fn len(&self) -> usize {
        self.running.len().saturating_add(self.waiting.len())
    }

    /// The index of the job that is to start now.
    fn next_to_start(&self, now: Time) -> Option<usize> {
        let head = self.waiting.first()?;
        let free = self.free_processors();
        let head_has_room = head.processors.get() <= free || canary!(HeadNeedsNoRoom);
        if self.windows.all().is_empty() {
            if head_has_room {
                return Some(0);
            }
            if !self.backfills() || free == 0 {
                return None;
            }
        }
        let mut profile = Profile::new(self, now);
        let fits = |profile: &Profile, job: &QueuedJob| {
            let (wanted, length): (u32, Span) = (job.processors.get(), self.duration(job));
            wanted <= free && profile.fits(now, wanted, length)
        };
        if fits(&profile, head) {
            return Some(0);
        }
        if !self.backfills() {
            return None;
        }
        // The head is reserved at its shadow time. A job that fits beside that reservation does not delay the head.
        let (wanted, length) = (head.processors.get(), self.duration(head));
        let shadow = profile.earliest(now, wanted, length);
        if !canary!(ShadowNotKept) {
            profile.take(shadow, wanted, length);
        }
        let mut behind = self.waiting.iter().enumerate().skip(1);
        behind
            .find(|(_, job)| fits(&profile, job))
            .map(|(index, _)| index)
    }
}

//! A job at the site that holds it: the local scheduler queues and starts it.

use super::{Aria, Timer};
use crate::custody::{Command, Ending, Refused};
use crate::id::{Epoch, JobId};
use crate::job::{Job, Outcome, Seen};
use crate::machine::{Context, Event};
use crate::queue::{Change, LocalScheduler, QueuedJob, expected};
use crate::time::Time;

impl<S: LocalScheduler> Aria<S> {
    /// Whether this site would take a job now.
    pub(super) fn takes(&self, job: &Job) -> bool {
        self.custody.has_room() && self.refuses(job).is_none()
    }

    /// Why this site could not queue a job, in addition to the jobs that it has taken but that are not granted yet.
    pub(super) fn refuses(&self, job: &Job) -> Option<Refused> {
        let taken = || self.custody.not_granted().filter(|id| *id != job.id);
        if !self.duty.takes_jobs() {
            Some(Refused::Draining)
        } else if !self.site_answers() {
            Some(Refused::NoSite)
        } else if !self.site.takes(job) {
            Some(Refused::NoMatch)
        } else {
            (self.site.local.room() <= taken().count()).then_some(Refused::Full)
        }
    }

    /// When a job would start if it arrived now.
    pub(super) fn start_if_taken(&self, job: &Job, now: Time) -> Option<Time> {
        let queued = QueuedJob::arriving(job, now);
        let with = Change::With(&queued);
        expected(&self.site.local, now, with, job.id).map(|job| job.start)
    }

    /// Queues a job that was granted to this site. `arrived` is its arrival in the queue.
    pub(super) fn enqueue(&mut self, job: &Job, arrived: Time, cx: &mut dyn Context<Self>) {
        let (id, now) = (job.id, cx.now());
        let queued = QueuedJob::arriving(job, arrived);
        if self.site.local.push(now, queued).is_err() {
            // The room that there was is gone. The home of the job finds another site.
            let ending = Ending::Withdrawn;
            self.tell_custody(Command::Ended { job: id, ending }, cx);
            return;
        }
        self.expect_start(id, cx);
        self.start_jobs(cx);
    }

    /// Tells custody when a job that waits here is expected to start.
    pub(super) fn expect_start(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let expected = expected(&self.site.local, now, Change::None, job);
        let start = expected.map_or(now, |job| job.start);
        let at = None;
        self.tell_custody(Command::Expect { job, start, at }, cx);
    }

    /// Starts all jobs that can start, and sets a timer for the next ones.
    pub(super) fn start_jobs(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        while let Some(job) = self.site.local.start_next(now) {
            self.end_advert(job, cx);
            // If the job may not start, custody drops it, which frees its processors: the next job may start.
            self.follow_custody(Event::Command(Command::Start(job)), cx);
        }
        match self.site.local.look_again(now) {
            Some(at) if at > now => cx.wake(at, Timer::Local),
            _ => {}
        }
    }

    /// Handles the end of a job, as the host reports it.
    pub(super) fn on_ended(
        &mut self,
        job: JobId,
        attempt: Epoch,
        outcome: Outcome,
        cx: &mut dyn Context<Self>,
    ) {
        if self.is_foreign() {
            return self.on_attempt(job, attempt, Seen::Ended(outcome), cx);
        }
        let runs = self.custody.running(job) == Some(attempt);
        if !runs || self.site.local.finish(cx.now(), job).is_err() {
            return;
        }
        let ending = Ending::from(outcome);
        self.tell_custody(Command::Ended { job, ending }, cx);
        self.start_jobs(cx);
    }

    /// Takes a job that still runs after a restart into the local queue.
    pub(super) fn resume(&mut self, job: &Job, started: Time, cx: &mut dyn Context<Self>) {
        if self.is_foreign() {
            return self.resumed_at_site(job.id, started, cx.now());
        }
        let queued = QueuedJob::arriving(job, started);
        if self.site.local.resume(cx.now(), queued, started).is_err() {
            // The site has not the processors that it had before the restart.
            self.tell_custody(Command::NotResumed(job.id), cx);
        }
    }

    /// Removes a job from the queue or from the running jobs. Returns whether that
    /// made room for jobs that this node starts.
    pub(super) fn remove(&mut self, job: JobId, cx: &mut dyn Context<Self>) -> bool {
        if self.is_foreign() {
            self.drop_at_site(job, cx);
            return false;
        }
        self.end_advert(job, cx);
        let now = cx.now();
        self.site.local.withdraw(job).is_some()
            || (!canary!(DroppedJobKeepsItsRoom) && self.site.local.finish(now, job).is_ok())
    }
}

//! A job at the site that runs it, behind the site's own scheduler.

use super::{Aria, Timer};
use crate::custody::{Command, Ending};
use crate::id::JobId;
use crate::job::{Failure, Job, Outcome};
use crate::machine::{Context, Event};
use crate::queue::{Change, LocalScheduler, QueuedJob, expected};
use crate::time::Time;

impl<S: LocalScheduler> Aria<S> {
    /// Whether this site would take a job now.
    pub(super) fn takes(&self, job: &Job) -> bool {
        !self.leaving && self.custody.has_room() && self.suits(job)
    }

    /// Whether this site could queue a job, beside all that it has taken and that are not granted to it yet.
    pub(super) fn suits(&self, job: &Job) -> bool {
        let taken = || self.custody.not_granted().filter(|id| *id != job.id);
        self.site.takes(job) && self.site.local.room() > taken().count()
    }

    /// When a job would start that came now.
    pub(super) fn start_if_taken(&self, job: &Job, now: Time) -> Option<Time> {
        let queued = QueuedJob::arriving(job, now);
        let with = Change::With(&queued);
        expected(&self.site.local, now, with, job.id).map(|job| job.start)
    }

    /// A job may be here, since then, so it is queued.
    pub(super) fn enqueue(&mut self, job: &Job, arrived: Time, cx: &mut dyn Context<Self>) {
        let (id, now) = (job.id, cx.now());
        let queued = QueuedJob::arriving(job, arrived);
        if self.site.local.push(now, queued).is_err() {
            // The room that there was is gone. Its initiator finds another place.
            let ending = Ending::Withdrawn;
            self.tell_custody(Command::Ended { job: id, ending }, cx);
            return;
        }
        let start = expected(&self.site.local, now, Change::None, id).map_or(now, |job| job.start);
        self.tell_custody(Command::Expect { job: id, start }, cx);
        self.start_jobs(cx);
    }

    /// Starts what is to start, and asks to be woken when more may be.
    pub(super) fn start_jobs(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        while let Some(job) = self.site.local.start_next(now) {
            self.end_advert(job, cx);
            // If it may not, the custody says that it is dropped, and so it is taken from those that run: the next one may start.
            self.follow_custody(Event::Command(Command::Start(job)), cx);
        }
        match self.site.local.look_again(now) {
            Some(at) if at > now => cx.wake(at, Timer::Local),
            _ => {}
        }
    }

    /// The host says that a job has ended by itself.
    pub(super) fn ended_here(&mut self, job: JobId, outcome: Outcome, cx: &mut dyn Context<Self>) {
        if self.site.local.finish(cx.now(), job).is_err() {
            return;
        }
        let ending = match outcome {
            Outcome::Done => Ending::Done,
            Outcome::Broke => Ending::Failed(Failure::Broke),
        };
        self.tell_custody(Command::Ended { job, ending }, cx);
        self.start_jobs(cx);
    }

    /// Takes a job that is over here from those that wait or run. Whether it was there.
    pub(super) fn remove(&mut self, job: JobId, cx: &mut dyn Context<Self>) -> bool {
        self.end_advert(job, cx);
        let now = cx.now();
        self.site.local.withdraw(job).is_some()
            || (!canary!(DroppedJobKeepsItsRoom) && self.site.local.finish(now, job).is_ok())
    }
}

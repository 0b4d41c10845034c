//! A site that this node does not own: its scheduler queues and starts jobs, and the host reports what it sees there.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::Aria;
use super::promises::OUT_OF_ITS_QUEUE;
use crate::custody::{Command, Ending};
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Job, News, Notice, OwnJob, Seen, SiteReport, Survival};
use crate::machine::{Context, Event};
use crate::queue::{LocalScheduler, QueuedJob};
use crate::time::Time;

/// What a node knows of a foreign site, beside the mirror of its queue. Nothing of it is on disk: after a restart the
/// host reports what is there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Foreign {
    contact: Contact,
    /// The attempts that are at the site as far as this node knows, at most one at each job. Sorted by job.
    placed: Vec<Placed>,
}

/// Whether a site answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Contact {
    /// It does not, or the host has not reported yet what is there.
    Unreachable,
    Reachable,
}

/// Whether jobs count that were offered a place and have not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offered {
    Counts,
    /// They were offered a place behind this job, which was offered one, too.
    IsBehind,
}

/// An attempt at a foreign site.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Placed {
    job: JobId,
    attempt: Epoch,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    /// The host was told to queue it, or has seen it in the queue.
    Queued,
    /// The host was told to withdraw it: it goes to this node once it is surely out of the queue.
    Withdrawing { to: NodeId },
    /// The site has started it, and custody has not: in this life its home has not granted it yet.
    Begun,
    /// It runs there.
    Running,
}

impl Foreign {
    pub(super) const fn new() -> Self {
        Self {
            contact: Contact::Unreachable,
            placed: Vec::new(),
        }
    }

    fn index(&self, job: JobId) -> Result<usize, usize> {
        self.placed.binary_search_by_key(&job, |placed| placed.job)
    }

    fn find(&self, job: JobId) -> Option<Placed> {
        self.placed.get(self.index(job).ok()?).copied()
    }

    /// Notes an attempt, in place of what was known of the job.
    fn note(&mut self, placed: Placed) {
        match self.index(placed.job) {
            Ok(index) => {
                if let Some(known) = self.placed.get_mut(index) {
                    *known = placed;
                }
            }
            Err(index) => self.placed.insert(index, placed),
        }
    }

    fn forget(&mut self, job: JobId) -> Option<Placed> {
        let index = self.index(job).ok()?;
        Some(self.placed.remove(index))
    }
}

impl<S: LocalScheduler> Aria<S> {
    /// The attempt at a job that waits or runs at the foreign site of this node, as far as the node knows.
    pub fn attempt_at_site(&self, job: JobId) -> Option<Epoch> {
        self.foreign.find(job).map(|placed| placed.attempt)
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.site.local.is_mirror()
    }

    /// Whether the site can be asked. Without an answer nothing is offered, and nothing is given away.
    pub(super) fn site_answers(&self) -> bool {
        !self.is_foreign() || self.foreign.contact == Contact::Reachable
    }

    /// Whether each attempt at the site is one that custody has.
    pub(super) fn foreign_is_sound(&self) -> bool {
        let placed = &self.foreign.placed;
        let has = |placed: &Placed| self.custody.attempt(placed.job) == Some(placed.attempt);
        placed.is_sorted_by(|a, b| a.job < b.job) && placed.iter().all(has)
    }

    /// The queue that a job would find. That of a foreign site is taken as it will be when all is done that is under way,
    /// which takes seconds there: jobs that are withdrawn are gone, and jobs that were taken or, if those count, offered a
    /// place are there. The job that is asked about is left as it is.
    pub(super) fn outlook(&self, asked: JobId, offered: Offered, now: Time) -> Cow<'_, S> {
        if !self.is_foreign() {
            return Cow::Borrowed(&self.site.local);
        }
        let mut outlook = self.site.local.clone();
        let placed = self.foreign.placed.iter();
        for leaving in placed.filter(|placed| matches!(placed.stage, Stage::Withdrawing { .. })) {
            if leaving.job != asked {
                outlook.withdraw(leaving.job);
            }
        }
        let taken = self.custody.not_granted();
        let taken = taken.filter_map(|job| self.custody.job(job));
        let taken = taken.map(|job| QueuedJob::arriving(job.get(), now));
        let promised = self.promises.open(now);
        let promised = promised.filter(|_| offered == Offered::Counts);
        for coming in promised.chain(taken) {
            if coming.job != asked {
                // It fails if the job is there already.
                let _ = outlook.push(now, coming);
            }
        }
        Cow::Owned(outlook)
    }

    /// Tells the host to queue a job at the site until its lease ends. `arrived` is its arrival in the queue.
    pub(super) fn queue_at_site(
        &mut self,
        job: &Job,
        (arrived, until): (Time, Time),
        cx: &mut dyn Context<Self>,
    ) {
        let (id, now) = (job.id, cx.now());
        let Some(attempt) = self.custody.attempt(id) else {
            return;
        };
        match self.foreign.find(id).map(|placed| placed.stage) {
            // The site started it before its home granted it again after a restart.
            Some(Stage::Begun | Stage::Running) => {
                self.confirm_start(id, attempt, cx);
                return;
            }
            Some(Stage::Queued | Stage::Withdrawing { .. }) => {}
            None => {
                if self.mirror_waiting(job, attempt, arrived, now).is_err() {
                    // The name is that of a job of the site's own users. The home of the job finds another site.
                    let ending = Ending::Withdrawn;
                    self.tell_custody(Command::Ended { job: id, ending }, cx);
                    return;
                }
            }
        }
        let news = News::Queue { attempt, until };
        cx.notify(Notice { job: id, news });
        self.expect_start(id, cx);
    }

    fn mirror_waiting(
        &mut self,
        job: &Job,
        attempt: Epoch,
        arrived: Time,
        now: Time,
    ) -> Result<(), crate::queue::QueueError> {
        self.site
            .local
            .push(now, QueuedJob::arriving(job, arrived))?;
        self.foreign.note(Placed {
            job: job.id,
            attempt,
            stage: Stage::Queued,
        });
        Ok(())
    }

    /// Handles what the host sees at the site.
    pub(super) fn on_site_report(&mut self, report: SiteReport, cx: &mut dyn Context<Self>) {
        if !self.is_foreign() {
            return;
        }
        match report {
            SiteReport::Attempt { job, attempt, seen } => self.on_attempt(job, attempt, seen, cx),
            SiteReport::Own { job, seen } => self.on_own_job(job, seen, cx.now()),
            SiteReport::Reachable => self.foreign.contact = Contact::Reachable,
            SiteReport::Unreachable => {
                self.foreign.contact = Contact::Unreachable;
                if canary!(SilentSiteTakenForGone) {
                    for placed in self.foreign.placed.clone() {
                        self.on_vanished(placed.job, cx);
                    }
                }
            }
        }
    }

    /// An attempt that is here, or was claimed again after a restart, was seen at the site.
    pub(super) fn on_attempt(
        &mut self,
        job: JobId,
        attempt: Epoch,
        seen: Seen,
        cx: &mut dyn Context<Self>,
    ) {
        let present = self.custody.attempt(job);
        if present != Some(attempt) && !(canary!(OldAttemptReported) && present.is_some()) {
            // It is over. If it is still there, it must go.
            if matches!(seen, Seen::Queued | Seen::Started { .. }) {
                let news = News::Stopped { attempt };
                cx.notify(Notice { job, news });
            }
            return;
        }
        match seen {
            Seen::Queued => {
                if self.foreign.find(job).is_none()
                    && let Some(shared) = self.custody.job(job)
                {
                    // The node has restarted. If the mirror has no room for the name, the grant finds that, too.
                    let _ = self.mirror_waiting(shared.get(), attempt, cx.now(), cx.now());
                }
            }
            Seen::Started { at } => self.on_started(job, attempt, at, cx),
            Seen::Ended(outcome) => {
                self.clear(job, cx);
                let ending = Ending::from(outcome);
                self.tell_custody(Command::Ended { job, ending }, cx);
            }
            Seen::Vanished => {
                if !canary!(VanishedNotNoted) {
                    self.on_vanished(job, cx);
                }
            }
        }
    }

    fn on_started(&mut self, job: JobId, attempt: Epoch, at: Time, cx: &mut dyn Context<Self>) {
        let known = self.foreign.find(job);
        if known.is_some_and(|placed| matches!(placed.stage, Stage::Begun | Stage::Running)) {
            return;
        }
        self.end_advert(job, cx);
        self.mirror_running(job, attempt, at, cx.now());
        if self.custody.is_here(job) {
            self.confirm_start(job, attempt, cx);
        }
    }

    fn mirror_running(&mut self, job: JobId, attempt: Epoch, at: Time, now: Time) {
        let waiting = self.site.local.withdraw(job);
        let of = |job: &Job| QueuedJob::arriving(job, at);
        let queued = waiting.or_else(|| self.custody.job(job).map(|shared| of(shared.get())));
        if let Some(queued) = queued {
            // If the name is that of a job of the site's own users, the forecast lacks this one.
            let _ = self.site.local.resume(now, queued, at);
        }
        self.foreign.note(Placed {
            job,
            attempt,
            stage: Stage::Begun,
        });
    }

    /// Has custody start a job that the site has started. If the job may not run, custody drops it.
    fn confirm_start(&mut self, job: JobId, attempt: Epoch, cx: &mut dyn Context<Self>) {
        self.follow_custody(Event::Command(Command::Start(job)), cx);
        if self.custody.running(job) == Some(attempt) {
            self.foreign.note(Placed {
                job,
                attempt,
                stage: Stage::Running,
            });
        }
    }

    /// The site does not have a job any more. A job that was to move goes on now; for any other, its home finds a site,
    /// perhaps this one, and it gets a new attempt.
    fn on_vanished(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let ending = match self.clear(job, cx).map(|placed| placed.stage) {
            Some(Stage::Withdrawing { to }) if self.custody.is_here(job) => {
                let carried = OUT_OF_ITS_QUEUE;
                self.tell_custody(Command::GiveAway { job, to, carried }, cx);
                return;
            }
            Some(Stage::Begun | Stage::Running) => Ending::Lost,
            _ => Ending::Withdrawn,
        };
        self.tell_custody(Command::Ended { job, ending }, cx);
    }

    /// Forgets an attempt that is not at the site any more.
    fn clear(&mut self, job: JobId, cx: &mut dyn Context<Self>) -> Option<Placed> {
        self.end_advert(job, cx);
        let placed = self.foreign.forget(job)?;
        if self.site.local.withdraw(job).is_none() {
            // It fails only if the mirror did not have the job.
            let _ = self.site.local.finish(cx.now(), job);
        }
        Some(placed)
    }

    /// A job of the site's own users was seen there. A name that a job of the grid has is not believed.
    fn on_own_job(&mut self, own: OwnJob, seen: Seen, now: Time) {
        if self.custody.has(own.id) {
            return;
        }
        let local = &mut self.site.local;
        if local.withdraw(own.id).is_none() {
            // What is not known needs not be forgotten.
            let _ = local.finish(now, own.id);
        }
        let queued = QueuedJob {
            processors: own.processors,
            submitted: own.submitted,
            arrived: own.submitted,
            ..QueuedJob::new(own.id, own.estimate)
        };
        if local.room() == 0 {
            // A full mirror forecasts too early a start. It makes no offers either.
            return;
        }
        // Neither fails: the name is new, and a mirror takes what is seen.
        let _ = match seen {
            Seen::Queued => local.push(now, queued),
            Seen::Started { at } => local.resume(now, queued, at),
            Seen::Ended(_) | Seen::Vanished => Ok(()),
        };
    }

    /// Asks the host to withdraw a waiting job, which then goes to another site. If it starts before that, it stays.
    pub(super) fn withdraw_from_site(
        &mut self,
        job: JobId,
        to: NodeId,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(placed) = self.foreign.find(job) else {
            return;
        };
        if !matches!(placed.stage, Stage::Queued | Stage::Withdrawing { .. }) {
            return;
        }
        let attempt = placed.attempt;
        let stage = Stage::Withdrawing { to };
        self.foreign.note(Placed { stage, ..placed });
        let news = News::Withdraw { attempt };
        cx.notify(Notice { job, news });
        if canary!(GivenBeforeWithdrawn) {
            self.on_vanished(job, cx);
        }
    }

    /// The lease of a job was extended. Custody tells that of a running job itself.
    pub(super) fn on_extended(&self, job: JobId, until: Time, cx: &mut dyn Context<Self>) {
        let placed = self.foreign.find(job);
        if let Some(Placed { attempt, stage, .. }) = placed
            && stage != Stage::Running
        {
            let news = News::Extended { attempt, until };
            cx.notify(Notice { job, news });
        }
    }

    /// Custody has dropped a job: the host must end it at the site, whether it waits or runs. Custody tells that of a
    /// running job itself.
    pub(super) fn drop_at_site(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if let Some(Placed { attempt, stage, .. }) = self.clear(job, cx)
            && stage != Stage::Running
        {
            let news = News::Stopped { attempt };
            cx.notify(Notice { job, news });
        }
    }

    /// What became of an attempt while this node was down, if it was only queued then.
    pub(super) fn on_survived_at_site(
        &mut self,
        job: JobId,
        attempt: Epoch,
        survival: Survival,
        cx: &mut dyn Context<Self>,
    ) {
        let seen = match survival {
            Survival::Runs { .. } => Seen::Started { at: cx.now() },
            Survival::Ended(outcome) => Seen::Ended(outcome),
        };
        self.on_attempt(job, attempt, seen, cx);
    }

    /// A job that ran when this node went down runs on.
    pub(super) fn resumed_at_site(&mut self, job: JobId, started: Time, now: Time) {
        if let Some(attempt) = self.custody.running(job) {
            self.mirror_running(job, attempt, started, now);
            self.foreign.note(Placed {
                job,
                attempt,
                stage: Stage::Running,
            });
        }
    }
}

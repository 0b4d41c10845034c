//! A job at its run node.

use super::message::MoveTo;
use super::migration::Gathering;
use super::{Desktop, Habit, Promise};
use crate::custody::{Command, Ending, Refused};
use crate::id::{Epoch, JobId};
use crate::job::{Job, Outcome};
use crate::machine::{Context, Event};
use crate::queue::{Discipline, Waiting};

/// Encodes in one number how often a job was passed, and why it moves.
pub(super) fn carry(waiting: &Waiting, move_to: MoveTo) -> u32 {
    let passed = waiting.passed.min(u32::MAX >> 1_u32);
    (passed << 1_u32) | u32::from(move_to == MoveTo::Start)
}

fn carried(carried: u32) -> (u32, MoveTo) {
    let move_to = if carried & 1 == 1 {
        MoveTo::Start
    } else {
        MoveTo::Wait
    };
    (carried >> 1_u32, move_to)
}

impl<const D: usize> Desktop<D> {
    fn waiting(&self, job: &Job, passed: u32) -> Waiting {
        Waiting {
            requirement: self.needs(job),
            passed,
            ..Waiting::from(job)
        }
    }

    /// Why this node does not take a job that it is given.
    pub(super) fn refuses(&self, job: &Job, with: u32) -> Option<Refused> {
        let (passed, move_to) = carried(with);
        let jobs = self
            .queue
            .waiting()
            .len()
            .saturating_add(self.queue.running().len());
        if !self.duty.takes_jobs() {
            return Some(Refused::Draining);
        }
        if jobs >= self.config.queue as usize {
            return Some(Refused::Full);
        }
        let waiting = self.waiting(job, passed);
        let takes = match move_to {
            MoveTo::Start => self.could_start(&waiting),
            MoveTo::Wait => self.queue.pool().suits(&waiting.requirement),
        };
        (!takes).then_some(Refused::NoMatch)
    }

    /// A job is granted to this node: it is queued, or started at once if it came to start.
    pub(super) fn enqueue(&mut self, job: &Job, with: u32, cx: &mut dyn Context<Self>) {
        let (passed, move_to) = carried(with);
        let waiting = self.waiting(job, passed);
        self.migration
            .promises
            .retain(|promise: &Promise| promise.job != job.id);
        self.touch();
        // A migrant that starts passes all jobs that wait here (PROTOCOLS L3).
        if move_to == MoveTo::Start && self.queue.start_migrant(&waiting).is_ok() {
            if self.config.has(Habit::Several) {
                self.migration.gathering = Gathering::Wanted;
            }
            self.started(job.id, cx);
        } else if self.queue.push(waiting).is_err() {
            // The room is gone by now. The owner finds another run node.
            let (job, ending) = (job.id, Ending::Withdrawn);
            self.tell_runs(Command::Ended { job, ending }, cx);
        } else {
            let start = cx.now();
            let expect = Command::Expect {
                job: job.id,
                start,
                at: None,
            };
            self.tell_runs(expect, cx);
        }
        self.start_jobs(cx);
        self.seek_start(job.id, cx);
    }

    /// If a job has to wait that a search placed here, searches for a node that can start it. Its owner took this node for
    /// free, or knew no better one.
    fn seek_start(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let may_move = self.config.scheduling.internode.is_some();
        if !self.config.has(Habit::Seek) || !may_move || !self.duty.takes_jobs() {
            return;
        }
        let waiting = self.queue.waiting().iter().find(|it| it.job == job);
        if let Some(waiting) = waiting.copied()
            && self.migration.is_search_due(job, cx.now())
        {
            self.hunt_sooner(waiting, cx);
        }
    }

    /// Counts how many jobs wait here, and how often they were passed, at most.
    fn note_passed(&mut self) {
        let waiting = self.queue.waiting();
        let passed = waiting.iter().map(|job| job.passed).max().unwrap_or(0);
        let counts = &mut self.counts;
        counts.most_passed = counts.most_passed.max(passed);
        let count = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
        counts.most_waiting = counts.most_waiting.max(count);
    }

    /// A job is out of the queue and running, unless its lease is over.
    fn started(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        self.touch();
        // If the lease is over, custody drops the job. That takes it out of the running jobs, and the next may start.
        let notices = self.handle_runs(Event::Command(Command::Start(job)), cx);
        self.follow_runs(notices, cx);
    }

    /// Starts all jobs that may start, and pulls more if room is left.
    pub(super) fn start_jobs(&mut self, cx: &mut dyn Context<Self>) {
        let discipline = if self.config.scheduling.local {
            Discipline::Backfill
        } else {
            Discipline::HeadOnly
        };
        self.note_passed();
        while let Some(job) = self.queue.start_next(discipline) {
            self.note_passed();
            self.started(job, cx);
        }
        self.pull(cx);
    }

    /// The host says that a job has ended by itself.
    pub(super) fn on_ended(
        &mut self,
        job: JobId,
        attempt: Epoch,
        outcome: Outcome,
        cx: &mut dyn Context<Self>,
    ) {
        let runs = self.runs.running(job) == Some(attempt);
        if !runs || self.queue.finish(job).is_err() {
            return;
        }
        self.touch();
        let ending = Ending::from(outcome);
        self.tell_runs(Command::Ended { job, ending }, cx);
        self.migration.gathering = Gathering::Wanted;
        if !canary!(NobodyStartsAfterAnEnd) {
            self.start_jobs(cx);
        }
    }

    /// Takes a job that still runs after a restart among the running jobs.
    pub(super) fn resume(&mut self, job: &Job, cx: &mut dyn Context<Self>) {
        self.touch();
        if self.queue.resume(&self.waiting(job, 0)).is_err() {
            // The node has not the cores that it had before the restart.
            self.tell_runs(Command::NotResumed(job.id), cx);
        }
    }

    /// Takes a job out of the queue or the running jobs; says whether it was there.
    pub(super) fn remove(&mut self, job: JobId) -> bool {
        let was_here = self.queue.remove(job).is_some() || self.queue.finish(job).is_ok();
        if was_here {
            self.touch();
        }
        was_here
    }
}

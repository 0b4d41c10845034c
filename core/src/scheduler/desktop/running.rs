//! A job at who runs it.

use super::message::MoveTo;
use super::{Desktop, Promise};
use crate::custody::{Command, Ending};
use crate::id::JobId;
use crate::job::{Failure, Job, Outcome};
use crate::machine::{Context, Event};
use crate::queue::{Discipline, Waiting};

/// What travels with a job that moves: how often it was passed, and why it moves.
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

    /// Whether this node takes a job that it is given.
    pub(super) fn takes(&self, job: &Job, with: u32) -> bool {
        let (passed, move_to) = carried(with);
        let jobs = self
            .queue
            .waiting()
            .len()
            .saturating_add(self.queue.running().len());
        if self.leaving || jobs >= self.config.queue as usize {
            return false;
        }
        let waiting = self.waiting(job, passed);
        match move_to {
            MoveTo::Start => self.could_start(&waiting),
            MoveTo::Wait => self.queue.pool().suits(&waiting.requirement),
        }
    }

    /// A job may be here, so it is queued, or started at once if that is why it came.
    pub(super) fn enqueue(&mut self, job: &Job, with: u32, cx: &mut dyn Context<Self>) {
        let (passed, move_to) = carried(with);
        let waiting = self.waiting(job, passed);
        self.migration
            .promises
            .retain(|promise: &Promise| promise.job != job.id);
        self.touch();
        // A start by itself means that those who wait here were passed (PROTOCOLS L3).
        if move_to == MoveTo::Start && self.queue.start_migrant(&waiting).is_ok() {
            self.started(job.id, cx);
        } else if self.queue.push(waiting).is_err() {
            // The room that there was is gone. Its owner finds another place.
            let (job, ending) = (job.id, Ending::Withdrawn);
            self.tell_runs(Command::Ended { job, ending }, cx);
        } else {
            let (job, start) = (job.id, cx.now());
            self.tell_runs(Command::Expect { job, start }, cx);
        }
        self.start_jobs(cx);
    }

    /// A job is out of the queue and running, unless its lease is over.
    fn started(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        self.touch();
        // If it may not, the custody says that it is dropped, and so it is taken from those that run: the next one may start.
        let notices = self.handle_runs(Event::Command(Command::Start(job)), cx);
        self.follow_runs(notices, cx);
    }

    /// Starts what may start, and looks for more if something is left.
    pub(super) fn start_jobs(&mut self, cx: &mut dyn Context<Self>) {
        let discipline = if self.config.scheduling.local {
            Discipline::Backfill
        } else {
            Discipline::HeadOnly
        };
        while let Some(job) = self.queue.start_next(discipline) {
            self.started(job, cx);
        }
        self.pull(cx);
    }

    /// The host says that a job has ended by itself.
    pub(super) fn ended_here(&mut self, job: JobId, outcome: Outcome, cx: &mut dyn Context<Self>) {
        if self.queue.finish(job).is_err() {
            return;
        }
        self.touch();
        let ending = match outcome {
            Outcome::Done => Ending::Done,
            Outcome::Broke => Ending::Failed(Failure::Broke),
        };
        self.tell_runs(Command::Ended { job, ending }, cx);
        self.migration.freed = true;
        if !canary!(NobodyStartsAfterAnEnd) {
            self.start_jobs(cx);
        }
    }

    /// Takes a job that is over here from those that wait or run. Whether it was there.
    pub(super) fn remove(&mut self, job: JobId) -> bool {
        let was_here = self.queue.remove(job).is_some() || self.queue.finish(job).is_ok();
        if was_here {
            self.touch();
        }
        was_here
    }
}

//! A job that was submitted here, from its submission to its outcome.

use alloc::vec::Vec;

use super::{Desk, Key, Notice, Record, tell};
use crate::commit::coordinator::{self, Setback};
use crate::commit::{Policy, Refused};
use crate::id::{Epoch, JobId};
use crate::job::{Demand, Failure, Job, News, Payload, Placement, Refusal, Scope};
use crate::machine::Context;
use crate::resource::Dimensions;
use crate::shared::Shared;
use crate::time::Time;
use crate::trace::Trace;

/// A job that was submitted here and has no outcome yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Job,
    /// What the hosts that run it are told.
    pub(super) payload: Payload,
    pub(super) stage: Stage,
    /// How many searches for a placement are left.
    left: u8,
    /// How many placements the job has lost.
    places_lost: u8,
    /// Why the last search failed, for the user.
    why: Refusal,
}

/// After this many lost placements a job gets no new rounds: nodes that commit and then drop the job would delay its
/// outcome for ever.
const MOST_PLACES_LOST: u8 = 64;

/// How far a job is, as it is kept on disk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// The host has been told nothing.
    Open,
    /// The host was told that the job has a placement.
    Accepted {
        /// The start that the host was told.
        start: Time,
        /// The attempt that the host was told.
        attempt: Epoch,
    },
    /// The job has lost the placement that the host was told. Another one is searched.
    Lost,
    /// The user has cancelled the job.
    Cancelled,
    /// The job has failed. The host was told so, or a crash came first.
    Failed(Failure),
}

impl Task {
    /// A task that has no rounds yet.
    pub(super) const fn new(job: Job, payload: Payload, stage: Stage) -> Self {
        Self {
            job,
            payload,
            stage,
            left: 0,
            places_lost: 0,
            why: Refusal::NotFound,
        }
    }

    fn record(&self) -> Record {
        Record::Job {
            job: self.job,
            payload: self.payload.clone(),
            stage: self.stage,
        }
    }

    /// Why the job fails when its rounds are used up.
    fn failure(&self) -> Failure {
        match self.stage {
            Stage::Accepted { .. } | Stage::Lost => Failure::NodeLost,
            _ => Failure::Refused(self.why),
        }
    }

    /// Gives the job all its rounds again, unless it has lost too many placements.
    const fn renew(&mut self, rounds: u8) {
        if self.places_lost < MOST_PLACES_LOST {
            self.left = rounds;
        }
    }

    /// Whether the start that the host was told has passed.
    fn has_started(&self, now: Time) -> bool {
        matches!(self.stage, Stage::Accepted { start, .. } if start <= now)
    }
}

/// The reason that a user is told if this was the last setback of a job.
const fn refusal_after(setback: &Setback) -> Refusal {
    match setback {
        Setback::Refused { reason, .. } => match reason {
            Refused::TooLate => Refusal::TooSlow,
            Refused::Full => Refusal::NodesFull,
            Refused::Quota => Refusal::Quota,
            Refused::NotAccepted => Refusal::NotAccepted,
            Refused::Foreign => Refusal::NameTaken,
            Refused::Draining => Refusal::NodesDraining,
            Refused::Lacking => Refusal::NoMatch,
            _ => Refusal::Taken,
        },
        Setback::Clock { .. } => Refusal::Clock,
        Setback::Slow | Setback::Expired { .. } => Refusal::TooSlow,
        Setback::Full => Refusal::Full,
        _ => Refusal::NoAnswer,
    }
}

/// The index of a job among tasks, or the index at which it would be inserted.
pub(super) fn index_of(tasks: &[Task], job: JobId) -> Result<usize, usize> {
    tasks.binary_search_by_key(&job, |task| task.job.id)
}

/// Why a scheduler that reserves whole nodes refuses a job; `None` if it does not.
fn refusal(job: &Job, most_nodes: u16, dimensions: Option<&Dimensions>) -> Option<Refusal> {
    let unknown = match dimensions {
        Some(dimensions) => dimensions.unknown_in(&job.requirement),
        None => job.requirement.named().next().map(|(first, _)| first),
    };
    if let Some(dimension) = unknown {
        return Some(Refusal::unknown(dimension));
    }
    match job.demand {
        Demand::Cores(_) => return Some(Refusal::UnsupportedDemand),
        Demand::Nodes(count) if count.get() > u32::from(most_nodes) => {
            return Some(Refusal::TooLarge);
        }
        Demand::Nodes(_) => {}
    }
    if job.scope == Scope::Here {
        return Some(Refusal::UnsupportedScope);
    }
    job.deadline.map(|_| Refusal::UnsupportedDeadline)
}

impl<P: Policy> Desk<P> {
    fn task_mut(&mut self, job: JobId) -> Option<&mut Task> {
        let index = index_of(&self.tasks, job).ok()?;
        self.tasks.get_mut(index)
    }

    pub(super) fn submit(
        &mut self,
        job: Job,
        payload: Payload,
        refused: Option<Refusal>,
        cx: &mut dyn Context<Self>,
    ) {
        let index = index_of(&self.tasks, job.id);
        let room = self.tasks.len() < usize::from(self.config.commit.tasks);
        // `Known` comes first: a host that submits again after a crash must not take the job to another node as well.
        let refused = if index.is_ok() {
            Some(Refusal::Known)
        } else if let Some(refusal) = self.duty.refusal() {
            Some(refusal)
        } else if !room {
            Some(Refusal::Full)
        } else {
            let dimensions = self.policy().dimensions();
            refusal(&job, self.config.commit.members, dimensions).or(refused)
        };
        let index = match (refused, index) {
            (None, Err(index)) => index,
            (refused, _) => {
                let refused = refused.unwrap_or(Refusal::Known);
                tell(job.id, News::Failed(Failure::Refused(refused)), cx);
                return;
            }
        };
        let mut task = Task::new(job, payload, Stage::Open);
        task.left = self.config.rounds;
        cx.persist(Key::Job(job.id), task.record());
        self.tasks.insert(index, task);
        self.search(job.id, None, cx);
    }

    /// Goes on with jobs from disk. If no placement of a job was decided, or it has lost its placement, a new one is
    /// searched, even while the coordinator still clears up earlier attempts.
    pub(super) fn resume(&mut self, cx: &mut dyn Context<Self>) {
        let tasks = self.tasks.iter();
        let open: Vec<(JobId, Stage)> = tasks.map(|task| (task.job.id, task.stage)).collect();
        for (job, stage) in open {
            match stage {
                Stage::Failed(failure) => self.fail(job, failure, cx),
                Stage::Cancelled if self.is_coordinated(job) => self.release(job, cx),
                Stage::Cancelled => self.close(job, News::Cancelled, cx),
                Stage::Open | Stage::Accepted { .. } | Stage::Lost => {
                    let rounds = self.config.rounds;
                    let latest = cx.now() + self.config.commit.max_skew;
                    let mut may_have_run = false;
                    if let Some(task) = self.task_mut(job) {
                        task.left = rounds;
                        may_have_run = task.has_started(latest);
                    }
                    if self.node.coordinator.is_placing(job) {
                        continue;
                    }
                    // The coordinator has given up an attempt that may have run, and a crash came before the desk knew.
                    if may_have_run {
                        self.run_again(job, Failure::NodeLost, None, cx);
                    } else {
                        self.search(job, None, cx);
                    }
                }
            }
        }
    }

    /// An attempt that may have run has failed: the job is searched for again if its policy allows that, or fails.
    fn run_again(
        &mut self,
        job: JobId,
        failure: Failure,
        setback: Option<Setback>,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let policy = task.job.retry;
        let again = policy.after(failure);
        match again.or(canary!(StartsAgainUnasked).then_some(policy)) {
            Some(retry) => {
                // Both at once, so that no crash comes between them.
                (task.job.retry, task.stage) = (retry, Stage::Lost);
                cx.persist(Key::Job(job), task.record());
                self.search(job, setback, cx);
            }
            None => self.fail(job, failure, cx),
        }
    }

    pub(super) fn renew_rounds(&mut self, job: JobId) {
        let rounds = self.config.rounds;
        if let Some(task) = self.task_mut(job) {
            task.renew(rounds);
        }
    }

    fn is_coordinated(&self, job: JobId) -> bool {
        self.node.coordinator.jobs().any(|known| known == job)
    }

    /// Asks for a search if a round is left, else fails the job. `setback` says why the last placement failed.
    pub(super) fn search(
        &mut self,
        job: JobId,
        setback: Option<Setback>,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        match task.left.checked_sub(1) {
            Some(left) => {
                task.left = if canary!(RoundsNotCounted) {
                    task.left
                } else {
                    left
                };
                cx.trace(Trace::Searches { job });
                cx.notify(Notice::Search { job, left, setback });
            }
            None => {
                let failure = task.failure();
                self.fail(job, failure, cx);
            }
        }
    }

    pub(super) fn cancel(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(task) = self.task_mut(job) else {
            return cx.trace(Trace::unknown(job, None));
        };
        if task.stage == Stage::Cancelled {
            return;
        }
        task.stage = Stage::Cancelled;
        cx.persist(Key::Job(job), task.record());
        if self.is_coordinated(job) {
            self.release(job, cx);
        } else {
            self.close(job, News::Cancelled, cx);
        }
    }

    /// Has the nodes of a job release it. The outcome is told when all of them have.
    fn release(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        cx.notify(Notice::Done { job });
        self.coordinate(coordinator::Command::Release { job }, cx);
    }

    /// Handles a notice of the coordinator.
    pub(super) fn on_coordinator_notice(
        &mut self,
        notice: coordinator::Notice,
        cx: &mut dyn Context<Self>,
    ) {
        match notice {
            coordinator::Notice::Placed { job, placement } => self.on_placed(job, placement, cx),
            coordinator::Notice::Unplaced {
                job,
                setback,
                may_have_run,
            } => self.on_unplaced(job, setback, may_have_run, cx),
            coordinator::Notice::Cleared { job } => {
                let cancelled = |task: &mut Task| task.stage == Stage::Cancelled;
                if self.task_mut(job).is_some_and(cancelled) {
                    self.close(job, News::Cancelled, cx);
                }
            }
            coordinator::Notice::Kept { job, setback } => {
                cx.notify(Notice::Kept { job, setback });
            }
            // `AsCommit` has told the host.
            coordinator::Notice::Finished { .. } => {}
        }
    }

    fn on_placed(&mut self, job: JobId, placement: Placement, cx: &mut dyn Context<Self>) {
        let rounds = self.config.rounds;
        let (start, attempt) = (placement.start, placement.attempt);
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let news = match task.stage {
            Stage::Open => Some(News::Accepted(Shared::new(placement))),
            // After a restart the same attempt is placed again.
            Stage::Accepted { attempt: told, .. } if told == attempt => None,
            Stage::Accepted { .. } | Stage::Lost => Some(News::Moved(Shared::new(placement))),
            Stage::Cancelled | Stage::Failed(_) => return,
        };
        task.stage = Stage::Accepted { start, attempt };
        task.renew(rounds);
        if let Some(news) = news {
            cx.persist(Key::Job(job), task.record());
            tell(job, news, cx);
        }
        cx.notify(Notice::Placed { job, start });
    }

    fn on_unplaced(
        &mut self,
        job: JobId,
        setback: Setback,
        may_have_run: bool,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        if task.stage == Stage::Cancelled {
            // The outcome is told when all nodes have released the job.
            return;
        }
        if matches!(task.stage, Stage::Accepted { .. }) {
            task.places_lost = task.places_lost.saturating_add(1);
            task.stage = Stage::Lost;
            if !may_have_run {
                cx.persist(Key::Job(job), task.record());
            }
        }
        task.why = refusal_after(&setback);
        match setback {
            Setback::Broke { .. } => self.run_again(job, Failure::Broke, Some(setback), cx),
            Setback::Overran { .. } => self.run_again(job, Failure::Overran, Some(setback), cx),
            Setback::NotAuthorised => {
                self.fail(job, Failure::Refused(Refusal::NotAuthorised), cx);
            }
            Setback::Full => {
                let failure = task.failure();
                self.fail(job, failure, cx);
            }
            _ if may_have_run => self.run_again(job, Failure::NodeLost, Some(setback), cx),
            _ => self.search(job, Some(setback), cx),
        }
    }

    /// Ends a job with a failure. It is persisted before it is told, so that no other outcome is told after a crash.
    pub(super) fn fail(&mut self, job: JobId, failure: Failure, cx: &mut dyn Context<Self>) {
        if let Some(task) = self.task_mut(job) {
            task.stage = Stage::Failed(failure);
            cx.persist(Key::Job(job), task.record());
        }
        self.close(job, News::Failed(failure), cx);
        // Nodes of earlier attempts may still have to let go, but whether the job ran there does not matter any more.
        if self.is_coordinated(job) {
            self.coordinate(coordinator::Command::Release { job }, cx);
        }
    }

    /// Tells the outcome of a job and forgets it.
    fn close(&mut self, job: JobId, news: News, cx: &mut dyn Context<Self>) {
        if let Ok(index) = index_of(&self.tasks, job) {
            self.tasks.remove(index);
            tell(job, news, cx);
            cx.forget(Key::Job(job));
            cx.notify(Notice::Done { job });
        }
    }
}

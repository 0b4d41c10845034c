//! A job that was submitted here, from its submission to its outcome.

use alloc::vec::Vec;

use super::{Desk, Key, Notice, Record, tell};
use crate::commit::coordinator::{self, Setback};
use crate::commit::{AfterLoss, Policy};
use crate::id::JobId;
use crate::job::{Demand, Failure, Job, News, Refusal, Scope};
use crate::machine::Context;
use crate::time::Time;

/// A job that was submitted here and has no outcome yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Job,
    pub(super) stage: Stage,
    /// How many searches for a placement are left.
    left: u8,
    /// Whether an earlier placement had started and was lost. The job may never end in its time.
    is_lost: bool,
    /// How many placements the job has lost.
    places_lost: u8,
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
    },
    /// The user has cancelled the job.
    Cancelled,
    /// The job has failed. The host was told so, or a crash came first.
    Failed(Failure),
}

impl Task {
    /// A task that has no rounds yet.
    pub(super) const fn new(job: Job, stage: Stage) -> Self {
        Self {
            job,
            stage,
            left: 0,
            is_lost: false,
            places_lost: 0,
        }
    }

    fn record(&self) -> Record {
        Record::Job(self.job, self.stage)
    }

    /// Why the job fails when its rounds are used up.
    fn failure(&self) -> Failure {
        match self.stage {
            Stage::Accepted { .. } => Failure::NodeLost,
            _ => Failure::Refused(Refusal::Full),
        }
    }

    /// Whether the start that the host was told has passed.
    fn has_started(&self, now: Time) -> bool {
        matches!(self.stage, Stage::Accepted { start } if start <= now)
    }
}

/// The index of a job among tasks, or the index at which it would be inserted.
pub(super) fn index_of(tasks: &[Task], job: JobId) -> Result<usize, usize> {
    tasks.binary_search_by_key(&job, |task| task.job.id)
}

/// Why a scheduler that reserves whole nodes refuses a job; `None` if it does not.
fn refusal(job: &Job, most_nodes: u16) -> Option<Refusal> {
    if let Some((dimension, _)) = job.requirement.named().next() {
        return Some(Refusal::unknown(dimension));
    }
    match job.demand {
        Demand::Cores(_) => return Some(Refusal::UnsupportedDemand),
        Demand::Nodes(count) if count.get() > u32::from(most_nodes) => {
            return Some(Refusal::TooLarge);
        }
        Demand::Nodes(_) => {}
    }
    if job.scope != Scope::Grid {
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
        refused: Option<Refusal>,
        cx: &mut dyn Context<Self>,
    ) {
        let index = index_of(&self.tasks, job.id);
        let room = self.tasks.len() < usize::from(self.config.commit.tasks);
        // `Known` comes first: a host that submits again after a crash must not take the job to another node as well.
        let refused = if index.is_ok() {
            Some(Refusal::Known)
        } else if self.leaving {
            Some(Refusal::Leaving)
        } else if !room {
            Some(Refusal::Full)
        } else {
            refusal(&job, self.config.commit.members).or(refused)
        };
        let index = match (refused, index) {
            (None, Err(index)) => index,
            (refused, _) => {
                let refused = refused.unwrap_or(Refusal::Known);
                tell(job.id, News::Failed(Failure::Refused(refused)), cx);
                return;
            }
        };
        let mut task = Task::new(job, Stage::Open);
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
                Stage::Open | Stage::Accepted { .. } => {
                    let rounds = self.config.rounds;
                    if let Some(task) = self.task_mut(job) {
                        task.left = rounds;
                    }
                    let placing = self.node.coordinator.is_placing(job);
                    // The coordinator clears up an attempt that has failed, and that may have run.
                    let is_clearing = !placing && self.is_coordinated(job);
                    if is_clearing && self.is_given_up(job, cx.now()) {
                        self.fail(job, Failure::NodeLost, cx);
                    } else if !placing {
                        self.search(job, None, cx);
                    }
                }
            }
        }
    }

    /// Whether a job without a placement may have run, and must not start again.
    fn is_given_up(&mut self, job: JobId, now: Time) -> bool {
        let gives_up = self.config.after_loss == AfterLoss::GiveUp;
        let task = self.task_mut(job).filter(|_| gives_up);
        task.is_some_and(|task| task.has_started(now))
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
            return;
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
            coordinator::Notice::Placed { attempt, interval } => {
                self.on_placed(attempt.job, interval.start(), cx);
            }
            coordinator::Notice::Unplaced { job, setback } => self.on_unplaced(job, setback, cx),
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

    fn on_placed(&mut self, job: JobId, start: Time, cx: &mut dyn Context<Self>) {
        let rounds = self.config.rounds;
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return;
        };
        // A job that had started and was lost gets no new rounds, even if its new placement is improved later.
        task.is_lost |= task.has_started(now);
        let news = match task.stage {
            Stage::Open => Some(News::Accepted { start }),
            Stage::Accepted { start: told } if told != start => Some(News::Moved { start }),
            Stage::Accepted { .. } => None,
            Stage::Cancelled | Stage::Failed(_) => return,
        };
        task.stage = Stage::Accepted { start };
        if !task.is_lost && task.places_lost < MOST_PLACES_LOST {
            task.left = rounds;
        }
        if let Some(news) = news {
            cx.persist(Key::Job(job), task.record());
            tell(job, news, cx);
        }
        cx.notify(Notice::Placed { job, start });
    }

    fn on_unplaced(&mut self, job: JobId, setback: Setback, cx: &mut dyn Context<Self>) {
        let given_up = self.is_given_up(job, cx.now());
        let rounds = self.config.rounds;
        let Some(task) = self.task_mut(job) else {
            return;
        };
        if task.stage == Stage::Cancelled {
            // The outcome is told when all nodes have released the job.
            return;
        }
        // Only the first setback after a placement is its loss; later ones belong to the search for another.
        let first = task.left == rounds;
        if first && matches!(task.stage, Stage::Accepted { .. }) {
            task.places_lost = task.places_lost.saturating_add(1);
        }
        let failure = match setback {
            Setback::Broke { .. } => Some(Failure::Broke),
            Setback::NotAuthorised => Some(Failure::Refused(Refusal::NotAuthorised)),
            Setback::Full => Some(task.failure()),
            _ if given_up => Some(task.failure()),
            _ => None,
        };
        match failure {
            Some(failure) => self.fail(job, failure, cx),
            None => self.search(job, Some(setback), cx),
        }
    }

    /// Ends a job with a failure. It is persisted before it is told, so that no other outcome is told after a crash.
    pub(super) fn fail(&mut self, job: JobId, failure: Failure, cx: &mut dyn Context<Self>) {
        if let Some(task) = self.task_mut(job) {
            task.stage = Stage::Failed(failure);
            cx.persist(Key::Job(job), task.record());
        }
        self.close(job, News::Failed(failure), cx);
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

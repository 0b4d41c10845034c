//! A job that was submitted here, from its submission to its last word.

use alloc::vec::Vec;

use super::{Desk, Key, Notice, Record, tell};
use crate::commit::coordinator::{self, Setback};
use crate::commit::{AfterLoss, Policy};
use crate::id::JobId;
use crate::job::{Demand, Failure, Job, News, Refusal, Scope};
use crate::machine::Context;
use crate::time::Time;

/// A job that was submitted here and has no last word yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Job,
    pub(super) stage: Stage,
    /// How often a place may still be searched for.
    left: u8,
    /// It was to begin and was lost: it may be too long for its time, whatever that is.
    is_lost: bool,
    /// How many places it has lost before it was to begin.
    places_lost: u8,
}

/// After so many lost places a job has only the rounds that are left: those who promise it theirs and take it back would keep it from
/// its last word for ever.
const MOST_PLACES_LOST: u8 = 64;

/// How far a job is, as far as it must not be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// Its submitter has been told nothing.
    Open,
    /// Its submitter was told that it starts then.
    Accepted {
        /// When.
        start: Time,
    },
    /// Its submitter does not want it any more.
    Cancelled,
    /// It has failed, and its submitter was told so, or would have been.
    Failed(Failure),
}

impl Task {
    /// Of which nothing is being done yet.
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

    /// Why it will not be done, if there is no place left to try.
    fn failure(&self) -> Failure {
        match self.stage {
            Stage::Accepted { .. } => Failure::NodeLost,
            _ => Failure::Refused(Refusal::Full),
        }
    }

    /// Whether it was to begin by now.
    fn has_started(&self, now: Time) -> bool {
        matches!(self.stage, Stage::Accepted { start } if start <= now)
    }
}

/// Where a job is among tasks, or would be.
pub(super) fn index_of(tasks: &[Task], job: JobId) -> Result<usize, usize> {
    tasks.binary_search_by_key(&job, |task| task.job.id)
}

/// Why nobody who reserves whole nodes takes a job, if so.
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
        // Known first: who is asked again after a crash must not have the job go elsewhere, too.
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

    /// Takes up jobs from disk. One that no place was decided on for, or that has lost its place, is searched a new one for,
    /// whatever its coordinator still has to clear up.
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
                    // What the coordinator has of it is an attempt that came to nothing, and may have run.
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

    /// Whether a job without a place may have run, and must not begin again.
    fn is_given_up(&mut self, job: JobId, now: Time) -> bool {
        let gives_up = self.config.after_loss == AfterLoss::GiveUp;
        let task = self.task_mut(job).filter(|_| gives_up);
        task.is_some_and(|task| task.has_started(now))
    }

    fn is_coordinated(&self, job: JobId) -> bool {
        self.node.coordinator.jobs().any(|known| known == job)
    }

    /// Wants a place for a job, if it may; this is why the last one came to nothing.
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

    /// Has the nodes of a job let go of it; its last word comes when they have.
    fn release(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        cx.notify(Notice::Done { job });
        self.coordinate(coordinator::Command::Release { job }, cx);
    }

    /// What the coordinator has to say, once it is done with what it does.
    pub(super) fn coordinated(&mut self, notice: coordinator::Notice, cx: &mut dyn Context<Self>) {
        match notice {
            coordinator::Notice::Placed { attempt, interval } => {
                self.placed(attempt.job, interval.start(), cx);
            }
            coordinator::Notice::Unplaced { job, setback } => self.unplaced(job, setback, cx),
            coordinator::Notice::Cleared { job } => {
                let cancelled = |task: &mut Task| task.stage == Stage::Cancelled;
                if self.task_mut(job).is_some_and(cancelled) {
                    self.close(job, News::Cancelled, cx);
                }
            }
            coordinator::Notice::Kept { job, setback } => {
                cx.notify(Notice::Kept { job, setback });
            }
            // It was told where it happened.
            coordinator::Notice::Finished { .. } => {}
        }
    }

    fn placed(&mut self, job: JobId, start: Time, cx: &mut dyn Context<Self>) {
        let rounds = self.config.rounds;
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return;
        };
        // What started and was lost has only the rounds that are left, also when a better place than the next is found.
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

    fn unplaced(&mut self, job: JobId, setback: Setback, cx: &mut dyn Context<Self>) {
        let given_up = self.is_given_up(job, cx.now());
        let rounds = self.config.rounds;
        let Some(task) = self.task_mut(job) else {
            return;
        };
        if task.stage == Stage::Cancelled {
            // It has its last word when nothing of it is left.
            return;
        }
        // Those after it are of the search for another.
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

    /// The last word on a job that will not be done. It lasts before it is said, so that no other is said after a crash.
    pub(super) fn fail(&mut self, job: JobId, failure: Failure, cx: &mut dyn Context<Self>) {
        if let Some(task) = self.task_mut(job) {
            task.stage = Stage::Failed(failure);
            cx.persist(Key::Job(job), task.record());
        }
        self.close(job, News::Failed(failure), cx);
    }

    /// The last word on a job.
    fn close(&mut self, job: JobId, news: News, cx: &mut dyn Context<Self>) {
        if let Ok(index) = index_of(&self.tasks, job) {
            self.tasks.remove(index);
            tell(job, news, cx);
            cx.forget(Key::Job(job));
            cx.notify(Notice::Done { job });
        }
    }
}

//! A job at its home, from when it is taken up to its last word.

use alloc::vec::Vec;

use super::message::{Answer, Claim, Ending, Ruling, Standing, Tenure, Term};
use super::{Candidates, Custody, Key, Message, Notice, Record, Timer};
use crate::id::{JobId, NodeId};
use crate::job::{Failure, Job, News, Refusal};
use crate::machine::Context;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// A job that this node answers for and that has no last word yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Shared<Job>,
    /// Since when this node answers for it.
    tenure: Tenure,
    past: Past,
    phase: Phase,
    bound: Bound,
    /// When something is to be done about it.
    due: Time,
}

/// Until when this node itself may answer for a job: it grants nothing beyond that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Bound {
    /// It may for ever.
    Never,
    /// It may not before it is told so.
    NotYet,
    Until(Time),
}

impl Bound {
    /// Until when a job may be granted, of what is wanted.
    fn limit(self, wanted: Time) -> Option<Time> {
        match self {
            Self::Never => Some(wanted),
            Self::NotYet => None,
            Self::Until(bound) => Some(wanted.min(bound)),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Phase {
    /// It was read from disk.
    Restored(Stage),
    /// Somebody is searched for; the last attempt had this number.
    Seeking { attempt: u32 },
    /// Nobody was found; the next search begins when this is over.
    Pausing { attempt: u32 },
    /// This node is to take it, and has not said so.
    Giving {
        term: Term,
        to: NodeId,
        tries: u8,
        others: Candidates,
    },
    /// This node has it, until then unless it asks for more time.
    Held { holding: Holding, until: Time },
    /// It is not wanted any more, but may still be there.
    Withdrawing { holding: Holding, until: Time },
}

/// Who has a job, under what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Holding {
    /// Under which term.
    pub term: Term,
    /// Who.
    pub holder: NodeId,
    /// Which of the times it is that it has it; none if it has not said so.
    pub claim: Option<Claim>,
}

impl Holding {
    pub(super) const fn new(term: Term, holder: NodeId, claim: Claim) -> Self {
        Self {
            term,
            holder,
            claim: Some(claim),
        }
    }

    /// This node was given it, and has not said that it has it.
    const fn given(term: Term, holder: NodeId) -> Self {
        Self {
            term,
            holder,
            claim: None,
        }
    }

    /// The same, as far as is known of this.
    fn is_of(&self, claimed: &Self) -> bool {
        (self.term, self.holder) == (claimed.term, claimed.holder)
            && (self.claim.is_none() || self.claim == claimed.claim)
    }

    /// Whether a claim to a job stands, given who has it. Whoever has the job gives it away under the very next term, and to one node only
    /// until that has failed; of two who claim that term, the first has it. So nobody else can.
    fn admits(&self, claimed: &Self) -> bool {
        self.is_of(claimed) || Some(claimed.term) == self.term.moved()
    }

    fn verdict(&self, job: JobId, ruling: Ruling) -> Message {
        Message::Verdict {
            job,
            term: self.term,
            claim: self.claim.unwrap_or(Claim::NONE),
            ruling,
        }
    }
}

/// What became of a job so far, as far as its home must not forget: a home that its job brings down would else begin with it anew in each
/// of its lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Past {
    /// How often somebody may still be searched for.
    pub left: u8,
    /// The start that was told.
    pub told: Option<Time>,
    /// Whether another has it now than when that was told.
    pub moved: bool,
    /// Whether it has started somewhere, or may have. What is lost after that has only the rounds that are left: it may be what
    /// brings its nodes down.
    pub started: bool,
}

impl Past {
    /// That of a new job, with so many rounds.
    const fn none(rounds: u8) -> Self {
        Self {
            left: rounds,
            told: None,
            moved: false,
            started: false,
        }
    }
}

/// How far a job is, as far as its home must not forget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// Nobody has it. It was given away so often.
    Open {
        /// How often.
        attempt: u32,
        /// What became of it.
        past: Past,
    },
    /// This node was given it.
    Given {
        /// Which.
        holding: Holding,
        /// What became of it before.
        past: Past,
    },
    /// It was cancelled, but this node may still have it.
    Cancelled(Holding),
    /// This was its last word, and it was told, or would have been.
    Over(News),
}

impl Task {
    /// A job from disk.
    pub(super) const fn restored(
        job: Shared<Job>,
        tenure: Tenure,
        stage: Stage,
        bound: Bound,
    ) -> Self {
        let past = match stage {
            Stage::Open { past, .. } | Stage::Given { past, .. } => past,
            // Nobody is searched for any more.
            Stage::Cancelled(_) | Stage::Over(_) => Past::none(0),
        };
        Self {
            job,
            tenure,
            past,
            phase: Phase::Restored(stage),
            bound,
            due: Time::ZERO,
        }
    }

    /// The term of the attempt with this number.
    const fn term(&self, attempt: u32) -> Term {
        Term {
            tenure: self.tenure,
            attempt,
            moves: 0,
        }
    }

    fn persist(&self, stage: Stage, cx: &mut dyn Context<Custody>) {
        let record = Record::Task(self.job.clone(), self.tenure, stage);
        cx.persist(Key::Task(self.job.get().id), record);
    }

    /// Where it is, as far as its home knows.
    pub(super) const fn holder(&self) -> Option<NodeId> {
        match self.phase {
            Phase::Held { holding, .. } | Phase::Withdrawing { holding, .. } => {
                Some(holding.holder)
            }
            _ => None,
        }
    }
}

impl Custody {
    pub(super) fn task_index(&self, job: JobId) -> Result<usize, usize> {
        self.tasks
            .binary_search_by_key(&job, |task| task.job.get().id)
    }

    fn task_mut(&mut self, job: JobId) -> Option<&mut Task> {
        let index = self.task_index(job).ok()?;
        self.tasks.get_mut(index)
    }

    /// Why this node would not answer for another job, if it would not.
    pub fn refusal(&self, job: JobId) -> Option<Refusal> {
        if self.answers_for(job) {
            Some(Refusal::Known)
        } else if self.tasks.len() >= self.config.tasks as usize {
            Some(Refusal::Full)
        } else {
            None
        }
    }

    /// Answers for a job from now on, unless that is refused, and searches for somebody who takes it.
    pub(super) fn keep(
        &mut self,
        job: Shared<Job>,
        tenure: Tenure,
        until: Option<Time>,
        cx: &mut dyn Context<Self>,
    ) {
        let id = job.get().id;
        if let (Err(index), None) = (self.task_index(id), self.refusal(id)) {
            let past = Past::none(self.config.rounds);
            let stage = Stage::Open { attempt: 0, past };
            let bound = until.map_or(self.unbound(), Bound::Until);
            let task = Task::restored(job, tenure, stage, bound);
            task.persist(stage, cx);
            self.tasks.insert(index, task);
            self.seek(id, 0, cx);
        }
    }

    /// Until when a home may grant a job that nothing was said about.
    const fn unbound(&self) -> Bound {
        if self.config.bounded {
            Bound::NotYet
        } else {
            Bound::Never
        }
    }

    pub(super) fn bound(&mut self, job: JobId, until: Time) {
        if let Some(task) = self.task_mut(job) {
            task.bound = Bound::Until(until);
        }
    }

    pub(super) fn restore_task(&mut self, job: Shared<Job>, tenure: Tenure, stage: Stage) {
        if let Err(index) = self.task_index(job.get().id) {
            let task = Task::restored(job, tenure, stage, self.unbound());
            self.tasks.insert(index, task);
        }
    }

    /// Takes up a job from disk.
    pub(super) fn resume_task(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let until = cx.now() + self.config.lease;
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Phase::Restored(stage) = task.phase else {
            return;
        };
        match stage {
            Stage::Open { attempt, .. } => self.seek(job, attempt, cx),
            // Whatever was granted in an earlier life ends before a lease from now is over.
            Stage::Given { holding, .. } => {
                task.phase = Phase::Held { holding, until };
                self.wait_out(job, until, cx);
            }
            Stage::Cancelled(holding) => {
                task.phase = Phase::Withdrawing { holding, until };
                self.attend_task(job, cx);
            }
            Stage::Over(news) => self.close(job, news, cx),
        }
    }

    fn wake_task(&mut self, job: JobId, at: Time, cx: &mut dyn Context<Self>) {
        if let Some(task) = self.task_mut(job) {
            task.due = at;
            cx.wake(at, Timer::Task(job));
        }
    }

    /// Does nothing about a job until whoever has it has surely let it go.
    fn wait_out(&mut self, job: JobId, until: Time, cx: &mut dyn Context<Self>) {
        let skew = if canary!(LeaseWithoutSkew) {
            Span::ZERO
        } else {
            self.config.max_skew
        };
        self.wake_task(job, until.passed(skew), cx);
    }

    /// Has somebody searched for, if it may.
    fn seek(&mut self, job: JobId, attempt: u32, cx: &mut dyn Context<Self>) {
        let search = self.config.search;
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Some(left) = task.past.left.checked_sub(1) else {
            let failure = match task.past.told {
                Some(_) => Failure::NodeLost,
                None => Failure::Refused(Refusal::NoMatch),
            };
            self.close(job, News::Failed(failure), cx);
            return;
        };
        task.past.left = left;
        task.phase = Phase::Seeking { attempt };
        let shared = task.job.clone();
        cx.notify(Notice::Seek {
            job: shared,
            attempt,
        });
        self.wake_task(job, cx.now() + search, cx);
    }

    /// These nodes may take a job, the best first: the answer to [`Notice::Seek`]. None ends the search.
    pub(super) fn found(
        &mut self,
        job: JobId,
        attempt: u32,
        candidates: Candidates,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let is_sought = task.phase == (Phase::Seeking { attempt });
        // Somebody may be found after all while a search for nothing is rested from.
        let rests = task.phase == (Phase::Pausing { attempt }) && !candidates.is_empty();
        if is_sought || rests {
            self.give_to_next(job, attempt, candidates, cx);
        }
    }

    /// Something is to be done about a job, if it is time.
    pub(super) fn attend_task(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (now, skew, retry) = (cx.now(), self.config.max_skew, self.config.retry);
        let Some(task) = self.task_mut(job) else {
            return;
        };
        if !matches!(task.phase, Phase::Withdrawing { .. }) && now < task.due {
            let due = task.due;
            cx.wake(due, Timer::Task(job));
            return;
        }
        match &mut task.phase {
            Phase::Restored(_) => {}
            Phase::Seeking { attempt } => {
                let attempt = *attempt;
                self.give_to_next(job, attempt, Candidates::new(), cx);
            }
            Phase::Pausing { attempt } => {
                let attempt = *attempt;
                self.seek(job, attempt, cx);
            }
            Phase::Giving {
                term,
                to,
                tries,
                others,
            } => match tries.checked_sub(1) {
                Some(left) => {
                    *tries = left;
                    let (term, to) = (*term, *to);
                    let give = Message::Give {
                        job: task.job.clone(),
                        home: self.me,
                        term,
                        carried: 0,
                    };
                    cx.send(to, give);
                    self.wake_task(job, now + retry, cx);
                }
                None => {
                    let (attempt, others) = (term.attempt, core::mem::take(others));
                    self.give_to_next(job, attempt, others, cx);
                }
            },
            Phase::Held { holding, .. } => {
                let attempt = holding.term.attempt;
                // Who starts a job does not say so at once. Whoever was granted it may be silent because it started.
                task.past.started |= holding.claim.is_some();
                self.place_again(job, attempt, cx);
            }
            Phase::Withdrawing { holding, until } => {
                let (holding, gone) = (*holding, until.passed(skew));
                if now >= gone {
                    self.close(job, News::Cancelled, cx);
                    return;
                }
                cx.send(holding.holder, holding.verdict(job, Ruling::Withdraw));
                self.wake_task(job, gone.min(now + retry), cx);
            }
        }
    }

    /// Whoever had a job is lost.
    fn place_again(&mut self, job: JobId, attempt: u32, cx: &mut dyn Context<Self>) {
        self.counts.placed_again = self.counts.placed_again.saturating_add(1);
        if let Some(task) = self.task_mut(job) {
            let past = task.past;
            task.persist(Stage::Open { attempt, past }, cx);
            self.seek(job, attempt, cx);
        }
    }

    /// Gives a job to the first of those that may take it, or searches again later if there is none.
    fn give_to_next(
        &mut self,
        job: JobId,
        attempt: u32,
        mut candidates: Candidates,
        cx: &mut dyn Context<Self>,
    ) {
        let (tries, rounds, pause) = (self.tries(), self.config.rounds, self.config.pause);
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return;
        };
        if candidates.is_empty() {
            task.phase = Phase::Pausing { attempt };
            let before = rounds
                .saturating_sub(task.past.left)
                .saturating_sub(1)
                .min(16);
            let wait = if task.past.left == 0 {
                Span::ZERO
            } else {
                pause.times(1_u64 << before)
            };
            self.wake_task(job, now + wait, cx);
            return;
        }
        let to = candidates.remove(0);
        let Some(attempt) = attempt.checked_add(1) else {
            self.close(job, News::Failed(Failure::NodeLost), cx);
            return;
        };
        let (term, past) = (task.term(attempt), task.past);
        task.phase = Phase::Giving {
            term,
            to,
            tries,
            others: candidates,
        };
        task.due = now;
        let holding = Holding::given(term, to);
        task.persist(Stage::Given { holding, past }, cx);
        self.attend_task(job, cx);
    }

    /// Somebody does not take a job that it was given.
    fn not_taken(&mut self, from: NodeId, job: JobId, refused: Term, cx: &mut dyn Context<Self>) {
        if let Some(task) = self.task_mut(job)
            && let Phase::Giving {
                term, to, others, ..
            } = &mut task.phase
            && (*to, *term) == (from, refused)
        {
            let (attempt, others) = (term.attempt, core::mem::take(others));
            self.give_to_next(job, attempt, others, cx);
        }
    }

    /// A node cannot be reached, so that it takes nothing. Whether it has something that it was given before is another question.
    pub(super) fn candidate_unreachable(&mut self, node: NodeId, cx: &mut dyn Context<Self>) {
        let waiting = self.tasks.iter().filter_map(|task| match task.phase {
            Phase::Giving { to, term, .. } if to == node => Some((task.job.get().id, term)),
            _ => None,
        });
        for (job, term) in waiting.collect::<Vec<_>>() {
            self.not_taken(node, job, term, cx);
        }
    }

    /// Who was given a job by its home answers. Who takes it reports to it, so only a no is news.
    pub(super) fn candidate_answered(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        answer: Answer,
        cx: &mut dyn Context<Self>,
    ) {
        if answer == Answer::NotTaken {
            self.not_taken(from, job, term, cx);
        }
    }

    /// A holder tells how a job is that it has.
    pub(super) fn reported(
        &mut self,
        job: JobId,
        claimed: Holding,
        standing: Standing,
        cx: &mut dyn Context<Self>,
    ) {
        let ruling = match standing {
            Standing::Ended(ending) => {
                self.ended_there(job, claimed, ending, cx);
                Some(Ruling::Over)
            }
            Standing::Waiting { .. } | Standing::Running => {
                self.claimed(job, claimed, standing, cx)
            }
        };
        if let Some(ruling) = ruling {
            cx.send(claimed.holder, claimed.verdict(job, ruling));
        }
    }

    /// Somebody has a job, or says so: it is believed if it was given it, or by whoever was.
    fn claimed(
        &mut self,
        job: JobId,
        holding: Holding,
        standing: Standing,
        cx: &mut dyn Context<Self>,
    ) -> Option<Ruling> {
        let now = cx.now();
        let rounds = self.config.rounds;
        let lease = self.config.lease;
        let Some(task) = self.task_mut(job) else {
            return Some(Ruling::Over);
        };
        let until = task.bound.limit(now + lease);
        if matches!(task.phase, Phase::Restored(_)) {
            return None;
        }
        let (is_new, granted) = match task.phase {
            Phase::Giving { term, to, .. } if (term, to) == (holding.term, holding.holder) => {
                (true, None)
            }
            Phase::Held {
                holding: present,
                until,
            } if present.admits(&holding) => (present != holding, Some(until)),
            Phase::Withdrawing {
                holding: present, ..
            } => {
                if present.admits(&holding) && present.term != holding.term {
                    // It moved meanwhile. Nothing was granted there.
                    task.phase = Phase::Withdrawing {
                        holding,
                        until: now,
                    };
                }
                return Some(Ruling::Withdraw);
            }
            _ => return Some(Ruling::Over),
        };
        // If this node may not answer for it now, it may again when it is asked the next time.
        let until = until.filter(|until| *until > now)?;
        // Who has it now may have it as long as who had it before: nobody is given it sooner than that.
        let gone = granted.map_or(until, |granted| until.max(granted));
        task.phase = Phase::Held {
            holding,
            until: gone,
        };
        let start = match standing {
            Standing::Waiting { start } => start,
            _ => Some(now),
        };
        let past = &mut task.past;
        past.moved |= is_new;
        let news = match (past.told, start) {
            (None, Some(start)) => Some(News::Accepted { start }),
            (Some(_), Some(start)) if past.moved && standing != Standing::Running => {
                Some(News::Moved { start })
            }
            _ => None,
        };
        if let Some(News::Accepted { start } | News::Moved { start }) = news {
            (past.told, past.moved) = (Some(start), false);
            if !past.started {
                past.left = rounds;
            }
        }
        past.started |= standing == Standing::Running;
        let past = *past;
        if is_new || news.is_some() {
            task.persist(Stage::Given { holding, past }, cx);
        }
        if let Some(news) = news {
            Self::tell(job, news, cx);
        }
        self.wait_out(job, gone, cx);
        Some(Ruling::Granted { until })
    }

    /// A job has ended where it was, if that was the place that counts.
    fn ended_there(
        &mut self,
        job: JobId,
        claimed: Holding,
        ending: Ending,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let (present, withdrawing) = match task.phase {
            Phase::Held { holding, .. } => (holding, false),
            Phase::Withdrawing { holding, .. } => (holding, true),
            // It may know of an end from an earlier time.
            Phase::Giving { term, to, .. } => (Holding::given(term, to), false),
            _ => return,
        };
        if !present.is_of(&claimed) {
            return;
        }
        match ending {
            Ending::Done => self.close(job, News::Finished, cx),
            _ if withdrawing => self.close(job, News::Cancelled, cx),
            Ending::Failed(failure) => self.close(job, News::Failed(failure), cx),
            Ending::Lost | Ending::Withdrawn => {
                task.past.started |= ending == Ending::Lost;
                self.place_again(job, claimed.term.attempt, cx);
            }
        }
    }

    /// A job that this node answers for is not wanted any more.
    pub(super) fn cancel(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return;
        };
        match task.phase {
            // Nobody was granted it, so nobody starts it.
            Phase::Seeking { .. } | Phase::Pausing { .. } | Phase::Giving { .. } => {
                self.close(job, News::Cancelled, cx);
            }
            Phase::Held { holding, until } => {
                task.phase = Phase::Withdrawing { holding, until };
                task.due = now;
                task.persist(Stage::Cancelled(holding), cx);
                self.attend_task(job, cx);
            }
            // Before the start it is not known who has it.
            Phase::Restored(_) | Phase::Withdrawing { .. } => {}
        }
    }

    /// The last word on a job. It lasts before it is said, so that no other is said after a crash.
    fn close(&mut self, job: JobId, news: News, cx: &mut dyn Context<Self>) {
        if let Ok(index) = self.task_index(job) {
            let task = self.tasks.remove(index);
            task.persist(Stage::Over(news), cx);
            Self::tell(job, news, cx);
            if !self.config.bounded {
                cx.forget(Key::Task(job));
            }
            cx.cancel(Timer::Task(job));
        }
    }

    /// With [`Config::bounded`](super::Config::bounded): whoever this node answers to knows the last word on a job, or it is written down
    /// that it must. Until then it is told anew after a crash.
    pub(super) fn passed_on(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if self.config.bounded && !self.answers_for(job) {
            cx.forget(Key::Task(job));
        }
    }
}

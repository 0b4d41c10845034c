//! A job at its home, from when the home begins to answer for it to its outcome.

mod placing;

use alloc::vec;

use super::message::{Claim, Ending, Place, Ruling, Standing, Tenure, Term};
use super::{Candidates, Custody, Key, Message, Record, Timer};
use crate::id::{JobId, NodeId};
use crate::job::{Failure, Job, News, Payload, Placement, Refusal};
use crate::machine::Context;
use crate::shared::Shared;
use crate::time::{Span, Time};
use crate::trace::Trace;

/// A job that this node answers for and that has no outcome yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Shared<Job>,
    /// What the host that runs it is told.
    payload: Payload,
    /// The tenure of this node as the home of the job.
    tenure: Tenure,
    past: Past,
    phase: Phase,
    bound: Bound,
    /// When it needs attention next.
    due: Time,
    /// Why the last candidate did not take it, for the user.
    why: Refusal,
}

/// Until when this node itself may answer for a job: it grants nothing beyond that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Bound {
    /// The node may answer for ever.
    Never,
    /// The node may not answer before it is told so.
    NotYet,
    Until(Time),
}

impl Bound {
    /// Until when a job may be granted, if a grant until `wanted` is asked for.
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
    /// A holder is searched for; the last attempt had this number.
    Seeking { attempt: u32 },
    /// No node was found; the next search begins after a pause.
    Pausing { attempt: u32 },
    /// The node `to` is asked to take it, and has not reported.
    Giving {
        term: Term,
        to: NodeId,
        tries: u8,
        others: Candidates,
    },
    /// A holder has it until `until`, unless it renews its lease.
    Held { holding: Holding, until: Time },
    /// It is cancelled, but its holder may still have it.
    Withdrawing { holding: Holding, until: Time },
}

/// The holder of a job, with its term and its claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Holding {
    /// The term under which it has the job.
    pub term: Term,
    /// The node that has the job.
    pub holder: NodeId,
    /// The claim under which it took the job; `None` before its first report.
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

    /// A node that was given the job and has not reported.
    const fn given(term: Term, holder: NodeId) -> Self {
        Self {
            term,
            holder,
            claim: None,
        }
    }

    /// Whether `claimed` is this holding, as far as this one is known.
    fn is_of(&self, claimed: &Self) -> bool {
        (self.term, self.holder) == (claimed.term, claimed.holder)
            && (self.claim.is_none() || self.claim == claimed.claim)
    }

    /// Whether a claim counts, given the present holding. A holder gives the job to one node, under the very next term.
    /// If two nodes claim that term, the first gets the job, so no claim to another term can count.
    fn admits(&self, claimed: &Self) -> bool {
        self.is_of(claimed)
            || Some(claimed.term) == self.term.moved()
            || canary!(SecondClaimCounts) && claimed.term == self.term
    }

    /// The holder as the node that runs the job.
    fn place(&self) -> Place {
        Place {
            node: self.holder,
            attempt: self.claim.unwrap_or(Claim::NONE).attempt(),
        }
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

/// After a job was given away so often it gets no new rounds of searches: nodes that take it and then withdraw it would
/// delay its outcome for ever.
const MOST_GIVEN: u32 = 64;

/// What became of a job so far, on the disk of its home. Without this record, a job that brings its home down would
/// begin anew in each life of the home.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Past {
    /// How many searches are left.
    pub left: u8,
    /// The start and the place that the host was told last.
    pub told: Option<(Time, Place)>,
}

impl Past {
    /// The past of a new job, with this number of searches left.
    const fn none(rounds: u8) -> Self {
        Self {
            left: rounds,
            told: None,
        }
    }
}

/// How far a job is: what its home has on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// No node has it.
    Open {
        /// How often it was given away.
        attempt: u32,
        /// What became of it so far.
        past: Past,
    },
    /// A node was given it.
    Given {
        /// The node that was given it, with its term and its claim.
        holding: Holding,
        /// What became of it before.
        past: Past,
    },
    /// It was cancelled, but this holder may still have it.
    Cancelled(Holding),
    /// It has this outcome, which was told, or is told after a restart.
    Over(News),
}

impl Task {
    /// A job at this stage, new or from disk.
    pub(super) fn restored(
        job: Shared<Job>,
        payload: Payload,
        tenure: Tenure,
        stage: Stage,
        bound: Bound,
    ) -> Self {
        let past = match stage {
            Stage::Open { past, .. } | Stage::Given { past, .. } => past,
            // No search follows.
            Stage::Cancelled(_) | Stage::Over(_) => Past::none(0),
        };
        Self {
            job,
            payload,
            tenure,
            past,
            phase: Phase::Restored(stage),
            bound,
            due: Time::ZERO,
            why: Refusal::NoMatch,
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
        let record = Record::Task {
            job: self.job.clone(),
            payload: self.payload.clone(),
            tenure: self.tenure,
            stage,
        };
        cx.persist(Key::Task(self.job.get().id), record);
    }

    /// When and where it is to run, as the host was told last.
    pub(super) fn placement(&self) -> Option<Placement> {
        let is_held = matches!(self.phase, Phase::Held { .. });
        let told = self.past.told.filter(|_| is_held);
        told.map(|(start, place)| placement(start, place))
    }

    /// The node that has it, as far as its home knows.
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

    /// Why this node refuses to answer for a job, if it does.
    pub fn refusal(&self, job: JobId) -> Option<Refusal> {
        if self.answers_for(job) {
            Some(Refusal::Known)
        } else if self.tasks.len() >= self.config.tasks as usize {
            Some(Refusal::Full)
        } else {
            None
        }
    }

    /// Answers for a job from now on, unless that is refused, and searches for a node that takes it.
    pub(super) fn keep(
        &mut self,
        job: Shared<Job>,
        payload: Payload,
        tenure: Tenure,
        until: Option<Time>,
        cx: &mut dyn Context<Self>,
    ) {
        let id = job.get().id;
        if let (Err(index), None) = (self.task_index(id), self.refusal(id)) {
            let past = Past::none(self.config.rounds);
            let stage = Stage::Open { attempt: 0, past };
            let bound = until.map_or(self.unbound(), Bound::Until);
            let task = Task::restored(job, payload, tenure, stage.clone(), bound);
            task.persist(stage, cx);
            self.tasks.insert(index, task);
            self.seek(id, 0, cx);
        }
    }

    /// The bound of a job for which the host has named none.
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

    pub(super) fn restore_task(&mut self, id: JobId, record: Record) {
        let Record::Task {
            job,
            payload,
            tenure,
            stage,
        } = record
        else {
            return;
        };
        if let Err(index) = self.task_index(id)
            && job.get().id == id
        {
            let task = Task::restored(job, payload, tenure, stage, self.unbound());
            self.tasks.insert(index, task);
        }
    }

    /// Continues with a restored job.
    pub(super) fn resume_task(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let until = cx.now() + self.config.lease;
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Phase::Restored(stage) = &task.phase else {
            return;
        };
        match stage.clone() {
            Stage::Open { attempt, .. } => self.seek(job, attempt, cx),
            // All grants of an earlier life end within a lease from now.
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

    /// Leaves a job alone until its holder has surely let it go.
    fn wait_out(&mut self, job: JobId, until: Time, cx: &mut dyn Context<Self>) {
        let skew = if canary!(LeaseWithoutSkew) {
            Span::ZERO
        } else {
            self.config.max_skew
        };
        self.wake_task(job, until.passed(skew), cx);
    }

    /// Does what is due for a job that this node answers for.
    pub(super) fn attend_task(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (now, skew, retry) = (cx.now(), self.config.max_skew, self.config.retry);
        let home = self.me;
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
                        home,
                        term,
                        carried: 0,
                        payload: task.payload.clone(),
                    };
                    cx.trace(Trace::Asks { job, peer: to });
                    cx.send(to, give);
                    self.wake_task(job, now + retry, cx);
                }
                None => {
                    let (attempt, others) = (term.attempt, core::mem::take(others));
                    let (peer, why) = (Some(*to), "it does not answer");
                    task.why = Refusal::NoAnswer;
                    cx.trace(Trace::Failed { job, peer, why });
                    self.give_to_next(job, attempt, others, cx);
                }
            },
            Phase::Held { holding, .. } => {
                let attempt = holding.term.attempt;
                // A holder reports a start late. If the job was granted, its silent holder may have started it.
                if holding.claim.is_some() {
                    self.run_again(job, attempt, Failure::NodeLost, cx);
                } else {
                    self.place_again(job, attempt, cx);
                }
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

    /// Handles the report of a holder.
    pub(super) fn on_report(
        &mut self,
        job: JobId,
        claimed: Holding,
        standing: Standing,
        cx: &mut dyn Context<Self>,
    ) {
        let task = self.task_mut(job);
        // Before this node has started, it does not know enough to rule. Holders repeat what they report.
        if task.is_some_and(|task| matches!(task.phase, Phase::Restored(_))) {
            return;
        }
        let ruling = match standing {
            Standing::Ended(ending) => {
                self.on_end(job, claimed, ending, cx);
                Some(Ruling::Over)
            }
            Standing::Waiting { .. } | Standing::Running => {
                self.on_claim(job, claimed, standing, cx)
            }
        };
        if let Some(ruling) = ruling {
            cx.send(claimed.holder, claimed.verdict(job, ruling));
        }
    }

    /// Rules on a claim. It counts if this home gave the job to the sender, or if the holder may have passed it on.
    fn on_claim(
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
                    // The job moved meanwhile. Its new holder was granted nothing.
                    task.phase = Phase::Withdrawing {
                        holding,
                        until: now,
                    };
                }
                return Some(Ruling::Withdraw);
            }
            _ => return Some(Ruling::Over),
        };
        // If this node may not answer for the job now, it may be allowed to when the holder asks again.
        let until = until.filter(|until| *until > now)?;
        // An earlier grant may last longer than this one: no other node is given the job before both are over.
        let gone = granted.map_or(until, |granted| until.max(granted));
        task.phase = Phase::Held {
            holding,
            until: gone,
        };
        let (start, at) = match standing {
            Standing::Waiting { start, at } => (start, at),
            _ => (Some(now), None),
        };
        let place = at.unwrap_or_else(|| holding.place());
        let past = &mut task.past;
        let news = match (past.told, start) {
            (None, Some(start)) => Some((start, News::Accepted as fn(_) -> _)),
            (Some((_, told)), Some(start)) if told != place && standing != Standing::Running => {
                Some((start, News::Moved as fn(_) -> _))
            }
            _ => None,
        };
        let news = news.map(|(start, news)| {
            past.told = Some((start, place));
            if holding.term.attempt < MOST_GIVEN {
                past.left = rounds;
            }
            news(Shared::new(placement(start, place)))
        });
        let past = *past;
        if (is_new || news.is_some()) && !canary!(GrantInMemory) {
            task.persist(Stage::Given { holding, past }, cx);
        }
        if let Some(news) = news {
            Self::tell(job, news, cx);
        }
        self.wait_out(job, gone, cx);
        Some(Ruling::Granted { until })
    }

    /// Handles the end of a job, if the report is from its present holder.
    fn on_end(&mut self, job: JobId, claimed: Holding, ending: Ending, cx: &mut dyn Context<Self>) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let (present, withdrawing) = match task.phase {
            Phase::Held { holding, .. } => (holding, false),
            Phase::Withdrawing { holding, .. } => (holding, true),
            // The first report of a candidate may be that the job has ended.
            Phase::Giving { term, to, .. } => (Holding::given(term, to), false),
            _ => return,
        };
        if !present.is_of(&claimed) {
            return;
        }
        let attempt = claimed.term.attempt;
        match ending {
            Ending::Done => self.close(job, News::Finished, cx),
            _ if withdrawing => self.close(job, News::Cancelled, cx),
            Ending::Failed(failure) => self.close(job, News::Failed(failure), cx),
            Ending::Broke => self.run_again(job, attempt, Failure::Broke, cx),
            Ending::Overran => self.run_again(job, attempt, Failure::Overran, cx),
            Ending::Lost => self.run_again(job, attempt, Failure::NodeLost, cx),
            Ending::Withdrawn => self.place_again(job, attempt, cx),
        }
    }

    /// Cancels a job that this node answers for.
    pub(super) fn cancel(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return cx.trace(Trace::unknown(job, None));
        };
        match task.phase {
            // The job was granted to no node, so no node starts it.
            Phase::Seeking { .. } | Phase::Pausing { .. } | Phase::Giving { .. } => {
                self.close(job, News::Cancelled, cx);
            }
            Phase::Held { holding, until } => {
                task.phase = Phase::Withdrawing { holding, until };
                task.due = now;
                task.persist(Stage::Cancelled(holding), cx);
                self.attend_task(job, cx);
            }
            // Before this node has started, the holder is not known; and a job is withdrawn only once.
            Phase::Restored(_) | Phase::Withdrawing { .. } => {}
        }
    }

    /// Ends a job. The outcome is on disk before it is told, so that no other outcome is told after a crash.
    fn close(&mut self, job: JobId, news: News, cx: &mut dyn Context<Self>) {
        if let Ok(index) = self.task_index(job) {
            let task = self.tasks.remove(index);
            if !canary!(OutcomeInMemory) {
                task.persist(Stage::Over(news.clone()), cx);
            }
            Self::tell(job, news, cx);
            if !self.config.bounded {
                cx.forget(Key::Task(job));
            }
            cx.cancel(Timer::Task(job));
        }
    }

    /// With [`Config::bounded`](super::Config::bounded): forgets the outcome of a job, because the home of this home
    /// knows it, or has it on disk that it must be told. Until then it is told again after each crash.
    pub(super) fn passed_on(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if self.config.bounded && !self.answers_for(job) {
            cx.forget(Key::Task(job));
        }
    }
}

/// What the host of a home is told of a job that is to run there.
fn placement(start: Time, place: Place) -> Placement {
    Placement {
        attempt: place.attempt,
        start,
        end: None,
        nodes: vec![place.node],
    }
}

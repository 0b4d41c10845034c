//! A job at its holder, from when it is given to its end.

mod moving;

use alloc::vec;

use super::message::{Answer, Claim, Ending, Place, Refused, Ruling, Standing, Term};
use super::{Custody, Key, Message, Notice, Record, Timer};
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Assignment, Job, News, Payload, Placement, Survival};
use crate::machine::Context;
use crate::shared::Shared;
use crate::time::{Span, Time};
use crate::trace::Trace;

/// A job that this node has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Held {
    pub(super) job: Shared<Job>,
    /// The node that answers for it.
    pub(super) home: NodeId,
    /// The term under which this node has it.
    pub(super) term: Term,
    /// The claim under which this node took it.
    claim: Claim,
    pub(super) state: State,
    /// When it is expected to start.
    start: Option<Time>,
    /// Where it is to run, if this node does not run it itself.
    at: Option<Place>,
    /// When it first waited here, if it did. A job that comes back from a failed move keeps its place in the queue.
    arrived: Option<Time>,
    /// The number from its last holder, or for the next one.
    carried: u32,
    /// What the host is told when it runs the job.
    payload: Payload,
    /// Until when this node may have it, once its home has granted it.
    pub(super) lease: Option<Time>,
    /// When it came here, was claimed again, or ended.
    since: Time,
    /// When it needs attention next.
    due: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    /// Its home has not granted it yet. A home that has just given the job is asked so many times more; one that may have
    /// granted it before, for as long as such a grant may last.
    Claiming { tries: Option<u8> },
    /// It waits.
    Waiting,
    /// Another node is asked to take it.
    Giving { to: NodeId, tries: u8 },
    /// Another node has taken it. Remembered until its home surely knows, so that an old message cannot give it back.
    Given,
    /// It runs.
    Running,
    /// It ran when the node went down. The host has not said yet whether it still runs.
    Left,
    /// It has ended, and its home has not confirmed that.
    Ended(Ending),
}

/// A job that this node is asked to take, by its home or by its last holder. The sender may be this node itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gift {
    /// The job to take.
    pub job: Shared<Job>,
    /// A number from its last holder to this node.
    pub carried: u32,
    /// What the host that runs the job is told.
    pub payload: Payload,
    pub(super) from: NodeId,
    pub(super) home: NodeId,
    pub(super) term: Term,
}

impl Gift {
    /// The node that answers for the job.
    pub const fn home(&self) -> NodeId {
        self.home
    }

    /// How often its home has given the job away, this time included.
    pub const fn given(&self) -> u32 {
        self.term.attempt
    }
}

/// Whether a node takes a job that it is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Taking {
    /// The node takes it.
    Takes {
        /// When it is expected to start here, if that is known.
        start: Option<Time>,
    },
    /// The node does not take it.
    Refuses(Refused),
}

/// How far a job is: what its holder has on disk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Progress {
    /// This node has it, and has not started it.
    Here,
    /// Another node was asked to take it, under the next term.
    Given {
        /// The node that was asked.
        to: NodeId,
    },
    /// It was started.
    Started {
        /// When it was started.
        at: Time,
    },
    /// It has ended.
    Ended(Ending),
}

impl Held {
    /// Whether the host has it in its queue, or runs it.
    pub(super) const fn is_with_host(&self) -> bool {
        matches!(self.state, State::Waiting | State::Running)
    }

    /// Whether it waits.
    pub(super) fn waits(&self) -> bool {
        self.state == State::Waiting
    }

    /// What the host of this node is told of the job.
    fn assignment(&self, me: NodeId, now: Time) -> Shared<Assignment> {
        Shared::new(Assignment {
            placement: Placement {
                attempt: self.claim.attempt(),
                start: self.start.unwrap_or(now),
                end: None,
                nodes: vec![me],
            },
            submitter: self.job.get().submitter,
            payload: self.payload.clone(),
        })
    }

    /// Tells the host that a job which waits does not run here. Before a crash it may have waited, too.
    fn tell_released(&self, cx: &mut dyn Context<Custody>) {
        let was_assigned = self.is_claimed() && self.arrived.is_some();
        if self.waits() || was_assigned {
            let attempt = self.claim.attempt();
            let released = News::Released { attempt };
            Custody::tell(self.job.get().id, released, cx);
        }
    }

    /// Whether its home has not granted it yet.
    pub(super) const fn is_claimed(&self) -> bool {
        matches!(self.state, State::Claiming { .. })
    }
}

impl Custody {
    /// The attempt at a job that runs here, if one does.
    pub fn running(&self, job: JobId) -> Option<Epoch> {
        let held = self.held.get(self.held_index(job).ok()?)?;
        (held.state == State::Running).then(|| held.claim.attempt())
    }

    /// The attempt under which a job is here or claimed, whether or not it runs.
    pub fn attempt(&self, job: JobId) -> Option<Epoch> {
        let held = self.held.get(self.held_index(job).ok()?)?;
        (held.is_with_host() || held.is_claimed()).then(|| held.claim.attempt())
    }

    pub(super) fn held_index(&self, job: JobId) -> Result<usize, usize> {
        self.held
            .binary_search_by_key(&job, |held| held.job.get().id)
    }

    fn held_mut(&mut self, job: JobId) -> Option<&mut Held> {
        let index = self.held_index(job).ok()?;
        self.held.get_mut(index)
    }

    /// Whether there is room for another job.
    pub fn has_room(&self) -> bool {
        self.held.len() < self.config.held as usize
    }

    /// Restores a job from disk.
    pub(super) fn restore_held(&mut self, id: JobId, record: Record) {
        let Record::Held {
            job,
            home,
            term,
            claim,
            carried,
            payload,
            arrived,
            progress,
        } = record
        else {
            return;
        };
        let (state, start) = match progress {
            Progress::Here => (State::Claiming { tries: None }, None),
            Progress::Given { to } => (State::Giving { to, tries: 0 }, None),
            Progress::Started { at } => (State::Left, Some(at)),
            Progress::Ended(ending) => (State::Ended(ending), None),
        };
        if let Err(index) = self.held_index(id)
            && job.get().id == id
        {
            self.claim = self.claim.max(claim);
            let held = Held {
                job,
                home,
                term,
                claim,
                state,
                start,
                at: None,
                arrived: Some(arrived),
                carried,
                payload,
                lease: None,
                since: Time::ZERO,
                due: Time::ZERO,
            };
            self.held.insert(index, held);
        }
    }

    /// Continues with a restored job.
    pub(super) fn resume_held(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (now, tries) = (cx.now(), self.tries());
        let Some(held) = self.held_mut(job) else {
            return;
        };
        held.since = now;
        match &mut held.state {
            State::Giving { tries: left, .. } => *left = tries,
            State::Left => {
                held.state = State::Ended(Ending::Lost);
                let attempt = held.claim.attempt();
                Self::tell(job, News::Stopped { attempt }, cx);
            }
            _ => {}
        }
        self.attend_held(job, cx);
    }

    /// Notes what became of an attempt while this node was down.
    pub(super) fn survived(
        &mut self,
        job: JobId,
        attempt: Epoch,
        survival: Survival,
        cx: &mut dyn Context<Self>,
    ) {
        let held = self.held_mut(job);
        let held = held.filter(|held| held.claim.attempt() == attempt);
        match (held.map(|held| held.state), survival) {
            (Some(State::Left), Survival::Runs { until }) => self.resume_running(job, until, cx),
            (Some(State::Left), Survival::Ended(outcome)) => self.ended(job, outcome.into(), cx),
            // It was started in this life, or its end was noted before.
            (Some(State::Running), _) | (_, Survival::Ended(_)) => {}
            // This node knows of no such attempt, or it is over.
            (_, Survival::Runs { .. }) => Self::tell(job, News::Stopped { attempt }, cx),
        }
    }

    /// A job that this node ran before a crash still runs. If its time is over, it counts as lost at `Start`.
    fn resume_running(&mut self, job: JobId, until: Time, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let longest = now + self.config.lease + self.config.max_skew;
        if let Some(held) = self.held_mut(job).filter(|_| until > now) {
            held.state = State::Running;
            let for_ever = canary!(ResumedForEver);
            held.lease = Some(if for_ever {
                Time::MAX
            } else {
                until.min(longest)
            });
            let (job, started) = (held.job.clone(), held.start.unwrap_or(now));
            cx.notify(Notice::Resumed { job, started });
        }
    }

    /// The host has no room for a job that went on during a crash.
    pub(super) fn not_resumed(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if let Some(attempt) = self.running(job) {
            Self::tell(job, News::Stopped { attempt }, cx);
            self.ended(job, Ending::Lost, cx);
        }
    }

    fn persist_progress(held: &Held, progress: Progress, cx: &mut dyn Context<Self>) {
        let record = Record::Held {
            job: held.job.clone(),
            home: held.home,
            term: held.term,
            claim: held.claim,
            carried: held.carried,
            payload: held.payload.clone(),
            arrived: held.arrived.unwrap_or(held.since),
            progress,
        };
        cx.persist(Key::Held(held.job.get().id), record);
    }

    fn wake_held(&mut self, job: JobId, at: Time, cx: &mut dyn Context<Self>) {
        if let Some(held) = self.held_mut(job) {
            held.due = at;
            cx.wake(at, Timer::Held(job));
        }
    }

    /// A job is given to this node. The host is asked whether to take it, unless the message is repeated or old.
    pub(super) fn on_gift(&mut self, gift: Gift, cx: &mut dyn Context<Self>) {
        let known = self.held_index(gift.job.get().id).ok();
        match known.and_then(|index| self.held.get(index)) {
            Some(held) if held.term >= gift.term => {
                let gone = matches!(held.state, State::Giving { .. } | State::Given);
                let asked_again = held.term == gift.term && held.home == gift.home;
                if asked_again && !gone {
                    self.answer(&gift, Answer::Taken, cx);
                }
            }
            _ => cx.notify(Notice::Offered(gift)),
        }
    }

    /// The host says whether it takes a job that this node is given.
    pub(super) fn on_taking(&mut self, gift: &Gift, taking: Taking, cx: &mut dyn Context<Self>) {
        let id = gift.job.get().id;
        let known = self.held_index(id).ok();
        let known = known.and_then(|index| self.held.get(index));
        let answer = match (known, taking) {
            // The job comes back, or is given anew. Its earlier state here is void, unless the job waits or runs here.
            (Some(held), Taking::Takes { start })
                if held.term < gift.term && !held.is_with_host() =>
            {
                if held.is_claimed() {
                    cx.notify(Notice::Drop(id));
                }
                self.held.retain(|held| held.job.get().id != id);
                self.take(gift, start, cx);
                Answer::Taken
            }
            (None, Taking::Takes { start }) if self.has_room() => {
                self.take(gift, start, cx);
                Answer::Taken
            }
            (_, Taking::Refuses(why)) => Answer::NotTaken(why),
            (Some(_), _) => Answer::NotTaken(Refused::Known),
            (None, _) => Answer::NotTaken(Refused::Full),
        };
        self.answer(gift, answer, cx);
    }

    fn answer(&mut self, gift: &Gift, answer: Answer, cx: &mut dyn Context<Self>) {
        let (job, term) = (gift.job.get().id, gift.term);
        // If the home itself gave the job, it gets a report anyway.
        let first = gift.from == gift.home && term.moves == 0;
        if let Answer::NotTaken(why) = answer {
            let (peer, why) = (gift.from, why.words());
            cx.trace(Trace::Refuses { job, peer, why });
        }
        if !first || answer != Answer::Taken {
            cx.send(gift.from, Message::Answer { job, term, answer });
        }
        if answer == Answer::Taken {
            self.attend_held(job, cx);
        }
    }

    fn take(&mut self, gift: &Gift, start: Option<Time>, cx: &mut dyn Context<Self>) {
        if let Err(index) = self.held_index(gift.job.get().id) {
            self.claim = self.claim.next();
            let held = Held {
                job: gift.job.clone(),
                home: gift.home,
                term: gift.term,
                claim: self.claim,
                state: State::Claiming {
                    tries: Some(self.tries()),
                },
                start,
                at: None,
                arrived: None,
                carried: gift.carried,
                payload: gift.payload.clone(),
                lease: None,
                since: cx.now(),
                due: cx.now(),
            };
            Self::persist_progress(&held, Progress::Here, cx);
            self.held.insert(index, held);
        }
    }

    /// Does what is due for a job that this node has.
    pub(super) fn attend_held(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let (retry, lease, retention) =
            (self.config.retry, self.config.lease, self.config.retention);
        let Some(held) = self.held_mut(job) else {
            return;
        };
        if now < held.due {
            let due = held.due;
            cx.wake(due, Timer::Held(job));
            return;
        }
        let is_over = held.lease.is_some_and(|lease| now >= lease) && !canary!(LeaseNotWatched);
        if is_over && held.is_with_host() {
            self.orphan(job, cx);
            return;
        }
        // Less and less often, but so often that a home that has only restarted hears it in time.
        let waited = now - held.since;
        let insist = |longest: Span| waited.max(retry).min(longest);
        match &mut held.state {
            State::Claiming { tries: Some(tries) } => match tries.checked_sub(1) {
                Some(left) => {
                    *tries = left;
                    self.report(job, cx);
                    self.wake_held(job, now + retry, cx);
                }
                None => self.orphan(job, cx),
            },
            State::Claiming { tries: None } => {
                let over = held.since + lease + self.config.max_skew;
                if now >= over {
                    self.orphan(job, cx);
                    return;
                }
                let third = Span::from_micros(lease.as_micros() / 3);
                self.report(job, cx);
                self.wake_held(job, over.min(now + insist(third)), cx);
            }
            State::Waiting | State::Running => {
                // Repeat this until there is an answer: the less time is left, the more often.
                let lease = held.lease.unwrap_or(now);
                let wait = Span::from_micros((lease - now).as_micros() / 8).max(retry);
                let renew = lease.min(now + wait);
                self.report(job, cx);
                self.wake_held(job, renew, cx);
            }
            State::Giving { to, tries } => match tries.checked_sub(1) {
                Some(left) => {
                    *tries = left;
                    let to = *to;
                    self.give(job, to, cx);
                    self.wake_held(job, now + retry, cx);
                }
                None => self.take_back(job, cx),
            },
            State::Given => self.let_go(job, cx),
            // Its host is asked before `Start`; until then nothing is due.
            State::Left => {}
            State::Ended(_) => {
                let over = held.since + retention;
                if now >= over {
                    self.orphan(job, cx);
                    return;
                }
                self.report(job, cx);
                self.wake_held(job, over.min(now + insist(lease)), cx);
            }
        }
    }

    /// Tells the home of a job how the job is.
    fn report(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Ok(index) = self.held_index(job) else {
            return;
        };
        let Some(held) = self.held.get(index) else {
            return;
        };
        let standing = match held.state {
            State::Running | State::Left => Standing::Running,
            State::Ended(ending) => Standing::Ended(ending),
            State::Claiming { .. } | State::Waiting | State::Giving { .. } | State::Given => {
                Standing::Waiting {
                    start: held.start,
                    at: held.at,
                }
            }
        };
        let home = held.home;
        let report = Message::Report {
            job,
            term: held.term,
            claim: held.claim,
            standing,
        };
        cx.send(home, report);
    }

    /// Notes when and where a job is expected to start. Its home is told at once if no start was known before, or if
    /// the place is another one.
    pub(super) fn expect(
        &mut self,
        job: JobId,
        start: Time,
        at: Option<Place>,
        cx: &mut dyn Context<Self>,
    ) {
        if let Some(held) = self.held_mut(job) {
            let is_news = held.start.is_none() || held.at != at;
            (held.start, held.at) = (Some(start), at);
            if is_news && held.is_with_host() {
                self.report(job, cx);
            }
        }
    }

    /// Handles a ruling of the home of a job.
    pub(super) fn on_verdict(
        &mut self,
        from: NodeId,
        job: JobId,
        (term, claim): (Term, Claim),
        ruling: Ruling,
        cx: &mut dyn Context<Self>,
    ) {
        let (me, now) = (self.me, cx.now());
        let third = Span::from_micros(self.config.lease.as_micros() / 3);
        let longest = now + self.config.lease + self.config.max_skew;
        let known = self
            .held_mut(job)
            .filter(|held| held.home == from && held.term <= term);
        let is_mine =
            |held: &Held| (held.term, held.claim) == (term, claim) || canary!(OldGrantTaken);
        match (ruling, known) {
            (Ruling::Withdraw, known) => {
                // A job that has ended stays so, and the home is told how. One that is not here counts as withdrawn.
                let ending = match known.as_ref().map(|held| held.state) {
                    Some(State::Ended(ending)) => ending,
                    _ => Ending::Withdrawn,
                };
                if known.is_some() {
                    self.let_go(job, cx);
                }
                let standing = Standing::Ended(ending);
                let report = Message::Report {
                    job,
                    term,
                    claim,
                    standing,
                };
                cx.send(from, report);
            }
            // A grant that comes late or again, or that is for another claim, grants nothing.
            (Ruling::Granted { until }, Some(held))
                if is_mine(held) && Some(until) > held.lease.max(Some(now)) =>
            {
                let lease = until.min(longest);
                held.lease = Some(lease);
                // A grant for less than a lease is renewed in time, too.
                let half = Span::from_micros((lease - now).as_micros() / 2);
                let renew = now + third.min(half);
                match held.state {
                    State::Claiming { .. } => {
                        held.state = State::Waiting;
                        let arrived = *held.arrived.get_or_insert(now);
                        let queue = Notice::Queue {
                            job: held.job.clone(),
                            term,
                            carried: held.carried,
                            payload: held.payload.clone(),
                            arrived,
                            until: lease,
                        };
                        let assigned = News::Assigned(held.assignment(me, now));
                        self.wake_held(job, renew, cx);
                        Self::tell(job, assigned, cx);
                        cx.notify(queue);
                    }
                    State::Waiting | State::Running => {
                        let runs = held.state == State::Running;
                        self.wake_held(job, renew, cx);
                        cx.notify(Notice::Extended { job, until: lease });
                        if runs {
                            let (attempt, until) = (claim.attempt(), lease);
                            Self::tell(job, News::Extended { attempt, until }, cx);
                        }
                    }
                    _ => {}
                }
            }
            (Ruling::Over, Some(held)) if is_mine(held) || held.term < term => {
                self.let_go(job, cx);
            }
            (Ruling::Granted { .. } | Ruling::Over, _) => {}
        }
    }

    /// Starts a job that waits here. The host is told that it starts, or must drop it.
    pub(super) fn start(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (me, now) = (self.me, cx.now());
        let Some(held) = self.held_mut(job).filter(|held| held.is_with_host()) else {
            // The job is not here to start. What is known of it does not change.
            cx.notify(Notice::Drop(job));
            return;
        };
        let Some(until) = held.lease.filter(|lease| *lease > now) else {
            // The lease is over, and the timer for that has not fired yet.
            self.orphan(job, cx);
            return;
        };
        if held.state == State::Running {
            return;
        }
        held.state = State::Running;
        held.start = Some(now);
        let started = News::Started {
            attempt: held.claim.attempt(),
            until,
            assignment: held.assignment(me, now),
        };
        if !canary!(StartInMemory) {
            Self::persist_progress(held, Progress::Started { at: now }, cx);
        }
        Self::tell(job, started, cx);
    }

    /// A job that was here has ended, and the host does not have it any more. After a crash the host may say so before
    /// the home has granted the job again.
    pub(super) fn ended(&mut self, job: JobId, ending: Ending, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let was_here = |held: &&mut Held| {
            held.is_with_host() || held.is_claimed() || held.state == State::Left
        };
        let Some(held) = self.held_mut(job).filter(was_here) else {
            return cx.trace(Trace::unknown(job, None));
        };
        held.tell_released(cx);
        held.state = State::Ended(ending);
        (held.since, held.due) = (now, now);
        Self::persist_progress(held, Progress::Ended(ending), cx);
        self.attend_held(job, cx);
    }

    /// Forgets a job, in whatever state it is.
    fn let_go(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Ok(index) = self.held_index(job) else {
            return;
        };
        let held = self.held.remove(index);
        held.tell_released(cx);
        // The host may know a claimed job from an earlier life.
        if held.is_with_host() || held.is_claimed() {
            cx.notify(Notice::Drop(job));
        }
        if held.state == State::Running {
            let attempt = held.claim.attempt();
            Self::tell(job, News::Stopped { attempt }, cx);
        }
        cx.forget(Key::Held(job));
        cx.cancel(Timer::Held(job));
    }

    /// Lets a job go because its home does not answer.
    fn orphan(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        self.let_go(job, cx);
        self.counts.orphaned = self.counts.orphaned.saturating_add(1);
        Self::tell(job, News::Orphaned, cx);
    }
}

//! A job at who has it, from when it is given to its end.

use alloc::vec::Vec;

use super::message::{Answer, Claim, Ending, Ruling, Standing, Term};
use super::{Custody, Key, Message, Notice, Record, Timer};
use crate::id::{JobId, NodeId};
use crate::job::{Job, News};
use crate::machine::Context;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// A job that this node has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Held {
    pub(super) job: Shared<Job>,
    /// Who answers for it.
    pub(super) home: NodeId,
    /// Under what it is here.
    pub(super) term: Term,
    /// Which of the times it is that this node has it.
    claim: Claim,
    pub(super) state: State,
    /// When it is expected to start.
    start: Option<Time>,
    /// When it was first here to wait, if it was. Who comes back from where it was to go has its place in the order of arrival.
    arrived: Option<Time>,
    /// What its last holder wanted this one to know, or this one wants the next one to.
    carried: u32,
    /// Until when it may be here, once its home has said so.
    pub(super) lease: Option<Time>,
    /// When it came, or ended.
    since: Time,
    /// When something is to be done about it.
    due: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    /// Its home has not said yet that it may be here.
    Claiming { tries: u8 },
    /// It waits.
    Waiting,
    /// Another is to take it.
    Giving { to: NodeId, tries: u8 },
    /// Another has taken it. That is remembered until its home surely knows, so that nobody gives it back by an old message in vain.
    Given,
    /// It runs.
    Running,
    /// It has ended, and its home does not know.
    Ended(Ending),
}

/// A job that this node is asked to take, by its home or by the node that had it last; that may be this node itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gift {
    /// The job.
    pub job: Shared<Job>,
    /// What its last holder wants this node to know.
    pub carried: u32,
    pub(super) from: NodeId,
    pub(super) home: NodeId,
    pub(super) term: Term,
}

/// Whether a node takes a job that it is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Taking {
    /// It does.
    Takes {
        /// When it is expected to start here, if that is known.
        start: Option<Time>,
    },
    /// It does not.
    Refuses,
}

/// How far a job is, as far as its holder must not forget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Progress {
    /// It is to be run here.
    Here,
    /// This node was asked to take it, under the next term.
    Given {
        /// Which.
        to: NodeId,
    },
    /// It was started.
    Started,
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

    /// Whether its home has not said yet that it may be here.
    pub(super) const fn is_claimed(&self) -> bool {
        matches!(self.state, State::Claiming { .. })
    }
}

impl Custody {
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

    /// A job from disk.
    pub(super) fn restore_held(&mut self, id: JobId, record: Record) {
        let Record::Held {
            job,
            home,
            term,
            claim,
            carried,
            arrived,
            progress,
        } = record
        else {
            return;
        };
        let state = match progress {
            Progress::Here => State::Claiming { tries: 0 },
            Progress::Given { to } => State::Giving { to, tries: 0 },
            // It ran when the node went down.
            Progress::Started => State::Ended(Ending::Lost),
            Progress::Ended(ending) => State::Ended(ending),
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
                start: None,
                arrived: Some(arrived),
                carried,
                lease: None,
                since: Time::ZERO,
                due: Time::ZERO,
            };
            self.held.insert(index, held);
        }
    }

    /// Takes up a job from disk.
    pub(super) fn resume_held(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (now, tries) = (cx.now(), self.tries());
        let Some(held) = self.held_mut(job) else {
            return;
        };
        held.since = now;
        match &mut held.state {
            State::Claiming { tries: left } | State::Giving { tries: left, .. } => *left = tries,
            _ => {}
        }
        self.attend_held(job, cx);
    }

    fn persist_progress(held: &Held, progress: Progress, cx: &mut dyn Context<Self>) {
        let record = Record::Held {
            job: held.job.clone(),
            home: held.home,
            term: held.term,
            claim: held.claim,
            carried: held.carried,
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

    /// A job is given to this node. Its host says whether it takes it, unless it is asked again or by an old message.
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
            // What was given away comes back, or is given anew. What it was here before is over, but for what runs.
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
            _ => Answer::NotTaken,
        };
        self.answer(gift, answer, cx);
    }

    fn answer(&mut self, gift: &Gift, answer: Answer, cx: &mut dyn Context<Self>) {
        let (job, term) = (gift.job.get().id, gift.term);
        // The home that gives the job away for the first time hears of it anyway.
        let first = gift.from == gift.home && term.moves == 0;
        if !first || answer == Answer::NotTaken {
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
                    tries: self.tries(),
                },
                start,
                arrived: None,
                carried: gift.carried,
                lease: None,
                since: cx.now(),
                due: cx.now(),
            };
            Self::persist_progress(&held, Progress::Here, cx);
            self.held.insert(index, held);
        }
    }

    /// Something is to be done about a job, if it is time.
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
        match &mut held.state {
            State::Claiming { tries } => match tries.checked_sub(1) {
                Some(left) => {
                    *tries = left;
                    self.report(job, cx);
                    self.wake_held(job, now + retry, cx);
                }
                None => self.orphan(job, cx),
            },
            State::Waiting | State::Running => {
                // Until there is an answer, again and again, and the more often the less time is left.
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
            State::Ended(_) => {
                let over = held.since + retention;
                if now >= over {
                    self.orphan(job, cx);
                    return;
                }
                let waited = now - held.since;
                self.report(job, cx);
                // Less and less often, but for who was only restarted at least once in a lease.
                let wait = waited.max(retry).min(lease);
                self.wake_held(job, over.min(now + wait), cx);
            }
        }
    }

    /// Tells a job's home how it is.
    fn report(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Ok(index) = self.held_index(job) else {
            return;
        };
        let Some(held) = self.held.get(index) else {
            return;
        };
        let standing = match held.state {
            State::Running => Standing::Running,
            State::Ended(ending) => Standing::Ended(ending),
            State::Claiming { .. } | State::Waiting | State::Giving { .. } | State::Given => {
                Standing::Waiting { start: held.start }
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

    /// A job that is here is expected to start then. Its home is told at once, if it was not told before.
    pub(super) fn expect(&mut self, job: JobId, start: Time, cx: &mut dyn Context<Self>) {
        if let Some(held) = self.held_mut(job) {
            let is_first = held.start.is_none();
            held.start = Some(start);
            if is_first && held.is_with_host() {
                self.report(job, cx);
            }
        }
    }

    /// A job's home has something to say.
    pub(super) fn ruled(
        &mut self,
        from: NodeId,
        job: JobId,
        (term, claim): (Term, Claim),
        ruling: Ruling,
        cx: &mut dyn Context<Self>,
    ) {
        let now = cx.now();
        let third = Span::from_micros(self.config.lease.as_micros() / 3);
        let longest = now + self.config.lease + self.config.max_skew;
        let known = self
            .held_mut(job)
            .filter(|held| held.home == from && held.term <= term);
        let Some(held) = known else {
            if ruling == Ruling::Withdraw {
                // There is nothing of it here.
                let standing = Standing::Ended(Ending::Withdrawn);
                let report = Message::Report {
                    job,
                    term,
                    claim,
                    standing,
                };
                cx.send(from, report);
            }
            return;
        };
        let is_mine = (held.term, held.claim) == (term, claim);
        match ruling {
            // What was granted once and comes late, or again, or at another time that this node had the job, grants nothing.
            Ruling::Granted { until } if is_mine && Some(until) > held.lease.max(Some(now)) => {
                let lease = until.min(longest);
                held.lease = Some(lease);
                // What is granted for less than a lease is asked for in time, too.
                let half = Span::from_micros((lease - now).as_micros() / 2);
                let renew = now + third.min(half);
                match held.state {
                    State::Claiming { .. } => {
                        held.state = State::Waiting;
                        let (shared, carried) = (held.job.clone(), held.carried);
                        let arrived = *held.arrived.get_or_insert(now);
                        self.wake_held(job, renew, cx);
                        cx.notify(Notice::Queue {
                            job: shared,
                            term,
                            carried,
                            arrived,
                            until: lease,
                        });
                    }
                    State::Waiting | State::Running => {
                        self.wake_held(job, renew, cx);
                        cx.notify(Notice::Extended { job, until: lease });
                    }
                    _ => {}
                }
            }
            Ruling::Granted { .. } => {}
            Ruling::Over if is_mine || held.term < term => self.let_go(job, cx),
            Ruling::Over => {}
            Ruling::Withdraw => {
                // What has ended is not undone; the home hears of it.
                let ending = match held.state {
                    State::Ended(ending) => ending,
                    _ => Ending::Withdrawn,
                };
                let standing = Standing::Ended(ending);
                self.let_go(job, cx);
                let report = Message::Report {
                    job,
                    term,
                    claim,
                    standing,
                };
                cx.send(from, report);
            }
        }
    }

    /// A job that waits here is to start now. The host is told that it starts, or to drop it.
    pub(super) fn start(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(held) = self.held_mut(job).filter(|held| held.is_with_host()) else {
            // It is not here to start, and what is known of it stays so.
            cx.notify(Notice::Drop(job));
            return;
        };
        if held.lease <= Some(now) {
            // It comes to its turn before this node is woken to let it go.
            self.orphan(job, cx);
            return;
        }
        if held.state == State::Running {
            return;
        }
        held.state = State::Running;
        Self::persist_progress(held, Progress::Started, cx);
        Self::tell(job, News::Started, cx);
    }

    /// A job that was here has ended, and is no longer with the host. That may be known after a crash, before its home has said again that
    /// it may be here.
    pub(super) fn ended(&mut self, job: JobId, ending: Ending, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let was_here = |held: &&mut Held| held.is_with_host() || held.is_claimed();
        let Some(held) = self.held_mut(job).filter(was_here) else {
            return;
        };
        held.state = State::Ended(ending);
        (held.since, held.due) = (now, now);
        Self::persist_progress(held, Progress::Ended(ending), cx);
        self.attend_held(job, cx);
    }

    /// Has nothing of a job any more, whatever it was.
    fn let_go(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Ok(index) = self.held_index(job) else {
            return;
        };
        let held = self.held.remove(index);
        // A parent may know of what is claimed from an earlier life.
        if held.is_with_host() || held.is_claimed() {
            cx.notify(Notice::Drop(job));
        }
        if held.state == State::Running {
            Self::tell(job, News::Stopped, cx);
        }
        cx.forget(Key::Held(job));
        cx.cancel(Timer::Held(job));
    }

    /// Nobody answers for a job any more.
    fn orphan(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        self.let_go(job, cx);
        self.counts.orphaned = self.counts.orphaned.saturating_add(1);
        Self::tell(job, News::Orphaned, cx);
    }

    /// A node that a job was given to cannot be reached.
    pub(super) fn taker_unreachable(&mut self, node: NodeId, cx: &mut dyn Context<Self>) {
        let given = self
            .held
            .iter()
            .filter(|held| matches!(held.state, State::Giving { to, .. } if to == node));
        for job in given.map(|held| held.job.get().id).collect::<Vec<_>>() {
            self.take_back(job, cx);
        }
    }

    /// A job that waits here, and that the host has taken out of its queue, goes to another node. What is given away is not started again
    /// here before its home says so.
    pub(super) fn give_away(
        &mut self,
        job: JobId,
        to: NodeId,
        carried: u32,
        cx: &mut dyn Context<Self>,
    ) {
        let (now, tries) = (cx.now(), self.tries());
        let Some(held) = self.held_mut(job).filter(|held| held.waits()) else {
            return;
        };
        held.carried = carried;
        held.state = State::Giving { to, tries };
        held.due = now;
        Self::persist_progress(held, Progress::Given { to }, cx);
        self.counts.moved = self.counts.moved.saturating_add(1);
        self.attend_held(job, cx);
    }

    fn give(&mut self, job: JobId, to: NodeId, cx: &mut dyn Context<Self>) {
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let Some(term) = held.term.moved() else {
            self.let_go(job, cx);
            return;
        };
        let give = Message::Give {
            job: held.job.clone(),
            home: held.home,
            term,
            carried: held.carried,
        };
        cx.send(to, give);
    }

    /// Who was to take a job answers.
    pub(super) fn taker_answered(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        answer: Answer,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let asked = matches!(held.state, State::Giving { to, .. } if to == from);
        if !asked || held.term.moved() != Some(term) {
            return;
        }
        match answer {
            Answer::Taken => {
                held.state = State::Given;
                let forget = cx.now() + self.config.lease + self.config.max_skew;
                self.wake_held(job, forget, cx);
            }
            Answer::NotTaken => self.take_back(job, cx),
        }
    }

    /// Nobody took a job that was to be given away, as far as this node knows. It claims the job under the very term under which it was
    /// given away: its home believes the first who does.
    fn take_back(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (now, tries) = (cx.now(), self.tries());
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let Some(term) = held.term.moved() else {
            self.let_go(job, cx);
            return;
        };
        held.term = term;
        held.lease = None;
        held.start = None;
        held.state = State::Claiming { tries };
        held.due = now;
        Self::persist_progress(held, Progress::Here, cx);
        self.attend_held(job, cx);
    }
}

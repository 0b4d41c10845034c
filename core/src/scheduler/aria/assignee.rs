//! A job at the site that runs it, from its assignment to its end.

use alloc::vec::Vec;

use super::message::{Answer, Ending, Ruling, Standing, Term};
use super::offers::Offers;
use super::{Aria, Key, Message, Record, Timer};
use crate::id::{JobId, NodeId};
use crate::job::{Job, News, Notice, Outcome};
use crate::machine::Context;
use crate::queue::{Change, LocalScheduler, QueuedJob, expected};
use crate::shared::Shared;
use crate::time::{Span, Time};

/// A job that this site has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Held {
    pub(super) job: Shared<Job>,
    /// Who answers for it.
    pub(super) initiator: NodeId,
    /// Under what it is here.
    pub(super) term: Term,
    pub(super) state: State,
    /// Until when it may be here; the origin of time if its initiator has not said so yet.
    pub(super) lease: Time,
    /// When it came, or ended.
    since: Time,
    /// When its lease is to be renewed.
    pub(super) renew: Time,
    /// When something is to be done about it.
    due: Time,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum State {
    /// Its initiator has not said yet that it may be here.
    Claiming { tries: u8 },
    /// It waits in the queue.
    Waiting,
    /// It waits in the queue, and others were asked for a better price.
    Advertised { round: u32, offers: Offers },
    /// It is out of the queue, and another is to take it.
    Giving { to: NodeId, tries: u8 },
    /// Another has taken it. That is remembered until its initiator surely knows, so that nobody can give it back by an old message.
    Given,
    /// It runs.
    Running,
    /// It has ended, and its initiator does not know.
    Ended(Ending),
}

/// How far a job is, as far as its site must not forget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Place {
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
    pub(super) fn queued(&self) -> QueuedJob {
        QueuedJob::from(self.job.get())
    }

    /// Whether it is in the queue of the site.
    pub(super) const fn is_queued(&self) -> bool {
        matches!(
            self.state,
            State::Waiting | State::Advertised { .. } | State::Running
        )
    }

    /// Until when it may be here, if its initiator has said so.
    pub(super) fn granted(&self) -> Option<Time> {
        (self.lease > Time::ZERO).then_some(self.lease)
    }

    pub(super) fn is_sound(&self) -> bool {
        match &self.state {
            State::Advertised { offers, .. } => offers.is_in_order(),
            _ => true,
        }
    }
}

impl<S: LocalScheduler> Aria<S> {
    pub(super) fn held_place(&self, job: JobId) -> Result<usize, usize> {
        self.held
            .binary_search_by_key(&job, |held| held.job.get().id)
    }

    pub(super) fn held_mut(&mut self, job: JobId) -> Option<&mut Held> {
        let place = self.held_place(job).ok()?;
        self.held.get_mut(place)
    }

    /// How often something is said without an answer.
    pub(super) const fn tries(&self) -> u8 {
        self.config.retries.saturating_add(1)
    }

    /// Whether there is room for another job.
    pub(super) fn has_room(&self) -> bool {
        self.held.len() < usize::from(self.config.held)
    }

    /// A job from disk.
    pub(super) fn restore_held(
        &mut self,
        job: Shared<Job>,
        initiator: NodeId,
        term: Term,
        place: Place,
    ) {
        let state = match place {
            Place::Here => State::Claiming { tries: 0 },
            Place::Given { to } => State::Giving { to, tries: 0 },
            // It ran when the node went down.
            Place::Started => State::Ended(Ending::Lost),
            Place::Ended(ending) => State::Ended(ending),
        };
        if let Err(at) = self.held_place(job.get().id) {
            let held = Held {
                job,
                initiator,
                term,
                state,
                lease: Time::ZERO,
                since: Time::ZERO,
                renew: Time::MAX,
                due: Time::ZERO,
            };
            self.held.insert(at, held);
        }
    }

    /// Takes up a job from disk.
    pub(super) fn resume_held(&mut self, job: JobId, cx: &mut impl Context<Self>) {
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

    fn persist_place(held: &Held, place: Place, cx: &mut impl Context<Self>) {
        let record = Record::Held {
            job: held.job.clone(),
            initiator: held.initiator,
            term: held.term,
            place,
        };
        cx.persist(Key::Held(held.job.get().id), record);
    }

    pub(super) fn wake_held(&mut self, job: JobId, at: Time, cx: &mut impl Context<Self>) {
        if let Some(held) = self.held_mut(job) {
            held.due = at;
            cx.wake(at, Timer::Held(job));
        }
    }

    /// Another node, or this one, gives a job to this site. Whoever offered to take a job does (PROTOCOLS A15), unless there is no room
    /// any more.
    pub(super) fn assigned(
        &mut self,
        from: NodeId,
        job: Shared<Job>,
        initiator: NodeId,
        term: Term,
        cx: &mut impl Context<Self>,
    ) {
        let id = job.get().id;
        let answer = match self.held_place(id) {
            Ok(at) => {
                // Asked again, or what was given away comes back. What it was here before is over in either case, but for what runs.
                let Some(held) = self.held.get(at) else {
                    return;
                };
                let asked_again = held.term == term && held.initiator == initiator;
                if held.term >= term {
                    let gone = matches!(held.state, State::Giving { .. } | State::Given);
                    (asked_again && !gone).then_some(Answer::Taken)
                } else if !held.is_queued() {
                    self.held.remove(at);
                    self.take(at, job, initiator, term, cx);
                    Some(Answer::Taken)
                } else {
                    Some(Answer::NotTaken)
                }
            }
            Err(at) if !self.leaving && self.has_room() && self.site.takes(job.get()) => {
                self.take(at, job, initiator, term, cx);
                Some(Answer::Taken)
            }
            Err(_) => Some(Answer::NotTaken),
        };
        let Some(answer) = answer else { return };
        // Who answers for the job and gives it away for the first time hears of it anyway.
        let first = from == initiator && term.moves == 0;
        if !first || answer == Answer::NotTaken {
            let job = id;
            self.say(from, Message::AssignAck { job, term, answer }, cx);
        }
        if answer == Answer::Taken {
            self.attend_held(id, cx);
        }
    }

    fn take(
        &mut self,
        at: usize,
        job: Shared<Job>,
        initiator: NodeId,
        term: Term,
        cx: &mut impl Context<Self>,
    ) {
        let held = Held {
            job,
            initiator,
            term,
            state: State::Claiming {
                tries: self.tries(),
            },
            lease: Time::ZERO,
            since: cx.now(),
            renew: Time::MAX,
            due: cx.now(),
        };
        Self::persist_place(&held, Place::Here, cx);
        self.held.insert(at.min(self.held.len()), held);
    }

    /// Something is to be done about a job, if it is time.
    pub(super) fn attend_held(&mut self, job: JobId, cx: &mut impl Context<Self>) {
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
        let granted = held.lease > Time::ZERO;
        if granted && now >= held.lease && held.is_queued() {
            self.orphan(job, cx);
            return;
        }
        match &mut held.state {
            State::Claiming { tries } => match tries.checked_sub(1) {
                Some(left) => {
                    *tries = left;
                    self.notify_initiator(job, cx);
                    self.wake_held(job, now + retry, cx);
                }
                None => self.orphan(job, cx),
            },
            State::Waiting | State::Running => {
                // Until there is an answer, again and again, and the more often the less time is left.
                let left = held.lease - now;
                let wait = Span::from_micros(left.as_micros() / 8).max(retry);
                held.renew = held.lease.min(now + wait);
                let renew = held.renew;
                self.notify_initiator(job, cx);
                self.wake_held(job, renew, cx);
            }
            State::Advertised { .. } => self.close_offers(job, cx),
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
                self.notify_initiator(job, cx);
                // Less and less often, but for who was only restarted at least once in a lease.
                let wait = waited.max(retry).min(lease);
                self.wake_held(job, over.min(now + wait), cx);
            }
        }
    }

    /// Tells a job's initiator how it is.
    fn notify_initiator(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let Ok(at) = self.held_place(job) else { return };
        let Some(held) = self.held.get(at) else {
            return;
        };
        let standing = match held.state {
            State::Running => Standing::Running,
            State::Ended(ending) => Standing::Ended(ending),
            State::Claiming { .. } => {
                let queued = held.queued();
                let with = Change::With(&queued);
                let start = expected(&self.site.local, now, with, job).map(|job| job.start);
                Standing::Waiting {
                    start: start.unwrap_or(now),
                }
            }
            State::Waiting | State::Advertised { .. } | State::Giving { .. } | State::Given => {
                let start = expected(&self.site.local, now, Change::None, job);
                Standing::Waiting {
                    start: start.map_or(now, |job| job.start),
                }
            }
        };
        let (initiator, term) = (held.initiator, held.term);
        let notify = Message::Notify {
            job,
            term,
            standing,
        };
        self.say(initiator, notify, cx);
    }

    /// A job's initiator has something to say.
    pub(super) fn ruled(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        ruling: Ruling,
        cx: &mut impl Context<Self>,
    ) {
        let now = cx.now();
        let renewal = now + third(self.config.lease);
        let longest = now + self.config.lease + self.config.max_skew;
        let known = self
            .held_mut(job)
            .filter(|held| held.initiator == from && held.term <= term);
        let Some(held) = known else {
            if ruling == Ruling::Withdraw {
                // There is nothing of it here.
                let standing = Standing::Ended(Ending::Withdrawn);
                let notify = Message::Notify {
                    job,
                    term,
                    standing,
                };
                self.say(from, notify, cx);
            }
            return;
        };
        match ruling {
            // What was granted once and comes late, or again, grants nothing.
            Ruling::Granted { until } if held.term == term && until > held.lease.max(now) => {
                held.lease = until.min(longest);
                held.renew = held.lease.min(renewal);
                let renew = held.renew;
                match held.state {
                    State::Claiming { .. } => self.enqueue(job, cx),
                    State::Waiting | State::Running => self.wake_held(job, renew, cx),
                    _ => {}
                }
            }
            Ruling::Granted { .. } => {}
            Ruling::Over => self.let_go(job, cx),
            Ruling::Withdraw => {
                // What has ended is not undone; the initiator hears of it.
                let ending = match held.state {
                    State::Ended(ending) => ending,
                    _ => Ending::Withdrawn,
                };
                let standing = Standing::Ended(ending);
                self.let_go(job, cx);
                let notify = Message::Notify {
                    job,
                    term,
                    standing,
                };
                self.say(from, notify, cx);
            }
        }
    }

    /// A job may be here, so it is queued.
    fn enqueue(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let Ok(at) = self.held_place(job) else { return };
        let Some(held) = self.held.get_mut(at) else {
            return;
        };
        if self.site.local.push(now, held.queued()).is_err() {
            // The room that there was is gone. Its initiator finds another place.
            held.state = State::Ended(Ending::Withdrawn);
            held.since = now;
            Self::persist_place(held, Place::Ended(Ending::Withdrawn), cx);
            self.wake_held(job, now, cx);
            return;
        }
        held.state = State::Waiting;
        let renew = held.renew;
        self.wake_held(job, renew, cx);
        self.start_jobs(cx);
    }

    /// Starts what is to start, and asks to be woken when more may be.
    pub(super) fn start_jobs(&mut self, cx: &mut impl Context<Self>) {
        let now = cx.now();
        while let Some(job) = self.site.local.start_next(now) {
            let Some(held) = self.held_mut(job) else {
                // A scheduler that starts what it was not given is told that it is over.
                let _ = self.site.local.finish(now, job);
                continue;
            };
            if held.lease <= now {
                // It comes to its turn before its site is woken to let it go.
                let _ = self.site.local.finish(now, job);
                self.remove(job, cx);
                self.count_orphan(job, cx);
                continue;
            }
            held.state = State::Running;
            Self::persist_place(held, Place::Started, cx);
            cx.notify(Notice {
                job,
                news: News::Started,
            });
        }
        match self.site.local.look_again(now) {
            Some(at) if at > now => cx.wake(at, Timer::Local),
            _ => {}
        }
    }

    /// The host says that a job has ended by itself.
    pub(super) fn ended_here(&mut self, job: JobId, outcome: Outcome, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let Some(held) = self.held_mut(job) else {
            return;
        };
        if held.state != State::Running {
            return;
        }
        let ending = match outcome {
            Outcome::Done => Ending::Done,
            Outcome::Broke => Ending::Broke,
        };
        held.state = State::Ended(ending);
        held.since = now;
        Self::persist_place(held, Place::Ended(ending), cx);
        let _ = self.site.local.finish(now, job);
        self.wake_held(job, now, cx);
        self.attend_held(job, cx);
        self.start_jobs(cx);
    }

    /// Has nothing of a job any more, whatever it was.
    pub(super) fn let_go(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let queued = self.held_mut(job).is_some_and(|held| held.is_queued());
        self.remove(job, cx);
        if queued {
            self.start_jobs(cx);
        }
    }

    /// Forgets a job, and stops it if it runs. What others wait for may be free then.
    fn remove(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let Ok(at) = self.held_place(job) else { return };
        let held = self.held.remove(at);
        if held.state == State::Running {
            let _ = self.site.local.finish(now, job);
            cx.notify(Notice {
                job,
                news: News::Stopped,
            });
        } else if held.is_queued() {
            self.site.local.withdraw(job);
        }
        cx.forget(Key::Held(job));
        cx.cancel(Timer::Held(job));
    }

    /// Nobody answers for a job any more.
    fn orphan(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        self.let_go(job, cx);
        self.count_orphan(job, cx);
    }

    fn count_orphan(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        self.counts.orphaned = self.counts.orphaned.saturating_add(1);
        cx.notify(Notice {
            job,
            news: News::Orphaned,
        });
    }

    /// A node that a job was given to cannot be reached.
    pub(super) fn taker_unreachable(&mut self, node: NodeId, cx: &mut impl Context<Self>) {
        let given: Vec<JobId> = self
            .held
            .iter()
            .filter(|held| matches!(held.state, State::Giving { to, .. } if to == node))
            .map(|held| held.job.get().id)
            .collect();
        for job in given {
            self.take_back(job, cx);
        }
    }

    /// Out of the queue, and to another site. What is given away is not started again here before its initiator says so.
    pub(super) fn give_away(&mut self, job: JobId, to: NodeId, cx: &mut impl Context<Self>) {
        let (now, tries) = (cx.now(), self.tries());
        let Some(held) = self.held_mut(job) else {
            return;
        };
        held.state = State::Giving { to, tries };
        Self::persist_place(held, Place::Given { to }, cx);
        self.site.local.withdraw(job);
        self.wake_held(job, now, cx);
        self.attend_held(job, cx);
        self.start_jobs(cx);
    }

    fn give(&mut self, job: JobId, to: NodeId, cx: &mut impl Context<Self>) {
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let Some(term) = held.term.moved() else {
            self.let_go(job, cx);
            return;
        };
        let assign = Message::Assign {
            job: held.job.clone(),
            initiator: held.initiator,
            term,
        };
        self.say(to, assign, cx);
    }

    /// Who was to take a job answers.
    pub(super) fn taker_answered(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        answer: Answer,
        cx: &mut impl Context<Self>,
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
    /// given away: its initiator believes the first who does.
    fn take_back(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let (now, tries) = (cx.now(), self.tries());
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let Some(term) = held.term.moved() else {
            self.let_go(job, cx);
            return;
        };
        held.term = term;
        held.lease = Time::ZERO;
        held.state = State::Claiming { tries };
        Self::persist_place(held, Place::Here, cx);
        self.wake_held(job, now, cx);
        self.attend_held(job, cx);
    }
}

/// How often a lease is renewed.
const fn third(lease: Span) -> Span {
    Span::from_micros(lease.as_micros() / 3)
}

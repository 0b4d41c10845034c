//! The side that has time to give.
//!
//! A [`Participant`] that has the time holds it, writes that down, and only then votes for it:
//! ```
//! use gridweave_core::admission::Needs;
//! use gridweave_core::commit::{Config, Everyone, Message, Participant};
//! use gridweave_core::id::{Epoch, JobId, NodeId};
//! use gridweave_core::job::{Payload, Submitter};
//! use gridweave_core::machine::{Effect, EffectQueue, Event};
//! use gridweave_core::schedule::Attempt;
//! use gridweave_core::time::{Interval, Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let config = Config::DEFAULT.checked()?;
//! let mut participant = Participant::new(config, Everyone);
//! let attempt = Attempt::new(JobId::new(7), Epoch::new(1));
//! let interval = Interval::starting(Time::from_secs(600), Span::from_secs(3600))?;
//! let (lease, submitter, payload) = (config.lease, Submitter::default(), Payload::EMPTY);
//! let needs = Needs::NOTHING;
//! let prepare = Message::Prepare { attempt, interval, lease, submitter, needs, payload };
//! let mut effects = EffectQueue::new();
//! for event in [Event::Start, Event::Message { from: NodeId::new(9), message: prepare }] {
//!     effects.feed(&mut participant, event, Time::ZERO, &mut rng);
//! }
//! assert!(!participant.schedule().is_free(interval));
//! let effects: Vec<_> = effects.drain().collect();
//! let written = effects.iter().position(|effect| matches!(effect, Effect::Persist(..)));
//! let voted = effects.iter().position(|effect| matches!(effect, Effect::Send { message: Message::Prepared { .. }, .. }));
//! assert!(written.is_some() && written < voted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::vec::Vec;

mod holding;
mod quota;
mod running;
#[cfg(test)]
mod tests;

use super::config::{Config, Everyone, Policy};
use super::message::Message;
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Assignment, Outcome, Payload, Submitter, Survival};
use crate::machine::{Alarm, Context, Event, Machine, Violation};
use crate::schedule::{Attempt, Reservation, Schedule, Status};
use crate::shared::Shared;
use crate::time::{Interval, Time};
use quota::Quotas;

/// The participant of one node: it holds time for coordinators, commits it, and says when a job may run.
///
/// Most effects per event: five for each seat whose time has come, and five for the event itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Participant<P: Policy = Everyone> {
    config: Config,
    policy: P,
    schedule: Schedule<Vec<Reservation>>,
    /// Sorted by job.
    seats: Vec<Seat>,
    quotas: Quotas,
    alarm: Alarm,
}

/// What a participant keeps of a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Seat {
    job: JobId,
    coordinator: NodeId,
    /// The newest attempt that is known; older ones change nothing any more.
    fence: Epoch,
    /// Time that is held for an attempt.
    hold: Option<Hold>,
    /// What the host would be told of the attempt that is held.
    payload: Payload,
    /// Time that is committed to an attempt, older than the one that is held.
    firm: Option<Firm>,
    /// What the host is told of the attempt that is committed.
    assignment: Option<Shared<Assignment>>,
    /// The latest attempt that began here.
    began: Option<Epoch>,
    /// When it may be forgotten, once nothing is held or committed.
    forget: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Hold {
    epoch: Epoch,
    interval: Interval,
    since: Time,
    lease: Time,
    submitter: Submitter,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Firm {
    epoch: Epoch,
    /// The time that is taken, including an extension that is not permitted yet.
    interval: Interval,
    /// The end of the interval when it was committed.
    committed: Time,
    /// Until when the job may run, if it was ever permitted.
    permitted: Option<Time>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    /// Not started. From the start on the node asks for a permission, next at `ask`.
    Waiting { ask: Time },
    /// The host was told to run it. If it still runs at `ask`, the node takes more time; with `None` it never does.
    Running { ask: Option<Time> },
    /// It runs, and the node has taken time after `end`. It stops at `end` unless a longer permission comes, which the
    /// node asks for again at `ask`.
    Asking { end: Time, ask: Time },
    /// It has ended; its coordinator is told again at `tell`.
    Ended { outcome: Outcome, tell: Time },
}

/// The one timer of a participant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Due;

/// What a host tells a participant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// The attempt that was begun has ended by itself.
    Ended {
        /// The attempt that ran.
        attempt: Attempt,
        /// How it ended.
        outcome: Outcome,
    },
    /// Between the records of an earlier life and `Start`: what became of an attempt that was begun in that life.
    Survived {
        /// The attempt that ran.
        attempt: Attempt,
        /// What became of it.
        survival: Survival,
    },
}

/// What a participant tells its host.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Notice {
    /// Time is committed to this job. This is told again after a restart, if the job has not begun.
    Assigned {
        /// The job.
        job: JobId,
        /// The attempt, and what to run.
        assignment: Shared<Assignment>,
    },
    /// The time that was committed to this job is free again, and the job has not begun.
    Released {
        /// The attempt that was assigned.
        attempt: Attempt,
    },
    /// Run this job until it ends or is stopped.
    Begin {
        /// The attempt to run.
        attempt: Attempt,
        /// When it is stopped at the latest, unless this is extended.
        until: Time,
        /// What to run.
        assignment: Shared<Assignment>,
    },
    /// This job, which runs, may run for longer.
    Extended {
        /// The attempt that runs.
        attempt: Attempt,
        /// When it is stopped at the latest, unless this is extended again.
        until: Time,
    },
    /// Stop this job.
    Stop {
        /// The attempt that must not run any more.
        attempt: Attempt,
        /// Why it must stop.
        cause: Cause,
    },
    /// The free time of this node has changed.
    Changed,
}

/// Why a job is stopped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Cause {
    /// Its coordinator released it.
    Released,
    /// Its coordinator has not been heard of for too long: the job is an orphan.
    Orphaned,
    /// Its reservation is over.
    Overran,
}

impl Phase {
    fn runs(self) -> bool {
        matches!(self, Self::Running { .. } | Self::Asking { .. })
    }
}

impl Firm {
    /// When the attempt is stopped if nothing more comes: its permission or its time is over. `None` if it may not run.
    fn until(&self) -> Option<Time> {
        let end = match self.phase {
            // The time after `end` is taken, but not permitted.
            Phase::Asking { end, .. } => end,
            _ => self.interval.end(),
        };
        self.permitted.map(|permitted| permitted.min(end))
    }

    /// The running phase from now on, with the time at which the node asks for more, if it may.
    fn running(&self, config: &Config) -> Phase {
        let end = self.interval.end();
        let longer = config.extended(self.committed, end);
        Phase::Running {
            ask: longer.map(|_| end - config.notice_of_overrun()),
        }
    }
}

impl Seat {
    fn attempt(&self, epoch: Epoch) -> Attempt {
        Attempt::new(self.job, epoch)
    }

    fn is_empty(&self) -> bool {
        self.hold.is_none() && self.firm.is_none()
    }

    fn runs(&self) -> bool {
        self.firm.is_some_and(|firm| firm.phase.runs())
    }

    /// When the seat needs attention next.
    fn next_due(&self, config: &Config) -> Time {
        let hold = self.hold.map(|hold| hold.lease);
        let firm = self.firm.map(|firm| match firm.phase {
            Phase::Waiting { ask } => {
                let start = firm.interval.start();
                // While a later attempt is held, the earlier one does not start.
                let held = self.hold.map_or(Time::ZERO, |hold| hold.lease);
                start.max(ask).max(held).min(start + config.grace)
            }
            Phase::Running { ask } => {
                let others = [firm.permitted, ask].into_iter().flatten();
                others.fold(firm.interval.end(), Time::min)
            }
            Phase::Asking { end, ask } => firm.permitted.into_iter().fold(end.min(ask), Time::min),
            Phase::Ended { tell, .. } => tell.min(self.forget),
        });
        match (hold, firm) {
            (Some(hold), Some(firm)) => hold.min(firm),
            (Some(due), None) | (None, Some(due)) => due,
            (None, None) => self.forget,
        }
    }
}

impl<P: Policy> Participant<P> {
    /// A participant with a free schedule. All nodes need the same configuration; see [`Config::checked`].
    pub fn new(config: Config, policy: P) -> Self {
        Self {
            config,
            policy,
            schedule: Schedule::with_limit(usize::from(config.seats).saturating_mul(2)),
            seats: Vec::new(),
            quotas: Quotas::default(),
            alarm: Alarm::default(),
        }
    }

    /// Which submitters may use this node, and what it has.
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// The busy time of the node.
    pub fn schedule(&self) -> &Schedule<Vec<Reservation>> {
        &self.schedule
    }

    /// The attempts that run now.
    pub fn running(&self) -> impl Iterator<Item = Attempt> + '_ {
        self.seats.iter().filter_map(|seat| {
            let firm = seat.firm?;
            firm.phase.runs().then_some(seat.attempt(firm.epoch))
        })
    }

    /// The jobs with held or committed time here, or with an end that was not confirmed yet, each with its coordinator.
    pub fn engaged(&self) -> impl Iterator<Item = (JobId, NodeId)> + '_ {
        let seats = self.seats.iter();
        let engaged = seats.filter(|seat| seat.hold.is_some() || seat.firm.is_some());
        engaged.map(|seat| (seat.job, seat.coordinator))
    }

    /// The newest attempt at a job that is known here.
    pub fn newest(&self, job: JobId) -> Option<Epoch> {
        let index = self.index_of(job).ok()?;
        self.seats.get(index).map(|seat| seat.fence)
    }

    fn index_of(&self, job: JobId) -> Result<usize, usize> {
        self.seats.binary_search_by_key(&job, |seat| seat.job)
    }

    fn seat(&self, job: JobId) -> Option<Seat> {
        self.seats.get(self.index_of(job).ok()?).cloned()
    }

    /// The seat of a job, if `from` is its coordinator.
    fn seat_of(&self, job: JobId, from: NodeId) -> Option<Seat> {
        self.seat(job)
            .filter(|seat| canary!(AnyoneObeyed) || seat.coordinator == from)
    }

    /// Keeps a seat, on disk first.
    fn keep(&mut self, seat: Seat, cx: &mut dyn Context<Self>) {
        cx.persist(seat.job, seat.clone());
        self.put(seat);
    }

    fn put(&mut self, seat: Seat) {
        match self.index_of(seat.job) {
            Ok(index) => {
                if let Some(known) = self.seats.get_mut(index) {
                    *known = seat;
                }
            }
            Err(index) => self.seats.insert(index, seat),
        }
    }

    fn forget(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if let Ok(index) = self.index_of(job) {
            self.seats.remove(index);
        }
        cx.forget(job);
    }

    /// Does what is due for every seat. Running jobs come first, so that a job stops before the next one starts.
    fn attend_all(&mut self, cx: &mut dyn Context<Self>) {
        self.attend_where(Seat::runs, cx);
        self.attend_where(|_| true, cx);
    }

    fn attend_where(&mut self, which: impl Fn(&Seat) -> bool, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let mut next = 0;
        while let Some(seat) = self.seats.get(next) {
            let job = seat.job;
            if which(seat) && seat.next_due(&self.config) <= now {
                self.attend(job, cx);
            }
            // If the seat was forgotten, the next one has its index now.
            if self.seats.get(next).is_some_and(|seat| seat.job == job) {
                next = next.saturating_add(1);
            }
        }
    }

    /// Does what is due for one seat.
    fn attend(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(mut seat) = self.seat(job) else {
            return;
        };
        let before = seat.clone();
        let mut changed = false;
        if seat.hold.is_some_and(|hold| hold.lease <= now) {
            changed |= self.drop_hold(&mut seat, now);
        }
        if let Some(firm) = seat.firm {
            changed |= self.attend_firm(&mut seat, firm, cx);
        }
        if seat.is_empty() && before.is_empty() && seat.forget <= now {
            self.forget(job, cx);
            return;
        }
        if seat.is_empty() && !before.is_empty() {
            seat.forget = now + self.config.retention;
        }
        if seat.hold != before.hold {
            // On disk before another job can get the time, so that no two records on disk ever overlap.
            self.keep(seat, cx);
        } else if seat != before {
            self.put(seat);
        }
        if changed {
            cx.notify(Notice::Changed);
        }
    }

    /// Takes a seat back from disk. A permission is not known any more.
    fn restore(&mut self, mut seat: Seat) {
        if let Some(firm) = seat.firm.as_mut() {
            firm.permitted = None;
        }
        if let Some(firm) = seat.firm {
            let attempt = seat.attempt(firm.epoch);
            if !matches!(firm.phase, Phase::Ended { .. }) {
                // It was in the schedule before, so it fits.
                let _ = self.schedule.reserve(attempt, firm.interval);
            }
        }
        if let Some(hold) = seat.hold.filter(|_| !canary!(HoldLostInACrash)) {
            let attempt = seat.attempt(hold.epoch);
            if self
                .schedule
                .hold(attempt, hold.interval, hold.lease)
                .is_ok()
            {
                self.quotas.held(seat.coordinator);
            }
        }
        self.put(seat);
    }

    fn arm(&mut self, cx: &mut dyn Context<Self>) {
        let due = self.seats.iter().map(|seat| seat.next_due(&self.config));
        self.alarm.set(due, Due, cx);
    }

    fn step(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        if let Event::Restored(_, seat) = event {
            self.restore(seat);
            return;
        }
        if let Event::Command(Command::Survived { attempt, survival }) = event {
            self.survived(attempt, survival, cx);
            return;
        }
        let is_timer = matches!(event, Event::Timer(_));
        if is_timer {
            self.alarm.rang();
        }
        if event == Event::Start {
            self.recover(cx);
        }
        // A job that ends at the very end of its time has ended, and is not cut.
        if let Event::Command(Command::Ended { attempt, outcome }) = event {
            self.ended(attempt, outcome, cx);
        }
        if is_timer || !canary!(LateCommitTaken) {
            self.attend_all(cx);
        }
        match event {
            Event::Message { from, message } => match message {
                Message::Prepare {
                    attempt,
                    interval,
                    lease,
                    submitter,
                    needs,
                    payload,
                } => {
                    let wish = (submitter, needs, payload);
                    self.prepare(from, attempt, interval, lease, wish, cx);
                }
                Message::Commit { attempt, members } => self.commit(from, attempt, &members, cx),
                Message::Abort { attempt } => self.abort(from, attempt, cx),
                Message::Permit { attempt, until } => self.permit(from, attempt, until, cx),
                Message::Release { job, through } => self.release(from, job, through, cx),
                // For coordinators.
                Message::Prepared { .. }
                | Message::Refused { .. }
                | Message::Committed { .. }
                | Message::Expired { .. }
                | Message::Alive { .. }
                | Message::Query { .. }
                | Message::Extend { .. }
                | Message::Released { .. }
                | Message::Ended { .. } => {}
            },
            Event::Command(_)
            | Event::Start
            | Event::Timer(_)
            | Event::Unreachable { .. }
            | Event::Restored(..) => {}
        }
        self.arm(cx);
    }
}

impl<P: Policy> Machine for Participant<P> {
    type Message = Message;
    type Timer = Due;
    type Command = Command;
    type Notice = Notice;
    type Key = JobId;
    type Record = Seat;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        step!(self, event, cx, Self::step);
    }

    fn check(&self) -> Result<(), Violation> {
        self.schedule.check()?;
        Violation::unless(
            self.seats.is_sorted_by(|a, b| a.job < b.job),
            "a job has one seat",
        )?;
        Violation::unless(
            self.seats.len() <= usize::from(self.config.seats),
            "a participant remembers no more jobs than it may",
        )?;
        let standing = |seat: &Seat| {
            let hold = seat.hold.is_none_or(|hold| {
                let status = Status::Held { lease: hold.lease };
                self.stands(seat.attempt(hold.epoch), hold.interval, status)
            });
            let firm = seat.firm.is_none_or(|firm| {
                matches!(firm.phase, Phase::Ended { .. })
                    || self.stands(seat.attempt(firm.epoch), firm.interval, Status::Committed)
            });
            let assigned = seat.firm.is_some() == seat.assignment.is_some();
            let ordered = match (seat.hold, seat.firm) {
                (Some(hold), Some(firm)) => {
                    let waits = matches!(firm.phase, Phase::Waiting { .. });
                    waits && hold.epoch > firm.epoch && hold.epoch <= seat.fence
                }
                _ => true,
            };
            hold && firm && ordered && assigned
        };
        Violation::unless(
            self.seats.iter().all(standing),
            "what a seat says is in the schedule",
        )?;
        let seats = self.seats.iter().map(|seat| {
            let firm = seat
                .firm
                .filter(|firm| !matches!(firm.phase, Phase::Ended { .. }));
            usize::from(seat.hold.is_some()).saturating_add(usize::from(firm.is_some()))
        });
        Violation::unless(
            seats.sum::<usize>() == self.schedule.len(),
            "every reservation has a seat",
        )
    }
}

impl<P: Policy> Participant<P> {
    fn stands(&self, attempt: Attempt, interval: Interval, status: Status) -> bool {
        self.schedule.find(attempt)
            == Some(&Reservation {
                attempt,
                interval,
                status,
            })
    }
}

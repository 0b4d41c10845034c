//! Starts a committed job, and lets it go.

use super::{Cause, Firm, Notice, Participant, Phase, Seat};
use crate::commit::{Message, Policy, Standing};
use crate::id::NodeId;
use crate::job::{Outcome, Survival};
use crate::machine::Context;
use crate::schedule::Attempt;
use crate::time::{Interval, Span, Time};
use crate::trace::Trace;

impl<P: Policy> Participant<P> {
    pub(super) fn permit(
        &mut self,
        from: NodeId,
        attempt: Attempt,
        until: Option<Time>,
        cx: &mut dyn Context<Self>,
    ) {
        let mut standing = Standing::Gone;
        if let Some(mut seat) = self.seat_of(attempt.job, from)
            && let Some(firm) = seat
                .firm
                .as_mut()
                .filter(|firm| firm.epoch == attempt.epoch)
        {
            let until = if canary!(PermissionForEver) {
                Some(Time::MAX)
            } else {
                until
            };
            let before = firm.until();
            firm.permitted = firm.permitted.max(until);
            standing = match firm.phase {
                Phase::Waiting { .. } => Standing::Waiting,
                Phase::Running { .. } => Standing::Running,
                Phase::Asking { end, .. } => {
                    // A permission beyond the old end means that the coordinator has agreed to the extension.
                    if until > Some(end) {
                        firm.phase = firm.running(&self.config);
                    }
                    Standing::Running
                }
                Phase::Ended { outcome, .. } => {
                    cx.send(from, Message::Ended { attempt, outcome });
                    return;
                }
            };
            let extended = firm
                .until()
                .filter(|_| firm.phase.runs() && firm.until() > before);
            // A permission is not written down: after a crash it is asked for again.
            self.put(seat);
            if let Some(until) = extended {
                cx.notify(Notice::Extended { attempt, until });
            }
            self.attend(attempt.job, cx);
        }
        cx.send(from, Message::Alive { attempt, standing });
    }

    pub(super) fn ended(&mut self, attempt: Attempt, outcome: Outcome, cx: &mut dyn Context<Self>) {
        let Some(mut seat) = self.seat(attempt.job) else {
            return cx.trace(Trace::unknown(attempt.job, None));
        };
        let runs = |firm: &Firm| firm.epoch == attempt.epoch && firm.phase.runs();
        if let Some(firm) = seat.firm.filter(runs) {
            self.end(&mut seat, firm, outcome, cx);
            self.put(seat);
            cx.notify(Notice::Changed);
        }
    }

    /// Frees the time of a job that has ended, and tells the coordinator so until it answers.
    fn end(&mut self, seat: &mut Seat, firm: Firm, outcome: Outcome, cx: &mut dyn Context<Self>) {
        let attempt = seat.attempt(firm.epoch);
        let tell = self.tell_again(&firm, cx.now(), cx);
        let phase = Phase::Ended { outcome, tell };
        seat.firm = Some(Firm { phase, ..firm });
        // The coordinator is not told for ever.
        seat.forget = cx.now() + self.config.retention;
        self.schedule.release(attempt);
        cx.persist(seat.job, seat.clone());
        cx.send(seat.coordinator, Message::Ended { attempt, outcome });
    }

    /// Stops a job that still runs when its time is over. Returns that the free time has changed.
    fn cut(&mut self, seat: &mut Seat, firm: Firm, cx: &mut dyn Context<Self>) -> bool {
        if !canary!(StopNotTold) {
            let (attempt, cause) = (seat.attempt(firm.epoch), Cause::Overran);
            cx.notify(Notice::Stop { attempt, cause });
        }
        self.end(seat, firm, Outcome::Overran, cx);
        true
    }

    /// Does what is due for the committed time of a seat. Returns whether the free time has changed.
    pub(super) fn attend_firm(
        &mut self,
        seat: &mut Seat,
        mut firm: Firm,
        cx: &mut dyn Context<Self>,
    ) -> bool {
        let now = cx.now();
        let attempt = seat.attempt(firm.epoch);
        let may_run = firm.permitted > Some(now) || canary!(StartedUnpermitted);
        match firm.phase {
            Phase::Waiting { .. } if now < firm.interval.start() => false,
            Phase::Waiting { .. } if now >= firm.interval.end() => {
                self.let_go(seat, Cause::Orphaned, cx)
            }
            // A later attempt is being voted on; if it is committed, this one must not have started.
            Phase::Waiting { .. }
                if seat.hold.is_some() && now < firm.interval.start() + self.config.grace =>
            {
                false
            }
            Phase::Waiting { .. } if may_run => {
                firm.phase = firm.running(&self.config);
                seat.began = Some(firm.epoch);
                let until = firm.until().unwrap_or(now);
                let assignment = seat.assignment.clone();
                seat.firm = Some(firm);
                // A hold for a later attempt is void: its commit would overwrite the attempt that runs.
                let freed = self.drop_hold(seat, now);
                cx.persist(seat.job, seat.clone());
                if let Some(assignment) = assignment {
                    cx.notify(Notice::Begin {
                        attempt,
                        until,
                        assignment,
                    });
                }
                freed
            }
            Phase::Waiting { .. } if now >= firm.interval.start() + self.config.grace => {
                self.let_go(seat, Cause::Orphaned, cx)
            }
            Phase::Waiting { ask } => {
                if ask <= now {
                    let ask = self.again(firm.interval.start(), cx);
                    firm.phase = Phase::Waiting { ask };
                    seat.firm = Some(firm);
                    cx.send(seat.coordinator, Message::Query { attempt });
                }
                false
            }
            Phase::Running { .. } if now >= firm.interval.end() => self.cut(seat, firm, cx),
            Phase::Asking { end, .. } if now >= end => self.cut(seat, firm, cx),
            Phase::Running { .. } | Phase::Asking { .. } if !may_run => {
                self.let_go(seat, Cause::Orphaned, cx)
            }
            Phase::Running { ask } if ask.is_none_or(|ask| now < ask) => false,
            Phase::Asking { ask, .. } if now < ask => false,
            Phase::Running { .. } => self.take_more(seat, firm, cx),
            Phase::Asking { end, .. } => {
                self.ask_for_more(seat, firm, end, cx);
                false
            }
            Phase::Ended { outcome, tell } => {
                if seat.forget <= now {
                    (seat.firm, seat.assignment) = (None, None);
                    cx.persist(seat.job, seat.clone());
                } else if tell <= now {
                    let ended = seat.forget - self.config.retention;
                    let tell = self.tell_again(&firm, ended, cx);
                    firm.phase = Phase::Ended { outcome, tell };
                    seat.firm = Some(firm);
                    cx.send(seat.coordinator, Message::Ended { attempt, outcome });
                }
                false
            }
        }
    }

    /// When to repeat what was first said at `since`.
    fn again(&self, since: Time, cx: &mut dyn Context<Self>) -> Time {
        let now = cx.now();
        now + self.config.again(now - since) + self.config.draw_jitter(cx.rng())
    }

    /// When to repeat that a job ended at `ended`. Soon after the end of the reservation the coordinator takes the job
    /// for lost. So the message is repeated at that end, and from then on as often as at first.
    fn tell_again(&self, firm: &Firm, ended: Time, cx: &mut dyn Context<Self>) -> Time {
        let end = firm.interval.end();
        if cx.now() < end {
            let end = end + self.config.draw_jitter(cx.rng());
            self.again(ended, cx).min(end)
        } else {
            self.again(end.max(ended), cx)
        }
    }

    /// Takes the time after a reservation and asks for permission to use it. Returns whether that time was free.
    ///
    /// The extension is on disk before it is asked for: if the job survives a crash, its time is not given away.
    fn take_more(&mut self, seat: &mut Seat, mut firm: Firm, cx: &mut dyn Context<Self>) -> bool {
        let (start, end) = (firm.interval.start(), firm.interval.end());
        let next = self.config.extended(firm.committed, end);
        let longer = next.and_then(|next| Interval::new(start, next).ok());
        let attempt = seat.attempt(firm.epoch);
        match longer {
            Some(longer) if self.schedule.lengthen(attempt, longer.end()).is_ok() => {
                firm.interval = longer;
                let ask = cx.now();
                firm.phase = Phase::Asking { end, ask };
                seat.firm = Some(firm);
                cx.persist(seat.job, seat.clone());
                self.ask_for_more(seat, firm, end, cx);
                true
            }
            _ => {
                // The time may only be held for another job, so try again.
                let ask = Some(cx.now() + self.config.again(Span::ZERO));
                firm.phase = Phase::Running { ask };
                seat.firm = Some(firm);
                false
            }
        }
    }

    /// Asks the coordinator for permission to run to the end of the time that was taken.
    fn ask_for_more(&self, seat: &mut Seat, firm: Firm, end: Time, cx: &mut dyn Context<Self>) {
        let attempt = seat.attempt(firm.epoch);
        let until = firm.interval.end();
        let ask = self.again(cx.now(), cx);
        seat.firm = Some(Firm {
            phase: Phase::Asking { end, ask },
            ..firm
        });
        cx.send(seat.coordinator, Message::Extend { attempt, until });
    }

    /// Frees committed time without being asked, and tells the coordinator.
    pub(super) fn let_go(
        &mut self,
        seat: &mut Seat,
        cause: Cause,
        cx: &mut dyn Context<Self>,
    ) -> bool {
        let Some(firm) = seat.firm else {
            return false;
        };
        let attempt = seat.attempt(firm.epoch);
        self.drop_firm(seat, cause, cx);
        seat.forget = cx.now() + self.config.retention;
        cx.persist(seat.job, seat.clone());
        cx.send(
            seat.coordinator,
            Message::Alive {
                attempt,
                standing: Standing::Gone,
            },
        );
        true
    }

    /// Notes what became of an attempt while the node was down.
    pub(super) fn survived(
        &mut self,
        attempt: Attempt,
        survival: Survival,
        cx: &mut dyn Context<Self>,
    ) {
        let seat = self.seat(attempt.job);
        let firm = seat.as_ref().and_then(|seat| seat.firm);
        let firm = firm.filter(|firm| firm.epoch == attempt.epoch && firm.phase.runs());
        match (seat, firm, survival) {
            // It was permitted in this life, which has started.
            (_, Some(firm), _) if firm.permitted.is_some() => {}
            (_, Some(_), Survival::Ended(outcome)) => self.ended(attempt, outcome, cx),
            (Some(mut seat), Some(mut firm), Survival::Runs { until }) => {
                if let Phase::Asking { end, .. } = firm.phase
                    && until > end
                {
                    // The extension was permitted before the crash.
                    firm.phase = firm.running(&self.config);
                }
                firm.permitted = Some(until);
                seat.firm = Some(firm);
                self.put(seat);
            }
            // This node knows of no such attempt, or it is over.
            (_, _, Survival::Runs { .. }) => {
                let cause = Cause::Released;
                cx.notify(Notice::Stop { attempt, cause });
            }
            (_, _, Survival::Ended(_)) => {}
        }
    }

    /// Lets go of the jobs that ran when the node went down and did not survive that, and tells the host what waits.
    pub(super) fn recover(&mut self, cx: &mut dyn Context<Self>) {
        let mut next = 0;
        while let Some(known) = self.seats.get(next) {
            next = next.saturating_add(1);
            let mut seat = known.clone();
            let lost = |firm: &Firm| firm.phase.runs() && firm.permitted.is_none();
            if seat.firm.as_ref().is_some_and(lost) {
                self.let_go(&mut seat, Cause::Released, cx);
                self.put(seat);
                continue;
            }
            let waits = |firm: &Firm| matches!(firm.phase, Phase::Waiting { .. });
            if let Some(assignment) = seat
                .assignment
                .filter(|_| seat.firm.as_ref().is_some_and(waits))
            {
                let job = seat.job;
                cx.notify(Notice::Assigned { job, assignment });
            }
        }
    }
}

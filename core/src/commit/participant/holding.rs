//! Holds time, commits it, and frees it.

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

use super::{Cause, Firm, Hold, Notice, Participant, Phase, Seat};
use crate::admission::{Needs, Unsuited};
use crate::commit::{Members, Message, Policy, Refused};
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Assignment, Payload, Placement, Submitter};
use crate::machine::Context;
use crate::schedule::{Attempt, ReserveError};
use crate::shared::Shared;
use crate::time::{Interval, Span, Time};
use crate::trace::Trace;

impl<P: Policy> Participant<P> {
    pub(super) fn prepare(
        &mut self,
        from: NodeId,
        attempt: Attempt,
        interval: Interval,
        lease: Span,
        wish: (Submitter, Needs, Payload),
        cx: &mut dyn Context<Self>,
    ) {
        match self.try_hold(from, attempt, interval, lease, wish, cx) {
            Ok(lease) => cx.send(from, Message::Prepared { attempt, lease }),
            Err(reason) => {
                let earliest = cx.now() + self.config.lead;
                let fit = self.schedule.earliest_fit(earliest, interval.length());
                let next_free = fit.ok().map(Interval::start);
                let refused = Message::Refused {
                    attempt,
                    reason,
                    next_free,
                };
                cx.send(from, refused);
                let (job, peer, why) = (attempt.job, from, reason.words());
                cx.trace(Trace::Refuses { job, peer, why });
            }
        }
    }

    /// Whether this node runs jobs of this submitter, and has what they need. Peers judge by what they know of this
    /// node; this word counts.
    fn admit(&self, submitter: &Submitter, needs: &Needs) -> Result<(), Refused> {
        let (stated, dimensions) = (self.policy.stated(), self.policy.dimensions());
        match stated.suits(dimensions, submitter.organisation, needs) {
            Err(Unsuited::Lacks) => Err(Refused::Lacking),
            Ok(()) if self.policy.accepts(submitter) => Ok(()),
            _ => Err(Refused::NotAccepted),
        }
    }

    /// Holds the time, and returns the length of the lease.
    pub(super) fn try_hold(
        &mut self,
        from: NodeId,
        attempt: Attempt,
        interval: Interval,
        lease: Span,
        wish: (Submitter, Needs, Payload),
        cx: &mut dyn Context<Self>,
    ) -> Result<Span, Refused> {
        let now = cx.now();
        let known = self.seat(attempt.job);
        let is_known = known.is_some();
        let mut seat = match known {
            Some(seat) if seat.coordinator != from => return Err(Refused::Foreign),
            Some(seat) => seat,
            None if self.is_full() && self.dispensable(from).is_none() => {
                return Err(Refused::Full);
            }
            // Attempts that are over cost a coordinator nothing: without a limit it could fill all seats with them.
            None if self.remembered(from) >= usize::from(self.config.seats).div_ceil(2) => {
                return Err(Refused::Quota);
            }
            None => Seat {
                job: attempt.job,
                coordinator: from,
                fence: attempt.epoch,
                hold: None,
                payload: Payload::EMPTY,
                firm: None,
                assignment: None,
                began: None,
                forget: Time::ZERO,
            },
        };
        if is_known && !canary!(OldAttemptsTaken) {
            if attempt.epoch < seat.fence {
                return Err(Refused::Stale);
            }
            if attempt.epoch == seat.fence {
                // A repeated question, or an attempt that is over here.
                let hold = seat.hold.filter(|hold| hold.interval == interval);
                return hold
                    .map(|hold| hold.lease - hold.since)
                    .ok_or(Refused::Stale);
            }
        }
        if let Some(firm) = seat.firm
            && !matches!(firm.phase, Phase::Waiting { .. })
        {
            return Err(Refused::Running);
        }
        if interval.start() < now + self.config.lead {
            return Err(Refused::TooLate);
        }
        let (submitter, needs, payload) = wish;
        self.admit(&submitter, &needs)?;
        // An older hold of the job is void from here on, even if this one is refused.
        let changed = self.drop_hold(&mut seat, now);
        let allowed =
            self.quotas
                .allows(from, self.config.holds_per_peer, self.config.allowance, now);
        let lease = lease.min(self.config.lease.times(4));
        let held = if allowed {
            self.schedule
                .hold(attempt, interval, now + lease)
                .map_err(|error| match error {
                    ReserveError::Taken => Refused::Busy,
                    ReserveError::Full => Refused::Full,
                    ReserveError::Stale | ReserveError::OtherInterval => Refused::Stale,
                })
        } else {
            Err(Refused::Quota)
        };
        if let Err(reason) = held {
            if is_known {
                seat.fence = seat.fence.max(attempt.epoch);
                self.settle_seat(seat, cx);
            }
            if changed {
                cx.notify(Notice::Changed);
            }
            return Err(reason);
        }
        if !is_known
            && self.is_full()
            && let Some(job) = self.dispensable(from)
        {
            self.forget(job, cx);
        }
        self.quotas.held(from);
        seat.fence = seat.fence.max(attempt.epoch);
        seat.hold = Some(Hold {
            epoch: attempt.epoch,
            interval,
            since: now,
            lease: now + lease,
            submitter,
        });
        seat.payload = payload;
        if !canary!(VoteInMemory) {
            self.keep(seat, cx);
        } else {
            self.put(seat);
        }
        cx.notify(Notice::Changed);
        Ok(lease)
    }

    /// The number of remembered jobs of a coordinator that have no time here any more.
    fn remembered(&self, coordinator: NodeId) -> usize {
        let theirs = |seat: &&Seat| seat.coordinator == coordinator;
        self.over().filter(theirs).count()
    }

    fn is_full(&self) -> bool {
        self.seats.len() >= usize::from(self.config.seats)
    }

    /// The job that is forgotten early for a job of this coordinator: of the coordinator with the most remembered jobs,
    /// the job that would be forgotten first. `None` if no coordinator has more of them than this one.
    fn dispensable(&self, coordinator: NodeId) -> Option<JobId> {
        let mut owners: Vec<NodeId> = self.over().map(|seat| seat.coordinator).collect();
        owners.sort_unstable();
        // Of equals, the coordinator with the lowest id.
        let most = owners
            .chunk_by(|a, b| a == b)
            .min_by_key(|owned| Reverse(owned.len()))?;
        let owner = *most.first()?;
        if most.len() <= self.remembered(coordinator) {
            return None;
        }
        let over = self.over().filter(|seat| seat.coordinator == owner);
        over.min_by_key(|seat| seat.forget).map(|seat| seat.job)
    }

    /// The jobs that are remembered and have no time here any more.
    fn over(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| seat.is_empty())
    }

    /// Frees the hold of a seat. Returns whether there was one.
    pub(super) fn drop_hold(&mut self, seat: &mut Seat, now: Time) -> bool {
        let Some(hold) = seat.hold.take() else {
            return false;
        };
        seat.payload = Payload::EMPTY;
        self.schedule.release(seat.attempt(hold.epoch));
        self.quotas.ended(seat.coordinator, now - hold.since, now);
        true
    }

    /// Frees the committed time of a seat; the job stops if it runs. Returns whether there was such time.
    pub(super) fn drop_firm(
        &mut self,
        seat: &mut Seat,
        cause: Cause,
        cx: &mut dyn Context<Self>,
    ) -> bool {
        let Some(firm) = seat.firm.take() else {
            return false;
        };
        seat.assignment = None;
        let attempt = seat.attempt(firm.epoch);
        self.schedule.release(attempt);
        self.tell_dropped(attempt, &firm, cause, cx);
        true
    }

    /// Tells the host that it does not have an attempt any more.
    fn tell_dropped(
        &self,
        attempt: Attempt,
        firm: &Firm,
        cause: Cause,
        cx: &mut dyn Context<Self>,
    ) {
        match firm.phase {
            Phase::Waiting { .. } => cx.notify(Notice::Released { attempt }),
            Phase::Running { .. } | Phase::Asking { .. } if !canary!(StopNotTold) => {
                cx.notify(Notice::Stop { attempt, cause });
            }
            _ => {}
        }
    }

    /// Keeps a seat that has changed. An empty seat is remembered for the time of `retention`.
    pub(super) fn settle_seat(&mut self, mut seat: Seat, cx: &mut dyn Context<Self>) {
        if seat.is_empty() {
            seat.forget = cx.now() + self.config.retention;
        }
        self.keep(seat, cx);
    }

    pub(super) fn commit(
        &mut self,
        from: NodeId,
        attempt: Attempt,
        members: &Shared<Members>,
        cx: &mut dyn Context<Self>,
    ) {
        // What is committed is kept for as long as the reservation: a list that no coordinator makes is not taken.
        let is_sound = members.get().nodes().len() <= usize::from(self.config.members);
        let seat = self.seat_of(attempt.job, from);
        let Some(mut seat) = seat.filter(|_| is_sound) else {
            cx.send(from, Message::Expired { attempt });
            return;
        };
        if let Some(hold) = seat.hold.take_if(|hold| hold.epoch == attempt.epoch) {
            if self.schedule.commit(attempt).is_err() {
                cx.send(from, Message::Expired { attempt });
                return;
            }
            self.quotas.committed(seat.coordinator, cx.now());
            if let Some(earlier) = seat.firm.take() {
                let earlier_attempt = seat.attempt(earlier.epoch);
                self.tell_dropped(earlier_attempt, &earlier, Cause::Released, cx);
            }
            let assignment = Shared::new(Assignment {
                placement: Placement {
                    attempt: hold.epoch,
                    start: hold.interval.start(),
                    end: Some(hold.interval.end()),
                    nodes: members.get().nodes().to_vec(),
                },
                submitter: hold.submitter,
                payload: mem::take(&mut seat.payload),
            });
            seat.firm = Some(Firm {
                epoch: hold.epoch,
                interval: hold.interval,
                committed: hold.interval.end(),
                permitted: None,
                phase: Phase::Waiting {
                    ask: hold.interval.start(),
                },
            });
            seat.assignment = Some(assignment.clone());
            self.keep(seat.clone(), cx);
            let job = attempt.job;
            cx.notify(Notice::Assigned { job, assignment });
            cx.notify(Notice::Changed);
        }
        let firm = seat.firm.filter(|firm| firm.epoch == attempt.epoch);
        let answer = match firm.map(|firm| firm.phase) {
            // An end implies that the attempt was committed.
            Some(Phase::Ended { outcome, .. }) => Message::Ended { attempt, outcome },
            Some(_) => Message::Committed { attempt },
            None => Message::Expired { attempt },
        };
        cx.send(from, answer);
    }

    pub(super) fn abort(&mut self, from: NodeId, attempt: Attempt, cx: &mut dyn Context<Self>) {
        let Some(mut seat) = self.seat_of(attempt.job, from) else {
            return;
        };
        let is_held = |hold: Hold| hold.epoch == attempt.epoch;
        if seat.hold.is_some_and(is_held) {
            self.drop_hold(&mut seat, cx.now());
            self.settle_seat(seat, cx);
            cx.notify(Notice::Changed);
        }
    }

    pub(super) fn release(
        &mut self,
        from: NodeId,
        job: JobId,
        through: Epoch,
        cx: &mut dyn Context<Self>,
    ) {
        let mut began = None;
        if let Some(mut seat) = self.seat_of(job, from) {
            began = seat.began.filter(|began| *began <= through);
            let mut changed = false;
            if seat.hold.is_some_and(|hold| hold.epoch <= through) {
                changed |= self.drop_hold(&mut seat, cx.now());
            }
            if seat.firm.is_some_and(|firm| firm.epoch <= through) {
                changed |= self.drop_firm(&mut seat, Cause::Released, cx);
            }
            if changed || seat.fence < through {
                seat.fence = seat.fence.max(through);
                self.settle_seat(seat, cx);
            }
            if changed {
                cx.notify(Notice::Changed);
            }
        } else if self.seat(job).is_some() {
            // The sender is not the coordinator of this job.
            return;
        }
        let released = Message::Released {
            job,
            through,
            began,
        };
        cx.send(from, released);
    }
}

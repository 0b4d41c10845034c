//! Jobs that wait are offered to others who may run them sooner (P3 III-D).

use alloc::vec::Vec;

use super::assignee::State;
use super::config::Taking;
use super::offers::{Offer, Offers};
use super::relay::Kind;
use super::{Aria, Timer};
use crate::id::JobId;
use crate::machine::Context;
use crate::overlay::flood::FloodId;
use crate::queue::{Change, Cost, LocalScheduler, present_cost};
use crate::rng::Choose;
use crate::time::{Span, Time};

/// Into how many parts the period is divided to let sites advertise at different times.
const PHASES: u64 = 256;

impl<S: LocalScheduler> Aria<S> {
    /// By how much another site must be better.
    pub(super) fn threshold(&self) -> Span {
        self.config
            .rescheduling
            .map_or(Span::MAX, |rescheduling| rescheduling.threshold)
    }

    /// When a node starts, it advertises after a part of the period, so that sites do not all do so at once (PROTOCOLS A14).
    pub(super) fn begin_advertising(&mut self, cx: &mut impl Context<Self>) {
        if let Some(rescheduling) = self.config.rescheduling {
            let part = Span::from_micros(rescheduling.period.as_micros() / PHASES);
            let phase = u64::from(cx.rng().below(PHASES as u32)).saturating_add(1);
            self.advertise_at = cx.now() + part.times(phase);
            cx.wake(self.advertise_at, Timer::Advertise);
        }
    }

    /// Floods an INFORM for the jobs that most need it, if it is time.
    pub(super) fn advertise(&mut self, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let Some(rescheduling) = self.config.rescheduling else {
            return;
        };
        if now < self.advertise_at {
            cx.wake(self.advertise_at, Timer::Advertise);
            return;
        }
        self.advertise_at = now + rescheduling.period;
        cx.wake(self.advertise_at, Timer::Advertise);
        let count = if self.leaving {
            usize::MAX
        } else {
            usize::from(rescheduling.jobs)
        };
        for job in self.most_in_need(count, now) {
            self.advertise_job(job, cx);
        }
    }

    /// Those that wait: first those with deadlines, the least time to spare first; then those that have waited longest.
    fn most_in_need(&self, count: usize, now: Time) -> Vec<JobId> {
        let mut waiting: Vec<(bool, i128, JobId)> = self
            .held
            .iter()
            .filter(|held| held.state == State::Waiting)
            .map(|held| {
                let job = held.job.get();
                let submitted = i128::from(job.submitted.as_micros());
                (job.deadline.is_none(), submitted, job.id)
            })
            .collect();
        if waiting.iter().any(|(no_deadline, ..)| !no_deadline) {
            self.site
                .local
                .forecast(now, Change::None, &mut |expected| {
                    let known = waiting.iter_mut().find(|(.., job)| *job == expected.job);
                    if let (Some((_, key, _)), Some(deadline)) = (known, expected.deadline) {
                        let (due, end) = (deadline.as_micros(), expected.end.as_micros());
                        *key = i128::from(due).saturating_sub(i128::from(end));
                    }
                });
        }
        let count = count.min(waiting.len());
        if count > 0 && count < waiting.len() {
            waiting.select_nth_unstable(count.saturating_sub(1));
        }
        waiting.truncate(count);
        waiting.sort_unstable();
        waiting.into_iter().map(|(.., job)| job).collect()
    }

    fn advertise_job(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let Some(cost) = self.cost_here(job, cx.now()) else {
            return;
        };
        let Some(shared) = self.held_mut(job).map(|held| held.job.clone()) else {
            return;
        };
        let FloodId { round, .. } = self.flood(Kind::Inform, &shared, cost, cx);
        let over = cx.now() + self.config.window;
        if let Some(held) = self.held_mut(job) {
            held.state = State::Advertised {
                round,
                offers: Offers::default(),
            };
            let due = over.min(held.lease);
            self.wake_held(job, due, cx);
        }
    }

    /// What a job that waits here costs; one that leaves gives everything away.
    fn cost_here(&self, job: JobId, now: Time) -> Option<Cost> {
        let at = self.held_place(job).ok()?;
        let queued = self.held.get(at)?.queued();
        if self.leaving {
            return Some(Cost::MAX);
        }
        present_cost(&self.site.local, now, &queued, self.config.lateness)
    }

    /// A node would take a job that was advertised.
    pub(super) fn better_offer(
        &mut self,
        flood: FloodId,
        offer: Offer,
        cx: &mut impl Context<Self>,
    ) {
        let job = JobId::new(flood.sequence);
        if offer.node == self.me {
            return;
        }
        let first = self.config.taking == Taking::First;
        if let Some(held) = self.held_mut(job)
            && let State::Advertised { round, offers } = &mut held.state
            && *round == flood.round
        {
            offers.hear(offer);
            if first {
                self.close_offers(job, cx);
            }
        }
    }

    /// All offers are in: the job goes to the best, if that is still better than here (PROTOCOLS A12).
    pub(super) fn close_offers(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let State::Advertised { offers, .. } = &mut held.state else {
            return;
        };
        let best = offers.take_best();
        held.state = State::Waiting;
        let renew = held.renew;
        let here = self.cost_here(job, now);
        match (best, here) {
            (Some(offer), Some(here)) if offer.cost.beats(here, self.threshold()) => {
                self.counts.moved = self.counts.moved.saturating_add(1);
                self.give_away(job, offer.node, cx);
            }
            _ => self.wake_held(job, renew.max(now), cx),
        }
    }
}

//! Waiting jobs are advertised to sites that may run them sooner (P3 III-D).

use alloc::vec::Vec;

use super::config::{Adverts, Taking};
use super::foreign::Offered;
use super::offers::{Offer, Question};
use super::relay::Kind;
use super::{Aria, Timer};
use crate::custody::Command;
use crate::id::JobId;
use crate::job::Scope;
use crate::machine::Context;
use crate::overlay::flood::FloodId;
use crate::queue::{Change, Cost, LocalScheduler, QueuedJob, present_cost};
use crate::scheduler::phase::random_part;
use crate::time::{Span, Time};

/// A question that advertises a job needs nothing beside the offers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Advert;

impl<S: LocalScheduler> Aria<S> {
    /// By how much the cost at another site must be less.
    pub(super) fn threshold(&self) -> Span {
        self.config
            .rescheduling
            .map_or(Span::MAX, |rescheduling| rescheduling.threshold)
    }

    /// Sets the first advert at a random phase of the period: sites should not all advertise together (PROTOCOLS A14).
    pub(super) fn begin_advertising(&mut self, cx: &mut dyn Context<Self>) {
        if let Some(rescheduling) = self.config.rescheduling {
            self.advertise_at = cx.now() + random_part(rescheduling.period, cx.rng());
            cx.wake(self.advertise_at, Timer::Advertise);
        }
    }

    /// Floods an INFORM for each of the jobs most in need, if the period is over.
    pub(super) fn advertise(&mut self, cx: &mut dyn Context<Self>) {
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
        if !self.site_answers() {
            return;
        }
        let jobs = if !self.duty.takes_jobs() {
            self.most_in_need(usize::MAX, now)
        } else {
            match rescheduling.adverts {
                Adverts::Neediest => self.most_in_need(usize::from(rescheduling.jobs), now),
                Adverts::Promising => self.promising(rescheduling, now),
            }
        };
        for job in jobs {
            self.advertise_job(job, cx);
        }
    }

    /// Waiting jobs: first jobs with deadlines, the least time to spare first; then the jobs that were submitted first.
    fn most_in_need(&self, count: usize, now: Time) -> Vec<JobId> {
        let mut waiting: Vec<(bool, i128, JobId)> = self
            .custody
            .waiting()
            .filter(|job| job.scope != Scope::Here && self.adverts.about(job.id).is_none())
            .map(|job| {
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

    fn advertise_job(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(cost) = self.cost_here(job, cx.now()) else {
            return;
        };
        let Some(shared) = self.custody.job(job) else {
            return;
        };
        let flood = self.flood(Kind::Inform, &shared, cost, cx);
        let until = cx.now() + self.config.window;
        self.adverts.ask(Question::new(flood, Advert, until));
        cx.wake(until, Timer::Advert(job));
    }

    /// The cost of a job that waits here. At a node that takes no jobs it is the maximum, so that any offer is better.
    fn cost_here(&self, job: JobId, now: Time) -> Option<Cost> {
        let queued = QueuedJob::from(self.custody.job(job)?.get());
        if !self.duty.takes_jobs() {
            return Some(Cost::MAX);
        }
        let outlook = self.outlook(job, Offered::Counts, now);
        present_cost(outlook.as_ref(), now, &queued, self.config.lateness)
    }

    /// Handles an offer for a job that was advertised.
    pub(super) fn on_advert_offer(
        &mut self,
        flood: FloodId,
        offer: Offer,
        cx: &mut dyn Context<Self>,
    ) {
        let job = JobId::new(flood.sequence);
        let heard = offer.node != self.me && self.adverts.hear(flood, offer);
        // If this offer is not better any more, wait for others.
        if heard && self.config.taking == Taking::First && self.is_better(offer, job, cx.now()) {
            self.take_best_offer(job, cx);
        }
    }

    /// Takes the best offer for an advertised job, if the window is over.
    pub(super) fn close_advert(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        match self.adverts.about(job).map(|advert| advert.until) {
            Some(until) if cx.now() < until => cx.wake(until, Timer::Advert(job)),
            Some(_) => self.take_best_offer(job, cx),
            None => {}
        }
    }

    /// Whether an offer beats the cost here by the threshold.
    fn is_better(&self, offer: Offer, job: JobId, now: Time) -> bool {
        let here = self.cost_here(job, now);
        here.is_some_and(|here| offer.cost.beats(here, self.threshold()))
    }

    /// Gives the job to the best offer, out of the queue, if that still beats the cost here (PROTOCOLS A12).
    fn take_best_offer(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(advert) = self.end_advert(job, cx) else {
            return;
        };
        let best = advert.offers.best();
        let better = best.filter(|offer| self.is_better(*offer, job, cx.now()));
        if self.is_foreign() {
            if let Some(offer) = better.filter(|_| self.site_answers()) {
                self.withdraw_from_site(job, offer.node, cx);
            }
        } else if let Some(offer) = better
            && self.site.local.withdraw(job).is_some()
        {
            let (to, carried) = (offer.node, 0);
            self.tell_custody(Command::GiveAway { job, to, carried }, cx);
            self.start_jobs(cx);
        }
    }

    /// Ends the advert of a job.
    pub(super) fn end_advert(
        &mut self,
        job: JobId,
        cx: &mut dyn Context<Self>,
    ) -> Option<Question<Advert>> {
        let advert = self.adverts.close(job)?;
        cx.cancel(Timer::Advert(job));
        Some(advert)
    }
}

//! Jobs that wait are offered to others who may run them sooner (P3 III-D).

use alloc::vec::Vec;

use super::config::Taking;
use super::offers::{Offer, Question};
use super::relay::Kind;
use super::{Aria, Timer};
use crate::custody::Command;
use crate::id::JobId;
use crate::machine::Context;
use crate::overlay::flood::FloodId;
use crate::queue::{Change, Cost, LocalScheduler, QueuedJob, present_cost};
use crate::rng::Choose;
use crate::time::{Span, Time};

/// Into how many parts the period is divided to let sites advertise at different times.
const PHASES: u64 = 256;

/// What a question is about that offers a job to others: nothing else is to be known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Advert;

impl<S: LocalScheduler> Aria<S> {
    /// By how much another site must be better.
    pub(super) fn threshold(&self) -> Span {
        self.config
            .rescheduling
            .map_or(Span::MAX, |rescheduling| rescheduling.threshold)
    }

    /// When a node starts, it advertises after a part of the period, so that sites do not all do so at once (PROTOCOLS A14).
    pub(super) fn begin_advertising(&mut self, cx: &mut dyn Context<Self>) {
        if let Some(rescheduling) = self.config.rescheduling {
            let part = Span::from_micros(rescheduling.period.as_micros() / PHASES);
            let phase = u64::from(cx.rng().below(PHASES as u32)).saturating_add(1);
            self.advertise_at = cx.now() + part.times(phase);
            cx.wake(self.advertise_at, Timer::Advertise);
        }
    }

    /// Floods an INFORM for the jobs that most need it, if it is time.
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
            .custody
            .waiting()
            .filter(|job| self.adverts.about(job.id).is_none())
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

    /// What a job that waits here costs; one that leaves gives everything away.
    fn cost_here(&self, job: JobId, now: Time) -> Option<Cost> {
        let queued = QueuedJob::from(self.custody.job(job)?.get());
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
        cx: &mut dyn Context<Self>,
    ) {
        let job = JobId::new(flood.sequence);
        let heard = offer.node != self.me && self.adverts.hear(flood, offer);
        // One that is no better any more is not the last: others may be.
        if heard && self.config.taking == Taking::First && self.is_better(offer, job, cx.now()) {
            self.take_best_offer(job, cx);
        }
    }

    /// It may be time to take the best offer for a job that was advertised.
    pub(super) fn close_advert(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        match self.adverts.about(job).map(|advert| advert.until) {
            Some(until) if cx.now() < until => cx.wake(until, Timer::Advert(job)),
            Some(_) => self.take_best_offer(job, cx),
            None => {}
        }
    }

    /// Whether a job would be done so much sooner elsewhere that it should go there.
    fn is_better(&self, offer: Offer, job: JobId, now: Time) -> bool {
        let here = self.cost_here(job, now);
        here.is_some_and(|here| offer.cost.beats(here, self.threshold()))
    }

    /// The job goes to who offered best, out of the queue, if that is still better than here (PROTOCOLS A12).
    fn take_best_offer(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(advert) = self.end_advert(job, cx) else {
            return;
        };
        if let Some(offer) = advert.offers.best()
            && self.is_better(offer, job, cx.now())
            && self.site.local.withdraw(job).is_some()
        {
            let (to, carried) = (offer.node, 0);
            self.tell_custody(Command::GiveAway { job, to, carried }, cx);
            self.start_jobs(cx);
        }
    }

    /// A job is not offered to others any more.
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

//! A job at its submitter: it floods a REQUEST, and gives the job to the site with the best offer.

use super::foreign::Offered;
use super::offers::{Offer, Offers, Question};
use super::relay::Kind;
use super::{Aria, Timer};
use crate::custody::{Command, Tenure};
use crate::id::JobId;
use crate::job::{Criterion, Failure, Job, News, Notice, Payload, Refusal, Scope};
use crate::machine::Context;
use crate::queue::{Cost, LocalScheduler};
use crate::shared::Shared;

/// A search for a site that takes a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Search {
    job: Shared<Job>,
    /// How often the home gave the job away before.
    attempt: u32,
}

impl<S: LocalScheduler> Aria<S> {
    pub(super) fn submit(&mut self, job: Job, payload: Payload, cx: &mut dyn Context<Self>) {
        let id = job.id;
        let refused = self.refusal(&job, cx);
        if let Some(refusal) = refused.or_else(|| self.custody.refusal(id)) {
            let news = News::Failed(Failure::Refused(refusal));
            return cx.notify(Notice { job: id, news });
        }
        let (job, tenure) = (Shared::new(job), Tenure::ONLY);
        let keep = Command::Keep {
            job,
            payload,
            tenure,
            until: None,
        };
        self.tell_custody(keep, cx);
    }

    /// Why this node refuses a new job; `None` if it takes it.
    fn refusal(&self, job: &Job, cx: &mut dyn Context<Self>) -> Option<Refusal> {
        // `Known` comes first: a host that submits again after a crash must not take the job to another node as well.
        if self.custody.answers_for(job.id) {
            Some(Refusal::Known)
        } else if let Some(refusal) = self.duty.refusal() {
            Some(refusal)
        } else if job.criterion != Criterion::Soonest {
            Some(Refusal::UnsupportedCriterion)
        } else if job.deadline.is_some_and(|deadline| deadline <= cx.now()) {
            Some(Refusal::DeadlinePassed)
        } else if let Some(refusal) = self.site.refusal(job) {
            Some(refusal)
        } else {
            let elsewhere = job.scope == Scope::Here && !self.site.suits(job);
            elsewhere.then_some(Refusal::NoMatch)
        }
    }

    /// Begins to collect offers for a job. No other site is asked about a job that must run here.
    pub(super) fn search(&mut self, job: Shared<Job>, attempt: u32, cx: &mut dyn Context<Self>) {
        let id = job.get().id;
        let (flood, until) = match job.get().scope {
            Scope::Here => (self.name_flood(Kind::Request, id), cx.now()),
            Scope::Grid | Scope::Organisation => {
                let flood = self.flood(Kind::Request, &job, Cost::MAX, cx);
                (flood, cx.now() + self.config.window)
            }
        };
        let search = Search { job, attempt };
        self.searches.ask(Question::new(flood, search, until));
        cx.wake(until, Timer::Search(id));
    }

    /// If the window is over, adds this node's own offer and hands the best offers to custody.
    pub(super) fn close_search(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(until) = self.searches.about(job).map(|search| search.until) else {
            return;
        };
        if cx.now() < until {
            cx.wake(until, Timer::Search(job));
            return;
        }
        let Some(Question {
            about, mut offers, ..
        }) = self.searches.close(job)
        else {
            return;
        };
        // An offer for such a job is a liar's.
        if about.job.get().scope == Scope::Here {
            offers = Offers::default();
        }
        // The submitter is a candidate like all others, but needs no messages (PROTOCOLS A2).
        if self.takes(about.job.get()) {
            let (cost, node) = (self.price(about.job.get(), Offered::Counts, cx), self.me);
            offers.hear(Offer { cost, node });
        }
        let (attempt, candidates) = (about.attempt, offers.candidates());
        let found = Command::Found {
            job,
            attempt,
            candidates,
        };
        self.tell_custody(found, cx);
    }

    /// Ends the search for a job that has its outcome.
    pub(super) fn end_search(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if self.searches.close(job).is_some() {
            cx.cancel(Timer::Search(job));
        }
    }
}

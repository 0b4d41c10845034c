//! A job where it was submitted: a REQUEST is flooded, and who offered best is to take it.

use super::offers::{Offer, Question};
use super::relay::Kind;
use super::{Aria, Timer};
use crate::custody::{Command, Tenure};
use crate::id::JobId;
use crate::job::{Criterion, Failure, Job, News, Notice, Refusal};
use crate::machine::Context;
use crate::queue::{Cost, LocalScheduler};
use crate::shared::Shared;

/// A search for a site that takes a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Search {
    job: Shared<Job>,
    /// How often the job was given away before.
    attempt: u32,
}

impl<S: LocalScheduler> Aria<S> {
    pub(super) fn submit(&mut self, job: Job, cx: &mut dyn Context<Self>) {
        let id = job.id;
        let refused = self.refusal(&job, cx);
        if let Some(refusal) = refused.or_else(|| self.custody.refusal(id)) {
            let news = News::Failed(Failure::Refused(refusal));
            return cx.notify(Notice { job: id, news });
        }
        let (job, tenure) = (Shared::new(job), Tenure::ONLY);
        let until = None;
        self.tell_custody(Command::Keep { job, tenure, until }, cx);
    }

    /// Why a job is not taken up, if that can be seen from the job alone.
    fn refusal(&self, job: &Job, cx: &mut dyn Context<Self>) -> Option<Refusal> {
        // Known first: who is asked again after a crash must not have the job go elsewhere, too.
        if self.custody.answers_for(job.id) {
            Some(Refusal::Known)
        } else if self.leaving {
            Some(Refusal::Leaving)
        } else if job.criterion != Criterion::Soonest {
            Some(Refusal::UnsupportedCriterion)
        } else if job.deadline.is_some_and(|deadline| deadline <= cx.now()) {
            Some(Refusal::DeadlinePassed)
        } else {
            self.site.refusal(job)
        }
    }

    /// Somebody is to be found who takes a job.
    pub(super) fn search(&mut self, job: Shared<Job>, attempt: u32, cx: &mut dyn Context<Self>) {
        let id = job.get().id;
        let flood = self.flood(Kind::Request, &job, Cost::MAX, cx);
        let until = cx.now() + self.config.window;
        let search = Search { job, attempt };
        self.searches.ask(Question::new(flood, search, until));
        cx.wake(until, Timer::Search(id));
    }

    /// If all offers are in, and this node's own, the best are those who may take the job.
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
        // The initiator is a candidate like all others, at no cost of messages (PROTOCOLS A2).
        if self.takes(about.job.get()) {
            let (cost, node) = (self.price(about.job.get(), cx), self.me);
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

    /// A job that was searched for has its last word.
    pub(super) fn end_search(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if self.searches.close(job).is_some() {
            cx.cancel(Timer::Search(job));
        }
    }
}

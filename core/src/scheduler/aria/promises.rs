//! What a site offered lately. A job for which it asked less than it would now was offered a place that is gone.

use alloc::collections::{BTreeMap, BTreeSet};

use super::Aria;
use super::config::Gifts;
use super::foreign::Offered;
use crate::custody::Gift;
use crate::id::JobId;
use crate::job::Job;
use crate::machine::Context;
use crate::queue::{Cost, LocalScheduler, QueuedJob};
use crate::time::{Span, Time};

/// The most offers that a site remembers; it forgets the oldest first.
pub const MOST_PROMISES: usize = 256;

/// A job that was given away so often is taken wherever it comes, so that it finds a site within the rounds of its home.
const MOST_REFUSALS: u32 = 3;

/// The number that a job carries which a foreign site has let out of its queue. If it came back, it would stand there at
/// the end: so it is taken where it comes.
pub(super) const OUT_OF_ITS_QUEUE: u32 = 1;

/// The last offers, one for each job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Promises {
    by_job: BTreeMap<JobId, Promise>,
    /// When each was made, and for which job: a site that has made as many as it remembers forgets one with each offer.
    by_age: BTreeSet<(Time, JobId)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Promise {
    pub(super) queued: QueuedJob,
    pub(super) cost: Cost,
    /// Until when the job may come. Only a foreign site keeps its place so long.
    pub(super) until: Time,
}

impl Promise {
    const fn job(&self) -> JobId {
        self.queued.job
    }

    const fn at(&self) -> Time {
        self.queued.arrived
    }
}

impl Promises {
    pub(super) const fn none() -> Self {
        Self {
            by_job: BTreeMap::new(),
            by_age: BTreeSet::new(),
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        let mut promises = self.by_job.iter();
        self.by_age.len() == self.by_job.len()
            && self.by_job.len() <= MOST_PROMISES
            && promises.all(|(job, it)| *job == it.job() && self.by_age.contains(&(it.at(), *job)))
    }

    fn make(&mut self, promise: Promise) {
        self.take(promise.job());
        self.by_age.insert((promise.at(), promise.job()));
        self.by_job.insert(promise.job(), promise);
        if self.by_job.len() > MOST_PROMISES
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.by_job.remove(&oldest);
        }
    }

    fn take(&mut self, job: JobId) -> Option<Promise> {
        let promise = self.by_job.remove(&job)?;
        self.by_age.remove(&(promise.at(), job));
        Some(promise)
    }

    /// The jobs that were offered a place and may still come.
    pub(super) fn open(&self, now: Time) -> impl Iterator<Item = QueuedJob> + '_ {
        let promises = self.by_job.values();
        let open = promises.filter(move |promise| now < promise.until);
        open.map(|promise| promise.queued)
    }
}

impl<S: LocalScheduler> Aria<S> {
    /// Remembers an offer, if the site keeps to what it offers.
    pub(super) fn promise(&mut self, promise: Promise) {
        if self.config.gifts == Gifts::AsOffered {
            self.promises.make(promise);
        }
    }

    /// Whether a job that is given to this site would be done later here than the site offered, by more than the window
    /// for offers, and may still find another site.
    pub(super) fn breaks_promise(&mut self, gift: &Gift, cx: &mut dyn Context<Self>) -> bool {
        let job: &Job = gift.job.get();
        let Some(promise) = self.promises.take(job.id) else {
            return false;
        };
        if gift.given() > MOST_REFUSALS || gift.carried == OUT_OF_ITS_QUEUE {
            return false;
        }
        // The time until a job is done shrinks as time goes on; its lateness does not.
        let passed = match job.deadline {
            None => cx.now() - promise.at(),
            Some(_) => Span::ZERO,
        };
        let offered =
            i128::from(promise.cost.as_micros()).saturating_sub(i128::from(passed.as_micros()));
        let grace = i128::from(self.config.window.as_micros());
        i128::from(self.price(job, Offered::IsBehind, cx).as_micros())
            > offered.saturating_add(grace)
    }
}

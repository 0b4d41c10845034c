use alloc::vec::Vec;

use crate::custody::{Candidates, MOST_CANDIDATES};
use crate::id::{JobId, NodeId};
use crate::overlay::flood::FloodId;
use crate::queue::Cost;
use crate::time::Time;

/// How many offers are kept for a job: the best ones.
pub const MOST_OFFERS: usize = MOST_CANDIDATES;

/// What a node would take for a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Offer {
    /// What it would cost.
    pub(super) cost: Cost,
    /// Who.
    pub(super) node: NodeId,
}

/// The best offers for a job, the cheapest first; of two that ask the same, that of the lower id.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Offers(heapless::Vec<Offer, MOST_OFFERS>);

impl Offers {
    /// Hears an offer. The last one of a node counts.
    pub(super) fn hear(&mut self, offer: Offer) {
        self.0.retain(|known| known.node != offer.node);
        let index = match canary!(LastOfferFirst) {
            true => 0,
            false => self.0.partition_point(|known| *known < offer),
        };
        if self.0.is_full() {
            if index >= MOST_OFFERS {
                return;
            }
            self.0.pop();
        }
        // There is room now.
        let _ = self.0.insert(index, offer);
    }

    pub(super) fn best(&self) -> Option<Offer> {
        self.0.first().copied()
    }

    /// Who offered, the cheapest first.
    pub(super) fn candidates(&self) -> Candidates {
        self.0.iter().map(|offer| offer.node).collect()
    }
}

/// A flood that asks for offers for a job, and what came of it so far.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Question<About> {
    /// Its name, which has that of the job in it.
    pub(super) flood: FloodId,
    /// What else is to be known when the offers are in.
    pub(super) about: About,
    pub(super) offers: Offers,
    /// Until when offers are waited for.
    pub(super) until: Time,
}

impl<About> Question<About> {
    pub(super) fn new(flood: FloodId, about: About, until: Time) -> Self {
        Self {
            flood,
            about,
            offers: Offers::default(),
            until,
        }
    }

    const fn job(&self) -> JobId {
        JobId::new(self.flood.sequence)
    }
}

/// The questions that a node has asked, at most one about each job, in the order of jobs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Questions<About>(Vec<Question<About>>);

impl<About> Questions<About> {
    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    fn index_of(&self, job: JobId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&job, Question::job)
    }

    /// Asks. What was asked about the same job before is asked no more.
    pub(super) fn ask(&mut self, question: Question<About>) {
        match self.index_of(question.job()) {
            Ok(at) => {
                if let Some(known) = self.0.get_mut(at) {
                    *known = question;
                }
            }
            Err(at) => self.0.insert(at, question),
        }
    }

    /// What is asked about a job.
    pub(super) fn about(&self, job: JobId) -> Option<&Question<About>> {
        self.0.get(self.index_of(job).ok()?)
    }

    /// Hears an offer, if it answers something that is still asked. Whether it does.
    pub(super) fn hear(&mut self, flood: FloodId, offer: Offer) -> bool {
        let index = self.index_of(JobId::new(flood.sequence));
        let asked = index.ok().and_then(|at| self.0.get_mut(at));
        let Some(question) = asked.filter(|question| question.flood == flood) else {
            return false;
        };
        question.offers.hear(offer);
        true
    }

    /// Asks no more about a job.
    pub(super) fn close(&mut self, job: JobId) -> Option<Question<About>> {
        let at = self.index_of(job).ok()?;
        Some(self.0.remove(at))
    }

    pub(super) fn is_sound(&self) -> bool {
        let in_order = self.0.is_sorted_by(|a, b| a.job() < b.job());
        in_order && self.0.iter().all(|asked| asked.offers.0.is_sorted())
    }
}

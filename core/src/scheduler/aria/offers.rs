use alloc::vec::Vec;

use crate::custody::{Candidates, MOST_CANDIDATES};
use crate::id::{JobId, NodeId};
use crate::overlay::flood::FloodId;
use crate::queue::Cost;
use crate::time::Time;

/// The most offers that are kept for a job: the best ones.
pub const MOST_OFFERS: usize = MOST_CANDIDATES;

/// An offer of a site for a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Offer {
    /// The cost of the job at the site.
    pub(super) cost: Cost,
    /// The site that offers.
    pub(super) node: NodeId,
}

/// The best offers for a job, the cheapest first; ties are broken by the lower id.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Offers(heapless::Vec<Offer, MOST_OFFERS>);

impl Offers {
    /// Adds an offer. It replaces an earlier one of the same node.
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
        // This succeeds: there is room now.
        let _ = self.0.insert(index, offer);
    }

    pub(super) fn best(&self) -> Option<Offer> {
        self.0.first().copied()
    }

    /// The nodes that offered, the cheapest first.
    pub(super) fn candidates(&self) -> Candidates {
        self.0.iter().map(|offer| offer.node).collect()
    }
}

/// A flood that asks for offers for a job, and the offers so far.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Question<About> {
    /// The name of the flood, which contains the id of the job.
    pub(super) flood: FloodId,
    /// What else is needed when the window is over.
    pub(super) about: About,
    pub(super) offers: Offers,
    /// Until when offers are collected.
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

    /// Adds a question. It replaces an earlier one about the same job.
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

    /// The open question about a job.
    pub(super) fn about(&self, job: JobId) -> Option<&Question<About>> {
        self.0.get(self.index_of(job).ok()?)
    }

    /// Adds an offer to the question that it answers. Returns whether there is one.
    pub(super) fn hear(&mut self, flood: FloodId, offer: Offer) -> bool {
        let index = self.index_of(JobId::new(flood.sequence));
        let asked = index.ok().and_then(|at| self.0.get_mut(at));
        let Some(question) = asked.filter(|question| question.flood == flood) else {
            return false;
        };
        question.offers.hear(offer);
        true
    }

    /// Takes out the question about a job.
    pub(super) fn close(&mut self, job: JobId) -> Option<Question<About>> {
        let at = self.index_of(job).ok()?;
        Some(self.0.remove(at))
    }

    pub(super) fn is_sound(&self) -> bool {
        let in_order = self.0.is_sorted_by(|a, b| a.job() < b.job());
        in_order && self.0.iter().all(|asked| asked.offers.0.is_sorted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;

    #[test]
    fn a_new_question_replaces_an_earlier_one_about_the_same_job() {
        let flood = |job, round| FloodId {
            origin: NodeId::new(1),
            sequence: job,
            kind: 0,
            round,
        };
        let mut questions = Questions::none();
        for (job, round) in [(7, 1), (3, 1), (7, 2)] {
            questions.ask(Question::new(flood(job, round), (), Time::ZERO));
        }
        assert_eq!(questions.len(), 2);
        let asked = questions.about(JobId::new(7)).unwrap();
        assert_eq!(asked.flood, flood(7, 2));
    }
}

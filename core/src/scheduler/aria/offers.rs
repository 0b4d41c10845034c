use crate::id::NodeId;
use crate::queue::Cost;

/// How many offers are kept for a job: the best ones.
pub const MOST_OFFERS: usize = 4;

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
        self.forget(offer.node);
        let place = self.0.partition_point(|known| *known < offer);
        if self.0.is_full() {
            if place >= MOST_OFFERS {
                return;
            }
            self.0.pop();
        }
        // There is room now.
        let _ = self.0.insert(place, offer);
    }

    /// Takes the best.
    pub(super) fn take_best(&mut self) -> Option<Offer> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// Hears no more of a node.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.0.retain(|known| known.node != node);
    }

    pub(super) fn is_in_order(&self) -> bool {
        self.0.is_sorted()
    }
}

//! Greedy routing: each hop is to the neighbour whose zone is nearest to the point, and strictly nearer than the own.

use super::member::Member;
use super::space::Point;
use crate::id::NodeId;

/// Where something that goes to a point is to be sent next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hop {
    /// Nowhere: the point is in this node's zone.
    Here,
    /// To this neighbour, which is nearer.
    To(NodeId),
    /// Nobody nearer is known: this node is not in the overlay, or a neighbour is missing.
    Stuck,
}

impl<const D: usize> Member<D> {
    /// The next hop to a point. Ties go to the lower id.
    pub(super) fn next_hop(&self, point: &Point<D>) -> Hop {
        let own = self.leaf.zone.distance(point);
        if self.leaf.zone.contains(point) {
            return Hop::Here;
        }
        let neighbours = self.peers.neighbours();
        let distances = neighbours.map(|peer| (peer.entry.zone.distance(point), peer.id()));
        match distances.min() {
            Some((distance, id)) if distance < own => Hop::To(id),
            _ => Hop::Stuck,
        }
    }

    /// Whether something on its way to a point comes from a neighbour that is no farther from it. That one is wrong about this zone, and
    /// would have it back before long: among liars it would go round for ever, and become more on its way.
    pub(super) fn is_astray(&self, from: NodeId, point: &Point<D>) -> bool {
        let mut senders = self.peers.lives(from).iter();
        let own = self.leaf.zone.distance(point);
        senders.any(|peer| {
            peer.is_living() && peer.first_hand && peer.entry.zone.distance(point) <= own
        })
    }
}

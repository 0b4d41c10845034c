//! Greedy routing: each hop is to the neighbour whose zone is nearest to the point, and strictly nearer than the own.
//! By it a node looks for neighbours that it does not know, and for another node that has its own point.

use alloc::vec::Vec;

use super::Can;
use super::member::Member;
use super::message::{Entry, Message, Name};
use super::peers::Neighbour;
use super::space::Point;
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;

/// Through how many nodes a node looks for a neighbour whom it does not know.
const SOUGHT: usize = 4;

/// How many searches of others a node passes on between two beats. There are few, but where liars have made nodes wrong about each other's
/// zones they go round, and become more on their way.
pub(super) const MOST_SEARCHES: usize = 64;

/// How many wishes to join, and searches, a node passes on between two beats: many may join through one node.
pub(super) const MOST_JOINS: usize = 512;

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

    /// Whether something on its way to a point comes from a neighbour that is no farther from it. That one is wrong
    /// about this zone, and would have it back before long: among liars it would go round for ever, and become more on
    /// its way.
    fn is_astray(&self, from: NodeId, point: &Point<D>) -> bool {
        let mut senders = self.peers.lives(from).iter();
        let own = self.leaf.zone.distance(point);
        senders.any(|peer| {
            peer.is_living() && peer.first_hand && peer.entry.zone.distance(point) <= own
        })
    }

    /// The next hop of what a sender passes on from its origin to a point, and how many hops it may take then; none if
    /// it must not go on.
    pub(super) fn onward(
        &self,
        from: NodeId,
        origin: NodeId,
        point: &Point<D>,
        hops: u16,
    ) -> (Hop, Option<u16>) {
        let is_astray = from != origin && self.is_astray(from, point);
        let hops = hops.min(self.config.hops).checked_sub(1);
        (self.next_hop(point), hops.filter(|_| !is_astray))
    }

    /// Looks for those who are behind its faces and whom it does not know, through nodes that may be anywhere.
    pub(super) fn seek_neighbours(&self, cx: &mut dyn Context<Can<D>>) {
        for point in self.gaps() {
            let near = self.peers.neighbours().map(Neighbour::id);
            let mut through: Vec<NodeId> = near.chain(self.contacts.iter()).collect();
            let (few, _) = cx.rng().sample(&mut through, SOUGHT);
            for to in few {
                self.seek(point, *to, cx);
            }
        }
    }

    /// Looks for its own point, through somebody who is anywhere. Who thinks to have it is somebody else, and hears of this node so.
    pub(super) fn seek_itself_at_times(&mut self, beat: u32, cx: &mut dyn Context<Can<D>>) {
        if let Some(through) = self.contacts.due(beat, |_| true) {
            // Until it is heard it has not answered, and others have their turns.
            self.contacts.defer(through);
            self.seek(self.point, through, cx);
        }
    }

    /// Looks for the owner of a point through this node.
    pub(super) fn seek(&self, point: Point<D>, through: NodeId, cx: &mut dyn Context<Can<D>>) {
        let (seeker, hops) = (self.entry(), self.config.hops);
        cx.send(
            through,
            Message::Seek {
                seeker,
                point,
                hops,
            },
        );
    }

    /// Whether a search or a wish to join is passed on: the same once between two beats, and no more than so many. Its sender asks again.
    pub(super) fn passes_on(&mut self, seeker: Name, point: Point<D>, most: usize) -> bool {
        let is_new = !self.passed_on.contains(&(seeker, point));
        let passes = is_new && self.passed_on.len() < most;
        if passes {
            self.passed_on.push((seeker, point));
        }
        passes
    }

    /// Somebody looks for the owner of a point, which touches it.
    pub(super) fn on_seek(
        &mut self,
        from: NodeId,
        seeker: Entry<D>,
        point: Point<D>,
        hops: u16,
        cx: &mut dyn Context<Can<D>>,
    ) {
        let id = seeker.name.id;
        if id == self.name.id {
            return;
        }
        match self.onward(from, id, &point, hops) {
            (Hop::Here, _) => {
                self.tell(id, cx);
                self.learn(&seeker, cx);
                self.introduce_to(&seeker, cx);
            }
            (Hop::To(next), Some(hops)) if self.passes_on(seeker.name, point, MOST_SEARCHES) => {
                self.meet(id);
                cx.send(
                    next,
                    Message::Seek {
                        seeker,
                        point,
                        hops,
                    },
                );
            }
            // Between the two there is a gap, so each of them has to know up to where.
            (Hop::Stuck, _) => {
                self.meet(id);
                self.tell(id, cx);
                self.learn(&seeker, cx);
            }
            (Hop::To(_), _) => {}
        }
    }
}

//! Greedy routing: each hop goes to the neighbour whose zone is nearest to the point, and strictly nearer than the own.
//! With it, a node searches for neighbours that it does not know, and for another node that owns its point, too.

use alloc::vec::Vec;

use super::Can;
use super::config::Config;
use super::member::Member;
use super::message::{Entry, Message, Name};
use super::peers::Neighbour;
use super::space::Point;
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;
use crate::time::{Span, Time};

/// Through how many nodes a node searches for an unknown neighbour.
const SOUGHT: usize = 4;

/// How many searches a node passes on between two beats, or in a [`SPELL`]. Usually there are few. But if liars made
/// nodes wrong about each other's zones, searches go round, and become more on their way.
pub(super) const MOST_SEARCHES: usize = 64;

/// How many join requests and searches a node passes on between two beats, or in a [`SPELL`]: many may join at once.
pub(super) const MOST_JOINS: usize = 512;

/// The time for which these limits hold if beats are rarer. A grid with a beat in an hour grows as fast as any other.
const SPELL: Span = Config::DEFAULT.period;

/// Where a message for a point is to be sent next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hop {
    /// Nowhere: this node's zone contains the point.
    Here,
    /// To this neighbour, which is nearer to the point.
    To(NodeId),
    /// No nearer neighbour is known: this node is not in the overlay, or a neighbour is missing.
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

    /// Whether a message for a point comes from a neighbour that is no farther from the point. That neighbour is wrong
    /// about this zone, and would soon get the message back. Among liars such a message goes round for ever, and
    /// becomes more on its way.
    pub(super) fn is_astray(&self, from: NodeId, point: &Point<D>) -> bool {
        let mut senders = self.peers.lives(from).iter();
        let own = self.leaf.zone.distance(point);
        senders.any(|peer| {
            peer.is_living() && peer.first_hand && peer.entry.zone.distance(point) <= own
        })
    }

    /// The next hop of a message from its origin to a point, and how many hops it may take then. The number is `None`
    /// if the message must not go on.
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

    /// Searches for the unknown neighbours behind its gaps, through neighbours and contacts.
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

    /// Searches for its own point through a contact. Another node that holds that point for its own hears of this one.
    pub(super) fn seek_itself_at_times(&mut self, beat: u32, cx: &mut dyn Context<Can<D>>) {
        if let Some(through) = self.contacts.due(beat, |_| true) {
            // A missed contact comes last until it is heard, so that the others have their turns.
            self.contacts.defer(through);
            self.seek(self.point, through, cx);
        }
    }

    /// Searches for the owner of a point, through a given node.
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

    /// Whether to pass on a search or a join request: each once between two beats or in a [`SPELL`], up to a limit. Its
    /// origin retries.
    pub(super) fn passes_on(
        &mut self,
        seeker: Name,
        point: Point<D>,
        most: usize,
        now: Time,
    ) -> bool {
        if now >= self.passed_since + SPELL {
            self.passed_on.clear();
        }
        if self.passed_on.is_empty() {
            self.passed_since = now;
        }
        let is_new = !self.passed_on.contains(&(seeker, point));
        let passes = is_new && self.passed_on.len() < most;
        if passes {
            self.passed_on.push((seeker, point));
        }
        passes
    }

    /// A seeker looks for the owner of a point beside its zone, or of its own point.
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
            (Hop::To(next), Some(hops))
                if self.passes_on(seeker.name, point, MOST_SEARCHES, cx.now()) =>
            {
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
            // There is a gap between the two nodes, so each must know where the zone of the other begins.
            (Hop::Stuck, _) => {
                self.meet(id);
                self.tell(id, cx);
                self.learn(&seeker, cx);
            }
            (Hop::To(_), _) => {}
        }
    }
}

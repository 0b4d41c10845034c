//! What busy nodes have left, kept at the owner of that point: P4's Balloon model (PROTOCOLS 3.3).
//!
//! A node that runs something and has cores left sends a balloon to the owner of the point of what is left. Balloons
//! are soft state: the owner forgets one that is not sent again for three rounds, so a change of zones moves none.

use alloc::vec::Vec;

use super::message::Message;
use super::status::Status;
use super::{Desktop, Residues, Shared, space};
use crate::id::NodeId;
use crate::machine::Context;
use crate::overlay::can::{Hop, Point};
use crate::resource::{Dimensions, Requirement};
use crate::time::Time;

/// The most balloons at one node.
const MOST: usize = 256;

/// For how many rounds a balloon is remembered.
const ROUNDS: u64 = 3;

/// The balloons that a node keeps, and its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Balloons<const D: usize> {
    /// In the order of nodes.
    here: Vec<Balloon<D>>,
    /// The version of the node's own balloon.
    version: u64,
    /// The point of the node's own balloon.
    own: Option<Point<D>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Balloon<const D: usize> {
    node: NodeId,
    version: u64,
    status: Shared<Status>,
    point: Point<D>,
    until: Time,
}

impl<const D: usize> Default for Balloons<D> {
    fn default() -> Self {
        Self {
            here: Vec::new(),
            version: 0,
            own: None,
        }
    }
}

impl<const D: usize> Balloons<D> {
    fn index_of(&self, node: NodeId) -> Result<usize, usize> {
        self.here
            .binary_search_by_key(&node, |balloon| balloon.node)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Point<D>)> {
        self.here
            .iter()
            .map(|balloon| (balloon.node, &balloon.point))
    }

    /// The status in each balloon here.
    pub(super) fn statuses(&self) -> impl Iterator<Item = (NodeId, &Status)> {
        self.here
            .iter()
            .map(|balloon| (balloon.node, balloon.status.get()))
    }

    /// Starts versions at the clock, above those of earlier lives, which owners may still have.
    pub(super) fn begin(&mut self, now: Time) {
        self.version = now.as_micros();
    }

    pub(super) fn clear(&mut self) {
        self.here.clear();
    }

    /// Counts one more job in the balloon of a node, before the node itself tells of it.
    pub(super) fn expect(&mut self, node: NodeId, dimensions: &Dimensions, needs: &Requirement) {
        if let Ok(index) = self.index_of(node)
            && let Some(balloon) = self.here.get_mut(index)
        {
            balloon.status = Shared::new(balloon.status.get().with(dimensions, needs));
        }
    }

    fn put(&mut self, balloon: Balloon<D>) {
        match self.index_of(balloon.node) {
            Ok(index) => {
                if let Some(known) = self.here.get_mut(index)
                    && known.version <= balloon.version
                {
                    *known = balloon;
                }
            }
            Err(index) if self.here.len() < MOST => self.here.insert(index, balloon),
            Err(_) => {}
        }
    }

    fn remove(&mut self, node: NodeId, version: u64) {
        if let Ok(index) = self.index_of(node)
            && self
                .here
                .get(index)
                .is_some_and(|known| known.version <= version)
        {
            self.here.remove(index);
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        self.here.len() <= MOST && self.here.is_sorted_by(|a, b| a.node < b.node)
    }
}

impl<const D: usize> Desktop<D> {
    /// In each round: forgets old balloons, and sends this node's own one to the owner of its point.
    pub(super) fn refresh_balloon(&mut self, cx: &mut dyn Context<Self>) {
        if self.config.residues != Residues::Balloons {
            return;
        }
        let (now, can) = (cx.now(), &self.can);
        self.balloons
            .here
            .retain(|balloon| balloon.until > now && can.next_hop(&balloon.point) == Hop::Here);
        let status = self.status();
        let free = status.get().free;
        let has = status.get().running > 0 && free.value(self.cores) > 0 && self.duty.takes_jobs();
        // With the node's own virtual coordinates, so that the point does not jump about.
        let at = has.then(|| {
            let (dimensions, most) = (self.dimensions(), &self.config.most);
            let mut coordinates = *self.can.point().coordinates();
            for (at, (k, ..)) in coordinates.iter_mut().zip(dimensions.iter()) {
                *at = space::coordinate(free.value(k), most.value(k));
            }
            Point::new(coordinates)
        });
        let before = self.balloons.own;
        if at.is_none() && before.is_none() {
            return;
        }
        let last = self.balloons.version;
        let version = last.saturating_add(1);
        self.balloons.version = version;
        self.balloons.own = at;
        let hops = self.config.hops;
        if let Some(before) = before.filter(|before| Some(*before) != at) {
            // Only the old version: the new balloon may go to the same owner, and arrive first.
            self.deflate(self.me, (self.me, last), before, hops, cx);
        }
        if let Some(at) = at {
            self.inflate(self.me, (self.me, version, status), at, hops, cx);
        }
    }

    /// Sends a balloon on to the owner of its point, or keeps it.
    pub(super) fn inflate(
        &mut self,
        from: NodeId,
        (node, version, status): (NodeId, u64, Shared<Status>),
        point: Point<D>,
        hops: u16,
        cx: &mut dyn Context<Self>,
    ) {
        match (self.can.next_hop(&point), hops.checked_sub(1)) {
            // A balloon that goes astray is dropped: the next round sends another.
            (Hop::To(to), Some(left))
                if !self.can.is_astray(from, &point) && self.relay.balloons.spend() =>
            {
                let hops = left.min(self.config.hops);
                let message = Message::Inflate {
                    node,
                    version,
                    status,
                    point,
                    hops,
                };
                cx.send(to, message);
            }
            (Hop::Here, _)
                if node != self.me
                    && status
                        .get()
                        .is_possible(self.dimensions(), &self.config.most) =>
            {
                let until = cx.now() + self.config.round.times(ROUNDS);
                self.balloons.put(Balloon {
                    node,
                    version,
                    status,
                    point,
                    until,
                });
            }
            _ => {}
        }
    }

    /// Sends the end of a balloon on to the owner of its point, or forgets the balloon.
    pub(super) fn deflate(
        &mut self,
        from: NodeId,
        (node, version): (NodeId, u64),
        point: Point<D>,
        hops: u16,
        cx: &mut dyn Context<Self>,
    ) {
        match (self.can.next_hop(&point), hops.checked_sub(1)) {
            // A balloon that goes astray is dropped: the next round sends another.
            (Hop::To(to), Some(left))
                if !self.can.is_astray(from, &point) && self.relay.balloons.spend() =>
            {
                let hops = left.min(self.config.hops);
                let message = Message::Deflate {
                    node,
                    version,
                    point,
                    hops,
                };
                cx.send(to, message);
            }
            (Hop::Here, _) => self.balloons.remove(node, version),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{Capability, Speed};

    #[test]
    fn too_many_or_unsorted_balloons_are_not_sound() {
        let none = Capability::none();
        let status = Shared::new(Status {
            total: none,
            free: none,
            waiting: none,
            queue_len: 0,
            running: 0,
            head_passed: 0,
            least: none,
            oldest: None,
            speed: Speed::BASELINE,
        });
        let balloon = |n: usize| Balloon {
            node: NodeId::new(n as u64),
            version: 0,
            status: status.clone(),
            point: Point::new([0, 0]),
            until: Time::ZERO,
        };
        let full = Balloons::<2> {
            here: (0..MOST).map(balloon).collect(),
            ..Balloons::default()
        };
        assert!(full.is_sound());
        let (mut more, mut swapped, mut twice) = (full.clone(), full.clone(), full);
        more.here.push(balloon(MOST));
        swapped.here.swap(0, 1);
        twice.here[1] = balloon(0);
        assert!(!more.is_sound() && !swapped.is_sound() && !twice.is_sound());
    }
}

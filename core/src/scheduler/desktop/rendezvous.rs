//! The way into the second space.
//!
//! A joiner asks the rendezvous, the owner of the origin of the *primary* space. The anchor, the owner of the origin of
//! the second space, registers there with some neighbours, and the joiner gets these names. If no anchor has registered
//! for long enough, the joiner is told to found the space. Two anchors mean two spaces: each hears of the other at the
//! rendezvous, and the overlay merges them. The registry is soft: a new rendezvous first waits for an anchor.

use super::Desktop;
use super::message::{Errand, Members, Message, Stand};
use crate::id::NodeId;
use crate::machine::Context;
use crate::overlay::can::{self, Hop, Point};
use crate::time::Time;

/// For how many periods a registration lasts: longer than it takes to notice that an anchor crashed.
const BELIEVED: u64 = 12;

/// How many periods a node that was told to found the space has to do so.
const FOUNDING: u64 = 2;

/// For how many periods a new rendezvous waits for an anchor before it tells a joiner to found the space.
const UNSURE: u64 = 2;

/// What the rendezvous knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Registry {
    /// Since when this node is the rendezvous, if it is.
    pub(super) since: Option<Time>,
    /// The last anchor that registered, and some of its neighbours.
    pub(super) members: Members,
    pub(super) until: Time,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            since: None,
            members: Members::new(),
            until: Time::ZERO,
        }
    }
}

/// The owner of this point is the rendezvous in the primary space, and the anchor in the second.
pub(super) fn origin<const D: usize>() -> Point<D> {
    Point::new([0; D])
}

impl<const D: usize> Desktop<D> {
    /// Tells the rendezvous if this node has become the anchor, or was the anchor and left the second space.
    pub(super) fn tell_anchor(&mut self, cx: &mut dyn Context<Self>) {
        let Some(space) = &mut self.residue_space else {
            return;
        };
        let holds = space.holds_origin();
        let was = core::mem::replace(&mut space.is_anchor, holds);
        if holds && !was {
            self.register(cx);
        } else if was && !holds && self.is_outside_of_residue_space() {
            self.enter(self.me, Stand::Gone, self.config.hops, cx);
        }
    }

    /// If this node is the anchor, it registers at the rendezvous, with some neighbours.
    pub(super) fn register(&mut self, cx: &mut dyn Context<Self>) {
        let Some(space) = self.residue_space.as_ref() else {
            return;
        };
        if space.holds_origin() {
            let around = space.can.neighbours().map(can::Neighbour::id);
            // The rendezvous needs one place for the anchor itself.
            let around = around.take(Members::CAPACITY.saturating_sub(1));
            let stand = Stand::Inside(around.collect());
            self.enter(self.me, stand, self.config.hops, cx);
        }
    }

    /// Notes whether this node is the rendezvous: whether its primary zone has the origin.
    pub(super) fn note_rendezvous(&mut self, now: Time) {
        let holds = self.can.zone().is_some_and(|zone| zone.contains(&origin()));
        if let Some(space) = &mut self.residue_space {
            match (holds, space.registry.since) {
                (true, None) => space.registry.since = Some(now),
                (false, Some(_)) => space.registry = Registry::default(),
                _ => {}
            }
        }
    }

    /// Whether an errand to the rendezvous would come back to the node that sent it here. Among liars it would go round
    /// until its hops are used up.
    pub(super) fn would_return_to(&self, from: NodeId) -> bool {
        let origin = origin();
        matches!(self.can.next_hop(&origin), Hop::To(_)) && self.can.is_astray(from, &origin)
    }

    /// Sends a node's stand on to the rendezvous, or handles it if this node is the rendezvous.
    pub(super) fn enter(
        &mut self,
        node: NodeId,
        stand: Stand,
        hops: u16,
        cx: &mut dyn Context<Self>,
    ) {
        let hops = hops.min(self.config.hops);
        match (self.can.next_hop(&origin()), hops.checked_sub(1)) {
            (Hop::To(to), Some(hops)) if self.relay.enters.spend() => {
                self.run_errand(to, Errand::Enter { node, stand, hops }, cx);
            }
            (Hop::Here, _) => self.at_rendezvous(node, stand, cx),
            // The node asks again.
            _ => {}
        }
    }

    fn at_rendezvous(&mut self, node: NodeId, stand: Stand, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        self.note_rendezvous(now);
        let Some(space) = &mut self.residue_space else {
            return;
        };
        let period = space.config.period;
        let registry = &mut space.registry;
        if registry.until <= now {
            registry.members.clear();
        }
        let is_anchor = registry.members.first() == Some(&node);
        match stand {
            Stand::Gone => registry.members.retain(|member| *member != node),
            Stand::Inside(around) => {
                registry.members.retain(|member| *member != node);
                let others = core::mem::take(&mut registry.members);
                registry.until = now + period.times(BELIEVED);
                registry.members.extend([node]);
                let around = around.into_iter().filter(|member| *member != node);
                registry.members.extend(around);
                // If another anchor was registered, this one hears of it, so that two spaces merge.
                if !is_anchor && !others.is_empty() {
                    self.tell_members(node, others, cx);
                }
            }
            Stand::Outside => {
                registry.members.retain(|member| *member != node);
                let unsure = period.times(UNSURE);
                if !registry.members.is_empty() {
                    let members = registry.members.clone();
                    self.tell_members(node, members, cx);
                } else if registry.since.is_some_and(|since| since + unsure <= now) {
                    registry.members.extend([node]);
                    registry.until = now + period.times(FOUNDING);
                    self.tell_members(node, Members::new(), cx);
                }
            }
        }
    }

    fn tell_members(&mut self, node: NodeId, members: Members, cx: &mut dyn Context<Self>) {
        if node == self.me {
            self.on_members(members, cx);
        } else {
            cx.send(node, Message::Members(members));
        }
    }
}

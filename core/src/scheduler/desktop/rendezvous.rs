//! The way into the second space.
//!
//! It has few members, who come and go, so nobody is known to be one. The owner of the origin of the *primary* space is the rendezvous. It
//! hears of the second space from the owner of the origin there, its anchor, and tells who wants to get in of that one and some around it; or,
//! if it has heard of nobody for long enough, to found the space. Two anchors at once mean two spaces: each hears of the other at the
//! rendezvous, and the overlay makes one of them. What the rendezvous knows is soft: who has just become it waits until an anchor would have said so.

use super::Desktop;
use super::message::{Errand, Members, Message, Stand};
use crate::id::NodeId;
use crate::machine::Context;
use crate::overlay::can::{self, Hop, Point};
use crate::time::Time;

/// For how many periods the rendezvous believes that an anchor is there. Longer than it takes to notice that one crashed.
const BELIEVED: u64 = 12;

/// For how many periods somebody has to found the space who was told to.
const FOUNDING: u64 = 2;

/// For how many periods a new rendezvous waits for an anchor before it has somebody found the space.
const UNSURE: u64 = 2;

/// What the rendezvous knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Registry {
    /// Since when this node is the rendezvous, if it is.
    pub(super) since: Option<Time>,
    /// The last anchor that it heard of, and some around it.
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

/// Where the rendezvous is in the primary space, and the anchor in the second.
pub(super) fn origin<const D: usize>() -> Point<D> {
    Point::new([0; D])
}

impl<const D: usize> Desktop<D> {
    /// Says so to the rendezvous if this node has become the anchor, or is none any more because it left.
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

    /// The anchor says that it is there, and who is around it.
    pub(super) fn register(&mut self, cx: &mut dyn Context<Self>) {
        let Some(space) = self.residue_space.as_ref() else {
            return;
        };
        if space.holds_origin() {
            let around = space.can.neighbours().map(can::Neighbour::id);
            // One place is the anchor's own.
            let around = around.take(Members::new().capacity().saturating_sub(1));
            let stand = Stand::Inside(around.collect());
            self.enter(self.me, stand, self.config.hops, cx);
        }
    }

    /// This node is the rendezvous as long as the origin of the primary space is its own.
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

    /// Sends word of how somebody stands to the second space to the rendezvous, or is that.
    pub(super) fn enter(
        &mut self,
        node: NodeId,
        stand: Stand,
        hops: u16,
        cx: &mut dyn Context<Self>,
    ) {
        let hops = hops.min(self.config.hops);
        match (self.can.next_hop(&origin()), hops.checked_sub(1)) {
            (Hop::To(to), Some(hops)) => {
                self.run_errand(to, Errand::Enter { node, stand, hops }, cx);
            }
            (Hop::Here, _) => self.at_rendezvous(node, stand, cx),
            // Whoever asks does so again.
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
                let room = registry.members.capacity().saturating_sub(1);
                registry.members.extend(around.take(room));
                // Of two anchors each hears of the other.
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
            self.hear_members(members, cx);
        } else {
            cx.send(node, Message::Members(members));
        }
    }
}

//! Removing links: the disconnection rule (PROTOCOLS 4.2, 4.3).
//!
//! An ant walks from one end of a link to the other, on the way around the link. Each node on the way checks that both
//! of its links of the way exist, and holds them for a while. When the ant arrives, the other end drops the link and
//! tells the asker. So no link ends without another way, and no two links end because of each other.

use alloc::vec::Vec;

use super::routes::Routes;
use super::{Blatant, Change, ChangeId, Life, Message, Neighbour, Purpose, Way};
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;

/// A node does not give up a link if fewer than these would be left.
const FEWEST_LINKS: usize = 2;

impl Blatant {
    /// The disconnection rule: if there is a short way around a link, the end with the lower id ends the link.
    pub(super) fn unlink_a_shortcut(&mut self, routes: &Routes, cx: &mut dyn Context<Self>) {
        let most = u16::from(self.config.detour);
        let is_short = |it: &&Neighbour| {
            let detour = routes.detour(it.id);
            self.me < it.id && detour.is_some_and(|links| links <= most)
        };
        let shortcuts = self.neighbours.iter().filter(is_short);
        let shortcuts: Vec<NodeId> = shortcuts.map(|it| it.id).collect();
        self.unlink_one_of(shortcuts, routes, cx);
    }

    /// A node with too many links, after joins or repairs, ends an optimising link, or any link if none optimises.
    pub(super) fn unlink_what_is_too_much(&mut self, routes: &Routes, cx: &mut dyn Context<Self>) {
        let none = self.neighbours.optimising() == 0;
        let too_much = self.neighbours.iter();
        let too_much = too_much.filter(|it| none || it.purpose == Purpose::Optimisation);
        let too_much: Vec<NodeId> = too_much.map(|it| it.id).collect();
        self.unlink_one_of(too_much, routes, cx);
    }

    /// Sends an ant around one of these links, if both ends keep enough links and no other change relies on it.
    fn unlink_one_of(
        &mut self,
        mut links: Vec<NodeId>,
        routes: &Routes,
        cx: &mut dyn Context<Self>,
    ) {
        let now = cx.now();
        links.retain(|id| {
            self.neighbours.get(*id).is_some_and(|it| {
                let around = it.around.as_ref();
                let can_spare = around.is_none_or(|own| own.neighbours.len() > FEWEST_LINKS);
                can_spare && !it.is_held(now) && routes.way_around(self.me, *id).is_some()
            })
        });
        if self.neighbours.len() <= FEWEST_LINKS {
            return;
        }
        let Some(&peer) = cx.rng().pick(&links) else {
            return;
        };
        let Some(way) = routes.way_around(self.me, peer) else {
            return;
        };
        let Some(&first) = way.get(1) else {
            return;
        };
        let deadline = now + self.config.timeout;
        let Life::Running(running) = &mut self.life else {
            return;
        };
        if running.change != Change::Idle {
            return;
        }
        let change = running.next_change();
        running.change = Change::Unlinking {
            change,
            peer,
            deadline,
        };
        self.hold(first, cx);
        cx.send(first, Message::Unlink { change, way });
    }

    /// Holds a link for a while: this node does not end it, for the change of an ant relies on it.
    fn hold(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) {
        let until = cx.now() + self.config.timeout;
        if let Some(neighbour) = self.neighbours.get_mut(peer) {
            neighbour.held_until = neighbour.held_until.max(until);
        }
    }

    /// An ant that ends a link passes through this node, or arrives at the other end of the link.
    pub(super) fn on_unlink(
        &mut self,
        from: NodeId,
        change: ChangeId,
        way: Way,
        cx: &mut dyn Context<Self>,
    ) {
        let (me, now) = (self.me, cx.now());
        let Life::Running(running) = &self.life else {
            return;
        };
        let Some(place) = way.iter().position(|id| *id == me) else {
            return;
        };
        let Some(before) = place.checked_sub(1).and_then(|before| way.get(before)) else {
            return;
        };
        let Some(&asker) = way.first() else {
            return;
        };
        let ending = match &running.change {
            Change::Unlinking { peer, .. } => Some(*peer),
            Change::Idle | Change::Linking { .. } => None,
        };
        let is_sure = |id: NodeId| self.neighbours.contains(id) && ending != Some(id);
        if *before != from || !is_sure(from) {
            cx.send(asker, Message::Kept { change });
            return;
        }
        if let Some(&next) = place.checked_add(1).and_then(|next| way.get(next)) {
            if is_sure(next) {
                self.hold(from, cx);
                self.hold(next, cx);
                cx.send(next, Message::Unlink { change, way });
            } else {
                cx.send(asker, Message::Kept { change });
            }
            return;
        }
        let link = self.neighbours.get(asker);
        let is_free = link.is_some_and(|link| !link.is_held(now));
        let can_spare = self.neighbours.len() > FEWEST_LINKS;
        if asker != from && is_free && can_spare && running.change == Change::Idle {
            self.hold(from, cx);
            self.disconnect(asker, cx);
            cx.send(asker, Message::NotLinked);
            self.publish(None, cx);
        } else {
            cx.send(asker, Message::Kept { change });
        }
    }

    /// The link that this node wanted to end stays.
    pub(super) fn on_kept(&mut self, answered: ChangeId) {
        if let Life::Running(running) = &mut self.life
            && let Change::Unlinking { change, .. } = running.change
            && change == answered
        {
            running.change = Change::Idle;
        }
    }

    /// A peer says that it has no link to this node: this end drops the link, too.
    pub(super) fn on_not_linked(&mut self, from: NodeId, cx: &mut dyn Context<Self>) {
        if self.disconnect(from, cx).is_some() {
            if let Life::Running(running) = &mut self.life {
                running.reunion.hasten(running.iteration, &self.config);
            }
            self.publish(None, cx);
        }
    }
}

//! Links that go: the disconnection rule (PROTOCOLS 4.2, 4.3).
//!
//! An ant walks the other way from one end of a link to the other. Each node on it makes sure that the way goes on, and holds the two
//! links that it is made of for a while. Only when the ant has arrived does the other end drop the link, and tell the one that asked.
//! So no link goes unless there is another way, and no two links go because of each other.

use alloc::vec::Vec;

use super::routes::Routes;
use super::{Blatant, Change, ChangeId, Life, Message, Neighbour, Purpose, Way};
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;

/// Nobody gives a link away that leaves it with fewer.
const FEWEST_LINKS: usize = 2;

impl Blatant {
    /// The disconnection rule: a link around which there is a short way is ended by the end with the lower id.
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

    /// Whoever has too many links, because others joined or repaired, ends one that optimises, or else any that it can do without.
    pub(super) fn unlink_what_is_too_much(&mut self, routes: &Routes, cx: &mut dyn Context<Self>) {
        let none = self.neighbours.optimising() == 0;
        let too_much = self.neighbours.iter();
        let too_much = too_much.filter(|it| none || it.purpose == Purpose::Optimisation);
        let too_much: Vec<NodeId> = too_much.map(|it| it.id).collect();
        self.unlink_one_of(too_much, routes, cx);
    }

    /// Sends an ant around one of these links, if neither end would be left with too few and nobody relies on it.
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

    /// For a while, this node does not end a link that another relies on.
    fn hold(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) {
        let until = cx.now() + self.config.timeout;
        if let Some(neighbour) = self.neighbours.get_mut(peer) {
            neighbour.held_until = neighbour.held_until.max(until);
        }
    }

    /// An ant that wants a link ended comes by, or arrives at the link's other end.
    pub(super) fn receive_unlink(
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

    /// A link that was to go stays.
    pub(super) fn kept(&mut self, answered: ChangeId) {
        if let Life::Running(running) = &mut self.life
            && let Change::Unlinking { change, .. } = running.change
            && change == answered
        {
            running.change = Change::Idle;
        }
    }

    /// Somebody says that there is no link between the two: then there is none.
    pub(super) fn not_linked(&mut self, from: NodeId, cx: &mut dyn Context<Self>) {
        if self.disconnect(from, cx).is_some() {
            self.publish(None, cx);
        }
    }
}

//! Joining by random walks, and coming back from an empty view (PROTOCOLS 1.4, 1.5).
//!
//! A walk ends at a node that gives one of its links to the joiner, and takes one to the joiner instead. So the joiner
//! gets about as many links as other nodes have, about as many lead to it, and little changes for the others.

use super::{Cyclon, Key, Life, Message, Notice, Record};
use crate::id::{Incarnation, NodeId};
use crate::machine::Context;
use crate::overlay::contacts::{ASK_AGAIN, HALF};
use crate::overlay::view::{Link, Links, NotInserted, Refreshed};

impl<const C: usize, const L: usize> Cyclon<C, L> {
    /// Asks a node for an introduction, and keeps it as a contact.
    pub(super) fn join(&mut self, introducer: NodeId, cx: &mut dyn Context<Self>) {
        let Life::Gossiping(_) = self.life else {
            return;
        };
        if introducer == self.view.owner() {
            return;
        }
        self.know(introducer, cx);
        self.ask(introducer, cx);
    }

    /// Keeps a node as a contact.
    pub(super) fn know(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) {
        if let Life::Gossiping(_) = self.life
            && peer != self.view.owner()
            && !self.contacts.known().contains(&peer)
        {
            self.note([peer], cx);
        }
    }

    fn ask(&mut self, introducer: NodeId, cx: &mut dyn Context<Self>) {
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        gossip.empty_cycles = 0;
        gossip.awaited_gifts = self.view.limit();
        let incarnation = gossip.incarnation;
        cx.send(introducer, Message::Join { incarnation });
    }

    /// Writes a few peers of the view to disk as contacts, for a time when the view is empty.
    pub(super) fn remember(&mut self, cx: &mut dyn Context<Self>) {
        let few: Links<HALF> = self.view.sample(HALF, cx.rng());
        if !few.is_empty() {
            self.note(few.iter().map(|link| link.id), cx);
        }
    }

    fn note(&mut self, peers: impl IntoIterator<Item = NodeId>, cx: &mut dyn Context<Self>) {
        self.contacts.note(peers);
        if let Some(record) = self.contacts.record([]) {
            cx.persist(Key::Known, Record::Known(record));
        }
    }

    /// A cycle with an empty view. After some of them, and in every seventh cycle, this node asks the next contact for
    /// help. The contacts may all be gone, so when all were asked, it tells the host.
    pub(super) fn spend_cycle_alone(&mut self, cycle: u32, cx: &mut dyn Context<Self>) {
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        gossip.empty_cycles = gossip.empty_cycles.saturating_add(1);
        let is_turn = cycle > 0 && cycle.is_multiple_of(ASK_AGAIN);
        if gossip.empty_cycles < self.config.patience && !is_turn {
            return;
        }
        gossip.empty_cycles = 0;
        match self.contacts.next_for_help() {
            Some(known) => self.ask(known, cx),
            None => cx.notify(Notice::Alone),
        }
    }

    /// A contact cannot be reached: if the view is empty, this node asks the next contact in the next cycle.
    pub(super) fn hurry(&mut self, to: NodeId) {
        if let Life::Gossiping(gossip) = &mut self.life
            && self.contacts.contains(to)
        {
            gossip.empty_cycles = self.config.patience;
        }
    }

    /// Sends out as many walks for a joiner as a view has links. If the view has room, one of them ends here at once.
    pub(super) fn on_join(
        &mut self,
        joiner: NodeId,
        incarnation: Incarnation,
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Gossiping(_) = self.life else {
            return;
        };
        let mut walks = usize::from(self.view.limit());
        if !self.view.is_full() {
            self.end_walk(joiner, incarnation, 0, cx);
            walks = walks.saturating_sub(1);
        }
        let mut first: Links<C> = self.view.sample(C, cx.rng());
        first.retain(|link| link.id != joiner);
        for link in first.iter().cycle().take(walks) {
            let walk = Message::JoinWalk {
                joiner,
                incarnation,
                ttl: self.config.walk.saturating_sub(1),
                spare: self.config.walk,
            };
            cx.send(link.id, walk);
        }
    }

    /// A walk arrives, and goes on or ends. Its remaining steps are cut to this node's own limit.
    pub(super) fn on_join_walk(
        &mut self,
        joiner: NodeId,
        incarnation: Incarnation,
        ttl: u8,
        spare: u8,
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Gossiping(_) = self.life else {
            return;
        };
        let spare = spare.min(self.config.walk);
        if let Some(ttl) = ttl.min(self.config.walk).checked_sub(1)
            && let Some(next) = self.step(joiner, cx)
        {
            let walk = Message::JoinWalk {
                joiner,
                incarnation,
                ttl,
                spare,
            };
            cx.send(next, walk);
            return;
        }
        self.end_walk(joiner, incarnation, spare, cx);
    }

    /// The next node of a walk: a random peer of the view, but not the joiner.
    fn step(&self, joiner: NodeId, cx: &mut dyn Context<Self>) -> Option<NodeId> {
        let mut two: Links<2> = self.view.sample(2, cx.rng());
        two.retain(|link| link.id != joiner);
        two.first().map(|link| link.id)
    }

    /// A walk ends here. If the joiner is in the view already, or is this node, the walk goes on with its spare steps.
    /// Without any left, this node gives a link to itself: in a small overlay all nodes may know a joiner that knows none.
    fn end_walk(
        &mut self,
        joiner: NodeId,
        incarnation: Incarnation,
        spare: u8,
        cx: &mut dyn Context<Self>,
    ) {
        let link = Link {
            id: joiner,
            incarnation,
            age: 0,
        };
        if joiner != self.view.owner() && !self.view.contains(joiner) {
            self.trade(link, cx);
            return;
        }
        if self.view.refresh(link) == Refreshed::LaterLife {
            let peer = joiner;
            self.tell(Notice::Restarted { peer, incarnation }, cx);
        }
        if let Some(spare) = spare.checked_sub(1)
            && let Some(next) = self.step(joiner, cx)
        {
            let walk = Message::JoinWalk {
                joiner,
                incarnation,
                ttl: 0,
                spare,
            };
            cx.send(next, walk);
        } else if let Some(own) = self.own_link().filter(|own| own.id != joiner) {
            give(own, link, own, cx);
        }
    }

    /// A link to this node.
    fn own_link(&self) -> Option<Link> {
        let Life::Gossiping(gossip) = &self.life else {
            return None;
        };
        Some(Link {
            id: self.view.owner(),
            incarnation: gossip.incarnation,
            age: 0,
        })
    }

    /// Takes a link to the joiner, and gives it one: a link to this node if the view has room, else one of the view.
    fn trade(&mut self, joiner: Link, cx: &mut dyn Context<Self>) {
        let Some(own) = self.own_link() else {
            return;
        };
        let mut link = own;
        if self.view.is_full()
            && let Some(given) = self.view.pick(cx.rng())
        {
            self.view.remove(given.id);
            self.tell(Notice::Left { peer: given.id }, cx);
            link = given;
        }
        if self.learn(joiner, cx).is_ok() {
            give(link, joiner, own, cx);
        }
    }

    /// Takes in a given link, if this life asked for it. If the link is known, one to the giver comes in instead.
    pub(super) fn on_join_give(
        &mut self,
        from: NodeId,
        joiner: Incarnation,
        link: Link,
        giver: Incarnation,
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        if joiner != gossip.incarnation || gossip.awaited_gifts == 0 {
            return;
        }
        gossip.awaited_gifts = gossip.awaited_gifts.saturating_sub(1);
        let instead = Link {
            id: from,
            incarnation: giver,
            age: 0,
        };
        match self.learn(link, cx) {
            Ok(()) | Err(NotInserted::Full) => {}
            Err(NotInserted::Known | NotInserted::Own) => {
                let _ = self.learn(instead, cx);
            }
        }
    }
}

/// Gives a link to a joiner, from a node with this link of its own.
fn give<const C: usize, const L: usize>(
    link: Link,
    joiner: Link,
    giver: Link,
    cx: &mut dyn Context<Cyclon<C, L>>,
) {
    let gift = Message::JoinGive {
        joiner: joiner.incarnation,
        link,
        giver: giver.incarnation,
    };
    cx.send(joiner.id, gift);
}

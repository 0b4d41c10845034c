//! The enhanced shuffle (PROTOCOLS 1.3, 1.4).

use core::mem;

use super::samples::MOST_TAKEN;
use super::{
    Changes, Cyclon, Exchange, ExchangeId, Life, Message, Notice, Pending, Replacement, Timer,
};
use crate::id::{Incarnation, NodeId};
use crate::machine::Context;
use crate::overlay::contacts::ASK_AGAIN;
use crate::overlay::view::{Link, Links, NotInserted};

/// A node whose view is full asks a known contact only in every so many cycles.
const SELDOM: u32 = 16 * ASK_AGAIN;

impl<const C: usize, const L: usize> Cyclon<C, L> {
    /// Runs a cycle, if its turn has come.
    pub(super) fn cycle(&mut self, cycle: u32, cx: &mut dyn Context<Self>) {
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        if cycle != gossip.cycle {
            return;
        }
        if cx.now() < gossip.due {
            cx.wake(gossip.due, Timer { cycle });
            return;
        }
        gossip.cycle = cycle.wrapping_add(1);
        gossip.due = cx.now() + self.config.period;
        cx.wake(
            gossip.due,
            Timer {
                cycle: gossip.cycle,
            },
        );
        if let Exchange::Waiting(pending) = mem::replace(&mut gossip.exchange, Exchange::Idle) {
            self.contacts.miss(pending.peer.id);
            if let Some(samples) = &mut self.samples {
                samples.forget(pending.peer.id);
            }
        }
        // A node with an empty view asks for help instead.
        let view = &self.view;
        let is_out = |peer| !view.is_empty() && !view.contains(peer);
        // A node whose view is full is hardly on an island, and should not prefer its first contacts.
        let again = match view.is_full() && !cycle.is_multiple_of(SELDOM) {
            true => self.contacts.missed_due(cycle, is_out),
            false => self.contacts.due(cycle, is_out),
        };
        if cycle.is_multiple_of(u32::from(self.config.remember)) {
            self.remember(cx);
        }
        self.view.grow_older();
        let sample = self.draw_samples(cycle, cx);
        let again = again.map(|id| Link {
            id,
            incarnation: Incarnation::default(),
            age: 0,
        });
        match again.or(sample).or_else(|| self.view.oldest(cx.rng())) {
            Some(peer) => self.begin_exchange(peer, cycle, cx),
            None => self.spend_cycle_alone(cycle, cx),
        }
    }

    /// Steps 2 to 4: the peer's link makes room for the answer.
    fn begin_exchange(&mut self, peer: Link, cycle: u32, cx: &mut dyn Context<Self>) {
        let removed = self.view.remove(peer.id);
        let others = usize::from(self.config.shuffle).saturating_sub(1);
        let others: Links<L> = self.view.sample(others, cx.rng());
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        gossip.empty_cycles = 0;
        gossip.exchange = Exchange::Waiting(Pending {
            cycle,
            peer: removed.unwrap_or(peer),
            was_linked: removed.is_some(),
            sent: others.iter().map(|link| link.id).collect(),
            deadline: cx.now() + self.config.timeout,
        });
        let own = Link {
            id: self.view.owner(),
            incarnation: gossip.incarnation,
            age: 0,
        };
        let exchange = ExchangeId {
            incarnation: gossip.incarnation,
            cycle,
        };
        let links = [own].into_iter().chain(others).take(L).collect();
        cx.send(peer.id, Message::Shuffle { exchange, links });
        if removed.is_some() {
            self.tell(Notice::Left { peer: peer.id }, cx);
        }
    }

    /// Answers with links from before the merge, so that none of the asker's links goes back.
    pub(super) fn on_shuffle(
        &mut self,
        from: NodeId,
        exchange: ExchangeId,
        received: &[Link],
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Gossiping(_) = self.life else {
            return;
        };
        self.contacts.hear(from);
        let links: Links<L> = self.view.sample(usize::from(self.config.shuffle), cx.rng());
        let sent: heapless::Vec<NodeId, L> = links.iter().map(|link| link.id).collect();
        cx.send(from, Message::Shuffled { exchange, links });
        self.hear_of(received);
        if let Some(samples) = &mut self.samples {
            if samples.taken >= MOST_TAKEN {
                return;
            }
            samples.taken = samples.taken.saturating_add(1);
        }
        self.merge(received, &sent, cx);
    }

    /// Takes in an answer, if this node waits for it and it is in time.
    pub(super) fn on_shuffled(
        &mut self,
        from: NodeId,
        exchange: ExchangeId,
        received: &[Link],
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        match mem::replace(&mut gossip.exchange, Exchange::Idle) {
            Exchange::Waiting(pending)
                if pending.peer.id == from && pending.id(gossip.incarnation) == exchange =>
            {
                self.contacts.hear(from);
                if cx.now() <= pending.deadline {
                    self.hear_of(&[Link {
                        age: 0,
                        ..pending.peer
                    }]);
                    self.hear_of(received);
                    self.merge(received, &pending.sent, cx);
                } else if let Some(samples) = &mut self.samples {
                    samples.forget(from);
                }
            }
            other => gossip.exchange = other,
        }
    }

    /// Steps 6 and 7. A second link to a node in one message refreshes the first, and a link to this node is ignored.
    fn merge(&mut self, received: &[Link], sent: &[NodeId], cx: &mut dyn Context<Self>) {
        let most = usize::from(self.config.shuffle);
        let received = received.get(..most).unwrap_or(received);
        // The links sent are in random order, so they may be replaced in that order.
        match self.config.replacement {
            Replacement::Recommended => {
                let changes = self.config.changes;
                self.view.take_in(received, sent, |change| match changes {
                    Changes::Told => cx.notify(change.into()),
                    Changes::Untold => {}
                });
            }
            Replacement::Literal => self.merge_literally(received, sent, cx),
        }
    }

    /// Replaces any link that was sent, even if the exchange brought it back.
    fn merge_literally(&mut self, received: &[Link], sent: &[NodeId], cx: &mut dyn Context<Self>) {
        let mut replaceable = sent.iter();
        for &link in received {
            if self.learn(link, cx) == Err(NotInserted::Full)
                && let Some(replaced) = replaceable.find_map(|&id| self.view.replace(id, link))
            {
                self.tell(Notice::Left { peer: replaced.id }, cx);
                self.tell(Notice::Entered { peer: link.id }, cx);
            }
        }
    }

    /// The transport cannot reach the peer: the exchange ends as if its time were over.
    pub(super) fn give_up_exchange(&mut self, to: NodeId) {
        if let Life::Gossiping(gossip) = &mut self.life
            && let Exchange::Waiting(pending) = &gossip.exchange
            && pending.peer.id == to
        {
            gossip.exchange = Exchange::Idle;
            self.contacts.miss(to);
            if let Some(samples) = &mut self.samples {
                samples.forget(to);
            }
        }
    }
}

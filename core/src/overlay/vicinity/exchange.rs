//! An exchange of descriptors (PROTOCOLS 2.3, 2.4).

use super::{
    Descriptor, Descriptors, Distance, Exchange, ExchangeId, Feed, Life, Message, Target, Timer,
    Vicinity, nearest,
};
use crate::id::NodeId;
use crate::machine::{Context, Data};
use crate::rng::Choose;

impl<P: Data, D: Distance<P>, const V: usize, const G: usize, const R: usize>
    Vicinity<P, D, V, G, R>
{
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
        gossip.exchange = Exchange::Idle;
        let next = Timer {
            cycle: gossip.cycle,
        };
        cx.wake(gossip.due, next);
        self.grow_older();
        if self.view.is_empty() {
            let target = Target {
                id: self.me,
                profile: &self.profile,
            };
            let most = usize::from(self.config.links);
            self.view = nearest(&self.distance, target, &[&self.random], most);
        }
        if let Some(peer) = self.take_oldest(cx) {
            self.ask(&peer, ExchangeId(cycle), cx);
        }
    }

    /// Step 1: all descriptors are a cycle older, also those of random peers. Descriptors that are too old are dropped.
    fn grow_older(&mut self) {
        let max_age = self.config.max_age;
        for peer in self.view.iter_mut().chain(&mut self.random) {
            peer.age = peer.age.saturating_add(1);
        }
        self.view.retain(|peer| peer.age <= max_age);
        self.random.retain(|peer| peer.age <= max_age);
    }

    /// Step 2: takes the oldest link out of the view; of several, a random one.
    fn take_oldest(&mut self, cx: &mut dyn Context<Self>) -> Option<Descriptor<P>> {
        let most = self.view.iter().map(|peer| peer.age).max()?;
        let oldest = || (0..).zip(&self.view).filter(|(_, peer)| peer.age == most);
        let chosen = cx.rng().index(oldest().count());
        let (index, _) = oldest().nth(chosen)?;
        self.view.remove(index)
    }

    /// Step 3: sends the request, and waits for the reply.
    fn ask(&mut self, peer: &Descriptor<P>, exchange: ExchangeId, cx: &mut dyn Context<Self>) {
        let descriptors = self.nearest_to(peer);
        if let Life::Gossiping(gossip) = &mut self.life {
            gossip.exchange = Exchange::Waiting {
                exchange,
                peer: peer.id,
                deadline: cx.now() + self.config.timeout,
            };
        }
        let request = Message::Request {
            exchange,
            descriptors,
        };
        cx.send(peer.id, request);
    }

    /// The descriptors of a message to this peer: this node's own first, then the nearest to the peer.
    fn nearest_to(&self, peer: &Descriptor<P>) -> Descriptors<P, G> {
        let target = Target {
            id: peer.id,
            profile: &peer.profile,
        };
        let others = usize::from(self.config.gossip).saturating_sub(1);
        let pools: [&[Descriptor<P>]; 2] = [&self.view, self.fed()];
        let mut descriptors: Descriptors<P, G> = nearest(&self.distance, target, &pools, others);
        // There is room: the others are fewer than a message may have.
        let _ = descriptors.insert(0, self.own());
        descriptors
    }

    /// The random peers that take part in a selection.
    fn fed(&self) -> &[Descriptor<P>] {
        match self.config.feed {
            Feed::Always => &self.random,
            Feed::WhenEmpty => &[],
        }
    }

    /// Step 5: the view is the nearest of what is known and what came.
    pub(super) fn keep_nearest(&mut self, received: &[Descriptor<P>]) {
        let target = Target {
            id: self.me,
            profile: &self.profile,
        };
        let pools: [&[Descriptor<P>]; 3] = [&self.view, self.fed(), received];
        let most = usize::from(self.config.links);
        self.view = nearest(&self.distance, target, &pools, most);
    }

    pub(super) fn message(
        &mut self,
        from: NodeId,
        message: Message<P, G>,
        cx: &mut dyn Context<Self>,
    ) {
        if from == self.me {
            return;
        }
        match message {
            Message::Request {
                exchange,
                descriptors,
            } => self.on_request(from, exchange, descriptors, cx),
            Message::Reply {
                exchange,
                descriptors,
            } => self.on_reply(from, exchange, descriptors, cx),
        }
    }

    /// Step 4: replies with what was known before. A request without the asker's own descriptor first is ignored.
    fn on_request(
        &mut self,
        from: NodeId,
        exchange: ExchangeId,
        received: Descriptors<P, G>,
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Gossiping(_) = self.life else {
            return;
        };
        let Some(asker) = received.first().filter(|asker| asker.id == from) else {
            return;
        };
        let descriptors = self.nearest_to(asker);
        let reply = Message::Reply {
            exchange,
            descriptors,
        };
        cx.send(from, reply);
        self.merge(received);
    }

    /// Takes in a reply, if this node waits for it and it is in time.
    fn on_reply(
        &mut self,
        from: NodeId,
        answered: ExchangeId,
        received: Descriptors<P, G>,
        cx: &dyn Context<Self>,
    ) {
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        let Exchange::Waiting {
            exchange,
            peer,
            deadline,
        } = gossip.exchange
        else {
            return;
        };
        if (peer, exchange) != (from, answered) {
            return;
        }
        gossip.exchange = Exchange::Idle;
        if cx.now() <= deadline {
            self.merge(received);
        }
    }

    /// Takes in descriptors: no more than a message may have, none that is too old, and none of this node itself.
    fn merge(&mut self, mut received: Descriptors<P, G>) {
        let max_age = self.config.max_age;
        received.truncate(usize::from(self.config.gossip));
        received.retain(|peer| peer.age <= max_age);
        self.keep_nearest(&received);
    }

    /// The transport cannot reach a node: its link is removed, and an exchange with it ends.
    pub(super) fn on_unreachable(&mut self, to: NodeId) {
        self.view.retain(|peer| peer.id != to);
        if let Life::Gossiping(gossip) = &mut self.life
            && let Exchange::Waiting { peer, .. } = gossip.exchange
            && peer == to
        {
            gossip.exchange = Exchange::Idle;
        }
    }
}

//! Gossip by foca, a current library for membership: SWIM, where every node knows every other.
//!
//! The host is minimal: an [`EventQueue`] in virtual time, messages that take 10 ms, and timers. It hashes no history
//! and keeps no records, unlike the host of [`cyclon`](crate::cyclon), whose messages carry eight links each.

use std::num::NonZeroU32;
use std::time::Duration;

use foca::{Config, Foca, Identity, Member, NoCustomBroadcast, PostcardCodec, Runtime, Timer};
use gridweave_core::time::{Span, Time};
use gridweave_sim::event_queue::EventQueue;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::events::{Effort, rate_of};

/// A node, by number. It never gets a new identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Number(u32);

impl Identity for Number {
    type Addr = u32;

    fn renew(&self) -> Option<Self> {
        None
    }

    fn addr(&self) -> u32 {
        self.0
    }

    fn win_addr_conflict(&self, _: &Self) -> bool {
        false
    }
}

/// What happens at a node.
enum Happens {
    Message(u32, Vec<u8>),
    Timer(u32, Timer<Number>),
}

/// What a node asked for while it handled something.
#[derive(Default)]
struct Asked {
    sent: Vec<(Number, Vec<u8>)>,
    timers: Vec<(Timer<Number>, Duration)>,
}

impl Runtime<Number> for &mut Asked {
    fn notify(&mut self, _: foca::Notification<'_, Number>) {}

    fn send_to(&mut self, to: Number, data: &[u8]) {
        self.sent.push((to, data.to_vec()));
    }

    fn submit_after(&mut self, event: Timer<Number>, after: Duration) {
        self.timers.push((event, after));
    }
}

type Node = Foca<Number, PostcardCodec, Xoshiro256PlusPlus, NoCustomBroadcast>;

/// Nodes that gossip with foca, in virtual time.
pub struct Cluster {
    nodes: Vec<Node>,
    queue: EventQueue<u32>,
    pending: Vec<Option<Happens>>,
    free: Vec<u32>,
    now: Time,
}

impl Cluster {
    /// `nodes` nodes that all know each other, with the library's configuration for a local network.
    pub fn new(nodes: NonZeroU32) -> Self {
        let mut cluster = Self {
            nodes: Vec::new(),
            queue: EventQueue::new(),
            pending: Vec::new(),
            free: Vec::new(),
            now: Time::ZERO,
        };
        let all = || (0..nodes.get()).map(|number| Member::alive(Number(number)));
        for number in 0..nodes.get() {
            let rng = Xoshiro256PlusPlus::seed_from_u64(u64::from(number));
            let config = Config::new_lan(nodes);
            let mut node = Foca::new(Number(number), config, rng, PostcardCodec);
            let mut asked = Asked::default();
            let others = all().filter(|member| member.id().0 != number);
            node.apply_many(others, false, &mut asked)
                .expect("all of them are others");
            cluster.nodes.push(node);
            cluster.take(number, asked);
        }
        cluster
    }

    fn take(&mut self, node: u32, asked: Asked) {
        for (Number(to), data) in asked.sent {
            self.plan(Duration::from_millis(10), Happens::Message(to, data));
        }
        for (timer, after) in asked.timers {
            self.plan(after, Happens::Timer(node, timer));
        }
    }

    fn plan(&mut self, after: Duration, what: Happens) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() as u32 - 1
        });
        self.pending[slot as usize] = Some(what);
        let after = Span::from_micros(after.as_micros() as u64);
        self.queue.push(self.now + after, slot);
    }

    /// Handles events until `messages` of them were messages.
    pub fn run(&mut self, messages: usize) {
        let mut left = messages;
        while left > 0 {
            let (at, slot) = self.queue.pop().expect("nodes always have timers");
            self.now = at;
            self.free.push(slot);
            let what = self.pending[slot as usize].take();
            let mut asked = Asked::default();
            match what.expect("what is planned is there") {
                Happens::Message(to, data) => {
                    left -= 1;
                    self.nodes[to as usize]
                        .handle_data(&data, &mut asked)
                        .expect("nodes understand each other");
                    self.take(to, asked);
                }
                Happens::Timer(node, timer) => {
                    self.nodes[node as usize]
                        .handle_timer(timer, &mut asked)
                        .expect("timers are those that were asked for");
                    self.take(node, asked);
                }
            }
        }
    }

    /// Whether every node still takes every other to be alive.
    pub fn is_whole(&self) -> bool {
        let others = self.nodes.len() - 1;
        self.nodes.iter().all(|node| node.num_members() == others)
    }
}

/// Messages per CPU-second in the fastest of some turns.
pub fn measure(cluster: &mut Cluster, effort: Effort) -> f64 {
    let turns = (0..effort.rounds).map(|_| rate_of(effort.turn, |messages| cluster.run(messages)));
    turns.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_node_loses_a_member() {
        let mut cluster = Cluster::new(NonZeroU32::new(20).unwrap());
        cluster.run(2_000);
        assert!(cluster.is_whole());
        assert!(cluster.now > Time::ZERO);
    }
}

//! Many nodes with one clock, and a network between them that may delay and lose.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::vec::Vec;

use super::super::*;
use crate::machine::{Effect, EffectQueue, TimerQueue};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

#[derive(Clone, Copy)]
pub(super) struct Faults {
    /// How many messages of a thousand are lost.
    pub lost: u32,
    /// How many of a thousand come an iteration later.
    pub late: u32,
}

impl Faults {
    pub(super) const NONE: Self = Self { lost: 0, late: 0 };
    /// As in the tests of the authors of the overlay.
    pub(super) const SOME: Self = Self {
        lost: 10,
        late: 100,
    };
}

pub(super) struct Network {
    pub nodes: BTreeMap<NodeId, Blatant>,
    /// What each node has on disk.
    disks: BTreeMap<NodeId, BTreeMap<Key, Record>>,
    pub now: Time,
    pub rng: Xoshiro256PlusPlus,
    config: Config,
    faults: Faults,
    /// The nodes of one island: no message passes between them and the rest.
    pub apart: BTreeSet<NodeId>,
    timers: TimerQueue<(NodeId, Timer)>,
    /// Messages on their way, by when they arrive.
    due: BTreeMap<(Time, u64), (NodeId, NodeId, Message)>,
    sent: u64,
    /// Links that came and links that went, each counted at both ends.
    pub entered: u64,
    pub left: u64,
    pub alone: u64,
    /// How many links were asked for to hold the overlay together.
    pub asked: u64,
    effects: EffectQueue<Blatant>,
}

impl Network {
    pub(super) fn new(config: Config, faults: Faults, seed: u64) -> Self {
        Self {
            nodes: BTreeMap::new(),
            disks: BTreeMap::new(),
            now: Time::ZERO,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            config,
            faults,
            apart: BTreeSet::new(),
            timers: TimerQueue::new(),
            due: BTreeMap::new(),
            sent: 0,
            entered: 0,
            left: 0,
            alone: 0,
            asked: 0,
            effects: EffectQueue::new(),
        }
    }

    /// A node starts, with what it has on disk.
    pub(super) fn start(&mut self, id: NodeId) {
        let mut node = Blatant::new(id, self.config).unwrap();
        let disk = self.disks.entry(id).or_default().clone();
        for (key, record) in disk {
            self.effects.feed(
                &mut node,
                Event::Restored(key, record),
                self.now,
                &mut self.rng,
            );
        }
        self.nodes.insert(id, node);
        self.feed(id, Event::Start);
    }

    pub(super) fn command(&mut self, id: NodeId, command: Command) {
        self.feed(id, Event::Command(command));
    }

    /// A node stops without telling its neighbours.
    pub(super) fn crash(&mut self, id: NodeId) {
        self.nodes.remove(&id);
    }

    /// From now on the network neither loses nor delays.
    pub(super) fn still(&mut self) {
        self.faults = Faults::NONE;
    }

    pub(super) fn feed(&mut self, id: NodeId, event: Event<Blatant>) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        self.effects.feed(node, event, self.now, &mut self.rng);
        node.check().unwrap();
        let effects: Vec<_> = self.effects.drain().collect();
        for effect in effects {
            match effect {
                Effect::Send { to, message } => self.send(id, to, message),
                Effect::Wake { at, timer } => self.timers.wake(at, (id, timer)),
                Effect::Cancel(timer) => self.timers.cancel((id, timer)),
                Effect::Persist(key, record) => {
                    self.disks.entry(id).or_default().insert(key, record);
                }
                Effect::Forget(key) => {
                    self.disks.entry(id).or_default().remove(&key);
                }
                Effect::Notify(Notice::Entered { .. }) => self.entered += 1,
                Effect::Notify(Notice::Left { .. }) => self.left += 1,
                Effect::Notify(Notice::Alone) => self.alone += 1,
            }
        }
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: Message) {
        self.sent += 1;
        let purpose = Purpose::Construction;
        let asks =
            matches!(message, Message::Link { purpose: for_what, .. } if for_what == purpose);
        self.asked += u64::from(asks);
        if self.rng.below(1000) < self.faults.lost {
            return;
        }
        if self.apart.contains(&from) != self.apart.contains(&to) {
            return;
        }
        let mut at = self.now;
        if self.faults.late > 0 {
            at += Span::from_millis(1 + u64::from(self.rng.below(100)));
            if self.rng.below(1000) < self.faults.late {
                at += self.config.period;
            }
        }
        self.due.insert((at, self.sent), (from, to, message));
    }

    /// Lets so many iterations pass.
    pub(super) fn run(&mut self, iterations: u64) {
        let end = self.now + self.config.period.times(iterations);
        loop {
            let message = self.due.first_key_value().map(|((at, _), _)| *at);
            let timer = self.timers.next_at();
            let next = message.into_iter().chain(timer).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                break;
            };
            self.now = next;
            if message == Some(next) {
                let (_, (from, to, message)) = self.due.pop_first().unwrap();
                self.feed(to, Event::Message { from, message });
            } else if let Some((_, (id, timer))) = self.timers.pop_due(next) {
                self.feed(id, Event::Timer(timer));
            }
        }
        self.now = end;
    }

    pub(super) fn ids(&self) -> Vec<NodeId> {
        self.nodes.keys().copied().collect()
    }

    pub(super) fn some_id(&mut self) -> NodeId {
        let ids = self.ids();
        ids[self.rng.index(ids.len())]
    }

    /// The links that both ends have.
    pub(super) fn graph(&self) -> BTreeMap<NodeId, BTreeSet<NodeId>> {
        let both = |a: NodeId, b: NodeId| {
            let other = self.nodes.get(&b);
            other.is_some_and(|other| other.neighbours().any(|id| id == a))
        };
        let around = |(id, node): (&NodeId, &Blatant)| {
            let around = node.neighbours().filter(|other| both(*id, *other));
            (*id, around.collect())
        };
        self.nodes.iter().map(around).collect()
    }

    /// How many links only one end has.
    pub(super) fn half_open(&self) -> usize {
        let ends: usize = self
            .nodes
            .values()
            .map(|node| node.neighbours().len())
            .sum();
        let both: usize = self.graph().values().map(BTreeSet::len).sum();
        ends - both
    }

    pub(super) fn shape(&self) -> Shape {
        let graph = self.graph();
        let mut shape = Shape {
            nodes: graph.len(),
            links: graph.values().map(BTreeSet::len).sum::<usize>() / 2,
            least: graph.values().map(BTreeSet::len).min().unwrap_or(0),
            most: graph.values().map(BTreeSet::len).max().unwrap_or(0),
            ..Shape::default()
        };
        let (mut sum, mut pairs) = (0_u64, 0_u64);
        for id in graph.keys() {
            let distances = distances(&graph, *id, None);
            shape.unreached += graph.len() - distances.len();
            for distance in distances.values().filter(|distance| **distance > 0) {
                sum += u64::from(*distance);
                pairs += 1;
                shape.diameter = shape.diameter.max(*distance);
            }
        }
        shape.path = sum as f64 / pairs.max(1) as f64;
        shape
    }
}

#[derive(Default, Debug)]
pub(super) struct Shape {
    pub nodes: usize,
    pub links: usize,
    pub least: usize,
    pub most: usize,
    pub path: f64,
    pub diameter: u16,
    /// Pairs without a way.
    pub unreached: usize,
}

impl Shape {
    pub(super) fn degree(&self) -> f64 {
        2.0 * self.links as f64 / self.nodes as f64
    }
}

pub(super) fn distances(
    graph: &BTreeMap<NodeId, BTreeSet<NodeId>>,
    from: NodeId,
    without: Option<NodeId>,
) -> BTreeMap<NodeId, u16> {
    let mut at = BTreeMap::from([(from, 0)]);
    let mut queue = VecDeque::from([from]);
    while let Some(one) = queue.pop_front() {
        let distance = at[&one];
        for other in &graph[&one] {
            let cut = one == from && Some(*other) == without;
            if !cut && !at.contains_key(other) {
                at.insert(*other, distance + 1);
                queue.push_back(*other);
            }
        }
    }
    at
}

//! Many nodes with one clock, and a network between them that delays and may lose messages.

use crate::rng::Choose;
use std::collections::BTreeMap;
use std::vec::Vec;

use super::super::*;
use crate::machine::{Effect, EffectQueue, TimerQueue};
use crate::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// How the coordinates of nodes are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Population {
    /// All at random.
    Mixed,
    /// All nodes are alike except for this many virtual dimensions.
    Clustered(usize),
    /// Few values in every dimension, so that many nodes are alike, some wholly.
    Repeated,
}

impl Population {
    pub(super) fn draw<const D: usize>(self, rng: &mut Xoshiro256PlusPlus) -> Point<D> {
        let mut at = [0; D];
        for (k, at) in at.iter_mut().enumerate() {
            *at = match self {
                Self::Mixed => rng.below(END),
                Self::Clustered(virtual_dimensions) if k + virtual_dimensions >= D => {
                    rng.below(END)
                }
                Self::Clustered(_) => 1 << 30,
                Self::Repeated => rng.below(4) << 28,
            };
        }
        Point::new(at)
    }
}

pub(super) struct Network<const D: usize> {
    pub nodes: BTreeMap<NodeId, Can<D>>,
    disks: BTreeMap<NodeId, BTreeMap<Key, Record>>,
    pub now: Time,
    pub rng: Xoshiro256PlusPlus,
    pub config: Config,
    /// How many messages of a thousand are lost, come twice, and are late by up to ten seconds.
    pub lost: u32,
    pub twice: u32,
    pub late: u32,
    timers: TimerQueue<(NodeId, Timer)>,
    due: BTreeMap<(Time, u64), (NodeId, NodeId, Message<D>)>,
    pub sent: u64,
    /// How many of the sent messages were short heartbeats.
    pub beats: u64,
    next_id: u64,
    pub evicted: u64,
    pub overlaps: u64,
    pub moved: u64,
    pub zones_changed: u64,
    effects: EffectQueue<Can<D>>,
}

impl<const D: usize> Network<D> {
    /// Nodes that joined a second apart, at rest.
    pub(super) fn crowded(size: usize, seed: u64) -> Self {
        let mut network = Self::new(Config::DEFAULT, seed);
        for _ in 0..size {
            let point = Population::Mixed.draw(&mut network.rng);
            network.add(point);
            network.run(Span::from_secs(1));
        }
        network.run_periods(30);
        network
    }

    pub(super) fn new(config: Config, seed: u64) -> Self {
        Self {
            nodes: BTreeMap::new(),
            disks: BTreeMap::new(),
            now: Time::ZERO,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            config,
            lost: 0,
            twice: 0,
            late: 0,
            timers: TimerQueue::new(),
            due: BTreeMap::new(),
            sent: 0,
            beats: 0,
            next_id: 0,
            evicted: 0,
            overlaps: 0,
            moved: 0,
            zones_changed: 0,
            effects: EffectQueue::new(),
        }
    }

    /// A node starts, with what it has on disk.
    pub(super) fn start(&mut self, id: NodeId, point: Point<D>) {
        let mut node = Can::new(id, point, self.config).unwrap();
        for (key, record) in self.disks.entry(id).or_default().clone() {
            let event = Event::Restored(key, record);
            self.effects.feed(&mut node, event, self.now, &mut self.rng);
        }
        self.nodes.insert(id, node);
        self.feed(id, Event::Start);
    }

    /// A new node starts, founds or joins, and has the load of one node.
    pub(super) fn add(&mut self, point: Point<D>) -> NodeId {
        let inside: Vec<_> = self.inside();
        self.next_id += 1;
        // Ids in no order.
        let id = NodeId::new(self.next_id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.start(id, point);
        let load = Load {
            nodes: Load::ONE,
            cores: u64::from(self.rng.below(64)) * Load::ONE,
            ..Load::default()
        };
        self.command(id, Command::Load(load));
        // A node without a zone now may have one when it is asked again.
        let others: Vec<_> = self.nodes.keys().copied().filter(|it| *it != id).collect();
        let known = if inside.is_empty() { others } else { inside };
        let command = if known.is_empty() {
            Command::Found
        } else {
            let introducer = known[self.rng.index(known.len())];
            Command::Join { introducer }
        };
        self.command(id, command);
        id
    }

    pub(super) fn inside(&self) -> Vec<NodeId> {
        let inside = self.nodes.iter().filter(|(_, node)| node.zone().is_some());
        inside.map(|(id, _)| *id).collect()
    }

    pub(super) fn command(&mut self, id: NodeId, command: Command<D>) {
        self.feed(id, Event::Command(command));
    }

    /// A node crashes: it is gone without a message.
    pub(super) fn crash(&mut self, id: NodeId) -> Can<D> {
        self.nodes.remove(&id).unwrap()
    }

    pub(super) fn some_inside(&mut self) -> NodeId {
        let inside = self.inside();
        inside[self.rng.index(inside.len())]
    }

    pub(super) fn feed(&mut self, id: NodeId, event: Event<Can<D>>) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        let before = node.zone().copied();
        self.effects.feed(node, event, self.now, &mut self.rng);
        node.check().unwrap();
        let after = node.zone().copied();
        if after != before
            && let Some(zone) = after
        {
            self.look_for_overlaps(id, &zone);
        }
        let mut unanswered = false;
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
                Effect::Notify(Notice::Evicted) => self.evicted += 1,
                Effect::Notify(Notice::Moved(_)) => self.moved += 1,
                Effect::Notify(Notice::Zone) => self.zones_changed += 1,
                // Its host stops it.
                Effect::Notify(Notice::Left) => {
                    self.nodes.remove(&id);
                }
                Effect::Notify(Notice::Unanswered(_)) => unanswered = true,
                Effect::Notify(Notice::Joined | Notice::Full) => {}
            }
        }
        if unanswered && !self.inside().is_empty() {
            let introducer = self.some_inside();
            self.command(id, Command::Join { introducer });
        }
    }

    /// Counts the nodes whose zones overlap that of a node. Without a false suspicion there are none.
    fn look_for_overlaps(&mut self, id: NodeId, zone: &Zone<D>) {
        let others = self.nodes.iter().filter(|(other, _)| **other != id);
        let overlapping =
            others.filter(|(_, node)| node.zone().is_some_and(|it| it.overlaps(zone)));
        self.overlaps += overlapping.count() as u64;
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: Message<D>) {
        self.sent += 1;
        let is_short = matches!(message, Message::Beat { .. } | Message::Pulse { .. });
        self.beats += u64::from(is_short);
        if self.chance(self.lost) {
            return;
        }
        if self.chance(self.twice) {
            self.deliver(from, to, message.clone());
            self.sent += 1;
        }
        self.deliver(from, to, message);
    }

    fn chance(&mut self, of_thousand: u32) -> bool {
        of_thousand > 0 && self.rng.below(1000) < of_thousand
    }

    fn deliver(&mut self, from: NodeId, to: NodeId, message: Message<D>) {
        let most = if self.chance(self.late) { 10_000 } else { 200 };
        let at = self.now + Span::from_millis(1 + u64::from(self.rng.below(most)));
        self.due.insert((at, self.sent), (from, to, message));
    }

    pub(super) fn run(&mut self, how_long: Span) {
        let end = self.now + how_long;
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

    pub(super) fn run_periods(&mut self, periods: u64) {
        self.run(self.config.period.times(periods));
    }

    /// How many hops there are to a point, or `None` if it is not reached. Every hop has to be nearer.
    pub(super) fn route(&self, from: NodeId, point: &Point<D>) -> Option<usize> {
        let mut at = from;
        for hops in 0.. {
            let node = &self.nodes[&at];
            let distance = node.zone()?.distance(point);
            match node.next_hop(point) {
                Hop::Here => return Some(hops),
                Hop::Stuck => return None,
                Hop::To(next) => {
                    assert!(self.nodes.get(&next)?.zone()?.distance(point) < distance);
                    at = next;
                }
            }
        }
        None
    }

    /// Checks all that must hold once nothing happens any more.
    pub(super) fn wrong(&self) -> Result<(), std::string::String> {
        use std::format;
        let zones: Vec<_> = self
            .nodes
            .iter()
            .filter_map(|(id, node)| Some((*id, node.entry()?)))
            .collect();
        if zones.len() != self.nodes.len() {
            return Err(format!("{} have no zone", self.nodes.len() - zones.len()));
        }
        let mut around: BTreeMap<NodeId, Vec<(Name, u32, Zone<D>)>> = BTreeMap::new();
        for (i, (one, own)) in zones.iter().enumerate() {
            if !own.zone.contains(self.nodes[one].point()) {
                return Err(format!("{one} is not in its zone"));
            }
            for (two, other) in &zones[i + 1..] {
                if own.zone.overlaps(&other.zone) {
                    return Err(format!("{one} and {two} overlap"));
                }
                if own.zone.neighbour_face(&other.zone).is_some() {
                    let list = around.entry(*one).or_default();
                    list.push((other.name, other.epoch, other.zone));
                    let list = around.entry(*two).or_default();
                    list.push((own.name, own.epoch, own.zone));
                }
            }
        }
        let volumes = zones.iter().map(|(_, entry)| volume(&entry.zone));
        let sum = volumes.fold([0; 9], |sum, volume| plus(&sum, &volume));
        if sum != volume(&Zone::<D>::WHOLE) {
            return Err(format!("there are holes among {} zones", zones.len()));
        }
        for (id, node) in &self.nodes {
            let mut expected = around.remove(id).unwrap_or_default();
            expected.sort_unstable();
            let known = node.neighbours().map(|it| &it.entry);
            let known: Vec<_> = known.map(|it| (it.name, it.epoch, it.zone)).collect();
            if known != expected {
                return Err(format!(
                    "{id} knows {} of {} neighbours, wrongly",
                    known.len(),
                    expected.len()
                ));
            }
        }
        Ok(())
    }

    /// The load of all nodes, and what the nodes at the lower border of a dimension know of it.
    pub(super) fn loads(&self, dimension: usize) -> (Load, Load) {
        let mut loads = (Load::default(), Load::default());
        for node in self.nodes.values() {
            loads.0 = loads.0.plus(node.load());
            let face = Face {
                dimension: dimension as u8,
                side: Side::Lower,
            };
            if node.zone().unwrap().is_at_border(face) {
                let beyond = node.load_beyond(dimension);
                loads.1 = loads.1.plus(node.load()).plus(beyond);
            }
        }
        loads
    }
}

/// How many points a zone has, exactly: 32 bits in each place, the lowest first.
pub(super) fn volume<const D: usize>(zone: &Zone<D>) -> [u64; 9] {
    let mut product = [0; 9];
    product[0] = 1;
    for stretch in zone.stretches() {
        let mut carry = 0;
        for place in &mut product {
            let next = *place * u64::from(stretch.length()) + carry;
            *place = next & 0xffff_ffff;
            carry = next >> 32;
        }
    }
    product
}

fn plus(one: &[u64; 9], two: &[u64; 9]) -> [u64; 9] {
    let mut sum = [0; 9];
    let mut carry = 0;
    for ((sum, one), two) in sum.iter_mut().zip(one).zip(two) {
        let next = one + two + carry;
        *sum = next & 0xffff_ffff;
        carry = next >> 32;
    }
    sum
}

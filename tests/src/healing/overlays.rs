//! The four overlays, with small sizes and short times, and what each of them promises.

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::NodeId;
use gridweave_core::machine::{Context, Embed, Event, Machine, Violation};
use gridweave_core::overlay::blatant::{self, Blatant};
use gridweave_core::overlay::can::{self, Can, Point, Zone};
use gridweave_core::overlay::cyclon::{self, Cyclon, Known};
use gridweave_core::overlay::vicinity::{self, Descriptor, Distance, Vicinity};
use gridweave_core::time::Span;

use super::Overlay;

/// CYCLON.
pub type Gossip = Cyclon<6, 3>;

/// BLATANT-S.
pub type Ants = Blatant;

/// CAN, in a plane.
pub type Zones = Can<2>;

const PERIOD: Span = Span::from_secs(10);

/// Whether there is a way between any two of these nodes along links, in any direction.
fn is_connected(links: &BTreeMap<NodeId, Vec<NodeId>>) -> Result<(), String> {
    let mut both: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (id, peers) in links {
        for peer in peers.iter().filter(|peer| links.contains_key(peer)) {
            both.entry(*id).or_default().push(*peer);
            both.entry(*peer).or_default().push(*id);
        }
    }
    let Some(first) = links.keys().next() else {
        return Ok(());
    };
    let (mut seen, mut open) = (BTreeSet::from([*first]), vec![*first]);
    while let Some(id) = open.pop() {
        let next = both.get(&id).into_iter().flatten();
        open.extend(next.filter(|peer| seen.insert(**peer)));
    }
    match links.keys().find(|id| !seen.contains(id)) {
        Some(lost) => Err(format!("no way from {first} to {lost}: {links:?}")),
        None => Ok(()),
    }
}

impl Overlay for Gossip {
    const PERIOD: Span = PERIOD;
    const DEADLINE: u64 = 300;

    fn build(me: NodeId) -> Self {
        let config = cyclon::Config {
            view: 6,
            shuffle: 3,
            period: PERIOD,
            timeout: Span::from_secs(5),
            remember: 4,
            ..cyclon::Config::DEFAULT
        };
        Self::new(me, config).expect("the values work")
    }

    fn join(introducer: NodeId) -> cyclon::Command {
        cyclon::Command::Join { introducer }
    }

    fn found() -> Option<cyclon::Command> {
        None
    }

    fn mislead(peer: NodeId) -> Option<cyclon::Command> {
        Some(cyclon::Command::Meet(peer))
    }

    fn leave() -> cyclon::Command {
        cyclon::Command::Leave
    }

    fn record(known: Known) -> (cyclon::Key, cyclon::Record) {
        (cyclon::Key::Known, cyclon::Record::Known(known))
    }

    fn is_in(&self) -> bool {
        true
    }

    fn peers(&self) -> Vec<NodeId> {
        let waits_for = self.waits_for();
        let peers = self
            .view()
            .ids()
            .iter()
            .chain(self.known())
            .chain(self.missed());
        peers.copied().chain(waits_for).collect()
    }

    fn is_whole(nodes: &BTreeMap<NodeId, &Self>) -> Result<(), String> {
        let links = nodes
            .iter()
            .map(|(id, node)| (*id, node.view().ids().to_vec()));
        is_connected(&links.collect())
    }
}

impl Overlay for Ants {
    const PERIOD: Span = PERIOD;
    const DEADLINE: u64 = 2_000;

    fn build(me: NodeId) -> Self {
        let config = blatant::Config {
            period: PERIOD,
            timeout: Span::from_secs(15),
            sighted: 20,
            suspense: 8,
            birth: 300,
            remember: 4,
            ..blatant::Config::DEFAULT
        };
        Self::new(me, config).expect("the values work")
    }

    fn join(introducer: NodeId) -> blatant::Command {
        blatant::Command::Join { introducer }
    }

    fn found() -> Option<blatant::Command> {
        None
    }

    fn mislead(peer: NodeId) -> Option<blatant::Command> {
        Some(blatant::Command::Meet(peer))
    }

    fn leave() -> blatant::Command {
        blatant::Command::Leave
    }

    fn record(known: Known) -> (blatant::Key, blatant::Record) {
        (blatant::Key::Known, blatant::Record::Known(known))
    }

    fn is_in(&self) -> bool {
        true
    }

    fn peers(&self) -> Vec<NodeId> {
        let remembered = self.known().iter().chain(self.missed());
        self.neighbours().chain(remembered.copied()).collect()
    }

    /// Only links that both ends have count.
    fn is_whole(nodes: &BTreeMap<NodeId, &Self>) -> Result<(), String> {
        let has = |id: &NodeId, peer: NodeId| {
            let node = nodes.get(id);
            node.is_some_and(|node| node.neighbours().any(|it| it == peer))
        };
        let links = nodes.iter().map(|(id, node)| {
            let links = node.neighbours().filter(|peer| has(peer, *id));
            (*id, links.collect())
        });
        is_connected(&links.collect())
    }
}

impl Overlay for Zones {
    const PERIOD: Span = PERIOD;
    const DEADLINE: u64 = 1_000;

    fn build(me: NodeId) -> Self {
        let config = can::Config {
            period: PERIOD,
            ..can::Config::DEFAULT
        };
        let scattered = me.get().wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let point = [scattered >> 32, scattered & 0xffff_ffff].map(|it| (it >> 1) as u32);
        Self::new(me, Point::new(point), config).expect("the values work")
    }

    fn join(introducer: NodeId) -> can::Command<2> {
        can::Command::Join { introducer }
    }

    fn found() -> Option<can::Command<2>> {
        Some(can::Command::Found)
    }

    fn mislead(_: NodeId) -> Option<can::Command<2>> {
        None
    }

    fn leave() -> can::Command<2> {
        can::Command::Leave
    }

    fn record(known: Known) -> (can::Key, can::Record) {
        (can::Key::Known, can::Record::Known(known))
    }

    fn is_in(&self) -> bool {
        self.zone().is_some()
    }

    fn peers(&self) -> Vec<NodeId> {
        let neighbours = self.neighbours().map(can::Neighbour::id);
        let remembered = self.known().iter().chain(self.missed());
        neighbours.chain(remembered.copied()).collect()
    }

    /// Every node has a zone, no two zones overlap, and together they are the whole plane.
    fn is_whole(nodes: &BTreeMap<NodeId, &Self>) -> Result<(), String> {
        let area = |zone: &Zone<2>| {
            let sides = zone.stretches().map(|it| u128::from(it.to() - it.from()));
            sides.iter().product::<u128>()
        };
        let mut zones: Vec<(NodeId, Zone<2>)> = Vec::new();
        for (id, node) in nodes {
            let zone = node.zone().ok_or_else(|| format!("{id} has no zone"))?;
            if let Some((other, _)) = zones.iter().find(|(_, it)| it.overlaps(zone)) {
                return Err(format!("the zones of {other} and {id} overlap"));
            }
            zones.push((*id, *zone));
        }
        let all: u128 = zones.iter().map(|(_, zone)| area(zone)).sum();
        if all == area(&Zone::WHOLE) {
            Ok(())
        } else {
            Err("a part of the plane belongs to no node".into())
        }
    }
}

/// VICINITY over CYCLON: nodes on a ring, in the order of a hash of their ids.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Near {
    below: Gossip,
    near: Vicinity<u16, Ring, LINKS, 4, 6>,
}

/// How many of the nearest peers a node keeps.
const LINKS: usize = 4;

/// The distance between two positions on a ring.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Ring;

impl Distance<u16> for Ring {
    type Rank = u16;

    fn rank(&self, target: &u16, other: &u16) -> u16 {
        let apart = target.wrapping_sub(*other);
        apart.min(apart.wrapping_neg())
    }
}

/// The position of a node on the ring. Here it follows from the id; in a scheduler the random layer carries it.
fn place(id: NodeId) -> u16 {
    (id.get().wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

/// A message of one of the two layers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Layered {
    /// Of CYCLON, the random layer.
    Below(cyclon::Message<3>),
    /// Of VICINITY.
    Near(vicinity::Message<u16, 4>),
}

/// A timer of one of the two layers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LayeredTimer {
    /// Of CYCLON, the random layer.
    Below(cyclon::Timer),
    /// Of VICINITY.
    Near(vicinity::Timer),
}

struct Below;

impl Embed<Gossip, Near> for Below {
    fn message(&mut self, message: cyclon::Message<3>) -> Layered {
        Layered::Below(message)
    }
    fn timer(&mut self, timer: cyclon::Timer) -> LayeredTimer {
        LayeredTimer::Below(timer)
    }
    fn key(&mut self, key: cyclon::Key) -> cyclon::Key {
        key
    }
    fn record(&mut self, record: cyclon::Record) -> cyclon::Record {
        record
    }
    fn notice(&mut self, _: cyclon::Notice, _: &mut dyn Context<Near>) {}
}

struct Above;

impl Embed<Vicinity<u16, Ring, LINKS, 4, 6>, Near> for Above {
    fn message(&mut self, message: vicinity::Message<u16, 4>) -> Layered {
        Layered::Near(message)
    }
    fn timer(&mut self, timer: vicinity::Timer) -> LayeredTimer {
        LayeredTimer::Near(timer)
    }
    fn key(&mut self, key: gridweave_core::machine::Never) -> cyclon::Key {
        match key {}
    }
    fn record(&mut self, record: gridweave_core::machine::Never) -> cyclon::Record {
        match record {}
    }
    fn notice(&mut self, _: gridweave_core::machine::Never, _: &mut dyn Context<Near>) {}
}

impl Near {
    fn above(
        &mut self,
        event: Event<Vicinity<u16, Ring, LINKS, 4, 6>>,
        cx: &mut dyn Context<Self>,
    ) {
        let random = self.below.view().links().map(|link| Descriptor {
            id: link.id,
            age: link.age,
            version: 0,
            profile: place(link.id),
        });
        let random = Event::Command(vicinity::Command::Random(random.collect()));
        self.near.handle(random, &mut cx.lift(Above));
        self.near.handle(event, &mut cx.lift(Above));
    }
}

impl Machine for Near {
    type Message = Layered;
    type Timer = LayeredTimer;
    type Command = cyclon::Command;
    type Notice = cyclon::Notice;
    type Key = cyclon::Key;
    type Record = cyclon::Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        let below = match event {
            Event::Start => {
                self.near.handle(Event::Start, &mut cx.lift(Above));
                Event::Start
            }
            Event::Message {
                from,
                message: Layered::Near(message),
            } => {
                return self.above(Event::Message { from, message }, cx);
            }
            Event::Timer(LayeredTimer::Near(timer)) => return self.above(Event::Timer(timer), cx),
            Event::Message {
                from,
                message: Layered::Below(message),
            } => Event::Message { from, message },
            Event::Timer(LayeredTimer::Below(timer)) => Event::Timer(timer),
            Event::Unreachable { to } => Event::Unreachable { to },
            Event::Command(command) => Event::Command(command),
            Event::Restored(key, record) => Event::Restored(key, record),
        };
        self.below.handle(below, &mut cx.lift(Below));
    }

    fn check(&self) -> Result<(), Violation> {
        self.below.check()?;
        self.near.check()
    }
}

impl Overlay for Near {
    const PERIOD: Span = PERIOD;
    const DEADLINE: u64 = Gossip::DEADLINE + 100;

    fn build(me: NodeId) -> Self {
        let config = vicinity::Config {
            links: LINKS as u8,
            gossip: 4,
            period: PERIOD,
            timeout: Span::from_secs(5),
            ..vicinity::Config::DEFAULT
        };
        Self {
            below: Gossip::build(me),
            near: Vicinity::new(me, config, Ring, place(me), 0).expect("the values work"),
        }
    }

    fn join(introducer: NodeId) -> cyclon::Command {
        Gossip::join(introducer)
    }

    fn found() -> Option<cyclon::Command> {
        None
    }

    fn mislead(peer: NodeId) -> Option<cyclon::Command> {
        Gossip::mislead(peer)
    }

    fn leave() -> cyclon::Command {
        cyclon::Command::Leave
    }

    fn record(known: Known) -> (cyclon::Key, cyclon::Record) {
        Gossip::record(known)
    }

    fn is_in(&self) -> bool {
        true
    }

    fn peers(&self) -> Vec<NodeId> {
        self.below.peers()
    }

    /// Every node is linked to its nearest peers, and to no node that is gone.
    fn is_whole(nodes: &BTreeMap<NodeId, &Self>) -> Result<(), String> {
        for (id, node) in nodes {
            let mut nearest: Vec<NodeId> = nodes.keys().copied().filter(|it| it != id).collect();
            nearest.sort_by_key(|it| (Ring.rank(&place(*id), &place(*it)), *it));
            nearest.truncate(LINKS);
            let view: BTreeSet<NodeId> = node.near.view().iter().map(|it| it.id).collect();
            // The peer of the current exchange is out of the view until it answers.
            let missing = nearest.iter().filter(|it| !view.contains(it)).count();
            if missing > 1 {
                return Err(format!("{id} has {view:?} instead of {nearest:?}"));
            }
            if let Some(gone) = view.iter().find(|it| !nodes.contains_key(it)) {
                return Err(format!("{id} still has {gone}, which is gone"));
            }
        }
        Ok(())
    }
}

//! One node, one event at a time, and all of its effects.

mod ants;
mod hostile;
mod joining;
mod links;
mod losing;

use super::super::*;
use crate::machine::{Driver, Effect};
use core::mem;
use std::vec;
use std::vec::Vec;

type Effects = Vec<Effect<Blatant>>;

const ME: u64 = 50;

const BORN: Incarnation = Incarnation::new(0);

const CONFIG: Config = Config {
    birth: 0,
    period: Span::from_secs(256),
    timeout: Span::from_secs(300),
    remember: 1000,
    ..Config::DEFAULT
};

/// When a node that starts at 100 s has its first iteration: a 256th of a period later.
const FIRST: Time = Time::from_secs(101);

type Bench = Driver<Blatant>;

impl Bench {
    fn unborn(config: Config) -> Self {
        let build = move || Blatant::new(id(ME), config).unwrap();
        Self::new(Time::from_secs(100), build)
    }

    /// A started node with these neighbours, each with the neighbour list that it told.
    fn with_config(config: Config, links: &[(u64, &[u64])]) -> Self {
        let mut bench = Self::unborn(config);
        bench.feed(Event::Start);
        for (peer, around) in links {
            let around = Some(record(*peer, 1, around));
            let link = Neighbour::new(id(*peer), Purpose::Construction, around);
            assert!(bench.machine_mut().neighbours.insert(link));
        }
        bench
    }

    fn with(links: &[(u64, &[u64])]) -> Self {
        Self::with_config(CONFIG, links)
    }

    /// The time of this iteration comes.
    fn iterate(&mut self, iteration: u32) -> Effects {
        self.now = FIRST + CONFIG.period.times(u64::from(iteration));
        self.feed(Event::Timer(Timer { iteration }))
    }

    /// Lets the pheromone on a link fade to this part, in thousandths.
    fn decay(&mut self, peer: u64, left: u16) {
        let neighbour = self.machine_mut().neighbours.get_mut(id(peer));
        neighbour.expect("it is linked").decay(left);
    }

    fn neighbours(&self) -> Vec<u64> {
        self.machine().neighbours().map(NodeId::get).collect()
    }
}

fn id(number: u64) -> NodeId {
    NodeId::new(number)
}

fn nodes(list: &[u64]) -> Nodes {
    list.iter().map(|number| id(*number)).collect()
}

fn record(node: u64, version: u32, neighbours: &[u64]) -> Neighbourhood {
    Neighbourhood {
        node: id(node),
        incarnation: BORN,
        version,
        neighbours: nodes(neighbours),
    }
}

fn own(version: u32, neighbours: &[u64]) -> Neighbourhood {
    record(ME, version, neighbours)
}

fn change(serial: u32) -> ChangeId {
    ChangeId {
        incarnation: BORN,
        serial,
    }
}

fn send(to: u64, message: Message) -> Effect<Blatant> {
    let to = id(to);
    Effect::Send { to, message }
}

fn update(to: u64, version: u32, neighbours: &[u64]) -> Effect<Blatant> {
    send(to, Message::Update(own(version, neighbours)))
}

fn wake(iteration: u32) -> Effect<Blatant> {
    let at = FIRST + CONFIG.period.times(u64::from(iteration));
    let timer = Timer { iteration };
    Effect::Wake { at, timer }
}

fn entered(peer: u64) -> Effect<Blatant> {
    let peer = id(peer);
    Effect::Notify(Notice::Entered { peer })
}

fn left(peer: u64) -> Effect<Blatant> {
    let peer = id(peer);
    Effect::Notify(Notice::Left { peer })
}

fn knows(peers: &[u64]) -> Effect<Blatant> {
    let known = peers.iter().map(|peer| id(*peer)).collect();
    Effect::Persist(Key::Known, Record::Known(known))
}

fn link(serial: u32, purpose: Purpose, detours: u8, around: Vec<Neighbourhood>) -> Message {
    Message::Link {
        change: change(serial),
        purpose,
        detours,
        around,
    }
}

fn construct(serial: u32, detours: u8, around: Vec<Neighbourhood>) -> Message {
    link(serial, Purpose::Construction, detours, around)
}

fn optimise(around: Vec<Neighbourhood>) -> Message {
    link(9, Purpose::Optimisation, 0, around)
}

fn linked(serial: u32, own: Neighbourhood) -> Message {
    Message::Linked {
        change: change(serial),
        own,
    }
}

fn refused(serial: u32, instead: Option<u64>, around: Vec<Neighbourhood>) -> Message {
    Message::Refused {
        change: change(serial),
        instead: instead.map(id),
        around,
    }
}

fn unlink(serial: u32, way: &[u64]) -> Message {
    Message::Unlink {
        change: change(serial),
        way: nodes(way),
    }
}

fn kept(to: u64, serial: u32) -> Effect<Blatant> {
    let change = change(serial);
    send(to, Message::Kept { change })
}

fn ant(left: u8, visited: Vec<Neighbourhood>) -> Message {
    Message::Ant { left, visited }
}

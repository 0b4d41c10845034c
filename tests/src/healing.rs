//! What overlays promise once faults are over. Nodes are brought into a bad state. Then there are no more faults, and
//! the overlay must be whole by a deadline.
//!
//! A state is what some rounds of faults leave: nodes cut off from each other until they forget each other, messages
//! lost, nodes that crash, that come back with what they had on disk long ago, with nothing, or with peers that never
//! were, that leave, and that are gone for good. A seed decides all of it.
//!
//! The promise is made where it can be kept: if there is a way between any two nodes along the peers that they have or
//! remember. Where there is none, a host has to tell one node of each part of another, and does ([`Overlay::join`]).

mod overlays;

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::NodeId;
use gridweave_core::machine::{Effect, Event, Host, Machine};
use gridweave_core::overlay::cyclon::Known;
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

pub use overlays::{Ants, Gossip, Near, Zones};

/// An overlay that can be brought into bad states.
pub trait Overlay: Machine {
    /// How often a node does something by itself.
    const PERIOD: Span;
    /// After how many periods without faults the overlay is whole.
    const DEADLINE: u64;

    /// A node that has not started.
    fn build(me: NodeId) -> Self;

    /// The command to join through a node that takes part.
    fn join(introducer: NodeId) -> Self::Command;

    /// The command that makes a node the first of an overlay, if there is one. A second founder is one of the faults.
    fn found() -> Option<Self::Command>;

    /// A command that gives a node a link to a peer that does not know of it, if there is one.
    fn mislead(peer: NodeId) -> Option<Self::Command>;

    /// The command to leave.
    fn leave() -> Self::Command;

    /// The record of the peers that a node has on disk.
    fn record(known: Known) -> (Self::Key, Self::Record);

    /// Whether the node takes part in the overlay.
    fn is_in(&self) -> bool;

    /// The peers that the node has or remembers, and so will ask.
    fn peers(&self) -> Vec<NodeId>;

    /// Checks that these nodes, all that are up, are one overlay. If not, says what is wrong.
    fn is_whole(nodes: &BTreeMap<NodeId, &Self>) -> Result<(), String>;
}

/// Nodes in one process, and a network between them that can lose messages and be cut.
pub struct Network<M: Overlay> {
    hosts: BTreeMap<NodeId, Host<M>>,
    /// Nodes that are gone for good. Peers may still remember them.
    gone: Vec<NodeId>,
    /// The peers that each node had on disk some time ago.
    old: BTreeMap<NodeId, M::Record>,
    /// Messages on their way, by time of arrival.
    under_way: BTreeMap<(Time, u64), (NodeId, NodeId, M::Message)>,
    sent: u64,
    now: Time,
    rng: Xoshiro256PlusPlus,
    /// No message passes between these nodes and all others.
    apart: BTreeSet<NodeId>,
    /// How many messages of a thousand are lost.
    lost: u32,
    next_id: u64,
}

/// The longest time that a message takes.
const DELAY: Span = Span::from_millis(200);

impl<M: Overlay> Network<M> {
    /// Some nodes that joined one after the other, in the state that some faults left behind.
    pub fn in_a_bad_state(seed: u64) -> Self {
        let mut network = Self {
            hosts: BTreeMap::new(),
            gone: Vec::new(),
            old: BTreeMap::new(),
            under_way: BTreeMap::new(),
            sent: 0,
            now: Time::ZERO,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            apart: BTreeSet::new(),
            lost: 0,
            next_id: 0,
        };
        for _ in 0..3 + network.rng.below(8) {
            network.add();
            let periods = network.rng.below(4).into();
            network.run(periods);
        }
        for _ in 0..2 + network.rng.below(6) {
            network.fault();
        }
        network
    }

    /// Ends all faults: starts every node that is down, and lets all messages arrive. Returns after how many periods
    /// the overlay was whole, or what was wrong with it at the deadline.
    pub fn heal(&mut self) -> Result<u64, String> {
        self.apart.clear();
        self.lost = 0;
        for id in self.ids(|host| host.machine().is_none()) {
            self.start(id);
        }
        self.run(1);
        self.tell_parts_of_each_other();
        for period in 0..M::DEADLINE {
            if self.is_whole().is_ok() {
                return Ok(period);
            }
            self.run(1);
        }
        self.is_whole().map(|()| M::DEADLINE)
    }

    /// Checks that all nodes are one overlay. If not, says what is wrong.
    pub fn is_whole(&self) -> Result<(), String> {
        let machines = self.hosts.iter();
        let machines = machines.filter_map(|(id, host)| Some((*id, host.machine()?)));
        M::is_whole(&machines.collect())
    }

    fn ids(&self, which: impl Fn(&Host<M>) -> bool) -> Vec<NodeId> {
        let hosts = self.hosts.iter().filter(|(_, host)| which(host));
        hosts.map(|(id, _)| *id).collect()
    }

    fn some(&mut self, which: impl Fn(&Host<M>) -> bool) -> Option<NodeId> {
        let ids = self.ids(which);
        self.rng.pick(&ids).copied()
    }

    /// Adds a node, which joins through a random node that takes part.
    fn add(&mut self) {
        let introducer = self.some(|host| host.machine().is_some_and(M::is_in));
        let id = NodeId::new(self.next_id);
        self.next_id += 1;
        self.hosts.insert(id, Host::new());
        self.start(id);
        let command = introducer.map(M::join).or_else(M::found);
        self.obey(id, command);
    }

    fn start(&mut self, id: NodeId) {
        if let Some(host) = self.hosts.get_mut(&id) {
            host.start(M::build(id), self.now, &mut self.rng);
        }
        self.execute(id);
    }

    fn obey(&mut self, id: NodeId, command: Option<M::Command>) {
        if let (Some(command), Some(host)) = (command, self.hosts.get_mut(&id)) {
            host.handle(Event::Command(command), self.now, &mut self.rng);
        }
        self.execute(id);
    }

    /// Something goes wrong, for a while.
    fn fault(&mut self) {
        let periods = 1 + u64::from(self.rng.below(60));
        match self.rng.below(8) {
            0 | 1 => {
                let half: BTreeSet<NodeId> = self.ids(|_| true).into_iter().collect();
                self.apart = half
                    .into_iter()
                    .filter(|_| self.rng.below(2) == 0)
                    .collect();
            }
            2 => self.lost = [300, 900, 1000][self.rng.index(3)],
            3 | 4 => self.crash_some(),
            5 => self.add(),
            6 => self.lose_one(),
            _ => {
                let (one, other) = (self.some(|_| true), self.some(|_| true));
                if let (Some(one), Some(other)) = (one, other.filter(|other| Some(*other) != one)) {
                    let command = M::mislead(other).or_else(M::found);
                    self.obey(one, command);
                }
            }
        }
        self.run(periods);
        if self.rng.below(2) == 0 {
            self.apart.clear();
            self.lost = 0;
        }
    }

    /// A third of the nodes crash, most of them with other records on disk than before. Half of these restart at once.
    fn crash_some(&mut self) {
        for id in self.ids(|host| host.machine().is_some()) {
            if self.rng.below(3) > 0 {
                continue;
            }
            let Some(host) = self.hosts.get(&id) else {
                continue;
            };
            let mut records = host.records().clone();
            let (key, _) = M::record(Known::new());
            let before = records.get(&key).cloned();
            match (self.rng.below(4), self.old.get(&id)) {
                (0, Some(old)) => {
                    records.insert(key, old.clone());
                }
                (1, _) => {
                    records.remove(&key);
                }
                (2, _) => {
                    let nowhere = NodeId::new(1_000_000 + u64::from(self.rng.below(9)));
                    let others = self.hosts.keys().chain(&self.gone).copied();
                    let mut others: Vec<NodeId> = others.chain([nowhere]).collect();
                    let (few, _) = self.rng.sample(&mut others, 3);
                    let (key, record) = M::record(few.iter().copied().collect());
                    records.insert(key, record);
                }
                _ => {}
            }
            self.old.extend(before.map(|record| (id, record)));
            self.hosts.insert(id, Host::with_records(records));
            if self.rng.below(2) == 0 {
                self.start(id);
            }
        }
    }

    /// A node goes for good. Half of the time it leaves the overlay first.
    fn lose_one(&mut self) {
        if self.hosts.len() < 3 {
            return;
        }
        let Some(id) = self.some(|_| true) else {
            return;
        };
        if self.rng.below(2) == 0 {
            self.obey(id, Some(M::leave()));
            self.run(4);
        }
        self.hosts.remove(&id);
        self.gone.push(id);
    }

    /// If no node takes part, one becomes the first. Then one node of each island joins through a node of the main
    /// part, and so does every node that neither takes part nor knows a peer.
    fn tell_parts_of_each_other(&mut self) {
        if self
            .ids(|host| host.machine().is_some_and(M::is_in))
            .is_empty()
            && let Some(first) = self.ids(|_| true).first()
        {
            self.obey(*first, M::found());
        }
        let mut part_of: BTreeMap<NodeId, NodeId> =
            self.hosts.keys().map(|id| (*id, *id)).collect();
        for (id, host) in &self.hosts {
            for peer in host.machine().map_or(Vec::new(), M::peers) {
                if let (Some(one), Some(other)) = (part_of.get(id), part_of.get(&peer)) {
                    let (one, other) = (*one.min(other), *one.max(other));
                    part_of
                        .values_mut()
                        .filter(|part| **part == other)
                        .for_each(|part| *part = one);
                }
            }
        }
        let Some(introducer) = self.some(|host| host.machine().is_some_and(M::is_in)) else {
            return;
        };
        let main = part_of.get(&introducer).copied();
        let parts: BTreeSet<NodeId> = part_of.values().copied().collect();
        let apart = parts.into_iter().filter(|part| Some(*part) != main);
        let lost = |machine: &M| !machine.is_in() && machine.peers().is_empty();
        let lost = self.ids(|host| host.machine().is_some_and(lost));
        for id in apart.chain(lost).collect::<BTreeSet<_>>() {
            self.obey(id, Some(M::join(introducer)));
        }
    }

    /// Runs for this many periods.
    fn run(&mut self, periods: u64) {
        let end = self.now + M::PERIOD.times(periods);
        loop {
            let message = self.under_way.first_key_value().map(|((at, _), _)| *at);
            let timers = self.hosts.iter();
            let timer = timers
                .filter_map(|(id, host)| Some((host.next_at()?, *id)))
                .min();
            let next = message.into_iter().chain(timer.map(|(at, _)| at)).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                break;
            };
            self.now = self.now.max(next);
            let id = if message == Some(next) {
                let (_, (from, to, message)) = self.under_way.pop_first().expect("it was there");
                if let Some(host) = self.hosts.get_mut(&to) {
                    host.handle(Event::Message { from, message }, self.now, &mut self.rng);
                }
                to
            } else {
                let (_, id) = timer.expect("it is the next");
                if let Some(host) = self.hosts.get_mut(&id) {
                    host.fire(self.now, &mut self.rng);
                }
                id
            };
            self.execute(id);
        }
        self.now = end;
    }

    fn execute(&mut self, id: NodeId) {
        while let Some(effect) = self.hosts.get_mut(&id).and_then(Host::execute) {
            let Effect::Send { to, message } = effect else {
                continue;
            };
            let is_apart = self.apart.contains(&id) != self.apart.contains(&to);
            if is_apart || self.rng.below(1000) < self.lost {
                continue;
            }
            self.sent += 1;
            let delay = 1 + u64::from(self.rng.below(DELAY.as_micros() as u32));
            let at = self.now + Span::from_micros(delay);
            self.under_way.insert((at, self.sent), (id, to, message));
        }
        if let Some(host) = self.hosts.get(&id) {
            host.check()
                .expect("a node's own invariants hold in every state");
        }
    }
}

//! Runs many machines in virtual time.
//!
//! A [`Simulation`] is the host of all nodes of a grid. It keeps one clock, one queue of events and a disk per node, and
//! lets a [`Network`] decide when messages arrive. Events are handled one at a time, in the order of (time, sequence): of
//! two that are due at once, the one that was put there first. A run is a function of the machines, the network, the seed
//! and what its user asks for; [`Simulation::digest`] tells two histories apart.
//!
//! ```
//! use gridweave_core::heartbeat::{Command, Detector, Notice};
//! use gridweave_core::id::NodeId;
//! use gridweave_core::time::{Span, Time};
//! use gridweave_sim::engine::{Happening, Simulation};
//! use gridweave_sim::network::{Network, NetworkConfig};
//!
//! // Two nodes; one watches the other, which crashes after a minute.
//! let network = Network::new(&NetworkConfig::default(), 2, 1)?;
//! let mut grid = Simulation::new(2, network, 1, |me| {
//!     Detector::<4>::new(me, Span::from_secs(10), 3).expect("ten seconds and three pings are valid")
//! });
//! let [watcher, watched] = [NodeId::new(0), NodeId::new(1)];
//! grid.command(Time::ZERO, watcher, Command::Watch(watched));
//! grid.crash(Time::from_secs(60), watched);
//! grid.run_until(Time::from_secs(120));
//!
//! let heard: Vec<_> = grid.happenings().collect();
//! assert!(heard.iter().any(|happening| matches!(
//!     happening,
//!     Happening::Notice { node, notice: Notice::Suspected { peer }, .. } if (*node, *peer) == (watcher, watched)
//! )));
//! # Ok::<(), gridweave_sim::network::NetworkError>(())
//! ```

pub mod asap;
mod commit;
mod cyclon;
mod encode;
mod handle;
mod heartbeat;
mod slab;
#[cfg(test)]
mod tests;
mod traffic;

pub use traffic::{KindTraffic, Traffic};

use std::collections::BTreeMap;
use std::mem;
use std::num::NonZeroU32;
use std::vec::Drain;

use gridweave_core::id::NodeId;
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine, Violation};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::event_queue::EventQueue;
use crate::history::History;
use crate::network::Network;
use encode::Encoder;
use handle::{Fault, Handle, What};
use slab::Slab;

/// A machine that can be simulated: whatever crosses its border has bytes, and its messages have kinds to count.
pub trait Protocol:
    Machine<
        Message: Serialize,
        Timer: Serialize,
        Command: Serialize,
        Notice: Serialize,
        Key: Serialize,
        Record: Serialize,
    >
{
    /// The kinds of its messages, by name.
    const KINDS: &'static [&'static str];

    /// Which of the kinds a message is.
    fn kind(message: &Self::Message) -> usize;

    /// How many things a message carries, for kinds that carry several.
    fn items(_message: &Self::Message) -> u32 {
        1
    }
}

/// What a user of a simulation gets to know, in the order in which it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening<P: Protocol> {
    /// A machine tells its host something.
    Notice {
        /// When.
        at: Time,
        /// Which machine.
        node: NodeId,
        /// What.
        notice: P::Notice,
    },
    /// A command found its node down, and is lost.
    Unheard {
        /// When.
        at: Time,
        /// Which node.
        node: NodeId,
        /// What was asked.
        command: P::Command,
    },
    /// A node went down.
    Crashed {
        /// When.
        at: Time,
        /// Which node.
        node: NodeId,
    },
    /// A node came up: for the first time, or again.
    Started {
        /// When.
        at: Time,
        /// Which node.
        node: NodeId,
    },
}

/// How often machines are asked whether their invariants hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Checking {
    /// Not at all.
    #[default]
    Never,
    /// Each time a machine has handled an event.
    EveryEvent,
    /// After every so many events of the whole simulation, the machine that handled the last of them.
    Every(NonZeroU32),
}

/// An invariant that did not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken {
    /// When.
    pub at: Time,
    /// On which node.
    pub node: NodeId,
    /// Which.
    pub violation: Violation,
}

/// A node as the simulation keeps it.
#[derive(Debug)]
struct Node<P: Protocol> {
    /// None while the node is down.
    machine: Option<P>,
    /// What the machine wants to be woken with, sorted, and where it is kept.
    timers: Vec<(P::Timer, u32)>,
    /// After how many more effects the node goes down, if it is to.
    doomed: Option<u32>,
}

/// A message under way.
#[derive(Debug)]
struct Travelling<P: Protocol> {
    from: u32,
    /// The number of its sending, which stands for its content in the history.
    sent: u64,
    message: P::Message,
}

/// A timer that waits in the event queue.
#[derive(Debug)]
enum Armed<T> {
    Live(T),
    /// Replaced, cancelled, or its node went down.
    Stale,
}

/// What is in the history of a run, as the first word of each entry.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Entry {
    Start = 1,
    SendTo,
    Send,
    Deliver,
    Undelivered,
    Unreachable,
    Timer,
    Command,
    Unheard,
    Persist,
    Forget,
    Notice,
    Crash,
}

/// Many machines in virtual time.
///
/// Nodes are numbered from zero, and their ids are those numbers. While a node is down it hears nothing; its disk stays.
pub struct Simulation<P: Protocol> {
    now: Time,
    queue: EventQueue<Handle>,
    nodes: Vec<Node<P>>,
    disks: Vec<BTreeMap<P::Key, P::Record>>,
    messages: Slab<Travelling<P>>,
    timers: Slab<Armed<P::Timer>>,
    commands: Slab<P::Command>,
    build: Box<dyn FnMut(NodeId) -> P>,
    network: Network,
    rng: Xoshiro256PlusPlus,
    /// Kept to be used again.
    effects: EffectQueue<P>,
    encoder: Encoder,
    happenings: Vec<Happening<P>>,
    history: History,
    traffic: Traffic,
    checking: Checking,
    broken: Vec<Broken>,
    events: u64,
}

impl<P: Protocol> Simulation<P> {
    /// The most broken invariants that are remembered; the first ones matter.
    const MOST_BROKEN: usize = 1000;

    /// A grid of this many nodes, which start at [`Time::ZERO`] in the order of their numbers. `build` makes a machine
    /// whenever a node comes up.
    pub fn new(
        nodes: u32,
        network: Network,
        seed: u64,
        build: impl FnMut(NodeId) -> P + 'static,
    ) -> Self {
        let mut simulation = Self {
            now: Time::ZERO,
            queue: EventQueue::new(),
            nodes: Vec::new(),
            disks: Vec::new(),
            messages: Slab::default(),
            timers: Slab::default(),
            commands: Slab::default(),
            build: Box::new(build),
            network,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            effects: EffectQueue::new(),
            encoder: Encoder::default(),
            happenings: Vec::new(),
            history: History::new(),
            traffic: Traffic::new(P::KINDS),
            checking: Checking::Never,
            broken: Vec::new(),
            events: 0,
        };
        for _ in 0..nodes {
            simulation.join(Time::ZERO);
        }
        simulation
    }

    /// Counts messages for each stretch of this length, to be found in [`Traffic::per_window`] and
    /// [`Traffic::kinds_per_window`].
    pub fn count_per(&mut self, window: Span) {
        self.traffic.count_per(window);
    }

    /// Counts every message of a kind as so many bytes, whatever its encoding: for experiments in which a paper states a
    /// size.
    pub fn count_as(&mut self, kind: usize, bytes: u32) {
        self.traffic.count_as(kind, bytes);
    }

    /// Asks machines whether their invariants hold, or no longer does.
    pub fn check(&mut self, checking: Checking) {
        self.checking = checking;
    }

    /// Gives a command to a node at a time; one that is past means now.
    pub fn command(&mut self, at: Time, node: NodeId, command: P::Command) {
        let slot = self.commands.insert(command);
        self.plan(at, node, What::Command(slot));
    }

    /// Gives a command to a node at a time and lets it act at once, before anything else that is due then.
    ///
    /// Nothing may be due before that time: it counts as the time of the next event if it is later, and as now if it is past.
    pub fn command_first(&mut self, at: Time, node: NodeId, command: P::Command) {
        let latest = self.next_at().unwrap_or(Time::MAX);
        self.now = at.min(latest).max(self.now);
        if let Some(number) = self.number(node) {
            self.obey(number, command);
        }
    }

    /// Lets a node go down at a time.
    pub fn crash(&mut self, at: Time, node: NodeId) {
        self.plan(at, node, What::Fault(Fault::Crash));
    }

    /// Lets a node go down in the middle of what it does: from a time on it executes so many more effects, and no other.
    pub fn crash_after(&mut self, at: Time, node: NodeId, effects: u32) {
        self.plan(at, node, What::Fault(Fault::Doom(effects)));
    }

    /// Lets a node come up again at a time, with its disk. Nothing happens if it is up.
    pub fn restart(&mut self, at: Time, node: NodeId) {
        self.plan(at, node, What::Fault(Fault::Start));
    }

    /// Adds a node that comes up at a time, and names it.
    pub fn join(&mut self, at: Time) -> NodeId {
        let node = NodeId::new(self.nodes.len() as u64);
        self.nodes.push(Node {
            machine: None,
            timers: Vec::new(),
            doomed: None,
        });
        self.disks.push(BTreeMap::new());
        self.plan(at, node, What::Fault(Fault::Start));
        node
    }

    /// Puts something into the queue, unless the node does not exist: then it is as if nothing had been asked.
    fn plan(&mut self, at: Time, node: NodeId, what: What) {
        match self.number(node) {
            Some(number) => self.queue.push(at.max(self.now), Handle::new(number, what)),
            None => {
                if let What::Command(slot) = what {
                    self.commands.remove(slot);
                }
            }
        }
    }

    /// The number of a node, if it exists.
    fn number(&self, node: NodeId) -> Option<u32> {
        let number = u32::try_from(node.get()).ok()?;
        Some(number).filter(|number| (*number as usize) < self.nodes.len())
    }

    /// Handles everything that is due by a time, and lets the clock be that late.
    pub fn run_until(&mut self, until: Time) {
        while self.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.now = self.now.max(until);
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<Time> {
        self.queue.next_at()
    }

    /// Handles the next event; false if there is none.
    pub fn step(&mut self) -> bool {
        let Some((at, handle)) = self.queue.pop() else {
            return false;
        };
        self.now = at;
        let node = handle.node();
        match handle.what() {
            What::Message(slot) => {
                let Travelling {
                    from,
                    sent,
                    message,
                } = self.messages.remove(slot);
                self.deliver(node, from, sent, message);
            }
            What::Timer(slot) => {
                if let Armed::Live(timer) = self.timers.remove(slot) {
                    self.fire(node, timer);
                }
            }
            What::Command(slot) => {
                let command = self.commands.remove(slot);
                self.obey(node, command);
            }
            What::Unreachable(to) => {
                if self.is_up(node) {
                    self.note(Entry::Unreachable, node, u64::from(to));
                    let to = NodeId::new(u64::from(to));
                    self.handle(node, Event::Unreachable { to });
                }
            }
            What::Fault(Fault::Start) => self.start(node),
            What::Fault(Fault::Crash) => self.go_down(node),
            What::Fault(Fault::Doom(effects)) => {
                if let Some(node) = self.nodes.get_mut(node as usize) {
                    node.doomed = node.machine.as_ref().map(|_| effects);
                }
            }
        }
        true
    }

    fn is_up(&self, node: u32) -> bool {
        self.nodes
            .get(node as usize)
            .is_some_and(|node| node.machine.is_some())
    }

    fn note(&mut self, entry: Entry, node: u32, detail: u64) {
        self.history
            .words([entry as u64, self.now.as_micros(), u64::from(node), detail]);
    }

    /// Adds an entry with the encoding of a value to the history, and returns the length of the encoding.
    fn note_value(&mut self, entry: Entry, node: u32, value: &impl Serialize) -> usize {
        let bytes = self.encoder.encode(value);
        self.history.words([
            entry as u64,
            self.now.as_micros(),
            u64::from(node),
            bytes.len() as u64,
        ]);
        self.history.bytes(bytes);
        bytes.len()
    }

    fn deliver(&mut self, node: u32, from: u32, sent: u64, message: P::Message) {
        if self.is_up(node) {
            self.note(Entry::Deliver, node, sent);
            let from = NodeId::new(u64::from(from));
            self.handle(node, Event::Message { from, message });
        } else {
            self.undelivered(node, from, sent);
        }
    }

    fn undelivered(&mut self, node: u32, from: u32, sent: u64) {
        self.note(Entry::Undelivered, node, sent);
        self.traffic.undelivered();
        if let Some(at) = self.network.bounce(self.now, from, node) {
            self.queue
                .push(at, Handle::new(from, What::Unreachable(node)));
        }
    }

    fn fire(&mut self, node: u32, timer: P::Timer) {
        let timers = &mut self.nodes[node as usize].timers;
        if let Ok(position) = timers.binary_search_by_key(&timer, |(timer, _)| *timer) {
            timers.remove(position);
        }
        self.note_value(Entry::Timer, node, &timer);
        self.handle(node, Event::Timer(timer));
    }

    fn obey(&mut self, node: u32, command: P::Command) {
        if self.is_up(node) {
            self.note_value(Entry::Command, node, &command);
            self.handle(node, Event::Command(command));
        } else {
            self.note_value(Entry::Unheard, node, &command);
            self.happenings.push(Happening::Unheard {
                at: self.now,
                node: NodeId::new(u64::from(node)),
                command,
            });
        }
    }

    fn start(&mut self, node: u32) {
        if self.is_up(node) {
            return;
        }
        self.note(Entry::Start, node, 0);
        let id = NodeId::new(u64::from(node));
        self.nodes[node as usize].machine = Some((self.build)(id));
        self.happenings.push(Happening::Started {
            at: self.now,
            node: id,
        });
        let records: Vec<_> = self.disks[node as usize]
            .iter()
            .map(|(key, record)| (*key, record.clone()))
            .collect();
        for (key, record) in records {
            self.handle(node, Event::Restored(key, record));
        }
        self.handle(node, Event::Start);
    }

    fn go_down(&mut self, node: u32) {
        if !self.is_up(node) {
            return;
        }
        self.note(Entry::Crash, node, 0);
        let state = &mut self.nodes[node as usize];
        state.machine = None;
        state.doomed = None;
        for (_, slot) in state.timers.drain(..) {
            self.timers.replace(slot, Armed::Stale);
        }
        self.happenings.push(Happening::Crashed {
            at: self.now,
            node: NodeId::new(u64::from(node)),
        });
    }

    fn handle(&mut self, node: u32, event: Event<P>) {
        let state = &mut self.nodes[node as usize];
        let Some(machine) = state.machine.as_mut() else {
            return;
        };
        self.events += 1;
        let mut effects = mem::take(&mut self.effects);
        effects.feed(machine, event, self.now, &mut self.rng);
        let asked = match self.checking {
            Checking::Never => false,
            Checking::EveryEvent => true,
            Checking::Every(events) => self.events.is_multiple_of(u64::from(events.get())),
        };
        if asked
            && let Err(violation) = machine.check()
            && self.broken.len() < Self::MOST_BROKEN
        {
            self.broken.push(Broken {
                at: self.now,
                node: NodeId::new(u64::from(node)),
                violation,
            });
        }
        for effect in effects.drain() {
            if let Some(left) = &mut self.nodes[node as usize].doomed {
                if *left == 0 {
                    break;
                }
                *left -= 1;
            }
            self.execute(node, effect);
        }
        self.effects = effects;
        if self.nodes[node as usize].doomed == Some(0) {
            self.go_down(node);
        }
    }

    fn execute(&mut self, node: u32, effect: Effect<P>) {
        match effect {
            Effect::Persist(key, record) => {
                self.note_value(Entry::Persist, node, &(key, &record));
                self.disks[node as usize].insert(key, record);
            }
            Effect::Forget(key) => {
                self.note_value(Entry::Forget, node, &key);
                self.disks[node as usize].remove(&key);
            }
            Effect::Send { to, message } => self.send(node, to, message),
            Effect::Wake { at, timer } => self.wake(node, at, timer),
            Effect::Cancel(timer) => {
                if let Ok(position) = self.find_timer(node, timer) {
                    let (_, slot) = self.nodes[node as usize].timers.remove(position);
                    self.timers.replace(slot, Armed::Stale);
                }
            }
            Effect::Notify(notice) => {
                self.note_value(Entry::Notice, node, &notice);
                self.happenings.push(Happening::Notice {
                    at: self.now,
                    node: NodeId::new(u64::from(node)),
                    notice,
                });
            }
        }
    }

    fn find_timer(&self, node: u32, timer: P::Timer) -> Result<usize, usize> {
        self.nodes[node as usize]
            .timers
            .binary_search_by_key(&timer, |(timer, _)| *timer)
    }

    fn send(&mut self, node: u32, to: NodeId, message: P::Message) {
        self.note(Entry::SendTo, node, to.get());
        let bytes = self.note_value(Entry::Send, node, &message);
        let items = P::items(&message);
        self.traffic.sent(self.now, P::kind(&message), bytes, items);
        let sent = self.traffic.total().messages;
        let target = match u32::try_from(to.get()) {
            Ok(target) if (target as usize) < self.nodes.len() => target,
            // Nobody has this name, which its inventor may be told if it looks like one.
            Ok(target) if target <= Handle::MOST => return self.undelivered(target, node, sent),
            _ => return self.traffic.undelivered(),
        };
        let mut arrivals = self.network.transmit(self.now, node, target);
        let first = arrivals.next();
        for at in arrivals {
            self.travel(at, target, node, sent, message.clone());
        }
        if let Some(at) = first {
            self.travel(at, target, node, sent, message);
        }
    }

    fn travel(&mut self, at: Time, to: u32, from: u32, sent: u64, message: P::Message) {
        let slot = self.messages.insert(Travelling {
            from,
            sent,
            message,
        });
        self.queue.push(at, Handle::new(to, What::Message(slot)));
    }

    fn wake(&mut self, node: u32, at: Time, timer: P::Timer) {
        let found = self.find_timer(node, timer);
        let timers = &mut self.nodes[node as usize].timers;
        if let Ok(position) = found {
            let (_, slot) = timers[position];
            self.timers.replace(slot, Armed::Stale);
        }
        if at == Time::MAX {
            // Never due, as far as anyone can wait.
            if let Ok(position) = found {
                timers.remove(position);
            }
            return;
        }
        let slot = self.timers.insert(Armed::Live(timer));
        match found {
            Ok(position) => timers[position].1 = slot,
            Err(position) => timers.insert(position, (timer, slot)),
        }
        self.queue
            .push(at.max(self.now), Handle::new(node, What::Timer(slot)));
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many nodes there are, down ones included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node's machine, if it is up.
    pub fn machine(&self, node: NodeId) -> Option<&P> {
        let number = usize::try_from(node.get()).ok()?;
        self.nodes.get(number)?.machine.as_ref()
    }

    /// What is on a node's disk.
    pub fn disk(&self, node: NodeId) -> impl Iterator<Item = (&P::Key, &P::Record)> {
        let number = usize::try_from(node.get()).ok();
        let disk = number.and_then(|number| self.disks.get(number));
        disk.into_iter().flatten()
    }

    /// What happened since this was last asked, in order.
    pub fn happenings(&mut self) -> Drain<'_, Happening<P>> {
        self.happenings.drain(..)
    }

    /// What was sent.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The network between the nodes.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The invariants that did not hold, in order; the first thousand.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// How many events machines have handled.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The digest of all that has happened.
    pub fn digest(&self) -> String {
        self.history.digest()
    }
}

impl<P: Protocol> std::fmt::Debug for Simulation<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("now", &self.now)
            .field("nodes", &self.nodes.len())
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

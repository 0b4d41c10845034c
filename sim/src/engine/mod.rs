//! Runs many machines in virtual time.
//!
//! A [`Simulation`] is the host of all nodes of a grid. It keeps one clock, one queue of events and a disk per node,
//! and lets a [`Network`] decide when messages arrive. Events are handled one at a time, in the order of (time,
//! sequence): of two that are due at once, the one that was put there first. A run is a function of the machines, the
//! network, the seed and what its user asks for; [`Simulation::digest`] tells two histories apart.
//!
//! ```
//! use gridweave_core::heartbeat::{Command, Detector, Notice};
//! use gridweave_core::id::NodeId;
//! use gridweave_core::time::{Span, Time};
//! use gridweave_sim::engine::{Happening, Simulation};
//! use gridweave_sim::network::{Network, NetworkConfig};
//!
//! // Two nodes; one watches the other, which crashes after a minute.
//! let network = Network::new(&NetworkConfig::default(), 1)?;
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

mod acting;
mod coming_up;
mod group;
mod handle;
mod kinds;
mod slab;
#[cfg(test)]
mod tests;
mod timers;
mod traffic;

pub use traffic::{KindTraffic, Traffic, is_of};

use std::hint::black_box;
use std::num::NonZeroU32;
use std::vec::Drain;

use std::collections::BTreeMap;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::machine::{Context, Event, Machine, Violation};
use gridweave_core::sorted::SortedMap;
use gridweave_core::time::{Span, Time};
use gridweave_core::trace::{Tally, Trace};
use gridweave_core::wire::Framed;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::event_queue::EventQueue;
use crate::history::History;
use crate::network::Network;
use acting::{Acting, Armed, Entry, Explained, Travelling, World};
use coming_up::ComingUp;
use group::Group;
use handle::{Fault, Handle, What};
use slab::Slab;
use timers::Timers;

/// A machine that can be simulated: all that enters or leaves it can be encoded, and its messages have kinds to count.
/// Implemented for every machine that qualifies.
pub trait Simulated:
    Machine<
        Message: Framed,
        Timer: Serialize,
        Command: Serialize,
        Notice: Serialize,
        Key: Serialize,
        Record: Serialize,
    >
{
}

impl<M> Simulated for M where
    M: Machine<
            Message: Framed,
            Timer: Serialize,
            Command: Serialize,
            Notice: Serialize,
            Key: Serialize,
            Record: Serialize,
        >
{
}

/// What a caller may tell a simulation about its machines. Only speed and statistics depend on it.
#[derive(Clone, Copy)]
pub struct Hints<M: Simulated> {
    /// How many items a message carries, for kinds that carry several.
    pub items: fn(&M::Message) -> u32,
    /// Reads a word here and there of what a machine needs for its next event, perhaps a message from this node, so
    /// that it is in the cache then. Worth it for machines of several cache lines of which there are many.
    pub touch: fn(&M, Option<NodeId>) -> u64,
}

impl<M: Simulated> Default for Hints<M> {
    fn default() -> Self {
        Self {
            items: |_| 1,
            touch: |_, _| 0,
        }
    }
}

/// What a simulation tells its caller, in the order in which it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening<C, N> {
    /// A machine tells its host something.
    Notice {
        /// When the machine told it.
        at: Time,
        /// The node of the machine.
        node: NodeId,
        /// What the machine told.
        notice: N,
    },
    /// A machine says what it does for the job that is [explained](Simulation::explain), and why.
    Traced {
        /// When it did that.
        at: Time,
        /// The node of the machine.
        node: NodeId,
        /// What it did.
        trace: Trace,
    },
    /// A command found its node down, and is lost.
    Unheard {
        /// When the command came.
        at: Time,
        /// The node that was down.
        node: NodeId,
        /// The command that is lost.
        command: C,
    },
    /// A node went down.
    Crashed {
        /// When it went down.
        at: Time,
        /// The node that went down.
        node: NodeId,
    },
    /// A node came up: for the first time, or again.
    Started {
        /// When it came up.
        at: Time,
        /// The node that came up.
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
    /// After every nth event of the whole simulation, the machine that handled it.
    Every(NonZeroU32),
}

/// An invariant that did not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken {
    /// When it was found broken.
    pub at: Time,
    /// The node on which it does not hold.
    pub node: NodeId,
    /// The invariant.
    pub violation: Violation,
}

/// A node as the simulation keeps it.
#[derive(Debug)]
struct Node<M: Simulated> {
    /// None while the node is down.
    machine: Option<M>,
    timers: Timers<M::Timer>,
    /// After how many more effects the node goes down, if it is to.
    doomed: Option<u32>,
}

/// Many machines in virtual time.
///
/// Nodes are numbered from zero, and their ids are those numbers. While a node is down it hears nothing; its disk
/// stays.
pub struct Simulation<M: Simulated> {
    nodes: Vec<Node<M>>,
    world: World<M>,
    commands: Slab<M::Command>,
    build: Box<dyn FnMut(NodeId) -> M>,
    rng: Xoshiro256PlusPlus,
    checking: Checking,
    broken: Vec<Broken>,
    /// What machines are told when they come up next.
    survived: BTreeMap<u32, Vec<M::Command>>,
    events: u64,
    coming_up: ComingUp,
    /// What nodes hold back, if they commit in groups.
    group: Option<Group<M>>,
    touch: fn(&M, Option<NodeId>) -> u64,
    /// How many of the events that come next have had their targets touched.
    touched: usize,
}

impl<M: Simulated> Simulation<M> {
    /// The most broken invariants that are remembered; the first ones matter.
    const MOST_BROKEN: usize = 1000;

    /// If all nodes together have no more bytes than this, they are in the cache anyway.
    const IN_CACHE: usize = 1 << 20;

    /// The nodes of this many events are touched together: enough to make one wait worthwhile, and few enough to be
    /// still in the nearest cache when they are needed.
    const NEAR: usize = 32;

    /// A grid of this many nodes, which start at [`Time::ZERO`] in the order of their numbers. `build` makes a machine
    /// whenever a node comes up.
    pub fn new(
        nodes: u32,
        network: Network,
        seed: u64,
        build: impl FnMut(NodeId) -> M + 'static,
    ) -> Self {
        Self::with_hints(nodes, network, seed, Hints::default(), build)
    }

    /// The same, with hints.
    pub fn with_hints(
        nodes: u32,
        network: Network,
        seed: u64,
        Hints { items, touch }: Hints<M>,
        build: impl FnMut(NodeId) -> M + 'static,
    ) -> Self {
        let mut simulation = Self {
            nodes: Vec::with_capacity(nodes as usize),
            world: World {
                now: Time::ZERO,
                nodes: 0,
                queue: EventQueue::new(),
                disks: Vec::with_capacity(nodes as usize),
                messages: Slab::default(),
                timers: Slab::default(),
                network,
                happenings: Vec::new(),
                history: History::new(),
                traffic: Traffic::new(M::Message::KINDS),
                items,
                explained: None,
            },
            commands: Slab::default(),
            build: Box::new(build),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            checking: Checking::Never,
            broken: Vec::new(),
            survived: BTreeMap::new(),
            events: 0,
            coming_up: ComingUp::default(),
            group: None,
            touch,
            touched: 0,
        };
        for _ in 0..nodes {
            simulation.join(Time::ZERO);
        }
        simulation
    }

    /// Counts messages for each stretch of this length, to be found in [`Traffic::per_window`] and
    /// [`Traffic::kinds_per_window`].
    pub fn count_per(&mut self, window: Span) {
        self.world.traffic.count_per(window);
    }

    /// Has every step of this job told as [`Happening::Traced`], and the reasons of all jobs [counted](Self::reasons).
    pub fn explain(&mut self, job: JobId) {
        let reasons = Tally::new();
        self.world.explained = Some(Explained { job, reasons });
    }

    /// How often which reason was given, since a job is explained.
    pub fn reasons(&self) -> Tally {
        let explained = self.world.explained.as_ref();
        explained.map_or(Tally::new(), |explained| explained.reasons.clone())
    }

    /// Sets how often machines are asked whether their invariants hold.
    pub fn check(&mut self, checking: Checking) {
        self.checking = checking;
    }

    /// Lets nodes commit in groups: a node holds back the effects of its events for this long after the first of them.
    /// Then its records become durable, and the other effects follow ([`EffectQueue::group_records`]). [`Span::ZERO`]
    /// makes a group of the events of one instant. Without this call, each effect happens at once.
    ///
    /// A crash loses what is held back.
    ///
    /// [`EffectQueue::group_records`]: gridweave_core::machine::EffectQueue::group_records
    pub fn group_commit(&mut self, window: Span) {
        self.group = Some(Group::new(window, self.nodes.len()));
    }

    /// Gives a command to a node at a time; a time that is past means now.
    pub fn command(&mut self, at: Time, node: NodeId, command: M::Command) {
        let slot = self.commands.insert(command);
        self.plan(at, node, What::Command(slot));
    }

    /// Gives a command to a node at a time and lets it act at once, before anything else that is due then.
    ///
    /// No event may be due before `at`: a later `at` counts as the time of the next event, and a past one as now.
    pub fn command_first(&mut self, at: Time, node: NodeId, command: M::Command) {
        let latest = self.next_at().unwrap_or(Time::MAX);
        self.world.now = at.min(latest).max(self.world.now);
        if let Some(number) = self.number(node) {
            self.obey(number, command);
        }
    }

    /// Lets a node go down at a time.
    pub fn crash(&mut self, at: Time, node: NodeId) {
        self.plan(at, node, What::Fault(Fault::Crash));
    }

    /// Lets a node go down in the middle of its effects: from a time on it executes `effects` more, and then goes down. If
    /// it is down then, they are those of its next start.
    pub fn crash_after(&mut self, at: Time, node: NodeId, effects: u32) {
        self.plan(at, node, What::Fault(Fault::Doom(effects)));
    }

    /// Lets a node come up again at a time, with its disk. Nothing happens if it is up.
    pub fn restart(&mut self, at: Time, node: NodeId) {
        self.plan(at, node, What::Fault(Fault::Start));
    }

    /// What a node's machine is told when it comes up next, between its records and its start: what outlived its
    /// earlier life.
    pub fn survive(&mut self, node: NodeId, commands: Vec<M::Command>) {
        if let Some(number) = self.number(node) {
            self.survived.insert(number, commands);
        }
    }

    /// Adds a node that comes up at a time, and names it.
    pub fn join(&mut self, at: Time) -> NodeId {
        let node = NodeId::new(u64::from(self.world.nodes));
        self.nodes.push(Node {
            machine: None,
            timers: Timers::None,
            doomed: None,
        });
        self.world.nodes += 1;
        self.world.disks.push(SortedMap::new());
        if let Some(group) = &mut self.group {
            group.join();
        }
        self.plan(at, node, What::Fault(Fault::Start));
        node
    }

    /// Queues an event for a node. If the node does not exist, this does nothing.
    fn plan(&mut self, at: Time, node: NodeId, what: What) {
        match self.number(node) {
            Some(number) => {
                if matches!(what, What::Fault(Fault::Start)) && at > Time::ZERO {
                    self.coming_up.add(number);
                }
                let at = at.max(self.world.now);
                self.world.queue.push(at, Handle::new(number, what));
            }
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
        Some(number).filter(|number| *number < self.world.nodes)
    }

    /// Handles all events that are due by a time, and sets the clock to that time.
    pub fn run_until(&mut self, until: Time) {
        while self.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.world.now = self.world.now.max(until);
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<Time> {
        self.world.queue.next_at()
    }

    /// Handles the next event; false if there is none.
    pub fn step(&mut self) -> bool {
        let Some((at, handle)) = self.world.queue.pop() else {
            return false;
        };
        self.look_ahead();
        self.world.now = at;
        let node = handle.node();
        match handle.what() {
            What::Message(slot) => {
                let Travelling {
                    from,
                    sent,
                    message,
                } = self.world.messages.remove(slot);
                self.deliver(node, from, sent, message);
            }
            What::Timer(slot) => {
                if let Armed::Live(timer) = self.world.timers.remove(slot) {
                    self.fire(node, timer);
                }
            }
            What::Command(slot) => {
                let command = self.commands.remove(slot);
                self.obey(node, command);
            }
            What::Unreachable(to) => {
                if self.is_up(node) {
                    self.world.note(Entry::Unreachable, node, u64::from(to));
                    let to = NodeId::new(u64::from(to));
                    self.handle(node, Event::Unreachable { to });
                }
            }
            What::Fault(Fault::Start) => {
                if at > Time::ZERO {
                    self.coming_up.take(node);
                }
                self.start(node);
            }
            What::Fault(Fault::Crash) => self.go_down(node),
            What::Commit => self.commit(node),
            What::Fault(Fault::Doom(effects)) => {
                if let Some(node) = self.nodes.get_mut(node as usize) {
                    node.doomed = Some(effects);
                }
            }
        }
        true
    }

    /// Reads something of the nodes that come next, so that the processor waits for their memory all at once and not
    /// for one after the other. Nothing but time depends on it, and there is none to win while all nodes are in the
    /// cache.
    fn look_ahead(&mut self) {
        if self.nodes.len() * size_of::<Node<M>>() < Self::IN_CACHE {
            return;
        }
        if self.touched > 0 {
            self.touched -= 1;
            return;
        }
        let upcoming = self.world.queue.upcoming();
        let near = &upcoming[..upcoming.len().min(Self::NEAR)];
        self.touched = near.len();
        for (_, handle) in near {
            black_box(self.nodes[handle.node() as usize].doomed.is_some());
            match handle.what() {
                What::Message(slot) => self.world.messages.touch(slot),
                What::Timer(slot) => self.world.timers.touch(slot),
                _ => {}
            }
        }
        for (_, handle) in near {
            let from = match handle.what() {
                What::Message(slot) => self.world.messages.get(slot).map(|it| it.from),
                _ => None,
            };
            let from = from.map(|from| NodeId::new(u64::from(from)));
            let machine = self.nodes[handle.node() as usize].machine.as_ref();
            black_box(machine.map_or(0, |machine| (self.touch)(machine, from)));
        }
    }

    /// Whether a node is down with no start planned, or does not exist.
    pub fn is_gone(&self, node: NodeId) -> bool {
        let number = self.number(node);
        number.is_none_or(|number| !self.is_up(number) && !self.coming_up.contains(number))
    }

    fn is_up(&self, node: u32) -> bool {
        self.nodes
            .get(node as usize)
            .is_some_and(|node| node.machine.is_some())
    }

    fn deliver(&mut self, node: u32, from: u32, sent: u64, message: M::Message) {
        if self.is_up(node) {
            self.world.note(Entry::Deliver, node, sent);
            let from = NodeId::new(u64::from(from));
            self.handle(node, Event::Message { from, message });
        } else {
            self.world.undelivered(node, from, sent);
        }
    }

    fn fire(&mut self, node: u32, timer: M::Timer) {
        self.nodes[node as usize].timers.remove(timer);
        self.world.note_value(Entry::Timer, node, &timer);
        self.handle(node, Event::Timer(timer));
    }

    fn obey(&mut self, node: u32, command: M::Command) {
        if self.is_up(node) {
            self.world.note_value(Entry::Command, node, &command);
            self.handle(node, Event::Command(command));
        } else {
            self.world.note_value(Entry::Unheard, node, &command);
            self.world.happenings.push(Happening::Unheard {
                at: self.world.now,
                node: NodeId::new(u64::from(node)),
                command,
            });
        }
    }

    fn start(&mut self, node: u32) {
        if self.is_up(node) {
            return;
        }
        self.world.note(Entry::Start, node, 0);
        let id = NodeId::new(u64::from(node));
        self.nodes[node as usize].machine = Some((self.build)(id));
        self.world.happenings.push(Happening::Started {
            at: self.world.now,
            node: id,
        });
        let records: Vec<_> = self.world.disks[node as usize]
            .iter()
            .map(|(key, record)| (*key, record.clone()))
            .collect();
        for (key, record) in records {
            self.handle(node, Event::Restored(key, record));
        }
        for command in self.survived.remove(&node).unwrap_or_default() {
            self.handle(node, Event::Command(command));
        }
        self.handle(node, Event::Start);
    }

    fn go_down(&mut self, node: u32) {
        if !self.is_up(node) {
            return;
        }
        self.world.note(Entry::Crash, node, 0);
        let state = &mut self.nodes[node as usize];
        state.machine = None;
        state.doomed = None;
        for slot in state.timers.take() {
            self.world.timers.replace(slot, Armed::Stale);
        }
        if let Some(group) = &mut self.group {
            let held = &mut group.nodes[node as usize];
            held.effects.clear();
        }
        self.world.happenings.push(Happening::Crashed {
            at: self.world.now,
            node: NodeId::new(u64::from(node)),
        });
    }

    fn handle(&mut self, node: u32, event: Event<M>) {
        let Node {
            machine,
            timers,
            doomed,
        } = &mut self.nodes[node as usize];
        let Some(machine) = machine else {
            return;
        };
        self.events += 1;
        match &mut self.group {
            None => {
                let mut acting = Acting {
                    node,
                    timers,
                    doomed,
                    rng: &mut self.rng,
                    world: &mut self.world,
                };
                machine.handle(event, &mut acting);
            }
            Some(group) => {
                let (held, now) = (&mut group.nodes[node as usize], self.world.now);
                held.effects.feed(machine, event, now, &mut self.rng);
                if !held.effects.is_empty() && !held.is_planned {
                    held.is_planned = true;
                    let commit = Handle::new(node, What::Commit);
                    self.world.queue.push(now + group.window, commit);
                }
            }
        }
        let is_over = *doomed == Some(0);
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
                at: self.world.now,
                node: NodeId::new(u64::from(node)),
                violation,
            });
        }
        if is_over {
            self.go_down(node);
        }
    }

    /// Carries out what a node has held back: first its records, then all else in order.
    fn commit(&mut self, node: u32) {
        let Some(group) = &mut self.group else {
            return;
        };
        let held = &mut group.nodes[node as usize];
        held.is_planned = false;
        let Node { timers, doomed, .. } = &mut self.nodes[node as usize];
        let mut acting = Acting {
            node,
            timers,
            doomed,
            rng: &mut self.rng,
            world: &mut self.world,
        };
        while !held.effects.is_empty() {
            let group = held.effects.group_records();
            for _ in 0..group.records + group.others {
                if let Some(effect) = held.effects.pop() {
                    acting.push(effect);
                }
            }
        }
        if *doomed == Some(0) {
            self.go_down(node);
        }
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.world.now
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
    pub fn machine(&self, node: NodeId) -> Option<&M> {
        let number = usize::try_from(node.get()).ok()?;
        self.nodes.get(number)?.machine.as_ref()
    }

    /// What is on a node's disk.
    pub fn disk(&self, node: NodeId) -> impl Iterator<Item = (&M::Key, &M::Record)> {
        let number = usize::try_from(node.get()).ok();
        let disk = number.and_then(|number| self.world.disks.get(number));
        disk.into_iter().flat_map(SortedMap::iter)
    }

    /// What happened since this was last asked, in order.
    pub fn happenings(&mut self) -> Drain<'_, Happening<M::Command, M::Notice>> {
        self.world.happenings.drain(..)
    }

    /// What was sent.
    pub fn traffic(&self) -> &Traffic {
        &self.world.traffic
    }

    /// The network between the nodes.
    pub fn network(&self) -> &Network {
        &self.world.network
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
        self.world.history.digest()
    }
}

impl<M: Simulated> std::fmt::Debug for Simulation<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("now", &self.world.now)
            .field("nodes", &self.nodes.len())
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

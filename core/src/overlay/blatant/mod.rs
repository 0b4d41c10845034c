//! BLATANT-S: ants add and remove links, so that all ways are short and there are few links (PROTOCOLS 4).
//!
//! Links are symmetric: two nodes are neighbours or they are not. Ants walk along links at random. They carry the
//! neighbour lists of the nodes visited last, so each node knows a part of the overlay. If a node in that part is
//! `2 D - 1` links away or more, the two are linked. If there is a way of at most `T` links around a link, the link is
//! removed. So two nodes are hardly farther apart than `2 D - 2`, with about as few links as that allows.
//!
//! ```text
//!   a node and a far node                            the two ends of a link, and a way around it
//!   Link ─────────────────▶ has room, knows no       Unlink ──▶ holds ──▶ holds ──▶ drops the link
//!                           short way either         drops it  ◀──────────────────  NotLinked
//!   has the link  ◀──────── Linked
//! ```
//!
//! # Rules
//! - A node has at most one change of links of its own under way. Each iteration begins at most one.
//! - A node asks a far peer for a link only if the peer seemed far for [`Config::suspense`] iterations and never near.
//!   The peer refuses if it saw the asker near. For in the small part that a node knows, many near peers seem far.
//! - The ant that ends a link walks the way around it. Every node on the way holds its links for a while. So no two
//!   links end because of each other, or because of a way that is gone. No node gives up one of its last two links.
//! - A full node, too, gives a link to a joiner or for a repair (up to [`MOST_LINKS`]), or names another node to ask.
//!   A node with too many links ends one.
//! - If nothing came over a link for long, the neighbour is pinged. Without an answer it counts as dead. Its neighbours
//!   know each other from its last list and form a ring. The neighbours of a leaver do the same.
//! - A node with fewer than two links asks for one more.
//! - Ants, updates, pings and pongs carry the sender's neighbour list. So a link that only one end has is dropped.
//! - A joiner asks a node of the overlay for a link ([`Command::Join`]). A node keeps contacts on disk: its introducer,
//!   some neighbours, and earlier ones while there is room. A node without neighbours asks them, also after a restart.
//! - The last few peers that did not answer are asked again, one of them in every seventh iteration.
//! - If a node does not see a contact, it asks it for a link: the two may be on different islands. While no answer
//!   comes, it asks one contact every [`Config::remember`] iterations. After each answer it asks less often, for a node
//!   in a large overlay does not see all others. It asks soon after a neighbour has denied their link, as many do after
//!   a restart. A link too many is removed like any other.
//!
//! # What holds after faults
//! Once messages arrive again, the overlay becomes one, if all nodes that are up are connected by links and contacts
//! ([`Blatant::known`], [`Blatant::missed`]). A node without neighbours asks one contact every [`Config::patience`]
//! iterations. A node with neighbours asks a peer that did not answer in every seventh iteration, and a contact that it
//! does not see at least every `16 max(sighted, remember)` iterations.
//!
//! A node keeps only [`KNOWN`] contacts, and every [`Config::remember`] iterations some of its neighbours come before
//! the others. So a node that has many neighbours forgets an introducer that stays silent. It may even forget it before
//! it has asked it: if it waited for another link at [`Command::Join`] and got that link, the introducer is only a
//! contact. Where [`Command::Join`] is to connect two islands, the host gives it again until the two are one.
//!
//! A liar can have links added and dropped, for nothing here authenticates a sender. It cannot make a node or a message
//! grow. The work that it causes is in proportion to the messages that it sends; ants that it lets live again are
//! stopped when a node has sent on many of them in an iteration.
//!
//! # Example
//! A hundred nodes in a ring, in which the farthest two are 50 links apart.
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::machine::{Effect, EffectQueue, Event, TimerQueue};
//! use gridweave_core::overlay::blatant::{Blatant, Command, Config};
//! use gridweave_core::time::Time;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let id = |node: usize| NodeId::new(node as u64);
//! let mut nodes: Vec<Blatant> = (0..100)
//!     .map(|node| Blatant::new(id(node), Config::DEFAULT).expect("the defaults work"))
//!     .collect();
//! let mut timers = TimerQueue::new();
//! let mut inbox: Vec<(usize, Event<Blatant>)> = (0..100).map(|node| (node, Event::Start)).collect();
//! for node in 0..100 {
//!     inbox.push((node, Event::Command(Command::Meet(id((node + 1) % 100)))));
//!     inbox.push((node, Event::Command(Command::Meet(id((node + 99) % 100)))));
//! }
//!
//! let (mut now, mut effects) = (Time::ZERO, EffectQueue::new());
//! while now < Time::from_secs(1200) {
//!     for (node, event) in std::mem::take(&mut inbox) {
//!         effects.feed(&mut nodes[node], event, now, &mut rng);
//!         for effect in effects.drain() {
//!             match effect {
//!                 Effect::Send { to, message } => {
//!                     inbox.push((to.get() as usize, Event::Message { from: id(node), message }));
//!                 }
//!                 Effect::Wake { at, timer } => timers.wake(at, (node, timer)),
//!                 Effect::Persist(..) | Effect::Notify(_) | Effect::Forget(_) | Effect::Cancel(_) => {}
//!             }
//!         }
//!     }
//!     if inbox.is_empty() {
//!         now = timers.next_at().expect("a node always has its next iteration ahead");
//!         let (_, (node, timer)) = timers.pop_due(now).expect("the next timer is due when it is due");
//!         inbox.push((node, Event::Timer(timer)));
//!     }
//! }
//! // Some have more than two neighbours now, and a link is known at both of its ends.
//! assert!(nodes.iter().any(|node| node.neighbours().len() > 2));
//! for node in &nodes {
//!     for neighbour in node.neighbours() {
//!         assert!(nodes[neighbour.get() as usize].neighbours().any(|id| id == node.id()));
//!     }
//! }
//! ```

mod alpha;
mod ants;
mod config;
mod linking;
mod message;
mod neighbours;
mod repair;
mod reunion;
mod routes;
mod sightings;
#[cfg(test)]
mod tests;
mod unlinking;

pub use config::Config;
pub use message::{ChangeId, Message, Neighbourhood, Nodes, Purpose, Way};
pub use neighbours::Neighbour;

use alloc::vec::Vec;

use alpha::Alpha;
use neighbours::Neighbours;
use reunion::Reunion;
use routes::Routes;
use sightings::Sightings;

use crate::config::ConfigError;
use crate::id::{Incarnation, NodeId};
use crate::machine::{Context, Event, Machine, Violation};
use crate::overlay::contacts::Contacts;
pub use crate::overlay::contacts::{KNOWN, Known};
use crate::rng::Choose;
use crate::time::{Span, Time};

/// The most links that a node can have, even if more joiners ask.
pub const MOST_LINKS: usize = 16;

/// The most neighbourhoods in a message.
pub const MOST_RECORDS: usize = 32;

/// The most gaps that a node remembers.
const GAPS: usize = 4;

/// Into how many parts a period is divided to let nodes begin at different times.
const PHASES: u32 = 256;

/// A node of the overlay.
///
/// Most effects per event: three for each link that it has or had (a ping, an update, a notice), and eight more.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Blatant {
    me: NodeId,
    config: Config,
    neighbours: Neighbours,
    alpha: Alpha,
    sightings: Sightings,
    contacts: Contacts,
    life: Life,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Life {
    NotStarted { last: Option<Incarnation> },
    Running(Running),
    Left { incarnation: Incarnation },
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Running {
    incarnation: Incarnation,
    /// The iteration that comes next, and when.
    iteration: u32,
    due: Time,
    /// How many ants came to be sent on since the last iteration.
    ants: u32,
    /// How often the neighbours changed.
    version: u32,
    /// How many changes it began.
    serial: u32,
    change: Change,
    /// For each gap that a lost neighbour left: the peers that may close it with this node, the next to ask first.
    gaps: Vec<Nodes>,
    /// How many iterations in a row had no neighbours to begin with.
    alone: u8,
    /// The introducer, until this node has a link that it asked for, and the retries left after the next request.
    introducer: Option<(NodeId, u8)>,
    reunion: Reunion,
}

/// The one change of links under way that this node began.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Change {
    Idle,
    Linking {
        change: ChangeId,
        peer: NodeId,
        purpose: Purpose,
        /// How often a full peer may still send it on to another.
        detours: u8,
        deadline: Time,
    },
    Unlinking {
        change: ChangeId,
        peer: NodeId,
        deadline: Time,
    },
}

impl Running {
    fn next_change(&mut self) -> ChangeId {
        self.serial = self.serial.wrapping_add(1);
        ChangeId {
            incarnation: self.incarnation,
            serial: self.serial,
        }
    }

    /// A link to this peer exists: it closes each gap for which the peer was next.
    fn mended(&mut self, peer: NodeId, purpose: Purpose) {
        if purpose == Purpose::Construction {
            self.introducer = None;
        }
        self.gaps.retain(|gap| gap.first() != Some(&peer));
    }

    /// No link to this peer will come: the next candidate has to close the gap.
    fn could_not_mend(&mut self, peer: NodeId) {
        for gap in &mut self.gaps {
            if gap.first() == Some(&peer) {
                gap.remove(0);
            }
        }
        self.gaps.retain(|gap| !gap.is_empty());
    }

    /// This peer does not answer.
    fn no_answer(&mut self, peer: NodeId, contacts: &mut Contacts, config: &Config) {
        self.could_not_mend(peer);
        if self.reunion.asked == Some(peer) {
            self.reunion.miss(self.iteration, config);
            contacts.defer(peer);
        } else {
            contacts.miss(peer);
        }
    }
}

/// The timer of one iteration. The timer of any other iteration does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timer {
    iteration: u32,
}

/// What the host asks of a node. Before its start and after it left, a node ignores commands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Ask this node, or one that it names, for a link, and keep it as a contact while there is room. If this node
    /// waits for an answer about another link, it asks later, and not at all if it gets a link that it asked for by
    /// then.
    Join {
        /// A node that is in the overlay.
        introducer: NodeId,
    },
    /// Add a link to this node at once, if there is room. So a host lays out an overlay by hand; it tells both ends.
    Meet(NodeId),
    /// Stop for good: tell the neighbours, and forget all peers.
    Leave,
    /// Keep this node as a contact, to be asked if there are no neighbours: another introducer, perhaps.
    Know(NodeId),
}

/// What a node tells its host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Notice {
    /// A link was added.
    Entered {
        /// The new neighbour.
        peer: NodeId,
    },
    /// A link was removed.
    Left {
        /// The former neighbour.
        peer: NodeId,
    },
    /// There have been no neighbours for a while, and all contacts were asked: a command to join would help.
    Alone,
}

/// The keys of a node's records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// The number of its life.
    Incarnation,
    /// A few peers.
    Known,
}

/// What a node must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// The number of its life.
    Incarnation(Incarnation),
    /// A few peers.
    Known(Known),
}

impl Blatant {
    /// A node without links.
    pub fn new(me: NodeId, config: Config) -> Result<Self, ConfigError> {
        let config = config.checked()?;
        Ok(Self {
            me,
            config,
            neighbours: Neighbours::default(),
            alpha: Alpha::new(config.alpha),
            sightings: Sightings::new(config.sightings),
            contacts: Contacts::default(),
            life: Life::NotStarted { last: None },
        })
    }

    /// The id of this node.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// Its links, in the order of the neighbours' ids.
    pub fn links(&self) -> &[Neighbour] {
        self.neighbours.as_slice()
    }

    /// Its neighbours, in the order of ids.
    pub fn neighbours(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.neighbours.iter().map(|neighbour| neighbour.id)
    }

    /// Contacts, the newest first: introducers and some neighbours. They are asked if they are not seen for long.
    pub fn known(&self) -> &[NodeId] {
        self.contacts.known()
    }

    /// The last few peers that did not answer; they are asked again.
    pub fn missed(&self) -> &[NodeId] {
        self.contacts.missed()
    }

    /// The number of this life, once it has started.
    pub const fn incarnation(&self) -> Option<Incarnation> {
        match &self.life {
            Life::NotStarted { .. } => None,
            Life::Running(Running { incarnation, .. }) | Life::Left { incarnation } => {
                Some(*incarnation)
            }
        }
    }

    /// How many links away a node is, by the neighbour lists known here; none if these show no way.
    pub fn distance(&self, to: NodeId) -> Option<u16> {
        self.routes()?.distance(to)
    }

    /// This node's neighbour list as it is told to peers; none unless the node is running.
    fn neighbourhood(&self) -> Option<Neighbourhood> {
        let Life::Running(running) = &self.life else {
            return None;
        };
        Some(Neighbourhood {
            node: self.me,
            incarnation: running.incarnation,
            version: running.version,
            neighbours: self.neighbours.ids(),
        })
    }

    /// The neighbour lists of other nodes: those that neighbours told of themselves, and those of the table alpha.
    fn records(&self) -> impl Iterator<Item = &Neighbourhood> {
        let neighbours = self.neighbours.iter();
        let told = neighbours.filter_map(|neighbour| neighbour.around.as_ref());
        told.chain(self.alpha.iter())
    }

    /// The ways from this node through the part of the overlay that it knows.
    fn routes(&self) -> Option<Routes> {
        let own = self.neighbourhood()?;
        Some(Routes::find(&own, self.records()))
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        let Life::NotStarted { last } = self.life else {
            return;
        };
        let incarnation = last.map_or(Incarnation::default(), Incarnation::next);
        cx.persist(Key::Incarnation, Record::Incarnation(incarnation));
        // At a random point of the period, so that nodes that start together do not act together.
        let phase = u64::from(cx.rng().below(PHASES)).saturating_add(1);
        let period = self.config.period.as_micros();
        let part = period.checked_div(u64::from(PHASES)).unwrap_or(0);
        let due = cx.now() + Span::from_micros(part).times(phase);
        let mut reunion = Reunion::default();
        reunion.wait(0, &self.config);
        self.life = Life::Running(Running {
            incarnation,
            iteration: 0,
            due,
            ants: 0,
            version: 0,
            serial: 0,
            change: Change::Idle,
            gaps: Vec::new(),
            // After a restart, a node without neighbours asks a contact in its first iteration.
            alone: self.config.patience,
            introducer: None,
            reunion,
        });
        cx.wake(due, Timer { iteration: 0 });
    }

    /// Runs an iteration, if its turn has come.
    fn iterate(&mut self, iteration: u32, cx: &mut dyn Context<Self>) {
        let Life::Running(running) = &mut self.life else {
            return;
        };
        if iteration != running.iteration {
            return;
        }
        if cx.now() < running.due {
            cx.wake(running.due, Timer { iteration });
            return;
        }
        let now = cx.now();
        running.iteration = iteration.wrapping_add(1);
        running.due = now + self.config.period;
        running.ants = 0;
        let timer = Timer {
            iteration: running.iteration,
        };
        cx.wake(running.due, timer);
        match running.change {
            Change::Linking { deadline, peer, .. } if deadline <= now => {
                running.change = Change::Idle;
                running.no_answer(peer, &mut self.contacts, &self.config);
            }
            Change::Unlinking { deadline, .. } if deadline <= now => running.change = Change::Idle,
            Change::Idle | Change::Linking { .. } | Change::Unlinking { .. } => {}
        }
        let most = u32::from(self.config.remember);
        self.alpha.expire(running.iteration, most);
        if iteration.is_multiple_of(most) {
            self.remember(cx);
        }
        self.listen_for_neighbours(cx);
        self.bear_ant(cx);
        self.change_a_link(cx);
    }

    /// Begins the most urgent change, if none is under way: first to be one overlay, then few links, then short ways.
    fn change_a_link(&mut self, cx: &mut dyn Context<Self>) {
        if !self.is_idle() || self.ask_introducer(cx) {
            return;
        }
        if self.neighbours.is_empty() {
            // The peers that may close a gap may be dead, and so may the contacts: both get their turns.
            self.spend_iteration_alone(cx);
            self.mend(cx);
            return;
        }
        if self.mend(cx) {
            return;
        }
        let (Some(routes), Life::Running(running)) = (self.routes(), &self.life) else {
            return;
        };
        let far = self.config.far();
        let most = u32::from(self.config.sighted);
        self.sightings
            .see(routes.distances(), far, running.iteration, most);
        if self.look_for_others(cx) {
            return;
        }
        if self.neighbours.len() < 2 {
            self.link_to_someone(&routes, cx);
        } else if self.neighbours.len() > usize::from(self.config.links) {
            self.unlink_what_is_too_much(&routes, cx);
        } else {
            self.unlink_a_shortcut(&routes, cx);
        }
        if self.is_idle() {
            self.link_to_someone_far(&routes, cx);
        }
    }

    fn is_idle(&self) -> bool {
        matches!(&self.life, Life::Running(running) if running.change == Change::Idle)
    }

    fn message(&mut self, from: NodeId, message: Message, cx: &mut dyn Context<Self>) {
        let Life::Running(_) = self.life else {
            return;
        };
        if from == self.me {
            return;
        }
        match message {
            Message::Ant { left, visited } => self.on_ant(from, left, visited, cx),
            Message::Update(own) | Message::Pong(own) => {
                self.hear(from, own, cx);
            }
            Message::Ping(own) => {
                if self.hear(from, own, cx)
                    && let Some(own) = self.neighbourhood()
                {
                    cx.send(from, Message::Pong(own));
                }
            }
            Message::Link {
                change,
                purpose,
                detours,
                around,
            } => self.on_link(from, change, purpose, detours, around, cx),
            Message::Linked { change, own } => self.on_linked(from, change, own, cx),
            Message::Refused {
                change,
                instead,
                around,
            } => self.on_refused(from, change, instead, &around, cx),
            Message::Unlink { change, way } => self.on_unlink(from, change, way, cx),
            Message::Kept { change } => self.on_kept(change),
            Message::NotLinked => self.on_not_linked(from, cx),
            Message::Leaving(around) => self.on_leaving(from, around, cx),
        }
    }

    /// A peer tells its neighbour list over a link. Returns whether the link exists.
    ///
    /// If only one end has the link, that end drops it: the other end says so, or does not list it.
    fn hear(&mut self, from: NodeId, own: Neighbourhood, cx: &mut dyn Context<Self>) -> bool {
        let Life::Running(running) = &self.life else {
            return false;
        };
        let me = self.me;
        let asked = matches!(running.change, Change::Linking { peer, .. } if peer == from);
        let Some(neighbour) = self.neighbours.get_mut(from) else {
            // If this node asked for the link, the answer may still be on its way.
            if !asked {
                cx.send(from, Message::NotLinked);
            }
            return false;
        };
        if own.node != from {
            return false;
        }
        neighbour.refresh();
        let known = neighbour.around.as_ref();
        if known.is_some_and(|known| known.stamp() >= own.stamp()) {
            return true;
        }
        let is_listed = own.lists(me);
        neighbour.around = Some(own.tidied());
        if !is_listed {
            self.disconnect(from, cx);
            self.publish(None, cx);
        }
        is_listed
    }

    /// Adds a link, or refreshes it. Returns whether it exists now.
    fn connect(
        &mut self,
        peer: NodeId,
        purpose: Purpose,
        around: Neighbourhood,
        cx: &mut dyn Context<Self>,
    ) -> bool {
        if let Some(neighbour) = self.neighbours.get_mut(peer) {
            neighbour.refresh();
            neighbour.purpose = purpose;
            neighbour.around = Some(around);
            return true;
        }
        self.enter(Neighbour::new(peer, purpose, Some(around)), cx)
    }

    fn enter(&mut self, neighbour: Neighbour, cx: &mut dyn Context<Self>) -> bool {
        let peer = neighbour.id;
        let Life::Running(running) = &mut self.life else {
            return false;
        };
        if peer == self.me || !self.neighbours.insert(neighbour) {
            return false;
        }
        running.version = running.version.saturating_add(1);
        running.alone = 0;
        self.contacts.hear(peer);
        if !canary!(NeighbourKeptInTheTable) {
            self.alpha.forget(peer);
        }
        cx.notify(Notice::Entered { peer });
        true
    }

    /// Removes a link. The neighbour list of its other end moves to the table alpha.
    fn disconnect(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) -> Option<Neighbour> {
        let Life::Running(running) = &mut self.life else {
            return None;
        };
        let gone = self.neighbours.remove(peer)?;
        running.version = running.version.saturating_add(1);
        if matches!(running.change, Change::Unlinking { peer: ending, .. } if ending == peer) {
            running.change = Change::Idle;
        }
        if let Some(around) = &gone.around {
            self.alpha.learn(around.clone(), running.iteration);
        }
        cx.notify(Notice::Left { peer });
        Some(gone)
    }

    /// Sends the neighbour list to all neighbours after a change, except to one that has it.
    fn publish(&self, except: Option<NodeId>, cx: &mut dyn Context<Self>) {
        let Some(own) = self.neighbourhood() else {
            return;
        };
        for neighbour in self.neighbours.iter() {
            if Some(neighbour.id) != except {
                cx.send(neighbour.id, Message::Update(own.clone()));
            }
        }
    }

    fn obey(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        match command {
            Command::Join { introducer } => self.join(introducer, cx),
            Command::Meet(peer) => {
                self.enter(Neighbour::new(peer, Purpose::Construction, None), cx);
            }
            Command::Leave => self.leave(cx),
            Command::Know(peer) => self.know(peer, cx),
        }
    }

    /// The transport cannot reach this peer.
    fn on_unreachable(&mut self, to: NodeId, cx: &mut dyn Context<Self>) {
        let Life::Running(running) = &mut self.life else {
            return;
        };
        if matches!(running.change, Change::Linking { peer, .. } if peer == to) {
            running.change = Change::Idle;
            running.no_answer(to, &mut self.contacts, &self.config);
            if self.neighbours.is_empty() {
                running.alone = self.config.patience;
            }
        }
        self.sightings.forget(to);
        self.bury(&[to], cx);
    }

    fn restore(&mut self, key: Key, record: Record) {
        let Life::NotStarted { last } = &mut self.life else {
            return;
        };
        match (key, record) {
            (Key::Incarnation, Record::Incarnation(incarnation)) => {
                *last = (*last).max(Some(incarnation));
            }
            (Key::Known, Record::Known(known)) => {
                self.contacts = Contacts::restored(self.me, known);
            }
            (Key::Incarnation, Record::Known(_)) | (Key::Known, Record::Incarnation(_)) => {}
        }
    }
}

impl Machine for Blatant {
    type Message = Message;
    type Timer = Timer;
    type Command = Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.start(cx),
            Event::Message { from, message } => self.message(from, message, cx),
            Event::Unreachable { to } => self.on_unreachable(to, cx),
            Event::Timer(timer) => self.iterate(timer.iteration, cx),
            Event::Command(command) => self.obey(command, cx),
            Event::Restored(key, record) => self.restore(key, record),
        }
    }

    fn check(&self) -> Result<(), Violation> {
        let links = self.neighbours.as_slice();
        Violation::unless(
            links.is_sorted_by(|a, b| a.id < b.id),
            "links lead to distinct nodes, in the order of ids",
        )?;
        Violation::unless(
            !self.neighbours.contains(self.me),
            "no link leads to its own node",
        )?;
        Violation::unless(
            links
                .iter()
                .all(|it| it.around.as_ref().is_none_or(|own| own.node == it.id)),
            "what is known of a neighbour is its own word",
        )?;
        Violation::unless(
            self.alpha.is_sound(),
            "the table has distinct nodes, and no more than it may",
        )?;
        Violation::unless(
            self.sightings.is_sound(),
            "those seen are in the order of ids, and no more than may be",
        )?;
        Violation::unless(
            self.alpha
                .iter()
                .all(|it| it.node != self.me && !self.neighbours.contains(it.node)),
            "the table is about others than the node and its neighbours",
        )?;
        Violation::unless(
            !self.contacts.contains(self.me),
            "a node does not count on itself for help",
        )?;
        let Life::Running(running) = &self.life else {
            return Violation::unless(links.is_empty(), "a stopped node has no links");
        };
        let ending = match running.change {
            Change::Unlinking { peer, .. } => Some(peer),
            Change::Idle | Change::Linking { .. } => None,
        };
        Violation::unless(
            ending.is_none_or(|peer| self.neighbours.contains(peer)),
            "a link that is being ended is there",
        )?;
        Violation::unless(
            running.gaps.len() <= GAPS && running.gaps.iter().all(|gap| !gap.is_empty()),
            "gaps are few, and each is there only while a node may close it",
        )
    }
}

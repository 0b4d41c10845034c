//! CYCLON: nodes exchange links all the time, so that the overlay looks like a random graph (PROTOCOLS 1).
//!
//! Every period a node takes its oldest link out of the view. It sends the peer of that link a few other links and a
//! fresh one to itself. The peer answers with a few of its own. Both put the received links into free places, and then
//! in place of the links that they sent. So links travel, and about as many lead to each node. A link to a node that is
//! gone sooner or later is the oldest, is tried once, and is dropped.
//!
//! ```text
//!   asker                                            peer
//!   all links are a cycle older
//!   the oldest goes out of the view
//!   Shuffle [asker, a, b, c] ──────────────────────▶ picks d, e, f, g
//!                            ◀────────────────────── Shuffled [d, e, f, g]
//!   they go into empty places,                       asker, a, b, c go into empty places,
//!   then in place of a, b, c                         then in place of d, e, f, g
//! ```
//!
//! # Rules
//! - If the peer does not answer in time or cannot be reached, it stays out of the view, and nothing else changes. An
//!   answer to no request is ignored. The time limit needs no timer, for nothing happens when it passes.
//! - A node that waits for an answer answers other peers. A link that it sent and has lost since is not replaced again.
//! - If a link to a known node comes in, the smaller age and the later life count. Ages are never reset, for that would
//!   keep links to dead nodes alive.
//! - A joiner asks a node of the overlay to introduce it ([`Command::Join`]). After some cycles without any link, a
//!   node asks a contact that it has on disk. A node that restarts does so in its first cycle.
//! - In every seventh cycle a node asks a contact that is not in its view, in place of the oldest: in turns one that
//!   did not answer, and one of the others. So two islands that have forgotten each other become one again.
//! - [`Command::Freeze`] makes the overlay static: the view stays as it is, and the node sends and answers nothing.
//! - A leaver tells no peer; it falls silent.
//!
//! # What holds after faults
//! Once messages arrive again, the overlay becomes one, if all nodes that are up are connected by links and contacts
//! ([`Cyclon::known`], [`Cyclon::missed`]). A node without links asks one contact every [`Config::patience`] cycles. A
//! node with links asks each contact within 112 cycles. If its view is full, it asks those of [`Cyclon::known`] only in
//! every 112th cycle, in turns with those of [`Cyclon::missed`].
//!
//! A liar can place links to any node, for nothing here authenticates a sender. With [`Config::samples`], a part of
//! each view and half of the exchanges are with peers that no liar can choose. A liar cannot make a view or a message
//! grow, make a walk go on, or make a node keep a link to itself.
//!
//! # Example
//! Three nodes, of which two ask the first to introduce them, here without delay in between.
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::machine::{Effect, EffectQueue, Event, TimerQueue};
//! use gridweave_core::overlay::cyclon::{Command, Config, Cyclon};
//! use gridweave_core::time::Time;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! type Node = Cyclon<20, 8>;
//! let ids = [0, 1, 2].map(NodeId::new);
//! let mut nodes = ids.map(|id| Node::new(id, Config::DEFAULT).expect("the defaults fit 20 and 8"));
//! let mut timers = TimerQueue::new();
//! let mut inbox: Vec<(usize, Event<Node>)> = (0..3).map(|node| (node, Event::Start)).collect();
//! inbox.extend([1, 2].map(|node| (node, Event::Command(Command::Join { introducer: ids[0] }))));
//!
//! let (mut now, mut effects) = (Time::ZERO, EffectQueue::new());
//! while now < Time::from_secs(100) {
//!     for (node, event) in std::mem::take(&mut inbox) {
//!         effects.feed(&mut nodes[node], event, now, &mut rng);
//!         for effect in effects.drain() {
//!             match effect {
//!                 Effect::Send { to, message } => {
//!                     inbox.push((to.get() as usize, Event::Message { from: ids[node], message }));
//!                 }
//!                 Effect::Wake { at, timer } => timers.wake(at, (node, timer)),
//!                 Effect::Persist(..) | Effect::Notify(_) | Effect::Forget(_) | Effect::Cancel(_) => {}
//!             }
//!         }
//!     }
//!     if inbox.is_empty() {
//!         now = timers.next_at().expect("a node always has its next cycle ahead");
//!         let (_, (node, timer)) = timers.pop_due(now).expect("the next timer is due when it is due");
//!         inbox.push((node, Event::Timer(timer)));
//!     }
//! }
//! // At any moment a node may be missing from some views, but never from all.
//! for id in ids {
//!     assert!(nodes.iter().any(|node| node.view().contains(id)));
//! }
//! ```

mod config;
mod join;
mod message;
mod samples;
mod shuffle;
#[cfg(test)]
mod tests;

pub use config::{Changes, Config, Replacement};
pub use message::{ExchangeId, Message};
pub use samples::MOST_SAMPLES;

use core::mem;

use samples::{Kept, Samples};

use crate::config::ConfigError;
use crate::id::{Incarnation, NodeId};
use crate::machine::{Context, Event, Machine, Violation};
use crate::overlay::contacts::Contacts;
pub use crate::overlay::contacts::{KNOWN, Known};
use crate::overlay::view::{Change, Link, NotInserted, Refreshed, View};
use crate::rng::Choose;
use crate::time::{Span, Time};

/// Into how many parts a period is divided to let nodes begin at different times.
const PHASES: u32 = 256;

/// A node of the overlay, with at most `C` links, of which it sends at most `L` at once.
///
/// Most effects per event: `C` messages, one of them with a notice and a gift, when it introduces a node; `2 L + 1` for
/// a shuffle, `2 L` for its answer, four on a timer and `C + 1` more with samples, `C + 1` to leave, three otherwise.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Cyclon<const C: usize, const L: usize> {
    config: Config,
    view: View<C>,
    contacts: Contacts,
    /// Sampled peers against eclipse, if [`Config::samples`] asks for some.
    samples: Option<Kept>,
    life: Life<L>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Life<const L: usize> {
    NotStarted {
        last: Option<Incarnation>,
    },
    Gossiping(Gossip<L>),
    Frozen {
        incarnation: Incarnation,
        cycle: u32,
    },
    Left {
        incarnation: Incarnation,
    },
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Gossip<const L: usize> {
    incarnation: Incarnation,
    /// The cycle that comes next, and when.
    cycle: u32,
    due: Time,
    exchange: Exchange<L>,
    /// How many cycles in a row had no link to begin with.
    empty_cycles: u8,
    /// How many of the links that this node asked for when it joined have not come.
    awaited_gifts: u8,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Exchange<const L: usize> {
    Idle,
    Waiting(Pending<L>),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pending<const L: usize> {
    cycle: u32,
    /// The link to the peer that was asked; it is out of the view.
    peer: Link,
    /// Whether it was in the view before.
    was_linked: bool,
    /// What was sent, in random order.
    sent: heapless::Vec<NodeId, L>,
    deadline: Time,
}

impl<const L: usize> Pending<L> {
    const fn id(&self, incarnation: Incarnation) -> ExchangeId {
        ExchangeId {
            incarnation,
            cycle: self.cycle,
        }
    }
}

/// The timer of one cycle. The timer of any other cycle does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timer {
    cycle: u32,
}

/// What the host asks of a node. Before its start and after it left, a node ignores commands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Ask this node for an introduction to the overlay.
    Join {
        /// A node that is in the overlay.
        introducer: NodeId,
    },
    /// Add a link to this node, if there is room. So a host lays out an overlay by hand.
    Meet(NodeId),
    /// Keep the view as it is, and send and answer nothing. A link that is out for an exchange is put back if it fits.
    Freeze,
    /// End a freeze.
    Thaw,
    /// Stop for good, and forget all links and contacts.
    Leave,
    /// Keep this node as a contact, to be asked if the view stays empty: another introducer, perhaps.
    Know(NodeId),
}

/// What a node tells its host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Notice {
    /// A link was added to the view.
    Entered {
        /// The peer that it leads to.
        peer: NodeId,
    },
    /// A link was taken out of the view.
    Left {
        /// The peer that it led to.
        peer: NodeId,
    },
    /// A peer in the view has begun a later life: what was known of its earlier life is out of date.
    Restarted {
        /// The peer that restarted.
        peer: NodeId,
        /// Its new life.
        incarnation: Incarnation,
    },
    /// The view has been empty for a while, and all contacts were asked: a command to join would help.
    Alone,
}

impl From<Change> for Notice {
    fn from(change: Change) -> Self {
        match change {
            Change::Entered(peer) => Self::Entered { peer },
            Change::Left(peer) => Self::Left { peer },
            Change::Restarted(peer, incarnation) => Self::Restarted { peer, incarnation },
        }
    }
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

impl<const C: usize, const L: usize> Cyclon<C, L> {
    /// A node without links.
    pub fn new(me: NodeId, config: Config) -> Result<Self, ConfigError> {
        const {
            assert!(C > 0, "C is 0: a view of Cyclon<C, L> has a link");
            assert!(L > 0, "L is 0: a message of Cyclon<C, L> has a link");
        }
        let config = config.checked::<C, L>()?;
        Ok(Self {
            config,
            view: View::new(me, config.view),
            contacts: Contacts::default(),
            samples: None,
            life: Life::NotStarted { last: None },
        })
    }

    /// Its links.
    pub const fn view(&self) -> &View<C> {
        &self.view
    }

    /// Contacts, the newest first: introducers and some peers of the view. They are asked if they are not in the view.
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
            Life::Gossiping(Gossip { incarnation, .. })
            | Life::Frozen { incarnation, .. }
            | Life::Left { incarnation } => Some(*incarnation),
        }
    }

    /// The peer whose answer it waits for, if an exchange is under way.
    pub const fn waits_for(&self) -> Option<NodeId> {
        match &self.life {
            Life::Gossiping(Gossip {
                exchange: Exchange::Waiting(pending),
                ..
            }) => Some(pending.peer.id),
            _ => None,
        }
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        let Life::NotStarted { last } = self.life else {
            return;
        };
        let incarnation = last.map_or(Incarnation::default(), Incarnation::next);
        cx.persist(Key::Incarnation, Record::Incarnation(incarnation));
        if self.config.samples > 0 {
            self.samples = Some(Samples::draw(self.config.samples, cx.rng()));
        }
        self.gossip(incarnation, 0, cx);
    }

    /// Begins to gossip at a random point of the period, so that nodes that start together do not shuffle together.
    fn gossip(&mut self, incarnation: Incarnation, cycle: u32, cx: &mut dyn Context<Self>) {
        let phase = u64::from(cx.rng().below(PHASES)).saturating_add(1);
        let part = self
            .config
            .period
            .as_micros()
            .checked_div(u64::from(PHASES));
        let due = cx.now() + part.map_or(Span::ZERO, Span::from_micros).times(phase);
        self.life = Life::Gossiping(Gossip {
            incarnation,
            cycle,
            due,
            exchange: Exchange::Idle,
            // After a restart or a thaw, a node with an empty view asks a contact in its first cycle.
            empty_cycles: self.config.patience,
            awaited_gifts: 0,
        });
        cx.wake(due, Timer { cycle });
    }

    fn message(&mut self, from: NodeId, message: Message<L>, cx: &mut dyn Context<Self>) {
        if from == self.view.owner() {
            return;
        }
        match message {
            Message::Shuffle { exchange, links } => self.on_shuffle(from, exchange, &links, cx),
            Message::Shuffled { exchange, links } => self.on_shuffled(from, exchange, &links, cx),
            Message::Join { incarnation } => self.on_join(from, incarnation, cx),
            Message::JoinWalk {
                joiner,
                incarnation,
                ttl,
                spare,
            } => self.on_join_walk(joiner, incarnation, ttl, spare, cx),
            Message::JoinGive {
                joiner,
                link,
                giver,
            } => self.on_join_give(from, joiner, link, giver, cx),
        }
    }

    fn obey(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        match command {
            Command::Join { introducer } => self.join(introducer, cx),
            Command::Meet(peer) => self.meet(peer, cx),
            Command::Freeze => self.freeze(cx),
            Command::Thaw => {
                if let Life::Frozen { incarnation, cycle } = self.life {
                    self.gossip(incarnation, cycle, cx);
                }
            }
            Command::Leave => self.leave(cx),
            Command::Know(peer) => self.know(peer, cx),
        }
    }

    fn meet(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) {
        if let Life::Gossiping(_) | Life::Frozen { .. } = self.life {
            let incarnation = Incarnation::default();
            let link = Link {
                id: peer,
                incarnation,
                age: 0,
            };
            let _ = self.learn(link, cx);
        }
    }

    fn freeze(&mut self, cx: &mut dyn Context<Self>) {
        let Life::Gossiping(gossip) = &mut self.life else {
            return;
        };
        let exchange = mem::replace(&mut gossip.exchange, Exchange::Idle);
        let (incarnation, cycle) = (gossip.incarnation, gossip.cycle);
        cx.cancel(Timer { cycle });
        self.life = Life::Frozen { incarnation, cycle };
        if let Exchange::Waiting(pending) = exchange
            && pending.was_linked
        {
            let _ = self.learn(pending.peer, cx);
        }
    }

    fn leave(&mut self, cx: &mut dyn Context<Self>) {
        let Some(incarnation) = self.incarnation() else {
            return;
        };
        if let Life::Gossiping(gossip) = &self.life {
            let cycle = gossip.cycle;
            cx.cancel(Timer { cycle });
        }
        self.life = Life::Left { incarnation };
        if mem::take(&mut self.contacts).is_written() {
            cx.forget(Key::Known);
        }
        let empty = View::new(self.view.owner(), self.view.limit());
        for link in mem::replace(&mut self.view, empty).links() {
            self.tell(Notice::Left { peer: link.id }, cx);
        }
    }

    /// Adds a link to the view, or refreshes the one that is there.
    fn learn(&mut self, link: Link, cx: &mut dyn Context<Self>) -> Result<(), NotInserted> {
        self.hear_of(&[link]);
        let inserted = self.view.insert(link);
        let (peer, incarnation) = (link.id, link.incarnation);
        match inserted {
            Ok(()) => self.tell(Notice::Entered { peer }, cx),
            Err(NotInserted::Known) => {
                if self.view.refresh(link) == Refreshed::LaterLife {
                    self.tell(Notice::Restarted { peer, incarnation }, cx);
                }
            }
            Err(NotInserted::Own | NotInserted::Full) => {}
        }
        inserted
    }

    /// Tells the host of a change in the view, if [`Config::changes`] asks for that.
    fn tell(&self, change: Notice, cx: &mut dyn Context<Self>) {
        match self.config.changes {
            Changes::Told => cx.notify(change),
            Changes::Untold => {}
        }
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
                self.contacts = Contacts::restored(self.view.owner(), known);
            }
            (Key::Incarnation, Record::Known(_)) | (Key::Known, Record::Incarnation(_)) => {}
        }
    }
}

impl<const C: usize, const L: usize> Machine for Cyclon<C, L> {
    type Message = Message<L>;
    type Timer = Timer;
    type Command = Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.start(cx),
            Event::Message { from, message } => self.message(from, message, cx),
            Event::Unreachable { to } => {
                self.give_up_exchange(to);
                self.hurry(to);
            }
            Event::Timer(timer) => self.cycle(timer.cycle, cx),
            Event::Command(command) => self.obey(command, cx),
            Event::Restored(key, record) => self.restore(key, record),
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.view.check()?;
        Violation::unless(
            !self.contacts.contains(self.view.owner()),
            "a node does not count on itself for help",
        )?;
        let Life::Gossiping(gossip) = &self.life else {
            return Ok(());
        };
        let Exchange::Waiting(pending) = &gossip.exchange else {
            return Ok(());
        };
        Violation::unless(
            pending.cycle == gossip.cycle.wrapping_sub(1),
            "at most one exchange is pending, the one of the last cycle",
        )?;
        Violation::unless(
            pending.sent.len() < usize::from(self.config.shuffle),
            "no more links are sent than a message may have",
        )
    }
}

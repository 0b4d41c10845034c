//! The overlay of a node: one of three kinds behind one machine.
//!
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::machine::{EffectQueue, Event};
//! use gridweave_core::scheduler::aria::Overlay;
//! use gridweave_core::scheduler::aria::links::{Command, Links};
//! use gridweave_core::time::Time;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! // Links that the host lays by hand.
//! let mut links = Links::new(NodeId::new(1), Overlay::Fixed)?;
//! let mut effects = EffectQueue::new();
//! for peer in [3, 2] {
//!     let meet = Event::Command(Command::Meet(NodeId::new(peer)));
//!     effects.feed(&mut links, meet, Time::ZERO, &mut rng);
//! }
//! assert_eq!(links.neighbours(), [2, 3].map(NodeId::new));
//! # Ok::<(), gridweave_core::config::ConfigError>(())
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::config::Overlay;
use crate::config::ConfigError;
use crate::id::NodeId;
use crate::machine::{Context, Embed, Event, Machine, Violation};
use crate::overlay::blatant::{self, Blatant};
use crate::overlay::cyclon::{self, Cyclon};
use crate::scheduler::Approach;

/// The most links of a random view.
pub(super) const VIEW: usize = 20;

/// The most links in a message of a random view.
pub(crate) const SHUFFLE: usize = 8;

/// The links of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Links {
    /// Links that ants lay.
    Blatant(Box<Blatant>),
    /// Links from random views.
    Cyclon(Box<Cyclon<VIEW, SHUFFLE>>),
    /// Links that the host gave, in the order of ids.
    Fixed(Vec<NodeId>),
}

/// The messages of overlays.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// A message of BLATANT-S.
    Blatant(blatant::Message),
    /// A message of Cyclon.
    Cyclon(cyclon::Message<SHUFFLE>),
}

/// The timers of overlays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// A timer of BLATANT-S.
    Blatant(blatant::Timer),
    /// A timer of Cyclon.
    Cyclon(cyclon::Timer),
}

/// The keys of the records of overlays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A key of BLATANT-S.
    Blatant(blatant::Key),
    /// A key of Cyclon.
    Cyclon(cyclon::Key),
}

/// What overlays keep on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A record of BLATANT-S.
    Blatant(blatant::Record),
    /// A record of Cyclon.
    Cyclon(cyclon::Record),
}

/// The commands to an overlay.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Join through this introducer.
    Join(NodeId),
    /// Add a link to this node.
    Meet(NodeId),
    /// Leave the overlay for good.
    Leave,
    /// Keep this node as a contact, to be asked if there are no links.
    Know(NodeId),
}

impl Command {
    /// The node that it names.
    pub(super) const fn peer(&self) -> Option<NodeId> {
        match *self {
            Self::Join(peer) | Self::Meet(peer) | Self::Know(peer) => Some(peer),
            Self::Leave => None,
        }
    }
}

/// The notice of an overlay that it has no links and no contacts left to ask.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Alone;

impl Links {
    /// An overlay of this kind, without links.
    pub fn new(me: NodeId, overlay: Overlay) -> Result<Self, ConfigError> {
        Ok(match overlay {
            Overlay::Blatant(config) => {
                let ants = Blatant::new(me, config)?;
                Self::Blatant(Box::new(ants))
            }
            Overlay::Cyclon(config) => {
                let gossip = Cyclon::new(me, config)?;
                Self::Cyclon(Box::new(gossip))
            }
            Overlay::Fixed => Self::Fixed(Vec::new()),
        })
    }

    /// The nodes to which a flood may be passed on.
    pub fn neighbours(&self) -> Vec<NodeId> {
        match self {
            Self::Blatant(ants) => ants.neighbours().collect(),
            Self::Cyclon(gossip) => gossip.view().ids().to_vec(),
            Self::Fixed(neighbours) => neighbours.clone(),
        }
    }
}

impl From<Approach> for Command {
    fn from(approach: Approach) -> Self {
        match approach {
            Approach::Join(introducer) => Self::Join(introducer),
            Approach::Know(peer) => Self::Know(peer),
            Approach::Meet(peer) => Self::Meet(peer),
        }
    }
}

struct AsBlatant;

impl Embed<Blatant, Links> for AsBlatant {
    fn message(&mut self, message: blatant::Message) -> Message {
        Message::Blatant(message)
    }
    fn timer(&mut self, timer: blatant::Timer) -> Timer {
        Timer::Blatant(timer)
    }
    fn key(&mut self, key: blatant::Key) -> Key {
        Key::Blatant(key)
    }
    fn record(&mut self, record: blatant::Record) -> Record {
        Record::Blatant(record)
    }
    fn notice(&mut self, notice: blatant::Notice, cx: &mut dyn Context<Links>) {
        if notice == blatant::Notice::Alone {
            cx.notify(Alone);
        }
    }
}

struct AsCyclon;

impl Embed<Cyclon<VIEW, SHUFFLE>, Links> for AsCyclon {
    fn message(&mut self, message: cyclon::Message<SHUFFLE>) -> Message {
        Message::Cyclon(message)
    }
    fn timer(&mut self, timer: cyclon::Timer) -> Timer {
        Timer::Cyclon(timer)
    }
    fn key(&mut self, key: cyclon::Key) -> Key {
        Key::Cyclon(key)
    }
    fn record(&mut self, record: cyclon::Record) -> Record {
        Record::Cyclon(record)
    }
    fn notice(&mut self, notice: cyclon::Notice, cx: &mut dyn Context<Links>) {
        if notice == cyclon::Notice::Alone {
            cx.notify(Alone);
        }
    }
}

/// The event for BLATANT-S; `None` if it belongs to another overlay.
fn for_blatant(event: Event<Links>) -> Option<Event<Blatant>> {
    Some(match event {
        Event::Start => Event::Start,
        Event::Message {
            from,
            message: Message::Blatant(message),
        } => Event::Message { from, message },
        Event::Unreachable { to } => Event::Unreachable { to },
        Event::Timer(Timer::Blatant(timer)) => Event::Timer(timer),
        Event::Command(command) => Event::Command(match command {
            Command::Join(introducer) => blatant::Command::Join { introducer },
            Command::Meet(peer) => blatant::Command::Meet(peer),
            Command::Leave => blatant::Command::Leave,
            Command::Know(peer) => blatant::Command::Know(peer),
        }),
        Event::Restored(Key::Blatant(key), Record::Blatant(record)) => Event::Restored(key, record),
        Event::Message { .. } | Event::Timer(_) | Event::Restored(..) => return None,
    })
}

/// The event for Cyclon; `None` if it belongs to another overlay.
fn for_cyclon(event: Event<Links>) -> Option<Event<Cyclon<VIEW, SHUFFLE>>> {
    Some(match event {
        Event::Start => Event::Start,
        Event::Message {
            from,
            message: Message::Cyclon(message),
        } => Event::Message { from, message },
        Event::Unreachable { to } => Event::Unreachable { to },
        Event::Timer(Timer::Cyclon(timer)) => Event::Timer(timer),
        Event::Command(command) => Event::Command(match command {
            Command::Join(introducer) => cyclon::Command::Join { introducer },
            Command::Meet(peer) => cyclon::Command::Meet(peer),
            Command::Leave => cyclon::Command::Leave,
            Command::Know(peer) => cyclon::Command::Know(peer),
        }),
        Event::Restored(Key::Cyclon(key), Record::Cyclon(record)) => Event::Restored(key, record),
        Event::Message { .. } | Event::Timer(_) | Event::Restored(..) => return None,
    })
}

impl Machine for Links {
    type Message = Message;
    type Timer = Timer;
    type Command = Command;
    type Notice = Alone;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match self {
            Self::Blatant(ants) => {
                if let Some(event) = for_blatant(event) {
                    ants.handle(event, &mut cx.lift(AsBlatant));
                }
            }
            Self::Cyclon(gossip) => {
                if let Some(event) = for_cyclon(event) {
                    gossip.handle(event, &mut cx.lift(AsCyclon));
                }
            }
            Self::Fixed(neighbours) => match event {
                Event::Command(Command::Meet(peer) | Command::Join(peer) | Command::Know(peer)) => {
                    if let Err(index) = neighbours.binary_search(&peer)
                        && neighbours.len() < VIEW
                    {
                        neighbours.insert(index, peer);
                    }
                }
                Event::Command(Command::Leave) => neighbours.clear(),
                _ => {}
            },
        }
    }

    fn check(&self) -> Result<(), Violation> {
        match self {
            Self::Blatant(ants) => ants.check(),
            Self::Cyclon(gossip) => gossip.check(),
            Self::Fixed(neighbours) => Violation::unless(
                neighbours.is_sorted_by(|a, b| a < b) && neighbours.len() <= VIEW,
                "fixed links are in order, each once, and not too many",
            ),
        }
    }
}

//! The overlay of a node, whichever it is.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::config::{ConfigError, Overlay};
use crate::id::NodeId;
use crate::machine::{Context, Embed, Event, Machine, Violation};
use crate::overlay::blatant::{self, Blatant};
use crate::overlay::cyclon::{self, Cyclon};
use crate::scheduler::Bootstrap;

/// The most links of a random view.
const VIEW: usize = 20;

/// The most of them in a message.
pub(crate) const SHUFFLE: usize = 8;

/// The links of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Links {
    /// Laid by ants.
    Blatant(Box<Blatant>),
    /// Drawn by gossip.
    Cyclon(Box<Cyclon<VIEW, SHUFFLE>>),
    /// Given, in the order of ids.
    Fixed(Vec<NodeId>),
}

/// What overlays say.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Ants.
    Blatant(blatant::Message),
    /// Gossip.
    Cyclon(cyclon::Message<SHUFFLE>),
}

/// What they are woken with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// Ants.
    Blatant(blatant::Timer),
    /// Gossip.
    Cyclon(cyclon::Timer),
}

/// The names of their records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// Ants.
    Blatant(blatant::Key),
    /// Gossip.
    Cyclon(cyclon::Key),
}

/// Their records.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// Ants.
    Blatant(blatant::Record),
    /// Gossip.
    Cyclon(cyclon::Record),
}

/// What is asked of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Have this node introduce it.
    Join(NodeId),
    /// Have a link to this node.
    Meet(NodeId),
    /// Stop for good.
    Leave,
}

/// What they tell: that there is nobody to ask.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Alone;

impl Links {
    /// A node without links.
    pub fn new(me: NodeId, overlay: Overlay) -> Result<Self, ConfigError> {
        Ok(match overlay {
            Overlay::Blatant(config) => {
                let ants = Blatant::new(me, config).map_err(ConfigError::Blatant)?;
                Self::Blatant(Box::new(ants))
            }
            Overlay::Cyclon(config) => {
                let gossip = Cyclon::new(me, config).map_err(ConfigError::Cyclon)?;
                Self::Cyclon(Box::new(gossip))
            }
            Overlay::Fixed => Self::Fixed(Vec::new()),
        })
    }

    /// Whom a message may be passed on to.
    pub fn neighbours(&self) -> Vec<NodeId> {
        match self {
            Self::Blatant(ants) => ants.neighbours().collect(),
            Self::Cyclon(gossip) => gossip.view().ids().to_vec(),
            Self::Fixed(neighbours) => neighbours.clone(),
        }
    }
}

/// What a node begins with.
pub(super) fn commands(bootstrap: &Bootstrap) -> impl Iterator<Item = Command> + '_ {
    let (introducer, peers) = match bootstrap {
        Bootstrap::Alone => (None, &[][..]),
        Bootstrap::Join(introducer) => (Some(*introducer), &[][..]),
        Bootstrap::Meet(peers) => (None, peers.as_slice()),
    };
    let meet = peers.iter().map(|peer| Command::Meet(*peer));
    introducer.map(Command::Join).into_iter().chain(meet)
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

/// The event as it is for the ants, if it is theirs.
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
        }),
        Event::Restored(Key::Blatant(key), Record::Blatant(record)) => Event::Restored(key, record),
        Event::Message { .. } | Event::Timer(_) | Event::Restored(..) => return None,
    })
}

/// The event as it is for the gossip, if it is its.
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
                Event::Command(Command::Meet(peer) | Command::Join(peer)) => {
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

//! VICINITY: each node finds the nodes that are nearest to it, under any distance, and links to them (PROTOCOLS 2).
//!
//! Every node tells a *profile* of itself: where it is, when it is free, what it costs. A [`Distance`] says how near
//! two profiles are. Every period a node takes its oldest link out of the view. It sends the peer of that link its own
//! descriptor, and of the nodes that it knows those nearest *to the peer*. The peer answers in kind. Both keep the
//! nearest of what they had, what came, and the present peers of the random layer below.
//!
//! ```text
//!   asker                                                    peer
//!   all descriptors are a cycle older
//!   the oldest goes out of the view
//!   Request [asker, the nearest to the peer] ──────────────▶ picks the nearest to the asker
//!                                            ◀────────────── Reply [peer, the nearest to the asker]
//!   keeps the nearest of its view,                           keeps the nearest of its view,
//!   its random peers and the reply                           its random peers and the request
//! ```
//!
//! # Rules
//! - If the peer does not answer in time or cannot be reached, it stays out of the view. An answer to no request is
//!   ignored. The time limit needs no timer, for nothing happens when it passes.
//! - Ages are never reset, and a descriptor older than [`Config::max_age`] is dropped. So dead nodes are forgotten, for
//!   only a node itself makes young descriptors of itself.
//! - The host tells the peers of the random layer ([`Command::Random`]), with their profiles, which it carries beside
//!   that layer's messages. Both layers have the same period, so that their ages mean the same.
//! - The host numbers the profiles of its node ([`Command::Profile`]). Numbers must grow from life to life, too: the
//!   time will do. When the profile changes, the view becomes the nearest of the known peers at once.
//! - A node without links begins anew with its random peers. If it has none either, it waits for a request.
//! - A leaver tells no peer; it falls silent.
//!
//! # What holds after faults
//! This layer heals with the random layer. Once that is one overlay again and messages arrive, every node has links to
//! the nearest nodes that are up, and none to nodes that are gone: these are too old after [`Config::max_age`] cycles.
//!
//! A liar can tell any profile of any node, for nothing here authenticates a sender. What it told of other nodes lasts
//! until it is too old, for of two profiles the one with the larger number counts. A liar cannot make a view or a
//! message grow, or make a node keep a link to itself.
//!
//! # A distance of one's own
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::overlay::vicinity::{Config, Descriptor, Distance, Target, Vicinity, nearest};
//!
//! /// Nodes on a ring of a thousand places.
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct Ring;
//!
//! impl Distance<u16> for Ring {
//!     type Rank = u16;
//!     fn rank(&self, target: &u16, other: &u16) -> u16 {
//!         let apart = target.abs_diff(*other) % 1000;
//!         apart.min(1000 - apart)
//!     }
//! }
//!
//! let known = [(1, 10), (2, 500), (3, 990)].map(|(id, place)| Descriptor {
//!     id: NodeId::new(id),
//!     age: 0,
//!     version: 0,
//!     profile: place,
//! });
//! let target = Target { id: NodeId::new(4), profile: &995 };
//! let near = nearest::<_, _, 2>(&Ring, target, &[&known], 2);
//! assert_eq!([near[0].id, near[1].id], [NodeId::new(3), NodeId::new(1)]);
//!
//! // A node at place 995 that keeps at most 20 links, sends at most 10 descriptors, and hears of 20 random peers.
//! let node = Vicinity::<u16, Ring, 20, 10, 20>::new(NodeId::new(4), Config::DEFAULT, Ring, 995, 0)?;
//! assert!(node.view().is_empty());
//! # Ok::<(), gridweave_core::config::ConfigError>(())
//! ```

mod config;
mod distance;
mod exchange;
mod message;
mod selection;
#[cfg(test)]
mod tests;

pub use config::{Config, Feed};
pub use distance::{Distance, FirstFree, Proximity};
pub use message::{Descriptor, Descriptors, ExchangeId, Message};
pub use selection::{Target, nearest};

use crate::config::ConfigError;
use crate::id::NodeId;
use crate::machine::{Context, Data, Event, Machine, Never, Violation};
use crate::rng::Choose;
use crate::time::{Span, Time};

/// Into how many parts a period is divided to let nodes begin at different times.
const PHASES: u32 = 256;

/// A node of the layer, with at most `V` links, at most `G` descriptors in a message and at most `R` random peers.
///
/// Most effects per event: two on a timer, one otherwise.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Vicinity<P, D, const V: usize, const G: usize, const R: usize> {
    me: NodeId,
    config: Config,
    distance: D,
    profile: P,
    version: u64,
    /// Nearest first, without the owner, each node once.
    view: Descriptors<P, V>,
    /// In the order of ids, without the owner, each node once.
    random: Descriptors<P, R>,
    life: Life,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Life {
    NotStarted,
    Gossiping(Gossip),
    Left,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Gossip {
    /// The cycle that comes next, and when.
    cycle: u32,
    due: Time,
    exchange: Exchange,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Exchange {
    Idle,
    /// The link to the peer that was asked is out of the view.
    Waiting {
        exchange: ExchangeId,
        peer: NodeId,
        deadline: Time,
    },
}

/// The timer of one cycle. The timer of any other cycle does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timer {
    cycle: u32,
}

/// What the host asks of a node. After it left, a node ignores commands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command<P, const R: usize> {
    /// The random layer has these peers now, and no others. They count when descriptors are next sent or kept.
    Random(Descriptors<P, R>),
    /// The node has a new profile. Nothing changes unless the number is larger than before.
    Profile {
        /// What the node tells of itself from now on.
        profile: P,
        /// The number of the profile.
        version: u64,
    },
    /// Stop for good, and forget all peers.
    Leave,
}

impl<P: Data, D: Distance<P>, const V: usize, const G: usize, const R: usize>
    Vicinity<P, D, V, G, R>
{
    /// A node without links, with its first profile and the number of that.
    pub fn new(
        me: NodeId,
        config: Config,
        distance: D,
        profile: P,
        version: u64,
    ) -> Result<Self, ConfigError> {
        const {
            assert!(
                V > 0,
                "V is 0: a view of Vicinity<P, D, V, G, R> has a link"
            );
            assert!(
                G > 0,
                "G is 0: a message of Vicinity<P, D, V, G, R> has a descriptor"
            );
        }
        Ok(Self {
            me,
            config: config.checked::<V, G>()?,
            distance,
            profile,
            version,
            view: Descriptors::new(),
            random: Descriptors::new(),
            life: Life::NotStarted,
        })
    }

    /// The id of this node.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// Its times and sizes.
    pub const fn config(&self) -> Config {
        self.config
    }

    /// Descriptors of the peers that it has links to, nearest first.
    pub fn view(&self) -> &[Descriptor<P>] {
        &self.view
    }

    /// The peers of the random layer that the host told last and that are not too old, in the order of ids.
    pub fn random(&self) -> &[Descriptor<P>] {
        &self.random
    }

    /// What it knows of a node: from its view, else from the random layer.
    pub fn descriptor(&self, id: NodeId) -> Option<&Descriptor<P>> {
        let mut known = self.view.iter().chain(&self.random);
        known.find(|descriptor| descriptor.id == id)
    }

    /// What this node tells of itself.
    pub const fn profile(&self) -> &P {
        &self.profile
    }

    /// The number of its profile.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The distance by which it ranks peers.
    pub const fn distance(&self) -> &D {
        &self.distance
    }

    /// The peer whose answer it waits for, if an exchange is under way.
    pub const fn waits_for(&self) -> Option<NodeId> {
        match &self.life {
            Life::Gossiping(Gossip {
                exchange: Exchange::Waiting { peer, .. },
                ..
            }) => Some(*peer),
            _ => None,
        }
    }

    /// Its own descriptor, of age zero.
    pub fn own(&self) -> Descriptor<P> {
        Descriptor {
            id: self.me,
            age: 0,
            version: self.version,
            profile: self.profile.clone(),
        }
    }

    /// Begins at a random point of the period, so that nodes that start together do not gossip together.
    fn start(&mut self, cx: &mut dyn Context<Self>) {
        let Life::NotStarted = self.life else {
            return;
        };
        let phase = u64::from(cx.rng().below(PHASES)).saturating_add(1);
        let period = self.config.period.as_micros();
        let part = period.checked_div(u64::from(PHASES)).unwrap_or_default();
        let due = cx.now() + Span::from_micros(part).times(phase);
        self.life = Life::Gossiping(Gossip {
            cycle: 0,
            due,
            exchange: Exchange::Idle,
        });
        cx.wake(due, Timer { cycle: 0 });
    }

    fn obey(&mut self, command: Command<P, R>, cx: &mut dyn Context<Self>) {
        if let Life::Left = self.life {
            return;
        }
        match command {
            Command::Random(peers) => self.hear_of(peers),
            Command::Profile { profile, version } => {
                if version > self.version {
                    (self.profile, self.version) = (profile, version);
                    self.keep_nearest(&[]);
                }
            }
            Command::Leave => self.leave(cx),
        }
    }

    /// Takes these peers of the random layer in place of the earlier ones.
    fn hear_of(&mut self, peers: Descriptors<P, R>) {
        self.random = peers;
        let (me, max_age) = (self.me, self.config.max_age);
        self.random
            .retain(|peer| peer.id != me && peer.age <= max_age);
        // Of several descriptors of a node, the one that counts comes first, and stays.
        self.random.sort_unstable_by(|a, b| {
            let order = a.id.cmp(&b.id).then(b.version.cmp(&a.version));
            order.then(a.age.cmp(&b.age))
        });
        let mut last = None;
        self.random
            .retain(|peer| last.replace(peer.id) != Some(peer.id));
    }

    fn leave(&mut self, cx: &mut dyn Context<Self>) {
        if let Life::Gossiping(gossip) = &self.life {
            cx.cancel(Timer {
                cycle: gossip.cycle,
            });
        }
        self.life = Life::Left;
        self.view.clear();
        self.random.clear();
    }
}

impl<P: Data, D: Distance<P>, const V: usize, const G: usize, const R: usize> Machine
    for Vicinity<P, D, V, G, R>
{
    type Message = Message<P, G>;
    type Timer = Timer;
    type Command = Command<P, R>;
    type Notice = Never;
    type Key = Never;
    type Record = Never;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.start(cx),
            Event::Message { from, message } => self.message(from, message, cx),
            Event::Unreachable { to } => self.on_unreachable(to),
            Event::Timer(timer) => self.cycle(timer.cycle, cx),
            Event::Command(command) => self.obey(command, cx),
            Event::Restored(key, _) => match key {},
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.view.len() <= usize::from(self.config.links),
            "a view has no more links than it may",
        )?;
        let mut known = self.view.iter().chain(&self.random);
        Violation::unless(
            known.all(|peer| peer.id != self.me && peer.age <= self.config.max_age),
            "no descriptor is too old, or the node's own",
        )?;
        let key = |peer: &Descriptor<P>| {
            let rank = self.distance.rank(&self.profile, &peer.profile);
            (rank, selection::tie_break(self.me, peer.id))
        };
        Violation::unless(
            self.view.is_sorted_by(|a, b| key(a) < key(b)),
            "the links of a view are in the order of nearness",
        )?;
        let is_first = |(index, peer): (usize, &Descriptor<P>)| {
            let mut before = self.view.iter().take(index);
            before.all(|other| other.id != peer.id)
        };
        Violation::unless(
            self.view.iter().enumerate().all(is_first),
            "the links of a view lead to distinct nodes",
        )?;
        Violation::unless(
            self.random.is_sorted_by(|a, b| a.id < b.id),
            "random peers are distinct, in the order of ids",
        )?;
        let Life::Gossiping(gossip) = &self.life else {
            return Ok(());
        };
        let Exchange::Waiting { exchange, .. } = &gossip.exchange else {
            return Ok(());
        };
        Violation::unless(
            exchange.0 == gossip.cycle.wrapping_sub(1),
            "at most one exchange is pending, the one of the last cycle",
        )
    }
}

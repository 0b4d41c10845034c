//! Selective flooding: a message that reaches many nodes over a few links of each (PROTOCOLS 4.4).
//!
//! A node that receives a message for the first time handles it, and may pass it on to a few random neighbours, but not
//! to the sender. The message stops after a number of hops. A node that receives it again does nothing. The scheduler
//! decides whether a node passes a message on: always, or only if the message does not match the node.
//!
//! Nothing here is a machine. A [`Header`] travels with the scheduler's message, a [`Reach`] says how far and how wide
//! it goes, and each node keeps the floods that it has [`Seen`].
//!
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::overlay::flood::{FloodId, Header, Reach, Seen, Sight};
//! use gridweave_core::time::{Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let id = FloodId { origin: NodeId::new(1), sequence: 0, kind: 0, round: 0 };
//! let neighbours = [2, 3, 4, 5, 6].map(NodeId::new);
//!
//! // Where it begins, four of the five neighbours get it.
//! let header = Reach::REQUEST.begin(id);
//! let sent = header.onward(Reach::REQUEST).expect("it may take nine hops");
//! assert_eq!((sent.ttl, sent.hops), (8, 1));
//! assert_eq!(Reach::REQUEST.targets(neighbours, None, &mut rng).len(), 4);
//!
//! // Elsewhere it is heard for the first time once.
//! let mut seen = Seen::covering(Reach::REQUEST, Span::from_millis(250), 1000);
//! let now = Time::from_secs(10);
//! assert_eq!(seen.see(id, now), Sight::First);
//! assert_eq!(seen.see(id, now), Sight::Again);
//! ```

#[cfg(test)]
mod tests;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::id::NodeId;
use crate::rng::Choose;
use crate::time::{Span, Time};

/// The name of a flood, unique among those of its origin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FloodId {
    /// The node at which it begins.
    pub origin: NodeId,
    /// The origin's number for the subject of the message.
    pub sequence: u64,
    /// The kind of message, numbered by the scheduler.
    pub kind: u8,
    /// How often the same message was flooded before.
    pub round: u32,
}

/// What travels with a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// The flood that it belongs to.
    pub id: FloodId,
    /// How many hops it may still take.
    pub ttl: u8,
    /// How many it took.
    pub hops: u8,
}

impl Header {
    /// The header to pass on; none if the message has gone far enough. A liar's `ttl` is cut to that of `reach`.
    #[must_use]
    pub fn onward(&self, reach: Reach) -> Option<Self> {
        let ttl = self.ttl.min(reach.ttl).checked_sub(1)?;
        let hops = self.hops.saturating_add(1);
        let id = self.id;
        Some(Self { id, ttl, hops })
    }
}

/// How far and how wide a message goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reach {
    /// The most hops.
    pub ttl: u8,
    /// To how many neighbours a node passes it on.
    pub fan_out: u8,
}

impl Reach {
    /// P3's requests, which look for offers: nine hops, four neighbours.
    pub const REQUEST: Self = Self { ttl: 9, fan_out: 4 };

    /// P3's adverts of waiting jobs, which look for better offers: eight hops, two neighbours.
    pub const INFORM: Self = Self { ttl: 8, fan_out: 2 };

    /// The header of a new flood, where it begins.
    #[must_use]
    pub const fn begin(self, id: FloodId) -> Header {
        Header {
            id,
            ttl: self.ttl,
            hops: 0,
        }
    }

    /// The neighbours to which a message goes from here: chosen at random, in random order, never the sender.
    pub fn targets(
        self,
        neighbours: impl IntoIterator<Item = NodeId>,
        sender: Option<NodeId>,
        rng: &mut (impl rand_core::Rng + ?Sized),
    ) -> Vec<NodeId> {
        let others = neighbours.into_iter().filter(|id| Some(*id) != sender);
        let mut others: Vec<NodeId> = others.collect();
        let count = rng.sample(&mut others, usize::from(self.fan_out)).0.len();
        others.truncate(count);
        others
    }
}

/// Whether a message was heard before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sight {
    /// It is new, and is remembered.
    First,
    /// It was heard, not long ago.
    Again,
    /// There is no room to remember it. It may be new, but must not be passed on: it might go round for ever.
    Unkept,
}

/// Which floods a node has heard of lately.
///
/// It forgets each flood after a while, and never one that may still be on its way: while it is full, it takes no other.
/// So a liar that makes up names can keep other floods from going on, but can make none go round.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Seen {
    keep: Span,
    most: u32,
    known: BTreeSet<FloodId>,
    /// The same floods in the order in which they came, each with the time at which it is forgotten.
    order: VecDeque<(Time, FloodId)>,
}

impl Seen {
    /// Remembers at most `most` floods, each for the time `keep`. To one that remembers none, all are new: they end only
    /// with their hops.
    pub const fn new(keep: Span, most: u32) -> Self {
        Self {
            keep,
            most,
            known: BTreeSet::new(),
            order: VecDeque::new(),
        }
    }

    /// Remembers each flood as long as a copy can be on its way: twice its hops, each with the longest delay.
    pub const fn covering(reach: Reach, longest_delay: Span, most: u32) -> Self {
        let hops = (reach.ttl as u64).saturating_mul(2);
        Self::new(longest_delay.times(hops), most)
    }

    /// Notes a flood, and says whether it is new. Seeing it again does not make it last longer.
    pub fn see(&mut self, id: FloodId, now: Time) -> Sight {
        self.expire(now);
        if self.known.contains(&id) && !canary!(FloodsSeenAgain) {
            return Sight::Again;
        }
        if self.most == 0 {
            return Sight::First;
        }
        if self.order.len() >= self.most as usize {
            return Sight::Unkept;
        }
        self.known.insert(id);
        self.order.push_back((now + self.keep, id));
        Sight::First
    }

    /// Forgets the floods whose time is over.
    pub fn expire(&mut self, now: Time) {
        while let Some(&(until, id)) = self.order.front()
            && until <= now
        {
            self.order.pop_front();
            self.known.remove(&id);
        }
    }

    /// How many floods it remembers.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether it remembers no flood.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

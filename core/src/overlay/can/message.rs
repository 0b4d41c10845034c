use alloc::sync::Arc;

use super::load::Told;
use super::space::Point;
use super::tree::{History, Leaf};
use super::zone::Zone;
use crate::id::{Incarnation, NodeId};
use crate::shared::Shared;
use crate::time::Span;

/// The most neighbours that a node has, and the most entries in a message.
pub const MOST_NEIGHBOURS: usize = 512;

/// A node in one of its lives. Each time that it joins is a new life, so what it had before is nobody's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Name {
    /// The node.
    pub id: NodeId,
    /// Which of its lives.
    pub life: Incarnation,
}

/// Who has which zone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Entry<const D: usize> {
    /// Who.
    pub name: Name,
    /// How often its zone changed in this life: of two entries the one with more is later.
    pub epoch: u32,
    /// How often zones were taken by force where this one came from: of two that overlap, who has more is right.
    pub rank: u32,
    /// Its zone.
    pub zone: Zone<D>,
    /// How the zone came about.
    pub history: History,
}

impl<const D: usize> Entry<D> {
    /// Whether this node keeps its zone, and not another one whose zone overlaps it: the one with the higher rank, then that with the
    /// smaller zone, because it is the other that took too much, then the lower name. So both agree who.
    pub(super) fn prevails_over(&self, other: &Self) -> bool {
        let order = |entry: &Self| {
            let rank = core::cmp::Reverse(entry.rank);
            (rank, entry.zone.share_of_space(), entry.name)
        };
        order(self) < order(other)
    }

    pub(super) fn leaf(&self) -> Leaf<D> {
        Leaf {
            zone: self.zone,
            history: self.history.clone(),
        }
    }
}

/// Some entries, in the order of names; shared when cloned.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entries<const D: usize>(Arc<[Entry<D>]>);

impl<const D: usize> Entries<D> {
    /// None.
    pub fn none() -> Self {
        Self(Arc::new([]))
    }

    /// They.
    pub fn iter(&self) -> core::slice::Iter<'_, Entry<D>> {
        self.0.iter()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one of this name, if they are in order.
    pub fn get(&self, name: Name) -> Option<&Entry<D>> {
        let index = self.0.binary_search_by_key(&name, |entry| entry.name);
        index.ok().and_then(|index| self.0.get(index))
    }
}

impl<const D: usize> FromIterator<Entry<D>> for Entries<D> {
    fn from_iter<I: IntoIterator<Item = Entry<D>>>(entries: I) -> Self {
        Self(entries.into_iter().take(MOST_NEIGHBOURS).collect())
    }
}

/// What a node tells of itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Account<const D: usize> {
    /// Its zone.
    pub own: Entry<D>,
    /// How many accounts of itself, with something new, it gave before.
    pub edition: u32,
    /// Its neighbours.
    pub neighbours: Entries<D>,
    /// Where it has few neighbours: some beyond them.
    pub beyond: Option<Beyond<D>>,
}

/// Some of those beyond a node's neighbours.
///
/// Nodes that differ only in one virtual coordinate lie in a row. If some that are side by side crash at once, nobody but their
/// neighbours would know who comes next; so in a row everyone knows a few more.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Beyond<const D: usize> {
    /// The neighbours of its neighbours.
    pub second: Entries<D>,
    /// The neighbours of those.
    pub third: Entries<D>,
}

/// What who joins gets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grant<const D: usize> {
    /// Its entry from now on.
    pub own: Entry<D>,
    /// Who may be its neighbours, the granter among them.
    pub neighbours: Entries<D>,
}

/// Why a wish to join came to nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Refusal {
    /// Something else changes there, or the way there is broken: try again.
    Busy,
    /// The owner is at the very same point: draw another virtual coordinate.
    SamePoint,
    /// There would be too many neighbours.
    Full,
    /// The introducer has no zone itself: try another.
    Outside,
}

/// What nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const D: usize> {
    /// Somebody wants a zone around its point; sent on towards the owner of the point.
    Join {
        /// Who.
        joiner: Name,
        /// Where it is.
        point: Point<D>,
        /// How many hops it may still take.
        hops: u16,
    },
    /// To who joins: here is your zone.
    Grant(Shared<Grant<D>>),
    /// To who joins: there is none.
    Refused {
        /// The life in which it asked.
        life: Incarnation,
        /// Why.
        why: Refusal,
    },
    /// To neighbours who are to know the sender's, after each change: I am here.
    Heartbeat {
        /// The sender's zone and neighbours.
        account: Shared<Account<D>>,
        /// Its load.
        told: Told,
    },
    /// To neighbours who are to know the sender's, from time to time: I am here, and nothing is new but my load.
    Beat {
        /// The sender's life.
        life: Incarnation,
        /// The edition of its last account. Who lacks it asks with a ping.
        edition: u32,
        /// Its load.
        told: Told,
    },
    /// Tell me about yourself, though you need not be my neighbour.
    Ping,
    /// These are your neighbours, I think.
    Introduction(Entries<D>),
    /// Somebody looks for the owner of a point next to its zone, or of its own point, which should be itself; sent on towards the point.
    Seek {
        /// Who, and its zone.
        seeker: Entry<D>,
        /// The point.
        point: Point<D>,
        /// How many hops it may still take.
        hops: u16,
    },
    /// What became of this node, which I miss?
    Inquiry(Name),
    /// To those around who is missed: I shall have this zone, unless you object.
    Claim {
        /// Whom I miss.
        missed: Entries<D>,
        /// What my zone will be.
        zone: Zone<D>,
    },
    /// This node, which you miss, was there so long ago.
    Alive {
        /// Its entry as last heard.
        entry: Entry<D>,
        /// How long ago.
        ago: Span,
    },
    /// To its neighbours: may I leave this zone to my heirs, as soon as all agree?
    MayLeave {
        /// What it has.
        own: Entry<D>,
        /// The epoch of the neighbour's zone, for all it knows.
        epoch: u32,
    },
    /// To who wants to leave: yes.
    Agreed {
        /// The life of who asked.
        life: Incarnation,
        /// The epoch of the zone.
        epoch: u32,
    },
    /// To who wants to leave: not now.
    Disagreed {
        /// The life of who asked.
        life: Incarnation,
        /// The epoch of the zone.
        epoch: u32,
    },
    /// To those who agreed: I stay for now, in this life.
    Stays(Incarnation),
    /// A node is gone for good: it left, or others have its zone now. This is what it told last.
    Obituary(Shared<Account<D>>),
    /// Your zone in this life has been given away: join anew.
    Evicted(Incarnation),
    /// To neighbours who need not know the sender's, after each change of its zone: I am here.
    Here {
        /// The sender's zone.
        own: Shared<Entry<D>>,
        /// The epoch of the receiver's zone, if the sender knows of it.
        yours: Option<u32>,
        /// How many neighbours the sender has.
        neighbours: u16,
        /// Its load.
        told: Told,
    },
    /// To neighbours who need not know the sender's, from time to time: I am here, and my zone is as it was.
    Pulse {
        /// The sender's life.
        life: Incarnation,
        /// The epoch of its zone. Who lacks that asks with a ping.
        epoch: u32,
        /// The epoch of the receiver's zone, for all the sender knows.
        yours: u32,
        /// How many neighbours the sender has.
        neighbours: u16,
        /// Its load.
        told: Told,
    },
    /// The sender leaves for good, and knew this other node, too.
    Farewell(NodeId),
}

impl<const D: usize> Message<D> {
    /// Whether it is one of those that go to every neighbour from time to time, on which others may ride.
    pub const fn is_heartbeat(&self) -> bool {
        matches!(
            self,
            Self::Heartbeat { .. } | Self::Beat { .. } | Self::Here { .. } | Self::Pulse { .. }
        )
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use super::{Entries, Entry, MOST_NEIGHBOURS};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl<const D: usize> Serialize for Entries<D> {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            encoder.collect_seq(self.0.iter())
        }
    }

    impl<'de, const D: usize> Deserialize<'de> for Entries<D> {
        fn deserialize<E: Deserializer<'de>>(decoder: E) -> Result<Self, E::Error> {
            let read = crate::bounded::list::<Entry<D>, E, MOST_NEIGHBOURS>(decoder)?;
            Ok(Self(read.into()))
        }
    }
}

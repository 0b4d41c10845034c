use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::load::Told;
use super::space::Point;
use super::tree::{History, Leaf};
use super::zone::Zone;
use crate::id::{Incarnation, NodeId};
use crate::shared::Shared;
use crate::time::Span;

/// The most neighbours that a node has, and the most entries in a message.
pub const MOST_NEIGHBOURS: usize = 512;

/// A node in one of its lives. Each try to get a zone begins a new life; what the node had in an earlier one is free.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Name {
    /// The node.
    pub id: NodeId,
    /// The number of its life.
    pub life: Incarnation,
}

/// A node and its zone, as of one epoch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Entry<const D: usize> {
    /// The owner of the zone.
    pub name: Name,
    /// How often the zone changed in this life. Of two entries of one life, the one with the higher epoch is later.
    pub epoch: u32,
    /// How often zones were taken by force on the way to this one. If two zones overlap, the higher rank stays.
    pub rank: u32,
    /// Its zone.
    pub zone: Zone<D>,
    /// The splits that the zone came out of.
    pub history: History,
}

impl<const D: usize> Entry<D> {
    /// Whether this node keeps its zone if the other zone overlaps it. The higher rank wins, then the smaller zone
    /// because the larger one took too much, then the lower name. So both nodes come to the same result.
    pub(super) fn prevails_over(&self, other: &Self) -> bool {
        let order = |entry: &Self| {
            let rank = Reverse(entry.rank);
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
    /// An empty list.
    pub fn none() -> Self {
        Self(Arc::new([]))
    }

    /// The entries, in the order of the list.
    pub fn iter(&self) -> core::slice::Iter<'_, Entry<D>> {
        self.0.iter()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry with this name. The search expects the entries in the order of names.
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

/// The latest that is said of each node, in the order of names.
pub(super) fn latest_of_each<'a, const D: usize>(
    said: impl Iterator<Item = &'a Entry<D>>,
) -> Vec<&'a Entry<D>> {
    let mut said: Vec<_> = said.collect();
    said.sort_unstable_by_key(|entry| (entry.name, Reverse(entry.epoch)));
    said.dedup_by_key(|entry| entry.name);
    said
}

/// What a node tells of itself and its neighbours.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Account<const D: usize> {
    /// Its zone.
    pub own: Entry<D>,
    /// The number of this account. It rises with each piece of news.
    pub edition: u32,
    /// Its neighbours.
    pub neighbours: Entries<D>,
    /// Some nodes beyond its neighbours, if it has few neighbours.
    pub beyond: Option<Beyond<D>>,
}

/// Some nodes beyond a node's neighbours.
///
/// Nodes that differ only in one virtual coordinate lie in a row. If some nodes side by side crash at once, the
/// survivors would not know the next node of the row. So a node with few neighbours knows a few nodes more.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Beyond<const D: usize> {
    /// The neighbours of its neighbours.
    pub second: Entries<D>,
    /// The neighbours of the nodes in `second`.
    pub third: Entries<D>,
}

/// The zone of a joiner, and the neighbours with which it begins.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grant<const D: usize> {
    /// The joiner's entry from now on.
    pub own: Entry<D>,
    /// Nodes that may be its neighbours. The granter is among them.
    pub neighbours: Entries<D>,
}

/// Why a joiner got no zone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Refusal {
    /// Another change is under way there, or the route is broken: try again.
    Busy,
    /// The owner of the point is at exactly this point: draw another virtual coordinate.
    SamePoint,
    /// A node would have too many neighbours.
    Full,
    /// The introducer has no zone: try another one.
    Outside,
}

/// The messages between nodes of the overlay.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const D: usize> {
    /// A joiner wants a zone around its point. Members pass the message on towards the owner of the point.
    Join {
        /// The joiner, in the life for which it asks.
        joiner: Name,
        /// The joiner's point.
        point: Point<D>,
        /// How many more hops the message may take.
        hops: u16,
    },
    /// To a joiner: here is your zone.
    Grant(Shared<Grant<D>>),
    /// To a joiner: you get no zone now.
    Refused {
        /// The life for which the joiner asked.
        life: Incarnation,
        /// The reason for the refusal.
        why: Refusal,
    },
    /// To a neighbour that gets the sender's neighbour list, after each change: I am up.
    Heartbeat {
        /// The sender's zone and neighbours.
        account: Shared<Account<D>>,
        /// The sender's load, and the load beyond it.
        told: Told,
    },
    /// To a neighbour that gets the sender's neighbour list, in each period without news: I am up.
    Beat {
        /// The sender's life.
        life: Incarnation,
        /// The edition of the sender's last account. A receiver that lacks this account sends a ping.
        edition: u32,
        /// The sender's load, and the load beyond it.
        told: Told,
    },
    /// To any node: tell me about yourself.
    Ping,
    /// These nodes are probably your neighbours.
    Introduction(Entries<D>),
    /// A seeker looks for the owner of a point beside its zone, or of its own point; passed on towards the point.
    Seek {
        /// The seeker and its zone.
        seeker: Entry<D>,
        /// The point whose owner is sought.
        point: Point<D>,
        /// How many more hops the message may take.
        hops: u16,
    },
    /// What do you know about this node? For the sender it is missed or dead.
    Inquiry(Name),
    /// To all around missed nodes: I take this zone unless you object.
    Claim {
        /// The nodes that the sender misses.
        missed: Entries<D>,
        /// The sender's zone after the take-over.
        zone: Zone<D>,
    },
    /// To a node that misses another one: that node was heard so long ago.
    Alive {
        /// The entry of the missed node, as the sender knows it.
        entry: Entry<D>,
        /// The time since the missed node was heard.
        ago: Span,
    },
    /// To each neighbour: may I leave this zone to my heirs as soon as all neighbours agree?
    MayLeave {
        /// The sender's entry.
        own: Entry<D>,
        /// The epoch of the receiver's zone, as far as the sender knows.
        epoch: u32,
    },
    /// To a leaver: I agree.
    Agreed {
        /// The life of the leaver.
        life: Incarnation,
        /// The epoch of the leaver's zone.
        epoch: u32,
    },
    /// To a leaver: not now.
    Disagreed {
        /// The life of the leaver.
        life: Incarnation,
        /// The epoch of the leaver's zone.
        epoch: u32,
    },
    /// To each neighbour, after one of them disagreed: I stay for now, in this life.
    Stays(Incarnation),
    /// A node is gone for good: it left, or other nodes have its zone now. This is its last known account.
    Obituary(Shared<Account<D>>),
    /// Other nodes have your zone of this life: join anew.
    Evicted(Incarnation),
    /// To a neighbour that does not get the sender's neighbour list, after each change of the sender's zone: I am up.
    Here {
        /// The sender's zone.
        own: Shared<Entry<D>>,
        /// The epoch of the receiver's zone, if the sender knows the receiver.
        yours: Option<u32>,
        /// How many neighbours the sender has.
        neighbours: u16,
        /// The sender's load, and the load beyond it.
        told: Told,
    },
    /// To a neighbour that does not get the sender's neighbour list, in each period without a change: I am up.
    Pulse {
        /// The sender's life.
        life: Incarnation,
        /// The epoch of the sender's zone. A receiver that does not know this epoch sends a ping.
        epoch: u32,
        /// The epoch of the receiver's zone, as far as the sender knows.
        yours: u32,
        /// How many neighbours the sender has.
        neighbours: u16,
        /// The sender's load, and the load beyond it.
        told: Told,
    },
    /// The sender leaves for good. It knew this other node.
    Farewell(NodeId),
}

impl<const D: usize> Message<D> {
    /// Whether it goes to neighbours in each period. A host may add its own data to such messages.
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

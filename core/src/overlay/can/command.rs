//! What a node and its host say to each other: timers, commands, notices and records.

use super::load::Load;
use super::message::Grant;
use super::space::Point;
use crate::id::{Incarnation, NodeId};
use crate::overlay::contacts::Known;
use crate::shared::Shared;

/// The timers of a node; one with an earlier number does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// The next heartbeat is due.
    Beat(u32),
    /// It is time to ask for a zone again.
    Join(Incarnation),
    /// A wait for those who are missed is over.
    Takeover(u32),
    /// It is time to try to leave again.
    Leave(Incarnation),
}

/// What a node may be asked. Before its start and after it left, it obeys nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command<const D: usize> {
    /// Have the whole space: for the first node only.
    Found,
    /// Get a zone from those who are in. Who has one makes sure that it is in the same overlay, and who has asked
    /// somebody else asks this one, too, if it gets no answer.
    Join {
        /// A node that is in the overlay.
        introducer: NodeId,
    },
    /// Have this zone from the beginning: how a host lays out an overlay by hand, see [`Layout`](super::Layout). Its name is of no
    /// account.
    Place(Shared<Grant<D>>),
    /// This is the node's own load from now on.
    Load(Load),
    /// Stop for good, and leave the zone to others.
    Leave,
    /// Be at this point from now on, if it is in the zone; else nothing happens. Nobody else needs to know.
    Move(Point<D>),
}

/// What a node tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Notice<const D: usize> {
    /// It has a zone.
    Joined,
    /// Its zone is another now, smaller or larger.
    Zone,
    /// Somebody is at its very point, so it is at another now: the virtual coordinates were drawn again.
    Moved(Point<D>),
    /// It got no zone in time from who was asked, and asks again; another introducer may know better.
    Unanswered(NodeId),
    /// It got no zone, for there are too many neighbours where it is to be. It asks again, about as soon as who was
    /// told to.
    Full,
    /// Others have its zone, so it joins anew.
    Evicted,
    /// It left.
    Left,
}

/// Under what a node keeps its records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// The number of its life.
    Life,
    /// A few peers.
    Known,
}

/// What a node must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// The number of its life.
    Life(Incarnation),
    /// A few peers.
    Known(Known),
}

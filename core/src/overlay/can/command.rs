//! Timers, commands, notices and records: what passes between a node and its host.

use super::load::Load;
use super::message::Grant;
use super::space::Point;
use crate::id::{Incarnation, NodeId};
use crate::overlay::contacts::Known;
use crate::shared::Shared;

/// The timers of a node. A timer with an outdated number does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// The next heartbeat is due.
    Beat(u32),
    /// It is time to ask for a zone again.
    Join(Incarnation),
    /// A wait for missed nodes, or for objections to a claim, is over.
    Takeover(u32),
    /// It is time to try to leave again.
    Leave(Incarnation),
}

/// What the host may ask of a node. Before the start, and after it left, only [`Command::Load`] has an effect.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command<const D: usize> {
    /// Take the whole space: for the first node only.
    Found,
    /// Get a zone from the members. A node that has one searches for its own point through the introducer, to find out
    /// whether both are in one overlay. A joiner keeps the introducer for a later try.
    Join {
        /// A node that is in the overlay.
        introducer: NodeId,
    },
    /// Begin with this zone: a host lays out an overlay by hand so, see [`Layout`](super::Layout). The name in the
    /// grant is ignored.
    Place(Shared<Grant<D>>),
    /// This is the node's own load from now on.
    Load(Load),
    /// Send a heartbeat to all neighbours now, since there is news. It stands for the next regular one, which then comes
    /// a period later. The host bounds how often it asks for this.
    Tell,
    /// Leave for good. The heirs get the zone.
    Leave,
    /// Move to this point, if the zone contains it; else nothing happens. Peers need not know.
    Move(Point<D>),
}

/// What a node tells its host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Notice<const D: usize> {
    /// It has a zone.
    Joined,
    /// Its zone became smaller or larger.
    Zone,
    /// Another node is at exactly its point, so it moved here: its virtual coordinates were drawn again.
    Moved(Point<D>),
    /// It got no zone in time through this introducer, and asks again. Another introducer may help.
    Unanswered(NodeId),
    /// It got no zone, because a node there would have too many neighbours. It asks again, as after
    /// [`Refusal::Busy`](super::Refusal::Busy).
    Full,
    /// Other nodes have its zone, so it joins anew.
    Evicted,
    /// It left.
    Left,
}

/// The keys of a node's records.
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

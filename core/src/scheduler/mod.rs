//! Whole schedulers: each composes the layers below into one machine per node, with the commands and notices of
//! [`crate::job`].
//!
//! | scheduler | what it does |
//! |---|---|
//! | [`asap`] | a gang of nodes, as soon as possible, over a random overlay with cached schedules |
//! | [`criteria`] | a gang of nodes by the user's cost function, found along links to nodes that are good together |
//! | [`aria`] | one site for each job, offered by sites that keep their own policies, and moved while it waits |
//! | [`desktop`] | some cores of one node for each job, found in a space of what nodes have, and moved while it waits |
//!
//! The [`desk`] is the common part of the schedulers that reserve time ([`asap`], [`criteria`]).

pub mod aria;
pub mod asap;
pub mod criteria;
pub mod desk;
pub mod desktop;

use alloc::vec::Vec;

use rand_core::Rng;

use crate::id::NodeId;
use crate::overlay::cyclon;
use crate::rng::Choose;

/// How a node gets into the overlay.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Bootstrap {
    /// The node is the first, or the only one.
    Alone,
    /// The introducer, through which the node joins.
    Join(NodeId),
    /// The node's neighbours, for a host that lays out an overlay by hand.
    Meet(Vec<NodeId>),
}

impl Bootstrap {
    /// The commands that the random overlay gets at the start.
    fn commands(&self) -> impl Iterator<Item = cyclon::Command> + '_ {
        let (introducer, peers) = match self {
            Self::Alone => (None, &[][..]),
            Self::Join(introducer) => (Some(*introducer), &[][..]),
            Self::Meet(peers) => (None, peers.as_slice()),
        };
        let join = introducer.map(|introducer| cyclon::Command::Join { introducer });
        let meet = peers.iter().map(|peer| cyclon::Command::Meet(*peer));
        join.into_iter().chain(meet)
    }

    /// The introducer for a node that has lost all its links; with `Meet`, a random one of the given peers.
    fn introducer(&self, rng: &mut dyn Rng) -> Option<NodeId> {
        match self {
            Self::Alone => None,
            Self::Join(introducer) => Some(*introducer),
            Self::Meet(peers) => rng.pick(peers).copied(),
        }
    }
}

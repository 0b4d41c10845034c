//! Whole schedulers: each composes the layers below into one machine per node, with the commands and notices of
//! [`crate::job`].
//!
//! | scheduler | what it does |
//! |---|---|
//! | [`asap`] | several nodes at once, as soon as possible, over a random overlay with cached schedules |
//! | [`criteria`] | several nodes at once, by the user's own cost function, found along links between nodes that are good together |
//! | [`aria`] | one site for each job, offered by sites that keep their own policies, and moved while it waits |
//! | [`desktop`] | some cores of one node for each job, found in a space of what nodes have, and moved while it waits |
//!
//! What schedulers that reserve time have in common, whatever they search by, is the [`desk`].

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
    /// It is the first, or the only one.
    Alone,
    /// This node introduces it.
    Join(NodeId),
    /// These are its neighbours: how a host lays out an overlay by hand.
    Meet(Vec<NodeId>),
}

impl Bootstrap {
    /// What the random overlay is asked to begin with.
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

    /// Who can introduce a node that has lost all others: for one whose neighbours were laid out by hand, any of those.
    fn introducer(&self, rng: &mut dyn Rng) -> Option<NodeId> {
        match self {
            Self::Alone => None,
            Self::Join(introducer) => Some(*introducer),
            Self::Meet(peers) => rng.pick(peers).copied(),
        }
    }
}

use alloc::vec::Vec;

use super::MOST_LINKS;
#[cfg(feature = "serde")]
use super::MOST_RECORDS;
use crate::id::{Incarnation, NodeId};

/// A few nodes, no more than a node has links.
pub type Nodes = heapless::Vec<NodeId, MOST_LINKS>;

/// A way from one node to another, both included.
pub type Way = heapless::Vec<NodeId, MOST_LINKS>;

/// Who the neighbours of a node are, as told by itself at some time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Neighbourhood {
    /// Whose.
    pub node: NodeId,
    /// In which of its lives.
    pub incarnation: Incarnation,
    /// How many changes there were before in that life.
    pub version: u32,
    /// Its neighbours, in the order of ids.
    pub neighbours: Nodes,
}

impl Neighbourhood {
    /// What a later one is later by.
    pub(super) const fn stamp(&self) -> (Incarnation, u32) {
        (self.incarnation, self.version)
    }

    /// Whether it has this neighbour.
    pub fn lists(&self, node: NodeId) -> bool {
        self.neighbours.contains(&node)
    }

    /// The same with neighbours in order, each once, and not the node itself: who sent it may be a liar.
    pub(super) fn tidied(mut self) -> Self {
        let node = self.node;
        self.neighbours.retain(|other| *other != node);
        self.neighbours.sort_unstable();
        let mut tidy = Nodes::new();
        for id in &self.neighbours {
            if tidy.last() != Some(id) {
                tidy.extend([*id]);
            }
        }
        self.neighbours = tidy;
        self
    }
}

/// What a link is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Purpose {
    /// It keeps the overlay together: for who joins, and for repairs.
    Construction,
    /// It makes ways shorter.
    Optimisation,
}

/// The name of a change of links, unique among those that a node begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChangeId {
    /// The life in which it began.
    pub incarnation: Incarnation,
    /// How many it began before.
    pub serial: u32,
}

/// What nodes say to each other.
///
/// Lists have at most [`MOST_RECORDS`](super::MOST_RECORDS) neighbourhoods.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// A discovery ant walks by.
    Ant {
        /// How many links it may walk along after this one.
        left: u8,
        /// Whom it visited last, the sender at the end.
        #[cfg_attr(
            feature = "serde",
            serde(deserialize_with = "crate::bounded::list::<_, _, MOST_RECORDS>")
        )]
        visited: Vec<Neighbourhood>,
    },
    /// To a neighbour: these are my neighbours now.
    Update(Neighbourhood),
    /// To a neighbour: are you there, and am I your neighbour? These are mine.
    Ping(Neighbourhood),
    /// To a neighbour: I am here. These are my neighbours.
    Pong(Neighbourhood),
    /// Let us have a link.
    Link {
        /// The asker's name for the change.
        change: ChangeId,
        /// What for.
        purpose: Purpose,
        /// How often the asker may be sent on to another.
        detours: u8,
        /// The asker's neighbourhood, then those of its neighbours.
        #[cfg_attr(
            feature = "serde",
            serde(deserialize_with = "crate::bounded::list::<_, _, MOST_RECORDS>")
        )]
        around: Vec<Neighbourhood>,
    },
    /// We have a link.
    Linked {
        /// The asker's name for the change.
        change: ChangeId,
        /// The answerer's neighbourhood, with the asker in it.
        own: Neighbourhood,
    },
    /// We shall have none.
    Refused {
        /// The asker's name for the change.
        change: ChangeId,
        /// Who might like one instead.
        instead: Option<NodeId>,
        /// What the answerer knows about the way between the two, if that is short.
        #[cfg_attr(
            feature = "serde",
            serde(deserialize_with = "crate::bounded::list::<_, _, MOST_RECORDS>")
        )]
        around: Vec<Neighbourhood>,
    },
    /// An ant that walks from one end of a link to the other another way, to end the link there.
    Unlink {
        /// The asker's name for the change.
        change: ChangeId,
        /// The way: who asks, those in between, the other end of the link.
        way: Way,
    },
    /// To who wants to end a link: there is no such way, or not now.
    Kept {
        /// The asker's name for the change.
        change: ChangeId,
    },
    /// There is no link between us (any more).
    NotLinked,
    /// I am leaving. These were my neighbours, who may want to know each other.
    Leaving(Neighbourhood),
}

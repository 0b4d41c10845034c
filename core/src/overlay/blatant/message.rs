use alloc::vec::Vec;

use super::MOST_LINKS;
#[cfg(feature = "serde")]
use super::MOST_RECORDS;
use crate::few::Few;
use crate::id::{Incarnation, NodeId};

/// A few nodes, no more than a node has links.
pub type Nodes = Few<NodeId, MOST_LINKS>;

/// A way from one node to another, both included.
pub type Way = Few<NodeId, MOST_LINKS>;

/// The neighbour list of a node, as the node itself told it at some time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Neighbourhood {
    /// The node whose neighbours these are.
    pub node: NodeId,
    /// The life of that node.
    pub incarnation: Incarnation,
    /// How often the list changed before in that life.
    pub version: u32,
    /// Its neighbours, in the order of ids.
    pub neighbours: Nodes,
}

impl Neighbourhood {
    /// Orders the lists of one node: a later list has a larger stamp.
    pub(super) const fn stamp(&self) -> (Incarnation, u32) {
        (self.incarnation, self.version)
    }

    /// Whether the list has this node.
    pub fn lists(&self, node: NodeId) -> bool {
        self.neighbours.contains(&node)
    }

    /// The same list in order, each neighbour once, without the node itself: the sender may be a liar.
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
    /// It keeps the overlay together: for joiners and for repairs.
    Construction,
    /// It makes ways shorter.
    Optimisation,
}

/// The name of a change of links, unique among the changes that a node begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChangeId {
    /// The life in which it began.
    pub incarnation: Incarnation,
    /// The number of the change in that life; the first is one.
    pub serial: u32,
}

/// What nodes say to each other.
///
/// A message has at most [`MOST_RECORDS`](super::MOST_RECORDS) neighbour lists.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// A discovery ant walks by.
    Ant {
        /// How many links it may walk along after this one.
        left: u8,
        /// The neighbour lists of the nodes visited last, the sender's at the end.
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
        /// What the link is for.
        purpose: Purpose,
        /// How often the asker may be sent on to another node.
        detours: u8,
        /// The asker's neighbour list, then those of its neighbours.
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
        /// The answerer's neighbour list, with the asker in it.
        own: Neighbourhood,
    },
    /// I refuse the link.
    Refused {
        /// The asker's name for the change.
        change: ChangeId,
        /// A node to ask instead.
        instead: Option<NodeId>,
        /// If the answerer knows a short way between the two: the neighbour lists that show it.
        #[cfg_attr(
            feature = "serde",
            serde(deserialize_with = "crate::bounded::list::<_, _, MOST_RECORDS>")
        )]
        around: Vec<Neighbourhood>,
    },
    /// An ant that ends a link: it walks the way around the link, from one end to the other.
    Unlink {
        /// The asker's name for the change.
        change: ChangeId,
        /// The way: the asker, the nodes in between, the other end of the link.
        way: Way,
    },
    /// To the asker of an unlink: the link stays, for the way is broken or the link cannot end now.
    Kept {
        /// The asker's name for the change.
        change: ChangeId,
    },
    /// There is no link between us (any more).
    NotLinked,
    /// I am leaving. These were my neighbours: form a ring.
    Leaving(Neighbourhood),
}

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::admission::{Needs, Stated, Tally};
use crate::commit;
use crate::id::{JobId, NodeId, OrganisationId};
use crate::overlay::cyclon;
use crate::schedule::{BusyTime, Snapshot};
use crate::time::{Interval, Span, Time};

/// The messages between nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const L: usize> {
    /// A message of the overlay.
    Overlay(cyclon::Message<L>),
    /// A message of the two-phase commit, which confirms a placement.
    Commit(commit::Message),
    /// From a submitter: search a placement.
    Search {
        /// The submitter's name for the question.
        ask: AskId,
        /// How many nodes, from when on and for how long.
        wanted: Wanted,
    },
    /// From a searcher: a placement was found.
    Found {
        /// The submitter's name for the question.
        ask: AskId,
        /// The placement that was found.
        offer: Offer,
    },
    /// From a searcher: no placement was found.
    NotFound {
        /// The submitter's name for the question.
        ask: AskId,
        /// How many nodes the search saw; none if it says nothing about the job.
        seen: Tally,
    },
    /// From a searcher: asks for the receiver's neighbours and their schedules.
    WhoElse {
        /// The searcher's name for the search.
        search: SearchId,
    },
    /// The answer to [`WhoElse`](Self::WhoElse).
    Others {
        /// The searcher's name for the search.
        search: SearchId,
        /// The sender's neighbours whose schedules it knows.
        known: Others,
    },
    /// Asks for the receiver's schedule.
    Fetch(Reason),
    /// The sender's schedule.
    Schedule {
        /// Why the schedule was asked for, or is sent unasked.
        reason: Reason,
        /// What the sender has, and whose jobs it admits.
        stated: Stated,
        /// When the sender is busy.
        schedule: Snapshot,
    },
    /// Asks for the receiver's schedule after each change, and at once unless `known` is its latest version.
    Subscribe {
        /// The version that the sender knows.
        known: Option<u64>,
    },
    /// Ends a subscription.
    Unsubscribe,
}

/// Why a schedule is sent (PROTOCOLS D7, D8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reason {
    /// The schedule has changed: Push.
    Changed,
    /// A search needs it: Pull, or the submitter's own schedule.
    Search(SearchId),
    /// The period of polling is over: Poll.
    Poll,
    /// The node came into a view, or the version that the subscriber knows is not the latest.
    NewLink,
}

/// A submitter's name for a question; there may be several for one job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AskId {
    /// The job that the question is about.
    pub job: JobId,
    /// The number of the question in this life of the submitter.
    pub round: u32,
}

/// A searcher's name for a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct SearchId(pub(super) u32);

/// What a submitter wants: how many nodes, which ones, from when on and for how long.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wanted {
    /// The number of nodes, which must all be free together.
    pub count: u32,
    /// The earliest start.
    pub from: Time,
    /// How long the nodes are needed, in whole slots.
    pub length: Span,
    /// The organisation that the nodes must admit.
    pub organisation: OrganisationId,
    /// What each of them must have.
    pub needs: Needs,
}

/// When and where a job could run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Offer {
    /// When the job would start.
    pub start: Time,
    /// How many hops the farthest candidates of the search were away from the searcher.
    pub hops: u8,
    /// The nodes on which the job would run.
    #[cfg_attr(
        feature = "serde",
        serde(deserialize_with = "crate::bounded::list::<_, _, { Offer::MOST_NODES }>")
    )]
    pub nodes: Vec<NodeId>,
}

impl Offer {
    /// The most nodes that are decoded; longer lists are an error.
    pub const MOST_NODES: usize = u16::MAX as usize;
}

/// A node, with its attributes and its schedule as far as they are known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Known {
    /// The node to which the schedule belongs.
    pub node: NodeId,
    /// What it has, and whose jobs it admits.
    pub stated: Stated,
    /// When it is busy.
    pub schedule: Snapshot,
}

impl BusyTime for Known {
    fn windows(&self) -> &[Interval] {
        self.schedule.windows()
    }

    fn horizon(&self) -> Time {
        self.schedule.horizon()
    }
}

/// Neighbours of a node and their schedules. Clones share the list.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Others(Arc<[Known]>);

impl Others {
    /// The most entries that are decoded; longer lists are an error.
    pub const MOST: usize = u8::MAX as usize;

    /// The neighbours, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &Known> {
        self.0.iter()
    }

    /// The number of neighbours.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no neighbour is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Known> for Others {
    fn from_iter<I: IntoIterator<Item = Known>>(known: I) -> Self {
        Self(known.into_iter().take(Self::MOST).collect())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Others {
    fn serialize<S: serde::Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
        encoder.collect_seq(self.0.iter())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Others {
    fn deserialize<D: serde::Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
        let known = crate::bounded::list::<Known, D, { Self::MOST }>(decoder)?;
        Ok(Self(known.into()))
    }
}

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::commit;
use crate::id::{JobId, NodeId};
use crate::overlay::cyclon;
use crate::schedule::{BusyTime, Snapshot};
use crate::time::{Interval, Span, Time};

/// What nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const L: usize> {
    /// Of the overlay.
    Overlay(cyclon::Message<L>),
    /// To confirm a place.
    Commit(commit::Message),
    /// Search a place for this.
    Search {
        /// The asker's name for the question.
        ask: AskId,
        /// What is wanted.
        wanted: Wanted,
    },
    /// Here is a place.
    Found {
        /// The asker's name for the question.
        ask: AskId,
        /// The place.
        offer: Offer,
    },
    /// There is none.
    NotFound {
        /// The asker's name for the question.
        ask: AskId,
        /// How many nodes were looked at.
        seen: u32,
    },
    /// Whom do you know, and when are they busy?
    WhoElse {
        /// The searcher's name for the search.
        search: SearchId,
    },
    /// These, and then.
    Others {
        /// The searcher's name for the search.
        search: SearchId,
        /// All of whom it knows when they are busy.
        known: Others,
    },
    /// When are you busy?
    Fetch(Reason),
    /// Then.
    Schedule {
        /// Why it was asked for, or is told.
        reason: Reason,
        /// It.
        schedule: Snapshot,
    },
    /// Tell me whenever your schedule changes, and now unless I know its latest version.
    Subscribe {
        /// The version that is known.
        known: Option<u64>,
    },
    /// Tell me no more.
    Unsubscribe,
}

/// Why a schedule travels (PROTOCOLS D7, D8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reason {
    /// It has changed: Push.
    Changed,
    /// Its node is searched among: Pull.
    Search(SearchId),
    /// It is time to ask again: Poll.
    Poll,
    /// Its node came into a view, or what was known of it may be old.
    NewLink,
}

/// A submitter's name for a question: it may search several times for one job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AskId {
    /// The job.
    pub job: JobId,
    /// Which of the searches for it.
    pub round: u32,
}

/// A searcher's name for a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct SearchId(pub(super) u32);

/// What a place is wanted for: so many nodes for so long, not before then.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wanted {
    /// How many nodes.
    pub count: u32,
    /// The earliest start.
    pub from: Time,
    /// For how long.
    pub length: Span,
}

/// When and where a job could run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Offer {
    /// When.
    pub start: Time,
    /// How many steps away from the searcher the farthest candidates were.
    pub hops: u8,
    /// Where.
    #[cfg_attr(
        feature = "serde",
        serde(deserialize_with = "crate::bounded::list::<_, _, { Offer::MOST_NODES }>")
    )]
    pub nodes: Vec<NodeId>,
}

impl Offer {
    /// The most nodes of an offer that is read.
    pub const MOST_NODES: usize = u16::MAX as usize;
}

/// A node, and when it is busy as far as is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Known {
    /// The node.
    pub node: NodeId,
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

/// Some nodes and their schedules: at most as many as a view can have, shared when cloned.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Others(Arc<[Known]>);

impl Others {
    /// The most of them that are read.
    pub const MOST: usize = u8::MAX as usize;

    /// They.
    pub fn iter(&self) -> impl Iterator<Item = &Known> {
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

use gridweave_core::id::{Incarnation, JobId, NodeId};
use gridweave_core::job::{Job, Outcome};
use gridweave_core::overlay::cyclon;
use gridweave_core::time::Time;
use gridweave_core::wire::{Bounded, Framed, Kind, Protocol};
use serde::{Deserialize, Serialize};

use crate::schedulers::asap::config::MOST_SHUFFLED as SHUFFLED;

/// The name of a search, and of the attempt to run the job on what it found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SearchId {
    /// The node where the job was submitted, which searches.
    pub origin: NodeId,
    /// The job.
    pub job: JobId,
    /// The origin's life when the search began.
    pub life: Incarnation,
    /// Which of the searches of that life it is.
    pub number: u32,
}

impl SearchId {
    /// Whether it is a later search for the same job.
    pub(super) fn follows(&self, other: &Self) -> bool {
        (self.origin, self.job) == (other.origin, other.job)
            && (self.life, self.number) > (other.life, other.number)
    }
}

/// What nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Message {
    /// Who is free? Passed on to all neighbours, so many steps further.
    Search {
        /// Which search.
        search: SearchId,
        /// How many steps it still goes, this one included.
        ttl: u8,
    },
    /// To the origin: I am free, and yours for a while.
    Offer(SearchId),
    /// To the origin: I am there, and not free.
    Busy(SearchId),
    /// From the origin: you are not needed.
    Release(SearchId),
    /// From the origin: run this, until then.
    Start {
        /// Under whose offer.
        search: SearchId,
        /// What.
        job: Box<Job>,
        /// The end of the permission.
        until: Time,
    },
    /// From the origin: you may go on, until then.
    Renew {
        /// What was started.
        search: SearchId,
        /// The end of the permission.
        until: Time,
    },
    /// From the origin: run it no more.
    Stop(SearchId),
    /// To the origin: it runs.
    Running(SearchId),
    /// To the origin: it has ended here.
    Ended {
        /// What was started.
        search: SearchId,
        /// How.
        outcome: Outcome,
    },
    /// To the origin: it neither runs here nor will.
    Gone(SearchId),
    /// What keeps the overlay together.
    Overlay(cyclon::Message<SHUFFLED>),
}

impl Message {
    /// Whether it is for this node to say, to that one: orders come from who has searched, and answers go there.
    pub(super) fn may_go(&self, from: NodeId, to: NodeId) -> bool {
        match self {
            Self::Search { .. } | Self::Overlay(_) => true,
            Self::Release(search)
            | Self::Start { search, .. }
            | Self::Renew { search, .. }
            | Self::Stop(search) => search.origin == from,
            Self::Offer(search)
            | Self::Busy(search)
            | Self::Running(search)
            | Self::Ended { search, .. }
            | Self::Gone(search) => search.origin == to,
        }
    }
}

/// The most bytes of a [`SearchId`].
const SEARCH: usize =
    NodeId::MOST_BYTES + JobId::MOST_BYTES + Incarnation::MOST_BYTES + u32::MOST_BYTES;

impl Framed for Message {
    const PROTOCOL: Protocol = Protocol::new(129);
    const KINDS: &'static [Kind] = &[
        Kind::new("Search", SEARCH + 1),
        Kind::new("Offer", SEARCH),
        Kind::new("Busy", SEARCH),
        Kind::new("Release", SEARCH),
        Kind::new("Start", SEARCH + Job::MOST_BYTES + Time::MOST_BYTES),
        Kind::new("Renew", SEARCH + Time::MOST_BYTES),
        Kind::new("Stop", SEARCH),
        Kind::new("Running", SEARCH),
        Kind::new("Ended", SEARCH + Outcome::MOST_BYTES),
        Kind::new("Gone", SEARCH),
        Kind::around("Overlay", <cyclon::Message<SHUFFLED> as Framed>::KINDS, 0),
    ];

    fn kind(&self) -> &'static str {
        match self {
            Self::Search { .. } => "Search",
            Self::Offer(_) => "Offer",
            Self::Busy(_) => "Busy",
            Self::Release(_) => "Release",
            Self::Start { .. } => "Start",
            Self::Renew { .. } => "Renew",
            Self::Stop(_) => "Stop",
            Self::Running(_) => "Running",
            Self::Ended { .. } => "Ended",
            Self::Gone(_) => "Gone",
            Self::Overlay(_) => "Overlay",
        }
    }
}

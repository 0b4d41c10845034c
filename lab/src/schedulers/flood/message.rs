use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId};
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
    /// The name of the attempt to run the job on the nodes that this search finds.
    pub fn attempt(self) -> Epoch {
        Epoch::new((u64::from(self.life.get()) << 32) | u64::from(self.number))
    }
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
    /// The origin asks which nodes are free. Each receiver passes it on to all its neighbours, for `ttl` hops.
    Search {
        /// The name of the search.
        search: SearchId,
        /// How many hops it still goes, this one included.
        ttl: u8,
    },
    /// To the origin: the sender is free, and claimed for the origin until its lease ends.
    Offer(SearchId),
    /// To the origin: the sender is up, but not free.
    Busy(SearchId),
    /// From the origin: the claim is not needed any more.
    Release(SearchId),
    /// From the origin: run this job until the permission ends.
    Start {
        /// The search for which the receiver is claimed.
        search: SearchId,
        /// The job to run.
        job: Box<Job>,
        /// The end of the permission.
        until: Time,
    },
    /// From the origin: the permission now ends later.
    Renew {
        /// The search under which the job was started.
        search: SearchId,
        /// The end of the permission.
        until: Time,
    },
    /// From the origin: stop the job.
    Stop(SearchId),
    /// To the origin: the job runs here.
    Running(SearchId),
    /// To the origin: the job has ended here.
    Ended {
        /// The search under which the job was started.
        search: SearchId,
        /// How the job ended.
        outcome: Outcome,
    },
    /// To the origin: the job does not run here, and will not.
    Gone(SearchId),
    /// A message of the overlay.
    Overlay(cyclon::Message<SHUFFLED>),
}

impl Message {
    /// Whether `from` may send this to `to`: orders come only from the origin of the search, and answers go only to it.
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

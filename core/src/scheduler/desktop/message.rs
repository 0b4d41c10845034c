use super::status::Status;
use crate::custody::{self, Candidates};
use crate::id::{JobId, NodeId};
use crate::job::Job;
use crate::overlay::can::{self, Point};
use crate::overlay::flood::Header;
use crate::queue::Waiting;
use crate::shared::Shared;

/// What nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const D: usize> {
    /// Of the overlay.
    Overlay {
        /// What.
        message: can::Message<D>,
        /// With a heartbeat: how the sender is.
        status: Option<Shared<Status>>,
    },
    /// Between where a job was submitted and its owner.
    Owners(custody::Message),
    /// Between a job's owner and who runs it.
    Runs(custody::Message),
    /// Whose is this point? Sent on towards it; the owner says [`Message::Found`].
    Route {
        /// The job whose point it is.
        job: JobId,
        /// Who asks, and how often the job was given away before.
        quest: Quest,
        /// The point.
        point: Point<D>,
        /// How many hops it may still take.
        hops: u16,
    },
    /// Who could run this job? Pushed outwards, to where the load is less.
    Hunt {
        /// The job.
        job: Shared<Job>,
        /// Who asks, and how often the job was given away before.
        quest: Quest,
        /// How many hops it may still take.
        hops: u16,
    },
    /// Can you run this job? Flooded to all who might, when nobody else was found.
    Search {
        /// How it travels.
        header: Header,
        /// The job.
        job: Shared<Job>,
        /// Who asks, and how often the job was given away before.
        quest: Quest,
    },
    /// To who asks: these may take it.
    Found {
        /// Which job.
        job: JobId,
        /// Which of its searches.
        quest: Quest,
        /// The best first; nobody, if there is nobody.
        candidates: Candidates,
    },
    /// Would you take this job that waits here?
    Offer {
        /// It.
        waiting: Waiting,
        /// To do what.
        move_to: MoveTo,
    },
    /// Whether.
    OfferAnswer {
        /// Which job.
        job: JobId,
        /// Whether.
        takes: bool,
        /// How the sender is now.
        status: Shared<Status>,
    },
    /// Give me a job that waits at yours.
    Pull {
        /// To do what.
        move_to: MoveTo,
        /// How the sender is.
        status: Shared<Status>,
    },
    /// There is none for you.
    PullReject {
        /// How the sender is.
        status: Shared<Status>,
    },
    /// This is what I have left; sent on towards the point at which I would be if that were all.
    Inflate {
        /// Who.
        node: NodeId,
        /// Of two the one with more is later.
        version: u64,
        /// How it is.
        status: Shared<Status>,
        /// Where.
        point: Point<D>,
        /// How many hops it may still take.
        hops: u16,
    },
    /// What I had left is gone.
    Deflate {
        /// Who.
        node: NodeId,
        /// Of which version.
        version: u64,
        /// Where it was.
        point: Point<D>,
        /// How many hops it may still take.
        hops: u16,
    },
}

impl<const D: usize> Message<D> {
    /// Whether it is one of those that only keep the overlay up to date.
    pub const fn is_heartbeat(&self) -> bool {
        matches!(self, Self::Overlay { .. })
    }
}

/// Who searches for somebody who takes a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quest {
    /// Who.
    pub asker: NodeId,
    /// How often the job was given away before.
    pub attempt: u32,
    /// Whether an owner is wanted, or somebody who runs it.
    pub wanted: Wanted,
}

/// Who is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Wanted {
    /// The owner of a job's point.
    Owner,
    /// Somebody who runs a job.
    RunNode,
}

/// Why a job that waits moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MoveTo {
    /// It starts there at once: internode scheduling.
    Start,
    /// Fewer wait there: queue balancing.
    Wait,
}

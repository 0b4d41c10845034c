use super::status::Status;
use crate::custody::{self, Candidates, MOST_CANDIDATES};
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
    /// A question that goes from node to node.
    Errand {
        /// The question.
        errand: Errand<D>,
        /// The sender's number of it, which is to be acknowledged; zero, if it is not.
        number: u32,
    },
    /// The errand of this number has come here.
    Acknowledged(u32),
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
    /// Of the second space, in the Dual-CAN model.
    Residue {
        /// What.
        message: can::Message<D>,
        /// With a heartbeat: how the sender is.
        status: Option<Shared<Status>>,
    },
    /// To neighbours in the second space: what I have left has changed.
    ResidueChanged {
        /// How the sender is.
        status: Shared<Status>,
    },
    /// From the rendezvous: these are members of the second space. If there are none, found it.
    Members(Members),
}

/// Some members of the second space.
pub type Members = heapless::Vec<NodeId, 4, u8>;

impl<const D: usize> Message<D> {
    /// Whether it is one of those that only keep the overlay up to date.
    pub const fn is_heartbeat(&self) -> bool {
        matches!(self, Self::Overlay { .. } | Self::Residue { .. })
    }
}

/// How well a node would do for a job, as far as who saw it knows: less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Merit {
    /// When it would start there.
    pub turn: Turn,
    /// Of those with the same turn, the less loaded and faster node is better.
    pub cost: u64,
    /// Of equals each is as good, but not the same for all jobs.
    pub lot: u32,
    /// The node.
    pub node: NodeId,
}

/// When a job would start at a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Turn {
    /// At once: nothing else is there.
    Free,
    /// At once, beside what runs there.
    Beside,
    /// Later.
    Later,
}

/// How far a search for who runs a job is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trail<const D: usize> {
    /// The best of those who were seen on the way.
    pub best: Merits,
    /// Where it goes, before it is pushed outwards.
    pub toward: Option<Point<D>>,
    /// How often the job was passed where it waits, which decides whom it may pass.
    pub passed: u32,
    /// How often it may begin anew elsewhere.
    pub probes: u8,
    /// How many hops it may still take.
    pub hops: u16,
}

/// Some nodes that would do for a job, the best first.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Merits(heapless::Vec<Merit, MOST_CANDIDATES, u8>);

impl Merits {
    /// The best.
    pub fn best(&self) -> Option<&Merit> {
        self.0.first()
    }

    /// Notes another, if it is among the best. What was seen later counts more than what was seen before of the same node.
    pub fn see(&mut self, merit: Merit) {
        self.0.retain(|other| other.node != merit.node);
        if self.0.is_full() {
            match self.0.last() {
                Some(last) if merit < *last => drop(self.0.pop()),
                _ => return,
            }
        }
        // There is room for it now.
        let _ = self.0.push(merit);
        self.0.sort_unstable();
    }

    /// Whose they are.
    pub fn nodes(&self) -> Candidates {
        self.0.iter().map(|merit| merit.node).collect()
    }
}

/// A question that goes from node to node until somebody can answer it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Errand<const D: usize> {
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
    /// Who could run this job? Sent on towards a point, if there is one, and then pushed outwards, to where the load is less.
    Hunt {
        /// The job.
        job: Shared<Job>,
        /// Who asks, and how often the job was given away before.
        quest: Quest,
        /// How far the search is.
        trail: Trail<D>,
    },
    /// Has anyone a job for what I have left? Sent on to where jobs wait; who has one gives it.
    Gather(Gather<D>),
    /// How a node stands to the second space; sent on to the rendezvous, the owner of the origin of the primary one.
    Enter {
        /// Who.
        node: NodeId,
        /// How.
        stand: Stand,
        /// How many hops it may still take.
        hops: u16,
    },
    /// Who has left what this job needs? Sent on to a member of the second space, there to the job's point, and then outwards.
    Forage {
        /// The job.
        job: Shared<Job>,
        /// Who asks, and how often the job was given away before.
        quest: Quest,
        /// How far the search is.
        trail: Trail<D>,
        /// How it comes to where it goes next.
        way: Way,
        /// How many members it may still go through.
        steps: u8,
    },
}

/// Somebody who has something free looks for a job that could start there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gather<const D: usize> {
    /// Who.
    pub asker: NodeId,
    /// How it is.
    pub status: Shared<Status>,
    /// Where the question goes while nobody is near who has jobs that wait.
    pub toward: Point<D>,
    /// How many hops it may still take.
    pub hops: u16,
}

/// How a node stands to the second space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stand {
    /// It wants to get in.
    Outside,
    /// It has the origin of the second space, and these are some around it.
    Inside(Members),
    /// It is not in any more.
    Gone,
}

/// How a search comes to a member of the second space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Way {
    /// It has just begun, at a node that need not be one.
    Begins,
    /// To somebody who was one not long ago.
    Hearsay,
    /// By the rendezvous, which knows some.
    Rendezvous,
    /// From one to another.
    Inside,
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
    /// Somebody who starts a job at once that waits where it is.
    Sooner,
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

use super::status::Status;
use crate::custody::{self, Candidates, MOST_CANDIDATES};
use crate::few::Few;
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
    /// A message of the overlay.
    Overlay {
        /// The overlay's own message.
        message: can::Message<D>,
        /// The sender's status, on heartbeats.
        status: Option<Shared<Status>>,
    },
    /// Custody between a job's submitter and its owner.
    Owners(custody::Message),
    /// Custody between a job's owner and its run node.
    Runs(custody::Message),
    /// One hop of an errand.
    Errand {
        /// The question that goes from node to node.
        errand: Errand<D>,
        /// The sender's number, which the receiver acknowledges; zero if no acknowledgement is wanted.
        number: u32,
    },
    /// The errand of this number has arrived.
    Acknowledged(u32),
    /// Can you run this job? A flood to all nodes that might, after a search without a candidate.
    Search {
        /// The flood's id and remaining hops.
        header: Header,
        /// The job.
        job: Shared<Job>,
        /// The search that a receiver answers.
        quest: Quest,
    },
    /// The answer to the asker of a search: these nodes may take the job.
    Found {
        /// The job that was searched for.
        job: JobId,
        /// The search, as it was asked.
        quest: Quest,
        /// The best first; empty if none was found.
        candidates: Candidates,
    },
    /// Would you take this job that waits here?
    Offer {
        /// The job, its needs, and how often it was passed.
        waiting: Waiting,
        /// Whether the job is to start or to wait at the receiver.
        move_to: MoveTo,
    },
    /// The answer to [`Message::Offer`].
    OfferAnswer {
        /// The job that was offered.
        job: JobId,
        /// Whether the sender takes it.
        takes: bool,
        /// The sender's status now.
        status: Shared<Status>,
    },
    /// Give me a job that waits in your queue.
    Pull {
        /// Whether the job is to start or to wait at the sender.
        move_to: MoveTo,
        /// The sender's status.
        status: Shared<Status>,
    },
    /// The answer to [`Message::Pull`] if the sender has no job to give.
    PullReject {
        /// The sender's status.
        status: Shared<Status>,
    },
    /// Keep this balloon: sent on to the owner of the point of what a node has left.
    Inflate {
        /// The node that has this left.
        node: NodeId,
        /// A higher version is later.
        version: u64,
        /// The node's status.
        status: Shared<Status>,
        /// The point of what the node has left.
        point: Point<D>,
        /// How many hops the message may still take.
        hops: u16,
    },
    /// Forget a balloon: sent on to the owner of its point.
    Deflate {
        /// The node whose balloon it is.
        node: NodeId,
        /// Balloons up to this version are forgotten.
        version: u64,
        /// The point of the balloon.
        point: Point<D>,
        /// How many hops the message may still take.
        hops: u16,
    },
    /// A message of the second space, with [`Residues::DualCan`](super::Residues::DualCan).
    Residue {
        /// The overlay's own message.
        message: can::Message<D>,
        /// The sender's status, on heartbeats.
        status: Option<Shared<Status>>,
    },
    /// To neighbours in the second space: what the sender has left has changed.
    ResidueChanged {
        /// The sender's new status.
        status: Shared<Status>,
    },
    /// From the rendezvous: members of the second space. If there are none, the receiver founds it.
    Members(Members),
}

/// Some members of the second space.
pub type Members = Few<NodeId, 4>;

impl<const D: usize> Message<D> {
    /// Whether the message only keeps one of the two overlays up to date.
    pub const fn is_heartbeat(&self) -> bool {
        matches!(self, Self::Overlay { .. } | Self::Residue { .. })
    }
}

/// How well a node suits a job, as far as the node that rates it knows: less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Merit {
    /// When the job would start there.
    pub turn: Turn,
    /// Compares nodes with the same turn by load and speed.
    pub cost: u64,
    /// Breaks ties by a hash of node and job, so that different jobs choose different nodes.
    pub lot: u32,
    /// The node that is rated.
    pub node: NodeId,
}

/// When a job would start at a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Turn {
    /// At once, on an idle node; with [`Style::Prompt`](super::Style::Prompt) also beside other jobs.
    Free,
    /// At once, beside the jobs that run there.
    Beside,
    /// Later: the job would wait there.
    Later,
}

/// How far a search for a run node is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trail<const D: usize> {
    /// The best nodes seen so far.
    pub best: Merits,
    /// The point to which the search goes before it is pushed outwards.
    pub toward: Option<Point<D>>,
    /// How often the job was passed in the queue where it waits. It may pass heads that were passed no more often.
    pub passed: u32,
    /// How often the search may still begin anew elsewhere.
    pub probes: u8,
    /// How many hops the search may still take.
    pub hops: u16,
}

/// Some nodes that can run a job, the best first.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Merits(Few<Merit, MOST_CANDIDATES>);

impl Merits {
    /// The merit of the best node.
    pub fn best(&self) -> Option<&Merit> {
        self.0.first()
    }

    /// Adds a merit if it is among the best. It replaces an earlier one of the same node.
    pub fn see(&mut self, merit: Merit) {
        self.0.retain(|other| other.node != merit.node);
        if self.0.is_full() {
            match self.0.last() {
                Some(last) if merit < *last => drop(self.0.pop()),
                _ => return,
            }
        }
        // There is room now.
        let _ = self.0.push(merit);
        self.0.sort_unstable();
    }

    /// The nodes, the best first.
    pub fn nodes(&self) -> Candidates {
        self.0.iter().map(|merit| merit.node).collect()
    }
}

/// A question that goes from node to node until a node can answer it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Errand<const D: usize> {
    /// Which node owns this point? Sent on towards the point; the owner answers [`Message::Found`].
    Route {
        /// The job that needs an owner.
        job: JobId,
        /// The search that the owner answers.
        quest: Quest,
        /// The job's point.
        point: Point<D>,
        /// How many hops the errand may still take.
        hops: u16,
    },
    /// Which node can run this job? Sent to the trail's point, if any, and then pushed outwards, towards less load.
    Hunt {
        /// The job.
        job: Shared<Job>,
        /// The search that is answered in the end.
        quest: Quest,
        /// The best nodes so far, and the way that is left.
        trail: Trail<D>,
    },
    /// Which node has a job that fits what the asker has left? Sent on to nodes with waiting jobs; one gives a job.
    Gather(Gather<D>),
    /// A node's stand to the second space; sent on to the rendezvous, the owner of the primary space's origin.
    Enter {
        /// The node that tells its stand.
        node: NodeId,
        /// Its stand.
        stand: Stand,
        /// How many hops the errand may still take.
        hops: u16,
    },
    /// Which node has enough left for this job? Sent to a member of the second space, to the job's point there, and
    /// then outwards.
    Forage {
        /// The job.
        job: Shared<Job>,
        /// The search that is answered in the end.
        quest: Quest,
        /// The best nodes so far, and the way that is left.
        trail: Trail<D>,
        /// Why the receiver was chosen.
        way: Way,
        /// How many members the errand may still visit.
        steps: u8,
    },
}

/// A node with free cores asks for a job that could start there at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gather<const D: usize> {
    /// The node with free cores.
    pub asker: NodeId,
    /// The asker's status.
    pub status: Shared<Status>,
    /// Where the question goes while no neighbour has waiting jobs.
    pub toward: Point<D>,
    /// How many hops the question may still take.
    pub hops: u16,
}

/// How a node stands to the second space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stand {
    /// The node wants to join.
    Outside,
    /// The node is the anchor: it has the origin of the second space. These are some of its neighbours there.
    Inside(Members),
    /// The node is no longer a member.
    Gone,
}

/// How a search reaches members of the second space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Way {
    /// The search has just begun; this node may be no member.
    Begins,
    /// The receiver was a member not long ago.
    Hearsay,
    /// The search goes to the rendezvous, which knows members.
    Rendezvous,
    /// The receiver is a member, as far as the sender knows.
    Inside,
}

/// Names a search for a node that takes a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quest {
    /// The node that gets the answer.
    pub asker: NodeId,
    /// How often the job was given away before; for [`Wanted::Sooner`] the asker's round.
    pub attempt: u32,
    /// What the job needs: an owner, a run node, or an earlier start.
    pub wanted: Wanted,
}

/// Which kind of node a search looks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Wanted {
    /// The owner of a job's point.
    Owner,
    /// A node that runs the job.
    RunNode,
    /// A node that starts the job at once, while the job waits at the asker.
    Sooner,
}

/// What a waiting job does at the node that it moves to. It names a state, not a node: the node is the receiver of
/// [`Message::Offer`], or the sender of [`Message::Pull`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MoveTo {
    /// It starts at once: internode scheduling ([`Scheduling::internode`](super::Scheduling::internode)).
    Start,
    /// It waits in the queue there: queue balancing ([`Scheduling::balancing`](super::Scheduling::balancing)), or a
    /// leaver gives it away.
    Wait,
}

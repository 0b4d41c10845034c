//! Why an attempt failed.

use crate::commit::message::Refused;
use crate::id::{JobId, NodeId};
use crate::job::Outcome;
use crate::time::Time;
use crate::trace::Trace;

/// Why an attempt failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Setback {
    /// A node refused to hold its time.
    Refused {
        /// The node that refused.
        node: NodeId,
        /// Why the node refused.
        reason: Refused,
        /// The earliest start at which the job would fit there, if there is one.
        next_free: Option<Time>,
    },
    /// By the clock of a node the start is too near, and by this node's clock it is not: they differ by more than
    /// [`Config::max_skew`](crate::commit::Config::max_skew).
    Clock {
        /// The node whose clock differs.
        node: NodeId,
    },
    /// A node did not answer in time.
    Silent {
        /// The node that did not answer.
        node: NodeId,
    },
    /// The answers took so long that leases could end before a commit arrives, or the start is too near.
    Slow,
    /// An earlier attempt may run on nodes that have not let go, for too long to start this one in time.
    Earlier {
        /// When the earlier attempt has surely ended, by any clock.
        until: Time,
    },
    /// A node's lease had ended when the commit came, or was shorter than the one that was asked for.
    Expired {
        /// The node whose lease had ended.
        node: NodeId,
    },
    /// A node was lost after it had committed.
    Lost {
        /// The node that was lost.
        node: NodeId,
    },
    /// The job broke on a node.
    Broke {
        /// The node on which the job broke.
        node: NodeId,
    },
    /// The job still ran on a node when its time was over.
    Overran {
        /// The node that stopped it.
        node: NodeId,
    },
    /// The submitter may not submit jobs here.
    NotAuthorised,
    /// There are no candidates, too many candidates or spares, or one names no node, too many, or the same one twice.
    BadCandidate,
    /// This node has no room for another job, the job is placed already, or too much of it is left to clear up.
    Full,
}

impl Setback {
    /// The setback of an attempt that ended like this on a node, unless the job is done there.
    pub(super) const fn after(outcome: Outcome, node: NodeId) -> Option<Self> {
        match outcome {
            Outcome::Done => None,
            Outcome::Broke => Some(Self::Broke { node }),
            Outcome::Overran => Some(Self::Overran { node }),
        }
    }

    /// The node that made the attempt fail, if it was one.
    pub const fn node(&self) -> Option<NodeId> {
        match *self {
            Self::Refused { node, .. }
            | Self::Clock { node }
            | Self::Silent { node }
            | Self::Expired { node }
            | Self::Lost { node }
            | Self::Broke { node }
            | Self::Overran { node } => Some(node),
            Self::Slow
            | Self::Earlier { .. }
            | Self::NotAuthorised
            | Self::BadCandidate
            | Self::Full => None,
        }
    }

    /// The node that is of no use at another time either, if there is one: a node that was busy may be free then, and one
    /// that was asked too late is not to blame.
    pub(crate) const fn culprit(&self) -> Option<NodeId> {
        match *self {
            Self::Refused {
                reason: Refused::Busy | Refused::TooLate,
                ..
            } => None,
            _ => self.node(),
        }
    }

    /// The reason in words.
    pub const fn words(&self) -> &'static str {
        match *self {
            Self::Refused { reason, .. } => reason.words(),
            Self::Clock { .. } => "its clock differs by too much",
            Self::Silent { .. } => "it does not answer",
            Self::Slow => "answers came too late for the start",
            Self::Earlier { .. } => "an earlier attempt may still run",
            Self::Expired { .. } => "the commit came after its lease",
            Self::Lost { .. } => "the node is lost",
            Self::Broke { .. } => "the job broke",
            Self::Overran { .. } => "the job ran longer than it may",
            Self::NotAuthorised => "the submitter may not",
            Self::BadCandidate => "the placement is not sound",
            Self::Full => "this node places as many jobs as it may",
        }
    }

    pub(super) fn trace(&self, job: JobId) -> Trace {
        let (peer, why) = (self.node(), self.words());
        match (*self, peer) {
            (Self::Refused { .. } | Self::Clock { .. }, Some(peer)) => {
                Trace::Refused { job, peer, why }
            }
            _ => Trace::Failed { job, peer, why },
        }
    }
}

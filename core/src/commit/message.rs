use core::fmt;

use alloc::vec::Vec;

use crate::admission::Needs;
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Outcome, Payload, Submitter};
use crate::schedule::Attempt;
use crate::shared::Shared;
use crate::time::{Interval, Span, Time};

/// The nodes of an attempt; the position of a node is its rank.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Members(
    #[cfg_attr(
        feature = "serde",
        serde(deserialize_with = "crate::bounded::list::<_, _, { Members::MOST }>")
    )]
    Vec<NodeId>,
);

impl Members {
    /// The most nodes of an attempt.
    pub const MOST: usize = u16::MAX as usize;

    /// The nodes in the order of their ranks.
    pub fn nodes(&self) -> &[NodeId] {
        &self.0
    }
}

impl FromIterator<NodeId> for Members {
    /// The first [`Self::MOST`] of these nodes.
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Self {
        Self(nodes.into_iter().take(Self::MOST).collect())
    }
}

/// What coordinators and participants say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// To a participant: hold this time for the length of the lease.
    Prepare {
        /// The attempt that the time is for.
        attempt: Attempt,
        /// When the job would run.
        interval: Interval,
        /// For how long the hold is needed.
        lease: Span,
        /// The user and organisation that submitted the job.
        submitter: Submitter,
        /// What the job needs of the receiver, beside its time.
        needs: Needs,
        /// What the host that runs the job is told.
        payload: Payload,
    },
    /// To a coordinator: the time is held, under a lease that began when the first
    /// [`Prepare`](Self::Prepare) came.
    Prepared {
        /// The attempt that has the hold.
        attempt: Attempt,
        /// The length of the whole lease: the same in every answer, so that a lost answer does no harm.
        lease: Span,
    },
    /// To a coordinator: the time is not held.
    Refused {
        /// Why the time is not held.
        reason: Refused,
        /// The attempt that gets no hold.
        attempt: Attempt,
        /// The earliest start at which the job would fit, if there is one.
        next_free: Option<Time>,
    },
    /// To a participant: all participants hold their time, so the held time is committed.
    Commit {
        /// The attempt that was decided on.
        attempt: Attempt,
        /// All nodes of the attempt.
        members: Shared<Members>,
    },
    /// To a coordinator: the time is committed.
    Committed {
        /// The attempt that has the time for certain.
        attempt: Attempt,
    },
    /// To a coordinator: the commit came too late, there is no such hold.
    Expired {
        /// The attempt that has no hold here.
        attempt: Attempt,
    },
    /// To a participant: forget this hold, it will not be committed.
    Abort {
        /// The attempt that failed.
        attempt: Attempt,
    },
    /// To a participant: all participants have committed, so the job may run. Also asks for a sign of life.
    Permit {
        /// The attempt that may run.
        attempt: Attempt,
        /// Until when the permission lasts, by the coordinator's clock. `None` permits nothing: long before the start,
        /// only the sign of life is wanted.
        until: Option<Time>,
    },
    /// To a coordinator: the answer to a permission, or word that the participant let the job go.
    Alive {
        /// The attempt that the permission was for.
        attempt: Attempt,
        /// How the attempt stands at the sender.
        standing: Standing,
    },
    /// To a coordinator: the job is due to start and has no permission.
    Query {
        /// The attempt that is due.
        attempt: Attempt,
    },
    /// To a coordinator: the job needs longer, and the sender has taken the free time after its end. The coordinator
    /// agrees by a permission that lasts beyond the old end.
    Extend {
        /// The attempt that overruns.
        attempt: Attempt,
        /// The new end of its reservation.
        until: Time,
    },
    /// To a participant: free all time of this job, up to this attempt.
    Release {
        /// The job whose attempts are over.
        job: JobId,
        /// The latest attempt that is over.
        through: Epoch,
    },
    /// To a coordinator: the job has no time here, up to this attempt.
    Released {
        /// The job from the request.
        job: JobId,
        /// The latest attempt that is over, from the request.
        through: Epoch,
        /// The latest attempt that began here, as far as the sender remembers.
        began: Option<Epoch>,
    },
    /// To a coordinator: the job has ended here.
    Ended {
        /// The attempt that ran.
        attempt: Attempt,
        /// How the job ended.
        outcome: Outcome,
    },
}

impl Message {
    /// The attempt that the message is about; if it frees several, the latest.
    pub const fn attempt(&self) -> Attempt {
        match *self {
            Self::Prepare { attempt, .. }
            | Self::Prepared { attempt, .. }
            | Self::Refused { attempt, .. }
            | Self::Commit { attempt, .. }
            | Self::Committed { attempt }
            | Self::Expired { attempt }
            | Self::Abort { attempt }
            | Self::Permit { attempt, .. }
            | Self::Alive { attempt, .. }
            | Self::Query { attempt }
            | Self::Extend { attempt, .. }
            | Self::Ended { attempt, .. } => attempt,
            Self::Release { job, through } | Self::Released { job, through, .. } => {
                Attempt::new(job, through)
            }
        }
    }

    /// The job that the message is about.
    pub const fn job(&self) -> JobId {
        self.attempt().job
    }

    /// The number of the attempt that the message is about.
    pub const fn epoch(&self) -> Epoch {
        self.attempt().epoch
    }

    /// Whether the message is for a participant; all others are for a coordinator.
    pub const fn is_for_participant(&self) -> bool {
        matches!(
            self,
            Self::Prepare { .. }
                | Self::Commit { .. }
                | Self::Abort { .. }
                | Self::Permit { .. }
                | Self::Release { .. }
        )
    }
}

/// How an attempt stands on a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Standing {
    /// It is committed and has not started.
    Waiting,
    /// It runs.
    Running,
    /// There is no such commitment.
    Gone,
}

/// Why a participant does not hold time. A refusal changes nothing there, with two exceptions: the participant may note
/// the newer attempt, and let go of its hold for an older one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Refused {
    /// Another job has some of that time.
    Busy,
    /// A newer attempt is known here, or this one is over.
    Stale,
    /// The job runs here.
    Running,
    /// The start is too near.
    TooLate,
    /// There is no room in the schedule or among the jobs that are remembered.
    Full,
    /// This coordinator has too many holds here, held time in vain for too long, or has too many remembered jobs.
    Quota,
    /// This node does not run jobs of this user or organisation.
    NotAccepted,
    /// Another coordinator has a job of this name.
    Foreign,
    /// This node takes no new jobs: it drains or leaves.
    Draining,
    /// This node lacks what the job requires.
    Lacking,
}

impl Refused {
    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Busy => "another job has some of that time",
            Self::Stale => "the attempt is over",
            Self::Running => "the job runs already",
            Self::TooLate => "the start is too near",
            Self::Full => "there is no room",
            Self::Quota => "the coordinator holds too much",
            Self::NotAccepted => "the node does not run jobs of this submitter",
            Self::Foreign => "another coordinator has a job of this name",
            Self::Draining => "the node takes no new jobs",
            Self::Lacking => "the node lacks what the job requires",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl core::error::Error for Refused {}

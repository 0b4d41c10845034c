use core::fmt;

use crate::id::{Epoch, JobId};
use crate::job::{Outcome, Submitter};
use crate::schedule::Attempt;
use crate::time::{Interval, Span, Time};

/// What coordinators and participants say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// To a participant: hold this time for so long.
    Prepare {
        /// Which attempt.
        attempt: Attempt,
        /// When the job would run.
        interval: Interval,
        /// For how long the hold is needed.
        lease: Span,
        /// Who wants the job.
        submitter: Submitter,
    },
    /// To a coordinator: the time is held, for so long from when the question first came.
    Prepared {
        /// Which attempt.
        attempt: Attempt,
        /// How long the lease is in all; the same in every answer, so that a lost one does no harm.
        lease: Span,
    },
    /// To a coordinator: the time is not held.
    Refused {
        /// Which attempt.
        attempt: Attempt,
        /// Why not.
        reason: Refused,
        /// From when on the job would fit, if that is known.
        next_free: Option<Time>,
    },
    /// To a participant: everyone holds; the time is yours to keep.
    Commit {
        /// Which attempt.
        attempt: Attempt,
    },
    /// To a coordinator: the time is committed.
    Committed {
        /// Which attempt.
        attempt: Attempt,
    },
    /// To a coordinator: the commit came too late, there is no such hold.
    Expired {
        /// Which attempt.
        attempt: Attempt,
    },
    /// To a participant: forget this hold, it will not be committed.
    Abort {
        /// Which attempt.
        attempt: Attempt,
    },
    /// To a participant: everyone has committed, so the job may start and run, until then. Also asks for a sign of life.
    Permit {
        /// Which attempt.
        attempt: Attempt,
        /// Until when the permission lasts, by the coordinator's clock. None permits nothing: long before the start, only the sign
        /// of life is wanted.
        until: Option<Time>,
    },
    /// To a coordinator: the answer to a permission.
    Alive {
        /// Which attempt.
        attempt: Attempt,
        /// How it stands here.
        standing: Standing,
    },
    /// To a coordinator: the job is to start and there is no permission.
    Query {
        /// Which attempt.
        attempt: Attempt,
    },
    /// To a coordinator: the job needs longer, and the time is free here. The answer is a permission that lasts beyond the end
    /// that was known, or none.
    Extend {
        /// Which attempt.
        attempt: Attempt,
        /// The end that it would have.
        until: Time,
    },
    /// To a participant: free what this job has here, up to this attempt.
    Release {
        /// Which job.
        job: JobId,
        /// The latest attempt that is over.
        through: Epoch,
    },
    /// To a coordinator: it is free.
    Released {
        /// Which job.
        job: JobId,
        /// The latest attempt that is over.
        through: Epoch,
    },
    /// To a coordinator: the job has ended here.
    Ended {
        /// Which attempt.
        attempt: Attempt,
        /// How.
        outcome: Outcome,
    },
}

impl Message {
    /// The attempt that it is about; for what frees several, the latest.
    pub const fn attempt(&self) -> Attempt {
        match *self {
            Self::Prepare { attempt, .. }
            | Self::Prepared { attempt, .. }
            | Self::Refused { attempt, .. }
            | Self::Commit { attempt }
            | Self::Committed { attempt }
            | Self::Expired { attempt }
            | Self::Abort { attempt }
            | Self::Permit { attempt, .. }
            | Self::Alive { attempt, .. }
            | Self::Query { attempt }
            | Self::Extend { attempt, .. }
            | Self::Ended { attempt, .. } => attempt,
            Self::Release { job, through } | Self::Released { job, through } => {
                Attempt::new(job, through)
            }
        }
    }

    /// The job that it is about.
    pub const fn job(&self) -> JobId {
        self.attempt().job
    }

    /// The number of the attempt that it is about.
    pub const fn epoch(&self) -> Epoch {
        self.attempt().epoch
    }

    /// Whether it is for a participant; the others are for a coordinator.
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

/// Why a participant does not hold time. Nothing has changed there, but for the newest attempt that it knows, and that it may
/// have let go of what it held for an older one.
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
    /// This coordinator holds too much here, has held too much for too long, or has too much that is over remembered.
    Quota,
    /// This node does not run jobs of this user or organisation.
    NotAccepted,
    /// Another coordinator has a job of this name.
    Foreign,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "another job has some of that time",
            Self::Stale => "the attempt is over",
            Self::Running => "the job runs already",
            Self::TooLate => "the start is too near",
            Self::Full => "there is no room",
            Self::Quota => "the coordinator holds too much",
            Self::NotAccepted => "the node does not run jobs of this submitter",
            Self::Foreign => "another coordinator has a job of this name",
        })
    }
}

impl core::error::Error for Refused {}

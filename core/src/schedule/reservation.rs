use crate::id::{Epoch, JobId};
use crate::time::{Interval, Time};

/// Whose reservation it is: an attempt at a job. At most one of them stands on a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// The job.
    pub job: JobId,
    /// Which attempt.
    pub epoch: Epoch,
}

impl Attempt {
    /// The attempt of this number at a job.
    pub const fn new(job: JobId, epoch: Epoch) -> Self {
        Self { job, epoch }
    }
}

/// A stretch of a node's time that belongs to one attempt at a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reservation {
    /// Whose.
    pub attempt: Attempt,
    /// When.
    pub interval: Interval,
    /// How firmly.
    pub status: Status,
}

/// How firmly a reservation stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Only until its lease ends, unless it is committed before.
    Held {
        /// The first instant at which it no longer stands.
        lease: Time,
    },
    /// Until it is released.
    Committed,
}

impl Reservation {
    /// Whether its lease has ended.
    pub fn has_expired(&self, now: Time) -> bool {
        match self.status {
            Status::Held { lease } => lease <= now,
            Status::Committed => false,
        }
    }
}

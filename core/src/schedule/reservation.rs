use crate::id::{Epoch, JobId};
use crate::time::{Interval, Time};

/// One try to run a job. Each reservation belongs to one attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// The job to run.
    pub job: JobId,
    /// The number of the attempt.
    pub epoch: Epoch,
}

impl Attempt {
    /// The attempt with this number at a job.
    pub const fn new(job: JobId, epoch: Epoch) -> Self {
        Self { job, epoch }
    }
}

/// A stretch of a node's time that belongs to one attempt at a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reservation {
    /// The attempt that the time belongs to.
    pub attempt: Attempt,
    /// The reserved time.
    pub interval: Interval,
    /// Whether it is held or committed.
    pub status: Status,
}

/// How firmly a reservation stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// It stands until its lease ends, unless it is committed before.
    Held {
        /// The first instant at which it no longer stands.
        lease: Time,
    },
    /// It stands until it is released.
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

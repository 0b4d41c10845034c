use super::links;
use crate::id::{JobId, NodeId};
use crate::job::Job;
use crate::overlay::flood::{FloodId, Header};
use crate::queue::Cost;
use crate::shared::Shared;
use crate::time::Time;

/// What nodes say to each other: the four messages of P3's Table I, and those with which nothing is lost or run twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Of the overlay.
    Overlay(links::Message),
    /// REQUEST: what would you take for this job? The flood's origin is its initiator.
    Request {
        /// How it travels.
        header: Header,
        /// The job.
        job: Shared<Job>,
    },
    /// INFORM: would you take this job for less? The flood's origin is the site that has it.
    Inform {
        /// How it travels.
        header: Header,
        /// The job.
        job: Shared<Job>,
        /// What it costs where it is.
        cost: Cost,
    },
    /// ACCEPT: I would, for this.
    Accept {
        /// The flood that it answers.
        flood: FloodId,
        /// What it would cost.
        cost: Cost,
    },
    /// ASSIGN: take this job. Who takes it tells its initiator.
    Assign {
        /// The job.
        job: Shared<Job>,
        /// Who answers for it.
        initiator: NodeId,
        /// Under what it is taken.
        term: Term,
    },
    /// ASSIGN_ACK: whether the job was taken.
    AssignAck {
        /// Which.
        job: JobId,
        /// From the assignment.
        term: Term,
        /// Whether.
        answer: Answer,
    },
    /// NOTIFY: to a job's initiator, from the site that has it.
    Notify {
        /// Which.
        job: JobId,
        /// Under what it is there.
        term: Term,
        /// How it is.
        standing: Standing,
    },
    /// To a site, from a job's initiator.
    Verdict {
        /// Which.
        job: JobId,
        /// Of which term.
        term: Term,
        /// What to do with it.
        ruling: Ruling,
    },
}

/// The number of a time that a job is given away: a later one is greater (PROTOCOLS A16).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Term {
    /// How often its initiator gave it away.
    pub attempt: u32,
    /// How often it was moved since.
    pub moves: u32,
}

impl Term {
    /// The term of the next move, unless numbers have come to an end, as a liar can make them.
    pub(super) const fn moved(self) -> Option<Self> {
        match self.moves.checked_add(1) {
            Some(moves) => Some(Self {
                attempt: self.attempt,
                moves,
            }),
            None => None,
        }
    }
}

/// Whether a job was taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Answer {
    /// It was.
    Taken,
    /// It was not: there is no room, or the job does not fit.
    NotTaken,
}

/// How a job is where it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Standing {
    /// It waits.
    Waiting {
        /// When it is expected to start.
        start: Time,
    },
    /// It runs.
    Running,
    /// It is no longer there.
    Ended(Ending),
}

/// How a job ended where it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ending {
    /// It did what it was to do.
    Done,
    /// It broke.
    Broke,
    /// It ran when the node went down.
    Lost,
    /// It was let go, as its initiator wanted.
    Withdrawn,
}

/// What an initiator says about a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ruling {
    /// It is yours until then.
    Granted {
        /// When.
        until: Time,
    },
    /// It is not yours, or not any more.
    Over,
    /// Let it go, and say so.
    Withdraw,
}

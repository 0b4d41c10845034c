use core::fmt;

use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Failure, Job, Outcome, Payload, Refusal};
use crate::shared::Shared;
use crate::time::Time;

/// What homes and holders say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Take this job. A node that takes it reports to its home.
    Give {
        /// The job to take.
        job: Shared<Job>,
        /// The node that answers for it.
        home: NodeId,
        /// The term under which it is taken.
        term: Term,
        /// A number from its last holder to the next one; only the two understand it.
        carried: u32,
        /// What the host that runs the job is told.
        payload: Payload,
    },
    /// The answer to [`Give`](Self::Give).
    Answer {
        /// The job that was given.
        job: JobId,
        /// The term under which it was given.
        term: Term,
        /// Whether it was taken.
        answer: Answer,
    },
    /// From a holder to the home of a job: how the job is.
    Report {
        /// The job that the sender has, or had.
        job: JobId,
        /// The term under which the sender has it.
        term: Term,
        /// The claim under which the sender took it.
        claim: Claim,
        /// How the job is there.
        standing: Standing,
    },
    /// From the home of a job to a holder: what to do with it.
    Verdict {
        /// The job that the sender answers for.
        job: JobId,
        /// The term that the ruling is about.
        term: Term,
        /// The claim from the report of the holder.
        claim: Claim,
        /// What to do with the job.
        ruling: Ruling,
    },
}

/// Orders the successive homes of a job: a later tenure is greater.
///
/// A home with a home of its own answers for a job under a term of that home, and each such term is a tenure. So
/// messages of an earlier home, even if that was the same node, are older than messages of the present one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tenure(u64);

impl Tenure {
    /// The tenure of a home without a home of its own: it answers for a job only once.
    pub const ONLY: Self = Self(0);

    /// The tenure of a home that has the job under `term` from a home of its own.
    pub const fn under(term: Term) -> Self {
        Self(((term.attempt as u64) << 32_u32) | term.moves as u64)
    }
}

/// Orders the times at which a job is given away: a later term is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Term {
    /// The tenure of its home.
    pub tenure: Tenure,
    /// How often its home gave it away in this tenure.
    pub attempt: u32,
    /// How often holders gave it away in this attempt.
    pub moves: u32,
}

impl Term {
    /// The term of the next move. `None` if the number of moves is at its limit, as a liar can make it.
    pub(super) const fn moved(self) -> Option<Self> {
        match self.moves.checked_add(1) {
            Some(moves) => Some(Self { moves, ..self }),
            None => None,
        }
    }
}

/// Distinguishes successive acquisitions of jobs by one node: no two have the same number. If an old message gives a
/// job to a node that let it go, the home sees another claim, and what was granted before is not granted now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Claim(u64);

impl Claim {
    /// No claim: no node takes a job under this number.
    pub(super) const NONE: Self = Self(0);

    /// The next claim of the same node.
    pub(super) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// A lower bound of all claims of a life that began at `start`. A node takes at most one job in a microsecond, so
    /// these claims are also greater than those of earlier lives.
    pub(super) const fn before(start: Time) -> Self {
        Self(start.as_micros())
    }

    /// The name of the attempt to run a job under this claim.
    pub const fn attempt(self) -> Epoch {
        Epoch::new(self.0)
    }

    /// A claim with any number, for tests and liars.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }
}

/// Whether a job was taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Answer {
    /// The job was taken.
    Taken,
    /// The job was not taken.
    NotTaken(Refused),
}

/// Why a node does not take a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Refused {
    /// The node cannot run it, or not now if it was to start at once.
    NoMatch,
    /// The node has as many jobs as it may.
    Full,
    /// The job waits or runs there already.
    Known,
    /// The node takes no new jobs: it drains or leaves.
    Draining,
    /// The site behind the node does not answer.
    NoSite,
    /// The node offered to end it sooner than it could now.
    Outdated,
}

impl Refused {
    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoMatch => "the node cannot run it",
            Self::Full => "the node has as many jobs as it may",
            Self::Known => "the job waits or runs there already",
            Self::Draining => "the node takes no new jobs",
            Self::NoSite => "the site behind the node does not answer",
            Self::Outdated => "other jobs took the place that the node offered",
        }
    }

    /// The reason that a user is told if no node takes the job.
    pub(super) const fn refusal(self) -> Refusal {
        match self {
            Self::NoMatch => Refusal::NoMatch,
            Self::Full => Refusal::NodesFull,
            Self::Known => Refusal::NameTaken,
            Self::Draining => Refusal::NodesDraining,
            Self::NoSite => Refusal::NoAnswer,
            Self::Outdated => Refusal::Taken,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// The node that is to run a job, and the attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// The attempt, as the host of that node is told.
    pub attempt: Epoch,
}

/// How a job is at its holder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Standing {
    /// It waits.
    Waiting {
        /// When it is expected to start, if that is known.
        start: Option<Time>,
        /// Where it waits, if the holder does not run it itself.
        at: Option<Place>,
    },
    /// It runs.
    Running,
    /// The holder does not have it any more.
    Ended(Ending),
}

/// How a job ended at its holder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ending {
    /// It did what it was to do.
    Done,
    /// It stopped with an error.
    Broke,
    /// It still ran when its time was over.
    Overran,
    /// It will not be done, there or elsewhere: the holder is a home itself, and has tried all that the job allows.
    Failed(Failure),
    /// It ran when the node went down.
    Lost,
    /// The holder let it go; it may run elsewhere.
    Withdrawn,
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Done,
            Outcome::Broke => Self::Broke,
            Outcome::Overran => Self::Overran,
        }
    }
}

/// What a holder is to do with a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ruling {
    /// The receiver has the job until `until`.
    Granted {
        /// When the lease ends.
        until: Time,
    },
    /// The receiver does not have the job, or not any more.
    Over,
    /// Let the job go, and report that.
    Withdraw,
}

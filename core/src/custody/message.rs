use crate::id::{JobId, NodeId};
use crate::job::{Failure, Job};
use crate::shared::Shared;
use crate::time::Time;

/// What homes and holders say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Take this job. Who takes it tells its home.
    Give {
        /// The job.
        job: Shared<Job>,
        /// Who answers for it.
        home: NodeId,
        /// Under what it is taken.
        term: Term,
        /// What its last holder wants the next one to know: a number that only the two understand.
        carried: u32,
    },
    /// Whether the job was taken.
    Answer {
        /// Which.
        job: JobId,
        /// Under what.
        term: Term,
        /// Whether.
        answer: Answer,
    },
    /// To a job's home, from who has it: how it is.
    Report {
        /// Which.
        job: JobId,
        /// Under what it is there.
        term: Term,
        /// Which of the times it is that the node has it.
        claim: Claim,
        /// How it is.
        standing: Standing,
    },
    /// To who has a job, from its home: what to do with it.
    Verdict {
        /// Which.
        job: JobId,
        /// Of which term.
        term: Term,
        /// Which report it answers, by the claim in that.
        claim: Claim,
        /// What to do with it.
        ruling: Ruling,
    },
}

/// Which of the times it is that nodes answer for a job, the first time or after another had to let it go: a later one is greater.
///
/// A home with a home of its own answers for a job under a term of that one, and each such term is a tenure. So whatever is said about a
/// job by one who answered for it before, be it another node or the same one, is older than what is said now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tenure(u64);

impl Tenure {
    /// Of a home that has none of its own: it answers for a job once.
    pub const ONLY: Self = Self(0);

    /// Of a home that has the job itself, from a home of its own, under this term.
    pub const fn under(term: Term) -> Self {
        Self(((term.attempt as u64) << 32_u32) | term.moves as u64)
    }
}

/// The number of a time that a job is given away: a later one is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Term {
    /// Since when its home answers for it.
    pub tenure: Tenure,
    /// How often its home gave it away since.
    pub attempt: u32,
    /// How often it was moved since.
    pub moves: u32,
}

impl Term {
    /// The term of the next move, unless numbers have come to an end, as a liar can make them.
    pub(super) const fn moved(self) -> Option<Self> {
        match self.moves.checked_add(1) {
            Some(moves) => Some(Self { moves, ..self }),
            None => None,
        }
    }
}

/// The number of a time that a node takes a job: no other time of that node has the same. So who had a job, let it go, and is given it again
/// by an old message is known for that, and nothing that was granted before is granted now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Claim(u64);

impl Claim {
    /// Of nobody.
    pub(super) const NONE: Self = Self(0);

    /// The one after this.
    pub(super) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// What those of a life are greater than that began at this time. Nobody takes more than a job in a microsecond, so they are also greater
    /// than those of earlier lives.
    pub(super) const fn before(start: Time) -> Self {
        Self(start.as_micros())
    }

    /// One that a test, or a liar, makes up.
    pub const fn new(number: u64) -> Self {
        Self(number)
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
        /// When it is expected to start, if that is known.
        start: Option<Time>,
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
    /// It will not be done, there or elsewhere.
    Failed(Failure),
    /// It ran when the node went down.
    Lost,
    /// It was let go unharmed.
    Withdrawn,
}

/// What a home says about a job.
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

//! The types that all schedulers share: a [`Job`], what a host asks ([`Command`]), what it is told ([`Notice`]), and
//! why a job is not run ([`Refusal`], [`Failure`]).
//!
//! Every scheduler takes the same type of job. If it cannot honour a part, it refuses the job and names that part.
//!
//! ```
//! use core::num::NonZeroU32;
//! use gridweave_core::id::JobId;
//! use gridweave_core::job::{Command, Demand, Job, JobError};
//! use gridweave_core::time::{Span, Time};
//!
//! let four_nodes = Demand::Nodes(NonZeroU32::new(4).unwrap());
//! let mut job = Job::new(JobId::new(17), four_nodes, Span::from_secs(3600))?;
//! job.deadline = Some(Time::from_secs(86_400));
//! let command = Command::Submit(job);
//!
//! assert_eq!(Job::new(JobId::new(18), four_nodes, Span::ZERO), Err(JobError::ZeroEstimate));
//! # let _ = command;
//! # Ok::<(), JobError>(())
//! ```

mod site;

pub use site::{OwnJob, Seen, SiteReport};

use core::fmt;
use core::num::NonZeroU32;

use crate::id::{Epoch, JobId, OrganisationId, UserId};
use crate::resource::{Dimension, Requirement};
use crate::time::{Span, Time};

/// A program to run, with its demand, its estimate and its requirement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Job {
    /// Its name, unique in the grid.
    pub id: JobId,
    /// The user that submits it.
    pub submitter: Submitter,
    /// When it entered the grid; moving it changes nothing. Desktop queues and site priorities are ordered by this.
    pub submitted: Time,
    /// How much it takes.
    pub demand: Demand,
    /// What each of its nodes must have.
    pub requirement: Requirement,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "positive"))]
    estimate: Span,
    /// When it should be done.
    pub deadline: Option<Time>,
    /// What makes one placement better than another.
    pub criterion: Criterion,
    /// Which organisations' nodes it may run on.
    pub scope: Scope,
}

impl Job {
    /// A job of user 0 in organisation 0, submitted at the origin, without requirement or deadline, as soon as possible.
    /// Set the other fields as needed.
    pub const fn new(id: JobId, demand: Demand, estimate: Span) -> Result<Self, JobError> {
        if estimate.is_zero() {
            return Err(JobError::ZeroEstimate);
        }
        Ok(Self {
            id,
            submitter: Submitter::NOBODY,
            submitted: Time::ZERO,
            demand,
            requirement: Requirement::any(),
            estimate,
            deadline: None,
            criterion: Criterion::Soonest,
            scope: Scope::Grid,
        })
    }

    /// How long it is expected to run on a node of baseline speed; never zero.
    pub const fn estimate(&self) -> Span {
        self.estimate
    }
}

/// The user that submits a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Submitter {
    /// The user's name in the grid.
    pub user: UserId,
    /// The virtual organisation that the user acts for.
    pub organisation: OrganisationId,
}

impl Submitter {
    /// User 0 in organisation 0.
    pub const NOBODY: Self = Self {
        user: UserId::new(0),
        organisation: OrganisationId::new(0),
    };
}

/// How much a job takes at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Demand {
    /// This many whole nodes, all starting together.
    Nodes(NonZeroU32),
    /// This many cores.
    Cores(NonZeroU32),
}

/// What makes one placement better than another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Criterion {
    /// The earliest start.
    #[default]
    Soonest,
    /// Nodes close to each other.
    Closest,
    /// Nodes far from each other.
    Farthest,
    /// A cost function that the hosts of the grid know by this number.
    Custom(u16),
}

/// Which organisations' nodes a job may run on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scope {
    /// Nodes of every organisation that admits the job.
    #[default]
    Grid,
    /// Nodes of the submitter's own organisation only.
    Organisation,
}

/// Why a job cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JobError {
    /// Its estimate is zero.
    ZeroEstimate,
}

/// What a host asks of a scheduler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Run this job.
    Submit(Job),
    /// Stop this job, wherever it waits or runs.
    Cancel(JobId),
    /// An attempt that this node was told to start has ended by itself. Nothing happens if that attempt does not run
    /// here any more.
    Ended {
        /// The job that ended.
        job: JobId,
        /// The attempt, from [`News::Started`].
        attempt: Epoch,
        /// Whether it did its work.
        outcome: Outcome,
    },
    /// What became of an attempt that this node had started in an earlier life. The host says this for each such
    /// attempt after the records of that life and before [`Event::Start`](crate::machine::Event::Start); an attempt of
    /// which it says nothing is taken not to run any more.
    ///
    /// An attempt that runs goes on if its time allows; else the host is told [`News::Stopped`].
    Survived {
        /// The job.
        job: JobId,
        /// The attempt, from [`News::Started`].
        attempt: Epoch,
        /// What became of it.
        survival: Survival,
    },
    /// Hand over what this node keeps, and leave the grid.
    Leave,
    /// What the host sees at a site that this node does not own. Only `aria` stands before such a site; nothing happens
    /// if its site is not foreign.
    Site(SiteReport),
}

/// What became of an attempt while the machine that had started it was down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Survival {
    /// It runs.
    Runs {
        /// When the host ends it: the time that it was told last.
        until: Time,
    },
    /// It has ended by itself.
    Ended(Outcome),
}

/// How a job ended on the node that ran it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// It did its work.
    Done,
    /// It stopped with an error.
    Broke,
}

/// What a scheduler tells its host about a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Notice {
    /// The job.
    pub job: JobId,
    /// What happened to it.
    pub news: News,
}

/// What happens to a job.
///
/// The submitter tells its host first [`Accepted`](Self::Accepted), or at once the outcome; then any number of
/// [`Moved`](Self::Moved); and last exactly one of [`Finished`](Self::Finished), [`Failed`](Self::Failed) or
/// [`Cancelled`](Self::Cancelled). If the submitter knows the name of a new job already, the only news is
/// [`Refusal::Known`], and it says nothing of the known job. One name used at two nodes at once is not detected.
///
/// Only a node that runs a job tells its host [`Started`](Self::Started), to begin an attempt, then any number of
/// [`Extended`](Self::Extended), and [`Stopped`](Self::Stopped), to end it early, perhaps at once. **The host ends the
/// attempt at the time that it was told last, even if this machine is down then**: other nodes count on that, and may
/// start the job elsewhere.
///
/// An attempt is named by a number. All nodes of one attempt hear the same number, and two attempts at a job on one node
/// never have the same.
///
/// A node tells its host [`Orphaned`](Self::Orphaned) if it had a job and no longer hears from the job's home.
///
/// A node before a foreign site tells its host first [`Queue`](Self::Queue), and [`Started`](Self::Started) only after
/// the host has reported the start. [`Extended`](Self::Extended) and [`Stopped`](Self::Stopped) may come before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum News {
    /// It will run.
    Accepted {
        /// When it is expected to start.
        start: Time,
    },
    /// It will run on other nodes or at another time than told before.
    Moved {
        /// When it is expected to start now.
        start: Time,
    },
    /// Begin it here.
    Started {
        /// The attempt that begins.
        attempt: Epoch,
        /// When the host ends it, unless this is extended.
        until: Time,
    },
    /// It may run here for longer.
    Extended {
        /// The attempt that runs here.
        attempt: Epoch,
        /// When the host ends it, unless this is extended again.
        until: Time,
    },
    /// End it here.
    Stopped {
        /// The attempt that must not run here any more.
        attempt: Epoch,
    },
    /// This node had it, no longer hears from its home, and has dropped it.
    Orphaned,
    /// It is done.
    Finished,
    /// It will not be done.
    Failed(Failure),
    /// It was cancelled.
    Cancelled,
    /// Have the site queue it. Only a node before a foreign site tells this, and again after a restart. If the host has
    /// queued this attempt before, it does not queue it again, but reports how it is.
    Queue {
        /// The attempt to queue.
        attempt: Epoch,
        /// The attempt does not start at this time or later, unless this is extended: the host sees to that.
        until: Time,
    },
    /// Take it out of the queue of the site, unless it has started. The host reports what became of that.
    Withdraw {
        /// The attempt that is to go elsewhere.
        attempt: Epoch,
    },
}

impl News {
    /// Whether this is the outcome: the last news at the submitter. [`Refusal::Known`] is not, because more news of the
    /// known job may follow.
    pub const fn is_last(&self) -> bool {
        match self {
            Self::Failed(failure) => !matches!(failure, Failure::Refused(Refusal::Known)),
            Self::Finished | Self::Cancelled => true,
            _ => false,
        }
    }
}

/// Why an accepted or submitted job will not be done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Failure {
    /// It was never accepted.
    Refused(Refusal),
    /// In every attempt a node that ran it, or was about to, was lost, or the job had not ended when its time was over.
    NodeLost,
    /// It ran longer than it may. No scheduler here can tell that from a lost node; this is for schedulers that can.
    Overran,
    /// It broke while it ran.
    Broke,
}

/// Why a scheduler does not take a job. The scheduler keeps nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Refusal {
    /// A job of this name is known already.
    Known,
    /// It wants more nodes or cores than can be found.
    TooLarge,
    /// No node that was asked has what it needs.
    NoMatch,
    /// It names a dimension, by position, that the grid is not configured with.
    UnknownDimension(u8),
    /// This scheduler does not place several nodes, or cores, at once.
    UnsupportedDemand,
    /// This scheduler does not keep deadlines.
    UnsupportedDeadline,
    /// This scheduler does not know the criterion.
    UnsupportedCriterion,
    /// This scheduler does not keep jobs inside an organisation.
    UnsupportedScope,
    /// Its criterion gives no cost for nodes that were found.
    BrokenCriterion,
    /// No nodes that were found are acceptable to its criterion.
    NotAcceptable,
    /// Its deadline is past.
    DeadlinePassed,
    /// There is no room in the queue or the schedule.
    Full,
    /// The user may not submit it.
    NotAuthorised,
    /// This node is leaving.
    Leaving,
}

impl Refusal {
    /// The refusal of a requirement that names this dimension.
    pub const fn unknown(dimension: Dimension) -> Self {
        Self::UnknownDimension(dimension.position() as u8)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownDimension(position) => {
                return write!(f, "the grid has no dimension {position}");
            }
            Self::Known => "a job of this name is known already",
            Self::TooLarge => "it wants more than can be found",
            Self::NoMatch => "no node has what it needs",
            Self::UnsupportedDemand => "this scheduler cannot place such a demand",
            Self::UnsupportedDeadline => "this scheduler keeps no deadlines",
            Self::UnsupportedCriterion => "this scheduler does not know the criterion",
            Self::UnsupportedScope => "this scheduler does not keep jobs inside an organisation",
            Self::BrokenCriterion => "its criterion gives no cost",
            Self::NotAcceptable => "its criterion accepts no nodes that were found",
            Self::DeadlinePassed => "its deadline is past",
            Self::Full => "there is no room",
            Self::NotAuthorised => "the submitter may not",
            Self::Leaving => "this node is leaving",
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused(refusal) => return write!(f, "refused: {refusal}"),
            Self::NodeLost => "a node was lost",
            Self::Overran => "it ran longer than it may",
            Self::Broke => "it broke while it ran",
        })
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroEstimate => "a job must be expected to run for longer than zero",
        })
    }
}

impl core::error::Error for Refusal {}
impl core::error::Error for Failure {}
impl core::error::Error for JobError {}

#[cfg(feature = "serde")]
fn positive<'de, D: serde::Deserializer<'de>>(decoder: D) -> Result<Span, D::Error> {
    let span = <Span as serde::Deserialize>::deserialize(decoder)?;
    if span.is_zero() {
        return Err(serde::de::Error::custom(JobError::ZeroEstimate));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{Dimensions, Kind};

    fn job() -> Job {
        Job::new(
            JobId::new(1),
            Demand::Nodes(NonZeroU32::MIN),
            Span::from_secs(1),
        )
        .unwrap()
    }

    #[test]
    fn only_the_last_news_is_the_last() {
        for last in [
            News::Finished,
            News::Failed(Failure::NodeLost),
            News::Cancelled,
        ] {
            assert!(last.is_last());
        }
        let (start, attempt) = (Time::ZERO, Epoch::new(1));
        for more in [
            News::Accepted { start },
            News::Moved { start },
            News::Started {
                attempt,
                until: start,
            },
            News::Extended {
                attempt,
                until: start,
            },
            News::Stopped { attempt },
            News::Orphaned,
            News::Failed(Failure::Refused(Refusal::Known)),
        ] {
            assert!(!more.is_last());
        }
    }

    #[test]
    fn a_new_job_asks_for_nothing_special() {
        let job = job();
        assert_eq!(job.estimate(), Span::from_secs(1));
        assert_eq!((job.submitted, job.deadline), (Time::ZERO, None));
        assert_eq!(
            (job.requirement, job.criterion),
            (Requirement::any(), Criterion::Soonest)
        );
        assert_eq!(job.submitter, Submitter::default());
    }

    #[test]
    fn refusals_and_failures_say_why() {
        let dimensions = Dimensions::new(&[("a", Kind::Level), ("b", Kind::Level)]).unwrap();
        let b = dimensions.named("b").unwrap();
        assert_eq!(Refusal::unknown(b), Refusal::UnknownDimension(1));
        assert_eq!(
            std::format!("{}", Failure::Refused(Refusal::unknown(b))),
            "refused: the grid has no dimension 1"
        );
        assert_eq!(std::format!("{}", Refusal::Full), "there is no room");
        assert_eq!(std::format!("{}", Failure::NodeLost), "a node was lost");
        assert!(std::format!("{}", JobError::ZeroEstimate).contains("zero"));
    }

    #[test]
    fn a_job_is_small_enough_to_travel_inside_a_message() {
        assert!(size_of::<Job>() <= 224, "{}", size_of::<Job>());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn decoding_refuses_a_job_that_takes_no_time() {
        let bytes = postcard::to_allocvec(&job()).unwrap();
        assert_eq!(postcard::from_bytes::<Job>(&bytes), Ok(job()));
        let zero = Job {
            estimate: Span::ZERO,
            ..job()
        };
        let bytes = postcard::to_allocvec(&zero).unwrap();
        assert!(postcard::from_bytes::<Job>(&bytes).is_err());
    }
}

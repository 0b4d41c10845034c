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
//! let command = Command::submit(job);
//!
//! assert_eq!(Job::new(JobId::new(18), four_nodes, Span::ZERO), Err(JobError::ZeroEstimate));
//! # let _ = command;
//! # Ok::<(), JobError>(())
//! ```

#[cfg(test)]
pub(crate) mod brief;
#[cfg(feature = "alloc")]
mod host;
mod site;

#[cfg(feature = "alloc")]
pub use host::{Assignment, Command, News, Notice, Payload, Placement, Survival};
pub use site::{OwnJob, Seen, SiteReport};

use core::fmt;
use core::num::NonZeroU32;

use crate::id::{JobId, OrganisationId, UserId};
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
    /// On whose nodes it may run.
    pub scope: Scope,
    /// Whether it may run again.
    pub retry: Retry,
}

impl Job {
    /// A job of user 0 in organisation 0, submitted at the origin, without requirement or deadline, as soon as
    /// possible, that never runs again. Set the other fields as needed.
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
            retry: Retry::Never,
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

/// On whose nodes a job may run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scope {
    /// Nodes of every organisation that admits the job.
    #[default]
    Grid,
    /// Nodes of the submitter's own organisation only.
    Organisation,
    /// Only the node at which it is submitted (P3: execution takes place locally).
    Here,
}

/// Whether a job runs again after an attempt that may have run, perhaps to its end.
///
/// An attempt that failed before it can have started is always made again: it costs nothing of this.
///
/// ```
/// use gridweave_core::job::{Failure, Retry};
///
/// assert_eq!(Retry::OnNodeLoss(2).after(Failure::NodeLost), Some(Retry::OnNodeLoss(1)));
/// assert_eq!(Retry::OnNodeLoss(2).after(Failure::Broke), None);
/// assert_eq!(Retry::Always(1).after(Failure::Overran), Some(Retry::Always(0)));
/// assert_eq!(Retry::Always(0).after(Failure::NodeLost), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Retry {
    /// It does not run again: its program may not bear that.
    #[default]
    Never,
    /// At most so many times, each time after a node was lost.
    OnNodeLoss(u8),
    /// At most so many times, each time after a node was lost, or the job broke or overran.
    Always(u8),
}

impl Retry {
    /// How often the job may run again at most.
    pub const fn times(self) -> u8 {
        match self {
            Self::Never => 0,
            Self::OnNodeLoss(times) | Self::Always(times) => times,
        }
    }

    /// What is left after an attempt that ended like this, if the job may run again.
    pub const fn after(self, failure: Failure) -> Option<Self> {
        let is_loss = matches!(failure, Failure::NodeLost);
        let is_own = matches!(failure, Failure::Broke | Failure::Overran);
        match self {
            Self::OnNodeLoss(times) if is_loss && times > 0 => {
                Some(Self::OnNodeLoss(times.saturating_sub(1)))
            }
            Self::Always(times) if (is_loss || is_own) && times > 0 => {
                Some(Self::Always(times.saturating_sub(1)))
            }
            _ => None,
        }
    }
}

/// Why a job cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JobError {
    /// Its estimate is zero.
    ZeroEstimate,
    /// Its payload has more bytes than it may.
    PayloadTooLong,
}

/// How a job ended on the node that ran it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// It did its work.
    Done,
    /// It stopped with an error.
    Broke,
    /// It still ran when its time was over, and was stopped.
    Overran,
}

impl Outcome {
    /// Why the job is not done, unless it is.
    pub const fn failure(self) -> Option<Failure> {
        match self {
            Self::Done => None,
            Self::Broke => Some(Failure::Broke),
            Self::Overran => Some(Failure::Overran),
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
    /// A node that ran it, or was about to, was lost, and it may not run again ([`Retry`]).
    NodeLost,
    /// It still ran when its time was over.
    Overran,
    /// It broke while it ran.
    Broke,
}

/// Why a scheduler does not take a job. The scheduler keeps nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Refusal {
    /// This node knows a job of this name already, and will tell its outcome.
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
    /// This scheduler does not keep jobs inside an organisation, or at one node.
    UnsupportedScope,
    /// Its criterion gives no cost for nodes that were found.
    BrokenCriterion,
    /// No nodes that were found are acceptable to its criterion.
    NotAcceptable,
    /// Its deadline is past.
    DeadlinePassed,
    /// The node that was asked has as many jobs as it may: the configuration sets that limit.
    Full,
    /// The user may not submit it.
    NotAuthorised,
    /// This node is leaving.
    Leaving,
    /// This node takes no new jobs for now.
    Draining,
    /// It takes longer than schedules look ahead.
    TooLong,
    /// Up to the end of the schedules there is no start at which enough nodes are free.
    NoStart,
    /// No search came back with nodes.
    NotFound,
    /// Each time, other jobs had taken the time that was found.
    Taken,
    /// Nodes that were asked have no room for another reservation.
    NodesFull,
    /// Nodes that were asked take no new jobs.
    NodesDraining,
    /// This node holds as much time at others as they allow.
    Quota,
    /// Nodes that were asked do not run jobs of this submitter.
    NotAccepted,
    /// Nodes that were asked did not answer.
    NoAnswer,
    /// Answers came too late for the start.
    TooSlow,
    /// The clocks of this node and of another one differ by more than the configuration allows.
    Clock,
    /// Another node has a job of this name.
    NameTaken,
}

impl Refusal {
    /// The refusal of a requirement that names this dimension.
    pub const fn unknown(dimension: Dimension) -> Self {
        Self::UnknownDimension(dimension.position() as u8)
    }
}

impl Failure {
    /// The reason in words, without that of a refusal.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Refused(_) => "it was refused",
            Self::NodeLost => "a node was lost",
            Self::Overran => "it ran longer than it may",
            Self::Broke => "it broke while it ran",
        }
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
            Self::UnsupportedScope => {
                "this scheduler does not keep jobs inside an organisation or at one node"
            }
            Self::BrokenCriterion => "its criterion gives no cost",
            Self::NotAcceptable => "its criterion accepts no nodes that were found",
            Self::DeadlinePassed => "its deadline is past",
            Self::Full => "the node has as many jobs as it may",
            Self::NotAuthorised => "the submitter may not",
            Self::Leaving => "this node is leaving",
            Self::Draining => "this node takes no new jobs for now",
            Self::TooLong => "it takes longer than schedules look ahead",
            Self::NoStart => "there is no start at which enough nodes are free",
            Self::NotFound => "no search came back with nodes",
            Self::Taken => "other jobs had taken the time that was found",
            Self::NodesFull => "the nodes have no room for another reservation",
            Self::NodesDraining => "the nodes take no new jobs",
            Self::Quota => "this node holds as much time at others as they allow",
            Self::NotAccepted => "the nodes do not run jobs of this submitter",
            Self::NoAnswer => "the nodes did not answer",
            Self::TooSlow => "answers came too late for the start",
            Self::Clock => "the clocks of nodes differ by too much",
            Self::NameTaken => "another node has a job of this name",
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused(refusal) => return write!(f, "refused: {refusal}"),
            failure => failure.words(),
        })
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroEstimate => "a job must be expected to run for longer than zero",
            Self::PayloadTooLong => "the payload of a job must have at most 4096 bytes",
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
        assert_eq!(
            std::format!("{}", Refusal::Full),
            "the node has as many jobs as it may"
        );
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

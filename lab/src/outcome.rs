//! The outcome of each job, and the rule for estimates.
//!
//! [`Estimates`] decides what a scheduler is told about the run time of a job, and how the job ends: it is
//! [`Ending::Killed`] if its requested time is a limit and too short.
//!
//! ```
//! use gridweave_core::time::Span;
//! use gridweave_lab::outcome::{Ending, Estimates};
//!
//! // A job that runs for an hour, although its user asked for half of one.
//! let (hour, half) = (Span::from_secs(3600), Span::from_secs(1800));
//! let killed = Estimates::Kill.apply(hour, Some(half));
//! assert_eq!((killed.estimate, killed.actual, killed.ending), (half, half, Ending::Killed));
//! let overran = Estimates::Overrun.apply(hour, Some(half));
//! assert_eq!((overran.estimate, overran.actual, overran.ending), (half, hour, Ending::Completed));
//! ```

use gridweave_core::job::{Failure, Refusal};
use gridweave_core::resource::Speed;
use gridweave_core::time::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::setting::words;
use crate::workload::Submission;
use crate::workload::generate::actual_run_time;

/// The outcome of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// It ran.
    Ran {
        /// When it started.
        start: Time,
        /// When it ended.
        end: Time,
        /// How it ended.
        ending: Ending,
    },
    /// It was refused: no node, or no set of nodes, of this grid could run it, or the scheduler found no placement for
    /// it in as many searches as it makes.
    Rejected(Refusal),
    /// It was accepted, and then failed; `None` if its submitter was not told why.
    Failed(Option<Failure>),
    /// It was accepted, and no outcome was ever told.
    Lost,
    /// Its submitter went down for ever, so that no node can tell the outcome.
    Orphaned,
    /// The simulation was stopped before it was submitted.
    NotSubmitted,
    /// The simulation was stopped after it was submitted and before it ended.
    Unfinished {
        /// When it started, if it runs.
        start: Option<Time>,
    },
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Ending {
    /// It ran to its end.
    Completed,
    /// It was killed when its requested time was over.
    Killed,
}

words! {
    /// The estimate that schedulers get for each job, and what happens if the job runs longer.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Estimates {
        /// The time that the user requested; the job is killed when it is over.
        Kill = "kill",
        /// The time that the user requested, or the run time if that is longer.
        Extend = "extend",
        /// The exact run time.
        #[default]
        Exact = "exact",
        /// The requested time; a job may run longer. Centralised schedulers use [`Extend`](Self::Extend) instead.
        Overrun = "overrun",
    }
}

/// The estimate of a job, and its actual run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duration {
    /// How long the scheduler is told that it runs.
    pub estimate: Span,
    /// How long it runs; longer than the estimate only under [`Estimates::Overrun`].
    pub actual: Span,
    /// Whether it completes or is killed.
    pub ending: Ending,
}

impl Estimates {
    /// The rule that centralised schedulers use: their plans need jobs that end in time.
    #[must_use]
    pub const fn for_central(self) -> Self {
        match self {
            Self::Overrun => Self::Extend,
            other => other,
        }
    }

    /// How long a job runs on a node of this speed. Under [`Overrun`](Self::Overrun) the estimate scales with the
    /// speed, but the error of the estimate does not (PROTOCOLS A19).
    pub fn run_time_on(self, job: &Submission, speed: Speed) -> Span {
        if self == Self::Overrun {
            return actual_run_time(job, speed);
        }
        let actual = self.apply(job.run_time, job.requested_time).actual;
        speed.duration_of(actual)
    }

    /// Applies this rule to a job. Without a requested time, the estimate is the run time.
    pub fn apply(self, run_time: Span, requested: Option<Span>) -> Duration {
        let requested = requested.unwrap_or(run_time);
        let (estimate, actual) = match self {
            Self::Kill => (requested, run_time.min(requested)),
            Self::Extend => (requested.max(run_time), run_time),
            Self::Exact => (run_time, run_time),
            Self::Overrun => (requested, run_time),
        };
        let ending = if actual < run_time {
            Ending::Killed
        } else {
            Ending::Completed
        };
        Duration {
            estimate,
            actual,
            ending,
        }
    }
}

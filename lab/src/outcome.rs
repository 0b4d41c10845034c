//! What became of each job.

use gridweave_core::resource::Speed;
use gridweave_core::time::{Span, Time};

use crate::config::setting::words;
use crate::workload::Submission;
use crate::workload::generate::actual_run_time;

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It ran.
    Ran {
        /// From when.
        start: Time,
        /// Until when.
        end: Time,
        /// How it ended.
        ending: Ending,
    },
    /// It was never taken: no such grid could run it.
    Rejected,
    /// It was taken, and then lost for a reason that its submitter was told.
    Failed,
    /// It was taken, and nobody ever told its end.
    Lost,
    /// Where it was submitted went down for ever, and with that whoever would tell its end.
    Orphaned,
    /// The simulation was stopped before it was submitted.
    NotSubmitted,
    /// The simulation was stopped after it was submitted and before it ended.
    Unfinished {
        /// From when it runs, if it does.
        start: Option<Time>,
    },
}

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// By itself.
    Completed,
    /// Its time was up.
    Killed,
}

words! {
    /// What schedulers are told about how long a job takes, and what happens if it takes longer.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Estimates {
        /// What the user asked for; the job ends when that is over.
        Kill = "kill",
        /// What the user asked for, or the run time if that is longer.
        Extend = "extend",
        /// The run time.
        #[default]
        Exact = "exact",
        /// What the user asked for; a job that takes longer just does. Centralised schedulers take it for [`Extend`](Self::Extend).
        Overrun = "overrun",
    }
}

/// How long a job is said to run, and how long it will be let run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duration {
    /// What the scheduler is told.
    pub estimate: Span,
    /// What happens; longer than the estimate only under [`Estimates::Overrun`].
    pub actual: Span,
    /// How it ends then.
    pub ending: Ending,
}

impl Estimates {
    /// What centralised schedulers take it for: their plans count on jobs to end in time.
    #[must_use]
    pub const fn for_central(self) -> Self {
        match self {
            Self::Overrun => Self::Extend,
            other => other,
        }
    }

    /// How long a job runs on a node of this speed. Under [`Overrun`](Self::Overrun) its estimate scales with the speed, and how far
    /// it is off does not (PROTOCOLS A19).
    pub fn run_time_on(self, job: &Submission, speed: Speed) -> Span {
        if self == Self::Overrun {
            return actual_run_time(job, speed);
        }
        let actual = self.apply(job.run_time, job.requested_time).actual;
        speed.duration_of(actual)
    }

    /// What this rule makes of a job's times. A job without a requested time has its run time as the estimate.
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

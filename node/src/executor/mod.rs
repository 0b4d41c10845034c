//! What runs an attempt at a job, and ends it in time.
//!
//! An [`Executor`] begins attempts, lets them run for longer, and ends them. It keeps an attempt until the driver
//! forgets it, also over restarts of the agent: so an end that the agent did not see is reported by the next life.

mod cgroup;
mod enter;
mod folder;
mod liveness;
mod process;
mod program;
mod slurm;
mod supervisor;
#[cfg(test)]
mod tests;

pub use enter::enter;
pub use process::{Processes, Site};
pub use program::{Limits, Program, ProgramError};
pub use slurm::{Plan, Shape, Slurm, begin_at_site, limit, poke};
pub use supervisor::{end_supervisor, supervise};

use std::fmt;

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::job::{Outcome, SiteReport, Submitter};
use gridweave_core::time::{Span, Time};

/// An attempt at a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AttemptId {
    /// The job.
    pub job: JobId,
    /// The number of the attempt.
    pub number: Epoch,
}

/// `7-1`, as its folder is named.
impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.job.get(), self.number.get())
    }
}

impl AttemptId {
    /// Reads the name of a folder.
    pub fn from_name(name: &str) -> Option<Self> {
        let (job, number) = name.split_once('-')?;
        let attempt = Self {
            job: JobId::new(job.parse().ok()?),
            number: Epoch::new(number.parse().ok()?),
        };
        (attempt.to_string() == name).then_some(attempt)
    }
}

/// What an attempt needs to begin.
#[derive(Clone, Debug)]
pub struct Start {
    /// The attempt.
    pub attempt: AttemptId,
    /// When to end it, unless that is extended.
    pub until: Time,
    /// The user, which is charged for it.
    pub submitter: Submitter,
    /// For how long it may run, if that is not what `until` says: where a permission to run is renewed for as long as the
    /// job goes on.
    pub longest: Option<Span>,
    /// What to run.
    pub program: Program,
    /// The position of this node among the nodes of the attempt.
    pub rank: usize,
    /// All nodes of the attempt, in rank order.
    pub nodes: Vec<String>,
    /// Their network addresses, in the same order; `-` for one that is not known.
    pub addresses: Vec<String>,
}

/// What an attempt takes at a site that queues it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Needs {
    /// Cores of one computer.
    pub cores: u32,
    /// Gigabytes of memory.
    pub memory: u64,
    /// Accelerators.
    pub accelerators: u64,
    /// For how long it may run.
    pub length: Span,
}

/// An attempt that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// The user that is charged for it.
    pub submitter: Submitter,
    /// When it began.
    pub began: Time,
    /// When it ended.
    pub ended: Time,
    /// The same in words: `exit status 1`.
    pub how: String,
}

/// How an attempt of an earlier life is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Survivor {
    /// It runs, and is ended then.
    Runs {
        /// The time that it was told last.
        until: Time,
    },
    /// It has ended.
    Ended(Ended),
    /// It does not run, and how it ended is not known.
    Lost,
}

/// Why an attempt does not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// A folder or a process cannot be made.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// Jobs would run as root.
    #[error(
        "jobs would run as root: name a user in jobs.user of node.toml, or set jobs.allow_root = true"
    )]
    Root,
    /// The user that jobs run as is not known.
    #[error("there is no user '{0}': see jobs.user in node.toml")]
    NoUser(String),
    /// Slurm cannot be used as it is set up.
    #[error("{0}")]
    Slurm(String),
    /// Jobs are to run as another user, and the agent may not do that.
    #[error(
        "only root can run jobs as another user: remove jobs.user from node.toml, or run the agent as root"
    )]
    NotRoot,
}

impl ExecutorError {
    fn system(what: impl fmt::Display) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.to_string();
        move |error| Self::System { what, error }
    }
}

/// What runs attempts on this node.
pub trait Executor: Send {
    /// Begins an attempt. If this fails, nothing of it runs.
    fn begin(&mut self, start: &Start) -> Result<(), ExecutorError>;

    /// Lets an attempt run until another time. With a time that is over it ends at once.
    fn extend(&mut self, attempt: AttemptId, until: Time);

    /// Ends an attempt now.
    fn stop(&mut self, attempt: AttemptId) {
        self.extend(attempt, Time::ZERO);
    }

    /// The attempts that earlier lives began and did not forget. Called once, before anything else.
    fn survivors(&mut self) -> Result<Vec<(AttemptId, Survivor)>, ExecutorError>;

    /// The attempts that have ended since the last look.
    fn look(&mut self) -> Vec<(AttemptId, Ended)>;

    /// Its end is durable elsewhere, so nothing of the attempt need be kept.
    fn forget(&mut self, attempt: AttemptId);

    /// How many attempts run.
    fn running(&self) -> usize;

    /// Has its site queue an attempt, before a site that it does not own. Asked again, it queues it once.
    fn queue(&mut self, _: &Start, _: &Needs) -> Result<(), ExecutorError> {
        Ok(())
    }

    /// Takes an attempt out of the queue of the site, unless it has begun. What became of it is reported.
    fn withdraw(&mut self, _: AttemptId) {}

    /// What was seen at the site since the last call.
    fn reports(&mut self) -> Vec<SiteReport> {
        Vec::new()
    }

    /// How the site is, for people.
    fn site(&self) -> Option<serde_json::Value> {
        None
    }
}

impl<E: Executor + ?Sized> Executor for Box<E> {
    fn begin(&mut self, start: &Start) -> Result<(), ExecutorError> {
        (**self).begin(start)
    }
    fn extend(&mut self, attempt: AttemptId, until: Time) {
        (**self).extend(attempt, until);
    }
    fn stop(&mut self, attempt: AttemptId) {
        (**self).stop(attempt);
    }
    fn survivors(&mut self) -> Result<Vec<(AttemptId, Survivor)>, ExecutorError> {
        (**self).survivors()
    }
    fn look(&mut self) -> Vec<(AttemptId, Ended)> {
        (**self).look()
    }
    fn forget(&mut self, attempt: AttemptId) {
        (**self).forget(attempt);
    }
    fn running(&self) -> usize {
        (**self).running()
    }
    fn queue(&mut self, start: &Start, needs: &Needs) -> Result<(), ExecutorError> {
        (**self).queue(start, needs)
    }
    fn withdraw(&mut self, attempt: AttemptId) {
        (**self).withdraw(attempt);
    }
    fn reports(&mut self) -> Vec<SiteReport> {
        (**self).reports()
    }
    fn site(&self) -> Option<serde_json::Value> {
        (**self).site()
    }
}

//! The result of a simulation, for any scheduler.
//!
//! [`central::simulate`](crate::schedulers::central::simulate) and [`replay::simulate`](crate::replay::simulate) return
//! a [`Run`]. [`results`](crate::results) makes summaries and files of it.
//!
//! ```
//! use gridweave_lab::run::Faults;
//! use gridweave_sim::hosting;
//!
//! let jobs = hosting::Faults { recovered: 4, recovery_seconds: 60, ..Default::default() };
//! let faults = Faults { jobs, ..Faults::default() };
//! assert_eq!(faults.mean_recovery_seconds(), 15.0);
//! ```

use std::collections::BTreeMap;

use gridweave_core::time::Time;
use gridweave_sim::hosting;

use crate::outcome::Outcome;
pub use crate::picture::{Drawn, Picture};
use crate::workload::Workload;
use gridweave_sim::engine::Traffic;
use gridweave_sim::network::Mishaps;

/// The result of one simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// The outcome of each job, in the order of the workload.
    pub outcomes: Vec<Outcome>,
    /// The first start that the submitter of each job was told to expect.
    pub promised: Vec<Option<Time>>,
    /// The nodes on which jobs ran.
    pub placement: Placement,
    /// The messages that were sent; centralised schedulers send none.
    pub traffic: Traffic,
    /// The planned faults, and what they did.
    pub faults: Faults,
    /// When the run was stopped, if that was before every job had its outcome.
    pub stopped: Option<Time>,
    /// When the simulation ended. This may be after the last job, if messages or lost jobs were waited for.
    pub ended: Time,
    /// Snapshots of the nodes, if they were asked for.
    pub pictures: Vec<Picture>,
    /// For each node that is up at the end, how many peers have a link to it; empty if nodes keep no links.
    pub in_degrees: Vec<u32>,
    /// What nodes counted, by name: sums over the nodes that are up at the end. Names that begin with `most` are the
    /// highest of any node.
    pub counts: BTreeMap<String, u64>,
    /// How many violations of invariants were found.
    pub violations: u64,
    /// The life of the job that is explained, if one is.
    pub life: Option<hosting::Life>,
    /// How many events there were.
    pub events: u64,
    /// The digest of the run's history.
    pub digest: String,
}

/// The nodes on which jobs ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Not known: nodes are alike, and the scheduler only counts them.
    Interchangeable,
    /// The nodes of each job, in the order of the workload; none if the job did not run.
    Assigned(Vec<Box<[u32]>>),
}

/// What planned faults did in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Faults {
    /// Faults of nodes, and their effects on jobs.
    #[serde(flatten)]
    pub jobs: hosting::Faults,
    /// How many messages arrived at a node that was down or did not exist.
    pub undelivered: u64,
    /// What the network did to messages.
    #[serde(flatten)]
    pub network: Mishaps,
}

impl Faults {
    /// How many seconds it took on average until an interrupted job ran again; zero if none did.
    pub fn mean_recovery_seconds(&self) -> f64 {
        self.jobs.recovery_seconds as f64 / self.jobs.recovered.max(1) as f64
    }
}

impl Run {
    /// When the results end: when the run was stopped, else at the last end or submission of a job.
    pub fn over_at(&self, workload: &Workload) -> Time {
        let ends = self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Ran { end, .. } => Some(*end),
            _ => None,
        });
        let last = workload.jobs.last().map(|job| job.at);
        self.stopped
            .unwrap_or_else(|| ends.chain(last).max().unwrap_or(Time::ZERO))
    }

    /// Whether the run was stopped before every job had its outcome.
    pub fn is_partial(&self) -> bool {
        self.stopped.is_some()
    }
}

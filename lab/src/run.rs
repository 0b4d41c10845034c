//! What a simulation gives back, whichever scheduler ran in it.

use gridweave_core::time::Time;
use gridweave_sim::hosting;

use crate::outcome::Outcome;
use crate::picture::Picture;
use crate::workload::Workload;
use gridweave_sim::engine::Traffic;
use gridweave_sim::network::Mishaps;

/// What came of one simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// What became of each job, in the order of the workload.
    pub outcomes: Vec<Outcome>,
    /// Where jobs ran.
    pub placement: Placement,
    /// What was sent; centralised schedulers send nothing.
    pub traffic: Traffic,
    /// What went wrong on purpose.
    pub faults: Faults,
    /// When it was stopped, if that was before every job had its outcome.
    pub stopped: Option<Time>,
    /// When it ended: some time after the last job did, if others were still waited for or looked for.
    pub ended: Time,
    /// How it looked from time to time, if that was asked for.
    pub pictures: Vec<Picture>,
    /// By how many others each node is known that is up at the end; nothing if nodes keep no links.
    pub in_degrees: Vec<u32>,
    /// How many invariants were found broken.
    pub violations: u64,
    /// How many events there were.
    pub events: u64,
    /// The digest of the history.
    pub digest: String,
}

/// Where jobs ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Anywhere: nodes are alike, and the scheduler only counted them.
    Interchangeable,
    /// On these nodes, in the order of the workload; nowhere if the job did not run.
    Assigned(Vec<Box<[u32]>>),
}

/// What went wrong on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Faults {
    /// With nodes and jobs.
    #[serde(flatten)]
    pub jobs: hosting::Faults,
    /// How many messages came to nobody.
    pub undelivered: u64,
    /// What the network did to messages.
    #[serde(flatten)]
    pub network: Mishaps,
}

impl Faults {
    /// After how many seconds an interrupted job ran again, on average; zero if none did.
    pub fn mean_recovery_seconds(&self) -> f64 {
        self.jobs.recovery_seconds as f64 / self.jobs.recovered.max(1) as f64
    }
}

impl Run {
    /// When there was nothing more to see: when it was stopped, else at the last end or submission.
    pub fn over_at(&self, workload: &Workload) -> Time {
        let ends = self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Ran { end, .. } => Some(*end),
            _ => None,
        });
        let last = workload.jobs.last().map(|job| job.at);
        self.stopped
            .unwrap_or_else(|| ends.chain(last).max().unwrap_or(Time::ZERO))
    }

    /// Whether it was stopped before every job had its outcome.
    pub fn is_partial(&self) -> bool {
        self.stopped.is_some()
    }
}

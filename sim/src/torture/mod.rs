//! Adversarial runs: a seed picks a scheduler, a grid, a load and a mix of faults; an oracle watches every event.
//!
//! A run is a function of its [`Request`]. Things go wrong for some minutes ([`Fault`]), then there is calm, in which everything has to
//! come to a good end. After every event the machine that handled it is asked for its invariants and held to its caps, and an oracle that
//! knows nothing of the machines goes over what they said ([`Invariant`]). Each fault says which invariants it leaves standing
//! ([`Fault::keeps`]); a run is held to what all of its faults keep. What broke is minimised by leaving things out one after the other,
//! and comes with the command that replays it.
//!
//! ```
//! use gridweave_sim::torture::{Request, run};
//!
//! let report = run(&Request::new(1));
//! assert_eq!(report.breach, None);
//! // The same again.
//! assert_eq!(run(&Request::new(1)).digest, report.digest);
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `scenario` | what a seed stands for |
//! | `fault`, `invariant` | the two lists, and which goes with which |
//! | `subject`, `subjects/` | what the harness must know of each scheduler |
//! | `player`, `liar` | a node with its own clock, and one that lies |
//! | `host`, `oracle` | who runs jobs and lets things go wrong, and who watches |
//! | `minimise` | the smallest request that breaks the same invariant |
//! | `flaw` | bugs that are put in to see that they are caught |

mod dice;
mod fault;
mod flaw;
mod host;
mod invariant;
mod liar;
mod minimise;
mod oracle;
mod player;
mod scenario;
mod subject;
mod subjects;
#[cfg(test)]
mod tests;
mod witness;

pub use fault::{Fault, UnknownFault};
pub use flaw::Flaw;
pub use invariant::{Breach, Invariant};
pub use minimise::minimised;
pub use scenario::{
    Equipped, JOBS, MAX_SKEW, Mishap, NODES, Planned, Request, SCHEDULERS, Scenario,
};
pub use subject::Caps;
pub use witness::Counters;

use std::collections::BTreeSet;

use gridweave_core::id::NodeId;
use gridweave_core::job::News;
use gridweave_core::time::Time;

use crate::scheduler::Scheduler;
use host::Host;
use subjects::{AriaNode, AsapNode, CriteriaNode, DesktopNode};

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// What was run.
    pub request: Request,
    /// What went wrong in it.
    pub faults: BTreeSet<Fault>,
    /// The first promise that was broken.
    pub breach: Option<Breach>,
    /// What happened, by name.
    pub counters: Counters,
    /// How many messages of each kind were sent.
    pub sent: Vec<(&'static str, u64)>,
    /// What became of jobs.
    pub jobs: Jobs,
    /// How many of the links of honest nodes lead to liars at the end, and how many there are.
    pub liar_links: [u64; 2],
    /// When it was over.
    pub ended: Time,
    /// How many events there were.
    pub events: u64,
    /// The digest of its history.
    pub digest: String,
    /// What happened, line by line, if that was asked for.
    pub trace: Vec<String>,
}

/// What became of the jobs that honest nodes took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jobs {
    /// How many there were.
    pub taken: u64,
    /// How many were done.
    pub finished: u64,
    /// How many failed or were refused.
    pub failed: u64,
    /// How many were cancelled.
    pub cancelled: u64,
    /// How many nobody can tell of any more.
    pub orphaned: u64,
}

impl Jobs {
    fn take(
        &mut self,
        scenario: &Scenario,
        homes: &[Option<NodeId>],
        outcome: impl Fn(usize) -> (Option<News>, bool),
    ) {
        for (job, home) in homes.iter().enumerate() {
            if home.is_none_or(|home| scenario.liars.contains(&home)) {
                continue;
            }
            self.taken += 1;
            match outcome(job) {
                (Some(News::Finished), _) => self.finished += 1,
                (Some(News::Cancelled), _) => self.cancelled += 1,
                (Some(_), _) => self.failed += 1,
                (None, true) => self.orphaned += 1,
                (None, false) => {}
            }
        }
    }

    /// Adds those of another run.
    pub fn merge(&mut self, other: &Self) {
        self.taken += other.taken;
        self.finished += other.finished;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.orphaned += other.orphaned;
    }
}

/// Runs what a request stands for.
pub fn run(request: &Request) -> Report {
    play(request, false)
}

/// The same, with a trace.
pub fn traced(request: &Request) -> Report {
    play(request, true)
}

fn play(request: &Request, traces: bool) -> Report {
    let scenario = Scenario::new(request);
    match scenario.scheduler {
        Scheduler::Criteria => Host::<CriteriaNode>::play(&scenario, traces),
        Scheduler::Aria => Host::<AriaNode>::play(&scenario, traces),
        Scheduler::Desktop => Host::<DesktopNode>::play(&scenario, traces),
        // Requests name no other; if one does, this is as good as any.
        _ => Host::<AsapNode>::play(&scenario, traces),
    }
}

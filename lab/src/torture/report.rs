//! The report of a run.

use std::any::Any;
use std::collections::BTreeSet;

use gridweave_core::id::NodeId;
use gridweave_core::job::News;
use gridweave_core::time::Time;
use gridweave_sim::hosting::{Breach, Invariant};

use super::fault::Fault;
use super::scenario::{Request, Scenario};
use super::witness::Counters;

/// What happened in a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The request that was run.
    pub request: Request,
    /// The faults that the seed picked.
    pub faults: BTreeSet<Fault>,
    /// The first invariant that was broken, if any.
    pub breach: Option<Breach>,
    /// How often things happened, by name.
    pub counters: Counters,
    /// How many messages of each kind were sent.
    pub sent: Vec<(String, u64)>,
    /// The outcomes of jobs.
    pub jobs: Jobs,
    /// How many links of honest nodes lead to liars at the end, and how many links they have.
    pub liar_links: [u64; 2],
    /// When the run ended, in simulated time.
    pub ended: Time,
    /// How many events there were.
    pub events: u64,
    /// The digest of its history.
    pub digest: String,
    /// The trace, line by line, if it was asked for.
    pub trace: Vec<String>,
}

impl Report {
    /// The report of a run that ended in a panic: nothing is known but what was said.
    pub(super) fn of_panic(request: &Request, scenario: &Scenario, panic: &dyn Any) -> Self {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Self {
            request: request.clone(),
            faults: scenario.faults.clone(),
            breach: Some(Breach {
                invariant: Invariant::State,
                at: Time::ZERO,
                node: None,
                what: format!("a panic: {}", said.unwrap_or("without a word")),
            }),
            counters: Counters::default(),
            sent: Vec::new(),
            jobs: Jobs::default(),
            liar_links: [0; 2],
            ended: Time::ZERO,
            events: 0,
            digest: String::new(),
            trace: Vec::new(),
        }
    }
}

/// The outcomes of jobs that were submitted at honest nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Jobs {
    /// How many were submitted.
    pub taken: u64,
    /// How many finished.
    pub finished: u64,
    /// How many failed or were refused.
    pub failed: u64,
    /// How many were cancelled.
    pub cancelled: u64,
    /// How many have no outcome because their submitter is gone for ever.
    pub orphaned: u64,
}

impl Jobs {
    pub(super) fn take(
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

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Self) {
        self.taken += other.taken;
        self.finished += other.finished;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.orphaned += other.orphaned;
    }
}

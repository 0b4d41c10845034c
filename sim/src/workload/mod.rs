//! Jobs to replay: read from a trace or generated.

use gridweave_core::resource::Requirement;
use gridweave_core::time::{Span, Time};

/// A job as a trace or a generator has it: when it came, what it asked for, and how long it really ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submission {
    /// Its number in the trace.
    pub number: u64,
    /// When it was submitted.
    pub at: Time,
    /// How long it runs on a node of baseline speed; never zero.
    pub run_time: Span,
    /// How long its user said it would run; never zero.
    pub requested_time: Option<Span>,
    /// How many processors, or whole nodes, it needs at once; never zero.
    pub processors: u32,
    /// Who submitted it.
    pub user: u32,
    /// On whose behalf.
    pub group: u32,
    /// Where it was submitted, if the trace tells.
    pub site: Option<u32>,
}

/// Jobs in the order of submission, with what else is known about them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workload {
    /// What it is called in output files.
    pub name: String,
    /// Sorted by time of submission; jobs of one instant are in the order of their source.
    pub jobs: Vec<Submission>,
    /// What each job needs of its node: one per job, or none at all if jobs do not care.
    pub requirements: Vec<Requirement>,
    /// When each job should be done: one per job, or none at all.
    pub deadlines: Vec<Time>,
}

use serde::{Deserialize, Serialize};

/// A job that was submitted at this node, as its users see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobRow {
    /// The user, by the number that the operating system has for the user.
    pub user: u32,
    /// The organisation of the node.
    pub organisation: u32,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How many nodes it wants.
    pub nodes: u32,
    /// For how many seconds it may run.
    pub seconds: f64,
    /// When it was submitted, in seconds since 1970.
    pub submitted: f64,
    /// What is known of it.
    pub phase: Phase,
    /// The attempt that was placed last.
    pub attempt: Option<u64>,
    /// Where it was placed last, in rank order.
    pub placed: Vec<String>,
    /// When it starts, or is expected to, in seconds since 1970.
    pub start: Option<f64>,
    /// When it ended, in seconds since 1970.
    pub ended: Option<f64>,
    /// Why it was refused or failed.
    pub why: Option<String>,
}

/// What is known of a job at the node where it was submitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It waits without a placement.
    Waiting,
    /// It has a placement, and may run already.
    Placed,
    /// It is done.
    Done,
    /// It will not be done.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Phase {
    /// Whether nothing more happens to the job.
    pub const fn is_last(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// An attempt that ended at this node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EndedRow {
    /// The user.
    pub user: u32,
    /// The organisation.
    pub organisation: u32,
    /// When it began, in microseconds since 1970.
    pub began: u64,
    /// When it ended.
    pub ended: u64,
    /// How it ended.
    pub outcome: String,
}

/// What a user had at this node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UsageRow {
    /// The organisation.
    pub organisation: u32,
    /// The user.
    pub user: u32,
    /// How many attempts.
    pub attempts: u64,
    /// For how many seconds in all.
    pub node_seconds: f64,
}

//! What must hold, by name.

use std::fmt;

use gridweave_core::id::NodeId;
use gridweave_core::time::Time;

/// A rule that every run must keep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Invariant {
    /// A node's own invariants hold after each of its events.
    State,
    /// One event has a bounded number of effects; messages, records, timers and jobs of a node are bounded.
    Bounded,
    /// Every job that a living node took has a last word by the end of the calm.
    Outcome,
    /// No job has two last words, unless a node that went down says the same again.
    LastWord,
    /// A last word is true.
    TrueWord,
    /// No two attempts at a job run at once, and none on more nodes than it wants.
    OneExecution,
    /// Nothing begins that was said to be done or cancelled, or more often than its job allows.
    NoRerun,
    /// A node is told to run what was submitted, and with which nodes, before it begins; else that it is released.
    Told,
    /// Nothing begins on a node that has no room for it.
    Room,
    /// Nothing begins on a node that lacks what it requires, or that does not admit its organisation.
    Admitted,
    /// A job that does not run on all of its nodes within the grace is stopped.
    Together,
    /// No node tells news of a job that was never submitted.
    Known,
    /// In the end nothing is left of any job, at any node.
    Settled,
    /// In the end the overlay is whole.
    Overlay,
    /// Once nothing is left of any job, no node sends a message about a job or waits for an answer about one.
    Quiet,
    /// In the calm no node keeps time for a job unless the job's coordinator knows of it.
    Purpose,
    /// In the calm a job that can run does: it begins once on each of its nodes, soon, and with few messages.
    Thrift,
    /// No attempt is queued again at a foreign site after the node was told that the site does not have it any more.
    Withdrawn,
    /// Nothing runs on a node that says it is drained.
    Drained,
    /// While its machine is up, nothing runs longer than its host was told.
    Leased,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::State,
        Self::Bounded,
        Self::Outcome,
        Self::LastWord,
        Self::TrueWord,
        Self::OneExecution,
        Self::NoRerun,
        Self::Told,
        Self::Room,
        Self::Admitted,
        Self::Together,
        Self::Known,
        Self::Settled,
        Self::Overlay,
        Self::Quiet,
        Self::Purpose,
        Self::Thrift,
        Self::Withdrawn,
        Self::Drained,
        Self::Leased,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Bounded => "bounded",
            Self::Outcome => "outcome",
            Self::LastWord => "last-word",
            Self::TrueWord => "true-word",
            Self::OneExecution => "one-execution",
            Self::NoRerun => "no-rerun",
            Self::Told => "told",
            Self::Room => "room",
            Self::Admitted => "admitted",
            Self::Together => "together",
            Self::Known => "known",
            Self::Settled => "settled",
            Self::Overlay => "overlay",
            Self::Quiet => "quiet",
            Self::Purpose => "purpose",
            Self::Thrift => "thrift",
            Self::Withdrawn => "withdrawn",
            Self::Drained => "drained",
            Self::Leased => "leased",
        }
    }

    /// The rule, as a sentence.
    pub const fn says(self) -> &'static str {
        match self {
            Self::State => "a node's own invariants hold after each of its events",
            Self::Bounded => "effects of an event, messages, records and timers stay within caps",
            Self::Outcome => "every job that was taken has a last word by the end of the calm",
            Self::LastWord => "no job has two last words",
            Self::TrueWord => "a last word is true",
            Self::OneExecution => "no two attempts at a job run at once",
            Self::NoRerun => {
                "nothing begins that was said to be done or cancelled, or more often than its job allows"
            }
            Self::Told => {
                "a node is told to run what was submitted, and with which nodes, before it begins"
            }
            Self::Room => "nothing begins where there is no room for it",
            Self::Admitted => {
                "nothing begins on a node that lacks what it requires, or does not admit it"
            }
            Self::Together => "a job runs on all of its nodes within the grace, or is stopped",
            Self::Known => "no node speaks of a job that was never submitted",
            Self::Settled => "in the end nothing is left of any job",
            Self::Overlay => "in the end the overlay is whole",
            Self::Quiet => "when nothing is left of any job, nothing is said of jobs",
            Self::Purpose => "in the calm no node keeps time that its coordinator does not know of",
            Self::Thrift => {
                "in the calm a job that can run does, once, soon, and with few messages"
            }
            Self::Withdrawn => "no attempt is queued again that a foreign site no longer has",
            Self::Drained => "nothing runs on a node that says it is drained",
            Self::Leased => "nothing runs longer than its host was told",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An invariant that did not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// The invariant that was broken.
    pub invariant: Invariant,
    /// When it was found broken.
    pub at: Time,
    /// The node at which it was broken, if it was one node.
    pub node: Option<NodeId>,
    /// What happened, in words.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.invariant, self.at)?;
        if let Some(node) = self.node {
            write!(f, " on {node}")?;
        }
        write!(f, ": {}", self.what)
    }
}

//! What may go wrong, and what must hold all the same.

use std::collections::BTreeSet;
use std::fmt;

use gridweave_sim::hosting::Invariant::{self, Admitted, Bounded, Outcome, Room, State};

/// A class of faults. A seed picks some of them, and how bad each is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// Messages are lost.
    Loss,
    /// Messages come twice.
    Duplication,
    /// Messages overtake each other.
    Reordering,
    /// Some messages take far longer than the rules expect.
    Delay,
    /// For a while, some nodes receive messages but theirs are lost, or the other way round.
    OneWay,
    /// Some nodes are cut off for a while.
    Partition,
    /// Nodes crash, at rest or between two effects, and soon come back from their disks.
    Crash,
    /// Nodes are down for so long that all they have on disk is stale when they come back.
    Stale,
    /// Nodes are lost for ever, with their disks; replacements join under new ids.
    DiskLoss,
    /// Clocks differ by as much as the rules allow.
    Skew,
    /// Clocks differ by more than that.
    FarClocks,
    /// Nodes join and leave.
    Churn,
    /// A node is slow: its messages take longer, and jobs take three times as long there.
    Slow,
    /// Queues and tables are so small that they are full.
    Full,
    /// Jobs run longer than they say, or break.
    BadJobs,
    /// Jobs are cancelled.
    Cancels,
    /// Up to a third of all nodes lie.
    Liars,
    /// Some nodes of `aria` stand before sites with schedulers and users of their own, which answer late, lose jobs and
    /// restart.
    Foreign,
    /// Nodes are drained, and take jobs again after a while.
    Drain,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Loss,
        Self::Duplication,
        Self::Reordering,
        Self::Delay,
        Self::OneWay,
        Self::Partition,
        Self::Crash,
        Self::Stale,
        Self::DiskLoss,
        Self::Skew,
        Self::FarClocks,
        Self::Churn,
        Self::Slow,
        Self::Full,
        Self::BadJobs,
        Self::Cancels,
        Self::Liars,
        Self::Foreign,
        Self::Drain,
    ];

    /// What it is called on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Duplication => "duplication",
            Self::Reordering => "reordering",
            Self::Delay => "delay",
            Self::OneWay => "one-way",
            Self::Partition => "partition",
            Self::Crash => "crash",
            Self::Stale => "stale",
            Self::DiskLoss => "disk-loss",
            Self::Skew => "skew",
            Self::FarClocks => "far-clocks",
            Self::Churn => "churn",
            Self::Slow => "slow",
            Self::Full => "full",
            Self::BadJobs => "bad-jobs",
            Self::Cancels => "cancels",
            Self::Liars => "liars",
            Self::Foreign => "foreign",
            Self::Drain => "drain",
        }
    }

    /// What it does, for the list on the command line.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Loss => "messages are lost",
            Self::Duplication => "messages come twice",
            Self::Reordering => "messages overtake each other",
            Self::Delay => "some messages take far longer than expected",
            Self::OneWay => "some nodes hear and are not heard, or the other way round",
            Self::Partition => "some nodes are cut off for a while",
            Self::Crash => {
                "nodes crash, also between two effects and while they come up, and come back"
            }
            Self::Stale => "nodes come back so late that all they know is stale",
            Self::DiskLoss => "nodes are gone for ever, and others come",
            Self::Skew => "clocks differ by as much as is allowed",
            Self::FarClocks => "clocks differ by more than that",
            Self::Churn => "nodes join and leave",
            Self::Slow => "a node and its messages are slow",
            Self::Full => "queues and tables are small, and full",
            Self::BadJobs => "jobs run longer than they say, or break",
            Self::Cancels => "jobs are cancelled",
            Self::Liars => "up to a third of all nodes lie",
            Self::Foreign => "sites of aria have schedulers and users of their own",
            Self::Drain => "nodes are drained, and take jobs again",
        }
    }

    /// The fault of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// In how many of 60 seeds it occurs.
    pub(super) const fn frequency(self) -> u32 {
        match self {
            Self::FarClocks => 4,
            Self::Liars => 12,
            Self::Delay | Self::OneWay | Self::Stale | Self::Slow | Self::Full | Self::Drain => 15,
            _ => 24,
        }
    }

    /// The invariants that must hold under it.
    pub const fn keeps(self) -> &'static [Invariant] {
        match self {
            // If clocks differ by more than the rules allow, only a node's own schedule is promised.
            Self::FarClocks => &[State, Bounded, Room, Admitted],
            // A liar may claim anything. Honest nodes stay sound and small, and their jobs get an outcome.
            Self::Liars => &[State, Bounded, Outcome],
            _ => &Invariant::ALL,
        }
    }

    /// The invariants that must hold under all of these.
    pub fn all_keep(faults: &BTreeSet<Self>) -> BTreeSet<Invariant> {
        let kept =
            |invariant: &&Invariant| faults.iter().all(|fault| fault.keeps().contains(invariant));
        Invariant::ALL.iter().filter(kept).copied().collect()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such fault.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no fault '{0}'; choose from {names}", names = Fault::ALL.map(Fault::name).join(", "))]
pub struct UnknownFault(String);

impl std::str::FromStr for Fault {
    type Err = UnknownFault;
    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        Self::named(name).ok_or_else(|| UnknownFault(name.chars().take(40).collect()))
    }
}

//! All schedulers by name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::central::Central;

/// Who schedules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Scheduler {
    /// One that knows everything.
    Central(Central),
    /// Several nodes as soon as possible, by searches among neighbours.
    Asap,
    /// Several nodes by a cost function, found along links between nodes that are good together.
    Criteria,
    /// One site for each job, offered by sites that keep their own policies.
    Aria,
    /// Some cores of one node for each job, found in a space of what nodes have.
    Desktop,
    /// Random placement, which knows nothing.
    Random,
    /// Flooding searches for nodes that are free now.
    Flood,
}

impl Scheduler {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 10] = [
        Self::Central(Central::Fcfs),
        Self::Central(Central::Easy),
        Self::Central(Central::Conservative),
        Self::Central(Central::Greedy),
        Self::Asap,
        Self::Criteria,
        Self::Aria,
        Self::Desktop,
        Self::Random,
        Self::Flood,
    ];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Central(central) => central.name(),
            Self::Asap => "asap",
            Self::Criteria => "criteria",
            Self::Aria => "aria",
            Self::Desktop => "desktop",
            Self::Random => "random",
            Self::Flood => "flood",
        }
    }

    /// The scheduler of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|scheduler| scheduler.name() == name)
    }

    /// Whether it can start a job on several nodes at once.
    pub const fn places_gangs(self) -> bool {
        match self {
            Self::Central(_) | Self::Asap | Self::Criteria | Self::Flood => true,
            Self::Aria | Self::Desktop | Self::Random => false,
        }
    }

    /// Whether it can use nodes that differ.
    pub const fn places_requirements(self) -> bool {
        matches!(
            self,
            Self::Central(Central::Greedy) | Self::Aria | Self::Desktop
        )
    }
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::Central(Central::Easy)
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Scheduler> for String {
    fn from(scheduler: Scheduler) -> Self {
        scheduler.name().into()
    }
}

/// There is no such scheduler.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no scheduler '{0}'; choose one of {names}", names = Scheduler::ALL.map(Scheduler::name).join(", "))]
pub struct UnknownScheduler(String);

impl TryFrom<String> for Scheduler {
    type Error = UnknownScheduler;
    fn try_from(name: String) -> Result<Self, UnknownScheduler> {
        Self::named(&name).ok_or_else(|| UnknownScheduler(name.chars().take(40).collect()))
    }
}

impl std::str::FromStr for Scheduler {
    type Err = UnknownScheduler;
    fn from_str(name: &str) -> Result<Self, UnknownScheduler> {
        name.to_owned().try_into()
    }
}

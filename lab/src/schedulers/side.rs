//! What the lab knows of each scheduler.

use gridweave_sim::monitor::Monitor;

use super::list::schedulers;
use super::name::Scheduler;
use crate::experiment::error::InputError;
use crate::experiment::prepare::Prepared;
use crate::run::Run;
use crate::torture::host::Play;

/// What the lab knows of a scheduler.
pub trait Side: Sync {
    /// Whether one node knows everything, and nothing is sent.
    fn is_central(&self) -> bool {
        false
    }

    /// Whether it can start a job on several nodes at once.
    fn places_gangs(&self) -> bool;

    /// Whether it can use nodes that differ.
    fn places_requirements(&self) -> bool {
        false
    }

    /// Refuses what it cannot schedule, or how it cannot be configured.
    fn check(&self, prepared: &Prepared) -> Result<(), InputError>;

    /// Schedules the jobs.
    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<Run, InputError>;

    /// How it is tortured, if it can be.
    fn tortured(&self) -> Option<Play> {
        None
    }
}

macro_rules! sides {
    ($($(#[doc = $doc:literal])+ $scheduler:ident = $name:literal: $folder:ident::$($side:ident)::+,)*) => {
        impl Scheduler {
            /// What the lab knows of it.
            pub fn side(self) -> &'static dyn Side {
                match self {
                    $(Self::$scheduler => &super::$folder::$($side)::+,)*
                }
            }
        }
    };
}

schedulers!(sides);

impl Scheduler {
    /// Those that can be tortured.
    pub fn tortured() -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|scheduler| scheduler.side().tortured().is_some())
    }
}

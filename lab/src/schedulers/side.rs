//! What the lab knows of each scheduler.

use gridweave_sim::monitor::Monitor;

use super::list::schedulers;
use super::name::Scheduler;
use crate::experiment::error::InputError;
use crate::experiment::prepare::Prepared;
use crate::run::Run;
use crate::torture::host::Play;

/// What the lab needs of a scheduler: how to check, simulate and torture it.
pub trait Side: Sync {
    /// Whether it is centralised: it knows everything, and sends nothing.
    fn is_central(&self) -> bool {
        false
    }

    /// Whether it is compared with others if the user names none.
    fn is_compared(&self) -> bool {
        true
    }

    /// Whether it can start a job on several nodes at once.
    fn places_gangs(&self) -> bool;

    /// Whether it can place jobs on nodes that differ.
    fn places_requirements(&self) -> bool {
        false
    }

    /// Whether it passes over whole nodes that lack what a job requires or do not admit it.
    fn places_by_kind(&self) -> bool {
        false
    }

    /// Refuses a configuration or a grid that it cannot use.
    fn check(&self, prepared: &Prepared) -> Result<(), InputError>;

    /// Simulates the workload under this scheduler.
    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<Run, InputError>;

    /// How it is tortured; `None` if it cannot be.
    fn tortured(&self) -> Option<Play> {
        None
    }
}

macro_rules! sides {
    ($($(#[doc = $doc:literal])+ $scheduler:ident = $name:literal: $folder:ident::$($side:ident)::+,)*) => {
        impl Scheduler {
            /// What the lab needs of this scheduler.
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
    /// The schedulers that can be tortured.
    pub fn tortured() -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|scheduler| scheduler.side().tortured().is_some())
    }
}

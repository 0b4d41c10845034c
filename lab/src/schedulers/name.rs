//! The schedulers by name.

use std::fmt;

use toml::Value;

use super::list::schedulers;
use crate::config::setting::{Setting, Wrong};

macro_rules! names {
    ($($(#[doc = $doc:literal])+ $scheduler:ident = $name:literal: $folder:ident::$($side:ident)::+,)*) => {
        /// A scheduler, by name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Scheduler {
            $($(#[doc = $doc])+ $scheduler,)*
        }

        impl Scheduler {
            /// All of them, in the order of tables.
            pub const ALL: &[Self] = &[$(Self::$scheduler,)*];

            /// Its name on the command line, in configurations and in results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$scheduler => $name,)*
                }
            }
        }
    };
}

schedulers!(names);

impl Scheduler {
    /// The scheduler of this name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|scheduler| scheduler.name() == name).copied()
    }
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::CentralEasy
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such scheduler.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no scheduler '{0}'; choose one of {names}", names = names().join(", "))]
pub struct UnknownScheduler(String);

fn names() -> Vec<&'static str> {
    Scheduler::ALL.iter().map(|it| it.name()).collect()
}

impl std::str::FromStr for Scheduler {
    type Err = UnknownScheduler;
    fn from_str(name: &str) -> Result<Self, UnknownScheduler> {
        let unknown = || UnknownScheduler(name.chars().take(40).collect());
        Self::named(name).ok_or_else(unknown)
    }
}

impl Setting for Scheduler {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let name = String::read(value)?;
        name.parse()
            .map_err(|error: UnknownScheduler| Wrong::new(error.to_string()))
    }

    fn write(&self) -> Option<Value> {
        Some(self.name().into())
    }
}

//! The trait of a scheduler's table in a configuration.

use std::path::{Path, PathBuf};

use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::setting::Setting;

/// The table of a scheduler in a configuration.
pub(crate) trait Section: Setting {
    /// Refuses settings that are wrong in any case.
    fn checked(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// The time between two joins before the first job comes, if nodes join one by one.
    fn joins_every(&self) -> Option<Span> {
        None
    }

    /// The file that the table names, if any.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The same, mutable.
    fn file_mut(&mut self) -> Option<&mut PathBuf> {
        None
    }
}

/// Refuses a number that is zero, or above what there is room for.
pub(super) fn check_room(key: &str, number: u8, room: usize) -> Result<(), ConfigError> {
    match (1..=room).contains(&usize::from(number)) {
        true => Ok(()),
        false => Err(ConfigError::from(format!(
            "{key} is {number}; give a number from 1 to {room}"
        ))),
    }
}

/// The most rounds of warm-up of an overlay.
const MOST_ROUNDS: u32 = 10_000;

/// Refuses a longer warm-up than any overlay needs.
pub(super) fn check_warm_up(scheduler: &str, rounds: u32) -> Result<(), ConfigError> {
    match rounds > MOST_ROUNDS {
        true => Err(ConfigError::from(format!(
            "{scheduler}.warm_up is above {MOST_ROUNDS}; an overlay has settled long before"
        ))),
        false => Ok(()),
    }
}

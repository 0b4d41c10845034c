//! What the table of a scheduler in a configuration can do.

use std::path::{Path, PathBuf};

use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::setting::Setting;

/// What the table of a scheduler in a configuration can do.
pub(crate) trait Section: Setting {
    /// Refuses what can be seen to be wrong.
    fn checked(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// How long after each other nodes join before the first job comes, if they do.
    fn joins_every(&self) -> Option<Span> {
        None
    }

    /// The file that it names, if any.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The same, to be changed.
    fn file_mut(&mut self) -> Option<&mut PathBuf> {
        None
    }
}

/// The most rounds of an overlay before the first job comes.
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

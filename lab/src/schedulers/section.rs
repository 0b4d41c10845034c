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

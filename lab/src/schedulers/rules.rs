//! The tables of all schedulers in a configuration.

use std::path::{Path, PathBuf};

use gridweave_core::time::Span;
use toml::{Table, Value};

use super::list::configured;
use super::name::Scheduler;
use super::section::Section;
use crate::config::error::ConfigError;
use crate::config::setting::{self, Setting, Wrong};

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $key:ident: $type:ident,)*) => {
        /// How each scheduler schedules.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct Rules {
            $($(#[doc = $doc])+ pub $key: super::$key::config::$type,)*
        }

        impl Rules {
            /// The names of their tables.
            pub(crate) const KEYS: &[&str] = &[$(stringify!($key),)*];

            /// Reads the table of this name, if it belongs to a scheduler.
            pub(crate) fn read(&mut self, key: &str, value: &Value) -> Option<Result<(), Wrong>> {
                match key {
                    $(stringify!($key) => Some(Setting::read(value).map(|it| self.$key = it)),)*
                    _ => None,
                }
            }

            /// The time between two joins before the first job comes, if nodes of this scheduler join one by one.
            pub(crate) fn joins_every(&self, scheduler: Scheduler) -> Option<Span> {
                match scheduler.name() {
                    $(stringify!($key) => Section::joins_every(&self.$key),)*
                    _ => None,
                }
            }

            /// Writes each table.
            pub(crate) fn write(&self, table: &mut Table) {
                $(setting::put(table, stringify!($key), self.$key.write());)*
            }

            /// Refuses settings that are wrong in any case.
            pub(crate) fn checked(&self) -> Result<(), ConfigError> {
                $(Section::checked(&self.$key)?;)*
                Ok(())
            }

            /// The files that the tables name.
            pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
                [$(Section::file(&self.$key),)*].into_iter().flatten()
            }

            /// Changes the names of these files.
            pub(crate) fn files_mut(&mut self, change: impl Fn(&mut PathBuf)) {
                $(self.$key.file_mut().map(&change);)*
            }
        }
    };
}

configured!(rules);

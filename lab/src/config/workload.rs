//! Which jobs, and what is made of them.

use gridweave_core::time::Span;
use std::path::PathBuf;

use super::setting::{section, words};
use crate::outcome::Estimates;
use crate::workload::generate::{Aria, Desktop, Grid5000Like};

section! {
    /// Which jobs, and what is made of them.
    ///
    /// Transforms apply in the order of [`Transform`](crate::workload::Transform), whatever the order in the file.
    #[derive(Clone, PartialEq, Debug)]
    pub struct WorkloadConfig {
        /// Where they come from.
        pub source: Source,
        /// The file, if they come from one.
        pub trace: Option<PathBuf>,
        /// A digest of the file's bytes; a run refuses a file with another one.
        pub trace_digest: Option<String>,
        /// What schedulers are told about run times.
        pub estimates: Estimates,
        /// Whether parallel jobs stay whole.
        pub shape: Shape,
        /// Only jobs submitted from then on.
        pub from: Option<Span>,
        /// Only jobs submitted before.
        pub until: Option<Span>,
        /// Only so many jobs, from the first.
        pub first: Option<usize>,
        /// Jobs that need more nodes are left out.
        pub max_nodes: Option<u32>,
        /// Submit times become so many times as long.
        pub stretch: Option<f64>,
        /// Submit times are scaled so that run times make this load (PROTOCOLS D19).
        pub load: Option<f64>,
        /// Times of submission, run times and requested times are rounded up to multiples of this (PROTOCOLS D5).
        pub slot: Option<Span>,
        /// P3's jobs and nodes.
        pub aria: Aria,
        /// P4's jobs and nodes.
        pub desktop: Desktop,
        /// Jobs like those P1 describes.
        pub grid5000_like: Grid5000Like,
    }
}

words! {
    /// Where jobs come from.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Source {
        /// A week of UniLu Gaia, which is part of the program.
        #[default]
        Bundled = "bundled",
        /// A file.
        Trace = "trace",
        /// Made up after P3.
        Aria = "aria",
        /// Made up after P4.
        Desktop = "desktop",
        /// Made up to fit what P1 says of its trace.
        Grid5000Like = "grid5000-like",
    }
}

impl Source {
    /// The names of all that need no file.
    pub const NAMES: [&'static str; 4] = ["bundled", "aria", "desktop", "grid5000-like"];

    /// All that are made up.
    pub const GENERATORS: [Self; 3] = [Self::Aria, Self::Desktop, Self::Grid5000Like];

    /// The key of its parameters in a configuration, if it has any.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Trace => "trace",
            Self::Aria => "aria",
            Self::Desktop => "desktop",
            Self::Grid5000Like => "grid5000_like",
        }
    }

    /// Whether the seed decides which jobs there are.
    pub fn is_generated(self) -> bool {
        Self::GENERATORS.contains(&self)
    }
}

words! {
    /// Whether parallel jobs stay whole.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Shape {
        /// They start on all their nodes at once.
        #[default]
        Gangs = "gangs",
        /// Each becomes as many serial jobs.
        Serial = "serial",
    }
}

impl WorkloadConfig {
    pub(super) fn checked(&self) -> Result<(), String> {
        if self.source == Source::Trace && self.trace.is_none() {
            return Err("workload.source is 'trace' without a file; set workload.trace".into());
        }
        if self.source != Source::Trace && self.trace.is_some() {
            return Err(
                "workload.trace is set but workload.source is not 'trace'; drop one of them".into(),
            );
        }
        if self
            .trace
            .as_ref()
            .is_some_and(|file| file.as_os_str().is_empty())
        {
            return Err("workload.trace is empty; name a file".into());
        }
        if self.max_nodes == Some(0) {
            return Err("workload.max_nodes is 0, which leaves no job; give at least 1".into());
        }
        if self.first == Some(0) {
            return Err("workload.first is 0, which leaves no job; give at least 1".into());
        }
        if self
            .load
            .is_some_and(|load| !(load > 0.0 && load.is_finite()))
        {
            return Err("workload.load must be above 0, such as 0.95".into());
        }
        if self
            .stretch
            .is_some_and(|factor| !(factor > 0.0 && factor.is_finite()))
        {
            return Err("workload.stretch must be above 0, such as 0.3".into());
        }
        if self.slot.is_some_and(Span::is_zero) {
            return Err("workload.slot is 0s; give the length of a slot, such as 60s".into());
        }
        if let (Some(from), Some(until)) = (self.from, self.until)
            && until <= from
        {
            return Err(
                "workload.until is not after workload.from, so no job is in between".into(),
            );
        }
        Ok(())
    }
}

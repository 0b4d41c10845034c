//! The workload, as a part of a configuration.

use gridweave_core::time::Span;
use std::path::PathBuf;

use super::RequiresConfig;
use super::setting::{section, words};
use crate::outcome::Estimates;
use crate::workload::generate::{Aria, Desktop, Grid5000Like};

section! {
    /// The jobs of a run, and how they are transformed.
    ///
    /// Transforms apply in the order of [`Transform`](crate::workload::Transform), whatever the order in the file.
    #[derive(Clone, PartialEq, Debug)]
    pub struct WorkloadConfig {
        /// Where the jobs come from.
        pub source: Source,
        /// The file, if the jobs come from one.
        pub trace: Option<PathBuf>,
        /// The digest of the file. A run refuses a file with another digest.
        pub trace_digest: Option<String>,
        /// What schedulers are told about run times.
        pub estimates: Estimates,
        /// Whether a job of several nodes stays whole.
        pub shape: Shape,
        /// Jobs submitted before this are left out.
        pub from: Option<Span>,
        /// Jobs submitted at or after this are left out.
        pub until: Option<Span>,
        /// Only the first so many jobs are kept.
        pub first: Option<usize>,
        /// Jobs that need more nodes than this are left out.
        pub max_nodes: Option<u32>,
        /// Times of submission are multiplied by this.
        pub stretch: Option<f64>,
        /// Times of submission are scaled so that the run times make this load (PROTOCOLS D19).
        pub load: Option<f64>,
        /// Run times and requested times are rounded up to multiples of this (PROTOCOLS D5).
        pub slot: Option<Span>,
        /// Into how many organisations the groups of users are put, by their numbers: they are called 1, 2 and so on. If
        /// left out, each group is an organisation.
        pub organisations: Option<u32>,
        /// What jobs require of the kinds of nodes in `grid`. The other jobs require the memory that a trace says they
        /// requested, if kinds have memory.
        pub requires: Vec<RequiresConfig>,
        /// The parameters of P3's jobs and nodes.
        pub aria: Aria,
        /// The parameters of P4's jobs and nodes.
        pub desktop: Desktop,
        /// The parameters of jobs like those that P1 describes.
        pub grid5000_like: Grid5000Like,
    }
}

words! {
    /// Where jobs come from.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Source {
        /// A week of the UniLu Gaia trace, which is part of the program.
        #[default]
        Bundled = "bundled",
        /// A trace in a file.
        Trace = "trace",
        /// Generated, with the parameters of P3.
        Aria = "aria",
        /// Generated, with the parameters of P4.
        Desktop = "desktop",
        /// Generated to fit what P1 says of its trace.
        Grid5000Like = "grid5000-like",
    }
}

impl Source {
    /// The names of all sources that need no file.
    pub const NAMES: [&'static str; 4] = ["bundled", "aria", "desktop", "grid5000-like"];

    /// All sources that are generated.
    pub const GENERATORS: [Self; 3] = [Self::Aria, Self::Desktop, Self::Grid5000Like];

    /// The key of its table under `workload`, if it has one.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Trace => "trace",
            Self::Aria => "aria",
            Self::Desktop => "desktop",
            Self::Grid5000Like => "grid5000_like",
        }
    }

    /// Whether the jobs are generated, so that they depend on the seed.
    pub fn is_generated(self) -> bool {
        Self::GENERATORS.contains(&self)
    }
}

words! {
    /// Whether a job of several nodes stays whole.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Shape {
        /// It starts on all its nodes at once.
        #[default]
        Gangs = "gangs",
        /// It becomes as many serial jobs as it has nodes.
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
        if self.organisations == Some(0) {
            return Err("workload.organisations is 0; give at least 1, or leave it out".into());
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
                "workload.until is not after workload.from, so no job is in between; give a later one".into(),
            );
        }
        Ok(())
    }
}

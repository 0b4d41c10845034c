//! The results of a run: numbers, tables and files.
//!
//! [`Summary`] has the numbers of `summary.json`, [`series`] the rows of `series.csv`, and [`write_jobs`] writes
//! `jobs.csv`. A [`Draft`] is a folder that appears whole or not at all.
//!
//! ```
//! use gridweave_lab::results::{Distribution, Estimate};
//!
//! // The waits of some jobs.
//! let waits = Distribution::of(vec![0.0, 10.0, 20.0, 90.0]).unwrap();
//! assert_eq!((waits.mean, waits.median, waits.max), (30.0, 10.0, 90.0));
//! // The mean waits of three runs.
//! let estimate = Estimate::of(&[29.0, 30.0, 31.0]);
//! assert_eq!(estimate.mean, 30.0);
//! assert!((2.4..2.5).contains(&estimate.ci95));
//! ```

mod allocation;
mod cost;
mod folder;
mod jobs;
mod organisations;
mod ours;
mod series;
mod statistics;
mod summary;
#[cfg(test)]
mod tests;

pub use allocation::{NodeSet, allocations};
pub use cost::{Cost, Meter};
pub use folder::{
    Draft, DraftFile, FolderError, FolderProblem, NewFolders, draft_in, is_draft, remove_abandoned,
};
pub use jobs::{FinalState, JobRow, write_jobs};
pub use organisations::Organisation;
pub use ours::is_config;
pub use series::{MOST_ROWS, Row, series};
pub use statistics::{Distribution, Estimate};
pub use summary::{Deadlines, Jobs, Kind, Messages, Summary, Utilization};

use std::io;

use gridweave_core::time::Span;

use crate::grid::Grid;
use crate::outcome::Estimates;
use crate::workload::{WorkUnit, Workload};

/// What the summary needs to know of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The name of the scheduler.
    pub scheduler: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The jobs.
    pub workload: &'a Workload,
    /// How many jobs of the source are not in the workload.
    pub skipped: u64,
    /// The nodes.
    pub grid: &'a Grid,
    /// How many nodes join that are not in `grid`; only for uniform grids.
    pub joining: u64,
    /// How estimates were made from run times.
    pub estimates: Estimates,
}

impl Facts<'_> {
    /// How many nodes there are in all, later joiners included.
    pub fn nodes(&self) -> u64 {
        self.grid.len() as u64 + self.joining
    }

    /// How many units of work all nodes do at once.
    pub fn capacity(&self) -> u64 {
        self.grid.capacity() + self.joining
    }

    /// What a unit of work is.
    pub fn unit(&self) -> WorkUnit {
        match self.grid {
            Grid::Uniform(_) => WorkUnit::Processor,
            Grid::Mixed(mixed) => mixed.shares().map_or(WorkUnit::Place, WorkUnit::Share),
        }
    }

    /// How many units a job takes.
    pub fn weight(&self, job: usize) -> u32 {
        self.workload.units(job, self.unit())
    }

    /// How long a job runs on a node of baseline speed, without interruption.
    pub fn run_time(&self, job: usize) -> Span {
        let job = &self.workload.jobs[job];
        self.estimates
            .apply(job.run_time, job.requested_time)
            .actual
    }
}

/// Writes a value as readable JSON, with a line break at its end.
pub fn write_json(value: &impl serde::Serialize, mut to: impl io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut to, value)?;
    to.write_all(b"\n")
}

//! Jobs to replay: read from a trace or generated.
//!
//! A [`Workload`] is a list of [`Submission`]s in the order in which they came. It comes from a file ([`read`]), from the
//! week that is built in ([`bundled`]) or from a generator ([`generate`]); a [`Transform`] cuts, scales and compresses it,
//! [`write()`] turns it into a file again, and [`Info`] says what is in it.
//!
//! Traces are in the Standard Workload Format (SWF), the Grid Workload Format (GWF) or opendc's comma-separated flavour of
//! the latter (PROTOCOLS section 8), plain or compressed with gzip. What a file is, is found out from its content, never
//! from its name. Records that cannot be replayed are left out and counted ([`Skipped`]); those that are merely odd are
//! taken and counted ([`Oddities`]); what is no trace at all is refused with a [`ReadError`]. How a job ended is not looked
//! at: one that failed or was cancelled took its processors for as long as it ran.
//!
//! ```
//! use gridweave_core::time::{Span, Time};
//! use gridweave_lab::workload::{Origin, read_from};
//!
//! let text = "; MaxProcs: 100\n\
//!     7 1000 -1 60 4 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n\
//!     8 1010 -1  0 4 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n";
//! let trace = read_from("two lines", text.as_bytes(), Origin::FirstJob)?;
//!
//! let job = trace.workload.jobs[0];
//! assert_eq!((job.number, job.at, job.run_time), (7, Time::ZERO, Span::from_secs(60)));
//! assert_eq!(job.processors, 4, "nothing requested, so what was allocated");
//! assert_eq!(trace.skipped.total(), 1, "a job that ran for no time");
//! assert_eq!(trace.header.max_procs(), Some(100));
//! # Ok::<(), gridweave_lab::workload::ReadError>(())
//! ```

mod field;
pub mod generate;
mod gwf;
mod header;
mod info;
mod line;
mod load;
mod numbering;
mod reader;
mod record;
mod skipped;
mod swf;
mod transform;
mod write;

pub use header::Header;
pub use info::{Info, LoadInfo, Summary};
pub use line::LONGEST_LINE;
pub use load::{Load, WorkUnit};
pub use reader::{
    Format, MOST_READ, Origin, ReadError, Trace, bundled, read, read_from, read_with_digest,
};
pub use record::{LONGEST, Oddities};
pub use skipped::{Reason, Skipped, SkippedLine};
pub use transform::{
    AboveCap, Cap, MOST_JOBS, Parallel, TargetLoad, Transform, TransformError, Transformed, Window,
};
pub use write::{Kept, write};

use gridweave_core::resource::{Dimension, Requirement};
use gridweave_core::time::{Span, Time};

/// A job as a trace or a generator has it: when it came, what it asked for, and how long it really ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submission {
    /// Its number in the trace. Traces may use a number twice; a job's position in the workload is unique.
    pub number: u64,
    /// When it was submitted.
    pub at: Time,
    /// How long it runs on a node of baseline speed; never zero.
    pub run_time: Span,
    /// How long its user said it would run; never zero.
    pub requested_time: Option<Span>,
    /// How many processors, or whole nodes, it needs at once; never zero.
    pub processors: u32,
    /// Who submitted it; zero if that is not known.
    pub user: u32,
    /// On whose behalf; zero if that is not known.
    pub group: u32,
    /// Where it was submitted, if the trace tells.
    pub site: Option<u32>,
}

impl Submission {
    /// A job of which no more is known than this.
    pub const fn new(number: u64, at: Time, run_time: Span, processors: u32) -> Self {
        Self {
            number,
            at,
            run_time,
            requested_time: None,
            processors,
            user: 0,
            group: 0,
            site: None,
        }
    }
}

/// Jobs in the order of submission, with what else is known about them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workload {
    /// What it is called in output files.
    pub name: String,
    /// Sorted by time of submission; jobs of one instant are in the order of their source.
    pub jobs: Vec<Submission>,
    /// What each job needs of its node: one per job, or none at all if jobs do not care.
    pub requirements: Vec<Requirement>,
    /// When each job should be done: one per job, or none at all.
    pub deadlines: Vec<Time>,
}

impl Workload {
    /// Makes each job one that takes as many slots of one site as it took nodes.
    pub(crate) fn put_into_sites(&mut self, slots: Dimension) {
        if self.requirements.is_empty() {
            for job in &mut self.jobs {
                let taken = Requirement::any().with(slots, u64::from(job.processors));
                self.requirements.push(taken);
                job.processors = 1;
            }
        }
    }

    /// What the job at this position needs of its node.
    pub fn requirement(&self, position: usize) -> Requirement {
        let known = self.requirements.get(position).copied();
        known.unwrap_or_else(Requirement::any)
    }

    /// When the job at this position should be done, if it has a deadline.
    pub fn deadline(&self, position: usize) -> Option<Time> {
        self.deadlines.get(position).copied()
    }

    /// How long it is from the first submission to the last.
    pub fn span(&self) -> Span {
        match (self.jobs.first(), self.jobs.last()) {
            (Some(first), Some(last)) => last.at - first.at,
            _ => Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;

//! Jobs to replay: read from a trace or generated.
//!
//! A [`Workload`] is a list of [`Submission`]s in the order of time. It comes from a file ([`read`]), from the built-in
//! week ([`bundled`]), from a generator ([`generate`]) or from the caller ([`Workload::given`]). A [`Transform`] cuts, scales and compresses it, [`write()`]
//! writes it to a file, and [`Info`] has its statistics.
//!
//! Traces are in the Standard Workload Format (SWF), the Grid Workload Format (GWF) or opendc's comma-separated variant
//! of it (PROTOCOLS section 8), plain or compressed with gzip. The format is detected from the content, never from the
//! name. Records that cannot be replayed are left out and counted ([`Skipped`]). Unusual records are taken and counted
//! ([`Oddities`]). A file that is no trace is refused with a [`ReadError`]. How a job ended does not matter: also a
//! failed or cancelled job used its processors for as long as it ran.
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
mod given;
mod gwf;
mod header;
mod info;
mod line;
mod load;
mod numbering;
mod peaks;
mod reader;
mod record;
mod skipped;
mod swf;
mod transform;
mod write;

pub use given::GivenError;
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

/// A job of a trace or a generator: when it was submitted, what it needs, and how long it really ran.
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
    /// The user that submitted it; zero if not known.
    pub user: u32,
    /// The group of the user; zero if not known.
    pub group: u32,
    /// The site at which it was submitted, if the trace says so.
    pub site: Option<u32>,
    /// How much memory its user requested for each processor, or each node if these are whole nodes, in KiB.
    pub memory: Option<u64>,
}

impl Submission {
    /// A job with no further properties.
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
            memory: None,
        }
    }
}

/// Jobs in the order of submission, with their requirements and deadlines.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Workload {
    /// Its name in output files.
    pub name: String,
    /// Sorted by time of submission; jobs of one instant are in the order of the source.
    pub jobs: Vec<Submission>,
    /// What each job requires of its node: one per job, or empty if no job requires anything.
    pub requirements: Vec<Requirement>,
    /// When each job should be done: one per job, or empty.
    pub deadlines: Vec<Time>,
}

impl Workload {
    /// Turns each job into one that takes as many slots of one site as it needed nodes.
    pub(crate) fn put_into_sites(&mut self, slots: Dimension) {
        if self.requirements.is_empty() {
            for job in &mut self.jobs {
                let taken = Requirement::any().with(slots, u64::from(job.processors));
                self.requirements.push(taken);
                job.processors = 1;
            }
        }
    }

    /// What the job with this index requires of its node.
    pub fn requirement(&self, position: usize) -> Requirement {
        let known = self.requirements.get(position).copied();
        known.unwrap_or_else(Requirement::any)
    }

    /// The deadline of the job with this index, if it has one.
    pub fn deadline(&self, position: usize) -> Option<Time> {
        self.deadlines.get(position).copied()
    }

    /// The time from the first submission to the last.
    pub fn span(&self) -> Span {
        match (self.jobs.first(), self.jobs.last()) {
            (Some(first), Some(last)) => last.at - first.at,
            _ => Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;

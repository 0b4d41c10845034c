//! Writes a workload as a trace.

use std::io::{self, BufWriter, Write};

use gridweave_core::time::{Span, Time};

use super::{Header, Submission, Trace, Transform, Workload};

/// What the header of the file says, beside what the jobs show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept<'a> {
    /// The header of the source; its origin, acknowledgements, notes and partitions are copied.
    pub header: Option<&'a Header>,
    /// Time zero, in seconds since 1970.
    pub unix_start: Option<u64>,
    /// How many processors there were.
    pub max_procs: Option<u32>,
}

/// The entries that stay true when jobs are cut and scaled. Sizes and dates do not.
const COPIED: [&str; 9] = [
    "Computer",
    "Installation",
    "Acknowledge",
    "Information",
    "Conversion",
    "TimeZoneString",
    "MaxPartitions",
    "Partition",
    "Note",
];

/// Writes a workload in SWF, so that reading it from [`Origin::Source`](super::Origin::Source) gives the same jobs.
///
/// Times that are not whole seconds have decimals, which this crate reads exactly and most others tolerate. SWF has no
/// column for requirements and deadlines; the header says so if there are any.
pub fn write(workload: &Workload, kept: &Kept<'_>, to: impl Write) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    write_header(workload, kept, &mut to)?;
    for job in &workload.jobs {
        write_job(job, &mut to)?;
    }
    to.flush()
}

fn write_header(workload: &Workload, kept: &Kept<'_>, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "; Version: 2.2")?;
    let entries = kept.header.into_iter().flat_map(Header::entries);
    for (key, value) in entries.filter(|(key, _)| COPIED.contains(key)) {
        writeln!(to, "; {key}: {value}")?;
    }
    let name = workload.name.replace(char::is_control, "?");
    writeln!(to, "; Note: {name}, as written by gridweave")?;
    if !(workload.requirements.is_empty() && workload.deadlines.is_empty()) {
        writeln!(to, "; Note: requirements and deadlines are left out")?;
    }
    let jobs = workload.jobs.len();
    writeln!(to, "; MaxJobs: {jobs}\n; MaxRecords: {jobs}")?;
    if let Some(start) = kept.unix_start {
        writeln!(to, "; UnixStartTime: {start}")?;
    }
    if let Some(procs) = kept.max_procs {
        writeln!(to, "; MaxProcs: {procs}")?;
    }
    writeln!(to, ";")
}

fn write_job(job: &Submission, to: &mut impl Write) -> io::Result<()> {
    write!(to, "{} ", job.number)?;
    write_seconds(job.at - Time::ZERO, to)?;
    write!(to, " -1 ")?;
    write_seconds(job.run_time, to)?;
    write!(to, " {0} -1 -1 {0} ", job.processors)?;
    match job.requested_time {
        Some(requested) => write_seconds(requested, to)?,
        None => write!(to, "-1")?,
    }
    match job.memory {
        Some(memory) => write!(to, " {memory}")?,
        None => write!(to, " -1")?,
    }
    write!(to, " 1 {} {} -1 -1 ", job.user, job.group)?;
    match job.site {
        Some(site) => write!(to, "{site}")?,
        None => write!(to, "-1")?,
    }
    writeln!(to, " -1 -1")
}

fn write_seconds(span: Span, to: &mut impl Write) -> io::Result<()> {
    write!(to, "{}", span.as_secs())?;
    match span.as_micros() % 1_000_000 {
        0 => Ok(()),
        part => write!(to, ".{part:06}"),
    }
}

impl Trace {
    /// The header for this trace after these changes.
    pub fn kept_after(&self, transform: &Transform) -> Kept<'_> {
        let moved = transform.window.map_or(Span::ZERO, |window| window.from);
        let start = self.unix_start();
        let start = start.map(|start| start.saturating_add(moved.as_secs()));
        let procs = self.header.max_procs();
        let scaled = transform.load.is_some() || transform.stretch.is_some();
        Kept {
            header: Some(&self.header),
            // Scaled times are no dates any more.
            unix_start: start.filter(|_| !scaled),
            max_procs: match transform.cores_per_node {
                Some(cores) => procs.map(|procs| procs.div_ceil(cores.get())),
                None => procs,
            },
        }
    }
}

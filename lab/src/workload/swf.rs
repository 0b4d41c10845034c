//! The Standard Workload Format: 18 blank-separated columns, comments after `;`, -1 for unknown (PROTOCOLS section 8).

use super::Submission;
use super::field::Columns;
use super::record::{Oddities, Provenance, Record, identity};
use super::skipped::Reason;

/// How many columns the format has.
pub(super) const COLUMNS: usize = 18;

/// A record needs at least number, submit time, wait time, run time and allocated processors.
pub(super) const NEEDED: usize = 5;

/// The job on this line.
pub(super) fn parse(line: &[u8], oddities: &mut Oddities) -> Result<Submission, Reason> {
    let columns = Columns::blank_separated(line);
    if columns.count() < NEEDED {
        return Err(Reason::TooFewColumns);
    }
    let provenance = Provenance {
        user: identity(columns.column(12)).unwrap_or(0),
        group: identity(columns.column(13)).unwrap_or(0),
        site: identity(columns.column(16)),
    };
    let job = record(&columns).to_submission(&provenance, oddities)?;
    oddities.short += u64::from(columns.count() < COLUMNS);
    let part = matches!(columns.column(11), b"2" | b"3" | b"4");
    oddities.parts += u64::from(part);
    Ok(job)
}

/// The columns that are at the same positions in SWF and GWF.
pub(super) fn record<'a>(columns: &Columns<'a>) -> Record<'a> {
    Record {
        number: columns.column(1),
        submit: columns.column(2),
        run_time: columns.column(4),
        allocated: columns.column(5),
        requested: columns.column(8),
        requested_time: columns.column(9),
        requested_memory: columns.column(10),
    }
}

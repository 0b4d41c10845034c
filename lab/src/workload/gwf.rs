//! The Grid Workload Format: 29 columns separated by tabs or blanks, comments after `#`, -1 for unknown, text from
//! column 12 on. Also opendc's workflow format, which has the same name but named, comma-separated columns (PROTOCOLS
//! section 8).

use super::Submission;
use super::field::{Columns, Decimal};
use super::numbering::Numbering;
use super::record::{Oddities, Provenance, Record};
use super::skipped::Reason;
use super::swf;

/// Alea's files end after this column, so a file with fewer is not in this format.
pub(super) const LEAST_COLUMNS: usize = 21;

/// Reads records of the Grid Workload Format, numbering users, groups and sites as they appear.
#[derive(Default)]
pub(super) struct Gwf {
    users: Numbering,
    groups: Numbering,
    sites: Numbering,
}

impl Gwf {
    /// The job on this line.
    pub(super) fn parse(
        &mut self,
        line: &[u8],
        oddities: &mut Oddities,
    ) -> Result<Submission, Reason> {
        let columns = Columns::blank_separated(line);
        if columns.count() < swf::NEEDED {
            return Err(Reason::TooFewColumns);
        }
        let record = swf::record(&columns);
        // A job that never got processors never ran, whatever it requested (PROTOCOLS section 8).
        if Decimal::parse(record.allocated).is_some_and(Decimal::is_negative) {
            return Err(Reason::NoProcessors);
        }
        // Zero is "unknown", so the first name is 1; names of skipped records are not numbered.
        let job = record.to_submission(&Provenance::NOBODY, oddities)?;
        oddities.short += u64::from(columns.count() < LEAST_COLUMNS);
        let number = |names: &mut Numbering, column| {
            let number = names.number(columns.column(column));
            number.map_or(0, |number| number.saturating_add(1))
        };
        Ok(Submission {
            user: number(&mut self.users, 12),
            group: number(&mut self.groups, 13),
            site: self.sites.number(columns.column(17)),
            ..job
        })
    }
}

/// The positions of the columns in opendc's format.
#[derive(Clone, Copy)]
pub(super) struct Named {
    number: usize,
    submit: usize,
    run_time: usize,
    allocated: usize,
    /// Zero, which is no position, if the file has no such column.
    requested: usize,
}

impl Named {
    /// The positions of the columns, if this line names them.
    pub(super) fn in_header(line: &[u8]) -> Option<Self> {
        let columns = Columns::comma_separated(line);
        Some(Self {
            number: columns.named("JobID")?,
            submit: columns.named("SubmitTime")?,
            run_time: columns.named("RunTime")?,
            allocated: columns.named("NProcs")?,
            requested: columns.named("ReqNProcs").unwrap_or(0),
        })
    }

    /// The job on this line.
    pub(super) fn parse(self, line: &[u8], oddities: &mut Oddities) -> Result<Submission, Reason> {
        let columns = Columns::comma_separated(line);
        let needed = [self.number, self.submit, self.run_time, self.allocated];
        if needed.iter().any(|&column| column > columns.count()) {
            return Err(Reason::TooFewColumns);
        }
        let record = Record {
            number: columns.column(self.number),
            submit: columns.column(self.submit),
            run_time: columns.column(self.run_time),
            allocated: columns.column(self.allocated),
            requested: columns.column(self.requested),
            requested_time: &[],
            requested_memory: &[],
        };
        record.to_submission(&Provenance::NOBODY, oddities)
    }
}

//! Turns a record of any format into a job.

use gridweave_core::time::{Span, Time};
use serde::Serialize;

use super::Submission;
use super::field::Decimal;
use super::skipped::Reason;

/// The latest submit time that is accepted. Traces count seconds from their beginning or from 1970.
const LATEST: Span = Span::from_secs(100_000_000_000);

/// The longest run time that is accepted. Nodes gossip while a job runs, so a typo in one row would cost hours.
pub const LONGEST: Span = Span::from_secs(365 * 86_400);

/// How many records were taken although something about them is unusual.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Oddities {
    /// Submitted before the record above; sorted into its place.
    pub out_of_order: u64,
    /// Without requested processors; the allocated ones are used.
    pub processors_as_allocated: u64,
    /// Without a requested time.
    pub without_requested_time: u64,
    /// Longer than the requested time.
    pub above_requested_time: u64,
    /// With fewer columns than the format has; missing ones count as unknown.
    pub short: u64,
    /// Marked as part of a job that was stopped and continued; such a log may also have a record of the whole job.
    pub parts: u64,
}

/// The columns of a record that matter, as text. SWF and GWF agree on them.
pub(super) struct Record<'a> {
    pub(super) number: &'a [u8],
    pub(super) submit: &'a [u8],
    pub(super) run_time: &'a [u8],
    pub(super) allocated: &'a [u8],
    pub(super) requested: &'a [u8],
    pub(super) requested_time: &'a [u8],
    pub(super) requested_memory: &'a [u8],
}

/// The user, the group and the site of a submission.
pub(super) struct Provenance {
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) site: Option<u32>,
}

impl Provenance {
    /// Unknown user, group and site.
    pub(super) const NOBODY: Self = Self {
        user: 0,
        group: 0,
        site: None,
    };
}

impl Record<'_> {
    /// The job; its submit time is that of the file.
    pub(super) fn to_submission(
        &self,
        provenance: &Provenance,
        oddities: &mut Oddities,
    ) -> Result<Submission, Reason> {
        let number = number(self.number)?;
        let submit = Decimal::parse(self.submit).ok_or(Reason::NotANumber)?;
        if submit.is_negative() {
            return Err(Reason::NoSubmitTime);
        }
        let run_time = Decimal::parse(self.run_time).ok_or(Reason::NotANumber)?;
        if !run_time.is_positive() {
            return Err(Reason::NoRunTime);
        }
        let at = at_most(LATEST, submit).ok_or(Reason::OutOfRange)?;
        let run_time = at_most(LONGEST, run_time).ok_or(Reason::RunsTooLong)?;
        let (processors, source) = self.processors()?;
        let requested_time = self.requested_time();

        oddities.processors_as_allocated += u64::from(source == Source::Allocated);
        oddities.without_requested_time += u64::from(requested_time.is_none());
        let above = requested_time.is_some_and(|requested| run_time > requested);
        oddities.above_requested_time += u64::from(above);
        Ok(Submission {
            number,
            at: Time::ZERO + at,
            run_time,
            requested_time,
            processors,
            user: provenance.user,
            group: provenance.group,
            site: provenance.site,
            memory: self.memory(),
        })
    }

    /// A requested amount of memory that cannot be read is unknown.
    fn memory(&self) -> Option<u64> {
        let requested = Decimal::parse(self.requested_memory)?;
        requested.is_positive().then(|| requested.round_up())
    }

    fn processors(&self) -> Result<(u32, Source), Reason> {
        if let Some(requested) = Decimal::parse(self.requested).filter(|n| n.is_positive()) {
            return Ok((count(requested)?, Source::Requested));
        }
        let allocated = Decimal::parse(self.allocated).ok_or(Reason::NotANumber)?;
        if !allocated.is_positive() {
            return Err(Reason::NoProcessors);
        }
        Ok((count(allocated)?, Source::Allocated))
    }

    /// A requested time is only advice: if it cannot be read, there is none, and a very long one is cut.
    fn requested_time(&self) -> Option<Span> {
        let requested = Decimal::parse(self.requested_time).filter(|n| n.is_positive())?;
        let span = Span::from_micros(requested.seconds_to_micros());
        Some(span.min(LONGEST)).filter(|span| !span.is_zero())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Requested,
    Allocated,
}

fn number(field: &[u8]) -> Result<u64, Reason> {
    let number = Decimal::parse(field).ok_or(Reason::NotANumber)?;
    match number.to_whole() {
        None | Some(u64::MAX) => Err(Reason::OutOfRange),
        Some(number) => Ok(number),
    }
}

fn at_most(limit: Span, seconds: Decimal) -> Option<Span> {
    let span = Span::from_micros(seconds.seconds_to_micros());
    Some(span).filter(|span| *span <= limit)
}

fn count(processors: Decimal) -> Result<u32, Reason> {
    u32::try_from(processors.round_up()).map_err(|_| Reason::OutOfRange)
}

/// A number that identifies a user, group or site; `None` if it is unknown or not a whole number.
pub(super) fn identity(field: &[u8]) -> Option<u32> {
    let whole = Decimal::parse(field).and_then(Decimal::to_whole)?;
    u32::try_from(whole).ok()
}

//! Records of a trace that cannot be replayed, and why.

use core::fmt;

use serde::Serialize;

/// How many skipped lines are listed one by one.
const REMEMBERED: usize = 5;

/// Why a record was left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// It ran for no time, or its run time is not known.
    NoRunTime,
    /// It used no processors, or their number is not known.
    NoProcessors,
    /// Its submit time is not known.
    NoSubmitTime,
    /// It lacks columns that every record needs.
    TooFewColumns,
    /// A column that every record needs is not a number.
    NotANumber,
    /// A number is larger than in any sensible trace.
    OutOfRange,
    /// It ran for longer than [`LONGEST`](super::LONGEST).
    RunsTooLong,
    /// The line is longer than [`LONGEST_LINE`](super::LONGEST_LINE).
    LineTooLong,
}

/// A line that was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SkippedLine {
    /// Its number in the file, from 1.
    pub line: u64,
    /// Why it was left out.
    pub reason: Reason,
}

/// How many records were left out for each reason, and the first few of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(into = "Listed")]
pub struct Skipped {
    counts: [u64; Reason::ALL.len()],
    first: Vec<SkippedLine>,
}

/// The serialised form: only reasons that occurred.
#[derive(Serialize)]
struct Listed {
    total: u64,
    reasons: Vec<Counted>,
    first: Vec<SkippedLine>,
}

#[derive(Serialize)]
struct Counted {
    reason: Reason,
    count: u64,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::NoRunTime,
        Self::NoProcessors,
        Self::NoSubmitTime,
        Self::TooFewColumns,
        Self::NotANumber,
        Self::OutOfRange,
        Self::RunsTooLong,
        Self::LineTooLong,
    ];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRunTime => "no run time",
            Self::NoProcessors => "no processors",
            Self::NoSubmitTime => "no submit time",
            Self::TooFewColumns => "too few columns",
            Self::NotANumber => "a column that is not a number",
            Self::OutOfRange => "a number out of range",
            Self::RunsTooLong => "a run time above 365 days",
            Self::LineTooLong => "a line too long",
        })
    }
}

impl Skipped {
    pub(super) fn add(&mut self, line: u64, reason: Reason) {
        if let Some(count) = self.counts.get_mut(reason as usize) {
            *count += 1;
        }
        if self.first.len() < REMEMBERED {
            self.first.push(SkippedLine { line, reason });
        }
    }

    /// How many were left out for this reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.counts.get(reason as usize).copied().unwrap_or(0)
    }

    /// How many were left out for each reason that occurred.
    pub fn counts(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        let all = Reason::ALL.into_iter();
        all.map(|reason| (reason, self.count(reason)))
            .filter(|&(_, count)| count > 0)
    }

    /// How many were left out.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The first few skipped lines, in the order of the file.
    pub fn first(&self) -> &[SkippedLine] {
        &self.first
    }
}

impl From<Skipped> for Listed {
    fn from(skipped: Skipped) -> Self {
        let counted = |(reason, count)| Counted { reason, count };
        Self {
            total: skipped.total(),
            reasons: skipped.counts().map(counted).collect(),
            first: skipped.first,
        }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.first.first() else {
            return f.write_str("none skipped");
        };
        write!(f, "{} skipped", self.total())?;
        for (position, (reason, count)) in self.counts().enumerate() {
            let before = if position == 0 { ": " } else { ", " };
            write!(f, "{before}{count} with {reason}")?;
        }
        write!(f, " (first: line {})", first.line)
    }
}

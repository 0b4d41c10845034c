use core::fmt;

use crate::time::{Span, Time};

/// What a site asks for a job, in microseconds; lower is better, and it may be negative. Saturates.
///
/// Costs of one function compare with each other; those of different functions do not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Cost(i64);

impl Cost {
    /// More than anything.
    pub const MAX: Self = Self(i64::MAX);

    /// This many microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// In microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whether this cost beats another by at least `threshold` (PROTOCOLS A12).
    pub fn beats(self, other: Cost, threshold: Span) -> bool {
        let gain = i128::from(other.0).saturating_sub(i128::from(self.0));
        gain >= i128::from(threshold.as_micros())
    }

    pub(super) fn saturating(micros: i128) -> Self {
        let clamped = micros.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        Self(clamped as i64)
    }
}

/// Negative accumulated lateness over jobs, after P3 (PROTOCOLS A8): if all are in time, minus the sum of their slack;
/// if any is late, the sum of what the late ones are late. So it is at most zero exactly if every deadline can be met.
/// Jobs without a deadline count for nothing.
#[derive(Clone, Copy, Default)]
pub(super) struct AccumulatedLateness {
    slack: i128,
    late: i128,
}

impl AccumulatedLateness {
    /// Counts a job that is expected to end then.
    pub(super) fn add(&mut self, deadline: Option<Time>, end: Time) {
        let Some(deadline) = deadline else { return };
        if end > deadline {
            let late = i128::from((end - deadline).as_micros());
            self.late = self.late.saturating_add(late);
        } else {
            let slack = i128::from((deadline - end).as_micros());
            self.slack = self.slack.saturating_add(slack);
        }
    }

    /// Of all that were counted.
    pub(super) const fn total(&self) -> i128 {
        if self.late > 0 {
            self.late
        } else {
            self.slack.saturating_neg()
        }
    }
}

impl fmt::Debug for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", Span::from_micros(self.0.unsigned_abs()))
    }
}

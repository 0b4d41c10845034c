//! Instants, durations and half-open intervals, all total.
//!
//! The core has no clock: a host says what time it is with every event. [`Time`] counts microseconds from an origin
//! that the grid's hosts agree on, [`Span`] is a length of time, and [`Interval`] is a non-empty `[start, end)`.
//!
//! Arithmetic saturates: nothing here overflows, wraps or panics. [`Time::MAX`] therefore reads as "never".
//!
//! ```
//! use gridweave_core::time::{Interval, IntervalError, Span, Time};
//!
//! let noon = Time::from_secs(12 * 3600);
//! let job = Interval::starting(noon, Span::from_secs(90))?;
//! assert_eq!(job.end() - noon, Span::from_secs(90));
//! assert!(job.contains(noon) && !job.contains(job.end()));
//!
//! assert_eq!(Time::MAX + Span::from_secs(1), Time::MAX);
//! assert_eq!(Interval::starting(noon, Span::ZERO), Err(IntervalError::Empty));
//! # Ok::<(), IntervalError>(())
//! ```
//!
//! A host's clock and timers speak [`Duration`]: `Span::from` and `Duration::from` convert.
//!
//! ```
//! use core::time::Duration;
//! use gridweave_core::time::{Span, Time};
//!
//! let since_origin = Duration::new(1_700_000_000, 999);
//! let now = Time::ZERO + since_origin.into();
//! assert_eq!(now, Time::from_secs(1_700_000_000));
//!
//! let timer = Time::from_secs(1_700_000_003);
//! assert_eq!(Duration::from(timer - now), Duration::from_secs(3));
//! ```

mod interval;

pub use interval::{Interval, IntervalError};

use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use core::time::Duration;

const MICROS_PER_SEC: u64 = 1_000_000;

/// An instant: microseconds since the grid's origin.
///
/// Operators saturate at [`Time::ZERO`] and [`Time::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Time(u64);

/// A length of time in microseconds.
///
/// Operators saturate at [`Span::ZERO`] and [`Span::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Span(u64);

impl Time {
    /// The grid's origin.
    pub const ZERO: Self = Self(0);
    /// The end of time; no interval reaches beyond it.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant this many microseconds after the origin.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant this many milliseconds after the origin, saturating.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// The instant this many seconds after the origin, saturating.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(MICROS_PER_SEC))
    }

    /// Microseconds since the origin.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole seconds since the origin, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / MICROS_PER_SEC
    }

    /// The first instant at which every clock within `max_skew` is past this one.
    pub const fn passed(self, max_skew: Span) -> Self {
        Self(self.0.saturating_add(max_skew.0).saturating_add(1))
    }

    /// The first multiple of `slot` at or after this instant (PROTOCOLS D5); saturates at the end of time, and a zero
    /// slot changes nothing.
    pub const fn round_up(self, slot: Span) -> Self {
        Self(round_up(self.0, slot.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any interval.
    pub const MAX: Self = Self(u64::MAX);

    /// This many microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// This many milliseconds, saturating.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// This many seconds, saturating.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(MICROS_PER_SEC))
    }

    /// Microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole seconds, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / MICROS_PER_SEC
    }

    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// This span `factor` times, saturating.
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// The first multiple of `slot` that is at least this long (PROTOCOLS D5); saturates, and a zero slot changes
    /// nothing.
    pub const fn round_up(self, slot: Span) -> Self {
        Self(round_up(self.0, slot.0))
    }
}

const fn round_up(value: u64, unit: u64) -> u64 {
    if unit == 0 {
        return value;
    }
    match value.checked_next_multiple_of(unit) {
        Some(rounded) => rounded,
        None => u64::MAX,
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Sub for Time {
    type Output = Span;
    /// How long after `earlier` this is: zero if it is not after it.
    fn sub(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl core::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

impl From<Duration> for Span {
    /// Whole microseconds, rounded down. A duration of more than 584,000 years is [`Span::MAX`]: like all arithmetic
    /// here this saturates, because no caller could do better with an error.
    fn from(duration: Duration) -> Span {
        Span(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    /// Exact.
    fn from(span: Span) -> Duration {
        Duration::from_micros(span.0)
    }
}

fn write_seconds(f: &mut fmt::Formatter<'_>, micros: u64) -> fmt::Result {
    let (whole, part) = (micros / MICROS_PER_SEC, micros % MICROS_PER_SEC);
    if part == 0 {
        write!(f, "{whole}s")
    } else {
        write!(f, "{whole}.{part:06}s")
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::MAX {
            f.write_str("never")
        } else {
            write_seconds(f, self.0)
        }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Time::MAX + Span::from_micros(1), Time::MAX);
        assert_eq!(Time::ZERO - Span::from_micros(1), Time::ZERO);
        assert_eq!(Time::ZERO - Time::from_secs(1), Span::ZERO);
        assert_eq!(Span::MAX + Span::MAX, Span::MAX);
        assert_eq!(Span::ZERO - Span::MAX, Span::ZERO);
        assert_eq!(Span::MAX.times(2), Span::MAX);
        assert_eq!(Time::from_secs(u64::MAX), Time::MAX);
        assert_eq!(Span::from_millis(u64::MAX), Span::MAX);
    }

    #[test]
    fn units_agree() {
        assert_eq!(Time::from_secs(2), Time::from_millis(2000));
        assert_eq!(Time::from_millis(2), Time::from_micros(2000));
        assert_eq!(Span::from_secs(3).as_micros(), 3_000_000);
        assert_eq!(Span::from_millis(3999).as_secs(), 3);
        assert_eq!(Time::from_millis(3999).as_secs(), 3);
        assert_eq!(Span::from_secs(3).times(4), Span::from_secs(12));
    }

    #[test]
    fn a_duration_becomes_a_span_and_comes_back() {
        for micros in [0, 1, 999_999, 1_000_001, u64::MAX] {
            let span = Span::from_micros(micros);
            assert_eq!(Span::from(Duration::from(span)), span);
            assert_eq!(Duration::from(span).as_micros(), u128::from(micros));
        }
        assert_eq!(Span::from(Duration::from_nanos(1_999)).as_micros(), 1);
        let longer = Duration::from_micros(u64::MAX) + Duration::from_micros(1);
        assert_eq!(Span::from(longer), Span::MAX);
        assert_eq!(Span::from(Duration::MAX), Span::MAX);
    }

    #[test]
    fn sums_and_assignments_follow_the_operators() {
        let mut time = Time::from_secs(1);
        time += Span::from_secs(2);
        assert_eq!(time, Time::from_secs(3));
        let mut span = Span::from_secs(5);
        span += Span::from_secs(2);
        span -= Span::from_secs(4);
        assert_eq!(span, Span::from_secs(3));
        assert_eq!(
            [Span::from_secs(1), Span::from_secs(2)]
                .into_iter()
                .sum::<Span>(),
            Span::from_secs(3)
        );
    }

    #[test]
    fn rounding_up_reaches_the_next_slot_and_stays_on_one() {
        let slot = Span::from_secs(60);
        assert_eq!(Time::from_secs(61).round_up(slot), Time::from_secs(120));
        assert_eq!(Time::from_secs(120).round_up(slot), Time::from_secs(120));
        assert_eq!(Time::MAX.round_up(slot), Time::MAX);
        assert_eq!(Time::from_secs(7).round_up(Span::ZERO), Time::from_secs(7));
        assert_eq!(Span::from_secs(1).round_up(slot), slot);
    }

    #[test]
    fn an_instant_has_passed_by_every_clock_only_after_it() {
        let skew = Span::from_secs(1);
        let passed = Time::from_secs(7).passed(skew);
        assert_eq!(passed, Time::from_micros(8_000_001));
        // A clock that is slow by all of `skew` shows a later instant by then, and at no earlier one.
        assert!(passed - skew > Time::from_secs(7));
        assert_eq!(Time::MAX.passed(skew), Time::MAX);
    }

    #[test]
    fn times_print_as_seconds() {
        assert_eq!(Time::from_millis(1500).to_string(), "1.500000s");
        assert_eq!(std::format!("{:?}", Span::from_secs(2)), "2s");
        assert_eq!(Span::from_secs(2).to_string(), "2s");
        assert_eq!(std::format!("{:?}", Time::MAX), "never");
    }
}

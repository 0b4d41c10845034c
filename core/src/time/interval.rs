use core::fmt;

use super::{Span, Time};

/// A non-empty stretch of time `[start, end)`: its start belongs to it, its end does not.
///
/// There is no empty and no reversed interval; decoding refuses one too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Bounds"))]
pub struct Interval {
    start: Time,
    end: Time,
}

/// Why two bounds are no interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum IntervalError {
    /// It would end where it starts.
    Empty,
    /// It would end before it starts.
    Reversed,
    /// It would reach beyond the end of time.
    BeyondTime,
}

impl Interval {
    /// All of time but its last instant.
    pub const ALWAYS: Self = Self {
        start: Time::ZERO,
        end: Time::MAX,
    };

    /// The last moment of time.
    pub const LAST: Self = Self {
        start: Time(u64::MAX.saturating_sub(1)),
        end: Time::MAX,
    };

    /// `[start, end)`.
    pub const fn new(start: Time, end: Time) -> Result<Self, IntervalError> {
        if start.0 < end.0 {
            Ok(Self { start, end })
        } else if start.0 == end.0 {
            Err(IntervalError::Empty)
        } else {
            Err(IntervalError::Reversed)
        }
    }

    /// `[start, start + length)`, never shortened by the end of time.
    pub const fn starting(start: Time, length: Span) -> Result<Self, IntervalError> {
        match start.0.checked_add(length.0) {
            Some(end) => Self::new(start, Time(end)),
            None => Err(IntervalError::BeyondTime),
        }
    }

    /// `[start, Time::MAX)`: that instant and all after it.
    pub const fn since(start: Time) -> Result<Self, IntervalError> {
        Self::new(start, Time::MAX)
    }

    /// The first instant inside.
    pub const fn start(self) -> Time {
        self.start
    }

    /// The first instant after.
    pub const fn end(self) -> Time {
        self.end
    }

    /// How long it is; never zero.
    pub const fn length(self) -> Span {
        Span(self.end.0.saturating_sub(self.start.0))
    }

    /// Whether `at` lies inside.
    pub fn contains(self, at: Time) -> bool {
        self.start <= at && at < self.end
    }

    /// Whether every instant of `other` lies inside.
    pub fn covers(self, other: Interval) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether some instant lies in both. Intervals that only touch do not overlap.
    pub fn overlaps(self, other: Interval) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The instants that lie in both.
    pub fn intersection(self, other: Interval) -> Option<Interval> {
        Self::new(self.start.max(other.start), self.end.min(other.end)).ok()
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.start, self.end)
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for IntervalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the interval ends where it starts",
            Self::Reversed => "the interval ends before it starts",
            Self::BeyondTime => "the interval reaches beyond the end of time",
        })
    }
}

impl core::error::Error for IntervalError {}

#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Bounds {
    start: Time,
    end: Time,
}

#[cfg(feature = "serde")]
impl TryFrom<Bounds> for Interval {
    type Error = IntervalError;
    fn try_from(bounds: Bounds) -> Result<Self, IntervalError> {
        Self::new(bounds.start, bounds.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(start: u64, end: u64) -> Interval {
        Interval::new(Time::from_secs(start), Time::from_secs(end)).unwrap()
    }

    #[test]
    fn bounds_that_hold_no_instant_are_refused() {
        let t = Time::from_secs(5);
        assert_eq!(Interval::new(t, t), Err(IntervalError::Empty));
        assert_eq!(Interval::new(t, Time::ZERO), Err(IntervalError::Reversed));
        assert_eq!(Interval::starting(t, Span::ZERO), Err(IntervalError::Empty));
        assert_eq!(Interval::since(Time::MAX), Err(IntervalError::Empty));
    }

    #[test]
    fn the_end_of_time_shortens_nothing() {
        let last = Time::MAX - Span::from_micros(1);
        assert_eq!(
            Interval::starting(last, Span::from_micros(2)),
            Err(IntervalError::BeyondTime)
        );
        assert_eq!(
            Interval::starting(last, Span::from_micros(1))
                .unwrap()
                .end(),
            Time::MAX
        );
        assert_eq!(
            Interval::since(last).unwrap().length(),
            Span::from_micros(1)
        );
    }

    #[test]
    fn touching_intervals_neither_overlap_nor_intersect() {
        assert!(!secs(0, 5).overlaps(secs(5, 9)));
        assert!(!secs(5, 9).overlaps(secs(0, 5)));
        assert_eq!(secs(0, 5).intersection(secs(5, 9)), None);
        assert_eq!(secs(0, 6).intersection(secs(5, 9)), Some(secs(5, 6)));
        assert!(secs(0, 6).overlaps(secs(5, 9)));
    }

    #[test]
    fn covering_includes_equal_bounds() {
        assert!(secs(0, 5).covers(secs(0, 5)));
        assert!(!secs(0, 5).covers(secs(0, 6)));
        assert!(!secs(1, 5).covers(secs(0, 5)));
        assert!(secs(1, 5).contains(Time::from_secs(1)));
        assert!(!secs(1, 5).contains(Time::from_secs(5)));
        assert!(!secs(1, 5).contains(Time::ZERO));
    }

    #[test]
    fn intervals_and_their_errors_print_plainly() {
        assert_eq!(
            std::format!("{} {:?}", secs(1, 2), secs(1, 2)),
            "[1s, 2s) [1s, 2s)"
        );
        for (error, word) in [
            (IntervalError::Empty, "where it starts"),
            (IntervalError::Reversed, "before it starts"),
            (IntervalError::BeyondTime, "end of time"),
        ] {
            assert!(std::format!("{error}").contains(word));
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn decoding_refuses_an_interval_that_ends_before_it_starts() {
        let good = postcard::to_allocvec(&secs(1, 2)).unwrap();
        assert_eq!(postcard::from_bytes::<Interval>(&good), Ok(secs(1, 2)));
        for bad in [(5_u64, 5_u64), (6, 5)] {
            let bytes = postcard::to_allocvec(&bad).unwrap();
            assert!(postcard::from_bytes::<Interval>(&bytes).is_err());
        }
        assert!(serde_json::from_str::<Interval>(r#"{"start":2,"end":1}"#).is_err());
    }
}

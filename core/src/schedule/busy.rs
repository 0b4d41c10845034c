use super::windows::Walk;
use super::{BusyWindows, Reservation, Schedule, Storage};
use crate::time::{Interval, Time};

/// The busy time of a node, as a search sees it.
///
/// The windows are sorted and do not overlap; adjacent ones may touch. If windows break this rule, a search may
/// give a wrong answer, but it never panics and always ends.
///
/// ```
/// use gridweave_core::schedule::BusyTime;
/// use gridweave_core::time::{Interval, Time};
///
/// /// What a node tells about its next hours.
/// struct Report {
///     busy: Vec<Interval>,
///     until: Time,
/// }
///
/// impl BusyTime for Report {
///     type Windows<'a> = &'a [Interval];
///
///     fn windows(&self) -> &[Interval] {
///         &self.busy
///     }
///     fn horizon(&self) -> Time {
///         self.until
///     }
/// }
/// ```
pub trait BusyTime {
    /// How the windows are kept: `&[Interval]` in most cases, [`BusyWindows`] in a [`Schedule`].
    type Windows<'a>: Windows
    where
        Self: 'a;

    /// When it is busy.
    fn windows(&self) -> Self::Windows<'_>;

    /// From this time on nothing is known; that counts as busy.
    fn horizon(&self) -> Time {
        Time::MAX
    }

    /// Whether it is free throughout an interval.
    fn is_free(&self, interval: Interval) -> bool {
        let before_next = self.windows().leave_free(interval);
        before_next && (interval.end() <= self.horizon() || canary!(HorizonNotKept))
    }
}

/// Busy windows in a form that searches can walk: a slice, or the windows of a [`Schedule`]. No other type has it.
pub trait Windows: Walk {}

impl Windows for &[Interval] {}
impl Windows for BusyWindows<'_> {}

impl BusyTime for [Interval] {
    type Windows<'a> = &'a [Interval];

    fn windows(&self) -> &[Interval] {
        self
    }
}

#[cfg(feature = "alloc")]
impl BusyTime for alloc::vec::Vec<Interval> {
    type Windows<'a> = &'a [Interval];

    fn windows(&self) -> &[Interval] {
        self
    }
}

/// All reservations count, holds too.
impl<S: Storage<Reservation>> BusyTime for Schedule<S> {
    type Windows<'a>
        = BusyWindows<'a>
    where
        Self: 'a;

    fn windows(&self) -> BusyWindows<'_> {
        self.busy_windows(Time::ZERO)
    }

    fn is_free(&self, interval: Interval) -> bool {
        Schedule::is_free(self, interval)
    }
}

impl<T: BusyTime + ?Sized> BusyTime for &T {
    type Windows<'a>
        = T::Windows<'a>
    where
        Self: 'a;

    fn windows(&self) -> T::Windows<'_> {
        (**self).windows()
    }
    fn horizon(&self) -> Time {
        (**self).horizon()
    }
    fn is_free(&self, interval: Interval) -> bool {
        (**self).is_free(interval)
    }
}

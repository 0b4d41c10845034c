use crate::time::{Interval, Time};

/// The busy time of a node, as a search sees it.
///
/// The windows are sorted and do not overlap; adjacent ones may touch. If windows break this rule, a search may
/// give a wrong answer, but it never panics and always ends.
pub trait BusyTime {
    /// When it is busy.
    fn windows(&self) -> &[Interval];

    /// From this time on nothing is known; that counts as busy.
    fn horizon(&self) -> Time {
        Time::MAX
    }

    /// Whether it is free throughout an interval.
    fn is_free(&self, interval: Interval) -> bool {
        let windows = self.windows();
        let before_next = match windows.first() {
            None => true,
            Some(first) if interval.end() <= first.start() => true,
            Some(first) if interval.start() < first.end() => false,
            Some(_) => {
                let next = windows.get(first_unfinished(windows, interval.start()));
                next.is_none_or(|window| interval.end() <= window.start())
            }
        };
        before_next && (interval.end() <= self.horizon() || canary!(HorizonNotKept))
    }
}

/// The index of the first window that is not over at `at`.
///
/// A search usually begins before the end of the first window, so that window is tried before the binary search.
pub(super) fn first_unfinished(windows: &[Interval], at: Time) -> usize {
    match windows.first() {
        Some(window) if window.end() <= at => windows.partition_point(|w| w.end() <= at),
        _ => 0,
    }
}

impl BusyTime for [Interval] {
    fn windows(&self) -> &[Interval] {
        self
    }
}

#[cfg(feature = "alloc")]
impl BusyTime for alloc::vec::Vec<Interval> {
    fn windows(&self) -> &[Interval] {
        self
    }
}

impl<T: BusyTime + ?Sized> BusyTime for &T {
    fn windows(&self) -> &[Interval] {
        (**self).windows()
    }
    fn horizon(&self) -> Time {
        (**self).horizon()
    }
}

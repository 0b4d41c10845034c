use crate::time::{Interval, Time};

/// Anything that knows when it is busy.
///
/// The windows are sorted and do not overlap; adjacent ones may touch. Windows that break this rule give a wrong answer to
/// a search, never a panic or an endless one.
pub trait BusyTime {
    /// When it is busy.
    fn windows(&self) -> &[Interval];

    /// From here on nothing is known, which counts as busy.
    fn horizon(&self) -> Time {
        Time::MAX
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

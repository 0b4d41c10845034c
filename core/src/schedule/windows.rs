use super::Reservation;
use crate::time::{Interval, Time};

/// When a schedule is busy from some instant on: sorted, and with a gap between any two; made by
/// [`Schedule::busy_windows`](super::Schedule::busy_windows).
#[derive(Clone, Debug)]
pub struct BusyWindows<'a> {
    firm: &'a [Reservation],
    swaps: &'a [Reservation],
    from: Time,
}

impl<'a> BusyWindows<'a> {
    /// Of these reservations, which all end after `from`.
    pub(super) fn new(firm: &'a [Reservation], swaps: &'a [Reservation], from: Time) -> Self {
        Self { firm, swaps, from }
    }

    fn pop_first(&mut self) -> Option<Interval> {
        let list = match (self.firm.first(), self.swaps.first()) {
            (Some(firm), Some(swap)) if swap.interval < firm.interval => &mut self.swaps,
            (None, Some(_)) => &mut self.swaps,
            _ => &mut self.firm,
        };
        let (first, rest) = list.split_first()?;
        *list = rest;
        Some(first.interval)
    }

    fn pop_touching(&mut self, end: Time) -> Option<Interval> {
        let next = |list: &[Reservation]| list.first().is_some_and(|r| r.interval.start() <= end);
        if next(self.firm) || next(self.swaps) {
            self.pop_first()
        } else {
            None
        }
    }
}

impl Iterator for BusyWindows<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        let first = self.pop_first()?;
        let mut end = first.end();
        while let Some(more) = self.pop_touching(end) {
            end = end.max(more.end());
        }
        Interval::new(first.start().max(self.from), end).ok()
    }
}

/// When a schedule is free within an interval; made by [`Schedule::free_windows`](super::Schedule::free_windows).
#[derive(Clone, Debug)]
pub struct FreeWindows<'a> {
    busy: BusyWindows<'a>,
    from: Time,
    until: Time,
}

impl<'a> FreeWindows<'a> {
    pub(super) fn new(busy: BusyWindows<'a>, within: Interval) -> Self {
        Self {
            busy,
            from: within.start(),
            until: within.end(),
        }
    }
}

impl Iterator for FreeWindows<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        while self.from < self.until {
            let start = self.from;
            let end = match self.busy.next() {
                Some(busy) => {
                    self.from = self.from.max(busy.end());
                    busy.start().min(self.until)
                }
                None => {
                    self.from = self.until;
                    self.until
                }
            };
            if let Ok(free) = Interval::new(start, end) {
                return Some(free);
            }
        }
        None
    }
}

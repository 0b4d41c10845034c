use super::Reservation;
use super::exclusive::unfinished;
use crate::time::{Interval, Time};

/// What searches need of busy windows. Public in a private module, so that [`Windows`](super::Windows) is sealed.
pub trait Walk: Clone {
    /// At least as many windows as there are.
    fn at_most(&self) -> usize;

    /// When the last window ends.
    fn last_end(&self) -> Option<Time>;

    /// A number for the windows that are not over at `at`; [`resume`](Self::resume) takes it back.
    fn mark(&self, at: Time) -> usize;

    /// The windows that are not over at `at`. A walk from `mark` on has passed all windows that are over by then, and
    /// no others.
    fn resume(&self, mark: usize, at: Time) -> Self;

    /// The windows from the first one on for which `passes` says no.
    fn skip_while(self, passes: impl FnMut(&Interval) -> bool) -> Self;

    /// The windows as a slice, if that is how they are kept.
    fn as_slice(&self) -> Option<&[Interval]> {
        None
    }

    /// When the last window ends that is over at `at`, and when the first one starts that is not.
    fn around(&self, at: Time) -> (Option<Time>, Option<Time>);

    /// Whether no window overlaps an interval.
    fn leave_free(&self, interval: Interval) -> bool;

    /// One after the other.
    fn each(self) -> impl Iterator<Item = Interval>;
}

// Inlined into searches that other crates compile for their types.
impl Walk for &[Interval] {
    #[inline]
    fn at_most(&self) -> usize {
        self.len()
    }

    #[inline]
    fn last_end(&self) -> Option<Time> {
        self.last().map(|window| window.end())
    }

    #[inline]
    fn mark(&self, at: Time) -> usize {
        first_unfinished(self, at)
    }

    #[inline]
    fn resume(&self, mark: usize, _: Time) -> Self {
        self.get(mark..).unwrap_or_default()
    }

    #[inline]
    fn skip_while(mut self, mut passes: impl FnMut(&Interval) -> bool) -> Self {
        while let Some((window, rest)) = self.split_first() {
            if !passes(window) {
                break;
            }
            self = rest;
        }
        self
    }

    #[inline]
    fn as_slice(&self) -> Option<&[Interval]> {
        Some(self)
    }

    #[inline]
    fn around(&self, at: Time) -> (Option<Time>, Option<Time>) {
        let next = first_unfinished(self, at);
        let last = next.checked_sub(1).and_then(|last| self.get(last));
        let next = self.get(next);
        (last.map(|w| w.end()), next.map(|w| w.start()))
    }

    #[inline]
    fn leave_free(&self, interval: Interval) -> bool {
        match self.first() {
            None => true,
            Some(first) if interval.end() <= first.start() => true,
            Some(first) if interval.start() < first.end() => false,
            Some(_) => {
                let next = self.get(first_unfinished(self, interval.start()));
                next.is_none_or(|window| interval.end() <= window.start())
            }
        }
    }

    #[inline]
    fn each(self) -> impl Iterator<Item = Interval> {
        self.iter().copied()
    }
}

/// The index of the first window that is not over at `at`.
///
/// A search usually begins before the end of the first window, so that window is tried before the binary search.
fn first_unfinished(windows: &[Interval], at: Time) -> usize {
    match windows.first() {
        Some(window) if window.end() <= at => windows.partition_point(|w| w.end() <= at),
        _ => 0,
    }
}

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

/// Reservations are counted where the trait speaks of windows: those that touch or overlap are one window.
impl Walk for BusyWindows<'_> {
    fn at_most(&self) -> usize {
        self.firm.len().saturating_add(self.swaps.len())
    }

    fn last_end(&self) -> Option<Time> {
        let end = |list: &[Reservation]| Some(list.last()?.interval.end());
        end(self.firm).max(end(self.swaps))
    }

    fn mark(&self, at: Time) -> usize {
        let left = self.resume(0, at).at_most();
        self.at_most().saturating_sub(left)
    }

    fn resume(&self, _: usize, at: Time) -> Self {
        let (firm, swaps) = (unfinished(self.firm, at), unfinished(self.swaps, at));
        Self::new(firm, swaps, self.from.max(at))
    }

    fn skip_while(mut self, mut passes: impl FnMut(&Interval) -> bool) -> Self {
        let mut rest = self.clone();
        while rest.next().is_some_and(|window| passes(&window)) {
            self = rest.clone();
        }
        self
    }

    fn around(&self, at: Time) -> (Option<Time>, Option<Time>) {
        let ended = |list: &[Reservation]| {
            let over = list.len().checked_sub(unfinished(list, at).len())?;
            Some(list.get(over.checked_sub(1)?)?.interval.end())
        };
        let next = self.resume(0, at).next();
        let last = ended(self.firm).max(ended(self.swaps));
        (last, next.map(Interval::start))
    }

    fn leave_free(&self, interval: Interval) -> bool {
        let next = self.resume(0, interval.start()).next();
        next.is_none_or(|window| interval.end() <= window.start())
    }

    fn each(self) -> impl Iterator<Item = Interval> {
        self
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

//! The earliest time when enough of many schedules are free together, and which ones.
//!
//! A job that needs `count` nodes for `length` at once starts as soon as that many schedules have room (P1 figure 3,
//! steps 5 to 8). Stepping through time slot by slot asks every schedule again in every slot. [`CommonSearch`] asks
//! each schedule once: a free window `[a, b)` that is long enough admits every start in `[a, b - length]`, and the
//! answer is the first instant that `count` of these ranges cover. It needs no slots, so any instant can be the answer,
//! but if all bounds and `from` lie on slots then so does the answer (PROTOCOLS D5).
//!
//! # How
//! 1. `from` itself is tried first, and only until `count` schedules are found.
//! 2. Time is swept in stretches, the first one short. Of each the gaps that are long enough are listed; if there are
//!    fewer than `count`, the answer is not in it. Else every range is counted into a bucket of time where it opens and
//!    out of the one behind the bucket where it closes; the running sum is the most that may cover an instant of a
//!    bucket.
//! 3. Where that reaches `count`, the gaps around are gathered, and the few ranges that open or close in such buckets
//!    are sorted to find the exact instant.
//!
//! # Cost
//! For `M` windows from `from` to the answer about `M` steps, and at worst, if they all share a bucket or every bucket
//! almost holds the answer, `M log M`. An arena that has seen a search of this size allocates nothing; it holds a
//! constant number of words for each window and schedule.
//!
//! # Which of the free ones
//! More schedules than needed may be free; a [`Pick`] says which to take (PROTOCOLS D4): [`InOrder`], [`Seeded`] or
//! [`BestFit`].
//!
//! ```
//! use gridweave_core::schedule::common_slot::{BestFit, CommonSearch, InOrder, NoCommonSlot};
//! use gridweave_core::time::{Interval, Span, Time};
//!
//! let busy = |start, end| Interval::new(Time::from_secs(start), Time::from_secs(end));
//! let schedules = [
//!     vec![busy(0, 60)?, busy(90, 200)?],
//!     vec![busy(0, 30)?],
//!     vec![busy(0, 70)?, busy(85, 200)?],
//! ];
//! let (now, length) = (Time::ZERO, Span::from_secs(10));
//!
//! let mut search = CommonSearch::default();
//! let slot = search.earliest(&schedules, now, length, 2, InOrder)?;
//! assert_eq!((slot.start, slot.chosen), (Time::from_secs(60), &[0, 1][..]));
//!
//! let slot = search.earliest(&schedules, Time::from_secs(70), length, 2, BestFit)?;
//! assert_eq!((slot.start, slot.chosen), (Time::from_secs(70), &[2, 0][..]));
//!
//! let error = search.earliest(&schedules, now, length, 4, InOrder).unwrap_err();
//! assert_eq!(error, NoCommonSlot::TooFewSchedules { have: 3 });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod pick;
mod sweep;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use crate::schedule::BusyTime;
use crate::schedule::busy::first_unfinished;
use crate::time::{Interval, Span, Time};
pub use pick::{BestFit, InOrder, Pick, Seeded};
use pick::{Question, Rank};
use sweep::{Sweep, Wanted};

/// Searches for common slots, and keeps its memory for the next search.
///
/// It carries nothing else from one search to the next.
#[derive(Clone, Debug, Default)]
pub struct CommonSearch {
    sweep: Sweep,
    chosen: Vec<u32>,
    order: Vec<u32>,
    ranks: Vec<Rank>,
}

/// When enough schedules are free, and which of them to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommonSlot<'a> {
    /// The earliest common start.
    pub start: Time,
    /// Distinct indices into the schedules searched, exactly as many as asked for, in the order of the [`Pick`].
    pub chosen: &'a [u32],
}

/// Why there is no common slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NoCommonSlot {
    /// None of the schedules was asked for.
    ZeroCount,
    /// No time was asked for.
    ZeroLength,
    /// More schedules were asked for than there are.
    TooFewSchedules {
        /// How many there are.
        have: u32,
    },
    /// Never before the schedules' horizons or the end of time are enough of them free together.
    BeyondHorizon,
}

impl CommonSearch {
    /// The earliest time at or after `from` when at least `count` of the schedules are free for `length`, and `count`
    /// of those that are.
    ///
    /// A schedule counts as busy from its horizon on.
    pub fn earliest<B: BusyTime>(
        &mut self,
        schedules: &[B],
        from: Time,
        length: Span,
        count: u32,
        pick: impl Pick,
    ) -> Result<CommonSlot<'_>, NoCommonSlot> {
        if count == 0 {
            return Err(NoCommonSlot::ZeroCount);
        }
        if length.is_zero() {
            return Err(NoCommonSlot::ZeroLength);
        }
        let have = u32::try_from(schedules.len()).unwrap_or(u32::MAX);
        if have < count {
            return Err(NoCommonSlot::TooFewSchedules { have });
        }
        let now = Interval::starting(from, length).map_err(|_| NoCommonSlot::BeyondHorizon)?;
        let slot = if self.enough_are_free(schedules, now, count) {
            now
        } else {
            let wanted = Wanted {
                from,
                length,
                count,
            };
            self.first_later(schedules, wanted)
                .ok_or(NoCommonSlot::BeyondHorizon)?
        };
        let question = Question {
            schedules,
            from,
            slot,
            count: count as usize,
        };
        pick.choose(&question, self);
        Ok(CommonSlot {
            start: slot.start(),
            chosen: &self.chosen,
        })
    }

    /// Whether enough schedules are free in a slot; the first of them are then in `chosen`.
    fn enough_are_free<B: BusyTime>(
        &mut self,
        schedules: &[B],
        slot: Interval,
        count: u32,
    ) -> bool {
        self.chosen.clear();
        for (index, schedule) in (0..u32::MAX).zip(schedules) {
            if schedule.is_free(slot) {
                self.chosen.push(index);
                if self.chosen.len() >= count as usize {
                    return true;
                }
            }
        }
        false
    }

    /// Finds the first slot, and leaves the first schedules that are free then in `chosen`.
    fn first_later<B: BusyTime>(&mut self, schedules: &[B], wanted: Wanted) -> Option<Interval> {
        let start = self.sweep.first_covered(schedules, wanted)?;
        self.chosen.clear();
        self.sweep.covering(start, wanted, &mut self.chosen);
        // Windows that break the rules of `BusyTime` can make the sweep see more than there are.
        let found = self.chosen.len() == wanted.count as usize;
        Interval::starting(start, wanted.length)
            .ok()
            .filter(|_| found)
    }
}

/// [`CommonSearch::earliest`] for a single search: it allocates its arena anew.
pub fn earliest_common<B: BusyTime>(
    schedules: &[B],
    from: Time,
    length: Span,
    count: u32,
    pick: impl Pick,
) -> Result<(Time, Vec<u32>), NoCommonSlot> {
    let mut search = CommonSearch::default();
    let start = search.earliest(schedules, from, length, count, pick)?.start;
    Ok((start, search.chosen))
}

impl fmt::Display for NoCommonSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroCount => f.write_str("a common slot of no schedules was asked for"),
            Self::ZeroLength => f.write_str("a common slot of no length was asked for"),
            Self::TooFewSchedules { have } => {
                write!(f, "there are only {have} schedules to choose from")
            }
            Self::BeyondHorizon => {
                f.write_str("too few schedules are free together before their horizons")
            }
        }
    }
}

impl core::error::Error for NoCommonSlot {}

use alloc::vec::Vec;
use core::ops::Range;

use super::first_unfinished;
use crate::schedule::BusyTime;
use crate::time::{Interval, Span, Time};

/// Buckets in a stretch of time: enough that few events share one, few enough for a first-level cache.
const BUCKETS_PER_SCHEDULE: usize = 8;
const FEWEST_BUCKETS: usize = 64;
const MOST_BUCKETS: usize = 4096;
/// Room for as many again, so that masking an index replaces checking it.
const ROOM: usize = MOST_BUCKETS << 1;

/// The first stretch holds about this many windows of each schedule, so that what lies far behind the answer is not read.
const WINDOWS_PER_STRETCH: usize = 16;
const STRETCH_GROWTH: u64 = 2;

/// How many buckets, from the first that may hold the answer, share a look at the schedules, and how many times as many
/// share the next look.
const FIRST_LOOK: usize = 64;
const LOOK_GROWTH: usize = 8;

/// A counting sweep over the starts that each schedule admits.
///
/// Times are bare microseconds in here: the inner loops shift and wrap them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// Of each bucket the most ranges that may cover an instant in it, once a `Scan` has passed it; until then by how much
    /// that differs from the bucket before.
    most: Vec<u32>,
    /// When the schedules become idle for ever.
    tails: Vec<u64>,
    /// Of each schedule the first window that is not over when the next stretch begins.
    cursors: Vec<usize>,
    /// What schedules admit in the stretch that is resolved: ordered by owner, then by time.
    ranges: Vec<Starts>,
    opening: Vec<u64>,
    closing: Vec<u64>,
}

/// What is searched for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) from: Time,
    pub(super) length: Span,
    pub(super) count: u32,
}

/// The starts from `first` to `last`, both included, at which the owner has room. Those of one owner never overlap.
#[derive(Clone, Copy, Debug)]
struct Starts {
    first: u64,
    last: u64,
    owner: u32,
}

/// How far the buckets have been summed up.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    place: usize,
    sum: u32,
}

/// Equal buckets of time.
#[derive(Clone, Copy, Debug)]
struct Grid {
    from: u64,
    until: u64,
    shift: u32,
    size: usize,
}

impl Grid {
    /// Buckets from `from` up to and including `until`.
    fn new(from: u64, until: u64, schedules: usize) -> Self {
        let size = schedules.saturating_mul(BUCKETS_PER_SCHEDULE);
        let size = size.clamp(FEWEST_BUCKETS, MOST_BUCKETS).next_power_of_two();
        let bits = u64::BITS.saturating_sub(until.saturating_sub(from).leading_zeros());
        let shift = bits.saturating_sub(size.trailing_zeros());
        Self {
            from,
            until,
            shift,
            size,
        }
    }

    #[inline]
    fn place(self, at: u64) -> usize {
        at.wrapping_sub(self.from).wrapping_shr(self.shift) as usize
    }

    /// Where a bucket begins; never beyond the end of the stretch, for what opens there is not counted.
    fn begin(self, place: usize) -> u64 {
        let end = self.until.saturating_add(1);
        if place < self.size {
            let begin = (place as u64).wrapping_shl(self.shift);
            self.from.saturating_add(begin).min(end)
        } else {
            end
        }
    }
}

impl Sweep {
    /// The first instant at which enough schedules have room; their owners are then [`Sweep::covering`] it.
    pub(super) fn first_covered<B: BusyTime>(
        &mut self,
        schedules: &[B],
        wanted: Wanted,
    ) -> Option<Time> {
        let until = self.latest_answer(schedules, wanted)?;
        let mut from = wanted.from.as_micros();
        let mut width = Self::first_stretch(schedules, until.saturating_sub(from));
        self.cursors.clear();
        self.cursors.extend(
            schedules
                .iter()
                .map(|schedule| first_unfinished(schedule.windows(), wanted.from)),
        );
        loop {
            let grid = Grid::new(from, from.saturating_add(width).min(until), schedules.len());
            self.count_ranges(schedules, wanted, grid);
            if let Some(answer) = self.first_in_stretch(schedules, wanted, grid) {
                return Some(Time::from_micros(answer));
            }
            if grid.until == until {
                return None;
            }
            from = grid.until.saturating_add(1);
            width = width.saturating_mul(STRETCH_GROWTH);
        }
    }

    /// How long the first stretch is, of all the time that is left.
    fn first_stretch<B: BusyTime>(schedules: &[B], all: u64) -> u64 {
        let windows = schedules.iter().fold(0_usize, |sum, schedule| {
            sum.saturating_add(schedule.windows().len())
        });
        let stretches = windows
            .checked_div(schedules.len().saturating_mul(WINDOWS_PER_STRETCH))
            .unwrap_or(0);
        all.checked_div(stretches as u64).unwrap_or(all).max(1)
    }

    /// Looks for the answer where the buckets say that it may be.
    ///
    /// Buckets that almost hold it cost a look at the schedules, so after each failure more of them share the next one.
    fn first_in_stretch<B: BusyTime>(
        &mut self,
        schedules: &[B],
        wanted: Wanted,
        grid: Grid,
    ) -> Option<u64> {
        let mut scan = Scan::default();
        let mut look = FIRST_LOOK;
        while let Some(places) = self.next_candidates(&mut scan, grid, wanted.count, look) {
            let (begin, end) = (grid.begin(places.start), grid.begin(places.end));
            self.gather(schedules, wanted.length, begin, end);
            let answer = self.resolve(grid, end, wanted.count);
            if answer.is_some() {
                return answer;
            }
            look = look.saturating_mul(LOOK_GROWTH);
        }
        None
    }

    /// A time at or after the answer: when so many schedules are idle for ever, or else when the last window ends.
    fn latest_answer<B: BusyTime>(&mut self, schedules: &[B], wanted: Wanted) -> Option<u64> {
        self.tails.clear();
        let mut latest = wanted.from;
        for schedule in schedules {
            let end = schedule.windows().last().map_or(Time::ZERO, |w| w.end());
            let tail = end.max(wanted.from);
            latest = latest.max(tail.min(schedule.horizon()));
            if schedule.horizon() == Time::MAX && Time::MAX - tail >= wanted.length {
                self.tails.push(tail.as_micros());
            }
        }
        let last = (wanted.count as usize).checked_sub(1)?;
        if last < self.tails.len() {
            return Some(*self.tails.select_nth_unstable(last).1);
        }
        Some(latest.as_micros())
    }

    /// Counts every range into the bucket that it opens in, and out of the one behind the bucket that it closes in.
    fn count_ranges<B: BusyTime>(&mut self, schedules: &[B], wanted: Wanted, grid: Grid) {
        self.most.resize(ROOM, 0);
        self.most
            .iter_mut()
            .take(grid.size.wrapping_add(1))
            .for_each(|most| *most = 0);
        let Some(most) = self.most.first_chunk_mut::<ROOM>() else {
            return;
        };
        let length = wanted.length.as_micros();
        for (schedule, cursor) in schedules.iter().zip(&mut self.cursors) {
            let horizon = schedule.horizon().as_micros();
            // Whether a gap is long enough is a coin toss to the processor, so it counts by nothing rather than branch.
            let mut gap = |first: u64, end: u64| {
                let fits = u32::from(end.saturating_sub(first) >= length);
                let last = end.wrapping_sub(length).min(grid.until);
                if let Some(change) = most.get_mut(grid.place(first) % ROOM) {
                    *change = change.wrapping_add(fits);
                }
                if let Some(change) = most.get_mut(grid.place(last).wrapping_add(1) % ROOM) {
                    *change = change.wrapping_sub(fits);
                }
            };
            let mut first = grid.from;
            let mut windows = schedule.windows().get(*cursor..).unwrap_or_default();
            let all = windows.len();
            while let Some((window, rest)) = windows.split_first() {
                gap(first, window.start().as_micros().min(horizon));
                first = window.end().as_micros();
                if first > grid.until {
                    break;
                }
                windows = rest;
            }
            *cursor = cursor.wrapping_add(all.wrapping_sub(windows.len()));
            if first <= grid.until {
                gap(first, horizon);
            }
        }
    }

    /// The next bucket that may hold the answer, and those behind it that share a look.
    fn next_candidates(
        &mut self,
        scan: &mut Scan,
        grid: Grid,
        count: u32,
        look: usize,
    ) -> Option<Range<usize>> {
        let Scan { mut place, mut sum } = *scan;
        let mut buckets = self.most.get_mut(place..grid.size)?.iter_mut();
        for most in &mut buckets {
            sum = sum.wrapping_add(*most);
            *most = sum;
            place = place.wrapping_add(1);
            if sum >= count {
                break;
            }
        }
        if sum < count || place == scan.place {
            return None;
        }
        let begin = place.wrapping_sub(1);
        for most in buckets.take(look.wrapping_sub(1)) {
            sum = sum.wrapping_add(*most);
            *most = sum;
            place = place.wrapping_add(1);
        }
        *scan = Scan { place, sum };
        Some(begin..place)
    }

    /// Takes in every range that reaches into `[begin, end)`.
    fn gather<B: BusyTime>(&mut self, schedules: &[B], length: Span, begin: u64, end: u64) {
        self.ranges.clear();
        let length = length.as_micros();
        for (owner, schedule) in (0..u32::MAX).zip(schedules) {
            let horizon = schedule.horizon().as_micros();
            let mut gap = |first: u64, end: u64| {
                if end.saturating_sub(first) >= length {
                    self.ranges.push(Starts {
                        first,
                        last: end.wrapping_sub(length),
                        owner,
                    });
                }
            };
            // Never backwards, so that one owner's ranges never overlap, whatever its windows do.
            let mut first = begin;
            for window in unfinished(schedule.windows(), Time::from_micros(begin)) {
                gap(first, window.start().as_micros().min(horizon));
                first = first.max(window.end().as_micros());
                if first >= end {
                    break;
                }
            }
            if first < end {
                gap(first, horizon);
            }
        }
    }

    /// The first instant before `end` that `count` of the gathered ranges cover.
    ///
    /// It lies where a range opens in a candidate bucket, so only what opens or closes in these is sorted.
    fn resolve(&mut self, grid: Grid, end: u64, count: u32) -> Option<u64> {
        self.opening.clear();
        self.closing.clear();
        let candidate = |at: u64| {
            at < end
                && self
                    .most
                    .get(grid.place(at))
                    .is_some_and(|&most| most >= count)
        };
        for range in &self.ranges {
            if candidate(range.first) {
                self.opening.push(range.first);
            }
            if candidate(range.last) {
                self.closing.push(range.last);
            }
        }
        self.opening.sort_unstable();
        self.closing.sort_unstable();
        let mut closing = self.closing.iter().copied().peekable();
        for bucket in self
            .opening
            .chunk_by(|&a, &b| grid.place(a) == grid.place(b))
        {
            let place = grid.place(*bucket.first()?);
            let mut covered = self.most.get(place)?.saturating_sub(bucket.len() as u32);
            while closing.next_if(|&last| grid.place(last) < place).is_some() {}
            for &first in bucket {
                while closing.next_if(|&last| last < first).is_some() {
                    covered = covered.saturating_sub(1);
                }
                covered = covered.saturating_add(1);
                if covered >= count {
                    return Some(first);
                }
            }
        }
        None
    }

    /// The owners of the first `count` ranges that cover `at`, in order.
    pub(super) fn covering(&self, at: Time, count: usize, owners: &mut Vec<u32>) {
        let at = at.as_micros();
        owners.extend(
            self.ranges
                .iter()
                .filter(|range| range.first <= at && at <= range.last)
                .map(|range| range.owner)
                .take(count),
        );
    }
}

fn unfinished(windows: &[Interval], at: Time) -> &[Interval] {
    windows
        .get(first_unfinished(windows, at)..)
        .unwrap_or_default()
}

use alloc::vec::Vec;
use core::ops::Range;

use super::first_unfinished;
use crate::schedule::BusyTime;
use crate::time::{Span, Time};

/// Buckets in a stretch of time, about as many as ranges: enough that few share one, few enough for a first-level
/// cache.
const FEWEST_BUCKETS: usize = 64;
const MOST_BUCKETS: usize = 4096;
/// Room for as many again, so that masking an index replaces checking it.
const ROOM: usize = MOST_BUCKETS << 1;

/// The first stretch holds about this many windows of each schedule, so that what lies far behind the answer is not
/// read. To come to a schedule again costs as much as several windows, so stretches grow fast.
const WINDOWS_PER_STRETCH: usize = 3;
const STRETCH_GROWTH: u64 = 4;

/// How many buckets, from the first that may hold the answer, share a look at the schedules, and how many times as many
/// share the next look.
const FIRST_LOOK: usize = 64;
const LOOK_GROWTH: usize = 8;

/// A counting sweep over the starts that each schedule admits.
///
/// Times are bare microseconds in here: the inner loops shift and wrap them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// Of each bucket the most ranges that may cover an instant in it, once a `Scan` has passed it; until then by how
    /// much that differs from the bucket before.
    most: Vec<u32>,
    /// When the schedules become idle for ever.
    tails: Vec<u64>,
    /// Of each schedule the first window that is not over when the next stretch begins.
    cursors: Vec<usize>,
    /// The gaps of the stretch that the job fits into, ordered by owner, then by time; behind `fitting` of them is
    /// room.
    gaps: Vec<Gap>,
    fitting: usize,
    /// Of each schedule where the gaps of the next one begin.
    ends: Vec<usize>,
    /// Those that reach into the buckets that are looked at, and their owners.
    near: Vec<(u32, Gap)>,
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

/// Free time that the job can start in from `first` on and has to leave by `end`.
#[derive(Clone, Copy, Debug, Default)]
struct Gap {
    first: u64,
    end: u64,
}

/// How far the buckets have been summed up.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    index: usize,
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
    fn new(from: u64, until: u64, ranges: usize) -> Self {
        let size = ranges
            .clamp(FEWEST_BUCKETS, MOST_BUCKETS)
            .next_power_of_two();
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
    fn index_of(self, at: u64) -> usize {
        at.wrapping_sub(self.from).wrapping_shr(self.shift) as usize
    }

    /// Where a bucket begins; never beyond the end of the stretch, for what opens there is not counted.
    fn begin(self, index: usize) -> u64 {
        let end = self.until.saturating_add(1);
        if index < self.size {
            let begin = (index as u64).wrapping_shl(self.shift);
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
        let mut from = wanted.from.as_micros();
        let (until, mut width) = self.begin(schedules, wanted)?;
        while from <= until {
            let last = from.saturating_add(width).min(until);
            self.find_gaps(schedules, wanted.length, from, last);
            if self.fitting >= wanted.count as usize {
                let grid = Grid::new(from, last, self.fitting);
                self.count_ranges(wanted.length, grid);
                if let Some(answer) = self.first_in_stretch(wanted, grid) {
                    return Some(Time::from_micros(answer));
                }
            }
            from = last.saturating_add(1);
            width = width.saturating_mul(STRETCH_GROWTH);
        }
        None
    }

    /// A time at or after the answer, and the length of the first stretch. That time is when enough schedules are idle
    /// for ever, or else when the last window ends.
    fn begin<B: BusyTime>(&mut self, schedules: &[B], wanted: Wanted) -> Option<(u64, u64)> {
        self.tails.clear();
        self.cursors.clear();
        let mut latest = wanted.from;
        let mut ahead = 0_usize;
        for schedule in schedules {
            let windows = schedule.windows();
            let cursor = first_unfinished(windows, wanted.from);
            self.cursors.push(cursor);
            ahead = ahead.saturating_add(windows.len().saturating_sub(cursor));
            let tail = windows
                .last()
                .map_or(wanted.from, |w| w.end().max(wanted.from));
            latest = latest.max(tail.min(schedule.horizon()));
            if schedule.horizon() == Time::MAX && Time::MAX - tail >= wanted.length {
                self.tails.push(tail.as_micros());
            }
        }
        let last = (wanted.count as usize).checked_sub(1)?;
        let until = if last < self.tails.len() {
            *self.tails.select_nth_unstable(last).1
        } else {
            // What starts later than that does not end in time.
            latest.min(Time::MAX - wanted.length).as_micros()
        };
        let all = until.saturating_sub(wanted.from.as_micros());
        let stretches = ahead
            .checked_div(schedules.len().saturating_mul(WINDOWS_PER_STRETCH))
            .unwrap_or(0);
        Some((
            until,
            all.checked_div(stretches as u64).unwrap_or(all).max(1),
        ))
    }

    /// Looks for the answer where the buckets say that it may be.
    ///
    /// Buckets that almost hold it cost a look at the gaps of every schedule, so after each failure more of them share
    /// the next one.
    fn first_in_stretch(&mut self, wanted: Wanted, grid: Grid) -> Option<u64> {
        let mut scan = Scan::default();
        let mut look = FIRST_LOOK;
        while let Some(places) = self.next_candidates(&mut scan, grid, wanted.count, look) {
            let answer = self.resolve(wanted, grid, places);
            if answer.is_some() {
                return answer;
            }
            look = look.saturating_mul(LOOK_GROWTH);
        }
        None
    }

    /// Lists the gaps that open from `from` to `until` and are long enough.
    fn find_gaps<B: BusyTime>(&mut self, schedules: &[B], length: Span, from: u64, until: u64) {
        let length = length.as_micros();
        let mut fitting = 0_usize;
        self.ends.clear();
        for (schedule, cursor) in schedules.iter().zip(&mut self.cursors) {
            let horizon = schedule.horizon().as_micros();
            let mut windows = schedule.windows().get(*cursor..).unwrap_or_default();
            let all = windows.len();
            let room = fitting.wrapping_add(all).wrapping_add(1);
            if self.gaps.len() < room {
                self.gaps.resize(room, Gap::default());
            }
            // Whether a gap is long enough is a coin toss to the processor, so the next one replaces it rather than
            // branch.
            let mut gap = |first: u64, end: u64| {
                if let Some(gap) = self.gaps.get_mut(fitting) {
                    *gap = Gap { first, end };
                }
                // No search goes so far that this wraps.
                fitting = fitting.wrapping_add(usize::from(first.wrapping_add(length) <= end));
            };
            let mut first = from;
            while let Some((window, rest)) = windows.split_first() {
                gap(first, window.start().as_micros().min(horizon));
                first = window.end().as_micros();
                if first > until {
                    break;
                }
                windows = rest;
            }
            if first <= until {
                gap(first, horizon);
            }
            *cursor = cursor.wrapping_add(all.wrapping_sub(windows.len()));
            self.ends.push(fitting);
        }
        self.fitting = fitting;
    }

    /// Counts every range into the bucket that it opens in, and out of the one behind the bucket that it closes in.
    fn count_ranges(&mut self, length: Span, grid: Grid) {
        let length = length.as_micros();
        self.most.resize(ROOM, 0);
        let Some(most) = self.most.first_chunk_mut::<ROOM>() else {
            return;
        };
        most.iter_mut()
            .take(grid.size.wrapping_add(1))
            .for_each(|most| *most = 0);
        for gap in self.gaps.get(..self.fitting).unwrap_or_default() {
            let last = gap.end.wrapping_sub(length).min(grid.until);
            if let Some(change) = most.get_mut(grid.index_of(gap.first) % ROOM) {
                *change = change.wrapping_add(1);
            }
            if let Some(change) = most.get_mut(grid.index_of(last).wrapping_add(1) % ROOM) {
                *change = change.wrapping_sub(1);
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
        let Scan { mut index, mut sum } = *scan;
        let mut buckets = self.most.get_mut(index..grid.size)?.iter_mut();
        for most in &mut buckets {
            sum = sum.wrapping_add(*most);
            *most = sum;
            index = index.wrapping_add(1);
            if sum >= count {
                break;
            }
        }
        if sum < count || index == scan.index {
            return None;
        }
        let begin = index.wrapping_sub(1);
        for most in buckets.take(look.wrapping_sub(1)) {
            sum = sum.wrapping_add(*most);
            *most = sum;
            index = index.wrapping_add(1);
        }
        *scan = Scan { index, sum };
        Some(begin..index)
    }

    /// Picks out the gaps that open before `opening` and last until `lasting` or longer.
    fn gather(&mut self, lasting: u64, opening: u64) {
        self.near.clear();
        let mut begin = 0;
        for (owner, &end) in (0..u32::MAX).zip(&self.ends) {
            let gaps = self.gaps.get(begin..end).unwrap_or_default();
            begin = end;
            let over = gaps.partition_point(|gap| gap.end < lasting);
            for gap in gaps.get(over..).unwrap_or_default() {
                if gap.first >= opening {
                    break;
                }
                self.near.push((owner, *gap));
            }
        }
    }

    /// The first instant in these buckets that `count` ranges cover.
    ///
    /// It lies where a range opens in a candidate bucket, so only what opens or closes in these is sorted.
    fn resolve(&mut self, wanted: Wanted, grid: Grid, places: Range<usize>) -> Option<u64> {
        let (length, count) = (wanted.length.as_micros(), wanted.count);
        let (begin, end) = (grid.begin(places.start), grid.begin(places.end));
        self.gather(begin.saturating_add(length), end);
        self.opening.clear();
        self.closing.clear();
        let candidate = |at: u64| {
            (begin..end).contains(&at)
                && self
                    .most
                    .get(grid.index_of(at))
                    .is_some_and(|&most| most >= count)
        };
        for (_, gap) in &self.near {
            if candidate(gap.first) {
                self.opening.push(gap.first);
            }
            let last = gap.end.wrapping_sub(length);
            if candidate(last) {
                self.closing.push(last);
            }
        }
        self.opening.sort_unstable();
        self.closing.sort_unstable();
        let mut closing = self.closing.iter().copied().peekable();
        for bucket in self
            .opening
            .chunk_by(|&a, &b| grid.index_of(a) == grid.index_of(b))
        {
            let index = grid.index_of(*bucket.first()?);
            let mut covered = self.most.get(index)?.saturating_sub(bucket.len() as u32);
            while closing
                .next_if(|&last| grid.index_of(last) < index)
                .is_some()
            {}
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

    /// The owners of the first `count` gaps with room at `at`, in order.
    pub(super) fn covering(&self, at: Time, wanted: Wanted, owners: &mut Vec<u32>) {
        let (begin, length) = (at.as_micros(), wanted.length.as_micros());
        let end = begin.saturating_add(length);
        let covers = |gap: &Gap| gap.first <= begin && end <= gap.end;
        owners.extend(
            self.near
                .iter()
                .filter(|(_, gap)| covers(gap))
                .map(|&(owner, _)| owner)
                .take(wanted.count as usize),
        );
        // Only windows that break the rules of `BusyTime` give one owner two gaps at a time.
        owners.dedup();
    }
}

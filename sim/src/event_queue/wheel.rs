//! The wheel: events in buckets that are the finer the nearer they are.

use std::mem;

use gridweave_core::time::Time;

use super::sorting::append_in_order;
use super::store::{Chain, Store};

/// A digit of a time has this many bits.
const DIGIT_BITS: u32 = 6;
const DIGITS: usize = 1 << DIGIT_BITS;
/// One per digit of a time, the highest of which has only four bits.
const LEVELS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;

/// A bucket of more events is dealt out to finer ones rather than sorted.
const SMALL: usize = 96;
/// Buckets are added to a stretch until it has this many events, so that a host sees far enough ahead.
const ENOUGH: usize = 48;
/// No more events than this are in a stretch, unless all are for the same instant.
pub(super) const LONGEST_STRETCH: usize = ENOUGH + SMALL;

/// Events by their distance from a base that is never after the present.
///
/// An event's level is the highest digit in which its time differs from the base; in its level it is in the bucket of
/// that digit. So whatever is on a lower level is earlier, and so is whatever is in a lower bucket of the same level.
/// Events for the same instant share a bucket, in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Wheel<T> {
    base: u64,
    /// Level after level.
    buckets: Box<[Chain]>,
    /// Which buckets of each level hold anything.
    occupied: [u64; LEVELS],
    /// Which levels hold anything.
    levels: u32,
    store: Store<T>,
    /// Events on their way from a bucket to finer ones or to a stretch.
    moving: Vec<(Time, T)>,
}

impl<T: Copy> Wheel<T> {
    pub(super) fn new() -> Self {
        Self {
            base: 0,
            buckets: vec![Chain::EMPTY; LEVELS * DIGITS].into_boxed_slice(),
            occupied: [0; LEVELS],
            levels: 0,
            store: Store::new(),
            moving: Vec::new(),
        }
    }

    /// Adds an event, whose time is not before the present.
    #[inline]
    pub(super) fn insert(&mut self, at: Time, what: T) {
        let micros = at.as_micros();
        // The lowest bit changes no level, and makes a logarithm of zero impossible.
        let level = ((micros ^ self.base) | 1).ilog2() / DIGIT_BITS;
        let digit = (micros >> (level * DIGIT_BITS)) as usize % DIGITS;
        let level = level as usize;
        self.levels |= 1 << level;
        self.occupied[level] |= 1 << digit;
        let bucket = &mut self.buckets[level * DIGITS + digit];
        self.store.append(bucket, (at, what));
    }

    /// When the first event happens.
    pub(super) fn next_at(&self) -> Option<Time> {
        let (level, digit) = self.first_bucket()?;
        Some(self.buckets[level * DIGITS + digit].earliest())
    }

    /// Moves the first events to the end of `to`, in order, and says up to which instant these are all there are. The
    /// present becomes the time of the first of them.
    pub(super) fn take_stretch(&mut self, to: &mut Vec<(Time, T)>) -> Option<Time> {
        loop {
            let (level, digit) = self.first_bucket()?;
            let bucket = self.empty_bucket(level, digit);
            // What stays behind differs from the new base in the same digit as from the old one.
            self.base = bucket.earliest().as_micros();
            // All events of a bucket on the lowest level are for the same instant.
            if level == 0 || bucket.len() <= SMALL {
                return Some(self.gather(level, digit, bucket, to));
            }
            self.deal_out(bucket);
        }
    }

    fn first_bucket(&self) -> Option<(usize, usize)> {
        let level = self.levels.trailing_zeros() as usize;
        let digit = self.occupied.get(level)?.trailing_zeros() as usize;
        Some((level, digit))
    }

    /// Sorts a bucket, and those after it on its level while they are small and more events are wanted.
    fn gather(
        &mut self,
        level: usize,
        mut digit: usize,
        mut bucket: Chain,
        to: &mut Vec<(Time, T)>,
    ) -> Time {
        loop {
            if level == 0 {
                self.empty_into(bucket, to);
            } else {
                let mut unsorted = mem::take(&mut self.moving);
                self.empty_into(bucket, &mut unsorted);
                append_in_order(&unsorted, to);
                unsorted.clear();
                self.moving = unsorted;
            }
            let next = self.occupied[level].trailing_zeros() as usize;
            let wanted = to.len() < ENOUGH && next < DIGITS;
            if !wanted || self.buckets[level * DIGITS + next].len() > SMALL {
                return self.end_of(level, digit);
            }
            digit = next;
            bucket = self.empty_bucket(level, digit);
        }
    }

    fn empty_bucket(&mut self, level: usize, digit: usize) -> Chain {
        self.occupied[level] &= !(1 << digit);
        if self.occupied[level] == 0 {
            self.levels &= !(1 << level);
        }
        mem::replace(&mut self.buckets[level * DIGITS + digit], Chain::EMPTY)
    }

    /// Moves the events of a bucket to those of lower levels, which the base within it makes possible.
    fn deal_out(&mut self, mut bucket: Chain) {
        let mut moving = mem::take(&mut self.moving);
        while !bucket.is_empty() {
            self.store.take_chunk(&mut bucket, &mut moving);
            for (at, what) in moving.drain(..) {
                self.insert(at, what);
            }
        }
        self.moving = moving;
    }

    fn empty_into(&mut self, mut bucket: Chain, to: &mut Vec<(Time, T)>) {
        while !bucket.is_empty() {
            self.store.take_chunk(&mut bucket, to);
        }
    }

    /// The last instant that belongs to a bucket.
    fn end_of(&self, level: usize, digit: usize) -> Time {
        let shift = level as u32 * DIGIT_BITS;
        let above = self.base & !ones(shift + DIGIT_BITS);
        Time::from_micros(above | ((digit as u64) << shift) | ones(shift))
    }
}

/// A word whose lowest bits are set, this many of them.
const fn ones(bits: u32) -> u64 {
    match 1_u64.checked_shl(bits) {
        Some(next) => next - 1,
        None => u64::MAX,
    }
}

//! Up to 64 steps of an availability, so that a comparison with all of them fits one machine word.

use crate::time::Time;

/// How many steps a block can hold: one bit of a [`Block::mask`] each.
pub(super) const CAPACITY: usize = 64;

/// Consecutive steps: from `times[i]` on, `free[i]` processors are free.
///
/// Times and counts are apart because searches read mostly counts. Behind the last step `times` is [`Time::MAX`] and
/// `free` is zero, so that comparisons run over whole arrays of a known length.
#[derive(Clone)]
pub(super) struct Block {
    len: usize,
    free: [u32; CAPACITY],
    times: [Time; CAPACITY],
}

impl Block {
    pub(super) const EMPTY: Self = Self {
        len: 0,
        free: [0; CAPACITY],
        times: [Time::MAX; CAPACITY],
    };

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is a step, and nothing but padding behind the last one.
    pub(super) fn is_sound(&self) -> bool {
        let padding = self.times.iter().zip(&self.free).skip(self.len);
        self.len > 0
            && padding
                .into_iter()
                .all(|(&time, &free)| time == Time::MAX && free == 0)
    }

    pub(super) fn is_full(&self) -> bool {
        self.len >= CAPACITY
    }

    pub(super) fn times(&self) -> &[Time] {
        self.times.get(..self.len).unwrap_or_default()
    }

    pub(super) fn free(&self) -> &[u32] {
        self.free.get(..self.len).unwrap_or_default()
    }

    /// The counts of the steps from `index` on, to be changed.
    pub(super) fn free_from(&mut self, index: usize) -> &mut [u32] {
        self.free.get_mut(index..self.len).unwrap_or_default()
    }

    pub(super) fn time(&self, index: usize) -> Option<Time> {
        self.times().get(index).copied()
    }

    pub(super) fn free_of(&self, index: usize) -> Option<u32> {
        self.free().get(index).copied()
    }

    pub(super) fn first_time(&self) -> Time {
        self.time(0).unwrap_or(Time::MAX)
    }

    /// How many steps begin before `at`.
    pub(super) fn count_before(&self, at: Time) -> usize {
        // The padding behind the last step is the latest time there is: it never counts.
        self.times.partition_point(|&time| time < at)
    }

    /// How many steps begin at or before `at`.
    pub(super) fn count_until(&self, at: Time) -> usize {
        self.times.partition_point(|&time| time <= at).min(self.len)
    }

    /// Bit `i` tells whether step `i` has at least `threshold` free; a threshold of zero would count the padding too.
    pub(super) fn mask(&self, threshold: u32) -> u64 {
        let (halves, _) = self.free.as_chunks::<32>();
        let mut mask = 0_u64;
        for (half, shift) in halves.iter().zip([0_u32, 32]) {
            // An OR of constants under a comparison: the form that compilers turn into vector instructions.
            let mut bits = 0_u32;
            for (&free, bit) in half.iter().zip(BITS) {
                bits |= if free >= threshold { bit } else { 0 };
            }
            mask |= u64::from(bits).wrapping_shl(shift);
        }
        mask
    }

    /// How many of the last steps, without a gap, have at least `threshold` free.
    pub(super) fn free_at_the_back(&self, threshold: u32) -> usize {
        let short = self.free().iter().rev().position(|&free| free < threshold);
        short.unwrap_or(self.len)
    }

    /// Puts a step before the one at `index`; a full block loses its last step, which callers split away beforehand.
    pub(super) fn insert(&mut self, index: usize, time: Time, free: u32) {
        insert_at(&mut self.times, index, time);
        insert_at(&mut self.free, index, free);
        self.len = self.len.saturating_add(1).min(CAPACITY);
    }

    pub(super) fn push(&mut self, time: Time, free: u32) {
        self.insert(self.len, time, free);
    }

    pub(super) fn remove(&mut self, index: usize) {
        if index < self.len {
            self.remove_range(index, 1);
        }
    }

    /// Forgets the first `count` steps.
    pub(super) fn remove_front(&mut self, count: usize) {
        self.remove_range(0, count.min(self.len));
    }

    fn remove_range(&mut self, index: usize, count: usize) {
        let after = index.saturating_add(count);
        self.times.copy_within(after.min(self.len)..self.len, index);
        self.free.copy_within(after.min(self.len)..self.len, index);
        self.truncate(self.len.saturating_sub(count));
    }

    fn truncate(&mut self, len: usize) {
        for time in self.times.iter_mut().take(self.len).skip(len) {
            *time = Time::MAX;
        }
        for free in self.free.iter_mut().take(self.len).skip(len) {
            *free = 0;
        }
        self.len = len.min(self.len);
    }

    pub(super) fn clear(&mut self) {
        self.truncate(0);
    }

    /// Says that the first step begins at `time`.
    pub(super) fn begin_at(&mut self, time: Time) {
        if let Some(first) = self.times.first_mut() {
            *first = time;
        }
    }

    /// Moves the steps from `index` on to the end of `other`.
    pub(super) fn move_to(&mut self, index: usize, other: &mut Block) {
        let steps = self.times().iter().zip(self.free()).skip(index);
        for ((time, free), (to_time, to_free)) in steps.zip(
            other
                .times
                .iter_mut()
                .zip(other.free.iter_mut())
                .skip(other.len),
        ) {
            (*to_time, *to_free) = (*time, *free);
        }
        let moved = self.len.saturating_sub(index);
        other.len = other.len.saturating_add(moved).min(CAPACITY);
        self.truncate(index);
    }
}

const BITS: [u32; 32] = {
    let mut bits = [1_u32; 32];
    let mut rest: &mut [u32] = &mut bits;
    let mut bit = 1_u32;
    while let Some((first, others)) = rest.split_first_mut() {
        *first = bit;
        bit = bit.wrapping_shl(1);
        rest = others;
    }
    bits
};

fn insert_at<T: Copy>(items: &mut [T], index: usize, item: T) {
    if let Some(tail) = items.get_mut(index..) {
        tail.copy_within(..tail.len().saturating_sub(1), 1.min(tail.len()));
        if let Some(first) = tail.first_mut() {
            *first = item;
        }
    }
}

/// The runs of ones in a mask, each as the index of its first bit and of the first bit after it.
pub(super) struct Runs(pub(super) u64);

impl Iterator for Runs {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        if self.0 == 0 {
            return None;
        }
        let first = self.0.trailing_zeros();
        let length = self.0.wrapping_shr(first).trailing_ones();
        let after = first.saturating_add(length);
        self.0 &= u64::MAX.checked_shl(after).unwrap_or(0);
        Some((first as usize, after as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_sound_with_steps_and_padding_behind_them() {
        let mut block = Block::EMPTY;
        assert!(!block.is_sound());
        block.push(Time::from_secs(1), 3);
        assert!(block.is_sound());
        let wrong_count = Block {
            free: [3; CAPACITY],
            ..block.clone()
        };
        assert!(!wrong_count.is_sound());
        let wrong_time = Block {
            times: [Time::ZERO; CAPACITY],
            ..block
        };
        assert!(!wrong_time.is_sound());
    }
}

//! What a search may know about a block without reading it.
//!
//! Counts fall into size classes, each with a threshold. For every class and block the *reach* is the longest time with
//! at least the threshold free among windows that end in the block. A request for more processors than the threshold
//! cannot end where even the threshold is not free for long enough, so a search skips blocks by comparing one small
//! integer each, and reads only the others.
//!
//! A reach looks back no further than one block: behind a block that is free throughout it counts as unbounded, so that
//! a change of one block touches the reaches of that block and of the next one, and no more.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::block::{Block, Runs};
use crate::time::{Span, Time};

/// Each doubling of the count is cut into `1 << OCTAVE_BITS` classes: more of them skip more blocks, but more go stale
/// with every change.
const OCTAVE_BITS: u32 = 1;

/// A length of time, rounded so that order is kept (shorter never becomes longer, though both may become equal) into 31
/// bits, which compare fast in bulk. The lowest bit tells that it is loose: not below the truth, but perhaps above it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Reach(i32);

impl Reach {
    /// Nothing is known. Compares as long enough for everything, which makes a search stop and look; loose.
    const UNKNOWN: Self = Self(i32::MAX);
    /// The run begins before the previous block: look there.
    const UNBOUNDED: Self = Self(i32::MAX - 1);

    /// The bits of a non-negative float are ordered like the float, and conversion rounds monotonically. The greatest
    /// span becomes 2^64, far below the special values.
    pub(super) fn of(span: Span) -> Self {
        Self((span.as_micros() as f32).to_bits().cast_signed() & !1)
    }

    fn loosened(self) -> Self {
        Self(self.0 | 1)
    }

    fn is_loose(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The reaches of all blocks for one size class, in the order of the blocks.
#[derive(Clone)]
struct Class {
    threshold: u32,
    reaches: Vec<Reach>,
}

/// The reaches of all blocks for all size classes.
#[derive(Clone)]
pub(super) struct Summaries {
    classes: Vec<Class>,
}

impl Summaries {
    /// For counts up to `processors`, without any block.
    pub(super) fn new(processors: u32) -> Self {
        let next = |threshold: &u32| {
            let octave = 1_u32.checked_shl(threshold.checked_ilog2()?)?;
            threshold.checked_add((octave >> OCTAVE_BITS).max(1))
        };
        let classes = core::iter::successors(Some(1), next)
            .take_while(|&threshold| threshold <= processors)
            .map(|threshold| Class {
                threshold,
                reaches: Vec::new(),
            })
            .collect();
        Self { classes }
    }

    /// Makes room for a block at `position`.
    pub(super) fn insert(&mut self, position: usize) {
        for class in &mut self.classes {
            if position <= class.reaches.len() {
                class.reaches.insert(position, Reach::UNKNOWN);
            }
        }
    }

    /// Forgets the block at `position`.
    pub(super) fn remove(&mut self, position: usize) {
        for class in &mut self.classes {
            if position < class.reaches.len() {
                class.reaches.remove(position);
            }
        }
    }

    /// Forgets the first `count` blocks.
    pub(super) fn remove_front(&mut self, count: usize) {
        for class in &mut self.classes {
            class.reaches.drain(..count.min(class.reaches.len()));
        }
    }

    /// After steps came to blocks or left them: what was known about these positions is void.
    pub(super) fn forget(&mut self, positions: RangeInclusive<usize>) {
        for class in &mut self.classes {
            class.at(&positions).fill(Reach::UNKNOWN);
        }
    }

    /// After counts rose, all of them between `least` before and `most` after: what was known about these positions may
    /// be too little. Steps reach a threshold at or below the least, or above the most, as they did before.
    pub(super) fn raise(&mut self, positions: RangeInclusive<usize>, least: u32, most: u32) {
        for class in self.between(least, most) {
            class.at(&positions).fill(Reach::UNKNOWN);
        }
    }

    /// After counts fell, all of them between `most` before and `least` after: what was known about these positions may
    /// be too much, which still rules out what it ruled out before.
    pub(super) fn lower(&mut self, positions: RangeInclusive<usize>, least: u32, most: u32) {
        for class in self.between(least, most) {
            for reach in class.at(&positions) {
                *reach = reach.loosened();
            }
        }
    }

    /// The classes with a threshold above `least` and up to `most`.
    fn between(&mut self, least: u32, most: u32) -> &mut [Class] {
        let first = class_of(least).map_or(0, |class| class.saturating_add(1));
        let after = class_of(most).map_or(0, |class| class.saturating_add(1));
        self.classes.get_mut(first..after).unwrap_or_default()
    }

    /// The first block at or after `position` where a window of this length for `count` processors may end.
    pub(super) fn candidate(
        &mut self,
        blocks: &[Box<Block>],
        position: usize,
        count: u32,
        length: Reach,
    ) -> Option<usize> {
        let class = self.classes.get_mut(class_of(count)?)?;
        let mut position = position;
        loop {
            let reaches = class.reaches.get_mut(position..)?;
            let offset = first_at_least(reaches, length)?;
            position = position.saturating_add(offset);
            let reach = reaches.get_mut(offset)?;
            if reach.is_loose() {
                *reach = compute(blocks, position, class.threshold);
            }
            if *reach >= length {
                return Some(position);
            }
            position = position.saturating_add(1);
        }
    }

    /// Whether there is one reach per class and block, and each is what the steps say, or no less if it is loose.
    pub(super) fn agree_with(&self, blocks: &[Box<Block>]) -> bool {
        let agrees = |threshold, position, reach: Reach| {
            let truth = compute(blocks, position, threshold);
            reach == truth || (reach.is_loose() && reach > truth)
        };
        self.classes.iter().all(|class| {
            let mut reaches = class.reaches.iter().enumerate();
            class.reaches.len() == blocks.len()
                && reaches.all(|(position, &reach)| agrees(class.threshold, position, reach))
        })
    }
}

impl Class {
    fn at(&mut self, positions: &RangeInclusive<usize>) -> &mut [Reach] {
        let after = positions.end().saturating_add(1).min(self.reaches.len());
        let at = self.reaches.get_mut(*positions.start()..after);
        at.unwrap_or_default()
    }
}

/// The class with the greatest threshold that is at most `count`; none for zero.
fn class_of(count: u32) -> Option<usize> {
    let octave = count.checked_ilog2()?;
    let shift = octave.saturating_sub(OCTAVE_BITS);
    // Small counts have a class each. From there on, what remains of the count after the shift is its leading bit and
    // its place in the octave; each further octave adds as many classes as it has places.
    let index = count.wrapping_shr(shift).saturating_sub(1);
    Some(index.saturating_add(shift.wrapping_shl(OCTAVE_BITS)) as usize)
}

fn first_at_least(reaches: &[Reach], length: Reach) -> Option<usize> {
    let (chunks, rest) = reaches.as_chunks::<16>();
    let mut before = 0_usize;
    for chunk in chunks {
        // No early exit inside a chunk, so that it is compared in a few vector instructions.
        if chunk
            .iter()
            .fold(false, |any, &reach| any | (reach >= length))
        {
            let within = chunk.iter().position(|&reach| reach >= length)?;
            return Some(before.saturating_add(within));
        }
        before = before.saturating_add(chunk.len());
    }
    let within = rest.iter().position(|&reach| reach >= length)?;
    Some(before.saturating_add(within))
}

fn compute(blocks: &[Box<Block>], position: usize, threshold: u32) -> Reach {
    let Some((block, end)) = block_and_end(blocks, position) else {
        return Reach::UNKNOWN;
    };
    let mask = block.mask(threshold);
    let mut begun = None;
    if mask & 1 == 1 {
        let previous = position
            .checked_sub(1)
            .and_then(|previous| blocks.get(previous));
        if let Some(previous) = previous {
            let free = previous.free_at_the_back(threshold);
            if free >= previous.len() {
                return Reach::UNBOUNDED;
            }
            begun = previous.time(previous.len().saturating_sub(free));
        }
    }
    let longest = windows(block, mask, begun, end)
        .map(|(start, end)| end - start)
        .max();
    Reach::of(longest.unwrap_or(Span::ZERO))
}

/// The windows that the runs of `mask` make, in order; the first of them began at `begun` if it reaches into the block
/// from an earlier one, and the last lasts until `end` if nothing in the block ends it.
pub(super) fn windows(
    block: &Block,
    mask: u64,
    begun: Option<Time>,
    end: Time,
) -> impl Iterator<Item = (Time, Time)> {
    Runs(mask).map(move |(first, after)| {
        let start = block.time(first).unwrap_or(end);
        let start = if first == 0 {
            begun.unwrap_or(start)
        } else {
            start
        };
        (start, block.time(after).unwrap_or(end))
    })
}

/// The block at `position` and the time when its last step ends.
pub(super) fn block_and_end(blocks: &[Box<Block>], position: usize) -> Option<(&Block, Time)> {
    let block = blocks.get(position)?;
    let next = blocks.get(position.saturating_add(1));
    Some((block, next.map_or(Time::MAX, |next| next.first_time())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_a_count_has_the_greatest_threshold_up_to_it() {
        assert_eq!(class_of(0), None);
        for processors in [1, 2, 3, 7, 100, 1024, u32::MAX] {
            let classes = Summaries::new(processors).classes;
            let counts = (1..=processors.min(5000)).chain([processors / 2, processors]);
            for count in counts.filter(|&count| count > 0) {
                let expected = classes.partition_point(|class| class.threshold <= count) - 1;
                assert_eq!(class_of(count), Some(expected), "{count} of {processors}");
            }
        }
    }

    #[test]
    fn rounding_keeps_the_order_of_spans() {
        let mut spans: Vec<u64> = (0..64).map(|bit| 1 << bit).collect();
        spans.extend((0..63).flat_map(|bit| [(1 << bit) + 1, (1 << (bit + 1)) - 1]));
        spans.extend([0, u64::MAX, 16_777_217, 86_400_000_000, 86_400_000_001]);
        spans.sort_unstable();
        let reaches: Vec<Reach> = spans
            .iter()
            .map(|&m| Reach::of(Span::from_micros(m)))
            .collect();
        assert!(reaches.is_sorted());
        for reach in reaches {
            assert!(!reach.is_loose() && reach < reach.loosened());
            assert!(reach.loosened() < Reach::UNBOUNDED && Reach::UNBOUNDED < Reach::UNKNOWN);
        }
    }

    #[test]
    fn the_first_reach_that_is_long_enough_is_found_wherever_it_is() {
        let (short, enough) = (Reach(4), Reach(6));
        for len in 0..70 {
            let mut reaches = Vec::from_iter((0..len).map(|_| short));
            assert_eq!(first_at_least(&reaches, enough), None);
            for index in (0..len).rev() {
                if let Some(reach) = reaches.get_mut(index) {
                    *reach = enough;
                }
                assert_eq!(first_at_least(&reaches, enough), Some(index));
            }
        }
    }
}

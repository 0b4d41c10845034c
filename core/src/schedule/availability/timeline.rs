//! The steps of an availability in blocks, with what searches know about each block.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::block::{Block, CAPACITY};
use super::summary::{Reach, Summaries, block_and_end, windows};
use crate::time::{Span, Time};

/// Below this many steps a block looks for a neighbour to merge with.
const SMALL: usize = CAPACITY / 4;
/// Neighbours merge up to this many steps; the rest is room, so that the next insertion does not split them again.
const MERGED: usize = CAPACITY / 4 * 3;

/// One step: which block, and where in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cursor {
    pub(super) position: usize,
    pub(super) index: usize,
}

/// What happens to the count of a step; callers make sure that it stays in range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// So many fewer are free.
    Take(u32),
    /// So many more are free.
    Give(u32),
}

impl Change {
    pub(super) fn apply(self, free: u32) -> u32 {
        match self {
            Self::Take(count) => free.wrapping_sub(count),
            Self::Give(count) => free.wrapping_add(count),
        }
    }
}

/// What an interval holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survey {
    /// The last step in it.
    pub(super) last: Cursor,
    /// How many steps it spans.
    pub(super) steps: usize,
    /// The least count.
    pub(super) least: u32,
    /// The greatest count.
    pub(super) most: u32,
}

/// The steps in order, never none. Blocks that fall empty are kept for later, so that churn does not allocate.
#[derive(Clone)]
#[expect(
    clippy::vec_box,
    reason = "a split or a merge in the middle moves pointers, not blocks"
)]
pub(super) struct Timeline {
    blocks: Vec<Box<Block>>,
    /// When each block begins, side by side for the binary search.
    starts: Vec<Time>,
    spare: Vec<Box<Block>>,
    summaries: Summaries,
    len: usize,
}

impl Timeline {
    /// One step, that all `processors` are free from `origin` on.
    pub(super) fn new(origin: Time, processors: u32) -> Self {
        let mut first = Block::EMPTY;
        first.push(origin, processors);
        let mut summaries = Summaries::new(processors);
        summaries.insert(0);
        Self {
            blocks: Vec::from([Box::new(first)]),
            starts: Vec::from([origin]),
            spare: Vec::new(),
            summaries,
            len: 1,
        }
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn origin(&self) -> Time {
        self.starts.first().copied().unwrap_or(Time::MAX)
    }

    pub(super) fn blocks(&self) -> &[Box<Block>] {
        &self.blocks
    }

    /// How many blocks there are, with and without steps.
    #[cfg(test)]
    pub(super) fn kept_blocks(&self) -> usize {
        self.blocks.len().saturating_add(self.spare.len())
    }

    pub(super) fn starts(&self) -> &[Time] {
        &self.starts
    }

    pub(super) fn summaries(&self) -> &Summaries {
        &self.summaries
    }

    /// The last step that begins at or before `at`; the very first one if none does.
    pub(super) fn locate(&self, at: Time) -> Cursor {
        let position = self
            .starts
            .partition_point(|&start| start <= at)
            .saturating_sub(1);
        let begun = self
            .blocks
            .get(position)
            .map_or(0, |block| block.count_until(at));
        Cursor {
            position,
            index: begun.saturating_sub(1),
        }
    }

    /// The step at `place`.
    pub(super) fn step(&self, place: Cursor) -> Option<(Time, u32)> {
        let block = self.blocks.get(place.position)?;
        Some((block.time(place.index)?, block.free_of(place.index)?))
    }

    /// Where the step behind `place` is.
    pub(super) fn next(&self, place: Cursor) -> Option<Cursor> {
        let block = self.blocks.get(place.position)?;
        let index = place.index.saturating_add(1);
        if index < block.len() {
            return Some(Cursor { index, ..place });
        }
        let position = place.position.saturating_add(1);
        (position < self.blocks.len()).then_some(Cursor { position, index: 0 })
    }

    /// The count just before the step at `place`.
    pub(super) fn free_before(&self, place: Cursor) -> Option<u32> {
        match place.index.checked_sub(1) {
            Some(index) => self.blocks.get(place.position)?.free_of(index),
            None => {
                let block = self.blocks.get(place.position.checked_sub(1)?)?;
                block.free().last().copied()
            }
        }
    }

    /// What is known about the steps from `first` on that begin before `end`.
    pub(super) fn survey(&self, first: Cursor, end: Time) -> Survey {
        let mut survey = Survey {
            last: first,
            steps: 0,
            least: u32::MAX,
            most: 0,
        };
        let mut index = first.index;
        let blocks = self.blocks.get(first.position..).unwrap_or_default();
        for (position, block) in (first.position..).zip(blocks) {
            let before = match canary!(StepAtTheEndCounted) {
                true => block.count_until(end),
                false => block.count_before(end),
            };
            let counts = block.free().get(index..before).unwrap_or_default();
            if counts.is_empty() {
                break;
            }
            for &free in counts {
                survey.least = survey.least.min(free);
                survey.most = survey.most.max(free);
            }
            survey.steps = survey.steps.saturating_add(counts.len());
            survey.last = Cursor {
                position,
                index: before.saturating_sub(1),
            };
            if before < block.len() {
                break;
            }
            index = 0;
        }
        survey
    }

    /// Changes the counts of this many steps from `first` on, and returns the last of them.
    ///
    /// All counts, before and after, lie between `least` and `most`.
    pub(super) fn change(
        &mut self,
        first: Cursor,
        steps: usize,
        change: Change,
        (least, most): (u32, u32),
    ) -> Cursor {
        let mut last = first;
        let mut index = first.index;
        let mut left = steps;
        let mut behind = u32::MAX;
        let blocks = self.blocks.get_mut(first.position..).unwrap_or_default();
        for (position, block) in (first.position..).zip(blocks) {
            let counts = block.free_from(index);
            let here = counts.len().min(left);
            let (changed, rest) = counts.split_at_mut_checked(here).unwrap_or_default();
            for free in changed {
                *free = change.apply(*free);
            }
            left = left.saturating_sub(here);
            last = Cursor {
                position,
                index: index.saturating_add(here).saturating_sub(1),
            };
            if left == 0 {
                behind = rest.iter().copied().min().unwrap_or(u32::MAX);
                break;
            }
            index = 0;
        }
        let touched = first.position..=last.position;
        // The next block knows the run that reaches into it from this one, which the change concerns only up to the
        // least count between.
        let next = last.position.saturating_add(1);
        let summaries = &mut self.summaries;
        match change {
            Change::Take(_) => {
                summaries.lower(touched, least, most);
                summaries.lower(next..=next, least, most.min(behind));
            }
            Change::Give(_) => {
                summaries.raise(touched, least, most);
                summaries.raise(next..=next, least, most.min(behind));
            }
        }
        last
    }

    /// Adds a step behind the one at `place` and returns where it is. Places at or behind it are no longer valid.
    pub(super) fn insert_after(&mut self, mut place: Cursor, time: Time, free: u32) -> Cursor {
        if self
            .blocks
            .get(place.position)
            .is_some_and(|block| block.is_full())
        {
            place = self.split(place);
        }
        place.index = place.index.saturating_add(1);
        // No reach changes: the new step has the count of the one it cuts in two, or the caller changes it next.
        if let Some(block) = self.blocks.get_mut(place.position) {
            block.insert(place.index, time, free);
            self.len = self.len.saturating_add(1);
        }
        place
    }

    /// Halves the block at `place` and returns where that step is then.
    fn split(&mut self, place: Cursor) -> Cursor {
        const HALF: usize = CAPACITY / 2;
        let position = place.position.saturating_add(1);
        let mut right = self.spare.pop().unwrap_or_else(|| Box::new(Block::EMPTY));
        if let Some(left) = self.blocks.get_mut(place.position) {
            left.move_to(HALF, &mut right);
        }
        self.starts
            .insert(position.min(self.starts.len()), right.first_time());
        self.blocks.insert(position.min(self.blocks.len()), right);
        self.summaries.insert(position);
        self.summaries
            .forget(place.position..=position.saturating_add(1));
        match place.index.checked_sub(HALF) {
            Some(index) => Cursor { position, index },
            None => place,
        }
    }

    /// Removes the step at `place`, whose count equals the one before it. The first step of all stays.
    pub(super) fn remove(&mut self, place: Cursor) {
        let Some(block) = self.blocks.get_mut(place.position) else {
            return;
        };
        if (place.position == 0 && place.index == 0) || place.index >= block.len() {
            return;
        }
        block.remove(place.index);
        self.len = self.len.saturating_sub(1);
        if place.index == 0 {
            // The block before now lasts longer.
            if let Some(start) = self.starts.get_mut(place.position) {
                *start = block.first_time();
            }
            self.summaries
                .forget(place.position.saturating_sub(1)..=place.position.saturating_add(1));
        }
        if block.len() < SMALL {
            self.merge(place.position);
        }
    }

    /// Joins a small block with a neighbour, if both fit one block with room to spare.
    fn merge(&mut self, position: usize) {
        let len = |position: usize| {
            self.blocks
                .get(position)
                .map_or(CAPACITY, |block| block.len())
        };
        let fits = |left: usize, right: usize| {
            let (left, right) = (len(left), len(right));
            left == 0 || right == 0 || left.saturating_add(right) <= MERGED
        };
        let (before, after) = (position.checked_sub(1), position.saturating_add(1));
        let left = match before {
            Some(before) if fits(before, position) => before,
            _ if fits(position, after) => position,
            _ => return,
        };
        let right = left.saturating_add(1);
        if right >= self.blocks.len() {
            return;
        }
        let mut emptied = self.blocks.remove(right);
        self.starts
            .remove(right.min(self.starts.len().saturating_sub(1)));
        self.summaries.remove(right);
        if let Some(block) = self.blocks.get_mut(left) {
            emptied.move_to(0, block);
        }
        self.summaries.forget(left..=right);
        self.spare.push(emptied);
    }

    /// Forgets what lies before `now`.
    pub(super) fn advance(&mut self, now: Time) {
        if now <= self.origin() {
            return;
        }
        let Cursor { position, index } = self.locate(now);
        self.starts.drain(..position.min(self.starts.len()));
        for mut block in self.blocks.drain(..position.min(self.blocks.len())) {
            self.len = self.len.saturating_sub(block.len());
            block.clear();
            self.spare.push(block);
        }
        self.summaries.remove_front(position);
        self.summaries.forget(0..=1);
        if let Some(first) = self.blocks.first_mut() {
            first.remove_front(index);
            first.begin_at(now);
            self.len = self.len.saturating_sub(index);
        }
        if let Some(start) = self.starts.first_mut() {
            *start = now;
        }
    }

    /// The earliest start, at or after `from`, of a window of this length with `count` free throughout.
    ///
    /// Neither `count` nor `length` is zero, and `from` is not before the origin.
    pub(super) fn earliest_fit(&mut self, from: Time, count: u32, length: Span) -> Option<Time> {
        let reach = Reach::of(length);
        let Cursor {
            mut position,
            index,
        } = self.locate(from);
        // What ends before `from` does not count; what is free then counts from there on.
        let mut relevant = u64::MAX.checked_shl(u32::try_from(index).ok()?)?;
        let mut begun = None;
        loop {
            let (block, end) = block_and_end(&self.blocks, position)?;
            let mask = block.mask(count) & relevant;
            let mut open = None;
            for (start, until) in windows(block, mask, begun, end) {
                let start = start.max(from);
                if until - start >= length {
                    return Some(start);
                }
                open = (until == end).then_some(start);
            }
            let behind = position.saturating_add(1);
            position = self
                .summaries
                .candidate(&self.blocks, behind, count, reach)?;
            begun = if position == behind {
                open
            } else {
                self.begun_before(position, count, from)
            };
            relevant = u64::MAX;
        }
    }

    /// Since when, but not before `from`, `count` are free until the block at `position` begins.
    fn begun_before(&self, position: usize, count: u32, from: Time) -> Option<Time> {
        let mut begun = None;
        for block in self.blocks.get(..position).unwrap_or_default().iter().rev() {
            let free = block.free_at_the_back(count);
            let Some(time) = block.time(block.len().saturating_sub(free)) else {
                break;
            };
            begun = Some(time.max(from));
            if free < block.len() || time <= from {
                break;
            }
        }
        begun
    }
}

//! The sorted run: the events that come next, and a cheap way to add one in their midst.

use gridweave_core::time::Time;

use super::wheel::{LONGEST_STRETCH, Wheel};

/// A run this long takes no more insertions, which would move too many events. A run that was just filled and has times
/// to insert between is at most half as long, so that it takes many insertions to make it crowded.
const CROWDED: usize = 2 * LONGEST_STRETCH;

/// Events in order. Unless it is empty, it holds every pending event up to the instant it reaches that is not in the
/// lane.
#[derive(Clone, Debug)]
pub(super) struct Run<T> {
    events: Vec<(Time, T)>,
    /// How many of the events are popped already.
    popped: usize,
    reaches: Time,
}

impl<T: Copy> Run<T> {
    pub(super) const fn new() -> Self {
        Self {
            events: Vec::new(),
            popped: 0,
            reaches: Time::ZERO,
        }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.popped == self.events.len()
    }

    pub(super) const fn is_crowded(&self) -> bool {
        self.events.len() - self.popped >= CROWDED
    }

    /// Whether an event for this instant belongs here.
    #[inline]
    pub(super) fn reaches(&self, at: Time) -> bool {
        at <= self.reaches && !self.is_empty()
    }

    #[inline]
    pub(super) fn next_at(&self) -> Option<Time> {
        self.events.get(self.popped).map(|&(at, _)| at)
    }

    /// All that is left.
    pub(super) fn rest(&self) -> &[(Time, T)] {
        &self.events[self.popped..]
    }

    /// What is left at or before an instant.
    pub(super) fn until(&self, instant: Time) -> &[(Time, T)] {
        let rest = self.rest();
        &rest[..rest.partition_point(|&(at, _)| at <= instant)]
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Time, T)> {
        let event = self.events.get(self.popped).copied()?;
        self.popped += 1;
        Some(event)
    }

    /// Adds an event behind all others for the same instant, moving those on the shorter side of it.
    pub(super) fn insert(&mut self, at: Time, what: T) {
        let before = self.until(at).len();
        let index = self.popped + before;
        if self.popped > 0 && before < self.events.len() - index {
            self.events.copy_within(self.popped..index, self.popped - 1);
            self.popped -= 1;
            self.events[index - 1] = (at, what);
        } else {
            self.events.insert(index, (at, what));
        }
    }

    /// Takes the next stretch of time from the wheel, once this is empty.
    pub(super) fn fill(&mut self, wheel: &mut Wheel<T>) {
        self.events.clear();
        self.popped = 0;
        if let Some(end) = wheel.take_stretch(&mut self.events) {
            self.reaches = end;
        }
    }

    /// Gives up all events after an instant, and reaches no further than it from then on.
    pub(super) fn retreat(&mut self, instant: Time) -> impl Iterator<Item = (Time, T)> {
        self.reaches = instant;
        let kept = self.popped + self.until(instant).len();
        self.events.drain(kept..)
    }
}

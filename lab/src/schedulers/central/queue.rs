//! Waiting jobs in the order of arrival, searched for those that may start.

use gridweave_core::time::Span;

use super::task::Task;

/// So many jobs share one bound, which lets a search skip all of them at once.
const BLOCK: usize = 64;
/// Below this length the queue is not worth tidying.
const SHORT: usize = 2 * BLOCK;
/// The size of a job that is gone: it fits nowhere.
const GONE: u32 = u32::MAX;

/// What there is for a job that passes others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Room {
    /// No more processors than these.
    pub(super) free: u32,
    /// No longer than this, unless it takes from the spare ones only.
    pub(super) until: Span,
    /// Processors that may be kept for as long as one likes.
    pub(super) spare: u32,
}

impl Room {
    /// Whether a job of this size and estimate may start; also whether any job may that is no smaller and no shorter.
    fn holds(self, size: u32, estimate: Span) -> bool {
        size <= self.free && (estimate <= self.until || size <= self.spare)
    }
}

/// A waiting job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waiting {
    pub(super) estimate: Span,
    pub(super) size: u32,
    pub(super) job: u32,
}

/// No job of a block is smaller or shorter.
#[derive(Clone, Copy, Debug)]
struct Bound {
    estimate: Span,
    size: u32,
}

impl Bound {
    const NOTHING: Self = Self {
        estimate: Span::MAX,
        size: GONE,
    };

    fn with(self, waiting: &Waiting) -> Self {
        Self {
            estimate: self.estimate.min(waiting.estimate),
            size: self.size.min(waiting.size),
        }
    }
}

/// Jobs in the order of arrival. Places stay valid until [`Queue::tidy`].
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Those that are gone leave a hole.
    slots: Vec<Waiting>,
    /// One per block of slots; after a removal a bound may be too low until a search passes by.
    bounds: Vec<Bound>,
    /// Where the first waiting job is, if there is one.
    first: usize,
    waiting: usize,
}

impl Queue {
    pub(super) fn push(&mut self, job: u32, task: &Task) {
        let waiting = Waiting {
            estimate: task.estimate,
            size: task.size,
            job,
        };
        if self.slots.len().is_multiple_of(BLOCK) {
            self.bounds.push(Bound::NOTHING);
        }
        if let Some(bound) = self.bounds.last_mut() {
            *bound = bound.with(&waiting);
        }
        self.slots.push(waiting);
        self.waiting += 1;
    }

    /// The first waiting job.
    pub(super) fn head(&self) -> Option<Waiting> {
        self.slots.get(self.first).copied()
    }

    /// Takes the first waiting job out.
    pub(super) fn pop(&mut self) {
        self.remove(self.first);
    }

    /// Behind the first waiting job.
    pub(super) fn behind_head(&self) -> usize {
        self.first + 1
    }

    /// Behind all.
    pub(super) fn end(&self) -> usize {
        self.slots.len()
    }

    /// Takes out the job in this place.
    pub(super) fn remove(&mut self, index: usize) -> Waiting {
        let gone = Waiting {
            estimate: Span::MAX,
            size: GONE,
            job: self.slots[index].job,
        };
        let removed = core::mem::replace(&mut self.slots[index], gone);
        self.waiting -= 1;
        if self.waiting == 0 {
            self.slots.clear();
            self.bounds.clear();
            self.first = 0;
        } else if index == self.first {
            let behind = self.slots[index..].iter();
            self.first += behind.take_while(|waiting| waiting.size == GONE).count();
        }
        removed
    }

    /// The first place from `from` on whose job may start.
    pub(super) fn find(&mut self, from: usize, room: Room) -> Option<usize> {
        let mut start = from;
        while start < self.slots.len() {
            let block = start / BLOCK;
            let end = (block + 1) * BLOCK;
            let bound = self.bounds[block];
            if room.holds(bound.size, bound.estimate) {
                let slots = &self.slots[start..end.min(self.slots.len())];
                let found = slots.iter().position(|w| room.holds(w.size, w.estimate));
                if let Some(found) = found {
                    return Some(start + found);
                }
                if start.is_multiple_of(BLOCK) {
                    self.bounds[block] = slots.iter().fold(Bound::NOTHING, Bound::with);
                }
            }
            start = end;
        }
        None
    }

    /// Closes the holes once there are more of them than jobs; all places change.
    pub(super) fn tidy(&mut self) {
        if self.slots.len() < SHORT || self.slots.len() < 2 * self.waiting {
            return;
        }
        self.slots.retain(|waiting| waiting.size != GONE);
        self.first = 0;
        self.bounds.clear();
        let blocks = self.slots.chunks(BLOCK);
        let bounds = blocks.map(|block| block.iter().fold(Bound::NOTHING, Bound::with));
        self.bounds.extend(bounds);
    }
}

//! Waiting jobs in the order of arrival, with a fast search for jobs that may start.

use gridweave_core::time::Span;

use super::task::Task;

/// How many jobs share one bound. A search can skip all of them at once.
const BLOCK: usize = 64;
/// A shorter queue is not worth tidying.
const SHORT: usize = 2 * BLOCK;
/// The size of a hole, left by a removed job: it fits nowhere.
const GONE: u32 = u32::MAX;

/// What is free for a job that starts before its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Room {
    /// The free processors.
    pub(super) free: u32,
    /// How long a job may take, unless it fits into the spare processors.
    pub(super) until: Span,
    /// How many processors a job may keep for any time.
    pub(super) spare: u32,
}

impl Room {
    /// Whether a job of this size and estimate may start. If not, no larger or longer job may.
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

/// The smallest size and the shortest estimate in a block of jobs.
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

/// Jobs in the order of arrival. Indices stay valid until [`Queue::tidy`].
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The jobs; a removed one leaves a hole.
    slots: Vec<Waiting>,
    /// One bound per block of slots. After a removal it may be too low, until a search visits the block.
    bounds: Vec<Bound>,
    /// The index of the first waiting job, if there is one.
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

    /// Removes the first waiting job.
    pub(super) fn pop(&mut self) {
        self.remove(self.first);
    }

    /// The index behind the first waiting job.
    pub(super) fn behind_head(&self) -> usize {
        self.first + 1
    }

    /// The index behind all jobs.
    pub(super) fn end(&self) -> usize {
        self.slots.len()
    }

    /// Removes the job at this index.
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

    /// The index of the first job from `from` on that may start.
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

    /// Closes the holes once there are more of them than jobs; all indices change.
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

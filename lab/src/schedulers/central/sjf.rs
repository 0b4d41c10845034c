//! The shortest job first, by estimate: it starts once it fits, and no longer one before it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gridweave_core::time::{Span, Time};

use super::driver::{Floor, Policy, Running};
use super::observer::Observer;
use super::task::Tasks;

/// The waiting jobs, and the number of free processors.
#[derive(Debug)]
pub(super) struct Sjf<'a> {
    tasks: &'a Tasks,
    free: u32,
    /// By estimate; jobs of equal estimates in the order of arrival.
    queue: BinaryHeap<Reverse<(Span, u32)>>,
}

impl<'a> Sjf<'a> {
    pub(super) fn new(processors: u32, tasks: &'a Tasks) -> Self {
        Self {
            tasks,
            free: processors,
            queue: BinaryHeap::new(),
        }
    }
}

impl Policy for Sjf<'_> {
    fn end(&mut self, _: Time, ended: &Running) {
        self.free += ended.size;
    }

    fn arrive(&mut self, job: u32) {
        self.queue.push(Reverse((self.tasks.of(job).estimate, job)));
    }

    fn pass(&mut self, _: Time, floor: &mut Floor<'_, impl Observer>) {
        while let Some(&Reverse((_, shortest))) = self.queue.peek() {
            let Some(left) = self.free.checked_sub(self.tasks.of(shortest).size) else {
                return;
            };
            self.free = left;
            self.queue.pop();
            floor.start(shortest);
        }
    }
}

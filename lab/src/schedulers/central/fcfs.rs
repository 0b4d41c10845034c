//! Strict first come, first served: the first waiting job starts once it fits, and none before it (PROTOCOLS L15).

use std::collections::VecDeque;

use gridweave_core::time::Time;

use super::driver::{Floor, Policy, Running};
use super::observer::Observer;
use super::task::Tasks;

/// The waiting jobs, and the number of free processors.
#[derive(Debug)]
pub(super) struct Fcfs<'a> {
    tasks: &'a Tasks,
    free: u32,
    queue: VecDeque<u32>,
}

impl<'a> Fcfs<'a> {
    pub(super) fn new(processors: u32, tasks: &'a Tasks) -> Self {
        Self {
            tasks,
            free: processors,
            queue: VecDeque::new(),
        }
    }
}

impl Policy for Fcfs<'_> {
    fn end(&mut self, _: Time, ended: &Running) {
        self.free += ended.size;
    }

    fn arrive(&mut self, job: u32) {
        self.queue.push_back(job);
    }

    fn pass(&mut self, _: Time, floor: &mut Floor<'_, impl Observer>) {
        while let Some(&first) = self.queue.front() {
            let Some(left) = self.free.checked_sub(self.tasks.of(first).size) else {
                return;
            };
            self.free = left;
            self.queue.pop_front();
            floor.start(first);
        }
    }
}

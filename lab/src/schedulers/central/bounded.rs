//! Gangs of equal processors: a job may start before others only if it was passed at least as often as the first of
//! them, as on a node of P4 (PROTOCOLS L1).

use gridweave_core::time::Time;

use super::driver::{Floor, Policy, Running};
use super::observer::Observer;
use super::task::Tasks;

/// The waiting jobs in the order of arrival, each with how often it was passed, and the number of free processors.
#[derive(Debug)]
pub(super) struct Bounded<'a> {
    tasks: &'a Tasks,
    free: u32,
    queue: Vec<(u32, u32)>,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(processors: u32, tasks: &'a Tasks) -> Self {
        Self {
            tasks,
            free: processors,
            queue: Vec::new(),
        }
    }
}

impl Policy for Bounded<'_> {
    fn end(&mut self, _: Time, ended: &Running) {
        self.free += ended.size;
    }

    fn arrive(&mut self, job: u32) {
        self.queue.push((job, 0));
    }

    fn pass(&mut self, _: Time, floor: &mut Floor<'_, impl Observer>) {
        let mut index = 0;
        while let (Some(&(job, passed)), Some(&(_, head))) =
            (self.queue.get(index), self.queue.first())
        {
            let left = self.free.checked_sub(self.tasks.of(job).size);
            match left.filter(|_| passed >= head) {
                Some(left) => {
                    self.free = left;
                    self.queue.remove(index);
                    for (_, passed) in &mut self.queue[..index] {
                        *passed += 1;
                    }
                    floor.start(job);
                }
                None if self.free == 0 => return,
                None => index += 1,
            }
        }
    }
}

//! Gangs of equal processors: each job starts as soon as it fits, in the order of arrival (PROTOCOLS L16).

use gridweave_core::time::{Span, Time};

use super::driver::{Floor, Policy, Running};
use super::observer::Observer;
use super::queue::{Queue, Room};
use super::task::Tasks;

/// The waiting jobs, and the number of free processors.
#[derive(Debug)]
pub(super) struct Greedy<'a> {
    tasks: &'a Tasks,
    free: u32,
    queue: Queue,
    /// No job before this index fits until processors come back.
    searched: usize,
}

impl<'a> Greedy<'a> {
    pub(super) fn new(processors: u32, tasks: &'a Tasks) -> Self {
        Self {
            tasks,
            free: processors,
            queue: Queue::default(),
            searched: 0,
        }
    }
}

impl Policy for Greedy<'_> {
    fn end(&mut self, _: Time, ended: &Running) {
        self.free += ended.size;
        self.searched = 0;
    }

    fn arrive(&mut self, job: u32) {
        self.queue.push(job, self.tasks.of(job));
    }

    fn pass(&mut self, _: Time, floor: &mut Floor<'_, impl Observer>) {
        let mut from = self.searched;
        while self.free > 0 {
            let room = Room {
                free: self.free,
                until: Span::MAX,
                spare: self.free,
            };
            let Some(place) = self.queue.find(from, room) else {
                break;
            };
            let waiting = self.queue.remove(place);
            self.free -= waiting.size;
            floor.start(waiting.job);
            from = place + 1;
        }
        self.queue.tidy();
        self.searched = self.queue.end();
    }
}

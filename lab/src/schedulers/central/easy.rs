//! EASY backfilling: the first waiting job has a reservation, and others start if they do not delay it (PROTOCOLS 7.1).

use gridweave_core::time::Time;

use super::driver::{Floor, Policy, Running};
use super::observer::Observer;
use super::queue::{Queue, Room, Waiting};
use super::releases::Releases;
use super::task::Tasks;

/// When the first waiting job can start, and how many processors it leaves free then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reservation {
    /// The shadow time.
    at: Time,
    /// How many processors stay free from then on.
    spare: u32,
}

/// How far the queue was searched for jobs that can start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Searched {
    /// Processors came back since the last search, or no job waits: any job may start.
    Not,
    /// The first job waits for its reservation, and no job before `index` can start until processors come back: since
    /// the search, free processors and the time up to the reservation have only shrunk.
    UpTo { index: usize, head: Reservation },
}

/// The waiting jobs, the expected releases of the running ones, and the state of the search.
#[derive(Debug)]
pub(super) struct Easy<'a> {
    tasks: &'a Tasks,
    free: u32,
    queue: Queue,
    releases: Releases,
    searched: Searched,
}

impl<'a> Easy<'a> {
    pub(super) fn new(processors: u32, tasks: &'a Tasks) -> Self {
        Self {
            tasks,
            free: processors,
            queue: Queue::default(),
            releases: Releases::default(),
            searched: Searched::Not,
        }
    }

    fn start(&mut self, now: Time, waiting: Waiting, floor: &mut Floor<'_, impl Observer>) {
        self.free -= waiting.size;
        self.releases.add(now + waiting.estimate, waiting.size);
        floor.start(waiting.job);
    }

    /// Starts jobs from the head while they fit, and reserves for the first that does not; `None` if no job is left.
    fn serve_head(
        &mut self,
        now: Time,
        floor: &mut Floor<'_, impl Observer>,
    ) -> Option<Reservation> {
        loop {
            let head = self.queue.head()?;
            if head.size > self.free {
                let enough = self.releases.enough(self.free, head.size)?;
                floor.promise(head.job, enough.at);
                return Some(Reservation {
                    at: enough.at,
                    spare: enough.free - head.size,
                });
            }
            self.queue.pop();
            self.start(now, head, floor);
        }
    }

    /// Starts jobs from `from` on that do not delay the head, and returns its reservation with what is still spare.
    fn backfill(
        &mut self,
        now: Time,
        from: usize,
        mut head: Reservation,
        floor: &mut Floor<'_, impl Observer>,
    ) -> Reservation {
        let mut from = from;
        loop {
            let room = Room {
                free: self.free,
                until: head.at - now,
                spare: head.spare,
            };
            let found = (room.free > 0)
                .then(|| self.queue.find(from, room))
                .flatten();
            let Some(place) = found else {
                return head;
            };
            let waiting = self.queue.remove(place);
            // A job that ends by the shadow time takes nothing from what is spare then.
            if waiting.estimate > room.until {
                head.spare -= waiting.size;
            }
            self.start(now, waiting, floor);
            from = place + 1;
        }
    }
}

impl Policy for Easy<'_> {
    fn end(&mut self, _: Time, ended: &Running) {
        self.free += ended.size;
        self.releases.remove(ended.expected, ended.size);
        self.searched = Searched::Not;
    }

    fn arrive(&mut self, job: u32) {
        self.queue.push(job, self.tasks.of(job));
    }

    fn pass(&mut self, now: Time, floor: &mut Floor<'_, impl Observer>) {
        let (from, head) = match self.searched {
            Searched::UpTo { index, head } => (index, head),
            Searched::Not => {
                let Some(head) = self.serve_head(now, floor) else {
                    return;
                };
                (self.queue.behind_head(), head)
            }
        };
        let head = self.backfill(now, from, head, floor);
        self.queue.tidy();
        self.searched = Searched::UpTo {
            index: self.queue.end(),
            head,
        };
    }
}

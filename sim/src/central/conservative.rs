//! Conservative backfilling: every waiting job has a reservation, and none ever moves later (PROTOCOLS 7.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gridweave_core::schedule::availability::Availability;
use gridweave_core::time::{Interval, Span, Time};

use super::driver::{Floor, Policy, Running};
use super::known_fits::KnownFits;
use super::observer::Observer;
use super::task::Tasks;

/// Below this length the queue is not worth tidying.
const SHORT: usize = 128;
/// The start of a job that waits no more: no reservation starts then.
const GONE: Time = Time::MAX;
const TICK: Span = Span::from_micros(1);

/// A waiting job and its reservation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Booked {
    start: Time,
    length: Span,
    size: u32,
    job: u32,
}

/// Who waits since when and until when, and the profile of what all of them and the running jobs leave free.
#[derive(Debug)]
pub(super) struct Conservative<'a> {
    tasks: &'a Tasks,
    profile: Availability,
    /// In the order of arrival, with holes where jobs have started.
    queue: Vec<Booked>,
    waiting: usize,
    /// Every reservation by its start, with its place in the queue; those that have moved since are stale.
    starts: BinaryHeap<Reverse<(Time, u32)>>,
    arrived: Vec<u32>,
    known: KnownFits,
    /// Whether some job ended before it was expected to, since the last pass.
    ended: Ended,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    AsExpected,
    Early,
}

impl<'a> Conservative<'a> {
    pub(super) fn new(processors: u32, tasks: &'a Tasks) -> Self {
        // A grid without processors rejects every job, so its profile is never asked.
        let profile =
            Availability::with_limit(processors.max(1), usize::MAX).expect("there is a processor");
        Self {
            tasks,
            profile,
            queue: Vec::new(),
            waiting: 0,
            starts: BinaryHeap::new(),
            arrived: Vec::new(),
            known: KnownFits::new(),
            ended: Ended::AsExpected,
        }
    }

    fn earliest(&mut self, now: Time, size: u32, length: Span) -> Time {
        let fit = self.profile.earliest_fit(now, size, length);
        fit.expect("an admitted job fits before the end of time")
    }

    fn reserve(&mut self, start: Time, length: Span, size: u32) {
        let taken = self.profile.reserve(interval(start, length), size);
        taken.expect("a fit is free");
    }

    fn release(&mut self, start: Time, length: Span, size: u32) {
        let given = self.profile.release(interval(start, length), size);
        given.expect("what is released was reserved");
    }

    /// Moves each waiting job, in the order of arrival, to the earliest time at which it fits now.
    fn compress(&mut self, now: Time, floor: &mut Floor<'_, impl Observer>) {
        self.known.clear();
        for place in 0..self.queue.len() {
            let booked = self.queue[place];
            if booked.start == GONE {
                continue;
            }
            if let Some(earlier) = self.move_earlier(now, &booked) {
                self.queue[place].start = earlier;
                self.starts.push(Reverse((earlier, place as u32)));
                floor.promise(booked.job, earlier);
            }
        }
    }

    /// Moves one reservation, if it can start earlier, and returns when.
    ///
    /// Releasing it, searching and reserving it again would do, but most reservations cannot move, and that is found out
    /// without touching the profile. Let `[t, t + length)` with `t < start` be where it would fit. If it
    /// reaches into the old reservation, then the processors just before `start` must be free; if it does not, it is free
    /// in the profile as it stands.
    fn move_earlier(&mut self, now: Time, booked: &Booked) -> Option<Time> {
        let &Booked {
            start,
            length,
            size,
            ..
        } = booked;
        if start <= now {
            return None;
        }
        let touching = self.profile.free_at(start - TICK) >= size;
        let from = self.known.none_before(size, length).max(now);
        if !touching && from >= start {
            return None;
        }
        let untouched = self.earliest(from, size, length);
        self.known.learn(size, length, untouched);
        if !touching && untouched >= start {
            return None;
        }
        self.release(start, length, size);
        self.known.released(start);
        let earlier = if touching {
            self.earliest(now, size, length)
        } else {
            untouched
        };
        self.reserve(earlier, length, size);
        Some(earlier)
    }

    fn place_arrivals(&mut self, now: Time, floor: &mut Floor<'_, impl Observer>) {
        let mut arrived = core::mem::take(&mut self.arrived);
        for job in arrived.drain(..) {
            let task = self.tasks.of(job);
            let (length, size) = (task.estimate, task.size);
            let start = self.earliest(now, size, length);
            self.reserve(start, length, size);
            floor.promise(job, start);
            self.starts.push(Reverse((start, self.queue.len() as u32)));
            self.queue.push(Booked {
                start,
                length,
                size,
                job,
            });
            self.waiting += 1;
        }
        self.arrived = arrived;
    }

    /// Starts the jobs whose time has come. The profile holds their processors already, until they are expected to end.
    fn start_due(&mut self, now: Time, floor: &mut Floor<'_, impl Observer>) {
        while let Some(&Reverse((start, place))) = self.starts.peek() {
            if start > now {
                break;
            }
            self.starts.pop();
            let booked = &mut self.queue[place as usize];
            if booked.start == start {
                booked.start = GONE;
                self.waiting -= 1;
                floor.start(booked.job);
            }
        }
    }

    /// Closes the holes in the queue once there are more of them than jobs.
    fn tidy(&mut self) {
        if self.queue.len() < SHORT || self.queue.len() < 2 * self.waiting {
            return;
        }
        self.queue.retain(|booked| booked.start != GONE);
        self.starts.clear();
        let places = self.queue.iter().zip(0_u32..);
        self.starts
            .extend(places.map(|(booked, place)| Reverse((booked.start, place))));
    }
}

fn interval(start: Time, length: Span) -> Interval {
    Interval::starting(start, length).expect("all jobs are over before the end of time")
}

impl Policy for Conservative<'_> {
    fn end(&mut self, now: Time, ended: &Running) {
        if now < ended.expected {
            self.profile.advance(now);
            self.release(now, ended.expected - now, ended.size);
            self.ended = Ended::Early;
        }
    }

    fn arrive(&mut self, job: u32) {
        self.arrived.push(job);
    }

    fn pass(&mut self, now: Time, floor: &mut Floor<'_, impl Observer>) {
        self.profile.advance(now);
        if self.ended == Ended::Early {
            self.compress(now, floor);
            self.ended = Ended::AsExpected;
        }
        self.place_arrivals(now, floor);
        self.start_due(now, floor);
        self.tidy();
    }

    fn wakes_at(&mut self) -> Option<Time> {
        while let Some(&Reverse((start, place))) = self.starts.peek() {
            if self.queue[place as usize].start == start {
                return Some(start);
            }
            self.starts.pop();
        }
        None
    }

    fn nodes(self) -> Vec<Option<u32>> {
        Vec::new()
    }
}

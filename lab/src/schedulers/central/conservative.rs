//! Conservative backfilling: every waiting job has a reservation, and none ever moves later (PROTOCOLS 7.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gridweave_core::schedule::availability::Availability;
use gridweave_core::time::{Interval, Span, Time};

use super::driver::{Floor, Policy, Running};
use super::known_fits::KnownFits;
use super::observer::Observer;
use super::task::Tasks;

/// A shorter queue is not worth tidying.
const SHORT: usize = 128;
/// Marks a job that has started: no reservation starts at this time.
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

/// The waiting jobs with their reservations, and the profile of processors that these and the running jobs leave free.
#[derive(Debug)]
pub(super) struct Conservative<'a> {
    tasks: &'a Tasks,
    profile: Availability,
    /// Jobs in the order of arrival, with holes where jobs have started.
    queue: Vec<Booked>,
    waiting: usize,
    /// The starts of all reservations, with their index in the queue; an entry is stale if its reservation has moved.
    starts: BinaryHeap<Reverse<(Time, u32)>>,
    arrived: Vec<u32>,
    known: KnownFits,
    ended: Ended,
    /// The latest end that a reservation had before the last compression moved it.
    moved_until: Time,
}

/// How jobs ended since the last pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    /// All ended when expected, so that no reservation can move.
    AsExpected,
    /// Some ended early. The latest expected end of these is `until`.
    Early { until: Time },
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
            moved_until: Time::ZERO,
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

    /// Moves each waiting job, in the order of arrival, to the earliest time at which it fits now. Early ends released
    /// processors up to `until`.
    fn compress(&mut self, now: Time, until: Time, floor: &mut Floor<'_, impl Observer>) {
        self.known.clear();
        // A job was last looked at before the jobs behind it moved, so what those released counts as new.
        let mut released_until = until.max(self.moved_until);
        self.moved_until = Time::ZERO;
        for place in 0..self.queue.len() {
            let booked = self.queue[place];
            if booked.start == GONE || booked.start <= now {
                continue;
            }
            if let Some(earlier) = self.move_earlier(now, &booked, released_until) {
                self.moved_until = self.moved_until.max(booked.start + booked.length);
                released_until = released_until.max(self.moved_until);
                self.queue[place].start = earlier;
                self.starts.push(Reverse((earlier, place as u32)));
                floor.promise(booked.job, earlier);
            }
        }
    }

    /// Moves one reservation, if it can start earlier, and returns when.
    ///
    /// Most reservations cannot move, and this is found out without changing the profile. Suppose it fits at `[t, t +
    /// length)` with `t < start`. If that reaches up to `start`, its processors must be free just before `start`. They
    /// were not at the last look, so something must have been released there since. Otherwise, it fits into the profile
    /// as it is.
    fn move_earlier(&mut self, now: Time, booked: &Booked, released_until: Time) -> Option<Time> {
        let &Booked {
            start,
            length,
            size,
            ..
        } = booked;
        let touching = start <= released_until && self.profile.free_at(start - TICK) >= size;
        let earlier = if touching {
            self.release(start, length, size);
            self.earliest(now, size, length)
        } else {
            let from = self.known.none_before(size, length).max(now);
            if from >= start {
                return None;
            }
            let earlier = self.earliest(from, size, length);
            self.known.learn(size, length, earlier);
            if earlier >= start {
                return None;
            }
            self.release(start, length, size);
            earlier
        };
        self.known.released(start);
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

    /// Starts the jobs whose start has come. The profile already holds their processors, until their expected end.
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

    /// Removes holes and stale entries once there are more of them than waiting jobs.
    fn tidy(&mut self) {
        let most = SHORT.max(2 * self.waiting);
        if self.queue.len() <= most && self.starts.len() <= 2 * most {
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
            let until = match self.ended {
                Ended::AsExpected => ended.expected,
                Ended::Early { until } => until.max(ended.expected),
            };
            self.ended = Ended::Early { until };
        }
    }

    fn arrive(&mut self, job: u32) {
        self.arrived.push(job);
    }

    fn pass(&mut self, now: Time, floor: &mut Floor<'_, impl Observer>) {
        self.profile.advance(now);
        if let Ended::Early { until } = self.ended {
            self.ended = Ended::AsExpected;
            self.compress(now, until, floor);
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
}

//! A dense machine, and how fast it is to plan on: [`Availability`] beside the list that one would write without it.
//!
//! The machine has [`PROCESSORS`] processors. Jobs want a count that is log-uniform in 1..=512, and a length that is
//! uniform from a minute to a day in whole seconds. [`Dense::build`] places each at its earliest fit from zero on; when
//! the last of them ends is the makespan. Then churn moves every reservation five times on average, after which the
//! profile has 1.6 to 1.7 steps per reservation, and in the first half of the makespan 72 % (100 reservations), 86 %
//! (1,000) and 89 % (10,000) of the processors are taken.
//!
//! A find asks for a job of the mix from a random time in the first half on. Churn removes a random reservation, finds
//! its earliest fit from a random time in the first quarter on, and adds it there: more wants to be early than fits, so
//! the profile stays dense.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gridweave_core::rng::Choose;
use gridweave_core::schedule::availability::{Availability, Booking};
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// How many processors the machine has.
pub const PROCESSORS: u32 = 1024;

/// How often each reservation moves, on average, before anything is measured.
const ROUNDS: usize = 5;

/// Something that knows how many processors are free when.
pub trait Profile: Clone {
    /// All processors free from time zero on.
    fn free(processors: u32) -> Self;
    /// When `count` are free for `length`, at or after `from`; the request is possible.
    fn find(&mut self, from: Time, count: u32, length: Span) -> Time;
    /// Takes what is known to be free.
    fn add(&mut self, booking: Booking);
    /// Gives back what is known to be taken.
    fn remove(&mut self, booking: Booking);
}

impl Profile for Availability {
    fn free(processors: u32) -> Self {
        Self::new(processors).expect("a machine has processors")
    }
    fn find(&mut self, from: Time, count: u32, length: Span) -> Time {
        self.earliest_fit(from, count, length)
            .expect("the request is possible")
    }
    fn add(&mut self, booking: Booking) {
        self.reserve(booking.interval, booking.count)
            .expect("the place was found free");
    }
    fn remove(&mut self, booking: Booking) {
        self.release(booking.interval, booking.count)
            .expect("the booking was added");
    }
}

/// A sorted list of steps, searched from `from` on one by one: what an embedder would write first.
#[derive(Clone, Debug)]
pub struct PlainList {
    steps: Vec<(Time, u32)>,
}

impl PlainList {
    /// The step that holds `at`, made to begin there.
    fn cut(&mut self, at: Time) -> usize {
        let after = self.steps.partition_point(|&(time, _)| time <= at);
        let holding = after.saturating_sub(1);
        if self.steps[holding].0 == at {
            return holding;
        }
        self.steps.insert(after, (at, self.steps[holding].1));
        after
    }

    fn change(&mut self, interval: Interval, change: impl Fn(u32) -> u32) {
        let start = self.cut(interval.start());
        let end = self.cut(interval.end());
        for (_, free) in &mut self.steps[start..end] {
            *free = change(*free);
        }
        for edge in [end, start] {
            if edge > 0 && self.steps[edge - 1].1 == self.steps[edge].1 {
                self.steps.remove(edge);
            }
        }
    }
}

impl Profile for PlainList {
    fn free(processors: u32) -> Self {
        Self {
            steps: vec![(Time::ZERO, processors)],
        }
    }

    fn find(&mut self, from: Time, count: u32, length: Span) -> Time {
        let first = self.steps.partition_point(|&(time, _)| time <= from);
        let mut start = from;
        let mut open = false;
        for &(time, free) in &self.steps[first.saturating_sub(1)..] {
            if open && time - start >= length {
                return start;
            }
            if free < count {
                open = false;
            } else if !open {
                (open, start) = (true, time.max(from));
            }
        }
        start
    }

    fn add(&mut self, booking: Booking) {
        self.change(booking.interval, |free| free - booking.count);
    }

    fn remove(&mut self, booking: Booking) {
        self.change(booking.interval, |free| free + booking.count);
    }
}

/// What a find asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Not before.
    pub from: Time,
    /// How many processors.
    pub count: u32,
    /// For how long.
    pub length: Span,
}

/// A dense profile with what it holds, and more requests of the same mix.
#[derive(Clone, Debug)]
pub struct Dense<P> {
    /// The profile.
    pub profile: P,
    /// Everything it holds.
    pub bookings: Vec<Booking>,
    /// When the last of the first reservations ends.
    pub makespan: Time,
    rng: Xoshiro256PlusPlus,
}

impl<P: Profile> Dense<P> {
    /// That many reservations; the same for the same seed, whatever the profile.
    pub fn build(reservations: usize, seed: u64) -> Self {
        let mut dense = Self {
            profile: P::free(PROCESSORS),
            bookings: Vec::with_capacity(reservations),
            makespan: Time::ZERO,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        for _ in 0..reservations {
            let (count, length) = dense.job();
            let booking = dense.place(Time::ZERO, count, length);
            dense.makespan = dense.makespan.max(booking.interval.end());
            dense.bookings.push(booking);
        }
        for _ in 0..reservations * ROUNDS {
            dense.churn();
        }
        dense
    }

    /// The same reservations in another profile, and the same requests to come.
    pub fn on<Q: Profile>(&self) -> Dense<Q> {
        let mut profile = Q::free(PROCESSORS);
        for &booking in &self.bookings {
            profile.add(booking);
        }
        Dense {
            profile,
            bookings: self.bookings.clone(),
            makespan: self.makespan,
            rng: self.rng.clone(),
        }
    }

    /// The share of processor time that is reserved where finds start: in the first half of the makespan.
    pub fn utilisation(&self) -> f64 {
        let half = Time::from_micros(self.makespan.as_micros() / 2);
        let taken = |held: &Booking| {
            let (start, end) = (
                held.interval.start().min(half),
                held.interval.end().min(half),
            );
            f64::from(held.count) * (end - start).as_micros() as f64
        };
        let all: f64 = self.bookings.iter().map(taken).sum();
        all / (f64::from(PROCESSORS) * half.as_micros() as f64)
    }

    /// A job of the mix from a random time in the first half on.
    pub fn request(&mut self) -> Request {
        let from = self.within_the_first(2);
        let (count, length) = self.job();
        Request {
            from,
            count,
            length,
        }
    }

    /// Answers a request without changing anything.
    pub fn find(&mut self, request: Request) -> Time {
        let Request {
            from,
            count,
            length,
        } = request;
        self.profile.find(from, count, length)
    }

    /// Removes a random reservation, finds its earliest fit from a random time in the first quarter on, and adds it
    /// there.
    pub fn churn(&mut self) {
        let index = self.rng.index(self.bookings.len());
        let from = self.within_the_first(4);
        let Booking { interval, count } = self.bookings[index];
        self.profile.remove(self.bookings[index]);
        self.bookings[index] = self.place(from, count, interval.length());
    }

    fn place(&mut self, from: Time, count: u32, length: Span) -> Booking {
        let start = self.profile.find(from, count, length);
        let interval = Interval::starting(start, length).expect("a job has a length");
        let booking = Booking { interval, count };
        self.profile.add(booking);
        booking
    }

    fn job(&mut self) -> (u32, Span) {
        let octave = f64::from(self.rng.below(u32::MAX)) / f64::from(u32::MAX) * 9.0;
        let length = 60 + self.rng.below(24 * 3600 - 60 + 1);
        (octave.exp2() as u32, Span::from_secs(u64::from(length)))
    }

    /// A random time before that part of the makespan is over.
    fn within_the_first(&mut self, part: u64) -> Time {
        let seconds = u32::try_from(self.makespan.as_secs() / part).unwrap_or(u32::MAX);
        Time::from_secs(u64::from(self.rng.below(seconds)))
    }
}

/// How long single operations take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// A find, on average: all of them timed together.
    pub find_mean: Duration,
    /// The middle of single finds, each timed alone; what reading the clock takes is subtracted.
    pub find_p50: Duration,
    /// What one find in a hundred exceeds, timed likewise.
    pub find_p99: Duration,
    /// A removal, a find and an addition together, on average.
    pub churn_mean: Duration,
}

/// Times `finds` finds and `churns` rounds of churn on a dense profile. Each find runs once before it counts.
pub fn measure<P: Profile>(dense: &mut Dense<P>, finds: usize, churns: usize) -> Timing {
    let requests: Vec<Request> = (0..finds).map(|_| dense.request()).collect();
    for &request in &requests {
        black_box(dense.find(request));
    }

    let begin = Instant::now();
    for &request in &requests {
        black_box(dense.find(request));
    }
    let find_mean = per(begin.elapsed(), finds);

    let clock = percentile(&mut alone(&requests, |_| ()), 50);
    let mut single = alone(&requests, |&request| {
        black_box(dense.find(request));
    });
    let find_p50 = percentile(&mut single, 50).saturating_sub(clock);
    let find_p99 = percentile(&mut single, 99).saturating_sub(clock);

    let begin = Instant::now();
    for _ in 0..churns {
        dense.churn();
    }
    let churn_mean = per(begin.elapsed(), churns);
    Timing {
        find_mean,
        find_p50,
        find_p99,
        churn_mean,
    }
}

fn alone<T>(items: &[T], mut run: impl FnMut(&T)) -> Vec<Duration> {
    let time = |item| {
        let begin = Instant::now();
        run(item);
        begin.elapsed()
    };
    items.iter().map(time).collect()
}

fn per(total: Duration, operations: usize) -> Duration {
    total / u32::try_from(operations).unwrap_or(u32::MAX).max(1)
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(index).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_list_answers_as_availability_does() {
        let mut ours = Dense::<Availability>::build(300, 1);
        let mut plain = ours.on::<PlainList>();
        for _ in 0..300 {
            let request = ours.request();
            plain.request();
            assert_eq!(ours.find(request), plain.find(request), "{request:?}");
            ours.churn();
            plain.churn();
        }
        assert_eq!(ours.bookings, plain.bookings);
        assert!(ours.profile.steps().eq(plain.profile.steps.iter().copied()));
    }

    #[test]
    fn the_same_seed_makes_the_same_profile_and_it_is_dense() {
        let one = Dense::<Availability>::build(1000, 1);
        assert_eq!(one.profile, Dense::<Availability>::build(1000, 1).profile);
        assert_ne!(one.profile, Dense::<Availability>::build(1000, 2).profile);
        assert!(
            (0.8..0.95).contains(&one.utilisation()),
            "{}",
            one.utilisation()
        );
    }
}

//! Random operations on a profile and on an obvious twin.

use super::*;
use crate::rng::Choose;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// One count per slot of `unit` microseconds; the last slot lasts until the end of time.
struct Twin {
    processors: u32,
    unit: u64,
    origin: usize,
    free: Vec<u32>,
}

impl Twin {
    fn new(processors: u32, slots: usize, unit: u64) -> Self {
        Self {
            processors,
            unit,
            origin: 0,
            free: std::vec![processors; slots],
        }
    }

    fn time(&self, slot: usize) -> Time {
        if slot >= self.free.len() {
            return Time::MAX;
        }
        at(slot as u64 * self.unit)
    }

    fn interval(&self, (start, end): (usize, usize)) -> Interval {
        Interval::new(self.time(start), self.time(end)).unwrap()
    }

    fn reserve(&mut self, (start, end): (usize, usize), count: u32) -> Result<(), ReserveError> {
        if count == 0 {
            return Err(ReserveError::ZeroCount);
        }
        if count > self.processors {
            return Err(ReserveError::MoreThanProcessors);
        }
        if start < self.origin {
            return Err(ReserveError::BeforeOrigin);
        }
        if self.free[start..end].iter().any(|&free| free < count) {
            return Err(ReserveError::NotFree);
        }
        self.free[start..end].iter_mut().for_each(|f| *f -= count);
        Ok(())
    }

    fn release(&mut self, (start, end): (usize, usize), count: u32) -> Result<(), ReleaseError> {
        if count == 0 {
            return Err(ReleaseError::ZeroCount);
        }
        if start < self.origin {
            return Err(ReleaseError::BeforeOrigin);
        }
        let most = self.processors;
        if self.free[start..end]
            .iter()
            .any(|&free| free + count > most)
        {
            return Err(ReleaseError::MoreThanReserved);
        }
        self.free[start..end].iter_mut().for_each(|f| *f += count);
        Ok(())
    }

    /// The slot where `slots` slots in a row have `count` free; the last slot is as long as a caller asks.
    fn earliest_fit(&self, from: usize, count: u32, slots: usize) -> Option<usize> {
        let mut run = 0;
        for slot in from.max(self.origin)..self.free.len() {
            run = if self.free[slot] >= count { run + 1 } else { 0 };
            if run == slots {
                return Some(slot + 1 - slots);
            }
        }
        (run > 0).then(|| self.free.len() - run)
    }

    fn compress(&mut self, from: usize, bookings: &mut [((usize, usize), u32)]) -> usize {
        let mut moved = 0;
        for ((start, end), count) in bookings {
            let slots = *end - *start;
            if *start < from || self.release((*start, *end), *count).is_err() {
                continue;
            }
            let earlier = self.earliest_fit(from, *count, slots).unwrap();
            assert!(earlier <= *start, "no booking moves later");
            moved += usize::from(earlier < *start);
            (*start, *end) = (earlier, earlier + slots);
            self.reserve((*start, *end), *count).unwrap();
        }
        moved
    }

    fn steps(&self) -> Vec<(u64, u32)> {
        let mut steps = Vec::<(u64, u32)>::new();
        for slot in self.origin..self.free.len() {
            if steps.last().is_none_or(|last| last.1 != self.free[slot]) {
                steps.push((self.time(slot).as_micros(), self.free[slot]));
            }
        }
        steps
    }
}

/// What the random operations are like.
struct Drive {
    seed: u64,
    processors: u32,
    slots: usize,
    unit: u64,
    longest: u32,
    widest: u32,
    live: usize,
    operations: usize,
}

/// The profile and its twin under the same random operations.
struct Pair {
    drive: Drive,
    rng: Xoshiro256PlusPlus,
    profile: Availability,
    twin: Twin,
    held: Vec<((usize, usize), u32)>,
    most_steps: usize,
    refused: usize,
    moved: usize,
}

impl Pair {
    fn new(drive: Drive) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(drive.seed),
            profile: Availability::new(drive.processors).unwrap(),
            twin: Twin::new(drive.processors, drive.slots, drive.unit),
            held: Vec::new(),
            most_steps: 0,
            refused: 0,
            moved: 0,
            drive,
        }
    }

    fn slots(&mut self) -> usize {
        1 + self.rng.below(self.drive.longest) as usize
    }

    fn count(&mut self) -> u32 {
        // Small counts more often than large ones, zero and too many now and then.
        let widest = 1 + self.rng.below(self.drive.widest + 2);
        self.rng.below(widest + 1)
    }

    fn any_interval(&mut self) -> (usize, usize) {
        let start = self.rng.index(self.drive.slots);
        let end = (start + self.slots()).min(self.drive.slots);
        (start, end)
    }

    /// Reserves at the earliest fit from a random time on, so that the profile becomes dense.
    fn place(&mut self) {
        let from = self.rng.index(self.drive.slots / 2);
        let (count, slots) = (self.count(), self.slots());
        let fit = self.find(from, count, slots);
        if let Some(start) = fit
            && start + slots < self.drive.slots
        {
            self.reserve((start, start + slots), count);
        }
    }

    fn find(&mut self, from: usize, count: u32, slots: usize) -> Option<usize> {
        let length = long(slots as u64 * self.drive.unit);
        let found = self
            .profile
            .earliest_fit(self.twin.time(from), count, length);
        if count == 0 {
            assert_eq!(found, Err(FitError::ZeroCount));
            return None;
        }
        if count > self.drive.processors {
            assert_eq!(found, Err(FitError::MoreThanProcessors));
            return None;
        }
        let expected = self.twin.earliest_fit(from, count, slots);
        let time = expected.map(|slot| self.twin.time(slot));
        assert_eq!(found.ok(), time, "seed {}", self.drive.seed);
        expected
    }

    fn reserve(&mut self, slots: (usize, usize), count: u32) {
        let done = self.profile.reserve(self.twin.interval(slots), count);
        assert_eq!(done, self.twin.reserve(slots, count));
        match done {
            Ok(()) => self.held.push((slots, count)),
            Err(_) => self.refused += 1,
        }
    }

    fn release_one(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let index = self.rng.index(self.held.len());
        let (slots, count) = self.held.swap_remove(index);
        self.release(slots, count);
    }

    fn release(&mut self, slots: (usize, usize), count: u32) {
        let done = self.profile.release(self.twin.interval(slots), count);
        assert_eq!(done, self.twin.release(slots, count));
        self.refused += usize::from(done.is_err());
    }

    fn advance(&mut self, slots: usize) {
        let slot = self.twin.origin + slots;
        if slot + 1 < self.drive.slots / 2 {
            self.twin.origin = slot;
            self.profile.advance(self.twin.time(slot));
            self.held.retain(|((start, _), _)| *start >= slot);
        }
        self.profile.advance(Time::ZERO);
        assert_eq!(self.profile.origin(), self.twin.time(self.twin.origin));
    }

    fn compress(&mut self) {
        let from = self.twin.origin + self.rng.index(self.drive.slots / 2);
        self.rng.shuffle(&mut self.held);
        // A twin cannot move what lasts until the end of time: it does not know how long that is.
        self.held
            .sort_by_key(|((_, end), _)| *end == self.drive.slots);
        let movable = self
            .held
            .partition_point(|((_, end), _)| *end < self.drive.slots);
        let some = movable.min(100);
        let chosen = &mut self.held[..some];
        let mut bookings: Vec<Booking> = chosen
            .iter()
            .map(|&(slots, count)| Booking {
                interval: self.twin.interval(slots),
                count,
            })
            .collect();
        let moved = self.profile.compress(self.twin.time(from), &mut bookings);
        assert_eq!(moved, self.twin.compress(from, chosen));
        for (booking, (slots, _)) in bookings.iter().zip(chosen) {
            assert_eq!(booking.interval, self.twin.interval(*slots));
        }
        self.moved += moved;
    }

    fn step(&mut self) {
        match self.rng.below(100) {
            0..30 => {
                let (from, count, slots) =
                    (self.rng.index(self.drive.slots), self.count(), self.slots());
                self.find(from, count, slots);
            }
            30..60 => self.place(),
            60..70 => {
                let (slots, count) = (self.any_interval(), self.count());
                self.reserve(slots, count);
            }
            70..75 => {
                let (slots, count) = (self.any_interval(), self.count());
                let before = self.twin.steps();
                self.release(slots, count);
                // A part of some reservations may be gone: give it back, so that what is held stays held.
                if self.twin.steps() != before {
                    self.reserve(slots, count);
                    self.held.pop();
                }
            }
            75..98 => {
                // More often than a reservation is placed, if there are too many already.
                self.release_one();
                if self.held.len() >= self.drive.live {
                    self.release_one();
                }
            }
            98 => {
                let slots = self.rng.index(3);
                self.advance(slots);
            }
            _ => self.compress(),
        }
        self.most_steps = self.most_steps.max(self.profile.step_count());
    }

    fn compare(&mut self) {
        let seed = self.drive.seed;
        assert_eq!(self.profile.check(), Ok(()), "seed {seed}");
        assert_eq!(steps(&self.profile), self.twin.steps(), "seed {seed}");
        let slots = self.any_interval();
        let slots = (slots.0.max(self.twin.origin), slots.1);
        if slots.0 < slots.1 {
            let least = self.twin.free[slots.0..slots.1].iter().min();
            let interval = self.twin.interval(slots);
            assert_eq!(Some(&self.profile.least_free(interval)), least);
            let free = self.twin.free[slots.0];
            assert_eq!(self.profile.free_at(interval.start()), free);
        }
    }

    /// Runs the drive, comparing everything every so often.
    fn run(mut self, every: usize) -> Self {
        for _ in 0..self.drive.live * 2 {
            if self.held.len() < self.drive.live {
                self.place();
            }
        }
        for operation in 0..self.drive.operations {
            self.step();
            if operation % every == 0 {
                self.compare();
            }
        }
        self.compare();
        self
    }
}

#[test]
fn a_small_machine_does_exactly_what_its_twin_does() {
    for seed in 0..40 {
        let pair = Pair::new(Drive {
            seed,
            processors: 1 + seed as u32 % 9,
            slots: 60,
            unit: 1,
            longest: 12,
            widest: 1 + seed as u32 % 9,
            live: 14,
            operations: 400,
        })
        .run(1);
        assert!(pair.refused > 20, "{}", pair.refused);
    }
}

#[test]
fn a_large_machine_with_many_blocks_does_exactly_what_its_twin_does() {
    let pair = Pair::new(Drive {
        seed: 7,
        processors: 1024,
        slots: 30_000,
        unit: 60_000_000,
        longest: 100,
        widest: 300,
        live: 5000,
        operations: 2000,
    })
    .run(200);
    assert!(pair.held.len() > 4000, "{}", pair.held.len());
    assert!(pair.most_steps > 64 * 80, "{}", pair.most_steps);
    assert!(pair.moved > 50, "{}", pair.moved);
}

#[test]
fn times_too_long_for_exact_summaries_do_exactly_what_their_twin_does() {
    let pair = Pair::new(Drive {
        seed: 8,
        processors: 100,
        slots: 4000,
        unit: (1 << 50) + 1,
        longest: 70,
        widest: 60,
        live: 600,
        operations: 4000,
    })
    .run(100);
    assert!(pair.most_steps > 64 * 8, "{}", pair.most_steps);
    assert!(pair.moved > 50, "{}", pair.moved);
}

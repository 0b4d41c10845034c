//! One node's schedule in its daily work: [`Schedule`] beside the map behind a lock that one would write without it.
//!
//! A node has a fixed number of reservations, of a minute to an hour each, packed so that it is busy some 85 % of the
//! time. One round finds the earliest fit for a new one from a random time on, holds and commits it, and releases a
//! random other one, so that the number stays the same.

use std::collections::BTreeMap;
use std::sync::Mutex;

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::rng::Choose;
use gridweave_core::schedule::{Attempt, Reservation, Schedule};
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// A structure that keeps the reservations of a node from overlapping.
pub trait Node {
    /// A structure without reservations.
    fn idle() -> Self;
    /// The earliest free interval of this length at or after `from`.
    fn fit(&self, from: Time, length: Span) -> Interval;
    /// Holds, then commits; `false` if another job is there.
    fn take(&mut self, attempt: Attempt, interval: Interval) -> bool;
    /// Gives back what was taken.
    fn give(&mut self, attempt: Attempt, interval: Interval);
}

/// The schedule of the core.
pub type Ours = Schedule<Vec<Reservation>>;

impl Node for Ours {
    fn idle() -> Self {
        Self::with_limit(usize::MAX)
    }
    fn fit(&self, from: Time, length: Span) -> Interval {
        self.earliest_fit(from, length).expect("time goes on")
    }
    fn take(&mut self, attempt: Attempt, interval: Interval) -> bool {
        self.hold(attempt, interval, Time::MAX).is_ok() && self.commit(attempt).is_ok()
    }
    fn give(&mut self, attempt: Attempt, _: Interval) {
        self.release(attempt);
    }
}

/// Starts to ends and holders, behind a lock: what an embedder would write first.
///
/// It has no leases, epochs or swaps, so it does less for its time.
#[derive(Debug, Default)]
pub struct LockedMap(Mutex<BTreeMap<Time, (Time, Attempt)>>);

impl LockedMap {
    fn locked<T>(&self, work: impl FnOnce(&mut BTreeMap<Time, (Time, Attempt)>) -> T) -> T {
        work(&mut self.0.lock().expect("nobody panics while holding it"))
    }
}

impl Node for LockedMap {
    fn idle() -> Self {
        Self::default()
    }

    fn fit(&self, from: Time, length: Span) -> Interval {
        self.locked(|map| {
            let before = map
                .range(..=from)
                .next_back()
                .map_or(from, |(_, (end, _))| *end);
            let mut start = before.max(from);
            for (next, (end, _)) in map.range(start..) {
                if start + length <= *next {
                    break;
                }
                start = *end;
            }
            Interval::starting(start, length).expect("time goes on")
        })
    }

    fn take(&mut self, attempt: Attempt, interval: Interval) -> bool {
        // Holding and committing are two messages, hence two locks.
        let held = self.locked(|map| {
            let before = map.range(..interval.end()).next_back();
            let free = before.is_none_or(|(_, (end, _))| *end <= interval.start());
            if free {
                map.insert(interval.start(), (interval.end(), attempt));
            }
            free
        });
        held && self.locked(|map| {
            map.get(&interval.start())
                .is_some_and(|(_, by)| *by == attempt)
        })
    }

    fn give(&mut self, _: Attempt, interval: Interval) {
        self.locked(|map| map.remove(&interval.start()));
    }
}

/// A node at work.
#[derive(Clone, Debug)]
pub struct Work<N> {
    node: N,
    held: Vec<(Attempt, Interval)>,
    rng: Xoshiro256PlusPlus,
    jobs: u64,
    horizon: u32,
}

impl<N: Node> Work<N> {
    /// A node with this many reservations.
    pub fn with(reservations: usize, seed: u64) -> Self {
        // Half an hour on average, busy 85 % of the time.
        let horizon = u32::try_from(reservations * 1830 * 100 / 85).expect("some months");
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut work = Self {
            node: N::idle(),
            held: Vec::new(),
            rng,
            jobs: 0,
            horizon,
        };
        while work.held.len() < reservations {
            work.add();
        }
        work
    }

    /// One round: a new reservation, and a random other one released. Returns when the new one starts.
    pub fn round(&mut self) -> Time {
        let start = self.add();
        let (attempt, interval) = self.held.swap_remove(self.rng.index(self.held.len()));
        self.node.give(attempt, interval);
        start
    }

    /// A search alone.
    pub fn fit(&mut self) -> Interval {
        let (from, length) = self.wish();
        self.node.fit(from, length)
    }

    fn wish(&mut self) -> (Time, Span) {
        let from = Time::from_secs(u64::from(self.rng.below(self.horizon)));
        (from, Span::from_secs(u64::from(self.rng.below(3541)) + 60))
    }

    fn add(&mut self) -> Time {
        let (from, length) = self.wish();
        let fit = self.node.fit(from, length);
        let attempt = Attempt::new(JobId::new(self.jobs), Epoch::new(0));
        self.jobs += 1;
        assert!(self.node.take(attempt, fit), "a fit is free");
        self.held.push((attempt, fit));
        fit.start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_nodes_find_the_same_times() {
        let mut ours = Work::<Ours>::with(50, 1);
        let mut map = Work::<LockedMap>::with(50, 1);
        for _ in 0..500 {
            assert_eq!(ours.round(), map.round());
            assert_eq!(ours.fit(), map.fit());
        }
    }
}

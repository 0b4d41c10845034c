//! Threads that claim and release slots of one node: [`SlotLedger`] beside a [`Schedule`] behind a lock.
//!
//! Every thread keeps some tickets. In a round it claims a row of slots at a random place, and if it now has more
//! tickets than it may keep, releases the oldest. The lock is taken once for each, as claim and release are different
//! messages.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Instant;

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::rng::Choose;
use gridweave_core::schedule::ledger::{Hold, Slot, SlotLedger, SlotRange, SlotScale};
use gridweave_core::schedule::{Attempt, Reservation, Schedule};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// A structure that gives each slot of a node to one claimant.
pub trait Node: Sync {
    /// The proof of a claim, needed to release it.
    type Ticket<'a>
    where
        Self: 'a;
    /// A structure with no claims.
    fn idle() -> Self;
    /// Claims all these slots, or none.
    fn claim(&self, slots: SlotRange) -> Option<Self::Ticket<'_>>;
    /// Releases the slots of a ticket.
    fn release(&self, ticket: Self::Ticket<'_>);
}

/// Room for 8,192 slots, of which a load may use fewer.
const WORDS: usize = 1024;

/// The ledger of the core.
pub type Ours = SlotLedger<WORDS>;

impl Node for Ours {
    type Ticket<'a> = Hold<&'a Self, WORDS>;

    fn idle() -> Self {
        Self::new()
    }
    fn claim(&self, slots: SlotRange) -> Option<Self::Ticket<'_>> {
        self.claim(slots).ok()
    }
    fn release(&self, ticket: Self::Ticket<'_>) {
        ticket.release();
    }
}

/// The schedule of the core behind the standard library's lock, with a number for each claim.
#[derive(Debug)]
pub struct Locked {
    schedule: Mutex<Schedule<Vec<Reservation>>>,
    claims: AtomicU64,
    scale: SlotScale,
}

impl Node for Locked {
    type Ticket<'a> = Attempt;

    fn idle() -> Self {
        Self {
            schedule: Mutex::new(Schedule::with_limit(usize::MAX)),
            claims: AtomicU64::new(0),
            scale: SlotScale::new(Time::ZERO, Span::from_secs(60)).expect("a minute"),
        }
    }
    fn claim(&self, slots: SlotRange) -> Option<Attempt> {
        let attempt = Attempt::new(
            JobId::new(self.claims.fetch_add(1, Ordering::Relaxed)),
            Epoch::new(0),
        );
        let interval = self.scale.interval_of(slots).ok()?;
        let mut schedule = self.schedule.lock().expect("nobody panics with it");
        schedule.hold(attempt, interval, Time::MAX).ok()?;
        Some(attempt)
    }
    fn release(&self, attempt: Attempt) {
        let mut schedule = self.schedule.lock().expect("nobody panics with it");
        schedule.release(attempt);
    }
}

/// What every thread does.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// What a table calls it.
    pub name: &'static str,
    /// The fewest slots of a claim.
    pub shortest: u32,
    /// The most slots of a claim.
    pub longest: u32,
    /// Claims lie within this many slots.
    pub slots: u32,
    /// How many tickets a thread keeps.
    pub kept: usize,
}

impl Load {
    /// Short and long claims, with few and with many conflicts.
    pub const ALL: [Self; 4] = [
        Self {
            name: "1 to 4 slots of 8,192, 32 kept",
            shortest: 1,
            longest: 4,
            slots: 8192,
            kept: 32,
        },
        Self {
            name: "40 slots of 8,192, 32 kept",
            shortest: 40,
            longest: 40,
            slots: 8192,
            kept: 32,
        },
        Self {
            name: "1 to 4 slots of 64, 4 kept",
            shortest: 1,
            longest: 4,
            slots: 64,
            kept: 4,
        },
        Self {
            name: "40 slots of 128, 1 kept",
            shortest: 40,
            longest: 40,
            slots: 128,
            kept: 1,
        },
    ];

    /// One thread at work; how many claims succeeded.
    fn work<N: Node>(self, node: &N, rounds: u32, seed: u64) -> u32 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut kept = VecDeque::with_capacity(self.kept + 1);
        let mut granted = 0;
        for _ in 0..rounds {
            let count = self.shortest + rng.below(self.longest - self.shortest + 1);
            let first = Slot::new(rng.below(self.slots - count + 1));
            let slots = SlotRange::new(first, count).expect("some slots");
            if let Some(ticket) = node.claim(slots) {
                granted += 1;
                kept.push_back(ticket);
            }
            // Also after a refusal, so that the slots that were in the way become free.
            if kept.len() > self.kept || rng.below(8) == 0 {
                kept.pop_front()
                    .into_iter()
                    .for_each(|ticket| node.release(ticket));
            }
        }
        kept.into_iter().for_each(|ticket| node.release(ticket));
        granted
    }
}

/// The result of some rounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turn {
    /// Rounds of all threads per second that passed.
    pub rate: f64,
    /// The share of claims that succeeded.
    pub granted: f64,
}

/// Runs `rounds` rounds on each thread, timed from the first start to the last end.
pub fn turn<N: Node>(load: Load, threads: u32, rounds: u32) -> Turn {
    let node = N::idle();
    let start = Barrier::new(threads as usize);
    let worked: Vec<_> = thread::scope(|scope| {
        let worker = |seed: u32| {
            let (node, start) = (&node, &start);
            scope.spawn(move || {
                start.wait();
                let begin = Instant::now();
                let granted = black_box(load.work(node, rounds, u64::from(seed)));
                (begin, Instant::now(), granted)
            })
        };
        let workers: Vec<_> = (0..threads).map(worker).collect();
        let ended = workers.into_iter();
        ended
            .map(|worker| worker.join().expect("no panic"))
            .collect()
    });
    let begin = worked.iter().map(|(begin, _, _)| *begin).min();
    let end = worked.iter().map(|(_, end, _)| *end).max();
    let passed = begin.zip(end).map(|(begin, end)| end - begin);
    let granted: u32 = worked.iter().map(|(_, _, granted)| granted).sum();
    let all = f64::from(threads) * f64::from(rounds);
    Turn {
        rate: all / passed.expect("at least one thread").as_secs_f64(),
        granted: f64::from(granted) / all,
    }
}

/// The fastest turn of each contestant, which take turns: ours, then the lock.
pub fn compare(load: Load, threads: u32, rounds: u32, turns: usize) -> [Turn; 2] {
    let faster = |a: Turn, b: Turn| if a.rate < b.rate { b } else { a };
    let both = || {
        [
            turn::<Ours>(load, threads, rounds),
            turn::<Locked>(load, threads, rounds),
        ]
    };
    (1..turns).fold(both(), |[ours, locked], _| {
        let [our_turn, locked_turn] = both();
        [faster(ours, our_turn), faster(locked, locked_turn)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_nodes_grant_the_same_claims_to_one_thread() {
        for load in Load::ALL {
            let [ours, locked] = compare(load, 1, 5_000, 1);
            assert_eq!(ours.granted, locked.granted, "{}", load.name);
            assert!(ours.granted > 0.1 && ours.granted < 1.0, "{}", load.name);
        }
    }
}

//! A small grid that searches common slots with [`CommonSearch`], beside one bitmap per node.

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::schedule::common_slot::{BestFit, CommonSearch, InOrder, NoCommonSlot, Seeded};
use gridweave_core::schedule::{Attempt, Reservation, Schedule, SnapshotOptions};
use gridweave_core::time::{Interval, Span, Time};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::Twins;

const NODES: usize = 7;
/// Nothing is reserved from here on.
const END: u64 = 60;
/// A node tells of at most this many windows; what lies behind them counts as busy.
const WINDOWS: usize = 4;

/// Seven nodes, all of whose reservations lie in the first sixty ticks.
#[derive(Clone, Debug)]
pub struct Grids;

/// One operation on the grid.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "what they do is in their names")]
pub enum Step {
    Reserve {
        node: usize,
        interval: Interval,
    },
    Release {
        node: usize,
        job: u64,
    },
    Search {
        from: Time,
        length: Span,
        count: u32,
    },
}

/// What a search answers: the start, the first free nodes in order, and the best-fitting ones.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "what they hold is in their names")]
pub enum Answer {
    Done(bool),
    Found {
        start: Time,
        in_order: Vec<u32>,
        best_fit: Vec<u32>,
    },
    None(NoCommonSlot),
}

/// Per node its reservations as (job, bits).
#[derive(Clone, Debug)]
pub struct Bitmaps {
    nodes: Vec<Vec<(u64, u64)>>,
    jobs: u64,
}

/// The real grid.
#[derive(Debug)]
pub struct Grid {
    nodes: Vec<Schedule<Vec<Reservation>>>,
    jobs: u64,
    search: CommonSearch,
}

fn ticks(interval: Interval) -> core::ops::Range<u64> {
    interval.start().as_micros()..interval.end().as_micros()
}

impl Bitmaps {
    /// Whether a node is known to be free at a tick, seen from `from` with so many windows.
    fn is_free(&self, node: usize, from: u64, tick: u64) -> bool {
        let busy = self.nodes[node].iter().fold(0, |all, (_, bits)| all | bits);
        let is_busy = |tick: u64| tick < END && busy >> tick & 1 == 1;
        // The start of the first window that is not told any more.
        let begins = |tick: &u64| is_busy(*tick) && (*tick == from || !is_busy(tick - 1));
        let horizon = (from..END).filter(begins).nth(WINDOWS);
        horizon.is_none_or(|horizon| tick < horizon) && !is_busy(tick)
    }

    fn has_room(&self, node: usize, from: u64, start: u64, length: u64) -> bool {
        (start..start + length).all(|tick| self.is_free(node, from, tick))
    }

    /// The idle ticks around a slot, from `from` on; those behind the last reservation never end.
    fn idle_around(&self, node: usize, from: u64, start: u64, length: u64) -> u64 {
        let before = (from..start)
            .rev()
            .take_while(|&t| self.is_free(node, from, t))
            .count() as u64;
        let end = (start + length..2 * END + length).find(|&t| !self.is_free(node, from, t));
        end.map_or(u64::MAX - start.saturating_sub(before) - length, |end| {
            before + end - (start + length)
        })
    }

    fn search(&self, from: u64, length: u64, count: u32) -> Answer {
        if count == 0 {
            return Answer::None(NoCommonSlot::ZeroCount);
        }
        if length == 0 {
            return Answer::None(NoCommonSlot::ZeroLength);
        }
        if count as usize > NODES {
            return Answer::None(NoCommonSlot::TooFewSchedules { have: NODES as u32 });
        }
        for start in from..=from.max(END) {
            let free: Vec<u32> = (0..NODES as u32)
                .filter(|&node| self.has_room(node as usize, from, start, length))
                .collect();
            if free.len() >= count as usize {
                let mut best_fit = free.clone();
                best_fit.sort_by_key(|&node| {
                    (self.idle_around(node as usize, from, start, length), node)
                });
                let first = |nodes: Vec<u32>| nodes.into_iter().take(count as usize).collect();
                let start = Time::from_micros(start);
                return Answer::Found {
                    start,
                    in_order: first(free),
                    best_fit: first(best_fit),
                };
            }
        }
        Answer::None(NoCommonSlot::BeyondHorizon)
    }
}

impl Grid {
    fn search(&mut self, from: Time, length: Span, count: u32) -> Answer {
        let known: Vec<_> = self
            .nodes
            .iter()
            .map(|node| node.snapshot(SnapshotOptions::starting(from).most_windows(WINDOWS)))
            .collect();
        let search = &mut self.search;
        let (start, in_order) = match search.earliest(&known, from, length, count, InOrder) {
            Ok(slot) => (slot.start, slot.chosen.to_vec()),
            Err(none) => return Answer::None(none),
        };
        let best = search
            .earliest(&known, from, length, count, BestFit)
            .expect("found before");
        assert_eq!(best.start, start);
        let best_fit = best.chosen.to_vec();
        // A seeded choice has no order to compare, but it is as many distinct nodes that are free then.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(start.as_micros());
        let seeded = search
            .earliest(&known, from, length, count, Seeded(&mut rng))
            .expect("found before");
        assert_eq!(seeded.start, start);
        let slot = Interval::starting(start, length).expect("a slot has a length");
        assert!(
            seeded
                .chosen
                .iter()
                .all(|&node| self.nodes[node as usize].is_free(slot))
        );
        let mut distinct = seeded.chosen.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), count as usize);
        Answer::Found {
            start,
            in_order,
            best_fit,
        }
    }
}

impl Twins for Grids {
    type Step = Step;
    type Answer = Answer;
    type Model = Bitmaps;
    type Real = Grid;

    fn begin() -> (Bitmaps, Grid) {
        let nodes = (0..NODES).map(|_| Schedule::new()).collect();
        let grid = Grid {
            nodes,
            jobs: 0,
            search: CommonSearch::default(),
        };
        (
            Bitmaps {
                nodes: vec![Vec::new(); NODES],
                jobs: 0,
            },
            grid,
        )
    }

    fn steps() -> BoxedStrategy<Step> {
        let interval = (0..END - 1, 1..12_u64).prop_map(|(start, length)| {
            let end = (start + length).min(END);
            Interval::new(Time::from_micros(start), Time::from_micros(end)).unwrap()
        });
        prop_oneof![
            8 => (0..NODES, interval).prop_map(|(node, interval)| Step::Reserve { node, interval }),
            1 => (0..NODES, 0..60_u64).prop_map(|(node, job)| Step::Release { node, job }),
            4 => (0..END, 0..10_u64, 0..=NODES as u32 + 1).prop_map(|(from, length, count)| {
                Step::Search { from: Time::from_micros(from), length: Span::from_micros(length), count }
            }),
        ]
        .boxed()
    }

    fn model(model: &mut Bitmaps, step: &Step) -> Answer {
        match *step {
            Step::Reserve { node, interval } => {
                let wanted = ticks(interval).fold(0, |bits, tick| bits | 1 << tick);
                let free = model.nodes[node].iter().all(|(_, bits)| bits & wanted == 0);
                if free {
                    model.nodes[node].push((model.jobs, wanted));
                }
                model.jobs += 1;
                Answer::Done(free)
            }
            Step::Release { node, job } => {
                let before = model.nodes[node].len();
                model.nodes[node].retain(|(other, _)| *other != job);
                Answer::Done(model.nodes[node].len() < before)
            }
            Step::Search {
                from,
                length,
                count,
            } => model.search(from.as_micros(), length.as_micros(), count),
        }
    }

    fn real(grid: &mut Grid, step: &Step) -> Answer {
        let attempt = |job| Attempt::new(JobId::new(job), Epoch::new(0));
        match *step {
            Step::Reserve { node, interval } => {
                let reserved = grid.nodes[node]
                    .reserve(attempt(grid.jobs), interval)
                    .is_ok();
                grid.jobs += 1;
                Answer::Done(reserved)
            }
            Step::Release { node, job } => {
                Answer::Done(grid.nodes[node].release(attempt(job)).is_some())
            }
            Step::Search {
                from,
                length,
                count,
            } => grid.search(from, length, count),
        }
    }

    fn compare(_: &Bitmaps, grid: &Grid) {
        grid.nodes.iter().for_each(|node| node.check().unwrap());
    }
}

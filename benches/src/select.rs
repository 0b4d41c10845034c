//! 128 of 256 nodes, as close to each other as possible: what P2 selects in each iteration for its largest jobs.
//!
//! Nodes are drawn evenly from a square, and all are free.

use std::time::{Duration, Instant};

use gridweave_core::id::NodeId;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::rng::Choose;
use gridweave_core::select::{Closest, Config, Problem, Selection, Selector, Starts};
use gridweave_core::time::Time;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// How many nodes there are, and how many of them are wanted.
pub const SIZES: [(u32, u32); 4] = [(10, 5), (64, 32), (256, 128), (10_000, 128)];

/// The side of the square, in microseconds.
const SIDE: u32 = 200_000;

/// The ways to search that are measured.
pub const WAYS: [(&str, Config); 4] = [
    ("genetic alone", Config::PAPER),
    (
        "rules and swaps alone",
        Config {
            greedy: true,
            generations: 0,
            ..Config::PAPER
        },
    ),
    (
        "genetic, rules and swaps",
        Config {
            greedy: true,
            ..Config::PAPER
        },
    ),
    ("default", Config::DEFAULT),
];

/// Nodes to select from.
#[derive(Clone, Debug)]
pub struct Workload {
    nodes: Vec<NodeId>,
    profiles: Vec<Profile>,
    starts: Starts,
    count: u32,
}

impl Workload {
    /// A workload that selects `count` of `nodes` random nodes.
    pub fn new(nodes: u32, count: u32) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x0073_656c_6563_7400);
        let mut part = || rng.below(SIDE) as i32;
        Self {
            nodes: (0..u64::from(nodes)).map(NodeId::new).collect(),
            profiles: (0..nodes)
                .map(|_| Profile::at(Coordinate::at([part(), part(), 0])))
                .collect(),
            starts: Starts::at(Time::ZERO, nodes),
            count,
        }
    }

    /// One selection.
    ///
    /// # Panics
    /// If there is no selection, which cannot happen.
    pub fn select(&self, selector: &mut Selector, config: &Config, seed: u64) -> Selection {
        let problem = Problem {
            nodes: &self.nodes,
            profiles: &self.profiles,
            starts: &self.starts,
            count: self.count,
            current: &[],
            from: Time::ZERO,
        };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let selection = selector.select(&problem, &Closest, config, &mut rng);
        selection.expect("everyone is free")
    }
}

/// What a way to search takes and finds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measurement {
    /// The fastest selection.
    pub time: Duration,
    /// What selections cost on average, in microseconds of delay.
    pub cost: f64,
}

/// Measures some selections, each with a seed of its own.
pub fn measure(workload: &Workload, config: &Config, selections: u64) -> Measurement {
    let mut selector = Selector::default();
    let (mut time, mut sum) = (Duration::MAX, 0.0);
    for seed in 0..selections.max(1) {
        let begin = Instant::now();
        let selection = workload.select(&mut selector, config, seed);
        time = time.min(begin.elapsed());
        sum += selection.cost;
    }
    Measurement {
        time,
        cost: sum / selections.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_selects_as_many_nodes_as_are_wanted() {
        let workload = Workload::new(64, 32);
        for (way, config) in WAYS {
            let selection = workload.select(&mut Selector::default(), &config, 1);
            assert_eq!(selection.chosen.len(), 32, "{way}");
        }
    }

    #[test]
    fn rules_and_swaps_find_closer_nodes_than_breeding_alone() {
        let workload = Workload::new(64, 32);
        let [genetic, rules, ..] = WAYS.map(|(_, config)| measure(&workload, &config, 3).cost);
        assert!(rules <= genetic, "{rules} and {genetic}");
    }
}

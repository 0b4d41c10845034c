//! Whole overlays, in which nodes come and go.

use std::println;

use super::super::*;
use super::network::{Network, Population};
use crate::time::Span;

/// How often nodes come and go, out of a hundred times.
#[derive(Clone, Copy)]
pub(super) struct Mix {
    pub joins: u32,
    pub leaves: u32,
    pub crashes: u32,
    /// How long it is from one time to the next at most, in milliseconds.
    pub gap: u32,
}

/// Lets nodes come and go so often, about as many as there are to be at a time.
pub(super) fn churn<const D: usize>(
    network: &mut Network<D>,
    population: Population,
    mix: Mix,
    operations: usize,
    size: usize,
) {
    for _ in 0..operations {
        let few = network.inside().len() < size / 2;
        let many = network.nodes.len() > size + size / 2;
        let all = mix.joins + mix.leaves + mix.crashes;
        let drawn = network.rng.below(all);
        if few || (drawn < mix.joins && !many) {
            let point = population.draw(&mut network.rng);
            network.add(point);
        } else {
            let id = network.some_inside();
            if drawn < mix.joins + mix.leaves || mix.crashes == 0 {
                network.command(id, Command::Leave);
            } else {
                network.crash(id);
            }
        }
        let gap = 1 + u64::from(network.rng.below(mix.gap));
        network.run(Span::from_millis(gap));
    }
}

/// Waits until everything is as it has to be, and stays so.
pub(super) fn settle<const D: usize>(network: &mut Network<D>, seed: u64) {
    let (mut wrong, mut right) = (Ok(()), 0);
    for _ in 0..90 {
        network.run_periods(2);
        wrong = network.wrong();
        right = if wrong.is_ok() { right + 1 } else { 0 };
        // Longer than a node that is to leave tries.
        if right == 9 {
            break;
        }
    }
    assert_eq!(wrong, Ok(()), "seed {seed}, {D} dimensions");
    for _ in 0..200 {
        let point = Population::Mixed.draw(&mut network.rng);
        let from = network.some_inside();
        assert!(network.route(from, &point).is_some(), "seed {seed}");
    }
}

pub(super) fn grown<const D: usize>(
    population: Population,
    size: usize,
    gap: u32,
    seed: u64,
) -> Network<D> {
    let mut network = Network::new(Config::DEFAULT, seed);
    for _ in 0..size {
        let point = population.draw(&mut network.rng);
        network.add(point);
        let gap = 1 + u64::from(network.rng.below(gap));
        network.run(Span::from_millis(gap));
    }
    network
}

/// Lets populations of all kinds grow, churn and come to rest, and returns how often two zones overlapped meanwhile.
fn all<const D: usize>(mix: Mix, operations: usize, size: usize) -> u64 {
    let populations = [
        (1, Population::Mixed),
        (2, Population::Clustered(1)),
        (3, Population::Repeated),
    ];
    let overlaps =
        populations.map(|(seed, population)| one::<D>(population, seed, mix, operations, size));
    overlaps.iter().sum()
}

fn one<const D: usize>(
    population: Population,
    seed: u64,
    mix: Mix,
    operations: usize,
    size: usize,
) -> u64 {
    let mut network = grown::<D>(population, size, 400, seed);
    settle(&mut network, seed);
    churn(&mut network, population, mix, operations, size);
    settle(&mut network, seed);
    for dimension in 0..D {
        // News goes one zone down in each period.
        network.run_periods(if dimension == 0 { 60 } else { 0 });
        let (total, at_border) = network.loads(dimension);
        assert_eq!(
            at_border, total,
            "seed {seed}, dimension {dimension} of {D}"
        );
    }
    assert_eq!(population == Population::Repeated, network.moved > 0);
    println!(
        "{D} dimensions, {population:?}: {} nodes, {} messages, {} evicted, {} moved, {} overlaps",
        network.nodes.len(),
        network.sent,
        network.evicted,
        network.moved,
        network.overlaps,
    );
    network.overlaps
}

pub(super) const CALM: Mix = Mix {
    joins: 50,
    leaves: 50,
    crashes: 0,
    gap: 2000,
};

const CRASHES: Mix = Mix {
    joins: 50,
    leaves: 25,
    crashes: 25,
    gap: 60_000,
};

#[test]
fn zones_tile_the_space_while_nodes_join_and_leave() {
    assert_eq!(all::<2>(CALM, 200, 40), 0);
    assert_eq!(all::<3>(CALM, 100, 40), 0);
    assert_eq!(all::<6>(CALM, 50, 30), 0);
}

#[test]
fn zones_tile_the_space_after_crashes_among_joins_and_leaves() {
    all::<2>(CRASHES, 200, 40);
    all::<3>(CRASHES, 100, 40);
}

#[test]
#[ignore = "does not pass yet: among few different points the overlay jams"]
fn zones_tile_the_space_after_ten_thousand_joins_and_leaves() {
    // Meanwhile two may overlap for a moment, once in tens of thousands of changes; one of them yields.
    all::<2>(CALM, 10_000, 60);
    all::<3>(CALM, 10_000, 60);
    all::<4>(CALM, 10_000, 60);
}

#[test]
#[ignore = "takes minutes: run with --release"]
fn zones_tile_the_space_after_a_thousand_crashes() {
    one::<2>(Population::Mixed, 1, CRASHES, 4000, 60);
}

fn after_many_crash_at_once<const D: usize>(population: Population, size: usize, part: usize) {
    for seed in 0..4 {
        let mut network = grown::<D>(population, size, 400, seed);
        settle(&mut network, seed);
        for _ in 0..size / part {
            let id = network.some_inside();
            network.crash(id);
        }
        settle(&mut network, seed);
    }
}

#[test]
fn the_others_close_the_holes_when_many_crash_at_once() {
    after_many_crash_at_once::<2>(Population::Mixed, 60, 10);
    after_many_crash_at_once::<3>(Population::Mixed, 60, 10);
    after_many_crash_at_once::<3>(Population::Clustered(1), 60, 10);
}

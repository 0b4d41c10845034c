//! Whole overlays, in which nodes come and go.

use std::println;

use super::super::*;
use super::network::{Network, Population};
use crate::time::Span;

/// How often nodes come and go, out of a hundred times.
#[derive(Clone, Copy)]
struct Mix {
    joins: u32,
    leaves: u32,
    crashes: u32,
    /// How long it is from one time to the next at most, in milliseconds.
    gap: u32,
}

/// Lets nodes come and go so often, about as many as there are to be at a time.
fn churn<const D: usize>(
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
fn settle<const D: usize>(network: &mut Network<D>, seed: u64) {
    let (mut wrong, mut right) = (Ok(()), 0);
    for _ in 0..150 {
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

fn grown<const D: usize>(population: Population, size: usize, gap: u32, seed: u64) -> Network<D> {
    let mut network = Network::new(Config::DEFAULT, seed);
    for _ in 0..size {
        let point = population.draw(&mut network.rng);
        network.add(point);
        let gap = 1 + u64::from(network.rng.below(gap));
        network.run(Span::from_millis(gap));
    }
    network
}

/// How the network treats messages while nodes come and go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wires {
    Good,
    /// Of a hundred messages, five are lost, five come twice, and two are late by up to ten seconds.
    Bad,
}

const POPULATIONS: [Population; 4] = [
    Population::Mixed,
    Population::Clustered(1),
    Population::Clustered(2),
    Population::Repeated,
];

/// Lets populations of all kinds grow, churn and come to rest, and returns how often two zones overlapped meanwhile.
fn all<const D: usize>(mix: Mix, wires: Wires, operations: usize, size: usize) -> u64 {
    // With all dimensions virtual, the nodes would be mixed.
    let differ = |population: &Population| *population != Population::Clustered(D);
    let populations = POPULATIONS.into_iter().filter(differ);
    let overlaps = populations.map(|it| one::<D>(it, mix, wires, operations, size));
    overlaps.sum()
}

fn one<const D: usize>(
    population: Population,
    mix: Mix,
    wires: Wires,
    operations: usize,
    size: usize,
) -> u64 {
    let seed = 3;
    let mut network = grown::<D>(population, size, 400, seed);
    settle(&mut network, seed);
    let (grown, waiting) = (network.sent, network.nodes.len());
    if wires == Wires::Bad {
        (network.lost, network.twice, network.late) = (50, 50, 20);
    }
    churn(&mut network, population, mix, operations, size);
    (network.lost, network.twice, network.late) = (0, 0, 0);
    let began = network.now;
    settle(&mut network, seed);
    let quiet = network.now - began;
    // News goes one zone down in each period.
    network.run_periods(2 * network.nodes.len() as u64);
    for dimension in 0..D {
        let (total, at_border) = network.loads(dimension);
        assert_eq!(
            at_border, total,
            "{population:?}, dimension {dimension} of {D}"
        );
    }
    if population != Population::Repeated {
        assert_eq!(network.moved, 0);
    }
    println!(
        "{D} dimensions, {population:?}, {wires:?}, {operations} changes: {waiting} to {} nodes, {} messages, {} evicted, {} moved, \
         {} overlaps, exact after at most {} s",
        network.nodes.len(),
        network.sent - grown,
        network.evicted,
        network.moved,
        network.overlaps,
        // It was so for nine looks, two periods apart.
        (quiet.as_secs()).saturating_sub(9 * 2 * 10) + 20,
    );
    network.overlaps
}

const CALM: Mix = Mix {
    joins: 50,
    leaves: 50,
    crashes: 0,
    gap: 2000,
};

/// Crashes are noticed before there are many more.
const CRASHES: Mix = Mix {
    joins: 50,
    leaves: 25,
    crashes: 25,
    gap: 60_000,
};

/// Crashes come faster than they are noticed: one in ten seconds, where that takes forty.
const ROUGH: Mix = Mix {
    joins: 50,
    leaves: 20,
    crashes: 30,
    gap: 6000,
};

#[test]
fn zones_tile_the_space_while_nodes_join_and_leave() {
    assert_eq!(all::<2>(CALM, Wires::Good, 150, 40), 0);
    assert_eq!(all::<3>(CALM, Wires::Good, 80, 40), 0);
    assert_eq!(all::<6>(CALM, Wires::Good, 40, 25), 0);
}

#[test]
fn zones_tile_the_space_after_crashes_among_joins_and_leaves() {
    all::<2>(CRASHES, Wires::Good, 80, 30);
    all::<3>(CRASHES, Wires::Good, 40, 30);
}

#[test]
fn zones_tile_the_space_after_crashes_that_come_faster_than_they_are_noticed() {
    all::<2>(ROUGH, Wires::Good, 150, 40);
    all::<4>(ROUGH, Wires::Good, 60, 30);
}

#[test]
fn zones_tile_the_space_after_messages_were_lost_doubled_and_late() {
    all::<2>(ROUGH, Wires::Bad, 120, 40);
    all::<3>(CALM, Wires::Bad, 100, 40);
}

fn ten_thousand<const D: usize>() {
    all::<D>(CALM, Wires::Good, 10_000, 60);
    all::<D>(ROUGH, Wires::Bad, 10_000, 60);
}

#[test]
#[ignore = "takes minutes: run with --release"]
fn zones_tile_the_space_after_ten_thousand_changes_in_two_dimensions() {
    ten_thousand::<2>();
}

#[test]
#[ignore = "takes minutes: run with --release"]
fn zones_tile_the_space_after_ten_thousand_changes_in_three_dimensions() {
    ten_thousand::<3>();
}

#[test]
#[ignore = "takes minutes; failed once, in the end nobody had a zone, and has not been run since a change that may be the remedy"]
fn zones_tile_the_space_after_ten_thousand_changes_in_four_dimensions() {
    ten_thousand::<4>();
}

#[test]
#[ignore = "takes minutes: run with --release"]
fn zones_tile_the_space_after_ten_thousand_changes_in_five_dimensions() {
    ten_thousand::<5>();
}

#[test]
#[ignore = "takes minutes: run with --release"]
fn zones_tile_the_space_after_ten_thousand_changes_in_six_dimensions() {
    ten_thousand::<6>();
}

fn after_many_crash_at_once<const D: usize>(population: Population, size: usize, part: usize) {
    for seed in 0..3 {
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
    after_many_crash_at_once::<2>(Population::Mixed, 40, 4);
    after_many_crash_at_once::<3>(Population::Mixed, 40, 2);
    after_many_crash_at_once::<3>(Population::Clustered(1), 40, 4);
}

#[test]
fn a_row_holds_together_when_ten_side_by_side_crash_at_once() {
    for seed in 0..4 {
        let mut network = grown::<2>(Population::Clustered(1), 40, 400, seed);
        settle(&mut network, seed);
        let mut row: std::vec::Vec<_> = network
            .nodes
            .values()
            .map(|it| (it.point().at(1), it.id()))
            .collect();
        row.sort_unstable();
        for (_, id) in &row[15..25] {
            network.crash(*id);
        }
        settle(&mut network, seed);
        assert_eq!(network.nodes.len(), 30);
    }
}

#[test]
fn when_nothing_is_new_heartbeats_are_short() {
    let mut network = grown::<3>(Population::Mixed, 40, 400, 1);
    settle(&mut network, 1);
    let (beats, others) = (network.beats, network.sent - network.beats);
    network.run_periods(32);
    let links: usize = network
        .nodes
        .values()
        .map(|it| it.neighbours().count())
        .sum();
    assert_eq!(network.beats - beats, 32 * links as u64);
    // The rest is looking for oneself, twice in that time, over a few hops.
    let others = network.sent - network.beats - others;
    assert!(others <= 2 * 40 * 12, "{others}");
}

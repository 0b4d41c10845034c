//! Whole overlays, in which nodes come and go.

use crate::rng::Choose;
use std::println;

use super::super::*;
use super::network::{Network, Population};
use crate::scaled;
use crate::time::Span;

/// Of a hundred changes, how many are joins, leaves and crashes.
#[derive(Clone, Copy)]
struct Mix {
    joins: u32,
    leaves: u32,
    crashes: u32,
    /// The longest time from one change to the next, in milliseconds.
    gap: u32,
}

/// Makes so many changes, and keeps about so many nodes.
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

/// Runs until all checks have passed nine times in a row, two periods apart: for 18 periods at least, for 300 at most.
fn settle<const D: usize>(network: &mut Network<D>, seed: u64) {
    let (mut wrong, mut right) = (Ok(()), 0);
    for _ in 0..150 {
        network.run_periods(2);
        wrong = network.wrong();
        right = if wrong.is_ok() { right + 1 } else { 0 };
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

/// Nodes that joined at most 400 ms apart.
fn grown<const D: usize>(config: Config, kinds: Population, size: usize, seed: u64) -> Network<D> {
    let mut network = Network::new(config, seed);
    for _ in 0..size {
        let point = kinds.draw(&mut network.rng);
        network.add(point);
        let gap = 1 + u64::from(network.rng.below(400));
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

/// A node lists its neighbours only to its heirs.
const HEIRS_ONLY: Config = Config {
    listed: 0,
    ..Config::DEFAULT
};

/// Lets populations of all kinds grow, churn and come to rest, and returns how often two zones overlapped meanwhile.
fn all<const D: usize>(mix: Mix, wires: Wires, operations: usize, size: usize) -> u64 {
    all_with::<D>(Config::DEFAULT, mix, wires, operations, size)
}

fn all_with<const D: usize>(
    config: Config,
    mix: Mix,
    wires: Wires,
    operations: usize,
    size: usize,
) -> u64 {
    // With all dimensions virtual, the nodes would be mixed.
    let differ = |population: &Population| *population != Population::Clustered(D);
    let populations = POPULATIONS.into_iter().filter(differ);
    let operations = operations / scaled(1, 4) as usize;
    let size = size * scaled(4, 3) as usize / 4;
    let overlaps = populations.map(|it| one::<D>(config, it, mix, wires, operations, size));
    overlaps.sum()
}

fn one<const D: usize>(
    config: Config,
    population: Population,
    mix: Mix,
    wires: Wires,
    operations: usize,
    size: usize,
) -> u64 {
    let seed = 3;
    let mut network = grown::<D>(config, population, size, seed);
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
        // All was right for nine looks, two periods apart.
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

/// Ten thousand changes for each test. On good wires nodes join and leave; on bad ones they crash, too.
mod zones_tile_the_space_after_ten_thousand_changes {
    use super::super::network::Population::{Clustered, Mixed, Repeated};
    use super::{CALM, HEIRS_ONLY, ROUGH, Wires, one};
    use crate::overlay::can::Config;

    macro_rules! runs {
        ($($dimensions:ident, $D:literal, $config:expr; $($name:ident $wires:ident $mix:ident $population:expr,)+;)+) => {
            $(mod $dimensions {
                use super::*;
                $(
                    #[test]
                    #[ignore = "takes minutes: run with --release"]
                    fn $name() {
                        one::<$D>($config, $population, $mix, Wires::$wires, 10_000, 60);
                    }
                )+
            })+
        };
    }

    runs! {
        in_two_dimensions, 2, Config::DEFAULT;
            mixed_on_good_wires Good CALM Mixed,
            mixed_on_bad_wires Bad ROUGH Mixed,
            all_alike_on_good_wires Good CALM Clustered(1),
            all_alike_on_bad_wires Bad ROUGH Clustered(1),
            repeated_on_good_wires Good CALM Repeated,
            repeated_on_bad_wires Bad ROUGH Repeated,
        ;
        with_lists_for_heirs_only, 4, HEIRS_ONLY;
            mixed_on_good_wires Good CALM Mixed,
            mixed_on_bad_wires Bad ROUGH Mixed,
            all_alike_in_all_but_two_on_bad_wires Bad ROUGH Clustered(2),
            repeated_on_bad_wires Bad ROUGH Repeated,
        ;
    }

    macro_rules! runs_on_more_dimensions {
        ($($dimensions:ident, $D:literal;)+) => {
            runs! {
                $($dimensions, $D, Config::DEFAULT;
                    mixed_on_good_wires Good CALM Mixed,
                    mixed_on_bad_wires Bad ROUGH Mixed,
                    all_alike_on_good_wires Good CALM Clustered(1),
                    all_alike_on_bad_wires Bad ROUGH Clustered(1),
                    all_alike_in_all_but_two_on_good_wires Good CALM Clustered(2),
                    all_alike_in_all_but_two_on_bad_wires Bad ROUGH Clustered(2),
                    repeated_on_good_wires Good CALM Repeated,
                    repeated_on_bad_wires Bad ROUGH Repeated,
                ;)+
            }
        };
    }

    runs_on_more_dimensions! {
        in_three_dimensions, 3;
        in_four_dimensions, 4;
        in_five_dimensions, 5;
        in_six_dimensions, 6;
    }
}

fn after_many_crash_at_once<const D: usize>(
    config: Config,
    population: Population,
    size: usize,
    part: usize,
) {
    for seed in 0..scaled(3, 1) {
        let mut network = grown::<D>(config, population, size, seed);
        settle(&mut network, seed);
        for _ in 0..size / part {
            let id = network.some_inside();
            network.crash(id);
        }
        settle(&mut network, seed);
    }
}

#[test]
fn survivors_close_the_holes_when_many_crash_at_once() {
    let config = Config::DEFAULT;
    after_many_crash_at_once::<2>(config, Population::Mixed, 40, 4);
    after_many_crash_at_once::<3>(config, Population::Mixed, 40, 2);
    after_many_crash_at_once::<3>(config, Population::Clustered(1), 40, 4);
}

#[test]
fn zones_tile_the_space_when_only_heirs_get_neighbour_lists() {
    assert_eq!(all_with::<3>(HEIRS_ONLY, CALM, Wires::Good, 80, 40), 0);
    all_with::<2>(HEIRS_ONLY, ROUGH, Wires::Bad, 120, 40);
    all_with::<4>(HEIRS_ONLY, ROUGH, Wires::Bad, 60, 40);
}

#[test]
fn survivors_close_the_holes_when_many_crash_at_once_and_only_heirs_had_lists() {
    after_many_crash_at_once::<3>(HEIRS_ONLY, Population::Mixed, 40, 2);
    after_many_crash_at_once::<4>(HEIRS_ONLY, Population::Mixed, 60, 3);
}

#[test]
fn nodes_that_took_each_other_for_dead_come_together_again() {
    for seed in 0..30 {
        let size = 2 + seed as usize % 3;
        let mut network = grown::<3>(Config::DEFAULT, Population::Mixed, size, seed);
        settle(&mut network, seed);
        network.lost = 1000;
        network.run_periods(20);
        assert_ne!(network.overlaps, 0, "seed {seed}");
        network.lost = 0;
        settle(&mut network, seed);
    }
}

#[test]
fn a_row_holds_together_when_ten_side_by_side_crash_at_once() {
    for seed in 0..4 {
        let mut network = grown::<2>(Config::DEFAULT, Population::Clustered(1), 40, seed);
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
    let mut network = grown::<3>(Config::DEFAULT, Population::Mixed, 40, 1);
    settle(&mut network, 1);
    let (beats, others) = (network.beats, network.sent - network.beats);
    network.run_periods(32);
    let links: usize = network
        .nodes
        .values()
        .map(|it| it.neighbours().count())
        .sum();
    assert_eq!(network.beats - beats, 32 * links as u64);
    // The rest is searches of nodes for their own points, in every seventh period, over a few hops.
    let others = network.sent - network.beats - others;
    assert!(others <= 2 * 40 * 12, "{others}");
}

/// Crashes come so fast that the few members can hardly admit joiners, and many members are to leave.
fn few_in_a_rough_time<const D: usize>(size: usize, seed: u64, operations: usize) {
    let population = Population::Repeated;
    let mut network = grown::<D>(Config::DEFAULT, population, size, seed);
    settle(&mut network, seed);
    (network.lost, network.twice, network.late) = (50, 50, 20);
    churn(&mut network, population, ROUGH, operations, size);
    (network.lost, network.twice, network.late) = (0, 0, 0);
    settle(&mut network, seed);
}

#[test]
fn leavers_stay_until_joiners_are_in() {
    few_in_a_rough_time::<4>(6, 4, scaled(750, 200) as usize);
}

#[test]
#[ignore = "takes minutes: run with --release"]
fn leavers_stay_until_joiners_are_in_small_overlays_of_all_kinds() {
    for seed in 0..10 {
        for size in [4, 6, 12] {
            few_in_a_rough_time::<2>(size, seed, 2000);
            few_in_a_rough_time::<4>(size, seed, 2000);
        }
        println!("seed {seed}");
    }
}

//! `criteria` at work, with every event checked: every criterion, over bad networks, among nodes that crash, join and
//! leave.

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::Criterion;
use gridweave_core::overlay::vivaldi;
use gridweave_core::scheduler::criteria::{Config, Coordinates, Exploration};
use gridweave_core::time::{Span, Time};
use gridweave_lab::schedulers::criteria::SEARCH;
use gridweave_sim::network::NetworkConfig;
use gridweave_tests::scaled;
use gridweave_tests::watched::criteria::{CONFIG, CRITERIA, Node, profile};
use gridweave_tests::watched::{Grid, Scene, bad, partitioned, scenes};
use proptest::prelude::*;

/// The rules in a few variants: along helpers and without, one after the other and at once, with a pause and without.
fn variants() -> [Config; 4] {
    let basic = Config {
        exploration: Exploration::Basic,
        ..CONFIG
    };
    let parallel = Config {
        parallel: 3,
        ..CONFIG
    };
    let slow = Config {
        pause: Span::from_millis(300),
        coordinates: Coordinates::Learned(vivaldi::Config::DEFAULT),
        ..CONFIG
    };
    [CONFIG, parallel, basic, slow]
}

/// All variants; in a debug build the one with this index.
fn some_variants(index: usize) -> impl Iterator<Item = Config> {
    let skipped = if cfg!(debug_assertions) { index } else { 0 };
    variants()
        .into_iter()
        .skip(skipped)
        .take(scaled(4, 1) as usize)
}

#[test]
fn with_delay_every_job_is_done_and_some_are_moved() {
    let mut moved = 0;
    for config in some_variants(0) {
        let scene = Scene {
            network: NetworkConfig {
                loss: 0.0,
                duplication: 0.0,
                reordering: 0.0,
                ..bad()
            },
            ..Scene::calm(1, config)
        };
        let ledger = Grid::<Node>::play_soundly(&scene).ledger;
        assert_eq!(ledger.finished, 30, "{ledger:?}");
        moved += ledger.moved;
    }
    assert!(moved > scaled(10, 2), "{moved} moves");
}

#[test]
fn losses_duplicates_and_delays_cost_no_job() {
    for config in some_variants(1) {
        let scene = Scene {
            network: bad(),
            cancelled: 10,
            ..Scene::calm(2, config)
        };
        let grid = Grid::<Node>::play_soundly(&scene);
        let mishaps = grid.simulation.network().mishaps();
        assert!(mishaps.lost > 20 && mishaps.duplicated > 20 && mishaps.held_up > 100);
        assert!(grid.ledger.finished >= 24, "{:?}", grid.ledger);
        assert!(grid.ledger.failed.is_empty(), "{:?}", grid.ledger);
    }
}

#[test]
fn a_partition_that_heals_costs_time_but_no_job_its_last_word() {
    for config in some_variants(2) {
        let scene = Scene {
            network: partitioned(bad()),
            ..Scene::calm(3, config)
        };
        let grid = Grid::<Node>::play_soundly(&scene);
        assert!(grid.simulation.network().mishaps().cut > 50);
        assert!(grid.ledger.finished >= 15, "{:?}", grid.ledger);
    }
}

#[test]
fn nodes_that_crash_and_come_back_cost_no_job_its_last_word() {
    for (seed, config) in (4..).zip(some_variants(3)) {
        let scene = Scene {
            network: bad(),
            crashes: 20,
            cancelled: 10,
            ..Scene::calm(seed, config)
        };
        let ledger = Grid::<Node>::play_soundly(&scene).ledger;
        assert!(ledger.crashed > 10 && ledger.started > 10, "{ledger:?}");
        assert!(ledger.finished >= 15, "{ledger:?}");
    }
}

/// Everything at once, among sixty nodes.
fn storm(seed: u64, config: Config) -> Scene<Config> {
    Scene {
        nodes: scaled(60, 30),
        jobs: scaled(40, 30),
        widest: 10,
        network: NetworkConfig {
            report_unreachable: seed.is_multiple_of(2),
            ..bad()
        },
        crashes: 15,
        joins: 6,
        leaves: 6,
        cancelled: 15,
        ..Scene::calm(seed, config)
    }
}

#[test]
fn in_a_storm_faults_happen_and_jobs_are_done() {
    for (seed, config) in (20..).zip(some_variants(0)) {
        let ledger = Grid::<Node>::play_soundly(&storm(seed, config)).ledger;
        assert!(ledger.crashed > 5 && ledger.left > 0, "{ledger:?}");
        assert!(
            ledger.finished > scaled(20, 10) && ledger.begun > scaled(60, 30),
            "{ledger:?}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let digest = |seed| {
        let scene = Scene {
            nodes: scaled(60, 12),
            jobs: scaled(40, 8),
            ..storm(seed, CONFIG)
        };
        Grid::<Node>::play(&scene).simulation.digest()
    };
    assert_eq!(digest(31), digest(31));
    assert_ne!(digest(31), digest(32));
}

fn any_rules() -> impl Strategy<Value = Config> {
    (0..variants().len(), 1..4_u16, 1..4_u8, 100..300_u16).prop_map(
        |(variant, iterations, width, alpha)| Config {
            iterations,
            width,
            alpha,
            ..variants()[variant]
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(32, 4), failure_persistence: None, max_shrink_iters: 200, rng_seed: proptest::test_runner::RngSeed::Fixed(4), ..ProptestConfig::default() })]

    #[test]
    fn in_any_weather_every_job_has_one_last_word_and_nothing_is_left(scene in scenes(any_rules())) {
        let grid = Grid::<Node>::play(&scene);
        prop_assert!(grid.ledger.faults.is_empty(), "{:#?}", grid.ledger.faults);
        prop_assert_eq!(grid.ledger.last_words(), scene.jobs);
    }
}

/// How many nodes and jobs there are where distances count.
const NEAR: u32 = scaled(60, 40);
const JOBS: u64 = scaled(20, 6) as u64;

/// The mean distance in milliseconds within the placements of jobs for four close nodes, and the number of
/// messages of their searches.
fn closeness(exploration: Exploration, iterations: u16) -> (f64, u64) {
    let config = Config {
        exploration,
        iterations,
        ..CONFIG
    };
    let scene = Scene {
        nodes: NEAR,
        ..Scene::calm(40, config)
    };
    let mut grid = Grid::<Node>::new(&scene);
    // By then the helper overlays have found near nodes.
    grid.run_until(Time::from_secs(300));
    let mut spread = 0.0;
    for number in 0..JOBS {
        let at = Time::from_secs(300 + 40 * number);
        grid.run_until(at);
        let estimate = Span::from_secs(20);
        // Every fourth job asks for close nodes; the others are not submitted.
        let job = grid.add(4, estimate, estimate);
        for _ in 0..3 {
            grid.add(1, estimate, estimate);
        }
        let home = NodeId::new(number * 3 % u64::from(NEAR));
        grid.submit_at(job, home);
        // It is about to start.
        grid.run_until(at + Span::from_secs(9));
        let machine = grid.simulation.machine(home).expect("nobody is down");
        let progress = machine
            .progress(JobId::new(job as u64))
            .expect("it has a place");
        let at = |node: &NodeId| profile(*node).coordinate;
        for (one, other) in progress
            .nodes
            .iter()
            .flat_map(|one| progress.nodes.iter().map(move |other| (one, other)))
        {
            spread += at(one).distance(at(other)) / 1000.0 / 16.0 / JOBS as f64;
        }
    }
    let searched = grid.simulation.traffic().of(&SEARCH);
    (spread, searched.messages)
}

#[test]
fn along_helpers_close_nodes_take_fewer_messages_than_along_random_links() {
    assert_eq!(CRITERIA[0], Criterion::Closest);
    let (near, few) = closeness(Exploration::Proactive, 1);
    let (far, as_few) = closeness(Exploration::Basic, 1);
    let (same, many) = closeness(Exploration::Basic, 6);
    println!(
        "proactive: {near:.1} ms, {few} messages; basic: {far:.1} ms, {as_few}; in six iterations {same:.1} ms, {many}"
    );
    assert!(near < far / 2.0 && near <= same, "{near} {far} {same}");
    assert!(few < many / 2, "{few} {many}");
}

//! `asap` at work, with every event checked: on time and late, over bad networks, among nodes that crash, join and
//! leave; and beside a twin that tries every slot.

use std::collections::BTreeSet;
use std::sync::Arc;

use gridweave_core::commit::{self, Overrun};
use gridweave_core::id::NodeId;
use gridweave_core::job::{Failure, News, Refusal};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::asap::{Config, Exchange, Links, Searcher};
use gridweave_core::time::{Interval, Span, Time};
use gridweave_sim::network::{Delay, NetworkConfig, Plane};
use gridweave_tests::scaled;
use gridweave_tests::watched::{
    CONFIG, EXCHANGES, Grid, INSTANT, Node, Scene, bad, partitioned, rules, scenes,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

const ALL_LINKS: [Links; 2] = [Links::Static, Links::Dynamic];

/// Up to about 200 ms from corner to corner.
fn plane() -> NetworkConfig {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(140);
    NetworkConfig {
        delay: Delay::Plane(Arc::new(Plane::generate(
            200,
            Span::from_millis(140),
            &mut rng,
        ))),
        ..NetworkConfig::default()
    }
}

/// Every exchange over both kinds of links.
fn everything(config: Config) -> impl Iterator<Item = Config> {
    let pairs = ALL_LINKS
        .into_iter()
        .flat_map(|links| EXCHANGES.map(|exchange| (links, exchange)));
    let each = scaled(1, 4) as usize;
    pairs
        .step_by(each)
        .map(move |(links, exchange)| rules(config, links, exchange))
}

#[test]
fn without_delay_every_job_is_done_unless_what_is_known_is_old() {
    for config in everything(INSTANT) {
        for seed in [1, 2].into_iter().take(scaled(2, 1) as usize) {
            let grid = Grid::<Node>::play_soundly(&Scene::calm(seed, config));
            // A node that polls knows outdated schedules, so its search may fail.
            let is_old = matches!(config.exchange, Exchange::Poll { .. });
            let least = if is_old { 28 } else { 30 };
            assert!(grid.ledger.finished >= least, "{:?}", grid.ledger);
        }
    }
}

#[test]
fn with_delay_every_job_is_done() {
    for config in everything(CONFIG) {
        let scene = Scene {
            network: plane(),
            ..Scene::calm(3, config)
        };
        let grid = Grid::<Node>::play_soundly(&scene);
        assert_eq!(grid.ledger.finished, 30, "{:?}", grid.ledger);
    }
}

#[test]
fn two_hundred_nodes_do_two_hundred_jobs_or_find_that_others_were_faster() {
    // The more nodes a search looks at, the longer it takes, and the more often others are faster.
    for (breadth, least) in [(1, 195), (8, 185)].into_iter().take(scaled(2, 1) as usize) {
        let config = Config {
            breadth,
            ..rules(CONFIG, Links::Static, EXCHANGES[0])
        };
        let scene = Scene {
            nodes: 200,
            jobs: 200,
            widest: 30,
            network: plane(),
            ..Scene::calm(4, config)
        };
        let ledger = Grid::<Node>::play_soundly(&scene).ledger;
        let full = ledger.failed.get("not placed").copied().unwrap_or_default();
        assert_eq!(ledger.finished + full, 200, "{ledger:?}");
        assert!(ledger.finished >= least, "{ledger:?}");
    }
}

#[test]
fn losses_duplicates_and_delays_cost_no_job() {
    for config in everything(CONFIG) {
        for seed in [5, 6].into_iter().take(scaled(2, 1) as usize) {
            let scene = Scene {
                network: bad(),
                cancelled: 10,
                ..Scene::calm(seed, config)
            };
            let grid = Grid::<Node>::play_soundly(&scene);
            let mishaps = grid.simulation.network().mishaps();
            assert!(mishaps.lost > 20 && mishaps.duplicated > 20 && mishaps.held_up > 100);
            assert!(grid.ledger.finished >= 20, "{:?}", grid.ledger);
        }
    }
}

#[test]
fn a_partition_that_heals_costs_time_but_no_job_its_last_word() {
    for config in everything(CONFIG) {
        let scene = Scene {
            network: partitioned(plane()),
            ..Scene::calm(7, config)
        };
        let grid = Grid::<Node>::play_soundly(&scene);
        assert!(grid.simulation.network().mishaps().cut > 50);
        assert!(grid.ledger.finished >= 15, "{:?}", grid.ledger);
    }
}

#[test]
fn jobs_that_are_cancelled_at_any_time_are_cancelled_or_done() {
    for config in everything(CONFIG) {
        let scene = Scene {
            network: plane(),
            cancelled: 60,
            ..Scene::calm(8, config)
        };
        let grid = Grid::<Node>::play_soundly(&scene);
        assert!(grid.ledger.cancelled > 5, "{:?}", grid.ledger);
        assert!(grid.ledger.stopped > 0, "{:?}", grid.ledger);
        assert!(grid.ledger.failed.is_empty(), "{:?}", grid.ledger);
    }
}

#[test]
fn nodes_that_crash_and_come_back_cost_no_job_its_last_word() {
    for config in everything(CONFIG) {
        for seed in [9, 10].into_iter().take(scaled(2, 1) as usize) {
            let scene = Scene {
                network: plane(),
                crashes: 20,
                cancelled: 10,
                ..Scene::calm(seed, config)
            };
            let grid = Grid::<Node>::play_soundly(&scene);
            let ledger = &grid.ledger;
            assert!(ledger.crashed > 10 && ledger.started > 10, "{ledger:?}");
            assert!(ledger.finished >= 15, "{ledger:?}");
        }
    }
}

#[test]
fn nodes_join_and_leave_while_jobs_run() {
    for exchange in EXCHANGES.into_iter().skip(scaled(0, 2) as usize) {
        let scene = Scene {
            network: NetworkConfig {
                report_unreachable: true,
                ..plane()
            },
            joins: 10,
            leaves: 8,
            ..Scene::calm(11, rules(CONFIG, Links::Dynamic, exchange))
        };
        let grid = Grid::<Node>::play_soundly(&scene);
        let ledger = &grid.ledger;
        assert!(ledger.left >= 5 && ledger.started >= 10, "{ledger:?}");
        assert!(ledger.finished >= 25, "{ledger:?}");
    }
}

#[test]
fn jobs_that_run_longer_than_they_say_are_cut_and_given_up_or_extended() {
    let finished = [
        Overrun::Cut,
        Overrun::Extend {
            by: CONFIG.slot,
            times: 3,
        },
    ]
    .map(|overrun| {
        let config = Config {
            commit: commit::Config {
                overrun,
                ..CONFIG.commit
            },
            ..rules(CONFIG, Links::Dynamic, EXCHANGES[0])
        };
        let scene = Scene {
            network: plane(),
            late: 40,
            ..Scene::calm(12, config)
        };
        let grid = Grid::<Node>::play_soundly(&scene);
        let overran = grid.ledger.failed.get("overran").copied();
        let ended = grid.ledger.finished + overran.unwrap_or_default();
        assert_eq!(ended, scene.jobs);
        grid.ledger.finished
    });
    assert!(
        finished[0] < finished[1] && finished[0] > 15,
        "{finished:?}"
    );
}

/// Everything at once.
fn storm(seed: u64, config: Config) -> Scene {
    Scene {
        network: NetworkConfig {
            report_unreachable: seed.is_multiple_of(2),
            ..bad()
        },
        crashes: 15,
        joins: 4,
        leaves: 4,
        cancelled: 15,
        ..Scene::calm(seed, config)
    }
}

#[test]
fn in_a_storm_faults_happen_and_jobs_are_done() {
    for exchange in EXCHANGES {
        for seed in 20..20 + u64::from(scaled(3, 1)) {
            let grid =
                Grid::<Node>::play_soundly(&storm(seed, rules(CONFIG, Links::Dynamic, exchange)));
            let ledger = &grid.ledger;
            assert!(ledger.crashed > 5 && ledger.left > 0, "{ledger:?}");
            assert!(ledger.finished > 10 && ledger.begun > 30, "{ledger:?}");
        }
    }
}

fn any_scene() -> impl Strategy<Value = Scene> {
    let rules = (0..3_usize, any::<bool>(), 1..4_u8, any::<bool>()).prop_map(
        |(exchange, dynamic, width, excluded)| Config {
            links: ALL_LINKS[usize::from(dynamic)],
            exchange: EXCHANGES[exchange],
            width,
            searcher: if excluded {
                Searcher::Excluded
            } else {
                Searcher::Included
            },
            ..CONFIG
        },
    );
    scenes(rules).prop_map(|scene| match scene.config.links {
        // A node that has only static links cannot join.
        Links::Static => Scene { joins: 0, ..scene },
        Links::Dynamic => scene,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(48, 6), failure_persistence: None, max_shrink_iters: 200, rng_seed: proptest::test_runner::RngSeed::Fixed(4), ..ProptestConfig::default() })]

    #[test]
    fn in_any_weather_every_job_has_one_last_word_and_nothing_is_left(scene in any_scene()) {
        let grid = Grid::<Node>::play(&scene);
        prop_assert!(grid.ledger.faults.is_empty(), "{:#?}", grid.ledger.faults);
        prop_assert_eq!(grid.ledger.last_words(), scene.jobs);
    }
}

/// The earliest start among all that the neighbours of this node can see within two hops, by trying every slot.
fn brute_force(
    grid: &Grid,
    submitter: NodeId,
    count: usize,
    length: Span,
    config: &Config,
) -> Option<Time> {
    let view = |node: NodeId| {
        let machine = grid.simulation.machine(node).expect("nobody is down");
        machine.overlay().view().ids().to_vec()
    };
    let is_free = |node: &NodeId, slot: Interval| {
        let machine = grid.simulation.machine(*node).expect("nobody is down");
        machine.commitments().participant.schedule().is_free(slot)
    };
    let length = length.round_up(config.slot);
    let starts = view(submitter).into_iter().filter_map(|searcher| {
        let mut near: BTreeSet<NodeId> = view(searcher).into_iter().collect();
        near.extend(view(searcher).into_iter().flat_map(view));
        match config.searcher {
            Searcher::Included => near.insert(searcher),
            Searcher::Excluded => near.remove(&searcher),
        };
        let mut start = grid.simulation.now().round_up(config.slot);
        (near.len() >= count).then(|| {
            loop {
                let slot = Interval::starting(start, length).expect("the end of time is far");
                if near.iter().filter(|node| is_free(node, slot)).count() >= count {
                    return start;
                }
                start += config.slot;
            }
        })
    });
    starts.min()
}

#[test]
fn the_start_that_is_found_is_the_earliest_slot_within_two_hops() {
    let (mut put_off, mut too_large) = (0, 0);
    let push = Exchange::Push { lease: Span::MAX };
    for (seed, (exchange, searcher)) in [
        (push, Searcher::Excluded),
        (push, Searcher::Included),
        (Exchange::Pull, Searcher::Excluded),
        (Exchange::Pull, Searcher::Included),
    ]
    .into_iter()
    .enumerate()
    {
        let config = Config {
            // All neighbours search, so that chance decides nothing.
            forward: u8::MAX,
            max_hops: 2,
            searcher,
            // Every job gets a placement at once.
            improve: None,
            patience: Span::ZERO,
            ..rules(INSTANT, Links::Static, exchange)
        };
        let scene = Scene {
            nodes: 90,
            ..Scene::calm(30 + seed as u64, config)
        };
        let mut grid = Grid::<Node>::new(&scene);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(scene.seed);
        let mut now = Time::from_secs(1);
        for _ in 0..scaled(60, 15) {
            now += Span::from_secs(u64::from(rng.below(8)));
            grid.run_until(now);
            let count = match rng.below(10) {
                0 => 50 + rng.below(40),
                _ => 1 + rng.below(30),
            };
            let estimate = Span::from_secs(u64::from(1 + rng.below(90)));
            let runs = Span::from_micros(estimate.as_micros() * u64::from(5 + rng.below(6)) / 10);
            let node = NodeId::new(u64::from(rng.below(90)));
            let expected = brute_force(&grid, node, count as usize, estimate, &config);
            let job = grid.add(count, estimate, runs);
            grid.submit_at(job, node);
            grid.run_until(now);
            match expected {
                Some(start) => {
                    assert_eq!(grid.accepted(job), Some(start), "job {job} of {scene:?}");
                    put_off += u32::from(start > now.round_up(config.slot));
                }
                None => {
                    let refused = News::Failed(Failure::Refused(Refusal::TooLarge));
                    assert_eq!(grid.last_word(job), Some(refused), "job {job} of {scene:?}");
                    too_large += 1;
                }
            }
        }
        grid.finish();
        assert!(grid.ledger.faults.is_empty(), "{:#?}", grid.ledger.faults);
    }
    println!("{put_off} jobs were put off, {too_large} were too large");
    assert!(
        put_off > scaled(50, 5) && too_large > scaled(3, 0),
        "{put_off} {too_large}"
    );
}

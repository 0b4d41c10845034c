//! The flood scheduler at work: all jobs are answered, and nothing is violated, whatever the network and the nodes do.

use gridweave_core::id::NodeId;
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_lab::grid::Grid;
use gridweave_lab::outcome::{Estimates, Outcome};
use gridweave_lab::overlay::warmed_up;
use gridweave_lab::replay::{Hosting, Submissions, simulate};
use gridweave_lab::run::{Placement, Run};
use gridweave_lab::schedulers::flood::{Flood, FloodConfig, OverlayMode};
use gridweave_lab::workload::{Submission, Workload};
use gridweave_sim::engine::{Checking, Simulation};
use gridweave_sim::monitor::Monitor;
use gridweave_sim::network::{Delay, Network, NetworkConfig};
use gridweave_tests::scaled;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

const NODES: u32 = 60;
const SEED: u64 = 0x666c_6f6f;

/// Minutes instead of hours, so that much happens.
fn config() -> FloodConfig {
    FloodConfig {
        degree: 5,
        max_radius: 4,
        breadth: 4,
        retry: Span::from_secs(20),
        max_retry: Span::from_secs(120),
        permission: Span::from_secs(90),
        ..FloodConfig::default()
    }
}

fn seconds(seconds: u64) -> Span {
    Span::from_secs(seconds)
}

fn submission(at: u64, run_time: u64, processors: u32) -> Submission {
    Submission::new(at, Time::from_secs(at), seconds(run_time), processors)
}

/// Jobs of up to 20 nodes, which keep the grid busy.
fn workload(jobs: u64) -> Workload {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let jobs = (0..jobs).map(|number| {
        let nodes = [1, 1, 2, 3, 5, 8, 20][rng.index(7)];
        submission(number * 30, u64::from(30 + rng.below(400)), nodes)
    });
    Workload {
        jobs: jobs.collect(),
        ..Workload::default()
    }
}

fn grid(nodes: u32, config: FloodConfig, network: &NetworkConfig) -> Simulation<Flood> {
    let views = warmed_up(nodes, config.degree, config.shuffle, 20, SEED);
    let network = Network::new(network, SEED).unwrap();
    let mut grid = Simulation::new(nodes, network, SEED, move |me| {
        let view = views[me.get() as usize].iter();
        let peers = view.map(|peer| NodeId::new(u64::from(*peer)));
        Flood::new(me, config, peers).unwrap()
    });
    grid.check(Checking::EveryEvent);
    grid
}

fn run(grid: Simulation<Flood>, workload: &Workload) -> Run {
    let nodes = grid.len() as u32;
    let submissions = Submissions {
        grid: &Grid::Uniform(nodes),
        workload,
        kinds: None,
        estimates: Estimates::Exact,
        criterion: gridweave_core::job::Criterion::Soonest,
    };
    let hosting = Hosting {
        seed: SEED,
        pictures: None,
        neighbours: |flood: &Flood| flood.neighbours().to_vec(),
        counts: |_| Vec::new(),
        patience: seconds(86_400),
        explained: None,
        until: Time::MAX,
    };
    simulate(grid, submissions, &hosting, &Monitor::default())
}

fn delays() -> NetworkConfig {
    NetworkConfig {
        delay: Delay::Uniform {
            min: Span::from_millis(5),
            max: Span::from_millis(150),
        },
        ..NetworkConfig::default()
    }
}

/// Every job ran to its end on as many distinct nodes as it wants, and nothing was violated. That no node ran two at
/// once and no job twice at once, the host sees to: it counts either as a violation.
fn assert_all_ran(run: &Run, workload: &Workload) {
    assert_eq!(run.violations, 0, "seed {SEED}");
    let Placement::Assigned(nodes) = &run.placement else {
        panic!("nodes are known");
    };
    for (index, (job, outcome)) in workload.jobs.iter().zip(&run.outcomes).enumerate() {
        let Outcome::Ran { .. } = outcome else {
            panic!("job {index}: {outcome:?}, seed {SEED}");
        };
        let mut on = nodes[index].to_vec();
        on.sort_unstable();
        on.dedup();
        assert_eq!(on.len(), job.processors as usize, "job {index}");
    }
}

/// How many messages of a kind were sent.
fn sent(run: &Run, kind: &str) -> u64 {
    run.traffic.of(&[kind]).messages
}

#[test]
fn all_jobs_run_without_delay_and_those_that_find_room_start_at_once() {
    let workload = workload(150);
    let run = run(grid(NODES, config(), &NetworkConfig::default()), &workload);
    assert_all_ran(&run, &workload);
    let waited = workload.jobs.iter().zip(&run.outcomes).filter(
        |(job, outcome)| !matches!(outcome, Outcome::Ran { start, .. } if *start == job.at),
    );
    let waited = waited.count();
    assert!((10..140).contains(&waited), "{waited} waited");
    assert_eq!(sent(&run, "Stop") + sent(&run, "Gone"), 0);
}

#[test]
fn all_jobs_run_with_delays_on_static_and_on_dynamic_overlays() {
    let workload = workload(scaled(150, 60).into());
    for overlay in [OverlayMode::Static, OverlayMode::Dynamic] {
        let config = FloodConfig {
            overlay,
            ..config()
        };
        let run = run(grid(NODES, config, &delays()), &workload);
        assert_all_ran(&run, &workload);
        assert_eq!(sent(&run, "Overlay") > 0, overlay == OverlayMode::Dynamic);
        assert!(sent(&run, "Renew") > scaled(1000, 400).into());
    }
}

#[test]
fn all_jobs_run_with_one_percent_of_messages_lost() {
    let workload = workload(150);
    let network = NetworkConfig {
        loss: 0.01,
        ..delays()
    };
    let run = run(grid(NODES, config(), &network), &workload);
    assert_all_ran(&run, &workload);
    assert!(run.faults.network.lost > 500, "{:?}", run.faults);
}

#[test]
fn all_jobs_run_with_messages_that_come_twice_late_and_out_of_order() {
    let workload = workload(150);
    let network = NetworkConfig {
        duplication: 0.2,
        reordering: 0.2,
        held_up: Span::from_secs(3),
        ..delays()
    };
    let run = run(grid(NODES, config(), &network), &workload);
    assert_all_ran(&run, &workload);
    let mishaps = run.faults.network;
    assert!(mishaps.duplicated > 5_000 && mishaps.held_up > 5_000);
}

#[test]
fn all_jobs_run_though_nodes_crash_and_come_back_and_messages_are_lost() {
    for overlay in [OverlayMode::Static, OverlayMode::Dynamic] {
        let jobs = scaled(150, 50);
        let workload = workload(jobs.into());
        let network = NetworkConfig {
            loss: 0.01,
            duplication: 0.05,
            ..delays()
        };
        let config = FloodConfig {
            overlay,
            ..config()
        };
        let mut grid = grid(NODES, config, &network);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        for _ in 0..jobs {
            let node = NodeId::new(u64::from(rng.below(NODES)));
            let at = Time::from_secs(u64::from(rng.below(jobs * 100 / 3)));
            grid.crash(at, node);
            grid.restart(at + seconds(u64::from(1 + rng.below(120))), node);
        }
        let run = run(grid, &workload);
        assert_all_ran(&run, &workload);
        let faults = run.faults;
        assert!(faults.jobs.crashes > u64::from(jobs * 2 / 3));
        let least = u64::from(scaled(100, 20));
        assert!(
            faults.jobs.starts > least && faults.undelivered > least,
            "{faults:?}"
        );
        // Some jobs were hit, and their attempts ended everywhere.
        assert!(sent(&run, "Stop").min(sent(&run, "Gone")) > scaled(50, 15).into());
    }
}

#[test]
fn a_part_that_ends_while_another_never_began_does_not_count() {
    let workload = Workload {
        jobs: vec![submission(0, 1, 2)],
        ..Workload::default()
    };
    let network = NetworkConfig {
        delay: Delay::Constant(Span::from_millis(100)),
        ..NetworkConfig::default()
    };
    let mut grid = grid(2, config(), &network);
    // The other has offered itself, and is down when it is told to start.
    for node in [0, 1].map(NodeId::new) {
        let crash = Time::from_millis(150);
        if node != submitted_to(2) {
            grid.crash(crash, node);
            grid.restart(Time::from_secs(10), node);
        }
    }
    let run = run(grid, &workload);
    assert_eq!((run.violations, run.faults.jobs.crashes), (0, 1));
    let [Outcome::Ran { start, end, .. }] = run.outcomes[..] else {
        panic!("{:?}", run.outcomes);
    };
    assert!(start > Time::from_secs(90), "{start:?}");
    assert_eq!(end - start, seconds(1));
}

/// Where the host submits the first job on a grid of this size.
fn submitted_to(nodes: u32) -> NodeId {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    NodeId::new(u64::from(rng.below(nodes)))
}

#[test]
fn what_is_larger_than_the_grid_is_rejected_and_all_else_runs() {
    let mut workload = workload(50);
    workload.jobs.push(submission(2000, 60, NODES + 1));
    workload.jobs.push(submission(2000, 60, NODES));
    let run = run(grid(NODES, config(), &delays()), &workload);
    assert_eq!(run.violations, 0);
    assert!(matches!(run.outcomes[50], Outcome::Rejected(_)));
    let ran = |outcome: &&Outcome| matches!(outcome, Outcome::Ran { .. });
    assert_eq!(run.outcomes.iter().filter(ran).count(), 51);
}

#[test]
fn a_seed_always_gives_the_same_history() {
    let workload = workload(100);
    let once = run(grid(NODES, config(), &delays()), &workload);
    let again = run(grid(NODES, config(), &delays()), &workload);
    assert_eq!(once.digest, again.digest);
}

use super::*;
use crate::outcome::Ending;
use crate::schedulers::random::Random;
use crate::workload::Submission;
use gridweave_core::job::Refusal;
use gridweave_sim::engine::Checking;
use gridweave_sim::network::{Delay, Network, NetworkConfig};

fn workload(jobs: u64, processors: u32) -> Workload {
    let jobs = (0..jobs)
        .map(|number| Submission {
            // Numbers in traces may repeat.
            number: 7,
            at: Time::from_secs(number),
            run_time: Span::from_secs(100),
            requested_time: Some(Span::from_secs(60 + 60 * (number % 2))),
            processors,
            user: 1,
            group: 2,
            site: None,
            memory: None,
        })
        .collect();
    Workload {
        jobs,
        ..Workload::default()
    }
}

fn grid(network: &NetworkConfig) -> Simulation<Random> {
    let network = Network::new(network, 1).unwrap();
    let mut simulation = Simulation::new(10, network, 1, |_| Random::new(10));
    simulation.check(Checking::EveryEvent);
    simulation
}

fn submissions(workload: &Workload, estimates: Estimates) -> Submissions<'_> {
    Submissions {
        kinds: None,
        grid: &Grid::Uniform(10),
        workload,
        estimates,
        criterion: Criterion::Soonest,
    }
}

fn hosting() -> Hosting<Random> {
    Hosting {
        seed: 1,
        pictures: None,
        neighbours: |_| Vec::new(),
        counts: |_| Vec::new(),
        patience: Span::from_secs(86_400),
        explained: None,
        until: Time::MAX,
    }
}

#[test]
fn every_serial_job_runs_on_one_node_to_its_end() {
    let network = NetworkConfig {
        delay: Delay::Constant(Span::from_secs(1)),
        ..NetworkConfig::default()
    };
    let workload = workload(200, 1);
    let run = simulate(
        grid(&network),
        submissions(&workload, Estimates::Kill),
        &hosting(),
        &Monitor::default(),
    );
    assert_eq!((run.violations, run.is_partial()), (0, false));
    let Placement::Assigned(nodes) = &run.placement else {
        panic!("nodes are known");
    };
    let mut by_node: Vec<Vec<(Time, Time)>> = vec![Vec::new(); 10];
    for (index, outcome) in run.outcomes.iter().enumerate() {
        let Outcome::Ran { start, end, ending } = *outcome else {
            panic!("{outcome:?}");
        };
        // Every other job requested too little time and is killed. All wait at least for their message.
        let (length, how) = if index % 2 == 0 {
            (60, Ending::Killed)
        } else {
            (100, Ending::Completed)
        };
        assert_eq!((end - start, ending), (Span::from_secs(length), how));
        assert!(start - workload.jobs[index].at >= Span::from_secs(1));
        assert_eq!(nodes[index].len(), 1);
        by_node[nodes[index][0] as usize].push((start, end));
    }
    for mut intervals in by_node {
        intervals.sort();
        assert!(intervals.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
    assert_eq!(run.traffic.total().messages, 400);
    let again = simulate(
        grid(&network),
        submissions(&workload, Estimates::Kill),
        &hosting(),
        &Monitor::default(),
    );
    assert_eq!(run, again);
    let elsewhere = Hosting {
        seed: 2,
        ..hosting()
    };
    let other = simulate(
        grid(&network),
        submissions(&workload, Estimates::Kill),
        &elsewhere,
        &Monitor::default(),
    );
    assert_ne!(run.digest, other.digest);
}

#[test]
fn a_job_that_the_scheduler_cannot_honour_is_rejected() {
    let workload = workload(5, 2);
    let network = NetworkConfig::default();
    let run = simulate(
        grid(&network),
        submissions(&workload, Estimates::Exact),
        &hosting(),
        &Monitor::default(),
    );
    assert_eq!(
        run.outcomes,
        [Outcome::Rejected(Refusal::UnsupportedDemand); 5]
    );
    assert_eq!(run.violations, 0);
}

#[test]
fn jobs_whose_messages_are_lost_are_lost_and_counted() {
    let workload = workload(20, 1);
    let network = NetworkConfig {
        loss: 0.5,
        ..NetworkConfig::default()
    };
    let run = simulate(
        grid(&network),
        submissions(&workload, Estimates::Exact),
        &hosting(),
        &Monitor::default(),
    );
    let lost = run
        .outcomes
        .iter()
        .filter(|outcome| **outcome == Outcome::Lost)
        .count() as u64;
    assert!(lost > 0 && run.violations == lost, "{run:?}");
    assert_eq!(run.faults.network.lost, lost);
}

#[test]
fn a_stopped_run_has_unfinished_jobs() {
    let workload = workload(5000, 1);
    let monitor = Monitor::default();
    monitor.stop();
    let run = simulate(
        grid(&NetworkConfig::default()),
        submissions(&workload, Estimates::Exact),
        &hosting(),
        &monitor,
    );
    assert!(run.is_partial());
    assert_eq!(run.violations, 0);
    let running = run
        .outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Unfinished { start: Some(_) }))
        .count();
    assert!((1..=10).contains(&running), "{running}");
}

/// If the whole grid is down, a job is lost at once if no node comes up again, and waits if one does.
#[test]
fn a_grid_that_is_down_costs_nothing() {
    let workload = workload(200, 1);
    let down = || {
        let mut simulation = grid(&NetworkConfig::default());
        for node in 0..10 {
            simulation.crash(Time::ZERO, NodeId::new(node));
        }
        simulation
    };
    let patient = || Hosting {
        patience: Span::from_secs(365 * 86_400),
        ..hosting()
    };
    let run = simulate(
        down(),
        submissions(&workload, Estimates::Exact),
        &patient(),
        &Monitor::default(),
    );
    assert!(run.outcomes.iter().all(|one| *one == Outcome::Lost));
    assert!(run.events < 1000, "{}", run.events);

    let mut simulation = down();
    let up = Time::from_secs(30 * 86_400);
    for node in 0..10 {
        simulation.restart(up, NodeId::new(node));
    }
    let run = simulate(
        simulation,
        submissions(&workload, Estimates::Exact),
        &patient(),
        &Monitor::default(),
    );
    assert!(run.events < 5000, "{}", run.events);
    for outcome in &run.outcomes {
        assert!(matches!(outcome, Outcome::Ran { start, .. } if *start >= up));
    }
}

#[test]
fn jobs_are_submitted_to_nodes_that_have_joined() {
    let workload = workload(50, 1);
    let network = Network::new(&NetworkConfig::default(), 1).unwrap();
    let mut simulation = Simulation::new(2, network, 1, |_| Random::new(2));
    // Ids are given in this order, so the node with the highest id joins first.
    for node in 0..8 {
        simulation.join(Time::from_secs(26 - node));
    }
    let run = simulate(
        simulation,
        submissions(&workload, Estimates::Exact),
        &hosting(),
        &Monitor::default(),
    );
    // No job was submitted to a node that was not there; the retry would have cost a second.
    let Outcome::Ran { start, .. } = run.outcomes[0] else {
        panic!("{:?}", run.outcomes[0]);
    };
    assert_eq!(start, workload.jobs[0].at);
    assert_eq!(run.faults.jobs.starts, 8);
    assert_eq!(run.faults.undelivered, 0);
}

#[test]
fn a_job_whose_node_comes_back_is_not_orphaned() {
    let workload = workload(20, 1);
    let stopped = |comes_back: bool| {
        let mut simulation = grid(&NetworkConfig::default());
        for node in (0..10).map(NodeId::new) {
            simulation.crash(Time::from_secs(30), node);
            if comes_back {
                simulation.restart(Time::from_secs(50), node);
            }
        }
        let until = Hosting {
            until: Time::from_secs(40),
            ..hosting()
        };
        simulate(
            simulation,
            submissions(&workload, Estimates::Exact),
            &until,
            &Monitor::default(),
        )
        .outcomes
    };
    assert!(stopped(false).contains(&Outcome::Orphaned));
    let open = stopped(true);
    let unfinished = Outcome::Unfinished { start: None };
    assert!(
        open.iter().all(|outcome| *outcome == unfinished),
        "{open:?}"
    );
}

#[test]
fn there_is_a_picture_for_every_moment_also_if_nothing_happens() {
    let mut workload = workload(2, 1);
    workload.jobs[1].at = Time::from_secs(1000);
    let drawn = Hosting {
        pictures: Some((Span::from_secs(20), |_| None)),
        ..hosting()
    };
    let run = simulate(
        grid(&NetworkConfig::default()),
        submissions(&workload, Estimates::Exact),
        &drawn,
        &Monitor::default(),
    );
    // A snapshot every 20 seconds up to the end of the second job, at 1100 seconds.
    assert_eq!(run.pictures.len(), 56);
    assert_eq!(run.pictures[55].at, 1100.0);
    assert_eq!(run.ended, Time::from_secs(1100));
}

#[test]
fn a_message_that_comes_twice_does_no_harm() {
    let workload = workload(200, 1);
    let network = NetworkConfig {
        duplication: 0.5,
        reordering: 0.5,
        held_up: Span::from_secs(500),
        ..NetworkConfig::default()
    };
    let run = simulate(
        grid(&network),
        submissions(&workload, Estimates::Exact),
        &hosting(),
        &Monitor::default(),
    );
    assert!(run.faults.network.duplicated > 100);
    assert_eq!(run.violations, 0);
    let ran = |outcome: &Outcome| matches!(outcome, Outcome::Ran { .. });
    assert!(run.outcomes.iter().all(ran), "{:?}", run.outcomes);
}

#[test]
fn a_run_ends_when_its_configuration_says_so() {
    let workload = workload(5, 1);
    let short = Hosting {
        until: Time::from_secs(3),
        ..hosting()
    };
    let run = simulate(
        grid(&NetworkConfig::default()),
        submissions(&workload, Estimates::Exact),
        &short,
        &Monitor::default(),
    );
    assert_eq!(run.stopped, Some(Time::from_secs(3)));
    // A submission that is due at the very end does not happen any more.
    assert_eq!(run.outcomes[3..], [Outcome::NotSubmitted; 2]);
    let unfinished = |outcome: &Outcome| matches!(outcome, Outcome::Unfinished { .. });
    assert!(run.outcomes[..3].iter().all(unfinished), "{run:?}");
    assert_eq!(run.violations, 0);
}

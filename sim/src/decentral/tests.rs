use super::random::Random;
use super::*;
use crate::config::Lasting;
use crate::engine::Checking;
use crate::network::{DelayConfig, Network, NetworkConfig};
use crate::outcome::Ending;
use crate::workload::Submission;

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
        })
        .collect();
    Workload {
        jobs,
        ..Workload::default()
    }
}

fn grid(network: &NetworkConfig) -> Simulation<Random> {
    let network = Network::new(network, 10, 1).unwrap();
    let mut simulation = Simulation::new(10, network, 1, |_| Random::new(10));
    simulation.check(Checking::EveryEvent);
    simulation
}

fn hosting(workload: &Workload, estimates: Estimates) -> Hosting<'_> {
    Hosting {
        grid: &Grid::Uniform(10),
        workload,
        estimates,
        seed: 1,
        patience: Span::from_secs(86_400),
    }
}

#[test]
fn every_serial_job_runs_on_one_node_to_its_end() {
    let network = NetworkConfig {
        delay: DelayConfig::Constant {
            delay: Lasting::seconds(1),
        },
        ..NetworkConfig::default()
    };
    let workload = workload(200, 1);
    let run = simulate(
        grid(&network),
        hosting(&workload, Estimates::Kill),
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
        // Half of them asked for too little and are killed; all waited for their message.
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
        hosting(&workload, Estimates::Kill),
        &Monitor::default(),
    );
    assert_eq!(run, again);
    let elsewhere = Hosting {
        seed: 2,
        ..hosting(&workload, Estimates::Kill)
    };
    let other = simulate(grid(&network), elsewhere, &Monitor::default());
    assert_ne!(run.digest, other.digest);
}

#[test]
fn a_job_that_the_scheduler_cannot_honour_is_rejected() {
    let workload = workload(5, 2);
    let network = NetworkConfig::default();
    let run = simulate(
        grid(&network),
        hosting(&workload, Estimates::Exact),
        &Monitor::default(),
    );
    assert_eq!(run.outcomes, [Outcome::Rejected; 5]);
    assert_eq!(run.violations, 0);
}

#[test]
fn jobs_that_nobody_answers_for_are_lost_and_counted() {
    let workload = workload(20, 1);
    let network = NetworkConfig {
        loss: 0.5,
        ..NetworkConfig::default()
    };
    let run = simulate(
        grid(&network),
        hosting(&workload, Estimates::Exact),
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
fn a_submission_to_a_node_that_is_down_goes_elsewhere() {
    let workload = workload(20, 1);
    let mut simulation = grid(&NetworkConfig::default());
    // Before the first submission, so nothing that runs is hurt; half of the jobs are placed on it and lost.
    simulation.crash(Time::ZERO, NodeId::new(3));
    let run = simulate(
        simulation,
        hosting(&workload, Estimates::Exact),
        &Monitor::default(),
    );
    let ran = run
        .outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Outcome::Ran { .. }))
        .count();
    assert!(ran >= 15, "{:?}", run.outcomes);
    assert_eq!(run.faults.crashes, 1);
}

#[test]
fn a_stopped_run_has_unfinished_jobs() {
    let workload = workload(5000, 1);
    let monitor = Monitor::default();
    monitor.stop();
    let run = simulate(
        grid(&NetworkConfig::default()),
        hosting(&workload, Estimates::Exact),
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

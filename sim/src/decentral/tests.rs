use gridweave_core::machine::{Context, Event, Machine, Never, Violation};
use gridweave_core::resource::{Dimensions, Kind, Requirement};

use super::random::Random;
use super::*;
use crate::engine::Checking;
use crate::grid::{Mixed, Profile};
use crate::lasting::Lasting;
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
        criterion: Criterion::Soonest,
        seed: 1,
        pictures: None,
        patience: Span::from_secs(86_400),
        until: Time::MAX,
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
    let mut workload = workload(20, 1);
    // One after the other, so that each finds its node free.
    for (job, number) in workload.jobs.iter_mut().zip(0..) {
        job.at = Time::from_secs(200 * number);
    }
    let grid = Grid::Uniform(10);
    let (outcomes, violations) = lied_with(Lie::Honest, &workload, &grid, |simulation| {
        // Before the first submission, so nothing that runs is hurt.
        for node in (0..5).map(NodeId::new) {
            simulation.crash(Time::ZERO, node);
        }
    });
    let mut elsewhere = 0;
    for (outcome, number) in outcomes.iter().zip(0..) {
        let at = 200 * number;
        // A job runs where it was submitted, so one that came to a node that is down runs a second later.
        let late = ran(at + 1, at + 101);
        assert!([ran(at, at + 100), late].contains(outcome), "{outcomes:?}");
        elsewhere += u32::from(*outcome == late);
    }
    assert!(elsewhere > 0, "{outcomes:?}");
    assert_eq!((outcomes.len(), violations), (20, 0));
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

/// A job that comes to a grid that is down is lost at once if nothing comes up, and waits if something does.
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
    let patient = Hosting {
        patience: Span::from_secs(365 * 86_400),
        ..hosting(&workload, Estimates::Exact)
    };
    let run = simulate(down(), patient, &Monitor::default());
    assert!(run.outcomes.iter().all(|one| *one == Outcome::Lost));
    assert!(run.events < 1000, "{}", run.events);

    let mut simulation = down();
    let up = Time::from_secs(30 * 86_400);
    for node in 0..10 {
        simulation.restart(up, NodeId::new(node));
    }
    let run = simulate(simulation, patient, &Monitor::default());
    assert!(run.events < 5000, "{}", run.events);
    for outcome in &run.outcomes {
        assert!(matches!(outcome, Outcome::Ran { start, .. } if *start >= up));
    }
}

#[test]
fn jobs_are_submitted_to_nodes_that_have_joined() {
    let workload = workload(50, 1);
    let network = Network::new(&NetworkConfig::default(), 10, 1).unwrap();
    let mut simulation = Simulation::new(2, network, 1, |_| Random::new(2));
    // The last ones to be named join first.
    for node in 0..8 {
        simulation.join(Time::from_secs(26 - node));
    }
    let run = simulate(
        simulation,
        hosting(&workload, Estimates::Exact),
        &Monitor::default(),
    );
    // Nothing came to a node that was not there, which would have cost a second.
    let Outcome::Ran { start, .. } = run.outcomes[0] else {
        panic!("{:?}", run.outcomes[0]);
    };
    assert_eq!(start, workload.jobs[0].at);
    assert_eq!(run.faults.starts, 8);
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
            ..hosting(&workload, Estimates::Exact)
        };
        simulate(simulation, until, &Monitor::default()).outcomes
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
        pictures: Some(Span::from_secs(20)),
        ..hosting(&workload, Estimates::Exact)
    };
    let run = simulate(grid(&NetworkConfig::default()), drawn, &Monitor::default());
    // To the end of the second job, after 1100 seconds.
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
        held_up: Lasting::seconds(500),
        ..NetworkConfig::default()
    };
    let run = simulate(
        grid(&network),
        hosting(&workload, Estimates::Exact),
        &Monitor::default(),
    );
    assert!(run.faults.network.duplicated > 100);
    assert_eq!(run.violations, 0);
    let ran = |outcome: &Outcome| matches!(outcome, Outcome::Ran { .. });
    assert!(run.outcomes.iter().all(ran), "{:?}", run.outcomes);
}

/// A machine that does not do what it says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Liar {
    me: NodeId,
    lie: Lie,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Lie {
    /// None: each job runs where it was submitted.
    Honest,
    /// Everything runs on the first node, whatever runs there.
    Crowd,
    /// A job is done when it begins.
    TooEarly,
    /// A job begins again when it is done.
    Again,
    /// A job is stopped, and is done all the same.
    Stopped,
    /// A job is stopped and begins again, which is no lie.
    Restarted,
    /// A job runs on the first two nodes, and the second of them tells that it is done.
    Pair,
    /// A job that is not at its end in time is stopped and given up, which is no lie.
    Punctual,
    /// A job is done, and done.
    Twice,
    /// A node that comes up again says that the first job is done, which is no lie if it said so before.
    DoneAgain,
    /// A node that comes up again says that the first job failed.
    FailedAfterAll,
}

impl Machine for Liar {
    type Message = JobId;
    type Timer = JobId;
    type Command = Command;
    type Notice = Notice;
    type Key = Never;
    type Record = Never;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let mut tell = |job, news| cx.notify(Notice { job, news });
        match (event, self.lie) {
            (Event::Command(Command::Submit(job)), Lie::Crowd) => {
                cx.send(NodeId::new(0), job.id);
            }
            (Event::Command(Command::Submit(job)), Lie::Pair) => {
                cx.send(NodeId::new(0), job.id);
                cx.send(NodeId::new(1), job.id);
            }
            (Event::Command(Command::Submit(job)), lie) => {
                tell(job.id, News::Started);
                match lie {
                    Lie::TooEarly => tell(job.id, News::Finished),
                    Lie::Stopped => {
                        tell(job.id, News::Stopped);
                        tell(job.id, News::Finished);
                    }
                    Lie::Restarted => {
                        tell(job.id, News::Stopped);
                        tell(job.id, News::Started);
                    }
                    Lie::Punctual => cx.wake(now + job.estimate(), job.id),
                    _ => {}
                }
            }
            (Event::Timer(job), _) => {
                tell(job, News::Stopped);
                tell(job, News::Failed(Failure::Overran));
            }
            (Event::Start, Lie::DoneAgain) if now > Time::ZERO => {
                tell(JobId::new(0), News::Finished);
            }
            (Event::Start, Lie::FailedAfterAll) if now > Time::ZERO => {
                tell(JobId::new(0), News::Failed(Failure::Overran));
            }
            (Event::Message { message, .. }, _) => tell(message, News::Started),
            (Event::Command(Command::Ended { .. }), Lie::Pair) if self.me == NodeId::new(0) => {}
            (Event::Command(Command::Ended { job, .. }), lie) => {
                tell(job, News::Finished);
                match lie {
                    Lie::Again => tell(job, News::Started),
                    Lie::Twice => tell(job, News::Finished),
                    Lie::Punctual => cx.cancel(job),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Ok(())
    }
}

impl Protocol for Liar {
    const KINDS: &'static [&'static str] = &["start"];

    fn kind(_: &JobId) -> usize {
        0
    }
}

/// What comes of jobs, and how many violations are counted, if machines lie like this.
fn lied(lie: Lie, workload: &Workload, grid: &Grid) -> (Vec<Outcome>, u64) {
    lied_with(lie, workload, grid, |_| {})
}

fn lied_with(
    lie: Lie,
    workload: &Workload,
    grid: &Grid,
    change: impl FnOnce(&mut Simulation<Liar>),
) -> (Vec<Outcome>, u64) {
    let nodes = grid.len() as u32;
    let network = Network::new(&NetworkConfig::default(), nodes, 1).unwrap();
    let mut simulation = Simulation::new(nodes, network, 1, move |me| Liar { me, lie });
    change(&mut simulation);
    let hosting = Hosting {
        grid,
        ..hosting(workload, Estimates::Exact)
    };
    let run = simulate(simulation, hosting, &Monitor::default());
    (run.outcomes, run.violations)
}

fn ran(start: u64, end: u64) -> Outcome {
    Outcome::Ran {
        start: Time::from_secs(start),
        end: Time::from_secs(end),
        ending: Ending::Completed,
    }
}

#[test]
fn every_lie_is_noticed() {
    let (one, two, gang) = (workload(1, 1), workload(2, 1), workload(1, 2));
    let grid = Grid::Uniform(10);
    let lost = Outcome::Lost;
    for (lie, workload, outcomes, violations) in [
        (Lie::Honest, &one, vec![ran(0, 100)], 0),
        // The second never begins as far as the host is concerned, so it is lost.
        (Lie::Crowd, &two, vec![ran(0, 100), lost], 2),
        // A gang on half of its nodes is not done; a lost job is a violation of its own.
        (Lie::Honest, &gang, vec![lost], 2),
        (Lie::Pair, &gang, vec![ran(0, 100)], 0),
        (Lie::Pair, &one, vec![lost], 2),
        (Lie::TooEarly, &one, vec![ran(0, 100)], 1),
        (Lie::Again, &one, vec![ran(0, 100)], 1),
        (Lie::Stopped, &one, vec![lost], 2),
        (Lie::Restarted, &one, vec![ran(0, 100)], 0),
        (Lie::Twice, &one, vec![ran(0, 100)], 1),
    ] {
        let found = lied(lie, workload, &grid);
        assert_eq!(found, (outcomes, violations), "{lie:?}");
    }
}

#[test]
fn a_job_that_ends_when_its_time_is_over_has_ended() {
    let (workload, grid) = (workload(1, 1), Grid::Uniform(10));
    let found = lied(Lie::Punctual, &workload, &grid);
    assert_eq!(found, (vec![ran(0, 100)], 0));
}

#[test]
fn a_node_may_repeat_its_last_word_if_it_went_down_since() {
    let mut workload = workload(2, 1);
    // The second job only keeps the run going.
    workload.jobs[1].at = Time::from_secs(300);
    let restart = |nodes: u64| {
        move |simulation: &mut Simulation<Liar>| {
            for node in (0..nodes).map(NodeId::new) {
                simulation.crash(Time::from_secs(150), node);
                simulation.restart(Time::from_secs(151), node);
            }
        }
    };
    let outcomes = vec![ran(0, 100), ran(300, 400)];
    for (lie, nodes, violations) in [
        (Lie::DoneAgain, 1, 0),
        // The others never said it before.
        (Lie::DoneAgain, 10, 9),
        (Lie::FailedAfterAll, 1, 1),
    ] {
        let grid = Grid::Uniform(nodes);
        let found = lied_with(lie, &workload, &grid, restart(nodes.into()));
        assert_eq!(found, (outcomes.clone(), violations), "{lie:?}");
    }
}

#[test]
fn what_is_left_of_a_gang_does_not_count() {
    let (workload, grid) = (workload(1, 2), Grid::Uniform(10));
    let (outcomes, violations) = lied_with(Lie::Pair, &workload, &grid, |simulation| {
        simulation.crash(Time::from_secs(50), NodeId::new(0));
    });
    assert_eq!((outcomes, violations), (vec![Outcome::Lost], 2));
}

#[test]
fn a_shared_node_runs_what_it_has_room_for() {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
    let cores = dimensions.named("cores").unwrap();
    let node = Profile {
        capability: dimensions.capability(&[2]).unwrap(),
        speed: Speed::BASELINE,
    };
    let grid = Grid::Mixed(Mixed {
        dimensions,
        nodes: vec![node; 10],
    });
    let mut workload = workload(3, 1);
    let needs = |amounts: [u64; 3]| amounts.map(|n| Requirement::any().with(cores, n)).into();
    workload.requirements = needs([1, 1, 1]);
    let (outcomes, violations) = lied(Lie::Crowd, &workload, &grid);
    assert_eq!(
        outcomes[..2],
        [ran(0, 100), ran(1, 101)],
        "two have room at once"
    );
    assert_eq!((outcomes[2], violations), (Outcome::Lost, 2));
    workload.requirements = needs([2, 1, 1]);
    let (outcomes, violations) = lied(Lie::Crowd, &workload, &grid);
    let lost = Outcome::Lost;
    assert_eq!((outcomes, violations), (vec![ran(0, 100), lost, lost], 4));
}

#[test]
fn a_run_ends_when_its_configuration_says_so() {
    let workload = workload(5, 1);
    let short = Hosting {
        until: Time::from_secs(3),
        ..hosting(&workload, Estimates::Exact)
    };
    let run = simulate(grid(&NetworkConfig::default()), short, &Monitor::default());
    assert_eq!(run.stopped, Some(Time::from_secs(3)));
    // What is due at that very time does not happen any more.
    assert_eq!(run.outcomes[3..], [Outcome::NotSubmitted; 2]);
    let unfinished = |outcome: &Outcome| matches!(outcome, Outcome::Unfinished { .. });
    assert!(run.outcomes[..3].iter().all(unfinished), "{run:?}");
    assert_eq!(run.violations, 0);
}

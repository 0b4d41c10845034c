//! The limits of the centralised schedulers: what they refuse, reject and leave unfinished, and what the digest covers.

use gridweave_core::job::Refusal;
use gridweave_core::resource::{Capability, Dimensions, Kind, Requirement, Speed};
use gridweave_core::time::{Span, Time};
use gridweave_lab::grid::{Grid, Mixed, Profile};
use gridweave_lab::outcome::{Ending, Estimates, Outcome};
use gridweave_lab::schedulers::central::{self, Central, Observer, Refused, Run};
use gridweave_lab::workload::{Submission, Workload};
use gridweave_sim::history::History;
use gridweave_sim::monitor::{Monitor, Progress};

fn job(number: u64, at: u64, processors: u32, run: u64) -> Submission {
    Submission::new(
        number,
        Time::from_secs(at),
        Span::from_secs(run),
        processors,
    )
}

fn workload(jobs: Vec<Submission>) -> Workload {
    Workload {
        jobs,
        ..Workload::default()
    }
}

fn run(central: Central, grid: &Grid, workload: &Workload) -> Result<Run, Refused> {
    central::simulate(
        central,
        grid,
        workload,
        Estimates::Kill,
        &Monitor::default(),
    )
}

fn ran(start: u64, end: u64) -> Outcome {
    Outcome::Ran {
        start: Time::from_secs(start),
        end: Time::from_secs(end),
        ending: Ending::Completed,
    }
}

fn desktops(speeds: &[f64]) -> Grid {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
    let profile = |&speed: &f64| Profile {
        capability: dimensions.capability(&[2]).unwrap(),
        speed: Speed::try_from(speed).unwrap(),
    };
    Grid::Mixed(Mixed {
        nodes: speeds.iter().map(profile).collect(),
        dimensions,
    })
}

#[test]
fn each_scheduler_is_found_by_its_name() {
    let names = Central::ALL.map(Central::name);
    assert_eq!(
        names,
        [
            "central-fcfs",
            "central-easy",
            "central-conservative",
            "central-greedy",
            "central-sjf",
            "central-bounded"
        ]
    );
    for central in Central::ALL {
        assert_eq!(Central::named(central.name()), Some(central));
        assert_eq!(central.to_string(), central.name());
    }
    assert_eq!(Central::named("easy"), None);
}

#[test]
fn schedulers_that_plan_take_no_nodes_that_differ() {
    let jobs = workload(vec![job(1, 0, 1, 10)]);
    let grid = desktops(&[1.0]);
    for central in [Central::Easy, Central::Conservative, Central::Sjf] {
        let refused = run(central, &grid, &jobs);
        assert_eq!(refused, Err(Refused::MixedGrid(central)));
    }
    assert_eq!(
        Refused::MixedGrid(Central::Easy).to_string(),
        "central-easy needs a grid of equal nodes; for nodes that differ there are central-fcfs, central-greedy and central-bounded"
    );
    for central in [Central::Fcfs, Central::Greedy, Central::Bounded] {
        assert!(run(central, &grid, &jobs).is_ok());
    }
}

#[test]
fn on_nodes_that_differ_a_job_passes_others_as_the_order_allows() {
    // One node of two cores. Job 1 leaves a core, which job 2 does not fit into; jobs 3 and 4 do.
    let mut jobs = workload(vec![
        job(1, 0, 1, 100),
        job(2, 1, 1, 10),
        job(3, 2, 1, 10),
        job(4, 3, 1, 10),
    ]);
    let grid = desktops(&[1.0]);
    let Grid::Mixed(mixed) = &grid else {
        unreachable!("it was made so")
    };
    let cores = mixed.dimensions.named("cores").unwrap();
    jobs.requirements = [1, 2, 1, 1]
        .map(|count| Requirement::any().with(cores, count))
        .to_vec();
    let starts = |central| {
        let outcomes = run(central, &grid, &jobs).unwrap().outcomes;
        let start = outcomes.iter().map(|outcome| match outcome {
            Outcome::Ran { start, .. } => start.as_secs(),
            other => unreachable!("all of them fit: {other:?}"),
        });
        start.collect::<Vec<_>>()
    };
    assert_eq!(starts(Central::Greedy), [0, 100, 2, 12]);
    // Job 3 passes job 2, and job 4 was not passed so often.
    assert_eq!(starts(Central::Bounded), [0, 100, 2, 110]);
    assert_eq!(starts(Central::Fcfs), [0, 100, 110, 110]);
}

#[test]
fn sjf_starts_the_shortest_estimate_first_and_passes_no_job_that_does_not_fit() {
    let told = |number, at, processors, requested| Submission {
        requested_time: Some(Span::from_secs(requested)),
        ..job(number, at, processors, 5)
    };
    // Jobs 2 and 3 are told alike. Job 4 is the shortest that waits, and too large while job 3 runs.
    let jobs = vec![
        told(1, 0, 2, 30),
        told(2, 1, 1, 20),
        told(3, 1, 1, 20),
        told(5, 5, 1, 40),
        told(4, 6, 2, 10),
    ];
    let run = run(Central::Sjf, &Grid::Uniform(2), &workload(jobs)).unwrap();
    let starts = [ran(0, 5), ran(5, 10), ran(5, 10), ran(15, 20), ran(10, 15)];
    assert_eq!(run.outcomes, starts);
}

#[test]
fn a_job_that_can_never_run_is_rejected_and_delays_no_other() {
    let nothing = Submission {
        processors: 0,
        ..job(3, 0, 1, 5)
    };
    let no_time = job(4, 0, 1, 0);
    let jobs = workload(vec![job(1, 0, 5, 10), job(2, 0, 4, 10), nothing, no_time]);
    for central in Central::ALL {
        let run = run(central, &Grid::Uniform(4), &jobs).unwrap();
        let rejected = Outcome::Rejected(Refusal::TooLarge);
        assert_eq!(run.outcomes, [rejected, ran(0, 10), rejected, rejected]);
        assert_eq!(run.events, 6, "four arrivals, a start and an end");
    }
}

#[test]
fn a_grid_without_nodes_rejects_every_job() {
    let jobs = workload(vec![job(1, 0, 1, 10)]);
    for central in Central::ALL {
        let run = run(central, &Grid::Uniform(0), &jobs).unwrap();
        assert_eq!(run.outcomes, [Outcome::Rejected(Refusal::TooLarge)]);
    }
    let run = run(Central::Greedy, &desktops(&[]), &jobs).unwrap();
    assert_eq!(
        (run.outcomes, run.nodes),
        (vec![Outcome::Rejected(Refusal::TooLarge)], vec![None])
    );
}

#[test]
fn the_largest_grid_runs_the_largest_job_but_one() {
    let jobs = workload(vec![job(1, 0, u32::MAX - 1, 10), job(2, 0, 1, 10)]);
    for central in Central::ALL {
        let run = run(central, &Grid::Uniform(u32::MAX), &jobs).unwrap();
        assert_eq!(run.outcomes, [ran(0, 10), ran(10, 20)]);
    }
}

#[test]
fn times_that_add_up_beyond_time_are_refused() {
    let long = Submission {
        run_time: Span::MAX,
        ..job(1, 1, 1, 1)
    };
    for central in Central::ALL {
        let refused = run(central, &Grid::Uniform(1), &workload(vec![long]));
        assert_eq!(refused, Err(Refused::BeyondTime));
    }
}

#[test]
fn no_jobs_make_an_empty_run() {
    for central in Central::ALL {
        let run = run(central, &Grid::Uniform(4), &Workload::default()).unwrap();
        assert_eq!((run.outcomes.len(), run.events), (0, 0));
        assert_eq!(run.digest, History::new().digest());
    }
}

#[test]
fn a_job_is_killed_when_its_time_is_up() {
    let short = Submission {
        requested_time: Some(Span::from_secs(4)),
        ..job(1, 0, 1, 10)
    };
    let run = run(Central::Easy, &Grid::Uniform(1), &workload(vec![short])).unwrap();
    let killed = Outcome::Ran {
        start: Time::ZERO,
        end: Time::from_secs(4),
        ending: Ending::Killed,
    };
    assert_eq!(run.outcomes, [killed]);
}

#[test]
fn the_digest_covers_every_arrival_start_and_end_in_order() {
    // One job ends when two others arrive: the end comes first.
    let jobs = workload(vec![
        job(70, 0, 4, 10),
        job(80, 10, 9, 5),
        job(90, 10, 2, 5),
    ]);
    let second = 1_000_000;
    let (arrival, start, end) = (0, 1, 2);
    for central in Central::ALL {
        let mut history = History::new();
        for event in [
            [0, arrival, 70],
            [0, start, 70],
            [10 * second, end, 70],
            [10 * second, arrival, 80],
            [10 * second, arrival, 90],
            [10 * second, start, 90],
            [15 * second, end, 90],
        ] {
            history.words(event);
        }
        let run = run(central, &Grid::Uniform(4), &jobs).unwrap();
        assert_eq!((run.digest, run.events), (history.digest(), 7));
    }
}

#[test]
fn on_nodes_that_differ_the_digest_tells_where() {
    let jobs = workload(vec![job(7, 0, 1, 10)]);
    let grid = desktops(&[1.0, 2.0]);
    let run = run(Central::Greedy, &grid, &jobs).unwrap();
    let mut history = History::new();
    history.words([0, 0, 7]);
    history.words([0, 1 | 1 << 8, 7]);
    history.words([5_000_000, 2, 7]);
    assert_eq!(run.nodes, [Some(1)]);
    assert_eq!(run.digest, history.digest());
}

#[test]
fn the_fastest_node_with_room_comes_first_and_of_equal_ones_the_first() {
    let Grid::Mixed(mixed) = desktops(&[1.0, 2.0, 2.0]) else {
        unreachable!("desktops differ");
    };
    let cores = mixed.dimensions.named("cores").unwrap();
    let two = Requirement::any().with(cores, 2);
    let mut jobs = workload((1..=4).map(|number| job(number, 0, 1, 10)).collect());
    jobs.requirements = vec![two; 4];
    let run = run(Central::Greedy, &Grid::Mixed(mixed), &jobs).unwrap();
    assert_eq!(run.nodes, [Some(1), Some(2), Some(0), Some(1)]);
    assert_eq!(run.outcomes, [ran(0, 5), ran(0, 5), ran(0, 10), ran(5, 10)]);
}

#[test]
fn a_requirement_that_no_node_meets_is_rejected() {
    let Grid::Mixed(mixed) = desktops(&[1.0]) else {
        unreachable!("desktops differ");
    };
    let cores = mixed.dimensions.named("cores").unwrap();
    assert_eq!(Capability::none().value(cores), 0);
    let mut jobs = workload(vec![job(1, 0, 1, 10)]);
    jobs.requirements = vec![Requirement::any().with(cores, 3)];
    let run = run(Central::Greedy, &Grid::Mixed(mixed), &jobs).unwrap();
    assert_eq!(run.outcomes, [Outcome::Rejected(Refusal::TooLarge)]);
}

#[test]
fn a_run_that_is_stopped_at_once_submits_nothing() {
    let monitor = Monitor::default();
    monitor.stop();
    let jobs = workload(vec![job(1, 0, 1, 10)]);
    for central in Central::ALL {
        let grid = Grid::Uniform(4);
        let run = central::simulate(central, &grid, &jobs, Estimates::Exact, &monitor).unwrap();
        assert_eq!(run.outcomes, [Outcome::NotSubmitted]);
        assert_eq!(run.stopped, Some(Time::ZERO));
        assert_eq!(run.events, 0);
    }
}

/// An observer that stops the run when this job starts.
struct StopAt<'a>(usize, &'a Monitor);

impl Observer for StopAt<'_> {
    fn started(&mut self, _: Time, job: usize) {
        if job == self.0 {
            self.1.stop();
        }
    }
}

#[test]
fn a_run_that_is_stopped_keeps_what_was_done_and_says_what_runs() {
    // One job after another, one second each, so that each job has three events.
    let jobs = workload((0..5000).map(|number| job(number, 0, 1, 1)).collect());
    for central in Central::ALL {
        let monitor = Monitor::default();
        let mut stop = StopAt(100, &monitor);
        let grid = Grid::Uniform(1);
        let run = central::simulate_observed(
            central,
            &grid,
            &jobs,
            Estimates::Exact,
            &monitor,
            &mut stop,
        )
        .unwrap();
        let done = run
            .outcomes
            .iter()
            .filter(|outcome| matches!(outcome, Outcome::Ran { .. }))
            .count();
        assert!((100..100 + 1024).contains(&done), "{central}: {done}");
        let next = Some(Time::from_secs(done as u64));
        assert_eq!(run.outcomes[done], Outcome::Unfinished { start: next });
        assert_eq!(run.stopped, next);
        let rest = &run.outcomes[done + 1..];
        assert!(
            rest.iter()
                .all(|outcome| *outcome == Outcome::Unfinished { start: None })
        );
        assert_eq!(
            monitor.progress(),
            Progress {
                now: Time::from_secs(done as u64),
                jobs: done as u64,
                events: run.events
            }
        );
    }
}

#[test]
fn the_monitor_is_told_when_all_is_over() {
    let monitor = Monitor::default();
    let jobs = workload(vec![job(1, 5, 1, 10), job(2, 5, 9, 10)]);
    let grid = Grid::Uniform(4);
    central::simulate(Central::Fcfs, &grid, &jobs, Estimates::Exact, &monitor).unwrap();
    let progress = Progress {
        now: Time::from_secs(15),
        jobs: 2,
        events: 4,
    };
    assert_eq!(monitor.progress(), progress);
}

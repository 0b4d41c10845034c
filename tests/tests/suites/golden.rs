//! Scenarios worked out by hand come out as they were worked out.

use gridweave_core::time::{Span, Time};
use gridweave_lab::grid::Grid;
use gridweave_lab::outcome::{Estimates, Outcome};
use gridweave_lab::schedulers::central::{self, Central};
use gridweave_lab::workload::{Submission, Workload};
use gridweave_sim::monitor::Monitor;

/// Reads a golden scenario: comments, `scheduler`, `processors`, then one row per job.
fn golden(text: &str) -> (Central, u32, Workload, Vec<u64>) {
    let (mut central, mut processors) = (None, None);
    let (mut workload, mut starts) = (Workload::default(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let value = |index: usize| -> u64 { words[index].parse().expect("a number") };
        match words.as_slice() {
            [] => {}
            ["scheduler", name] => central = Central::named(name),
            ["processors", _] => processors = Some(value(1) as u32),
            [_, _, _, _, _, _] => {
                let (at, run_time) = (Time::from_secs(value(1)), Span::from_secs(value(4)));
                workload.jobs.push(Submission {
                    requested_time: Some(Span::from_secs(value(3))),
                    ..Submission::new(value(0), at, run_time, value(2) as u32)
                });
                starts.push(value(5));
            }
            other => panic!("no such line: {other:?}"),
        }
    }
    (
        central.expect("a scheduler"),
        processors.expect("processors"),
        workload,
        starts,
    )
}

#[test]
fn golden_scenarios_come_out_as_worked_out_by_hand() {
    let scenarios = [
        (Central::Easy, include_str!("../../golden/easy.txt")),
        (
            Central::Conservative,
            include_str!("../../golden/conservative.txt"),
        ),
    ];
    for (expected, text) in scenarios {
        let (central, processors, workload, starts) = golden(text);
        assert_eq!(central, expected);
        let grid = Grid::Uniform(processors);
        let monitor = Monitor::default();
        let run = central::simulate(central, &grid, &workload, Estimates::Kill, &monitor)
            .expect("a uniform grid suits all");
        let started: Vec<u64> = run
            .outcomes
            .iter()
            .map(|outcome| match outcome {
                Outcome::Ran { start, .. } => start.as_secs(),
                other => panic!("all of them run: {other:?}"),
            })
            .collect();
        assert_eq!(started, starts, "{central}");
    }
}

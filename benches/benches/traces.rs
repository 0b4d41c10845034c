//! The centralised schedulers on traces: `cargo bench -p gridweave-benches --bench traces -- FILE[@PROCESSORS] ...`
//!
//! For each trace: how long reading it takes, and for each scheduler and rule of estimates the mean wait, the mean
//! bounded slowdown and how many jobs a second of processor time simulates: the engine alone, and from the file on.
//! Without a trace it takes the bundled week. `--conservative` also runs the conservative scheduler, which takes
//! minutes on large logs. With `--test` everything runs once, too short to mean anything.

use std::path::PathBuf;
use std::time::Duration;

use gridweave_benches::events::cpu_time;
use gridweave_core::time::Span;
use gridweave_lab::grid::Grid;
use gridweave_lab::outcome::{Estimates, Outcome};
use gridweave_lab::schedulers::central::{Central, simulate};
use gridweave_lab::workload::{Origin, Trace, Workload, bundled, read};
use gridweave_sim::monitor::Monitor;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let least = if given("--test") {
        Duration::ZERO
    } else {
        Duration::from_millis(500)
    };
    let mut schedulers = vec![Central::Fcfs, Central::Easy, Central::Greedy];
    if given("--conservative") {
        schedulers.push(Central::Conservative);
    }
    println!(
        "\n| trace | scheduler | estimates | mean wait | bounded slowdown | jobs/CPU-s, engine alone | from the file on |"
    );
    println!("|---|---|---|---|---|---|---|");
    let files: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    if files.is_empty() {
        table(&schedulers, None, bundled, least);
    }
    for file in files {
        let (path, processors) = match file.rsplit_once('@') {
            Some((path, processors)) => (path, processors.parse().ok()),
            None => (file.as_str(), None),
        };
        let path = PathBuf::from(path);
        let load = || read(&path, Origin::FirstJob).expect("the trace can be read");
        table(&schedulers, processors, load, least);
    }
}

/// How much processor time something takes, done again and again for at least this long, and what came of it.
fn timed<T>(least: Duration, mut work: impl FnMut() -> T) -> (f64, T) {
    let began = cpu_time();
    let mut times = 0;
    loop {
        let made = work();
        times += 1;
        let spent = cpu_time() - began;
        if spent >= least {
            return (spent.as_secs_f64().max(1e-9) / f64::from(times), made);
        }
    }
}

fn table(
    schedulers: &[Central],
    processors: Option<u32>,
    load: impl Fn() -> Trace,
    least: Duration,
) {
    let (reading, trace) = timed(least, load);
    let workload = &trace.workload;
    let processors = processors
        .or(trace.header.max_procs())
        .expect("the trace says how many processors there are");
    let grid = Grid::Uniform(processors);
    for &central in schedulers {
        for (name, estimates) in [
            ("kill", Estimates::Kill),
            ("extend", Estimates::Extend),
            ("exact", Estimates::Exact),
        ] {
            let monitor = Monitor::default();
            let (running, run) = timed(least, || {
                simulate(central, &grid, workload, estimates, &monitor).expect("nodes are alike")
            });
            let (wait, slowdown) = means(workload, &run.outcomes);
            let jobs = workload.jobs.len() as f64;
            println!(
                "| {} | `{central}` | `{name}` | {wait:.0} s | {slowdown:.1} | {:.0} | {:.0} |",
                workload.name,
                jobs / running,
                jobs / (running + reading)
            );
        }
    }
}

/// The mean wait in seconds and the mean bounded slowdown with a threshold of ten seconds.
fn means(workload: &Workload, outcomes: &[Outcome]) -> (f64, f64) {
    let seconds = |span: Span| span.as_micros() as f64 / 1e6;
    let (mut wait, mut slowdown, mut ran) = (0.0, 0.0, 0.0);
    for (job, outcome) in workload.jobs.iter().zip(outcomes) {
        if let Outcome::Ran { start, end, .. } = *outcome {
            let (waited, run) = (seconds(start - job.at), seconds(end - start));
            wait += waited;
            slowdown += ((waited + run) / run.max(10.0)).max(1.0);
            ran += 1.0;
        }
    }
    (wait / ran, slowdown / ran)
}

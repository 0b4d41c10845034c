//! All four schedulers run on agents.

#![allow(missing_docs, unused_crate_dependencies)]

mod grid;

use grid::{Grid, TIMES};

fn runs_jobs(scheduler: &str, options: &[&str], times: &str) {
    let mut grid = Grid::of(scheduler, 2, times);
    assert_eq!(grid.status(0)["scheduler"], scheduler);
    let job = grid.submit(1, options, &grid.script("0.1"));
    let row = grid.end_of(1, &job);
    assert_eq!(row["phase"], "done", "{row}");
    assert_eq!(grid.written().len(), 2);

    let job = grid.submit(1, options, &grid.script("2"));
    grid.wait("it begins", |grid| grid.written().len() == 3);
    let node = grid.nodes_of(&grid.answer(1, &["status", &job]))[0];
    grid.kill(node);
    grid.start(node);
    let row = grid.end_of(1, &job);
    assert_eq!(row["phase"], "done", "{row}");
    assert_eq!(grid.written().len(), 4, "it runs once");

    let options = [&["--time", "1s"], &options[2..]].concat();
    let job = grid.submit(1, &options, &grid.script("30"));
    let row = grid.end_of(1, &job);
    assert_eq!(row["why"], "it ran longer than it may", "{row}");
    assert_eq!(grid.written().len(), 5, "it does not come to its end");
}

#[test]
fn criteria_runs_jobs_on_agents() {
    runs_jobs("criteria", &["--time", "10s"], TIMES);
}

#[test]
fn aria_runs_jobs_on_agents() {
    runs_jobs("aria", &["--time", "10s", "--cores", "1"], "");
}

#[test]
fn desktop_runs_jobs_on_agents() {
    runs_jobs("desktop", &["--time", "10s", "--cores", "1"], "");
}

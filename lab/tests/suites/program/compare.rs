//! `gridweave compare`.

use std::fs;

use super::{GANGS, hints, same_files};
use crate::desk::{Desk, json};

#[test]
fn a_comparison_has_all_schedulers_and_repeats() {
    let desk = Desk::new();
    // The bare command, on a smaller grid, with the first jobs and hours of the bundled week and few heartbeats.
    let nodes = if cfg!(debug_assertions) { 100 } else { 200 };
    let first = "compare --set workload.first=60 --set grid.until=2h --set desktop.heartbeat=1d";
    let first = &format!("{first} --nodes {nodes}");
    let text = desk.good(first);
    for word in [
        "central-fcfs",
        "central-easy",
        "central-conservative",
        "central-greedy",
        "asap",
        "criteria",
        "aria",
        "desktop",
        "random",
        "flood",
        "results: gridweave-out",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    for file in [
        "jobs.csv",
        "summary.json",
        "series.csv",
        "report.html",
        "config.toml",
        "engine.json",
    ] {
        for folder in ["gangs/central-easy", "serial/random"] {
            let path = desk.path("gridweave-out").join(folder).join(file);
            assert!(path.is_file(), "{}", path.display());
        }
    }
    assert!(desk.path("gridweave-out/report.html").is_file());
    let easy = desk.summary("gridweave-out/gangs/central-easy");
    assert_eq!(easy["jobs"]["completed"], 60);
    // A second run replaces other results with equal ones.
    fs::rename(desk.path("gridweave-out"), desk.path("kept")).expect("folders can be renamed");
    desk.good(&format!("{first} --schedulers central-easy"));
    desk.good(first);
    same_files(&desk.path("kept"), &desk.path("gridweave-out"));
}

#[test]
fn wide_jobs_are_compared_whole_if_they_cannot_be_split() {
    let desk = Desk::new();
    desk.write(
        "wide.swf",
        b"; MaxProcs: 50000000\n1 0 0 10 49000000 -1 -1 -1 10 -1 1 1 1 -1 -1 -1 -1 -1\n",
    );
    let compare = "compare --trace wide.swf --schedulers";
    desk.good(&format!("{compare} central-easy,central-fcfs"));
    assert!(
        desk.path("gridweave-out/gangs/central-easy/jobs.csv")
            .is_file()
    );
    assert!(!desk.path("gridweave-out/serial").exists());
    let line = desk.bad(&format!("{compare} central-easy,random"));
    assert!(line.contains("more than 5000000"), "{line}");
}

#[test]
fn a_row_without_a_run_job_shows_no_waits() {
    let desk = Desk::new();
    desk.write(
        "wide.swf",
        b"1 0 0 10 9 -1 -1 -1 10 -1 1 1 1 -1 -1 -1 -1 -1\n",
    );
    let text = desk.good("run --trace wide.swf --nodes 4");
    let row = text.lines().find(|line| line.contains("central-easy"));
    let row = row.expect("it has a row");
    assert_eq!(row.matches(" - ").count(), 3, "{row}");
    let output = desk.run("run --trace wide.swf --nodes 4 --json");
    let printed = json(&String::from_utf8_lossy(&output.stdout));
    assert!(printed["wait"].is_null() && printed["bounded_slowdown"].is_null());
}

#[test]
fn a_comparison_says_which_schedulers_have_only_split_jobs() {
    let desk = Desk::new();
    desk.write("gangs.swf", GANGS);
    let compare = "compare --trace gangs.swf --schedulers";
    let said = hints(&desk, &format!("{compare} central-easy,random"));
    assert!(
        said.contains("workload.shape is gangs") && said.contains("are split: random"),
        "{said}"
    );
    for line in [
        "central-easy,central-fcfs",
        "central-easy,random --set workload.shape=serial",
    ] {
        let said = hints(&desk, &format!("{compare} {line}"));
        assert!(!said.contains("workload.shape"), "{said}");
    }
}

#[test]
fn a_comparison_replaces_an_earlier_one() {
    let desk = Desk::new();
    desk.write("gangs.swf", GANGS);
    // Serial jobs, gangs, and gangs once more: a folder each.
    let compare = "compare --trace gangs.swf --requested --quiet --schedulers central-easy,random";
    desk.good(compare);
    desk.good(compare);
    for table in ["gangs", "requested", "serial"] {
        assert!(desk.path(&format!("gridweave-out/{table}")).is_dir());
    }
}

#[test]
fn both_tables_of_a_comparison_have_the_same_jobs() {
    let desk = Desk::with_trace();
    desk.good(
        "compare --trace log.swf --quiet --set workload.max_nodes=4 --set grid.cores_per_node=2 \
         --set workload.first=20 --set workload.load=0.5",
    );
    // For each node of each job: when it was submitted, and how long it ran.
    let parts = |table: &str| {
        let text = desk.read(&format!("gridweave-out/{table}/central-easy/jobs.csv"));
        let mut parts = Vec::new();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let size: usize = fields[4].parse().expect("a number");
            let part = (fields[3].to_owned(), fields[9].to_owned());
            parts.extend(std::iter::repeat_n(part, size));
        }
        parts
    };
    let gangs = parts("gangs");
    assert!(gangs.len() > 20);
    assert_eq!(gangs, parts("serial"));
    let used = |table: &str| {
        let summary = desk.summary(&format!("gridweave-out/{table}/central-easy"));
        (
            summary["nodes"].clone(),
            summary["utilization"]["requested"].clone(),
        )
    };
    assert_eq!(used("gangs"), used("serial"));
}

//! Requests to end, as by Ctrl-C.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::desk::{Desk, await_interrupted, pause, send};

/// A long run.
const LONG: &str = if cfg!(debug_assertions) {
    "run --scheduler random --workload grid5000-like --set workload.grid5000_like.jobs=8000 --set workload.shape=serial"
} else {
    "run --scheduler random --workload grid5000-like --set workload.grid5000_like.jobs=40000 --set workload.shape=serial"
};

/// Ctrl-C in the middle of a long run leaves whole files that say that they are partial.
#[test]
fn an_interrupted_run_leaves_whole_partial_files() {
    let desk = Desk::new();
    let mut child = desk.begin(&format!("{LONG} --out out"));
    // It generates the workload first. A draft beside the result shows that the run has begun.
    desk.await_more_than(0);
    pause(200);
    send("-INT", &child);
    await_interrupted(&mut child);
    let summary = desk.summary("out");
    assert_eq!(summary["partial"], true);
    let count = |what: &str| summary["jobs"][what].as_u64().expect("a number");
    assert!(count("unfinished") + count("not_submitted") > 0);
    let jobs = desk.read("out/jobs.csv");
    let all = count("submitted") + count("not_submitted");
    assert_eq!(jobs.lines().count() as u64, all + 1);
    let report = desk.read("out/report.html");
    assert!(report.contains("\"partial\":true") && report.ends_with("</html>\n"));
}

/// If several runs are interrupted, some are missing, and the joint summary says so in its usual form.
#[test]
fn interrupted_runs_say_how_many_are_missing() {
    let desk = Desk::new();
    let mut child = desk.begin(&format!("{LONG} --runs 9 --out out"));
    desk.await_more_than(0);
    pause(200);
    send("-TERM", &child);
    await_interrupted(&mut child);
    let summary = desk.summary("out");
    assert_eq!(summary["partial"], true);
    assert_eq!(summary["runs"]["wanted"], 9);
    assert!(summary["runs"]["made"].as_u64() < Some(9));
    assert!(summary["jobs"]["submitted"]["mean"].is_number());
    assert!(desk.path("out/report.html").is_file());
}

/// On a second request to end, the program ends without results and leaves nothing behind.
#[test]
fn a_second_request_to_end_leaves_nothing_behind() {
    let desk = Desk::new();
    let mut child = desk.begin(&format!("{LONG} --runs 9 --out out"));
    desk.await_more_than(0);
    send("-INT", &child);
    send("-TERM", &child);
    await_interrupted(&mut child);
    assert!(!desk.path("out").exists() || desk.path("out/summary.json").is_file());
    let hidden = |path: &PathBuf| path.to_string_lossy().contains("/.gridweave-");
    assert!(!desk.list().iter().any(hidden), "{:?}", desk.list());
    // The folders around its draft, and half-written files, are removed, too.
    let generate = "trace generate grid5000-like x.swf.gz --set workload.grid5000_like.jobs=300000";
    for line in [&format!("{LONG} --out a/b/out"), generate] {
        let desk = Desk::new();
        let mut child = desk.begin(line);
        desk.await_more_than(0);
        send("-INT", &child);
        send("-TERM", &child);
        await_interrupted(&mut child);
        let whole = desk.path("a/b/out/summary.json").is_file() || desk.path("x.swf.gz").is_file();
        assert!(whole || desk.list().is_empty(), "{:?}", desk.list());
        assert!(!desk.list().iter().any(hidden), "{:?}", desk.list());
    }
}

/// At any time of the request, the old result stays whole, or a whole new one has replaced it.
#[test]
fn a_second_request_to_end_leaves_whole_results() {
    let desk = Desk::with_trace();
    desk.good("run --trace log.swf --out out");
    let compare = "compare --set workload.first=300 --schedulers central-easy,asap --out out";
    for number in 0..8 {
        let before = desk.list().len();
        let mut child = desk.begin(compare);
        desk.await_more_than(before);
        pause(100 * number);
        send("-INT", &child);
        pause(2 * number);
        // The program may have ended already.
        let _ = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .stderr(Stdio::null())
            .status();
        child.wait().expect("the program ends");
        let found = desk.summary("out");
        let tables: Vec<&str> = ["gangs", "serial"]
            .into_iter()
            .filter(|table| desk.path("out").join(table).exists())
            .collect();
        let runs = tables.iter().flat_map(|table| {
            found[table]
                .as_array()
                .into_iter()
                .flatten()
                .map(move |row| (table, row))
        });
        for (table, row) in runs {
            let name = row["scheduler"].as_str().expect("a name");
            let folder = desk.path("out").join(table).join(name);
            let files = fs::read_dir(folder).expect("it has a folder").count();
            assert_eq!(files, 6, "{name}");
        }
        assert!(desk.path("out/config.toml").is_file() && desk.path("out/report.html").is_file());
        let hidden = |path: &PathBuf| path.to_string_lossy().contains("/.gridweave-");
        assert!(!desk.list().iter().any(hidden), "{:?}", desk.list());
    }
}

/// Before runs begin, there is nothing to finish.
#[test]
fn a_program_that_still_reads_ends_at_once_on_request() {
    let desk = Desk::new();
    let made = Command::new("mkfifo").arg(desk.path("pipe.swf")).status();
    assert!(made.expect("mkfifo is there").success());
    let mut child = desk.begin("trace info pipe.swf");
    // Once the test opens the pipe, the program reads, and waits for more than one line.
    let mut pipe = fs::OpenOptions::new()
        .write(true)
        .open(desk.path("pipe.swf"))
        .expect("the pipe can be opened");
    pipe.write_all(b"; MaxProcs: 5\n").expect("it is read");
    send("-TERM", &child);
    for _ in 0..200 {
        if child.try_wait().expect("it is our child").is_some() {
            break;
        }
        pause(50);
    }
    // A program that ignored the request would read to the end, and fail with another status.
    drop(pipe);
    await_interrupted(&mut child);
}

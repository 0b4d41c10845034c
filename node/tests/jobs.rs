//! Jobs on real agents: they run once, also when agents are killed, and end in time.

#![allow(missing_docs, unused_crate_dependencies)]

mod grid;

use std::fs;
use std::process::Command;
use std::time::Duration;

use grid::{Grid, TIMES, now};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

#[test]
fn a_job_runs_on_a_grid_of_two_and_its_user_is_charged() {
    let grid = Grid::new(2, TIMES);
    let job = grid.submit(1, &["--time", "5s"], &grid.script("0.1"));
    let row = grid.end_of(1, &job);
    assert_eq!(row["phase"], "done", "{row}");
    let written = grid.written();
    let whats: Vec<&str> = written.iter().map(|line| line.what.as_str()).collect();
    assert_eq!(whats, ["begins", "ends"]);
    let node = grid.nodes_of(&row)[0];
    grid.wait("it is charged", |grid| {
        grid.answer(node, &["usage"])[0]["attempts"] == 1
    });
    let peers = grid.answer(0, &["peers"]);
    assert_eq!(peers[0]["name"], "node1");
    let ahead = peers[0]["clock_ahead"].as_f64().unwrap();
    assert!(ahead.abs() < 1.0, "one computer has one clock: {ahead}");
}

#[test]
fn the_ranks_of_a_gang_start_together_and_get_each_others_addresses() {
    let grid = Grid::new(3, TIMES);
    let out = grid.path("out%r");
    let output = ["--output", out.to_str().unwrap()];
    let script =
        "echo $GRIDWEAVE_RANK; echo $GRIDWEAVE_NODES; echo $GRIDWEAVE_ADDRESSES; date +%s%N";
    let options = ["--time", "5s", "--nodes", "2", output[0], output[1]];
    let job = grid.submit(2, &options, script);
    let row = grid.end_of(2, &job);
    assert_eq!(row["phase"], "done", "{row}");
    let nodes: Vec<&str> = row["placed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    let mut starts = Vec::new();
    for rank in 0..2 {
        let text = fs::read_to_string(grid.path(&format!("out{rank}"))).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], rank.to_string());
        assert_eq!(lines[1], nodes.join(" "));
        assert_eq!(lines[2], "127.0.0.1 127.0.0.1");
        starts.push(lines[3].parse::<u64>().unwrap());
    }
    let apart = Duration::from_nanos(starts[0].abs_diff(starts[1]));
    assert!(apart < Duration::from_secs(1), "{apart:?}");
}

#[test]
fn a_job_runs_once_although_its_agent_and_its_submitter_are_killed() {
    let mut grid = Grid::new(2, TIMES);
    let job = grid.submit(0, &["--time", "20s"], &grid.script("4"));
    grid.wait("it begins", |grid| grid.written().len() == 1);
    for node in [0, 1] {
        grid.kill(node);
    }
    for node in [0, 1] {
        grid.start(node);
    }
    // Once more, over its end.
    grid.kill(1);
    grid.kill(0);
    grid.wait("it ends", |grid| grid.written().len() == 2);
    grid.start(0);
    grid.start(1);
    let row = grid.end_of(0, &job);
    assert_eq!(row["phase"], "done", "{row}");
    let written = grid.written();
    assert_eq!(written.len(), 2, "{written:?}");
    assert_eq!(written[0].attempt, written[1].attempt);
}

#[test]
fn a_job_of_a_lost_agent_is_ended_at_its_lease_and_then_runs_elsewhere() {
    let times = format!("{TIMES}lease = '4s'\n");
    // After a loss, a search wants one node more than the job.
    let mut grid = Grid::new(3, &times);
    let options = ["--time", "30s", "--again", "lost", "--times", "2"];
    let (mut other, mut job) = (0, String::new());
    let mut first = 0;
    while first == other {
        // It ran at its submitter, which is not to be killed.
        if !job.is_empty() {
            grid.answer(other, &["cancel", &job]);
            grid.end_of(other, &job);
            fs::remove_file(grid.path("written")).unwrap();
            other = (other + 1) % 3;
        }
        job = grid.submit(other, &options, &grid.script("6"));
        grid.wait("it begins", |grid| grid.written().len() == 1);
        first = grid.nodes_of(&grid.answer(other, &["status", &job]))[0];
    }
    let killed = now();
    grid.kill(first);
    let outcome = |grid: &Grid| {
        let attempts = fs::read_dir(grid.folder(first).join("attempts")).unwrap();
        let verdict = attempts
            .flatten()
            .find_map(|attempt| fs::read_to_string(attempt.path().join("outcome")).ok());
        verdict.map(|text| serde_json::from_str::<Value>(&text).unwrap())
    };
    grid.wait("its supervisor ends it", |grid| outcome(grid).is_some());
    let verdict = outcome(&grid).unwrap();
    assert_eq!(
        (&verdict["outcome"], &verdict["how"]),
        (&"overran".into(), &"its time was over".into())
    );
    let ended = u128::from(verdict["ended"].as_u64().unwrap()) * 1000;
    assert!(ended < killed + 5_000_000_000, "a lease, and a second");
    let row = grid.end_of(other, &job);
    assert_eq!(row["phase"], "done", "{row}");
    let written = grid.written();
    assert_eq!(
        written.len(),
        3,
        "the first attempt did not come to its end: {written:?}"
    );
    assert_ne!(written[0].attempt, written[1].attempt);
    assert!(written[1].at > ended, "never twice at a time: {written:?}");
    assert_eq!(written[2].what, "ends");
}

#[test]
fn a_job_that_takes_too_long_or_is_cancelled_ends_with_all_that_it_started() {
    let grid = Grid::new(1, TIMES);
    let file = grid.path("alive");
    // It leaves its session, its group and its parent.
    let script = format!(
        "setsid sh -c 'while :; do echo x >>{}; sleep 0.05; done' & sleep 30",
        file.display()
    );
    let over = grid.submit(0, &["--time", "1s"], &script);
    let row = grid.end_of(0, &over);
    assert_eq!(row["why"], "it ran longer than it may", "{row}");
    let folders = fs::read_dir(grid.folder(0).join("jobs")).unwrap();
    let errors: String = folders
        .map(|folder| fs::read_to_string(folder.unwrap().path().join("stderr")).unwrap())
        .collect();
    assert_eq!(errors, "gridweave-node: its time was over\n");
    let size = || fs::metadata(&file).map_or(0, |data| data.len());
    assert!(size() > 0);
    let ended = size();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(size(), ended);

    let job = grid.submit(0, &["--time", "30s"], &script);
    grid.wait("it runs", |_| size() > ended);
    grid.answer(0, &["cancel", &job]);
    assert_eq!(grid.end_of(0, &job)["phase"], "cancelled");
    grid.wait("it has ended", |grid| grid.status(0)["running"] == 0);
    let ended = size();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(size(), ended);
}

#[test]
fn a_program_ends_with_its_supervisor() {
    let grid = Grid::new(1, TIMES);
    let job = grid.submit(0, &["--time", "30s"], &grid.script("3"));
    grid.wait("it begins", |grid| grid.written().len() == 1);
    let attempts = fs::read_dir(grid.folder(0).join("attempts")).unwrap();
    let attempt = attempts.flatten().next().unwrap().path();
    let text = fs::read_to_string(attempt.join("supervisor")).unwrap();
    let pid = text.split(' ').next().unwrap().parse().unwrap();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    let row = grid.end_of(0, &job);
    assert_eq!(row["why"], "it broke while it ran", "{row}");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(grid.written().len(), 1, "it did not come to its end");
}

#[test]
fn clocks_that_differ_are_noticed() {
    let mut grid = Grid::new(1, TIMES);
    grid.invite(&[]);
    let file = grid.folder(1).join("node.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        file,
        text.replace("clock_offset = 0.0", "clock_offset = 2.5"),
    )
    .unwrap();
    grid.start(1);
    grid.wait("it is noticed", |grid| {
        let peers = grid.answer(0, &["peers"]);
        let ahead = peers[0]["clock_ahead"].as_f64().unwrap_or(0.0);
        (2.0..3.0).contains(&ahead) && grid.log(0).contains("the clocks differ")
    });
}

#[test]
fn a_node_runs_jobs_of_its_organisations_only() {
    let mut grid = Grid::new(1, TIMES);
    for organisation in ["2", "3"] {
        grid.invite(&["--organisation", organisation]);
    }
    // The second node runs jobs of its own organisation and of the third's.
    let file = grid.folder(1).join("node.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        file,
        text.replace("organisations = []", "organisations = [3]"),
    )
    .unwrap();
    for node in [1, 2] {
        grid.start(node);
    }
    grid.wait("all are connected", |grid| {
        (0..3).all(|node| grid.answer(node, &["peers"]).as_array().unwrap().len() == 2)
    });
    let pair = ["--time", "5s", "--nodes", "2"];
    let job = grid.submit(0, &pair, "true");
    let row = grid.end_of(0, &job);
    assert_eq!(
        (&row["organisation"], &row["phase"]),
        (&1.into(), &"done".into()),
        "{row}"
    );
    assert!(!grid.nodes_of(&row).contains(&1), "{row}");
    let all = ["--time", "5s", "--nodes", "3"];
    let job = grid.submit(2, &all, "true");
    let row = grid.end_of(2, &job);
    assert_eq!(
        (&row["organisation"], &row["phase"]),
        (&3.into(), &"done".into()),
        "{row}"
    );
    let usage = grid.answer(1, &["usage"]);
    assert_eq!(
        (&usage[0]["organisation"], &usage[0]["attempts"]),
        (&3.into(), &1.into())
    );
}

#[test]
fn a_job_runs_where_there_is_what_it_asks_for() {
    let mut grid = Grid::new(2, TIMES);
    grid.invite(&[]);
    let file = grid.folder(2).join("node.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, text.replace("accelerators = 0", "accelerators = 2")).unwrap();
    grid.start(2);
    grid.wait("all are connected", |grid| {
        (0..3).all(|node| grid.answer(node, &["peers"]).as_array().unwrap().len() == 2)
    });
    for _ in 0..3 {
        let job = grid.submit(0, &["--time", "5s", "--accelerators", "2"], "true");
        let row = grid.end_of(0, &job);
        assert_eq!(row["phase"], "done", "{row}");
        assert_eq!(grid.nodes_of(&row), [2]);
    }
}

#[test]
fn nothing_runs_on_a_drained_node() {
    let grid = Grid::new(3, TIMES);
    grid.answer(1, &["drain"]);
    for _ in 0..3 {
        let job = grid.submit(0, &["--time", "5s"], "true");
        assert!(!grid.nodes_of(&grid.end_of(0, &job)).contains(&1));
    }
    grid.wait("it is drained", |grid| grid.status(1)["drained"] == true);
    let all = ["--time", "5s", "--nodes", "3"];
    grid.answer(1, &["resume"]);
    let job = grid.submit(0, &all, "true");
    let row = grid.end_of(0, &job);
    assert_eq!(row["phase"], "done", "{row}\n{}", grid.log(1));
}

/// A batch system signals all processes of a job, and the program may be gone before its supervisor hears of it.
#[test]
fn a_program_that_its_site_ends_has_not_broken() {
    let room = tempfile::tempdir().unwrap();
    let how = |name: &str, script: &str| {
        let folder = room.path().join(name);
        fs::create_dir(&folder).unwrap();
        let nowhere = "/dev/null";
        let order = json!({
            "program": {"argv": ["sh", "-c", script]}, "environment": {"PATH": "/usr/bin:/bin"}, "folder": "/",
            "output": nowhere, "error": nowhere, "user": null, "cgroup": null, "socket": "", "clock_offset": 0, "submitter": [0, 0],
        });
        fs::write(folder.join("order"), order.to_string()).unwrap();
        fs::write(folder.join("until"), u64::MAX.to_string()).unwrap();
        let mut supervisor = Command::new(env!("CARGO_BIN_EXE_gridweave-node"));
        let ended = supervisor.arg("begin-at-site").arg(&folder).status();
        assert_eq!(ended.unwrap().code(), Some(1));
        let outcome = fs::read_to_string(folder.join("outcome")).unwrap();
        let outcome: Value = serde_json::from_str(&outcome).unwrap();
        outcome["how"].as_str().unwrap().to_owned()
    };
    let ended = how("ended", "(sleep 0.05; kill -TERM $PPID) & kill -TERM $$");
    assert_eq!(ended, "its supervisor was ended");
    assert_eq!(how("broken", "kill -TERM $$"), "killed by SIGTERM");
}

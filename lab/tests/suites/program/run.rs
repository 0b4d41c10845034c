//! `gridweave run`.

use super::{GANGS, hints, same_files};
use crate::desk::{Desk, json};

#[test]
fn the_seed_decides_where_there_is_chance() {
    let desk = Desk::new();
    let run = |seed: &str, out: &str| {
        let setup =
            "run --workload desktop --set workload.desktop.jobs=200 --scheduler central-greedy";
        desk.good(&format!("{setup} --seed {seed} --out {out}"));
        desk.summary(out)["digest"].clone()
    };
    let (one, again, other) = (run("1", "a"), run("1", "b"), run("2", "c"));
    same_files(&desk.path("a"), &desk.path("b"));
    assert_eq!(one, again);
    assert_ne!(one, other);
    let config = desk.path("a/config.toml");
    desk.good(&format!("run --config {} --out d", config.display()));
    same_files(&desk.path("a"), &desk.path("d"));
}

#[test]
fn the_life_of_a_job_says_who_was_asked_and_who_refused_and_why() {
    let desk = Desk::new();
    let setup =
        "run --scheduler aria --set workload.shape=serial --set workload.first=12 --nodes 12";
    let told = desk.good(&format!("{setup} --explain 7 --out a"));
    for step in [
        "The life of job 7",
        "gets it from its user",
        "searches for nodes",
        "makes an offer",
        "asks n",
        "accepts it: attempt e",
        "is to run it: attempt e",
        "starts attempt e",
        "says that it is done",
    ] {
        assert!(told.contains(step), "{step} is missing: {told}");
    }
    // To be told of a job changes nothing.
    desk.good(&format!("{setup} --out b"));
    same_files(&desk.path("a"), &desk.path("b"));
}

#[test]
fn a_network_and_faults_reach_a_decentralised_scheduler() {
    let desk = Desk::new();
    let config = "scheduler = 'random'\n[workload]\nshape = 'serial'\nfirst = 300\n[network]\nloss = 0.05\n\
        [network.delay]\nkind = 'plane'\nside = '100ms'\n[[faults]]\nwhat = 'crash'\nat = '1h'\nnode = 3\n";
    desk.write("run.toml", config);
    let output = desk.run("run --config run.toml --json");
    // Random placement does not handle lost messages, so jobs are lost.
    assert_eq!(output.status.code(), Some(1));
    let printed = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(printed, desk.summary("gridweave-out"));
    assert!(printed["jobs"]["lost"].as_u64() > Some(0));
    assert_eq!(printed["faults"]["crashes"], 1);
    assert!(printed["messages"]["by_kind"]["Assign"]["bytes"].as_u64() > Some(300));
}

#[test]
fn several_runs_give_means_with_confidence_intervals() {
    let desk = Desk::new();
    let text = desk.good(
        "run --workload aria --set workload.aria.jobs=100 --scheduler central-greedy --runs 4",
    );
    assert!(text.contains('±'), "{text}");
    let joined = desk.summary("gridweave-out");
    assert_eq!(joined["seed"], serde_json::json!([0, 1, 2, 3]));
    assert!(joined["wait"]["mean"]["ci95"].as_f64() > Some(0.0));
    assert!(desk.path("gridweave-out/seed-3/jobs.csv").is_file());
}

#[test]
fn a_scheduler_that_rejects_gangs_says_why_and_what_to_do() {
    let desk = Desk::new();
    desk.write("gangs.swf", GANGS);
    let run = "run --trace gangs.swf --scheduler";
    let said = hints(&desk, &format!("{run} random"));
    let rejects = "rejects 2 of 3 jobs, which need several; --set workload.shape=serial splits";
    assert!(said.contains(rejects), "{said}");
    assert!(!said.contains("grid.sites"), "{said}");
    let quiet = hints(&desk, &format!("{run} random --quiet"));
    assert_eq!(quiet, "");
    for able in ["random --set workload.shape=serial", "central-easy"] {
        let said = hints(&desk, &format!("{run} {able}"));
        assert!(!said.contains("rejects"), "{said}");
    }
    // A site runs several nodes' worth of a job.
    let config = "[workload]\nsource = 'trace'\ntrace = 'gangs.swf'\n";
    desk.write("aria.toml", format!("scheduler = 'aria'\n{config}"));
    let said = hints(&desk, "validate aria.toml");
    assert!(said.contains(rejects), "{said}");
    assert!(said.contains("--set grid.sites=N"), "{said}");
    desk.write(
        "sites.toml",
        format!("scheduler = 'aria'\n{config}[grid]\nsites = 2\n"),
    );
    assert_eq!(hints(&desk, "validate sites.toml"), "");
    // Of a sweep, the first such run is named.
    desk.write(
        "sweep.toml",
        "[base.workload]\nsource = 'trace'\ntrace = 'gangs.swf'\n[vary]\nscheduler = ['central-easy', 'random']\n",
    );
    for line in ["validate sweep.toml", "sweep sweep.toml"] {
        let said = hints(&desk, line);
        assert!(
            said.contains("scheduler=random: random runs a job on one node"),
            "{said}"
        );
    }
}

#[test]
fn lost_jobs_are_reported_even_if_quiet() {
    let desk = Desk::with_trace();
    let output = desk.run(
        "run --quiet --trace log.swf --scheduler random --set network.loss=0.5 --set workload.shape=serial",
    );
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("lost a job"), "{errors}");
    assert!(output.stdout.is_empty());
}

#[test]
fn nodes_that_join_take_part() {
    let desk = Desk::with_trace();
    let config = "scheduler = 'random'\n[workload]\nsource = 'trace'\ntrace = 'log.swf'\nshape = 'serial'\n\
        [[faults]]\nwhat = 'join'\nat = '10m'\n[[faults]]\nwhat = 'crash'\nat = '20m'\nnode = 16\n";
    desk.write("run.toml", config);
    let output = desk.run("run --config run.toml --json");
    let printed = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(printed["nodes"], 17);
    assert_eq!(printed["faults"]["starts"], 1);
    assert_eq!(printed["faults"]["crashes"], 1);
    desk.write("more.toml", config.replace("node = 16", "node = 17"));
    assert!(desk.bad("run --config more.toml").contains("17"));
}

//! Configuration files, and `gridweave validate`.

use super::{gzip, same_files};
use crate::desk::{Desk, trace};
use gridweave_lab::schedulers::Scheduler;

#[test]
fn the_configuration_of_a_run_repeats_it() {
    let desk = Desk::new();
    desk.write("log.swf.gz", gzip(trace().as_bytes()));
    let setup = "run --trace log.swf.gz --set workload.estimates=kill --set workload.load=0.9";
    for scheduler in Scheduler::ALL {
        let shape = match scheduler.side().places_gangs() {
            true => "",
            false => " --set workload.shape=serial --set workload.first=15",
        };
        let out = format!("{scheduler}-1");
        desk.good(&format!(
            "{setup}{shape} --scheduler {scheduler} --out {out}"
        ));
        desk.good(&format!("run --config {out}/config.toml --out again"));
        same_files(&desk.path(&out), &desk.path("again"));
    }
}

#[test]
fn a_configuration_means_the_same_everywhere() {
    let desk = Desk::with_trace();
    desk.make_folder("elsewhere");
    desk.good("run --trace log.swf --out out");
    desk.good("compare --trace log.swf --schedulers central-easy,random --out both");
    for out in ["out", "both/gangs/central-easy", "both/serial/central-easy"] {
        let output = desk
            .command(&format!("run --config ../{out}/config.toml --out again"))
            .current_dir(desk.path("elsewhere"))
            .output()
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        same_files(&desk.path(out), &desk.path("elsewhere/again"));
    }
}

#[test]
fn another_workload_brings_its_own_nodes() {
    let desk = Desk::with_trace();
    desk.good("run --trace log.swf --nodes 20 --out a");
    for (more, nodes) in [
        (" --workload bundled", 2004),
        (" --trace log.swf", 16),
        (" --trace log.swf --nodes 30", 30),
        ("", 20),
    ] {
        desk.good(&format!("run --config a/config.toml --out b{more}"));
        assert_eq!(desk.summary("b")["nodes"], nodes, "{more}");
    }
}

#[test]
fn what_validate_accepts_runs_and_what_it_refuses_does_not() {
    let desk = Desk::with_trace();
    let trace = "[workload]\nsource = 'trace'\ntrace = 'log.swf'\n";
    for (number, (config, good)) in [
        // The network is checked even if a centralised scheduler does not use it.
        (format!("{trace}[network]\nloss = 2.0\n"), false),
        (
            format!(
                "scheduler = 'random'\n{trace}[[network.partitions]]\nfrom = '1s'\nuntil = '2s'\nnodes = [[3, 16]]\n"
            ),
            false,
        ),
        (
            format!("scheduler = 'random'\n{trace}[network]\nloss = 2.0\n"),
            false,
        ),
        (
            "scheduler = 'central-easy'\n[workload]\nsource = 'aria'\n".into(),
            false,
        ),
        (
            format!(
                "scheduler = 'random'\n{trace}[[faults]]\nwhat = 'crash'\nat = '1s'\nnode = 99\n"
            ),
            false,
        ),
        (
            format!("scheduler = 'random'\n{trace}[grid]\nnodes = 4000000000\n"),
            false,
        ),
        (format!("{trace}[grid]\nnodes = 4000000000\n"), true),
        (format!("{trace}[report]\nwindow = '1ms'\n"), false),
    ]
    .into_iter()
    .enumerate()
    {
        let file = desk.write(&format!("{number}.toml"), &config);
        let base = config
            .replace("[", "[base.")
            .replace("[base.[base.", "[[base.");
        let base = format!("[base]\n{base}[vary]\nseed = [1]\n");
        let sweep = desk.write(&format!("{number}-sweep.toml"), base);
        let commands = [
            format!("validate {file}"),
            format!("validate {sweep}"),
            format!("run --config {file} --out {number}-out --quiet"),
        ];
        for command in &commands {
            if good {
                desk.good(command);
            } else {
                desk.bad(command);
            }
        }
    }
}

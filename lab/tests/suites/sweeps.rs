//! Sweeps, and the costs of their runs.

use std::fs;

use crate::desk::{Desk, trace};
#[cfg(unix)]
use crate::desk::{await_interrupted, pause, send};

#[test]
fn a_sweep_skips_what_is_finished() {
    let desk = Desk::with_trace();
    let sweep = "[base.workload]\nsource = 'trace'\ntrace = 'log.swf'\n[vary]\n\
        scheduler = ['central-easy', 'central-fcfs']\n'workload.estimates' = ['kill', 'exact']\n";
    desk.write("sweep.toml", sweep);
    assert!(desk.good("validate sweep.toml").contains("4 runs"));
    desk.good("sweep sweep.toml --out s");
    let table = desk.read("s/table.csv");
    assert!(desk.path("s/report.html").is_file());
    assert_eq!(table.lines().count(), 5, "{table}");
    let first = desk.path("s/scheduler=central-easy,workload.estimates=kill");
    let before = fs::metadata(first.join("engine.json"))
        .and_then(|data| data.modified())
        .expect("it was written");
    fs::remove_dir_all(desk.path("s/scheduler=central-fcfs,workload.estimates=exact"))
        .expect("it was made");
    let report = fs::read(desk.path("s/report.html")).expect("there is a report");
    let output = desk.run("sweep sweep.toml --out s");
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 of 4 runs are finished already"));
    let after = fs::metadata(first.join("engine.json"))
        .and_then(|data| data.modified())
        .expect("it is still there");
    assert_eq!(before, after);
    assert_eq!(desk.read("s/table.csv"), table);
    // The report does not depend on when and how fast runs were made.
    assert!(fs::read(desk.path("s/report.html")).expect("there is a report") == report);
    // A changed trace of the same name makes all runs new.
    desk.write("log.swf", trace().repeat(2));
    let output = desk.run("sweep sweep.toml --out s");
    assert!(output.status.success());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("finished already"));
    assert_ne!(desk.read("s/table.csv"), table);
}

/// A sweep over the number of nodes and over schedulers, with keys that change together.
const NODES: &str = "[base.workload]\nsource = 'grid5000-like'\ngrid5000_like = { days = 1, calm_days = 0, largest = 4 }\n[vary]\n\
    'workload.grid5000_like.nodes, workload.grid5000_like.jobs' = [[20, 10], [40, 20], [80, 40]]\n\
    'scheduler, workload.shape' = [['flood', 'gangs'], ['random', 'serial']]\n";

#[test]
fn costs_are_measured_in_a_process_per_run() {
    let desk = Desk::new();
    desk.write("sweep.toml", NODES);
    let together = desk.good("sweep sweep.toml --out s");
    assert!(!together.contains("cpu_s"), "{together}");
    let table = || desk.read("s/table.csv");
    let before = table();
    // Runs that were made beside others have no measured costs, so they are made again.
    let costs = "sweep sweep.toml --costs --out s";
    let output = desk.run(costs);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("output is text");
    let grown = said
        .lines()
        .find(|line| line.starts_with("random: powers of nodes: "))
        .expect("it is told how costs grow");
    assert!(grown.contains("events 1.0"), "{grown}");
    // These runs are too short to measure time, and too small for memory to grow by much.
    #[cfg(target_os = "linux")]
    assert!(memory_power(grown).abs() < 0.5, "{grown}");
    let heading = before.lines().next().expect("there is a heading");
    assert!(table().starts_with(&format!("{heading},cpu_s,peak_rss_bytes\n")));
    let report = || desk.read("s/report.html");
    assert!(report().contains("\"costs\":[{\"figure\":\"cpu_s\",\"name\":\"flood\""));
    // Measured runs are not repeated, and also count as finished without `--costs`.
    let again = desk.run(costs);
    assert!(String::from_utf8_lossy(&again.stderr).contains("6 of 6 runs are finished already"));
    let output = desk.run("sweep sweep.toml --out s");
    assert!(String::from_utf8_lossy(&output.stderr).contains("6 of 6 runs are finished already"));
    assert_eq!(table(), before);
    assert!(!report().contains("\"costs\":"));
}

/// The printed exponent of memory by the number of nodes.
#[cfg(target_os = "linux")]
fn memory_power(grown: &str) -> f64 {
    let (_, power) = grown.split_once("peak_rss_bytes ").expect("it is told");
    let power = power.split(',').next().expect("there is a first part");
    power.parse().expect("it is a number")
}

#[test]
fn costs_that_cannot_be_measured_are_refused_by_name() {
    let desk = Desk::new();
    desk.write("seeds.toml", b"[vary]\nseed = [1, 2]\n");
    let line = desk.bad("sweep seeds.toml --costs --out s");
    assert!(line.contains("vary grid.nodes"), "{line}");
    // An experiment that cannot run is refused with the same error as without `--costs`.
    desk.write("late.toml", NODES.replace("days = 1", "days = 0"));
    let line = desk.bad("sweep late.toml --costs --out s");
    assert!(
        line.starts_with("gridweave: scheduler=flood,workload.grid5000_like.nodes=20: "),
        "{line}"
    );
    assert_eq!(line, desk.bad("sweep late.toml --out s"));
}

/// The child process of a run ends with the program, even if only the program gets the signal.
#[cfg(unix)]
#[test]
fn an_interrupted_sweep_with_costs_keeps_whole_runs_only() {
    let desk = Desk::new();
    let long = NODES.replace("[40, 20], [80, 40]", "[5000, 40000]");
    desk.write("sweep.toml", long);
    let costs = "sweep sweep.toml --costs --out s";
    let mut child = desk.begin(costs);
    let short = "scheduler=flood,workload.grid5000_like.nodes=20";
    for _ in 0..600 {
        if desk.path("s").join(short).exists() {
            break;
        }
        pause(50);
    }
    pause(200);
    send("-INT", &child);
    await_interrupted(&mut child);
    let table = desk.read("s/table.csv");
    assert_eq!(table.lines().count(), 2, "{table}");
    let left = || {
        let entries = fs::read_dir(desk.path("s")).expect("there is a folder");
        let names = entries.map(|entry| entry.expect("the entry is readable").file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    assert_eq!(left(), ["report.html", short, "table.csv"]);
    // After a second request, neither process goes on.
    let mut child = desk.begin(costs);
    for _ in 0..600 {
        if left().len() > 3 {
            break;
        }
        pause(10);
    }
    pause(100);
    send("-INT", &child);
    send("-TERM", &child);
    await_interrupted(&mut child);
    pause(500);
    assert_eq!(left(), ["report.html", short, "table.csv"]);
}

#[test]
fn a_sweep_that_fails_leaves_nothing_behind() {
    let desk = Desk::with_trace();
    let sweep = "[base.workload]\nsource = 'trace'\ntrace = 'log.swf'\n[vary]\n\
        scheduler = ['central-easy', 'central-fcfs']\n";
    // All runs are checked before the first one begins.
    let late = sweep.replace("[vary]\n", "[vary]\n'workload.from' = ['0s', '100d']\n");
    desk.write("late.toml", late);
    assert!(desk.bad("sweep late.toml --out deep/er/s").contains("100d"));
    // Finished runs stay, with a table that other users may read.
    desk.write("one.toml", sweep.replace(", 'central-fcfs'", ""));
    desk.good("sweep one.toml --out s");
    desk.make_folder("s/scheduler=central-fcfs");
    desk.write("s/scheduler=central-fcfs/thesis.tex", b"years of work");
    desk.write("two.toml", sweep);
    let output = desk.run("sweep two.toml --out s");
    assert_eq!(output.status.code(), Some(2));
    assert!(desk.path("s/scheduler=central-fcfs/thesis.tex").is_file());
    let table = desk.read("s/table.csv");
    assert_eq!(table.lines().count(), 2, "{table}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| {
            let data = fs::metadata(desk.path(name)).expect("it is there");
            data.permissions().mode() & 0o777
        };
        assert_eq!(mode("s/table.csv"), mode("log.swf"));
    }
}

#[test]
fn a_sweep_replaces_no_foreign_files() {
    let desk = Desk::with_trace();
    let sweep = "[base.workload]\nsource = 'trace'\ntrace = 'log.swf'\n[vary]\nseed = [1, 2]\n";
    desk.write("sweep.toml", sweep);
    desk.make_folder("s");
    let run = "sweep sweep.toml --out s";
    desk.write("s/table.csv", b"year,price\n2020,5\n");
    assert!(desk.bad(run).contains("no sweep of gridweave"));
    desk.remove("s/table.csv");
    desk.write("s/report.html", b"<title>mine</title>");
    assert!(desk.bad(run).contains("no sweep of gridweave"));
    desk.remove("s/report.html");
    // A draft of a killed process does not stop the sweep, and is removed.
    let abandoned = desk.path("s/.gridweave-4194305-abc");
    fs::create_dir(&abandoned).expect("a folder can be made");
    desk.good(run);
    #[cfg(target_os = "linux")]
    assert!(!abandoned.exists());
    // A run with a missing file is not finished.
    desk.remove("s/seed=1/jobs.csv");
    let output = desk.run(run);
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 of 2 runs are finished already"));
    assert!(desk.path("s/seed=1/jobs.csv").is_file());
}

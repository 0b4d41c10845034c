//! The program as a user meets it.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::{Command, Stdio};

use crate::desk::{Desk, json, trace};
#[cfg(unix)]
use crate::desk::{await_interrupted, pause, send};
use gridweave_lab::schedulers::Scheduler;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// The names of all entries of a folder.
fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("the entry is readable").file_name());
    let mut names: Vec<OsString> = names.collect();
    names.sort();
    names
}

/// Asserts that two folders have the same files, except `engine.json`.
fn same_files(one: &Path, other: &Path) {
    let names = (names(one), names(other));
    assert!(!names.0.is_empty());
    assert_eq!(names.0, names.1);
    for name in names.0 {
        let (one, other) = (one.join(&name), other.join(&name));
        if one.is_dir() {
            same_files(&one, &other);
        } else if name != "engine.json" {
            assert!(
                fs::read(&one).ok() == fs::read(&other).ok(),
                "{name:?} differs"
            );
        }
    }
}

#[test]
fn help_shows_examples_and_every_command() {
    let desk = Desk::new();
    let text = desk.good("--help");
    for word in [
        "run",
        "compare",
        "sweep",
        "reproduce",
        "torture",
        "trace",
        "validate",
        "completions",
        "Examples:",
        "Exit status",
    ] {
        assert!(text.contains(word), "{word}");
    }
    assert!(desk.good("--version").starts_with("gridweave "));
    assert!(desk.good("completions bash").contains("gridweave"));
}

#[test]
fn a_comparison_has_all_schedulers_and_repeats() {
    let desk = Desk::new();
    // The bare command, on a smaller grid, with the first jobs and hours of the bundled week and few heartbeats.
    let first = "compare --set workload.first=60 --nodes 200 --set grid.until=2h --set desktop.heartbeat=1d";
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
    // A second run replaces the old results with equal ones.
    fs::rename(desk.path("gridweave-out"), desk.path("kept")).expect("folders can be renamed");
    desk.good(first);
    desk.good(first);
    same_files(&desk.path("kept"), &desk.path("gridweave-out"));
}

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
fn traces_are_described_converted_and_made_up() {
    let desk = Desk::with_trace();
    let info = desk.good("trace info log.swf --json");
    let info = json(&info);
    assert_eq!(info["jobs"], 100);
    desk.good("trace convert log.swf half.swf.gz --until 50m");
    let half = desk.good("trace info half.swf.gz");
    assert!(half.contains("50"), "{half}");
    assert!(half.contains("Nobody"), "{half}");
    desk.good("trace generate grid5000-like like.swf --set workload.grid5000_like.jobs=500");
    desk.good("run --trace like.swf --out out");
    desk.bad("trace convert log.swf like.swf");
}

#[test]
fn bad_input_is_one_line_and_leaves_nothing_behind() {
    let desk = Desk::new();
    desk.write("good.swf", trace());
    let whole = gzip(trace().repeat(50).as_bytes());
    desk.write("cut.swf.gz", &whole[..whole.len() / 2]);
    desk.write(
        "binary.swf",
        (0..=255).cycle().take(5000).collect::<Vec<u8>>(),
    );
    desk.write(
        "empty.swf",
        b"; MaxProcs: 5\n1 0 0 -1 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n",
    );
    desk.write(
        "headerless.swf",
        b"1 0 0 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n",
    );
    desk.write(
        "unknown.toml",
        b"scheduler = 'central-easy'\n[grid]\nnodez = 5\n",
    );
    desk.write("broken.toml", b"scheduler = \n");
    desk.write("twice.toml", b"seed = 1\nseed = 2\n");
    desk.write("number.toml", b"scheduler = 3\n");
    desk.write("words.txt", b"one two\n");
    desk.write("ragged.txt", b"1 2\n3\n");
    desk.write("file", b"");
    desk.write(
        "nameless.toml",
        b"[workload]\nsource = 'trace'\ntrace = ''\n",
    );
    desk.write("escape.toml", b"\"\\u001b[31mred\" = 1\n");
    desk.write(
        "wide.swf",
        b"; MaxProcs: 50000000\n1 0 0 10 49000000 -1 -1 -1 10 -1 1 1 1 -1 -1 -1 -1 -1\n",
    );
    let deep = format!("run --set {}b=1", "a.".repeat(20_000));
    for (arguments, named) in [
        ("run --trace cut.swf.gz", "cut.swf.gz"),
        ("run --trace binary.swf", "binary.swf"),
        ("run --trace empty.swf", "no usable job"),
        ("run --trace headerless.swf", "--nodes"),
        ("run --trace missing.swf", "missing.swf: cannot be read"),
        ("run --trace .", "name a file in it"),
        ("run --config .", "name a file in it"),
        ("validate .", "name a file in it"),
        ("reproduce p2 --coordinates .", "name a file in it"),
        (
            "run --config twice.toml",
            "line 2: seed is there twice; keep one",
        ),
        ("validate good.swf", "expected `=`; correct it"),
        ("run --config number.toml", "write it in quotes"),
        ("run --set =3", "write key=value"),
        ("run --set faults={}", "write [first, second]"),
        ("run --set grid=3", "write { key = value }"),
        (
            "run --set faults=[{at='1s',node=1}]",
            "what: is missing; add it",
        ),
        ("run --set asap.degree=200", "from 1 to 40"),
        ("run --set asap.shuffle=0", "from 1 to 8"),
        ("run --set criteria.degree=21", "from 1 to 20"),
        ("run --set criteria.shuffle=9", "from 1 to 8"),
        ("run --set criteria.near=0", "from 1 to 20"),
        ("run --set criteria.gossip=11", "from 1 to 10"),
        ("run --set aria.degree=1", "from 2 to 20"),
        (
            "run --scheduler asap --set asap.slot=0s",
            "asap.slot: slot is 0s; more than 0s",
        ),
        (
            "run --scheduler asap --set asap.permission=1ms",
            "asap.permission: commit.permission is 0.001000s; at least 9s",
        ),
        (
            "run --scheduler asap --set asap.shuffle_period=1s",
            "asap.shuffle_period: overlay.timeout is 2s; less than 1s, period",
        ),
        (
            "run --scheduler criteria --set criteria.iterations=0",
            "criteria.iterations: iterations is 0; at least 1",
        ),
        (
            "run --workload aria --scheduler aria --set aria.window=1s",
            "aria.window: window is 1s; at least 4.500000s",
        ),
        (
            "run --workload desktop --scheduler desktop --set desktop.heartbeat=1us",
            "desktop.heartbeat: can.period is 0.000001s; at least 0.000256s",
        ),
        ("run --workload desktop --set grid.sites=4", "grid.sites"),
        (
            "run --trace wide.swf --set workload.max_nodes=1",
            "raise max_nodes",
        ),
        ("reproduce p2 --round-trips words.txt", "give milliseconds"),
        (
            "reproduce p2 --round-trips ragged.txt",
            "give as many in each",
        ),
        ("run --config unknown.toml", "nodez"),
        ("validate unknown.toml", "line 3"),
        ("run --config broken.toml", "broken.toml"),
        ("run --config missing.toml", "missing.toml"),
        ("run --nodes 0", "grid.nodes"),
        ("compare --nodes 0", "grid.nodes"),
        ("run --workload aria --nodes 0", "nodes"),
        (
            "run --workload aria --scheduler central-easy",
            "central-greedy",
        ),
        (
            "compare --workload desktop --schedulers random",
            "choose from central-greedy",
        ),
        ("run --out file", "file"),
        ("run --out file/below", "file"),
        ("run --out /proc/nowhere", "/proc/nowhere"),
        ("run --out .", "name a folder"),
        ("run --out x/..", "name a folder"),
        ("sweep broken.toml", "broken.toml"),
        ("run --seed 9223372036854775807 --runs 2", "--seed"),
        ("run --config /dev/zero", "1 MiB"),
        ("compare --nodes 4294967295", "10000000"),
        ("run --workload aria --nodes 2000000", "1000000"),
        ("run --set report.window=1us", "report.window"),
        (
            "compare --schedulers random,central-easy,random",
            "random twice",
        ),
        (
            "trace generate aria x.swf --set workload.source=desktop",
            "aria",
        ),
        (
            "run --set workload.from=100d",
            "from 100d on; the last came at 6d21h55m53s: choose another window",
        ),
        (
            "run --set workload.from=2d --set workload.until=1d",
            "give a later one",
        ),
        ("run --set workload.load=-1", "workload.load"),
        ("run --set nonsense", "key=value"),
        (
            "run --set network.loss=2 --scheduler random --set workload.shape=serial",
            "network.loss",
        ),
        (
            "run --scheduler random --set faults=[{what='crash',at='1s',node=99999}]",
            "99999",
        ),
        ("trace info binary.swf", "binary.swf"),
        (&deep, "16 parts"),
        ("run --set criteria.places.sites=4294967295", "1000000"),
        (
            "run --nodes 4000000000 --set grid.sites=2000000000",
            "1000000",
        ),
        (
            "run --trace wide.swf --set workload.shape=serial",
            "5000000",
        ),
        ("run --config escape.toml", "?[31m"),
        (
            "run --set workload.source=trace --set workload.trace=''",
            "source",
        ),
        ("run --config nameless.toml", "name a file"),
        ("trace convert good.swf missing/out.swf", "missing/out.swf"),
        ("trace convert good.swf out.swf --from 100d", "window"),
    ] {
        let line = desk.bad(arguments);
        assert!(line.contains(named), "{arguments}: {line}");
        assert!(
            line.chars().count() < 2100 && !line.contains('\u{1b}'),
            "{line}"
        );
        // The reason of the system is printed once.
        assert!(line.matches("(os error").count() < 2, "{line}");
    }
}

#[test]
fn another_trace_under_the_same_name_is_noticed() {
    let desk = Desk::with_trace();
    desk.good("run --trace log.swf --out out");
    desk.write(
        "log.swf",
        trace().replace("; Acknowledge: Nobody\n", "").as_bytes(),
    );
    let line = desk.bad("run --config out/config.toml --out again");
    assert!(line.contains("digest"), "{line}");
}

#[test]
fn bad_usage_is_told_by_name() {
    let desk = Desk::new();
    for (arguments, named) in [
        ("--fly", "--fly"),
        ("compair", "perhaps compare is meant"),
        ("run --scheduller asap", "perhaps --scheduler is meant"),
        ("trace info log.swf --nodes 0", "at least one"),
        ("run --scheduler slurm", "slurm"),
        ("run --workload mine", "mine"),
        ("run --runs 0", "--runs"),
        ("trace generate mine x.swf", "mine"),
        ("sweep", "FILE.toml"),
        ("run --seed 18446744073709551615", "--seed"),
        (
            "run --seed -1",
            "'-1' for '--seed <S>': it is not a whole number from 0",
        ),
        (
            "run --nodes -5",
            "'-5' for '--nodes <N>': it is not a whole number from 0",
        ),
        ("run --workload two\n\nlines", "two lines"),
        ("trace", "info, convert or generate"),
        ("torture --seeds 5", "--seeds"),
        ("torture --seed 1 --without rain", "rain"),
        ("torture --trace", "--seed"),
    ] {
        let line = desk.bad(arguments);
        assert!(line.contains(named), "{arguments}: {line}");
        assert!(line.contains("see gridweave --help"), "{line}");
    }
    assert_eq!(desk.list(), Vec::<PathBuf>::new());
}

/// A long run.
#[cfg(unix)]
const LONG: &str = "run --scheduler random --workload grid5000-like --set workload.grid5000_like.jobs=40000 \
    --set workload.shape=serial";

/// Ctrl-C in the middle of a long run leaves whole files that say that they are partial.
#[cfg(unix)]
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
#[cfg(unix)]
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
#[cfg(unix)]
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
#[cfg(unix)]
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
#[cfg(unix)]
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

#[test]
fn only_results_of_this_program_are_replaced() {
    let desk = Desk::with_trace();
    desk.make_folder("project");
    desk.write("project/config.toml", b"[package]");
    desk.write("project/thesis.tex", b"years of work");
    let run = |out: &str| format!("run --trace log.swf --out {out}");
    let line = desk.bad(&run("project"));
    assert!(line.contains("no output of gridweave"), "{line}");
    assert!(desk.path("project/thesis.tex").is_file());
    // Files with the names of results do not make a folder replaceable, at any depth.
    desk.make_folder("P/jobs");
    desk.write("P/config.toml", b"scheduler = 'central-easy'\n");
    desk.write("P/jobs/thesis.tex", b"years of work");
    let inside = "run --config P/config.toml --out P";
    assert!(desk.bad(inside).contains("no output of gridweave"));
    desk.remove("P/jobs/thesis.tex");
    fs::remove_dir(desk.path("P/jobs")).expect("it is there");
    assert!(desk.bad(inside).contains("no output of gridweave"));
    // A foreign file beside results keeps them from being replaced, too.
    desk.good(&run("out"));
    desk.write("out/notes.txt", b"");
    desk.bad(&run("out"));
    desk.remove("out/notes.txt");
    desk.good(&run("out/."));
}

/// If output cannot be printed, that is an error, but the results are kept.
#[cfg(unix)]
#[test]
fn results_are_kept_if_output_cannot_be_printed() {
    let desk = Desk::with_trace();
    for (number, line) in [
        "run --trace log.swf --json",
        "compare --trace log.swf --json",
        "run --trace log.swf",
    ]
    .iter()
    .enumerate()
    {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let out = format!("out-{number}");
        let status = desk
            .command(&format!("{line} --out {out}"))
            .stdout(full.expect("there is a full device"))
            .stderr(writer)
            .status()
            .expect("the program runs");
        assert_eq!(status.code(), Some(2), "{line}");
        assert!(desk.path(&out).join("summary.json").is_file(), "{line}");
    }
}

/// If a command only prints, and its output cannot be written, that is an error.
#[cfg(unix)]
#[test]
fn output_that_cannot_be_printed_is_an_error() {
    let desk = Desk::with_trace();
    desk.write("run.toml", b"scheduler = 'central-easy'\n");
    for line in [
        "trace info log.swf",
        "trace info log.swf --json",
        "validate run.toml",
        "torture --seeds 0..1",
        "completions bash",
        "--help",
    ] {
        let output = |stdout: Stdio| {
            let output = desk.command(line).stdout(stdout).output();
            output.expect("the program runs")
        };
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let output_full = output(full.expect("there is a full device").into());
        let errors = String::from_utf8_lossy(&output_full.stderr).into_owned();
        assert_eq!(output_full.status.code(), Some(2), "{line}");
        assert!(errors.contains("standard output: "), "{line}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        // If the reader has closed the pipe, that is no error.
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let closed = output(writer.into());
        assert_eq!(closed.status.code(), Some(0), "{line}");
        assert!(closed.stderr.is_empty(), "{line}");
    }
}

/// A trace from a pipe is read once, and its digest is stored like that of a file.
#[cfg(unix)]
#[test]
fn a_pipe_is_as_good_as_a_file() {
    let desk = Desk::with_trace();
    desk.write("bad.toml", b"sched = 5\n");
    desk.write("run.toml", b"[workload]\nfirst = 7\n");
    let piped = |line: &str, file: &str| {
        // A pipe, since a file as standard input could be read twice.
        let mut child = desk
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut stdin = child.stdin.take().expect("it is piped");
        // The program may refuse the command before it reads.
        let _ = stdin.write_all(desk.read(file).as_bytes());
        drop(stdin);
        child.wait_with_output().expect("the program ends")
    };
    let info = piped("trace info /dev/stdin --json", "log.swf");
    let info = json(&String::from_utf8_lossy(&info.stdout));
    assert_eq!(info["jobs"], 100);
    let run = piped("run --trace /dev/stdin --out a", "log.swf");
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    desk.good("run --trace log.swf --out b");
    let digest = |out: &str| {
        let config = desk.read(&format!("{out}/config.toml"));
        let line = config.lines().find(|line| line.starts_with("trace_digest"));
        line.expect("it is pinned").to_owned()
    };
    assert_eq!(digest("a"), digest("b"));
    let valid = piped("validate /dev/stdin", "run.toml");
    assert!(
        String::from_utf8_lossy(&valid.stdout).contains("7 jobs"),
        "{valid:?}"
    );
    let wrong = piped("validate /dev/stdin", "bad.toml");
    assert_eq!(wrong.status.code(), Some(2));
    // A pipe is refused if several runs would read it.
    desk.write(
        "sweep.toml",
        b"[base.workload]\nsource = 'trace'\ntrace = '/dev/stdin'\n[vary]\nseed = [1, 2]\n",
    );
    for line in [
        "sweep sweep.toml",
        "reproduce p1 --quick --trace /dev/stdin",
    ] {
        let refused = piped(line, "log.swf");
        assert_eq!(refused.status.code(), Some(2), "{line}");
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(error.contains("save it to a file"), "{error}");
    }
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

/// What the program prints on standard error, if it succeeds.
fn hints(desk: &Desk, line: &str) -> String {
    let output = desk.run(line);
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(output.status.code(), Some(0), "{line}: {errors}");
    errors
}

/// One job of one node and two of several, the last of them a day after the others. A fourth one cannot run.
const GANGS: &str = "; MaxProcs: 4\n\
    1 0 -1 60 1 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n\
    2 5 -1 60 2 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n\
    3 86400 -1 60 3 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n\
    4 86401 -1 0 3 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n";

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
fn skipped_jobs_of_a_part_are_said_to_be_those_of_the_whole_file() {
    let desk = Desk::new();
    desk.write("gangs.swf", GANGS);
    let run = "run --trace gangs.swf";
    let said = hints(&desk, run);
    assert!(said.contains("gangs: 1 skipped"), "{said}");
    for part in ["workload.until=1h", "workload.from=1h", "workload.first=1"] {
        let said = hints(&desk, &format!("{run} --set {part}"));
        assert!(said.contains("gangs, the whole file: 1 skipped"), "{said}");
    }
    let said = hints(&desk, "trace convert gangs.swf part.swf --until 1h");
    assert!(
        said.contains("gangs.swf, the whole file: 1 skipped"),
        "{said}"
    );
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
fn a_configuration_means_the_same_everywhere() {
    let desk = Desk::with_trace();
    desk.make_folder("elsewhere");
    desk.good("run --trace log.swf --out out");
    desk.good("compare --trace log.swf --out both");
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

#[test]
fn commands_other_than_run_print_json_too() {
    let desk = Desk::with_trace();
    desk.write("run.toml", b"scheduler = 'central-easy'\n");
    for (arguments, key, value) in [
        ("validate run.toml --json", "jobs", 1984),
        ("trace convert log.swf b.swf --json", "jobs", 100),
        ("trace generate aria c.swf --json", "jobs", 1000),
    ] {
        let text = desk.good(arguments);
        let printed = json(&text);
        assert_eq!(printed[key], value, "{arguments}");
    }
}

#[test]
fn torture_says_what_it_ran_and_replays_a_seed() {
    let desk = Desk::new();
    let text = desk.good("torture --seeds 0..4");
    for word in ["4 runs", "jobs taken", "nothing broke", "job: finished"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let replay = "torture --seed 2 --without loss,liars --nodes 5 --jobs 3 --trace";
    let trace = desk.good(replay);
    for word in ["is told Submit", "digest", "3 taken"] {
        assert!(trace.contains(word), "{word}: {trace}");
    }
    assert_eq!(trace, desk.good(replay));
    let told = json(&desk.good("torture --seeds 0..2 --json"));
    assert_eq!(told["runs"], 2);
    assert_eq!(told["failing_seeds"], serde_json::json!([]));
    let last = "18446744073709551613..18446744073709551615";
    let text = desk.good(&format!("torture --seeds {last}"));
    assert!(text.contains("2 runs"), "{text}");
    let line = desk.bad("torture --scheduler random");
    assert!(line.contains("random cannot be tortured"), "{line}");
    let line = desk.bad("torture --seeds 5..5");
    assert!(line.contains("5..5 names no seed"), "{line}");
    let help = desk.good("torture --help");
    for word in [
        "far-clocks",
        "one-execution",
        "keeps state, bounded, outcome",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

//! The program as a user meets it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder to work in, and the program in it.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gridweave"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .expect("the program runs")
    }

    /// Runs it and expects it to succeed; returns what it printed.
    fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).expect("output is text")
    }

    /// Runs it and expects it to refuse: exit status 2, one line on stderr, nothing on stdout, nothing left behind.
    fn bad(&self, arguments: &[&str]) -> String {
        let before = self.list();
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).expect("errors are text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(self.list(), before, "{arguments:?} left something behind");
        errors
    }

    /// Everything in the folder, by path.
    fn list(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the folder is readable") {
                let path = entry.expect("the entry is readable").path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }

    fn write(&self, name: &str, content: &[u8]) -> String {
        fs::write(self.path(name), content).expect("the file can be written");
        name.into()
    }
}

/// A trace of a hundred jobs on 16 processors.
fn trace() -> String {
    let mut text = String::from("; MaxProcs: 16\n; Acknowledge: Nobody\n");
    for job in 0..100 {
        let (submit, run, processors) = (job * 60, 100 + job * 7 % 500, 1 + job * 5 % 16);
        let requested = run + 100 - job % 3 * 80;
        text += &format!(
            "{job} {submit} -1 {run} {processors} -1 -1 -1 {requested} -1 1 3 1 -1 -1 -1 -1 -1\n"
        );
    }
    text
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// The files of two folders, except for what may differ.
fn same_files(one: &Path, other: &Path) {
    let mut names: Vec<_> = fs::read_dir(one)
        .expect("the folder is there")
        .map(|entry| entry.expect("the entry is readable").file_name())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
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

fn summary(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.join("summary.json")).expect("there is a summary");
    serde_json::from_str(&text).expect("the summary is JSON")
}

#[test]
fn help_shows_examples_and_every_command() {
    let desk = Desk::new();
    let text = desk.good(&["--help"]);
    for word in [
        "run",
        "compare",
        "sweep",
        "trace",
        "validate",
        "completions",
        "Examples:",
        "Exit status",
    ] {
        assert!(text.contains(word), "{word}");
    }
    assert!(desk.good(&["--version"]).starts_with("gridweave "));
    assert!(desk.good(&["completions", "bash"]).contains("gridweave"));
}

#[test]
fn the_bare_command_compares_all_schedulers_on_the_bundled_week() {
    let desk = Desk::new();
    let text = desk.good(&[]);
    for word in [
        "central-fcfs",
        "central-easy",
        "central-conservative",
        "central-greedy",
        "random",
        "results: gridweave-out",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    for file in [
        "jobs.csv",
        "summary.json",
        "series.csv",
        "config.toml",
        "engine.json",
    ] {
        assert!(
            desk.path("gridweave-out/gangs/central-easy")
                .join(file)
                .is_file(),
            "{file}"
        );
        assert!(
            desk.path("gridweave-out/serial/random")
                .join(file)
                .is_file(),
            "{file}"
        );
    }
    let easy = summary(&desk.path("gridweave-out/gangs/central-easy"));
    assert_eq!(easy["jobs"]["completed"], 1984);
    // A second time the old results are replaced, and the new ones are the same.
    fs::rename(desk.path("gridweave-out"), desk.path("kept")).expect("folders can be renamed");
    desk.good(&[]);
    desk.good(&[]);
    same_files(&desk.path("kept"), &desk.path("gridweave-out"));
}

#[test]
fn the_configuration_of_a_run_repeats_it() {
    let desk = Desk::new();
    desk.write("log.swf.gz", &gzip(trace().as_bytes()));
    let setup = [
        "run",
        "--trace",
        "log.swf.gz",
        "--set",
        "workload.estimates=kill",
        "--set",
        "workload.load=0.9",
    ];
    for scheduler in [
        "central-easy",
        "central-conservative",
        "central-fcfs",
        "central-greedy",
    ] {
        let out = format!("{scheduler}-1");
        desk.good(&[&setup[..], &["--scheduler", scheduler, "--out", &out]].concat());
        let config = format!("{out}/config.toml");
        desk.good(&["run", "--config", &config, "--out", "again"]);
        same_files(&desk.path(&out), &desk.path("again"));
    }
}

#[test]
fn the_seed_decides_where_there_is_chance() {
    let desk = Desk::new();
    let run = |seed: &str, out: &str| {
        let setup = [
            "run",
            "--workload",
            "desktop",
            "--set",
            "workload.desktop.jobs=200",
        ];
        desk.good(
            &[
                &setup[..],
                &[
                    "--scheduler",
                    "central-greedy",
                    "--seed",
                    seed,
                    "--out",
                    out,
                ],
            ]
            .concat(),
        );
        summary(&desk.path(out))["digest"].clone()
    };
    let (one, again, other) = (run("1", "a"), run("1", "b"), run("2", "c"));
    same_files(&desk.path("a"), &desk.path("b"));
    assert_eq!(one, again);
    assert_ne!(one, other);
    let config = desk.path("a/config.toml");
    desk.good(&["run", "--config", &config.to_string_lossy(), "--out", "d"]);
    same_files(&desk.path("a"), &desk.path("d"));
}

#[test]
fn a_network_and_faults_reach_a_decentralised_scheduler() {
    let desk = Desk::new();
    let config = "scheduler = 'random'\n[workload]\nshape = 'serial'\nfirst = 300\n[network]\nloss = 0.05\n\
        [network.delay]\nkind = 'plane'\nside = '100ms'\n[[faults]]\nwhat = 'crash'\nat = '1h'\nnode = 3\n";
    desk.write("run.toml", config.as_bytes());
    let output = desk.run(&["run", "--config", "run.toml", "--json"]);
    // Random placement has no answer to lost messages, so jobs are lost.
    assert_eq!(output.status.code(), Some(1));
    let printed: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!(printed, summary(&desk.path("gridweave-out")));
    assert!(printed["jobs"]["lost"].as_u64() > Some(0));
    assert_eq!(printed["faults"]["crashes"], 1);
    assert!(printed["messages"]["by_kind"]["assign"]["bytes"].as_u64() > Some(300));
}

#[test]
fn several_runs_give_means_with_confidence_intervals() {
    let desk = Desk::new();
    let setup = [
        "run",
        "--workload",
        "aria",
        "--set",
        "workload.aria.jobs=100",
        "--scheduler",
        "central-greedy",
    ];
    let text = desk.good(&[&setup[..], &["--runs", "4"]].concat());
    assert!(text.contains('±'), "{text}");
    let joined = summary(&desk.path("gridweave-out"));
    assert_eq!(joined["seed"], serde_json::json!([0, 1, 2, 3]));
    assert!(joined["wait"]["mean"]["ci95"].as_f64() > Some(0.0));
    assert!(desk.path("gridweave-out/seed-3/jobs.csv").is_file());
}

#[test]
fn a_sweep_skips_what_is_finished() {
    let desk = Desk::new();
    desk.write("log.swf", trace().as_bytes());
    let sweep = "[base.workload]\nsource = 'trace'\ntrace = 'log.swf'\n[vary]\n\
        scheduler = ['central-easy', 'central-fcfs']\n'workload.estimates' = ['kill', 'exact']\n";
    desk.write("sweep.toml", sweep.as_bytes());
    assert!(desk.good(&["validate", "sweep.toml"]).contains("4 runs"));
    desk.good(&["sweep", "sweep.toml", "--out", "s"]);
    let table = fs::read_to_string(desk.path("s/table.csv")).expect("there is a table");
    assert_eq!(table.lines().count(), 5, "{table}");
    let first = desk.path("s/scheduler=central-easy,workload.estimates=kill");
    let before = fs::metadata(first.join("engine.json"))
        .and_then(|data| data.modified())
        .expect("it was written");
    fs::remove_dir_all(desk.path("s/scheduler=central-fcfs,workload.estimates=exact"))
        .expect("it was made");
    let output = desk.run(&["sweep", "sweep.toml", "--out", "s"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 of 4 runs are finished already"));
    let after = fs::metadata(first.join("engine.json"))
        .and_then(|data| data.modified())
        .expect("it is still there");
    assert_eq!(before, after);
    assert_eq!(
        fs::read_to_string(desk.path("s/table.csv")).expect("there is a table"),
        table
    );
}

#[test]
fn traces_are_described_converted_and_made_up() {
    let desk = Desk::new();
    desk.write("log.swf", trace().as_bytes());
    let info = desk.good(&["trace", "info", "log.swf", "--json"]);
    let info: serde_json::Value = serde_json::from_str(&info).expect("stdout is JSON");
    assert_eq!(info["jobs"], 100);
    desk.good(&[
        "trace",
        "convert",
        "log.swf",
        "half.swf.gz",
        "--until",
        "50m",
    ]);
    let half = desk.good(&["trace", "info", "half.swf.gz"]);
    assert!(half.contains("50"), "{half}");
    assert!(half.contains("Nobody"), "{half}");
    desk.good(&[
        "trace",
        "generate",
        "grid5000-like",
        "like.swf",
        "--set",
        "workload.grid5000_like.jobs=500",
    ]);
    desk.good(&["run", "--trace", "like.swf", "--out", "out"]);
    desk.bad(&["trace", "convert", "log.swf", "like.swf"]);
}

#[test]
fn bad_input_is_one_line_and_leaves_nothing_behind() {
    let desk = Desk::new();
    desk.write("good.swf", trace().as_bytes());
    let whole = gzip(trace().repeat(50).as_bytes());
    desk.write("cut.swf.gz", &whole[..whole.len() / 2]);
    desk.write(
        "binary.swf",
        &(0..=255).cycle().take(5000).collect::<Vec<u8>>(),
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
    desk.write("file", b"");
    for (arguments, named) in [
        (&["run", "--trace", "cut.swf.gz"][..], "cut.swf.gz"),
        (&["run", "--trace", "binary.swf"], "binary.swf"),
        (&["run", "--trace", "empty.swf"], "no usable job"),
        (&["run", "--trace", "headerless.swf"], "--nodes"),
        (&["run", "--trace", "missing.swf"], "missing.swf"),
        (&["run", "--trace", "."], "cannot be read"),
        (&["run", "--config", "unknown.toml"], "nodez"),
        (&["validate", "unknown.toml"], "line 3"),
        (&["run", "--config", "broken.toml"], "broken.toml"),
        (&["run", "--config", "missing.toml"], "missing.toml"),
        (&["run", "--nodes", "0"], "grid.nodes"),
        (&["compare", "--nodes", "0"], "grid.nodes"),
        (&["run", "--workload", "aria", "--nodes", "0"], "nodes"),
        (
            &["run", "--workload", "aria", "--scheduler", "central-easy"],
            "central-greedy",
        ),
        (
            &["compare", "--workload", "desktop", "--schedulers", "random"],
            "random",
        ),
        (&["run", "--out", "file"], "file"),
        (&["run", "--out", "file/below"], "file"),
        (&["run", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (&["run", "--out", "."], "no output of gridweave"),
        (&["sweep", "broken.toml"], "broken.toml"),
        (&["run", "--set", "workload.from=100d"], "window"),
        (
            &[
                "run",
                "--set",
                "workload.from=2d",
                "--set",
                "workload.until=1d",
            ],
            "workload.until",
        ),
        (&["run", "--set", "workload.load=-1"], "workload.load"),
        (&["run", "--set", "nonsense"], "key=value"),
        (
            &[
                "run",
                "--set",
                "network.loss=2",
                "--scheduler",
                "random",
                "--set",
                "workload.shape=serial",
            ],
            "network.loss",
        ),
        (
            &[
                "run",
                "--scheduler",
                "random",
                "--set",
                "faults=[{what='crash',at='1s',node=99999}]",
            ],
            "99999",
        ),
        (&["trace", "info", "binary.swf"], "binary.swf"),
        (
            &["trace", "convert", "good.swf", "missing/out.swf"],
            "missing/out.swf",
        ),
        (
            &["trace", "convert", "good.swf", "out.swf", "--from", "100d"],
            "window",
        ),
    ] {
        let line = desk.bad(arguments);
        assert!(line.contains(named), "{arguments:?}: {line}");
    }
}

#[test]
fn another_trace_under_the_same_name_is_noticed() {
    let desk = Desk::new();
    desk.write("log.swf", trace().as_bytes());
    desk.good(&["run", "--trace", "log.swf", "--out", "out"]);
    desk.write(
        "log.swf",
        trace().replace("; Acknowledge: Nobody\n", "").as_bytes(),
    );
    let line = desk.bad(&["run", "--config", "out/config.toml", "--out", "again"]);
    assert!(line.contains("digest"), "{line}");
}

#[test]
fn bad_usage_is_told_by_name() {
    let desk = Desk::new();
    for (arguments, named) in [
        (&["--fly"][..], "--fly"),
        (&["run", "--scheduler", "slurm"], "slurm"),
        (&["run", "--workload", "mine"], "mine"),
        (&["run", "--runs", "0"], "--runs"),
        (&["trace", "generate", "mine", "x.swf"], "mine"),
    ] {
        let output = desk.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(named),
            "{arguments:?}"
        );
    }
    assert_eq!(desk.list(), Vec::<PathBuf>::new());
}

/// Ctrl-C in the middle of a long run leaves whole files that say that they are partial.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_whole_partial_files() {
    let desk = Desk::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gridweave"))
        .args([
            "run",
            "--scheduler",
            "random",
            "--workload",
            "grid5000-like",
        ])
        .args([
            "--set",
            "workload.grid5000_like.jobs=200000",
            "--set",
            "workload.shape=serial",
            "--out",
            "out",
        ])
        .current_dir(desk.0.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // It reads and generates first; a draft beside the result tells that it has begun.
    let begun = || {
        let entries = fs::read_dir(desk.0.path()).expect("the folder is readable");
        entries.count() > 0
    };
    let mut waited = 0;
    while !begun() && waited < 600 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        waited += 1;
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(interrupted.success());
    let status = child.wait().expect("the program ends");
    assert_eq!(status.code(), Some(130));
    let summary = summary(&desk.path("out"));
    assert_eq!(summary["partial"], true);
    assert!(summary["jobs"]["unfinished"].as_u64() > Some(0));
    let jobs = fs::read_to_string(desk.path("out/jobs.csv")).expect("there are jobs");
    let submitted = summary["jobs"]["submitted"].as_u64().expect("a number");
    assert_eq!(jobs.lines().count() as u64, submitted + 1);
}

//! Where results and printed output go.

use std::fs;
#[cfg(unix)]
use std::process::Stdio;

use crate::desk::Desk;

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
        "compare --trace log.swf --schedulers central-easy,random --json",
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

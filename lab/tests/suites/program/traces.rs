//! `gridweave trace`, and traces as workloads.

use std::io::Write;
#[cfg(unix)]
use std::process::Stdio;

use super::{GANGS, hints};
use crate::desk::{Desk, json, trace};

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

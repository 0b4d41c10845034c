//! What the program says of itself, and of arguments that it does not understand.

use std::path::PathBuf;

use crate::desk::{Desk, json};

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

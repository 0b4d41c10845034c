//! Input that cannot be read.

use super::gzip;
use crate::desk::{Desk, trace};

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
            "choose from central-fcfs, central-greedy, central-bounded",
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
        ("run --scheduler asap --explain 4", "its first is 8595"),
        ("run --explain 8595", "asks no nodes"),
        ("run --scheduler asap --explain 8595 --runs 2", "--runs"),
        ("run --scheduler asap --explain one", "one"),
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

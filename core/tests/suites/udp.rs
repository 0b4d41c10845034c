//! The example of a real grid, run as it stands: processes, sockets, files, a kill and a restart.

use std::path::PathBuf;
use std::process::Command;

/// Where cargo puts the examples of a package, beside its tests: `cargo test` builds both.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let built = test.ancestors().nth(2).expect("it is in a folder of tests");
    let name = format!("udp{}", std::env::consts::EXE_SUFFIX);
    built.join("examples").join(name)
}

#[test]
fn five_processes_finish_their_jobs_over_udp_though_one_is_killed() {
    let example = example();
    // It gives up by itself when it takes far too long.
    let output = Command::new(&example).output().unwrap_or_else(|error| {
        panic!(
            "{}: {error}; a whole `cargo test` builds it, and so does `cargo build -p gridweave-core --features wire --example udp`",
            example.display()
        )
    });
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    println!("{said}{complaints}");
    assert!(output.status.success(), "{complaints}");
    for what in [
        "is killed while it runs a job",
        "records are on its disk",
        "is started again",
        "all 4 jobs are done",
    ] {
        assert!(said.contains(what), "not so: {what}");
    }
    for job in 0..4 {
        let finished = said.matches(&format!("job {job}: Finished")).count();
        assert_eq!(finished, 1, "job {job} is done once");
    }
    assert!(!said.contains("is refused"), "all frames are understood");
}

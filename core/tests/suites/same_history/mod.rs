//! The same seed gives the same history. `.ci/cortex-m` runs these grids on another processor, and in other builds.

mod grids;

use grids::{History, JOBS, SCHEDULERS};

fn history(scheduler: &str, seed: u64) -> History {
    grids::run(scheduler, seed, &mut || {}).expect("there is such a scheduler")
}

#[test]
fn the_same_seed_gives_the_same_history_and_another_seed_another() {
    for scheduler in SCHEDULERS {
        let one = history(scheduler, 1);
        assert_eq!(one, history(scheduler, 1), "{scheduler}");
        assert_ne!(one.digest, history(scheduler, 2).digest, "{scheduler}");
    }
}

#[test]
fn on_a_bad_network_with_a_crash_every_job_of_a_small_grid_is_done() {
    for scheduler in SCHEDULERS {
        for seed in 0..if cfg!(debug_assertions) { 2 } else { 4 } {
            let history = history(scheduler, seed);
            assert_eq!(
                history.finished, JOBS,
                "{scheduler}, seed {seed}: {history}"
            );
            assert_eq!(history.failed, 0, "{scheduler}, seed {seed}: {history}");
            let bad = [history.lost, history.doubled, history.written];
            assert!(
                bad.iter().all(|&count| count > 20),
                "{scheduler}: {history}"
            );
        }
    }
}

#[test]
fn a_digest_depends_on_every_line_and_on_their_order() {
    use core::fmt::Write;
    let of = |lines: &[&str]| {
        let mut digest = grids::Digest::default();
        for line in lines {
            writeln!(digest, "{line}").expect("a digest takes everything");
        }
        digest
    };
    assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    for other in [&["b", "a"][..], &["a"], &["a", "b", ""], &["ab"]] {
        assert_ne!(of(&["a", "b"]), of(other));
    }
    // The published value of FNV-1a for this text.
    let mut digest = grids::Digest::default();
    digest
        .write_str("foobar")
        .expect("a digest takes everything");
    assert_eq!(digest.0, 0x8594_4171_f739_67e8);
}

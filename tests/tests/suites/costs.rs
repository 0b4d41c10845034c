//! How many messages of each kind tortured grids send. These numbers change only on purpose.
//!
//! A bug that only wastes messages, or omits some that would repair a fault sooner, breaks no invariant. It shows here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gridweave_lab::schedulers::Scheduler;
use gridweave_lab::torture::{Request, run};
use gridweave_tests::scaled;

/// Seeds of few and short runs that together send almost every kind of message.
fn seeds(scheduler: Scheduler) -> &'static [u64] {
    match scheduler {
        Scheduler::Criteria => &[1, 2, 3, 5, 14, 38, 93, 129],
        Scheduler::Aria => &[0, 1, 2, 3, 4, 5, 6, 71, 93, 97, 196, 207, 215, 294],
        Scheduler::Desktop => &[17, 42, 90, 129, 146, 175, 194, 196, 229, 248, 255, 266],
        _ => &[1, 14, 17, 75, 93, 123, 129, 138],
    }
}

fn file(scheduler: Scheduler) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    golden.join(format!("costs-{scheduler}.txt"))
}

/// A line for each kind of message: how many were sent in each of the runs.
fn costs(scheduler: Scheduler, seeds: &[u64]) -> String {
    let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (index, seed) in seeds.iter().enumerate() {
        let report = run(&Request {
            scheduler: Some(scheduler),
            ..Request::new(*seed)
        });
        assert_eq!(report.breach, None, "{}", report.request);
        for (kind, count) in report.sent {
            let counts = kinds.entry(kind).or_insert_with(|| vec![0; seeds.len()]);
            counts[index] = count;
        }
    }
    let mut text = String::new();
    for (kind, counts) in kinds {
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "{kind}: {}", counts.join(" "));
    }
    text
}

fn assert_as_before(scheduler: Scheduler) {
    let before = std::fs::read_to_string(file(scheduler)).expect("it is part of the repository");
    let all = seeds(scheduler);
    let some = &all[scaled(0, all.len() as u32 / 2) as usize..];
    let now = costs(scheduler, some);
    let counted = before.lines().map(|line| {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.drain(1..=all.len() - some.len());
        words.join(" ") + "\n"
    });
    assert!(
        now == counted.collect::<String>(),
        "{scheduler} costs something else; if that is meant, see `regenerate_the_costs`. Now:\n{now}before:\n{before}"
    );
}

#[test]
fn asap_costs_what_it_did() {
    assert_as_before(Scheduler::Asap);
}

#[test]
fn criteria_costs_what_it_did() {
    assert_as_before(Scheduler::Criteria);
}

#[test]
fn aria_costs_what_it_did() {
    assert_as_before(Scheduler::Aria);
}

#[test]
fn desktop_costs_what_it_did() {
    assert_as_before(Scheduler::Desktop);
}

/// `cargo test -p gridweave-tests --test suites -- --ignored regenerate_the_costs`
#[test]
#[ignore = "writes down what the schedulers cost"]
fn regenerate_the_costs() {
    for scheduler in Scheduler::tortured() {
        std::fs::write(file(scheduler), costs(scheduler, seeds(scheduler)))
            .expect("it can be written");
    }
}

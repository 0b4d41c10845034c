//! Runs whose steps are written down for the proofs (`tests/proofs`): the models, scenarios, the simulated commits, fuzz
//! bodies on random bytes, and tortured grids. Each run's own checks must pass, too, even with a canary that steps alone show.
//!
//! ```sh
//! GRIDWEAVE_STEPS=/path/steps.jsonl RUSTFLAGS="--cfg canary" \
//!     cargo test --release -p gridweave-tests --test steps --target-dir target/canary -- tortured_aria
//! ```
//!
//! `GRIDWEAVE_SEEDS` is the number of seeds of what is random. `.ci/long/proofs` runs all of them.
#![cfg(canary)]

#[path = "suites/aria_model.rs"]
mod aria_model;
#[path = "suites/commit_model.rs"]
mod commit_model;
#[path = "suites/commit_simulated.rs"]
mod commit_simulated;
#[path = "suites/custody_model.rs"]
mod custody_model;
#[path = "suites/custody_scenarios.rs"]
mod custody_scenarios;

use gridweave_lab::schedulers::Scheduler;
use gridweave_lab::torture::{Request, run};
use gridweave_tests::fuzzing;
use gridweave_tests::steps;
use gridweave_tests::twins::backfill::Backfill;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// How many seeds a random run has.
fn seeds(otherwise: u64) -> u64 {
    let seeds = std::env::var("GRIDWEAVE_SEEDS").ok();
    seeds.map_or(otherwise, |seeds| seeds.parse().expect("a number of seeds"))
}

fn tortured(scheduler: Scheduler) {
    steps::watch();
    for seed in 0..seeds(20) {
        let scheduler = Some(scheduler);
        let report = run(&Request {
            scheduler,
            ..Request::new(seed)
        });
        assert_eq!(report.breach, None, "{}", report.request);
    }
}

#[test]
fn tortured_asap() {
    tortured(Scheduler::Asap);
}

#[test]
fn tortured_criteria() {
    tortured(Scheduler::Criteria);
}

#[test]
fn tortured_aria() {
    tortured(Scheduler::Aria);
}

#[test]
fn tortured_desktop() {
    tortured(Scheduler::Desktop);
}

/// Runs a fuzz body on random bytes.
fn on_bytes(body: impl Fn(&[u8])) {
    for seed in 0..seeds(2_000) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bytes = [0; 400];
        rng.fill_bytes(&mut bytes);
        body(&bytes);
    }
}

macro_rules! bytes {
    ($($name:ident: $body:expr,)*) => {
        $(#[test]
        fn $name() {
            on_bytes($body);
        })*
    };
}

bytes! {
    bytes_commit: |bytes| drop(fuzzing::commit::drive(bytes)),
    bytes_asap: |bytes| drop(fuzzing::asap::drive(bytes)),
    bytes_criteria: |bytes| drop(fuzzing::criteria::drive(bytes)),
    bytes_aria: |bytes| drop(fuzzing::aria::drive(bytes)),
    bytes_desktop: |bytes| drop(fuzzing::desktop::drive(bytes)),
    bytes_queue: fuzzing::drive::<Backfill>,
}

//! The commit protocol for longer than a model checker can go, from random beginnings.

use gridweave_core::commit::Overrun;
use gridweave_tests::committing::{EXTEND, Weather, run, sound, stormy};
use gridweave_tests::scaled;
use proptest::prelude::*;

fn weather() -> impl Strategy<Value = Weather> {
    (
        any::<u64>(),
        1..60_u64,
        0..15_u32,
        0..15_u32,
        0..30_u32,
        0..12_u32,
    )
        .prop_map(|(seed, jobs, lost, doubled, held_up, crashes)| Weather {
            seed,
            jobs,
            lost,
            doubled,
            held_up,
            crashes,
            spread: 50,
            overrun: Overrun::Cut,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(64, 16), failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(4), ..ProptestConfig::default() })]

    #[test]
    fn in_any_weather_nothing_overlaps_nothing_runs_twice_and_everything_is_cleared_up(weather in weather()) {
        let (ledger, grid) = run(weather);
        sound(&ledger, &grid)?;
    }

    #[test]
    fn in_any_weather_jobs_that_overrun_break_nothing_when_they_are_extended(weather in weather()) {
        let (ledger, grid) = run(Weather { spread: 90, overrun: EXTEND, ..weather });
        sound(&ledger, &grid)?;
    }
}

/// With delays, a message in a hundred lost, and crashes.
#[test]
fn jobs_that_overrun_are_finished_if_they_are_extended_and_cut_if_not() {
    let ledger = |seed, overrun| {
        let weather = Weather {
            jobs: 40,
            lost: 1,
            doubled: 1,
            crashes: 4,
            spread: 90,
            overrun,
            ..stormy(seed)
        };
        let (ledger, grid) = run(weather);
        assert!(sound(&ledger, &grid).is_ok(), "{seed}: {:?}", ledger.faults);
        ledger
    };
    let sum = |overrun| {
        (0..10)
            .map(|seed| ledger(seed, overrun))
            .fold((0, 0, 0), |sum, ledger| {
                let (finished, overran) = (ledger.finished.len(), ledger.overran.len());
                (sum.0 + finished, sum.1 + overran, sum.2 + ledger.cut)
            })
    };
    let (cut, extended) = (sum(Overrun::Cut), sum(EXTEND));
    println!("finished, overran, cut: {cut:?} if cut, {extended:?} if extended");
    assert_eq!(cut.1, 0, "nothing runs beyond its end");
    assert!(extended.1 > 50 && extended.2 > 0, "{extended:?}");
    assert!(extended.0 > cut.0 && extended.2 < cut.2);
}

#[test]
fn a_run_has_starts_outcomes_setbacks_and_crashes() {
    let weather = Weather {
        seed: 1,
        jobs: 60,
        lost: 5,
        doubled: 5,
        held_up: 10,
        crashes: 10,
        spread: 50,
        overrun: Overrun::Cut,
    };
    let (ledger, grid) = run(weather);
    assert!(sound(&ledger, &grid).is_ok(), "{ledger:?}");
    assert!(
        ledger.begun > 20 && ledger.finished.len() > 10,
        "{ledger:?}"
    );
    assert!(ledger.unplaced > 0 && ledger.crashed > 3, "{ledger:?}");
    let kinds: Vec<_> = grid
        .traffic()
        .kinds()
        .iter()
        .filter(|(_, traffic)| traffic.messages == 0)
        .collect();
    println!(
        "{} events, {} starts, {} finished; kinds that were not sent: {kinds:?}",
        grid.events(),
        ledger.begun,
        ledger.finished.len()
    );
}

//! The fuzz targets' bodies run on stable too, on bytes of every kind.

use gridweave_core::time::{Interval, Time};
use gridweave_tests::fuzzing;
use gridweave_tests::twins::availability::Profiles;
use gridweave_tests::twins::common_slot::Grids;
use gridweave_tests::twins::timers::{self, Timers};
use gridweave_tests::twins::{Twins, backfill::Backfill, schedule::Growable, site::Sites};
use proptest::strategy::BoxedStrategy;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

#[test]
fn bytes_drive_every_pair_of_twins_to_the_same_answers() {
    for seed in 0..12 {
        let bytes = random_bytes(seed, 2_000);
        fuzzing::drive::<Growable>(&bytes);
        fuzzing::drive::<Backfill>(&bytes);
        fuzzing::drive::<Profiles>(&bytes);
        fuzzing::drive::<Grids>(&bytes);
        fuzzing::drive::<Sites>(&bytes);
        fuzzing::drive::<Timers>(&bytes);
    }
    fuzzing::drive::<Growable>(&[]);
}

#[test]
fn no_bytes_break_a_decoder() {
    for seed in 0..2_000 {
        let mut bytes = random_bytes(seed, 1 + seed as usize % 300);
        fuzzing::decode(&bytes);
        // Small numbers decode further than large ones.
        bytes.iter_mut().for_each(|byte| *byte %= 4);
        fuzzing::decode(&bytes);
    }
}

#[test]
fn a_valid_value_survives_the_round_trip() {
    let interval = Interval::new(Time::from_secs(1), Time::from_secs(2)).unwrap();
    fuzzing::decode(&postcard::to_allocvec(&interval).unwrap());
}

/// Timers beside a queue that forgets to cancel.
#[derive(Clone, Debug)]
struct Forgetful;

impl Twins for Forgetful {
    type Step = timers::Step;
    type Answer = <Timers as Twins>::Answer;
    type Model = <Timers as Twins>::Model;
    type Real = <Timers as Twins>::Real;

    fn begin() -> (Self::Model, Self::Real) {
        Timers::begin()
    }
    fn steps() -> BoxedStrategy<timers::Step> {
        Timers::steps()
    }
    fn model(model: &mut Self::Model, step: &timers::Step) -> Self::Answer {
        Timers::model(model, step)
    }
    fn real(real: &mut Self::Real, step: &timers::Step) -> Self::Answer {
        if let timers::Step::Cancel { .. } = step {
            None
        } else {
            Timers::real(real, step)
        }
    }
    fn compare(_: &Self::Model, _: &Self::Real) {}
}

#[test]
fn twins_that_differ_are_caught() {
    let bytes = random_bytes(0, 2_000);
    fuzzing::drive::<Timers>(&bytes);
    let caught = std::panic::catch_unwind(|| fuzzing::drive::<Forgetful>(&bytes));
    let message = caught
        .expect_err("the planted bug shows")
        .downcast::<String>();
    assert!(message.expect("a formatted message").contains("PopDue"));
}

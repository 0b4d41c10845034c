//! The fuzz targets' bodies run on stable too, on bytes of every kind.

use gridweave_core::time::{Interval, Time};
use gridweave_tests::fuzzing;
use gridweave_tests::twins::availability::Profiles;
use gridweave_tests::twins::common_slot::Grids;
use gridweave_tests::twins::{backfill::Backfill, schedule::Growable, site::Sites, timers::Timers};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

#[test]
fn bytes_drive_every_pair_of_twins_to_the_same_answers() {
    for seed in 0..30 {
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

//! The fuzz targets' bodies run on stable too, on bytes of every kind.

use core::num::NonZeroU32;

use gridweave_core::id::JobId;
use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Refusal};
use gridweave_core::queue::Waiting;
use gridweave_core::resource::{Dimensions, Kind, Requirement};
use gridweave_core::schedule::Snapshot;
use gridweave_core::time::{Interval, Span, Time};
use gridweave_tests::fuzzing;
use gridweave_tests::twins::availability::Profiles;
use gridweave_tests::twins::common_slot::Grids;
use gridweave_tests::twins::events::Events;
use gridweave_tests::twins::ledger::Ledgers;
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
        fuzzing::drive::<Events>(&bytes);
        fuzzing::drive::<Ledgers>(&bytes);
    }
    fuzzing::drive::<Growable>(&[]);
}

#[test]
fn no_bytes_break_a_node_of_the_commit_protocol() {
    let mut seen = fuzzing::commit::Seen::default();
    for seed in 0..300 {
        let drive = || fuzzing::commit::drive(&random_bytes(seed, 4_000));
        let driven = std::panic::catch_unwind(drive);
        seen = seen.plus(driven.unwrap_or_else(|_| panic!("seed {seed} breaks it")));
    }
    println!("{seen:?}");
    let counts = [
        seen.begun,
        seen.stopped,
        seen.declined,
        seen.placed,
        seen.unplaced,
        seen.finished,
        seen.restarts,
        seen.extended,
    ];
    assert!(
        counts.iter().all(|count| *count > 100),
        "{seen:?}, so little was shown"
    );
}

#[test]
fn no_bytes_break_a_node_of_asap() {
    let mut seen = fuzzing::asap::Seen::default();
    for seed in 0..300 {
        let drive = || fuzzing::asap::drive(&random_bytes(seed, 4_000));
        let driven = std::panic::catch_unwind(drive);
        seen = seen.plus(driven.unwrap_or_else(|_| panic!("seed {seed} breaks it")));
    }
    println!("{seen:?}");
    let counts = [
        seen.accepted,
        seen.moved,
        seen.finished,
        seen.failed,
        seen.cancelled,
        seen.begun,
        seen.found,
        seen.pushed,
        seen.restarts,
        seen.declined as usize,
    ];
    assert!(
        counts.iter().all(|count| *count > 50),
        "{seen:?}, so little was shown"
    );
}

#[test]
fn no_bytes_break_a_node_of_aria() {
    let mut seen = fuzzing::aria::Seen::new();
    for seed in 0..300 {
        let drive = || fuzzing::aria::drive(&random_bytes(seed, 4_000));
        let driven = std::panic::catch_unwind(drive);
        for (name, count) in driven.unwrap_or_else(|_| panic!("seed {seed} breaks it")) {
            *seen.entry(name).or_default() += count;
        }
    }
    println!("{seen:?}");
    let names = [
        "accepted",
        "cancelled",
        "failed",
        "finished",
        "moved",
        "orphaned",
        "restart",
        "started",
        "stopped",
    ];
    let often = |name: &&str| seen.get(*name).is_some_and(|count| *count > 50);
    assert!(names.iter().all(often), "{seen:?}, so little was shown");
}

#[test]
fn no_bytes_break_a_node_of_the_can() {
    let mut seen = fuzzing::can::Seen::new();
    for seed in 0..300 {
        let drive = || fuzzing::can::drive(&random_bytes(seed, 4_000));
        let driven = std::panic::catch_unwind(drive);
        for (name, count) in driven.unwrap_or_else(|_| panic!("seed {seed} breaks it")) {
            *seen.entry(name).or_default() += count;
        }
    }
    println!("{seen:?}");
    let names = [
        "agreed", "beat", "changed", "claimed", "evicted", "granted", "joined", "left", "mourned",
        "moved", "refused", "restart", "said", "sought", "waited",
    ];
    let often = |name: &&str| seen.get(*name).is_some_and(|count| *count > 50);
    assert!(names.iter().all(often), "{seen:?}, so little was shown");
}

#[test]
fn no_bytes_break_a_node_of_criteria() {
    let mut seen = fuzzing::criteria::Seen::default();
    for seed in 0..300 {
        let drive = || fuzzing::criteria::drive(&random_bytes(seed, 4_000));
        let driven = std::panic::catch_unwind(drive);
        seen = seen.plus(driven.unwrap_or_else(|_| panic!("seed {seed} breaks it")));
    }
    println!("{seen:?}");
    let counts = [
        seen.accepted,
        seen.moved,
        seen.finished,
        seen.failed,
        seen.cancelled,
        seen.begun,
        seen.looked,
        seen.told,
        seen.restarts,
    ];
    assert!(
        counts.iter().all(|count| *count > 50),
        "{seen:?}, so little was shown"
    );
}

#[test]
fn no_bytes_break_a_node_of_vicinity() {
    let mut seen = fuzzing::vicinity::Seen::default();
    for seed in 0..300 {
        let drive = || fuzzing::vicinity::drive(&random_bytes(seed, 4_000));
        let driven = std::panic::catch_unwind(drive);
        seen = seen.plus(driven.unwrap_or_else(|_| panic!("seed {seed} breaks it")));
    }
    println!("{seen:?}");
    let counts = [
        seen.asked,
        seen.answered,
        seen.heard,
        seen.unasked,
        seen.profiles,
        seen.entered,
    ];
    assert!(
        counts.iter().all(|count| *count > 300),
        "{seen:?}, so little was shown"
    );
}

#[test]
fn no_bytes_break_a_decoder() {
    let mut decoded = 0;
    for seed in 0..2_000 {
        let mut bytes = random_bytes(seed, 1 + seed as usize % 300);
        decoded += fuzzing::decode(&bytes);
        // Small numbers decode further than large ones.
        bytes.iter_mut().for_each(|byte| *byte %= 4);
        decoded += fuzzing::decode(&bytes);
    }
    assert!(
        decoded > 10_000,
        "only {decoded} values decoded, so little was shown"
    );
}

#[test]
fn valid_values_survive_the_round_trip() {
    fn survives<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(
        value: T,
    ) {
        let bytes = postcard::to_allocvec(&value).unwrap();
        assert_eq!(postcard::from_bytes::<T>(&bytes), Ok(value));
    }
    let interval = Interval::new(Time::from_secs(1), Time::from_secs(2)).unwrap();
    survives(interval);
    survives(Snapshot::new(3, Time::MAX, &[interval]).unwrap());
    let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
    let cores = dimensions.named("cores").unwrap();
    survives(dimensions.capability(&[7]).unwrap());
    survives(dimensions);
    let estimate = Span::from_secs(3);
    let mut job = Job::new(JobId::new(1), Demand::Cores(NonZeroU32::MIN), estimate).unwrap();
    job.requirement = Requirement::any().with(cores, 2);
    survives(Waiting::from(&job));
    survives(Command::Submit(job));
    survives(Notice {
        job: job.id,
        news: News::Failed(Failure::Refused(Refusal::unknown(cores))),
    });
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

//! The fuzz targets' bodies run on stable too, on bytes of every kind.

use core::num::NonZeroU32;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gridweave_core::id::JobId;
use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Refusal};
use gridweave_core::queue::Waiting;
use gridweave_core::resource::{Dimensions, Kind, Requirement};
use gridweave_core::schedule::Snapshot;
use gridweave_core::time::{Interval, Span, Time};
use gridweave_lab::config::Config;
use gridweave_tests::fuzzing::{self, Seen};
use gridweave_tests::scaled;
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
    for seed in 0..u64::from(scaled(12, 1)) {
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

/// Drives a node with random bytes, which must not break it. All of `what` must happen more than `often` times; in a
/// debug build, with a third of the bytes, more than a third as often.
fn drives(drive: fn(&[u8]) -> Seen, often: usize, what: &[&str]) {
    let mut seen = Seen::new();
    for seed in 0..u64::from(scaled(300, 100)) {
        let driven = std::panic::catch_unwind(|| drive(&random_bytes(seed, 4_000)));
        for (name, count) in driven.unwrap_or_else(|_| panic!("seed {seed} breaks it")) {
            *seen.entry(name).or_default() += count;
        }
    }
    println!("{seen:?}");
    let is_shown = |name: &&str| {
        seen.get(*name)
            .is_some_and(|count| *count > often / scaled(1, 3) as usize)
    };
    assert!(what.iter().all(is_shown), "{seen:?}, so little was shown");
}

#[test]
fn no_bytes_break_a_node_of_the_commit_protocol() {
    let often = [
        "begun", "declined", "extended", "finished", "placed", "restart", "stopped", "unplaced",
    ];
    drives(fuzzing::commit::drive, 100, &often);
}

#[test]
fn no_bytes_break_a_node_of_asap() {
    let often = [
        "accepted",
        "cancelled",
        "declined",
        "failed",
        "finished",
        "found",
        "moved",
        "pushed",
        "restart",
        "started",
        "stopped",
    ];
    drives(fuzzing::asap::drive, 40, &often);
}

#[test]
fn no_bytes_break_a_node_of_criteria() {
    let often = [
        "accepted",
        "cancelled",
        "failed",
        "finished",
        "looked",
        "moved",
        "restart",
        "started",
        "stopped",
        "told",
    ];
    drives(fuzzing::criteria::drive, 50, &often);
}

#[test]
fn no_bytes_break_a_node_of_aria() {
    let often = [
        "accepted",
        "cancelled",
        "failed",
        "finished",
        "moved",
        "orphaned",
        "queue",
        "restart",
        "started",
        "stopped",
        "withdraw",
    ];
    // Withdrawals are the rarest: a site takes only what it can do as it offered.
    drives(fuzzing::aria::drive, 12, &often);
}

#[test]
fn no_bytes_break_a_node_of_desktop() {
    let often = [
        "accepted",
        "balloon",
        "cancelled",
        "custody",
        "decoded",
        "errand",
        "failed",
        "finished",
        "found",
        "granted",
        "offer",
        "orphaned",
        "pull",
        "restart",
        "search",
        "second",
        "started",
        "stopped",
    ];
    drives(fuzzing::desktop::drive, 20, &often);
}

#[test]
fn no_bytes_break_a_node_of_the_can() {
    let often = [
        "agreed", "beat", "changed", "claimed", "evicted", "granted", "joined", "left", "mourned",
        "moved", "refused", "restart", "said", "sought", "waited",
    ];
    drives(fuzzing::can::drive, 50, &often);
}

#[test]
fn no_bytes_break_a_node_of_vicinity() {
    let often = [
        "answered", "asked", "entered", "heard", "profiles", "unasked",
    ];
    drives(fuzzing::vicinity::drive, 300, &often);
}

#[test]
fn no_bytes_break_the_wire() {
    let (mut messages, mut records) = (0, 0);
    for seed in 0..2_000 {
        let mut bytes = random_bytes(seed, 1 + seed as usize % 300);
        messages += fuzzing::wire::decode(&bytes);
        records += fuzzing::wire::decode_records(&bytes);
        // Small numbers decode further than large ones.
        bytes.iter_mut().for_each(|byte| *byte %= 4);
        bytes.truncate(1 + seed as usize % 30);
        messages += fuzzing::wire::decode(&bytes);
        records += fuzzing::wire::decode_records(&bytes);
    }
    println!("{messages} messages, {records} records");
    assert!(messages > 100, "only {messages}, so little was shown");
    assert!(records > 50, "only {records}, so little was shown");
}

/// A text of the bundled trace, or another one, with some bytes changed by chance.
fn damaged(text: &str, seed: u64) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for change in random_bytes(seed, 64).chunks(4) {
        let place = usize::from(change[0]) * 256 + usize::from(change[1]);
        let place = place % bytes.len().max(1);
        match change[2] % 4 {
            0 => bytes[place] = change[3],
            1 => bytes.insert(place, change[3] % 96 + 32),
            2 => drop(bytes.remove(place)),
            _ => bytes.truncate(bytes.len() - place % 8),
        }
    }
    bytes
}

#[test]
fn no_bytes_break_the_readers_of_files() {
    let trace = "1 0 10 3600 4 -1 -1 4 7200 -1 1 3 2 -1 1 -1 -1 -1\n".repeat(9);
    let grid = "1 1000 10 3600 4 -1 -1 4 7200 -1 1 user group -1 q -1 site -1 -1 UNITARY -1 -1\n"
        .repeat(9);
    let config = Config::default().to_toml().unwrap();
    let (mut jobs, mut configs) = (0, 0);
    for seed in 0..u64::from(scaled(500, 150)) {
        jobs += fuzzing::files::swf(&damaged(&trace, seed)).min(1);
        jobs += fuzzing::files::gwf(&damaged(&grid, seed)).min(1);
        configs += usize::from(fuzzing::files::config(&damaged(&config, seed)));
        // The fewer lines are damaged, the more is left to read.
        let lines: Vec<&str> = config.lines().take(seed as usize % 40).collect();
        configs += usize::from(fuzzing::files::config(lines.join("\n").as_bytes()));
        assert_eq!(fuzzing::files::gwf(&random_bytes(seed, 300)), 0);
    }
    assert!(
        jobs > scaled(500, 150) as usize && configs > scaled(100, 30) as usize,
        "{jobs}, {configs}: so little was shown"
    );
}

fn seeds_of(target: &str) -> PathBuf {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    fuzz.join("seeds").join(target)
}

#[test]
fn every_target_takes_its_seeds_and_something_comes_of_them() {
    for (target, body) in fuzzing::TARGETS {
        let mut features = BTreeSet::new();
        let folder = seeds_of(target);
        let files = std::fs::read_dir(&folder).expect("each target has a folder of seeds");
        for file in files {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            features.extend(features_of(&body(&bytes)));
        }
        assert!(!features.is_empty(), "{target}: nothing comes of its seeds");
    }
}

#[test]
fn every_target_is_in_the_list_and_in_the_folder_of_targets() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
    let files = std::fs::read_dir(targets).expect("it is part of the repository");
    let names = files.map(|file| file.unwrap().path());
    let names: BTreeSet<String> = names
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        // The bodies of these are with the binding for C and the agent, which these suites know nothing of.
        .filter(|name| name != "c_abi" && !name.starts_with("node_"))
        .collect();
    let listed: BTreeSet<String> = fuzzing::TARGETS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    assert_eq!(names, listed);
}

/// The names in what came of a target that have a count above zero.
fn features_of(seen: &str) -> Vec<String> {
    let words: Vec<&str> = seen
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let counted = words
        .windows(2)
        .filter(|pair| pair[1].parse::<u64>().is_ok_and(|count| count > 0));
    counted.map(|pair| pair[0].to_owned()).collect()
}

/// `cargo test -p gridweave-tests --test suites -- --ignored regenerate_the_seeds_of_what_bytes_drive`
#[test]
#[ignore = "writes the seeds that are chosen by chance"]
fn regenerate_the_seeds_of_what_bytes_drive() {
    for (target, body) in fuzzing::TARGETS {
        let mut features = BTreeSet::new();
        let write = |name: String, bytes: &[u8]| {
            std::fs::create_dir_all(seeds_of(target)).unwrap();
            std::fs::write(seeds_of(target).join(name), bytes).unwrap();
        };
        match target {
            // The seeds of these are texts written by hand.
            "swf" | "gwf" | "config" => {}
            "wire" => {
                for vector in gridweave_tests::wire::vectors::accepted() {
                    // A frame of each protocol.
                    if features.insert(vector.protocol.clone()) {
                        write(vector.protocol, &vector.frame);
                    }
                }
            }
            _ => {
                for seed in 0..400 {
                    let bytes = random_bytes(seed, 320);
                    let count = features.len();
                    features.extend(features_of(&body(&bytes)));
                    if features.len() > count {
                        write(seed.to_string(), &bytes);
                    }
                }
            }
        }
    }
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
    survives(Command::submit(job));
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

//! The bodies of the fuzz targets: bytes in, a panic if anything is wrong.

use core::fmt::Debug;

use gridweave_core::job::{Command, Job, Notice};
use gridweave_core::overlay::{can as zones, vicinity as near};
use gridweave_core::profile::Profile;
use gridweave_core::queue::{Cost, MigrantRefusal, Waiting};
use gridweave_core::resource::{Capability, Dimensions, Requirement, Speed};
use gridweave_core::schedule::{Attempt, CommitError, ReserveError, Snapshot};
use gridweave_core::time::{Interval, Time};
use gridweave_core::{commit as protocol, heartbeat, scheduler};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::twins::availability::Profiles;
use crate::twins::common_slot::Grids;
use crate::twins::events::Events;
use crate::twins::ledger::Ledgers;
use crate::twins::timers::Timers;
use crate::twins::{Twins, backfill::Backfill, schedule::Growable, site::Sites};

pub mod aria;
pub mod asap;
pub mod can;
mod choices;
mod coallocation;
pub mod commit;
pub mod criteria;
pub mod desktop;
pub mod files;
mod host;
pub mod vicinity;
pub mod wire;

pub use host::Seen;

/// A fuzz target: it takes bytes, panics if anything is wrong, and else returns counts of what happened, as text.
pub type Target = fn(&[u8]) -> String;

/// All targets by name: those in `fuzz/fuzz_targets`, and those with seeds in `fuzz/seeds`.
pub const TARGETS: [(&str, Target); 20] = [
    ("aria", |bytes| format!("{:?}", aria::drive(bytes))),
    ("asap", |bytes| format!("{:?}", asap::drive(bytes))),
    ("availability", driven::<Profiles>),
    ("backfill", driven::<Backfill>),
    ("can", |bytes| format!("{:?}", can::drive(bytes))),
    ("commit", |bytes| format!("{:?}", commit::drive(bytes))),
    ("common_slot", driven::<Grids>),
    ("config", |bytes| {
        format!("config: {}", u8::from(files::config(bytes)))
    }),
    ("criteria", |bytes| format!("{:?}", criteria::drive(bytes))),
    ("decode", |bytes| format!("decoded: {}", decode(bytes))),
    ("desktop", |bytes| format!("{:?}", desktop::drive(bytes))),
    ("events", driven::<Events>),
    ("gwf", |bytes| format!("jobs: {}", files::gwf(bytes))),
    ("ledger", driven::<Ledgers>),
    ("schedule", driven::<Growable>),
    ("site", driven::<Sites>),
    ("swf", |bytes| format!("jobs: {}", files::swf(bytes))),
    ("timers", driven::<Timers>),
    ("vicinity", |bytes| format!("{:?}", vicinity::drive(bytes))),
    ("wire", |bytes| {
        let (messages, records) = (wire::decode(bytes), wire::decode_records(bytes));
        format!("messages: {messages}, records: {records}")
    }),
];

fn driven<T: Twins>(bytes: &[u8]) -> String {
    drive::<T>(bytes);
    format!("steps: {}", bytes.len().div_ceil(BYTES_PER_STEP))
}

/// How many bytes choose one step.
const BYTES_PER_STEP: usize = 8;

/// Drives a layer and its twin with the same steps that proptest takes, each chosen by the next few bytes.
pub fn drive<T: Twins>(bytes: &[u8]) {
    let steps = T::steps();
    let (mut model, mut real) = T::begin();
    for chosen_by in bytes.chunks(BYTES_PER_STEP) {
        let mut seed = [0; 32];
        seed[..chosen_by.len()].copy_from_slice(chosen_by);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let Ok(tree) = steps.new_tree(&mut runner) else {
            return;
        };
        let step = tree.current();
        let (expected, answer) = (T::model(&mut model, &step), T::real(&mut real, &step));
        assert_eq!(answer, expected, "the answers to {step:?} differ");
        T::compare(&model, &real);
    }
}

/// Decodes bytes as every type that crosses a boundary, and counts the types that decode. A decoded value must survive
/// being encoded and decoded again.
pub fn decode(bytes: &[u8]) -> usize {
    let decoded = [
        round_trip::<Time>(bytes),
        round_trip::<Interval>(bytes),
        round_trip::<Capability>(bytes),
        round_trip::<Requirement>(bytes),
        round_trip::<Dimensions>(bytes),
        round_trip::<Speed>(bytes),
        round_trip::<Job>(bytes),
        round_trip::<Command>(bytes),
        round_trip::<Notice>(bytes),
        round_trip::<Cost>(bytes),
        round_trip::<Waiting>(bytes),
        round_trip::<MigrantRefusal>(bytes),
        round_trip::<Attempt>(bytes),
        round_trip::<ReserveError>(bytes),
        round_trip::<CommitError>(bytes),
        round_trip::<Snapshot>(bytes),
        round_trip::<heartbeat::Message>(bytes),
        round_trip::<protocol::Message>(bytes),
        round_trip::<protocol::Command>(bytes),
        round_trip::<protocol::Notice>(bytes),
        round_trip::<protocol::Record>(bytes),
        round_trip::<scheduler::asap::Message<8>>(bytes),
        round_trip::<scheduler::asap::Record>(bytes),
        round_trip::<scheduler::criteria::Message<8, 10>>(bytes),
        round_trip::<scheduler::criteria::Record>(bytes),
        round_trip::<scheduler::aria::Message>(bytes),
        round_trip::<scheduler::aria::Record>(bytes),
        round_trip::<zones::Message<3>>(bytes),
        round_trip::<zones::Record>(bytes),
        round_trip::<Profile>(bytes),
        round_trip::<near::Message<Profile, 4>>(bytes),
        round_trip::<near::Command<Profile, 4>>(bytes),
    ];
    decoded.into_iter().flatten().count()
}

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) -> Option<()> {
    let (value, _) = postcard::take_from_bytes::<T>(bytes).ok()?;
    let encoded = postcard::to_allocvec(&value).expect("what decodes can be encoded");
    let (again, rest) = postcard::take_from_bytes::<T>(&encoded).expect("what is encoded decodes");
    assert_eq!(again, value);
    assert!(rest.is_empty());
    Some(())
}

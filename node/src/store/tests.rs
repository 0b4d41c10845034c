use std::fs;

use gridweave_core::id::Incarnation;
use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::asap::{Key, Record};

use super::*;

const OWNER: Owner = Owner {
    node: NodeId::new(7),
    scheduler: "asap",
};

fn entry(number: u32) -> (Key, Record) {
    let record = cyclon::Record::Incarnation(Incarnation::new(number));
    (
        Key::Overlay(cyclon::Key::Incarnation),
        Record::Overlay(record),
    )
}

fn with_a_record(file: &Path) {
    let store = Store::open(file, OWNER).unwrap();
    let (key, record) = entry(3);
    let mut batch = Batch::default();
    batch.persist(&key, &record).unwrap();
    store.commit(&mut batch).unwrap();
    assert!(batch.is_empty());
}

#[test]
fn a_batch_is_there_after_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    with_a_record(&file);
    let store = Store::open(&file, OWNER).unwrap();
    assert_eq!(store.records::<Record>().unwrap(), [entry(3)]);
    let mut batch = Batch::default();
    batch.forget::<Record>(&entry(3).0).unwrap();
    store.commit(&mut batch).unwrap();
    assert_eq!(store.records::<Record>().unwrap(), []);
}

#[test]
fn a_store_has_one_user_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    let _first = Store::open(&file, OWNER).unwrap();
    let second = Store::open(&file, OWNER).err().unwrap();
    assert!(matches!(second, StoreError::InUse(_)), "{second}");
}

#[test]
fn a_store_of_another_node_or_scheduler_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    with_a_record(&file);
    let node = NodeId::new(8);
    let refused = Store::open(&file, Owner { node, ..OWNER }).err().unwrap();
    assert!(
        refused
            .to_string()
            .contains("node 'n7', and 'n8' is wanted")
    );
    let scheduler = "aria";
    let refused = Store::open(&file, Owner { scheduler, ..OWNER });
    assert!(
        refused
            .err()
            .unwrap()
            .to_string()
            .contains("scheduler 'asap'")
    );
}

#[test]
fn a_file_that_is_no_store_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    fs::write(
        &file,
        "a letter, which is long enough to be something else".repeat(100),
    )
    .unwrap();
    let refused = Store::open(&file, OWNER).err().unwrap().to_string();
    assert!(refused.contains("store"), "{refused}");
    assert!(Store::check(&file).is_err());
}

#[test]
fn a_store_that_is_cut_short_or_changed_is_refused_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    with_a_record(&file);
    let whole = fs::read(&file).unwrap();
    for length in [0, 1, 100, 4096, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        let checked = Store::check(&file);
        // An empty file is a new store.
        assert!(checked.is_err(), "{length} of {} bytes", whole.len());
    }
    let needle = checksum(&gridweave_core::wire::encode_record(&entry(3).0, &entry(3).1).unwrap());
    let at = whole.windows(8).position(|bytes| bytes == needle).unwrap();
    let mut changed = whole.clone();
    changed[at + 8 + 3] ^= 1;
    fs::write(&file, &changed).unwrap();
    let refused = Store::open(&file, OWNER).and_then(|store| store.records::<Record>());
    assert!(
        matches!(refused, Err(StoreError::Corrupt { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_store_is_checked_while_it_is_in_use_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    with_a_record(&file);
    let _user = Store::open(&file, OWNER).unwrap();
    let before = fs::read(&file).unwrap();
    let facts = Store::check(&file).unwrap();
    assert_eq!(before, fs::read(&file).unwrap());
    let fact = |what| {
        facts
            .iter()
            .find(|(name, _)| name == what)
            .unwrap()
            .1
            .as_str()
    };
    assert_eq!((fact("node"), fact("scheduler")), ("n7", "asap"));
    assert_eq!((fact("records"), fact("jobs")), ("1", "0"));
}

#[test]
fn an_attempt_is_charged_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store"), OWNER).unwrap();
    let row = EndedRow {
        user: 1000,
        organisation: 2,
        began: 5_000_000,
        ended: 7_500_000,
        outcome: "done".to_owned(),
    };
    let mut batch = Batch::default();
    for attempt in [1, 1, 2] {
        batch.ended(JobId::new(7), Epoch::new(attempt), row.clone());
        store.commit(&mut batch).unwrap();
    }
    let usage = store.usage().unwrap();
    let expected = UsageRow {
        organisation: 2,
        user: 1000,
        attempts: 2,
        node_seconds: 5.0,
    };
    assert_eq!(usage, [expected]);
    assert!(store.has_ended(JobId::new(7), Epoch::new(2)).unwrap());
}

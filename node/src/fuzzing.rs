//! The bodies of the fuzz targets `node_*` in `fuzz/`: bytes in, a panic if anything is wrong. Each returns whether the bytes
//! were understood. `cargo test -p gridweave-node` replays their seeds.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gridweave_core::id::{Incarnation, NodeId};
use gridweave_core::machine::Machine;
use gridweave_core::mentions::Mentions;
use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::agent::{AriaNode, AsapNode, CriteriaNode, DesktopNode};
use gridweave_core::scheduler::asap;
use gridweave_core::wire::{self, Framed};
use rcgen::{CertificateParams, KeyPair, PublicKeyData};
use rustls::pki_types::CertificateDer;

use crate::control::Request;
use crate::executor::Program;
use crate::identity::{Identity, dns_name, id_of};
use crate::store::{Batch, Owner, Store};
use crate::transport::envelope;

/// A fuzz target.
pub type Target = fn(&[u8]) -> bool;

/// All targets by name.
pub const TARGETS: [(&str, Target); 4] = [
    ("node_stream", stream),
    ("node_control", control),
    ("node_store", store),
    ("node_certificate", certificate),
];

/// What a peer sends in a stream: an envelope with a frame. What is taken has one way to be written.
pub fn stream(bytes: &[u8]) -> bool {
    let Some(opened) = envelope::open(bytes) else {
        return false;
    };
    let sealed = envelope::seal(opened.sent, &opened.addresses, opened.frame);
    assert_eq!(sealed, bytes, "the envelope has another form");
    let frame = opened.frame;
    is_frame::<<AsapNode as Machine>::Message>(frame)
        || is_frame::<<CriteriaNode as Machine>::Message>(frame)
        || is_frame::<<AriaNode as Machine>::Message>(frame)
        || is_frame::<<DesktopNode as Machine>::Message>(frame)
}

fn is_frame<M: Framed + Mentions>(frame: &[u8]) -> bool {
    let Ok(message) = wire::decode::<M>(frame) else {
        return false;
    };
    let mut mentioned = 0;
    message.mentions(&mut |_| mentioned += 1);
    assert!(mentioned <= frame.len(), "nodes come from nowhere");
    let again = wire::encode(&message);
    assert_eq!(again.as_deref(), Ok(frame), "the frame has another form");
    true
}

/// A line that a user writes to the socket.
pub fn control(line: &[u8]) -> bool {
    let Ok(request) = serde_json::from_slice::<Request>(line) else {
        return false;
    };
    if let Request::Submit(submission) = request
        && let Ok(payload) = submission.program.to_payload()
    {
        let program = Program::from_payload(&payload);
        let program = program.expect("what was written is read");
        assert_eq!(program, submission.program);
    }
    true
}

/// The bytes of a store with records.
fn good_store() -> &'static [u8] {
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let file = room();
        let store = Store::open(&file, OWNER).expect("a new store");
        let mut batch = Batch::default();
        let record = cyclon::Record::Incarnation(Incarnation::new(3));
        let key = asap::Key::Overlay(cyclon::Key::Incarnation);
        let written = batch.persist(&key, &asap::Record::Overlay(record));
        written.expect("a short record");
        store.commit(&mut batch).expect("room on the disk");
        drop(store);
        let bytes = fs::read(&file).expect("the file of the store");
        // It is in a folder for such files.
        let _ = fs::remove_file(&file);
        bytes
    })
}

const OWNER: Owner = Owner {
    node: NodeId::new(7),
    scheduler: "asap",
};

/// A new file for a store.
fn room() -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    let name = format!("gridweave-fuzzing-{}-{number}", std::process::id());
    std::env::temp_dir().join(name)
}

/// A store that was cut short (the first two bytes say where, zero for not at all) and written over (each five bytes that
/// follow are a place and a byte). It is refused, or has the records that it had.
pub fn store(bytes: &[u8]) -> bool {
    let mut damaged = good_store().to_vec();
    let (cut, edits) = bytes.split_at(bytes.len().min(2));
    if let [high, low] = *cut
        && (high, low) != (0, 0)
    {
        let part = usize::from(u16::from_be_bytes([high, low]));
        damaged.truncate(damaged.len().saturating_mul(part) >> 16);
    }
    for edit in edits.chunks_exact(5) {
        if let [a, b, c, d, byte] = *edit {
            let place = u32::from_be_bytes([a, b, c, d]) as usize % damaged.len().max(1);
            if let Some(at) = damaged.get_mut(place) {
                *at = byte;
            }
        }
    }
    let file = room();
    fs::write(&file, damaged).expect("room on the disk");
    let opened = Store::open(&file, OWNER);
    let records = opened.and_then(|store| {
        store.jobs()?;
        store.usage()?;
        store.records::<asap::Record>()
    });
    // It is in a folder for such files.
    let _ = fs::remove_file(&file);
    records.is_ok_and(|records| records.len() == 1)
}

/// A certificate: bytes as they come, and a sound certificate with these names, a line each; `%` is the id of its key.
pub fn certificate(bytes: &[u8]) -> bool {
    static KEY: OnceLock<KeyPair> = OnceLock::new();
    // Whatever it says.
    let _ = Identity::of(&CertificateDer::from(bytes.to_vec()));
    let key = KEY.get_or_init(|| KeyPair::generate().expect("a new key"));
    let id = id_of(&key.subject_public_key_info());
    let text = String::from_utf8_lossy(bytes);
    let names = text.lines().take(8);
    let names: Vec<String> = names
        .map(|name| name.replace('%', &id.get().to_string()))
        .collect();
    let signed = CertificateParams::new(names.clone()).and_then(|params| params.self_signed(key));
    let Ok(signed) = signed else {
        return false;
    };
    let Ok(identity) = Identity::of(signed.der()) else {
        return false;
    };
    assert_eq!(identity.node, id, "it has the id of another key");
    let organisation = format!("{}.organisation.gridweave", identity.organisation);
    let name = format!("{}.name.gridweave", identity.name);
    for expected in [dns_name(id), organisation, name] {
        assert!(names.contains(&expected), "{expected} is not in {names:?}");
    }
    true
}

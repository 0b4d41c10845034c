//! Records as bytes, for the store of a host.
//!
//! A store keeps one entry for each key of a machine: under [`encode_key`] the bytes of [`encode_record`]. An entry is
//! complete: it has a version, the protocol, the key and the record, so a store that is only a list of entries will do.
//!
//! ```
//! use gridweave_core::id::Incarnation;
//! use gridweave_core::overlay::cyclon::{Key, Record};
//! use gridweave_core::wire::{self, Refused};
//!
//! let (key, record) = (Key::Incarnation, Record::Incarnation(Incarnation::new(7)));
//! let mut entry = wire::encode_record(&key, &record)?;
//! // Version 1, protocol 2 (cyclon), key 0, record 0 and its number.
//! assert_eq!(entry, [1, 2, 0, 0, 7]);
//! assert_eq!(wire::encode_key::<Record>(&key)?, [2, 0]);
//! assert_eq!(wire::decode_record(&entry), Ok((key, record)));
//!
//! // An entry of a later program is refused by its version.
//! entry[0] = 9;
//! let refused = wire::decode_record::<Record>(&entry);
//! assert_eq!(refused, Err(Refused::Version { found: 9, understood: 1 }));
//! # Ok::<(), wire::NotEncoded>(())
//! ```

use alloc::vec::Vec;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::framed::Protocol;
use super::{HEADER, NotEncoded, Refused, begins_with, read};
use crate::commit;
use crate::custody;
use crate::overlay::{blatant, can, cyclon};
use crate::scheduler::aria::links;
use crate::scheduler::{aria, asap, criteria, desktop};

/// The version of entries, and the first byte of every entry.
///
/// It changes whenever the bytes of any record do, from release 0.1.0 on. An entry of another version is refused.
pub const RECORD_VERSION: u8 = 1;

/// The most bytes of an entry. A job on 65,535 nodes takes less.
pub const MOST_RECORD_BYTES: usize = 1 << 24;

/// The records of a machine that a host can keep as bytes.
pub trait Stored: Serialize + DeserializeOwned {
    /// The keys of the same machine.
    type Key: Serialize + DeserializeOwned;

    /// The second byte of an entry, and the first of a key.
    const PROTOCOL: Protocol;
}

macro_rules! stored {
    ($($machine:ident = $protocol:ident;)+) => {
        $(impl Stored for $machine::Record {
            type Key = $machine::Key;
            const PROTOCOL: Protocol = Protocol::$protocol;
        })+
    };
}

stored! {
    cyclon = CYCLON;
    blatant = BLATANT;
    can = CAN;
    commit = COMMIT;
    custody = CUSTODY;
    links = LINKS;
    asap = ASAP;
    criteria = CRITERIA;
    aria = ARIA;
    desktop = DESKTOP;
}

/// The entry of a record.
pub fn encode_record<R: Stored>(key: &R::Key, record: &R) -> Result<Vec<u8>, NotEncoded> {
    let header = Vec::from([RECORD_VERSION, R::PROTOCOL.number()]);
    let entry = postcard::to_extend(&(key, record), header).map_err(|_| NotEncoded::Broken)?;
    let (length, cap) = (entry.len(), MOST_RECORD_BYTES);
    if length > cap {
        let kind = "a record";
        return Err(NotEncoded::TooLong { kind, length, cap });
    }
    Ok(entry)
}

/// The bytes under which a store keeps the entry of a key: different ones for each key of each protocol.
///
/// They have no version. A host that reads entries of an earlier version writes all of them anew before its machine
/// starts, since a key of that version may have other bytes.
pub fn encode_key<R: Stored>(key: &R::Key) -> Result<Vec<u8>, NotEncoded> {
    let header = Vec::from([R::PROTOCOL.number()]);
    postcard::to_extend(key, header).map_err(|_| NotEncoded::Broken)
}

/// The key and the record of an entry.
///
/// It accepts only the bytes that [`encode_record`] gives. No bytes cause a panic. There is no checksum: that is the
/// store's, which knows how its medium fails.
pub fn decode_record<R: Stored>(entry: &[u8]) -> Result<(R::Key, R), Refused> {
    begins_with(RECORD_VERSION, R::PROTOCOL, entry)?;
    let (length, cap) = (entry.len(), MOST_RECORD_BYTES);
    if length > cap {
        let kind = "a record";
        return Err(Refused::TooLong { kind, length, cap });
    }
    read(entry, HEADER)
}

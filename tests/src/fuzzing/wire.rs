//! Any bytes as a frame or a record of any protocol.

use gridweave_core::overlay::{blatant, can, cyclon};
use gridweave_core::scheduler::{aria, asap, criteria, desktop};
use gridweave_core::wire::{self, MOST_RECORD_BYTES, RECORD_VERSION, Refused, Stored, VERSION};
use gridweave_core::{commit, custody};

use crate::wire::{Each, Visit, paths, visit_all};

/// Decodes bytes as an entry of a store, and as what is behind the header of one, of every machine. Returns how many
/// were records.
///
/// A record must encode to the same bytes. A refusal must point into the entry.
pub fn decode_records(bytes: &[u8]) -> usize {
    [
        records::<cyclon::Record>(bytes),
        records::<blatant::Record>(bytes),
        records::<can::Record>(bytes),
        records::<commit::Record>(bytes),
        records::<custody::Record>(bytes),
        records::<aria::links::Record>(bytes),
        records::<asap::Record>(bytes),
        records::<criteria::Record>(bytes),
        records::<aria::Record>(bytes),
        records::<desktop::Record>(bytes),
    ]
    .iter()
    .sum()
}

fn records<R: Stored>(bytes: &[u8]) -> usize {
    let header = [RECORD_VERSION, R::PROTOCOL.number()];
    let behind = [&header[..], bytes].concat();
    [bytes, &behind]
        .into_iter()
        .filter(|entry| is_record::<R>(entry))
        .count()
}

fn is_record<R: Stored>(entry: &[u8]) -> bool {
    match wire::decode_record::<R>(entry) {
        Ok((key, record)) => {
            let again = wire::encode_record(&key, &record).expect("what decodes can be encoded");
            assert_eq!(again, entry, "a record has other bytes");
            wire::encode_key::<R>(&key).expect("a key can be encoded");
            return true;
        }
        Err(Refused::Empty) => assert!(entry.is_empty()),
        Err(Refused::Version { found, understood }) => {
            assert!(entry[0] == found && found != understood);
        }
        Err(Refused::Protocol { found, expected }) => {
            assert!(entry[1] == found.number() && found != expected);
        }
        Err(Refused::TooLong { length, .. }) => assert!(length > MOST_RECORD_BYTES),
        Err(Refused::Trailing { at } | Refused::NotCanonical { at }) => assert!(at < entry.len()),
        Err(Refused::CutShort { at } | Refused::Malformed { at }) => assert!(at <= entry.len()),
        Err(other) => panic!("{other:?} is new"),
    }
    false
}

/// Decodes bytes as a frame, and as the body of a frame, of every protocol. Returns how many were messages.
///
/// A message must be within the cap of its kind and encode to the same bytes. A refusal must point into the frame.
pub fn decode(bytes: &[u8]) -> usize {
    struct Decoding<'a>(&'a [u8], usize);
    impl Visit for Decoding<'_> {
        fn visit<M: Each>(&mut self) {
            let header = [VERSION, M::PROTOCOL.number()];
            let body = [&header[..], self.0].concat();
            for frame in [self.0, &body] {
                self.1 += usize::from(is_message::<M>(frame));
            }
        }
    }
    let mut decoding = Decoding(bytes, 0);
    visit_all(&mut decoding);
    decoding.1
}

fn is_message<M: Each>(frame: &[u8]) -> bool {
    let at = match wire::decode::<M>(frame) {
        Ok(message) => {
            let mut paths = paths(M::KINDS).into_iter();
            let path = paths.find(|path| frame[2..].starts_with(&path.numbers));
            let cap = path.expect("it is of some kind").cap;
            assert!(frame.len() <= cap, "{} bytes, cap {cap}", frame.len());
            let again = wire::encode(&message).expect("what decodes can be encoded");
            assert_eq!(again, frame, "{message:?} has other bytes");
            return true;
        }
        Err(Refused::Empty) => {
            assert!(frame.is_empty());
            return false;
        }
        Err(Refused::TooLong { length, cap, .. }) => {
            assert!(length == frame.len() && cap < length);
            return false;
        }
        Err(Refused::Version { .. } | Refused::Protocol { .. }) => return false,
        Err(
            Refused::UnknownKind { at, .. }
            | Refused::Trailing { at }
            | Refused::NotCanonical { at },
        ) => {
            assert!(at < frame.len());
            at
        }
        Err(Refused::WrongCount {
            at,
            found,
            least,
            most,
        }) => {
            assert!(found < least || found > most);
            at
        }
        Err(Refused::CutShort { at } | Refused::Malformed { at }) => at,
        Err(other) => panic!("{other:?} is new"),
    };
    assert!(at <= frame.len());
    false
}

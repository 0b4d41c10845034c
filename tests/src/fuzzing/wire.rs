//! Any bytes as a frame of any protocol.

use gridweave_core::wire::{self, Refused, VERSION};

use crate::wire::{Each, Visit, paths, visit_all};

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
        Err(Refused::CutShort { at } | Refused::Malformed { at }) => at,
        Err(other) => panic!("{other:?} is new"),
    };
    assert!(at <= frame.len());
    false
}

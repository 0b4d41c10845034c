//! Messages as bytes: a version, a protocol, and a body whose length is bounded by its kind. Records, too.
//!
//! A frame is two bytes and a body. The first byte is the [`VERSION`], the second the [`Protocol`], and the body is the
//! message in [postcard](https://postcard.jamesmunns.com)'s encoding, which begins with the kind of the message.
//! `docs/reference/wire.md` has every byte of it, and `tests/vectors/wire.txt` an example of each kind.
//!
//! - [`encode`] and [`encode_into`] write a frame. They refuse a message that is longer than its kind may be.
//! - [`decode`] reads a frame, or says why and where it is refused. It accepts only the bytes that [`encode`] gives for
//!   the message: no number takes more bytes than needed, and nothing follows the end.
//! - [`protocol_of`] looks at the header only, for a host that speaks several protocols over one socket.
//! - [`encode_record`], [`encode_key`] and [`decode_record`] do the same for what a machine has on disk.
//!
//! The bytes may come from a liar. No bytes cause a panic, and no length in them is trusted: the length of the frame is
//! compared with the cap of its kind before any field is read, and no list gets more room than its bytes can fill.
//!
//! The cap of a kind is computed. [`Bounded`] says for every type how many bytes its largest value takes, and the cap
//! is the sum over the fields of the kind. So no message that a machine may send is refused for its length, and a test
//! shows that the largest message of each kind has exactly the length of the cap.
//!
//! ```
//! use gridweave_core::heartbeat::Message;
//! use gridweave_core::id::Incarnation;
//! use gridweave_core::wire::{self, Refused};
//!
//! let ping = Message::Ping { asker: Incarnation::new(3), round: 300 };
//! let frame = wire::encode(&ping)?;
//! // Version 2, protocol 1 (heartbeat), kind 0 (Ping), the asker, the round in two bytes.
//! assert_eq!(frame, [2, 1, 0, 3, 0xac, 0x02]);
//! assert_eq!(wire::decode(&frame), Ok(ping));
//!
//! assert_eq!(wire::decode::<Message>(&frame[..5]), Err(Refused::CutShort { at: 5 }));
//! // The same asker in one byte more than it takes.
//! let longer = [2, 1, 0, 0x83, 0x00, 0xac, 0x02];
//! assert_eq!(wire::decode::<Message>(&longer), Err(Refused::NotCanonical { at: 3 }));
//! # Ok::<(), wire::NotEncoded>(())
//! ```

mod bounded;
mod canonical;
mod framed;
mod protocols;
mod records;
mod refused;
#[cfg(test)]
mod tests;

pub use bounded::Bounded;
pub use framed::{Framed, Kind, Protocol};
pub use records::{
    MOST_RECORD_BYTES, RECORD_VERSION, Stored, decode_record, encode_key, encode_record,
};
pub use refused::{NotEncoded, Refused};

use alloc::vec::Vec;

use framed::Cap;
use postcard::Deserializer;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the format, and the first byte of every frame.
///
/// It changes whenever the bytes of any message do, from release 0.1.0 on. A frame of another version is refused.
pub const VERSION: u8 = 2;

/// How many bytes come before the body: the version and the protocol.
pub const HEADER: usize = 2;

/// The frame of a message.
pub fn encode<M: Framed>(message: &M) -> Result<Vec<u8>, NotEncoded> {
    let header = Vec::from([VERSION, M::PROTOCOL.number()]);
    let frame = postcard::to_extend(message, header).map_err(|_| NotEncoded::Broken)?;
    within_cap::<M>(&frame)?;
    Ok(frame)
}

/// Writes the frame of a message to the beginning of `room`, allocates nothing, and says how long the frame is.
///
/// If it does not fit, some of it may have been written.
pub fn encode_into<M: Framed>(message: &M, room: &mut [u8]) -> Result<usize, NotEncoded> {
    let [version, protocol, body @ ..] = room else {
        return Err(NotEncoded::NoRoom);
    };
    (*version, *protocol) = (VERSION, M::PROTOCOL.number());
    let body = match postcard::to_slice(message, body) {
        Ok(body) => body.len(),
        Err(postcard::Error::SerializeBufferFull) => return Err(NotEncoded::NoRoom),
        Err(_) => return Err(NotEncoded::Broken),
    };
    let length = HEADER.saturating_add(body);
    within_cap::<M>(room.get(..length).unwrap_or_default())?;
    Ok(length)
}

/// A list with too many items makes a message too long. This reports it at the sender, before the receiver refuses it.
fn within_cap<M: Framed>(frame: &[u8]) -> Result<(), NotEncoded> {
    let cap = Cap::of(M::KINDS, frame).map_err(|_| NotEncoded::Broken)?;
    if frame.len() > cap.most {
        return Err(NotEncoded::TooLong {
            kind: cap.kind.name(),
            length: frame.len(),
            cap: cap.most,
        });
    }
    Ok(())
}

/// The message in a frame.
pub fn decode<M: Framed>(frame: &[u8]) -> Result<M, Refused> {
    begins_with(VERSION, M::PROTOCOL, frame)?;
    let cap = Cap::of(M::KINDS, frame)?;
    if frame.len() > cap.most && !canary!(FrameBeyondItsCap) {
        return Err(Refused::TooLong {
            kind: cap.kind.name(),
            length: frame.len(),
            cap: cap.most,
        });
    }
    read(frame, HEADER).map_err(|refused| match refused {
        Refused::Malformed { at } => cap.wrong_count(frame, at).unwrap_or(refused),
        _ => refused,
    })
}

/// Reads the value behind so many bytes. It must fill the rest, and have no other encoding.
fn read<T: Serialize + DeserializeOwned>(bytes: &[u8], header: usize) -> Result<T, Refused> {
    let body = bytes.get(header..).unwrap_or_default();
    let mut decoder = Deserializer::from_bytes(body);
    let read = T::deserialize(&mut decoder);
    let left = decoder.finalize().map_or(0, <[u8]>::len);
    let at = bytes.len().saturating_sub(left);
    match read {
        Ok(_) if left > 0 => Err(Refused::Trailing { at }),
        Ok(value) => match canonical::first_difference(&value, body) {
            None => Ok(value),
            Some(_) if canary!(OtherBytesTaken) => Ok(value),
            Some(place) => Err(Refused::NotCanonical {
                at: header.saturating_add(place),
            }),
        },
        Err(postcard::Error::DeserializeUnexpectedEnd) => Err(Refused::CutShort { at }),
        Err(_) => Err(Refused::Malformed { at }),
    }
}

/// The protocol of a frame, for a host that speaks several; the body is not looked at.
pub fn protocol_of(frame: &[u8]) -> Result<Protocol, Refused> {
    protocol_after(VERSION, frame)
}

fn protocol_after(understood: u8, bytes: &[u8]) -> Result<Protocol, Refused> {
    match *bytes {
        [] => Err(Refused::Empty),
        [found, ..] if found != understood => Err(Refused::Version { found, understood }),
        [_] => Err(Refused::CutShort { at: 1 }),
        [_, protocol, ..] => Ok(Protocol::new(protocol)),
    }
}

/// The bytes begin with this version and this protocol.
fn begins_with(understood: u8, expected: Protocol, bytes: &[u8]) -> Result<(), Refused> {
    let found = protocol_after(understood, bytes)?;
    if found == expected {
        Ok(())
    } else {
        Err(Refused::Protocol { found, expected })
    }
}

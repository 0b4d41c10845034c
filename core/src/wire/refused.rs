use core::fmt;

use super::Protocol;

/// Why bytes are no message or no record, and where; `at` counts from the first byte, which is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Refused {
    /// There are no bytes.
    Empty,
    /// The first byte is another version: of [frames](super::VERSION), or of [records](super::RECORD_VERSION).
    Version {
        /// The first byte.
        found: u8,
        /// The version that this program reads.
        understood: u8,
    },
    /// The second byte is another protocol.
    Protocol {
        /// The protocol in the second byte.
        found: Protocol,
        /// The protocol of the expected message.
        expected: Protocol,
    },
    /// The protocol has no kind of this number.
    UnknownKind {
        /// Where the number is.
        at: usize,
        /// The unknown number.
        found: u8,
    },
    /// The frame is longer than the largest message of its kind. No field was read.
    TooLong {
        /// The name of the kind.
        kind: &'static str,
        /// How many bytes the frame has.
        length: usize,
        /// How many it may have.
        cap: usize,
    },
    /// The bytes end inside the message.
    CutShort {
        /// The first byte that could not be read.
        at: usize,
    },
    /// A list has too many or too few items for the constants that this node is built with, such as the `L` of
    /// [`Asap`](crate::scheduler::asap::Asap). All nodes of a grid should be built with the same.
    WrongCount {
        /// The first byte behind the number of items.
        at: usize,
        /// How many items the list has.
        found: usize,
        /// The least that this node accepts.
        least: usize,
        /// The most that this node has room for.
        most: usize,
    },
    /// A field cannot be decoded or breaks a rule: an unknown variant, another list that is too long, an interval that
    /// ends before it starts.
    Malformed {
        /// The first byte that was not read.
        at: usize,
    },
    /// There are bytes behind the message.
    Trailing {
        /// The first byte behind the message.
        at: usize,
    },
    /// [`encode`](super::encode) gives other bytes for this message: a number is too long, or stands for another one.
    NotCanonical {
        /// The first byte that differs.
        at: usize,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there are no bytes"),
            Self::Version { found, understood } => write!(
                f,
                "it has version {found}, and this program understands version {understood} only"
            ),
            Self::Protocol { found, expected } => {
                write!(f, "protocol {found} is not {expected}")
            }
            Self::UnknownKind { at, found } => {
                write!(f, "there is no kind {found}, at byte {at}")
            }
            Self::TooLong { kind, length, cap } => {
                write!(f, "{length} bytes are more than {cap}, the most of {kind}")
            }
            Self::CutShort { at } => write!(f, "cut short, at byte {at}"),
            Self::WrongCount {
                at, found, most, ..
            } if found > most => write!(
                f,
                "a list of {found}, and there is room for {most}, before byte {at}"
            ),
            Self::WrongCount {
                at, found, least, ..
            } => write!(
                f,
                "a list of {found}, and there must be {least}, before byte {at}"
            ),
            Self::Malformed { at } => write!(f, "malformed before byte {at}"),
            Self::Trailing { at } => write!(f, "the message ends before byte {at}"),
            Self::NotCanonical { at } => write!(f, "not canonical, at byte {at}"),
        }
    }
}

impl core::error::Error for Refused {}

/// Why a message is not encoded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NotEncoded {
    /// It is longer than the room for it.
    NoRoom,
    /// It is longer than the largest of its kind, because a list in it is longer than it may be.
    TooLong {
        /// The name of the kind.
        kind: &'static str,
        /// How many bytes the frame would have.
        length: usize,
        /// How many it may have.
        cap: usize,
    },
    /// Its type cannot be encoded. None of this crate's is so.
    Broken,
}

impl fmt::Display for NotEncoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoom => f.write_str("there is no room for the message"),
            Self::TooLong { kind, length, cap } => {
                write!(f, "{length} bytes are more than {cap}, the most of {kind}")
            }
            Self::Broken => f.write_str("the message cannot be encoded"),
        }
    }
}

impl core::error::Error for NotEncoded {}

use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{HEADER, Refused};

/// A message that can be framed: which protocol it belongs to, and which kinds of it there are.
///
/// The encoding must begin with the number of the kind in one byte, as that of an enum with at most 127 variants does.
pub trait Framed: Serialize + DeserializeOwned {
    /// The second byte of its frames.
    const PROTOCOL: Protocol;

    /// Its kinds, in the order of their numbers.
    const KINDS: &'static [Kind];

    /// The name of its kind.
    fn kind(&self) -> &'static str;
}

/// The number of a protocol.
///
/// Numbers below 128 belong to this crate; a host may use the others for messages of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(u8);

impl Protocol {
    /// [`heartbeat`](crate::heartbeat).
    pub const HEARTBEAT: Self = Self(1);
    /// [`cyclon`](crate::overlay::cyclon).
    pub const CYCLON: Self = Self(2);
    /// [`vicinity`](crate::overlay::vicinity).
    pub const VICINITY: Self = Self(3);
    /// [`blatant`](crate::overlay::blatant).
    pub const BLATANT: Self = Self(4);
    /// [`can`](crate::overlay::can).
    pub const CAN: Self = Self(5);
    /// [`commit`](crate::commit).
    pub const COMMIT: Self = Self(6);
    /// [`custody`](crate::custody).
    pub const CUSTODY: Self = Self(7);
    /// [`aria::links`](crate::scheduler::aria::links).
    pub const LINKS: Self = Self(8);
    /// [`asap`](crate::scheduler::asap).
    pub const ASAP: Self = Self(16);
    /// [`criteria`](crate::scheduler::criteria).
    pub const CRITERIA: Self = Self(17);
    /// [`aria`](crate::scheduler::aria).
    pub const ARIA: Self = Self(18);
    /// [`desktop`](crate::scheduler::desktop).
    pub const DESKTOP: Self = Self(19);

    /// The protocol with this number.
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// The byte in a frame's header.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Its name, if it is one of this crate.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::HEARTBEAT => "heartbeat",
            Self::CYCLON => "cyclon",
            Self::VICINITY => "vicinity",
            Self::BLATANT => "blatant",
            Self::CAN => "can",
            Self::COMMIT => "commit",
            Self::CUSTODY => "custody",
            Self::LINKS => "links",
            Self::ASAP => "asap",
            Self::CRITERIA => "criteria",
            Self::ARIA => "aria",
            Self::DESKTOP => "desktop",
            _ => return None,
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A kind of message: its name, and the most bytes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    name: &'static str,
    own: usize,
    within: &'static [Kind],
    list: Option<List>,
}

/// The first list of a kind, if its length depends on a constant that a node is built with.
///
/// Nodes that are built with unequal constants refuse each other's messages. By this a receiver can say why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct List {
    /// How many single bytes are before it, behind the number of the kind.
    pub(super) bytes: usize,
    /// How many numbers of any length are behind these bytes and before the list.
    pub(super) numbers: usize,
    pub(super) least: usize,
    pub(super) most: usize,
}

impl List {
    /// At most so many items, behind so many numbers.
    pub(super) const fn of_at_most(most: usize, numbers: usize) -> Self {
        Self {
            bytes: 0,
            numbers,
            least: 0,
            most,
        }
    }

    /// Exactly so many items, behind so many numbers.
    pub(super) const fn of(count: usize, numbers: usize) -> Self {
        Self {
            bytes: 0,
            numbers,
            least: count,
            most: count,
        }
    }

    /// What is wrong with the number of items of this list in the fields of its kind, which begin at byte `begin`.
    fn wrong_count(self, frame: &[u8], begin: usize) -> Option<Refused> {
        let mut rest = frame.get(begin.checked_add(self.bytes)?..)?;
        for _ in 0..self.numbers {
            number(&mut rest)?;
        }
        let found = usize::try_from(number(&mut rest)?).unwrap_or(usize::MAX);
        let Self { least, most, .. } = self;
        (found < least || found > most).then_some(Refused::WrongCount {
            at: frame.len().saturating_sub(rest.len()),
            found,
            least,
            most,
        })
    }
}

/// Takes a number of any length out of the bytes, or nothing if they end inside it.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let last = bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let (own, rest) = bytes.split_at_checked(last.checked_add(1)?)?;
    *bytes = rest;
    let digits = own.iter().rev().map(|byte| u64::from(byte & 0x7f));
    Some(digits.fold(0, |sum: u64, digit| {
        sum.saturating_mul(128).saturating_add(digit)
    }))
}

impl Kind {
    /// A kind whose fields together take at most `fields` bytes.
    pub const fn new(name: &'static str, fields: usize) -> Self {
        Self::around(name, &[], fields)
    }

    /// A kind that wraps a message of another protocol; its fields behind that message take at most `fields` bytes.
    pub const fn around(name: &'static str, within: &'static [Self], fields: usize) -> Self {
        Self {
            name,
            own: fields.saturating_add(1),
            within,
            list: None,
        }
    }

    /// The same kind, whose first list is this one.
    pub(super) const fn with_list(self, list: Option<List>) -> Self {
        Self { list, ..self }
    }

    /// The name of the variant.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The kinds of the message that it wraps, each with a cap of its own; empty if it wraps none.
    pub const fn within(&self) -> &'static [Self] {
        self.within
    }

    /// The most bytes of it: its number, its fields, and the largest message that it can wrap.
    pub const fn most_bytes(&self) -> usize {
        self.own.saturating_add(Self::largest(self.within))
    }

    /// The most bytes without the message that it wraps.
    pub const fn own_bytes(&self) -> usize {
        self.own
    }

    /// The most bytes of any of these kinds; zero if there are none.
    pub const fn largest(kinds: &[Self]) -> usize {
        let (mut largest, mut rest) = (0, kinds);
        while let [kind, others @ ..] = rest {
            let most = kind.most_bytes();
            if most > largest {
                largest = most;
            }
            rest = others;
        }
        largest
    }
}

/// The most bytes that a frame may have, by its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cap {
    /// The innermost kind.
    pub(super) kind: &'static Kind,
    /// The first byte behind the number of that kind.
    pub(super) fields: usize,
    pub(super) most: usize,
}

impl Cap {
    /// Reads the numbers of kinds behind the header, from the outermost to the innermost.
    pub(super) fn of(mut kinds: &'static [Kind], frame: &[u8]) -> Result<Self, Refused> {
        let (mut at, mut most) = (HEADER, HEADER);
        loop {
            let found = *frame.get(at).ok_or(Refused::CutShort { at })?;
            let unknown = Refused::UnknownKind { at, found };
            let kind = kinds.get(usize::from(found)).ok_or(unknown)?;
            most = most.saturating_add(kind.own);
            at = at.saturating_add(1);
            if kind.within.is_empty() {
                let fields = at;
                return Ok(Self { kind, fields, most });
            }
            kinds = kind.within;
        }
    }

    /// The reason why a frame of this kind is malformed before a byte, if it is the number of items in a list.
    pub(super) fn wrong_count(&self, frame: &[u8], before: usize) -> Option<Refused> {
        let frame = frame.get(..before)?;
        self.kind.list?.wrong_count(frame, self.fields)
    }
}

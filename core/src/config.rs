//! Why a configuration is refused: which field, what it is, and what it may be.
//!
//! Every configuration of this crate has a function `checked`. It is called when a node is built. As it is a `const
//! fn`, a host can also have a configuration checked when it is compiled. With `<4, 2>` this example would not compile:
//! ```
//! use gridweave_core::scheduler::asap::Config;
//!
//! const _: () = assert!(Config::LAN.checked::<20, 8>().is_ok());
//!
//! let error = Config::LAN.checked::<4, 2>().unwrap_err();
//! assert_eq!(error.to_string(), "overlay.view is 20; at most 4, the parameter C of Asap<C, L>");
//! ```
//!
//! A parameter that makes no sense does not compile:
//! ```compile_fail
//! use gridweave_core::scheduler::{Bootstrap, asap};
//! # use gridweave_core::{commit::Everyone, id::NodeId};
//! let _ = asap::Asap::<0, 8>::new(NodeId::new(1), asap::Config::LAN, Bootstrap::Alone, Everyone);
//! ```
//! ```compile_fail
//! use gridweave_core::overlay::can::{Can, Config, Point};
//! # use gridweave_core::id::NodeId;
//! let _ = Can::<0>::new(NodeId::new(1), Point::new([]), Config::LAN);
//! ```
//!
//! [`Limits`] makes such errors, also for the configurations of a scheduler outside this crate:
//! ```
//! use gridweave_core::config::{ConfigError, Limits};
//! use gridweave_core::overlay::cyclon;
//! use gridweave_core::time::Span;
//!
//! #[derive(Clone, Copy)]
//! struct Config {
//!     rounds: u8,
//!     timeout: Span,
//!     overlay: cyclon::Config,
//! }
//!
//! impl Config {
//!     const fn checked(self) -> Result<Self, ConfigError> {
//!         Limits::new()
//!             .number("rounds", self.rounds as u64)
//!             .at_least(1, "or no search begins")
//!             .time("timeout", self.timeout)
//!             .at_most(self.overlay.period.as_micros(), "overlay.period")
//!             .part("overlay", &self.overlay.checked::<20, 8>())
//!             .end(self)
//!     }
//! }
//!
//! let slow = Config { rounds: 3, timeout: Span::from_secs(11), overlay: cyclon::Config::DEFAULT };
//! let error = slow.checked().err().expect("a period is ten seconds");
//! assert_eq!(error.to_string(), "timeout is 11s; at most 10s, overlay.period");
//! ```

use core::fmt;

use crate::id::NodeId;
use crate::time::Span;

/// Why a configuration is refused, or why a node cannot be built.
///
/// Its text has all of it: `overlay.shuffle is 5; at most 2, the parameter L of Asap<C, L>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConfigError {
    /// The part of the configuration that has the field, if it is not the configuration itself: `overlay`.
    pub part: Option<&'static str>,
    /// The name of the field: `shuffle`.
    pub field: &'static str,
    /// The index in the field, if the field is a list.
    pub index: Option<usize>,
    /// What the field is.
    pub value: Value,
    /// What it may be.
    pub bound: Bound,
    /// Where the bound comes from, or what would happen beyond it: `the parameter L of Asap<C, L>`.
    pub reason: &'static str,
}

/// What a field is, or may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A number.
    Number(u64),
    /// A length of time.
    Time(Span),
    /// `true` or `false`.
    Flag(bool),
    /// A node.
    Node(NodeId),
    /// The name of a variant, or a kind of value.
    Word(&'static str),
}

/// What a field may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Bound {
    /// This or more.
    AtLeast(Value),
    /// This or less.
    AtMost(Value),
    /// More than this.
    MoreThan(Value),
    /// Less than this.
    LessThan(Value),
    /// A whole number of times this.
    MultipleOf(Value),
    /// Exactly this.
    Only(Value),
}

impl ConfigError {
    /// An error of a field that is no list and is in no part.
    pub const fn new(
        field: &'static str,
        value: Value,
        bound: Bound,
        reason: &'static str,
    ) -> Self {
        Self {
            part: None,
            field,
            index: None,
            value,
            bound,
            reason,
        }
    }

    /// The same error, told of this index in the field.
    #[must_use]
    pub const fn at(self, index: usize) -> Self {
        Self {
            index: Some(index),
            ..self
        }
    }

    /// The same error, told of a configuration that has the refused one as this part.
    #[must_use]
    pub const fn within(self, part: &'static str) -> Self {
        Self {
            part: Some(part),
            ..self
        }
    }
}

/// The fields of a configuration are held against their bounds, one after the other. The first one that breaks a bound
/// is the error.
///
/// [`number`](Self::number) and [`time`](Self::time) name a field. The bounds behind it count for that field; of a time
/// they are in microseconds. Each has a reason: where the bound comes from, or what would happen beyond it.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Limits {
    error: Option<ConfigError>,
    field: &'static str,
    value: Value,
}

impl Limits {
    /// No field yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            error: None,
            field: "",
            value: Value::Number(0),
        }
    }

    const fn field(self, field: &'static str, value: Value) -> Self {
        Self {
            field,
            value,
            ..self
        }
    }

    /// Next comes this field, which is a number.
    pub const fn number(self, field: &'static str, number: u64) -> Self {
        self.field(field, Value::Number(number))
    }

    /// Next comes this field, which is a time.
    pub const fn time(self, field: &'static str, time: Span) -> Self {
        self.field(field, Value::Time(time))
    }

    /// The field is this or more.
    pub const fn at_least(self, least: u64, reason: &'static str) -> Self {
        let bound = Bound::AtLeast(self.alike(least));
        self.require(self.amount() >= least, bound, reason)
    }

    /// The field is this or less.
    pub const fn at_most(self, most: u64, reason: &'static str) -> Self {
        let bound = Bound::AtMost(self.alike(most));
        self.require(self.amount() <= most, bound, reason)
    }

    /// The field is more than this.
    pub const fn more_than(self, less: u64, reason: &'static str) -> Self {
        let bound = Bound::MoreThan(self.alike(less));
        self.require(self.amount() > less, bound, reason)
    }

    /// The field is less than this.
    pub const fn less_than(self, more: u64, reason: &'static str) -> Self {
        let bound = Bound::LessThan(self.alike(more));
        self.require(self.amount() < more, bound, reason)
    }

    /// The field is a whole number of times this.
    pub const fn multiple_of(self, unit: u64, reason: &'static str) -> Self {
        let bound = Bound::MultipleOf(self.alike(unit));
        let whole = matches!(self.amount().checked_rem(unit), None | Some(0));
        self.require(whole, bound, reason)
    }

    /// The field is exactly this.
    pub const fn only(self, same: u64, reason: &'static str) -> Self {
        let bound = Bound::Only(self.alike(same));
        self.require(self.amount() == same, bound, reason)
    }

    /// The field is no more than there is room for.
    pub(crate) const fn fits(self, room: Room) -> Self {
        self.at_most(room.most, room.name)
    }

    /// Next comes this field, which is `true` or `false`.
    pub const fn flag(self, field: &'static str, flag: bool) -> Self {
        self.field(field, Value::Flag(flag))
    }

    /// The field is this.
    pub const fn is(self, flag: bool, reason: &'static str) -> Self {
        let same = matches!(
            (self.value, flag),
            (Value::Flag(true), true) | (Value::Flag(false), false)
        );
        self.require(same, Bound::Only(Value::Flag(flag)), reason)
    }

    /// This part of the configuration is sound, too.
    pub const fn part<T>(self, part: &'static str, checked: &Result<T, ConfigError>) -> Self {
        match (self.error, checked) {
            (None, Err(error)) => Self {
                error: Some(error.within(part)),
                ..self
            },
            _ => self,
        }
    }

    /// The configuration, unless a field broke a bound.
    pub const fn end<T: Copy>(self, config: T) -> Result<T, ConfigError> {
        match self.error {
            None => Ok(config),
            Some(error) => Err(error),
        }
    }

    const fn require(self, kept: bool, bound: Bound, reason: &'static str) -> Self {
        if kept || self.error.is_some() {
            return self;
        }
        Self {
            error: Some(ConfigError::new(self.field, self.value, bound, reason)),
            ..self
        }
    }

    const fn amount(&self) -> u64 {
        match self.value {
            Value::Number(number) => number,
            Value::Time(time) => time.as_micros(),
            Value::Flag(_) | Value::Node(_) | Value::Word(_) => 0,
        }
    }

    /// An amount of what the field is.
    const fn alike(&self, amount: u64) -> Value {
        match self.value {
            Value::Time(_) => Value::Time(Span::from_micros(amount)),
            _ => Value::Number(amount),
        }
    }
}

/// What there is room for in a type, by one of its parameters.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    most: u64,
    name: &'static str,
}

impl Room {
    /// A parameter, and what it is called in an error.
    pub(crate) const fn new(most: usize, name: &'static str) -> Self {
        let most = most as u64;
        Self { most, name }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = self.part {
            write!(f, "{part}.")?;
        }
        f.write_str(self.field)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        write!(f, " is {}; {}, {}", self.value, self.bound, self.reason)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Node(node) => node.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(value) => write!(f, "at least {value}"),
            Self::AtMost(value) => write!(f, "at most {value}"),
            Self::MoreThan(value) => write!(f, "more than {value}"),
            Self::LessThan(value) => write!(f, "less than {value}"),
            Self::MultipleOf(value) => write!(f, "a multiple of {value}"),
            Self::Only(value) => write!(f, "only {value}"),
        }
    }
}

impl core::error::Error for ConfigError {}

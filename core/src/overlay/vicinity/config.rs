use core::fmt;

use crate::time::Span;

/// The times and sizes of the layer. Nodes may have different values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The most links of a node, `Kv` in PROTOCOLS 2.
    pub links: u8,
    /// The most descriptors in a message, the sender's own among them, `g` in PROTOCOLS 2.
    pub gossip: u8,
    /// The time between two exchanges that a node begins. The random layer has the same, for ages count cycles of both.
    pub period: Span,
    /// How long it waits for the answer.
    pub timeout: Span,
    /// Up to how many cycles old a descriptor may be; older ones are dropped.
    pub max_age: u16,
    /// How the peers of the random layer are used.
    pub feed: Feed,
}

/// How the peers of the random layer are used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Feed {
    /// They are sent and kept like all others, if they are near enough. Without them clusters never find each other.
    Always,
    /// A node uses them only when it has no link at all. With this an experiment shows what the random layer is good
    /// for.
    WhenEmpty,
}

impl Config {
    /// The usual values: 20 links, 10 descriptors exchanged every ten seconds (F10).
    pub const DEFAULT: Self = Self {
        links: 20,
        gossip: 10,
        period: Span::from_secs(10),
        timeout: Span::from_secs(2),
        max_age: 60,
        feed: Feed::Always,
    };

    /// Refuses values that cannot work together, or with views of `V` links and messages of `G` descriptors.
    pub(super) fn checked<const V: usize, const G: usize>(self) -> Result<Self, ConfigError> {
        if self.links == 0 || usize::from(self.links) > V {
            return Err(ConfigError::Links);
        }
        if self.gossip == 0 || usize::from(self.gossip) > G {
            return Err(ConfigError::Gossip);
        }
        // Below one microsecond for each phase, there would be no phases.
        if self.period < Span::from_micros(u64::from(super::PHASES)) {
            return Err(ConfigError::ShortPeriod);
        }
        if self.timeout.is_zero() || self.timeout >= self.period {
            return Err(ConfigError::Timeout);
        }
        if self.max_age == 0 {
            return Err(ConfigError::MaxAge);
        }
        Ok(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why a configuration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// A view has at least one link, and no more than its type has room for.
    Links,
    /// A message has at least one descriptor, and no more than its type has room for.
    Gossip,
    /// The period is too short for nodes to begin at different times.
    ShortPeriod,
    /// The timeout is zero, or not shorter than the period.
    Timeout,
    /// The maximal age is zero: every descriptor would be too old after one cycle.
    MaxAge,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Links => "the view has no links, or more than there is room for",
            Self::Gossip => "a message has no descriptors, or more than there is room for",
            Self::ShortPeriod => "the period is too short",
            Self::Timeout => "the timeout is zero or not shorter than the period",
            Self::MaxAge => "every descriptor would be too old",
        })
    }
}

impl core::error::Error for ConfigError {}

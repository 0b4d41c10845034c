use core::fmt;

use crate::time::Span;

/// The times and sizes of the overlay. Nodes may have different values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The most links of a node, `c` in the paper.
    pub view: u8,
    /// The most links in a message, `l` in the paper.
    pub shuffle: u8,
    /// The time between two exchanges that a node begins.
    pub period: Span,
    /// How long it waits for the answer; many round trips less than the period.
    pub timeout: Span,
    /// How many steps a joining walk takes; about the average path length.
    pub walk: u8,
    /// After how many cycles with an empty view a node asks a contact to introduce it again.
    pub patience: u8,
    /// How many cycles pass between two writes of the contacts.
    pub remember: u16,
    /// Which links make room for those received.
    pub replacement: Replacement,
    /// Whether the host is told of each link that comes and goes.
    pub changes: Changes,
    /// How many peers a node samples against eclipse; at most [`MOST_SAMPLES`](super::MOST_SAMPLES), none by default.
    pub samples: u8,
}

/// Which links make room for those received, once the view is full (PROTOCOLS 1.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Replacement {
    /// The links sent, unless the same exchange brought a link to the same node. No exchange cuts the overlay in two.
    Recommended,
    /// All links sent, as the paper has it. If both sides send the same link, both may drop it.
    Literal,
}

/// Whether the host is told of each link that comes and goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Changes {
    /// The host gets a notice of each change.
    Told,
    /// The host gets no notices, and looks at the view when it needs to.
    Untold,
}

impl Config {
    /// The usual values: 20 links, 8 of them exchanged every ten seconds.
    pub const DEFAULT: Self = Self {
        view: 20,
        shuffle: 8,
        period: Span::from_secs(10),
        timeout: Span::from_secs(2),
        walk: 5,
        patience: 3,
        remember: 30,
        replacement: Replacement::Recommended,
        changes: Changes::Told,
        samples: 0,
    };

    /// Refuses values that cannot work together, or with views of `C` links and messages of `L`.
    pub(super) fn checked<const C: usize, const L: usize>(self) -> Result<Self, ConfigError> {
        if self.view == 0 || usize::from(self.view) > C {
            return Err(ConfigError::View);
        }
        if self.shuffle == 0 || self.shuffle > self.view || usize::from(self.shuffle) > L {
            return Err(ConfigError::Shuffle);
        }
        // Below one microsecond for each phase, there would be no phases.
        if self.period < Span::from_micros(u64::from(super::PHASES)) {
            return Err(ConfigError::ShortPeriod);
        }
        if self.timeout.is_zero() || self.timeout >= self.period {
            return Err(ConfigError::Timeout);
        }
        if self.patience == 0 || self.remember == 0 {
            return Err(ConfigError::ZeroCycles);
        }
        if usize::from(self.samples) > super::MOST_SAMPLES {
            return Err(ConfigError::Samples);
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
    View,
    /// A message has at least one link, no more than a view, and no more than its type has room for.
    Shuffle,
    /// The period is too short for nodes to begin at different times.
    ShortPeriod,
    /// The timeout is zero, or not shorter than the period.
    Timeout,
    /// The patience or `remember` is zero.
    ZeroCycles,
    /// There are more samples than there is room for.
    Samples,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::View => "the view has no links, or more than there is room for",
            Self::Shuffle => "a message has no links, or more than there is room for",
            Self::ShortPeriod => "the period is too short",
            Self::Timeout => "the timeout is zero or not shorter than the period",
            Self::ZeroCycles => "a number of cycles is zero",
            Self::Samples => "there are more samples than there is room for",
        })
    }
}

impl core::error::Error for ConfigError {}

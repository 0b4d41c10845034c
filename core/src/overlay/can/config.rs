use core::fmt;

use crate::time::Span;

/// Into how many parts a period is divided to let nodes begin at different times.
pub(super) const PHASES: u32 = 256;

/// The times and sizes of the overlay; nodes with different ones get along.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// How many of the dimensions, the last ones, are virtual: only drawn at random, to tell equal nodes apart.
    pub virtual_dimensions: u8,
    /// How long it is from one heartbeat to the next.
    pub period: Span,
    /// After how many periods without a word a neighbour is missed.
    pub patience: u8,
    /// How long a node waits at least until it claims what a missed one had, `T0`.
    pub grace: Span,
    /// How long it waits beyond that if the whole space were its own, `T1`; less by how much less it has.
    pub spread: Span,
    /// How long others have to object to a claim.
    pub confirmation: Span,
    /// For how many periods a node remembers who is gone.
    pub memory: u8,
    /// How long a node that wants to join waits for a zone.
    pub timeout: Span,
    /// How many hops a wish to join may take.
    pub hops: u16,
    /// Up to how many neighbours a node tells all of them who they are; with more, only its heirs, who need it when the node is gone.
    pub listed: u16,
    /// How often a node that is to leave asks its neighbours, twice or more in a period, until it goes all the same.
    pub farewell: u8,
}

impl Config {
    /// Heartbeats every ten seconds, as P4 has them; missed after three.
    pub const DEFAULT: Self = Self {
        virtual_dimensions: 1,
        period: Span::from_secs(10),
        patience: 3,
        grace: Span::from_secs(5),
        spread: Span::from_secs(10),
        confirmation: Span::from_secs(5),
        memory: 64,
        timeout: Span::from_secs(30),
        hops: 4096,
        listed: 16,
        farewell: 120,
    };

    /// Refuses values that cannot work together.
    pub(super) fn checked<const D: usize>(self) -> Result<Self, ConfigError> {
        if D == 0 || D > super::MOST_DIMENSIONS || usize::from(self.virtual_dimensions) > D {
            return Err(ConfigError::Dimensions);
        }
        // Below one microsecond for each phase, there would be no phases.
        if self.period < Span::from_micros(u64::from(PHASES)) {
            return Err(ConfigError::ShortPeriod);
        }
        let times = [self.confirmation, self.timeout];
        if times.iter().any(|time| time.is_zero()) || self.patience == 0 || self.hops == 0 {
            return Err(ConfigError::ZeroTime);
        }
        if self.memory <= self.patience {
            return Err(ConfigError::Memory);
        }
        Ok(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why there is no such node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// There are one to [`MOST_DIMENSIONS`](super::MOST_DIMENSIONS) dimensions, and no more that are virtual.
    Dimensions,
    /// The period is too short for nodes to begin at different times.
    ShortPeriod,
    /// Something would be done after no time.
    ZeroTime,
    /// The gone are remembered longer than it takes to miss them.
    Memory,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dimensions => "there are no or too many dimensions",
            Self::ShortPeriod => "the period is too short",
            Self::ZeroTime => "a time or a number of hops is zero",
            Self::Memory => "the gone are forgotten before they are missed",
        })
    }
}

impl core::error::Error for ConfigError {}

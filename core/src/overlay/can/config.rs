use core::fmt;

use crate::time::Span;

/// In how many parts a period is divided, so that nodes begin at different times.
pub(super) const PHASES: u32 = 256;

/// The times and limits of a node. Nodes with different ones work together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// How many of the dimensions, the last ones, are virtual: only drawn at random, to tell equal nodes apart.
    pub virtual_dimensions: u8,
    /// How long it is from one heartbeat to the next.
    pub period: Span,
    /// After how many silent periods a neighbour is missed.
    pub patience: u8,
    /// How long a node waits at least until it claims the zone of a missed node, `T0`.
    pub grace: Span,
    /// How much longer it waits if it owns the whole space, `T1`. With a smaller zone, it waits a smaller part of that.
    pub spread: Span,
    /// How long peers have to object to a claim.
    pub confirmation: Span,
    /// For how many periods a node remembers a gone peer.
    pub memory: u8,
    /// How long a joiner waits for a zone, and how long a promise to a leaver lasts.
    pub timeout: Span,
    /// How many hops a join request or a search may take.
    pub hops: u16,
    /// With at most this many neighbours, a node lists them to all of them; with more, only to its heirs.
    pub listed: u16,
    /// How often a leaver asks its neighbours, two to four times in a period, until it goes without agreement.
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

/// Why a node cannot be made with a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// There are no dimensions, more than [`MOST_DIMENSIONS`](super::MOST_DIMENSIONS), or fewer than virtual ones.
    Dimensions,
    /// The period is too short for nodes to begin at different times.
    ShortPeriod,
    /// `confirmation`, `timeout`, `patience` or `hops` is zero.
    ZeroTime,
    /// `memory` is not greater than `patience`: a gone peer would be forgotten too soon.
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

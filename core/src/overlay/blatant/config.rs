use core::fmt;

use super::{MOST_LINKS, MOST_RECORDS};
use crate::time::Span;

/// The times and sizes of the overlay. Nodes may have different values.
///
/// Parts of one are in thousandths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The diameter aimed at, `D`: two nodes are linked if they are `2 D - 1` or more apart.
    pub diameter: u8,
    /// A link is removed if there is another way of at most so many links, `T`.
    pub detour: u8,
    /// The most links of a node, `m`. Only joiners and repairs get links beyond.
    pub links: u8,
    /// The most links that serve to make ways shorter, `mo`.
    pub optimising: u8,
    /// The length of the table alpha: the neighbour lists that a node keeps of nodes beyond its neighbours.
    pub alpha: u8,
    /// How many nodes a node remembers as seen near or far; near is nearer than `2 D - 1`.
    pub sightings: u16,
    /// For how many iterations a node remembers that it saw another node near or far.
    pub sighted: u16,
    /// For how many iterations a node must seem far, and never near, before it is asked for a link.
    pub suspense: u8,
    /// How many links an ant walks along.
    pub lifespan: u8,
    /// How many nodes an ant remembers.
    pub memory: u8,
    /// The probability that a node sends out an ant in an iteration, in thousandths.
    pub birth: u16,
    /// What is left of a pheromone after an iteration, in thousandths.
    pub decay: u16,
    /// Below this much pheromone a neighbour is pinged, in thousandths.
    pub faint: u16,
    /// How many pings a neighbour may leave unanswered, and how many iterations without links pass before a node asks
    /// a contact.
    pub patience: u8,
    /// How often in a row full nodes may send a joiner on to a neighbour.
    pub detours: u8,
    /// How long an iteration takes.
    pub period: Span,
    /// How long a node waits for an answer about a link, and how long it holds links for the changes of other nodes.
    pub timeout: Span,
    /// How many iterations pass between two writes of the contacts, and how long a record of the table alpha lasts.
    pub remember: u16,
}

impl Config {
    /// The values of PROTOCOLS 4.1, with iterations of ten seconds.
    pub const DEFAULT: Self = Self {
        diameter: 5,
        detour: 5,
        links: 8,
        optimising: 6,
        alpha: 28,
        sightings: 512,
        sighted: 200,
        suspense: 40,
        lifespan: 25,
        memory: 15,
        birth: 50,
        decay: 900,
        faint: 250,
        patience: 3,
        detours: 4,
        period: Span::from_secs(10),
        timeout: Span::from_secs(30),
        remember: 30,
    };

    /// From what distance on two nodes are linked, `2 D - 1`.
    pub const fn far(&self) -> u16 {
        (self.diameter as u16).saturating_mul(2).saturating_sub(1)
    }

    /// Refuses values that cannot work together.
    pub(super) fn checked(self) -> Result<Self, ConfigError> {
        if self.diameter < 2 || self.detour < 2 || u16::from(self.detour) >= self.far() {
            return Err(ConfigError::Distances);
        }
        if self.links < 2 || usize::from(self.links) > MOST_LINKS || self.optimising > self.links {
            return Err(ConfigError::Links);
        }
        if self.memory == 0 || usize::from(self.memory) > MOST_RECORDS || self.lifespan == 0 {
            return Err(ConfigError::Ants);
        }
        if self.birth > 1000 || self.decay >= 1000 || self.faint == 0 || self.faint >= 1000 {
            return Err(ConfigError::Parts);
        }
        // Below one microsecond for each phase, there would be no phases.
        if self.period < Span::from_micros(u64::from(super::PHASES)) {
            return Err(ConfigError::ShortPeriod);
        }
        if self.timeout.is_zero() || self.patience == 0 || self.remember == 0 {
            return Err(ConfigError::ZeroTime);
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
    /// `D` and `T` are at least two and `T` less than `2 D - 1`: else links would come and go forever.
    Distances,
    /// [`Config::links`] is at least two and at most [`MOST_LINKS`], and [`Config::optimising`] is at most as many.
    Links,
    /// An ant remembers at least one node, no more than [`MOST_RECORDS`], and walks along at least one link.
    Ants,
    /// A value in thousandths is out of range.
    Parts,
    /// The period is too short for nodes to begin at different times.
    ShortPeriod,
    /// The timeout, the patience or `remember` is zero.
    ZeroTime,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Distances => "the distances do not let links come to rest",
            Self::Links => "there are too few or too many links",
            Self::Ants => "ants remember nothing or too much, or do not walk",
            Self::Parts => "a part of one is not between zero and one",
            Self::ShortPeriod => "the period is too short",
            Self::ZeroTime => "a timeout or a number of iterations is zero",
        })
    }
}

impl core::error::Error for ConfigError {}

use core::fmt;

use crate::time::Span;

/// The times and sizes of custody, the same on all nodes.
///
/// After a restart a home takes from here how long leases may last that an earlier life granted. So `lease` must not be made shorter
/// across a restart before all that were granted with the longer one are over: a job might run twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// For how long a holder may have a job without word from its home; asked for three times in that span.
    pub lease: Span,
    /// How far two clocks may be apart. Beyond that, a job may run twice.
    pub max_skew: Span,
    /// How long to wait for an answer before asking again.
    pub retry: Span,
    /// How often to ask again.
    pub retries: u8,
    /// How long a holder tries to tell of a job that ended.
    pub retention: Span,
    /// How long a search for somebody who takes a job may last.
    pub search: Span,
    /// How often such a search is begun before a job fails: when nobody is found, and when whoever had it is lost.
    pub rounds: u8,
    /// How long to wait after a search for nothing; twice as long after the next one.
    pub pause: Span,
    /// The most jobs that a node answers for.
    pub tasks: u32,
    /// The most jobs that a node has.
    pub held: u32,
    /// Whether a home may grant a job only as long as it is itself allowed to, see [`Command::Bound`](super::Command::Bound).
    pub bounded: bool,
}

impl Config {
    /// Ten minutes of lease, and some tries of three seconds each.
    pub const DEFAULT: Self = Self {
        lease: Span::from_secs(600),
        max_skew: Span::from_secs(1),
        retry: Span::from_secs(3),
        retries: 3,
        retention: Span::from_secs(86_400),
        search: Span::from_secs(30),
        rounds: 4,
        pause: Span::from_secs(10),
        tasks: 16_384,
        held: 1024,
        bounded: false,
    };

    /// Refuses values that cannot work together.
    pub(super) const fn checked(self) -> Result<Self, ConfigError> {
        if self.retry.is_zero() || self.search.is_zero() {
            return Err(ConfigError::ZeroTime);
        }
        // Else a lease ends while it is being renewed.
        if self.lease.as_micros() / 3 < self.retry.times(3).as_micros() {
            return Err(ConfigError::ShortLease);
        }
        // Else a job that has ended is let go of before its home is told so even once.
        if self.retention.as_micros() < self.retry.as_micros() {
            return Err(ConfigError::ShortRetention);
        }
        if self.rounds == 0 {
            return Err(ConfigError::NoRounds);
        }
        Ok(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why there is no such custody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// Answers and searches are waited for longer than zero.
    ZeroTime,
    /// A lease is at least nine times as long as the wait for an answer.
    ShortLease,
    /// An end is told at least as long as the wait for an answer.
    ShortRetention,
    /// Somebody is searched for at least once.
    NoRounds,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroTime => "answers and searches must be waited for longer than zero",
            Self::ShortLease => "a lease must be at least nine times as long as retry",
            Self::ShortRetention => "an end must be told for at least as long as retry",
            Self::NoRounds => "somebody must be searched for at least once",
        })
    }
}

impl core::error::Error for ConfigError {}

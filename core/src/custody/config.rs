use core::fmt;

use crate::time::Span;

/// The times and sizes of custody, the same on all nodes.
///
/// After a restart a home takes from here how long the leases of an earlier life may last. So do not shorten
/// [`lease`](Self::lease) across a restart before all leases with the longer value are over: a job might run twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// For how long a holder may have a job without a message from its home; renewed after a third of that.
    pub lease: Span,
    /// How far two clocks may be apart. Beyond that, a job may run twice.
    pub max_skew: Span,
    /// How long to wait for an answer before asking again.
    pub retry: Span,
    /// How often to ask again.
    pub retries: u8,
    /// How long a holder tries to tell of a job that ended.
    pub retention: Span,
    /// How long a search for a node that takes a job may last.
    pub search: Span,
    /// How many searches a job may have before it fails. One more begins when no node is found, or the holder is lost.
    pub rounds: u8,
    /// How long to wait after a search that found no node; the wait doubles each time.
    pub pause: Span,
    /// The most jobs that a node answers for.
    pub tasks: u32,
    /// The most jobs that a node has.
    pub held: u32,
    /// Whether a home may grant a job only within its own bound, see [`Command::Bound`](super::Command::Bound).
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
        // Else a holder forgets a job that has ended before the wait for its home's answer is over.
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

/// Why a configuration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// `retry` and `search` must be longer than zero.
    ZeroTime,
    /// [`Config::lease`] must be at least nine times as long as [`Config::retry`].
    ShortLease,
    /// `retention` must be at least as long as `retry`.
    ShortRetention,
    /// `rounds` must be at least one.
    NoRounds,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroTime => "answers and searches must be waited for longer than zero",
            Self::ShortLease => "a lease must be at least nine times as long as retry",
            Self::ShortRetention => "an end must be told for at least as long as retry",
            Self::NoRounds => "a holder must be searched for at least once",
        })
    }
}

impl core::error::Error for ConfigError {}

use crate::config::{ConfigError, Limits};
use crate::time::Span;

/// The times and sizes of custody, the same on all nodes.
///
/// After a restart a home takes from here how long the leases of an earlier life may last. So do not shorten
/// [`lease`](Self::lease) across a restart before all leases with the longer value are over: a job might run twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// For how long a holder may have a job without a message from its home; renewed after a third of that.
    pub lease: Span,
    /// How far two clocks may be apart, at most a third of the lease. Beyond that, a job may run twice.
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

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT). An answer may take fifteen round trips of
    /// 200 ms before it is asked for again. A home may be cut off for ten minutes without harm to its jobs.
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a round trip takes half a millisecond and time servers keep clocks within a few
    /// milliseconds of each other.
    ///
    /// The lease has nothing to do with round trips: a home may restart within it, and a job of a lost node begins
    /// again after it.
    pub const LAN: Self = Self {
        lease: Span::from_secs(120),
        // Ten times what time servers promise: a job that runs twice is worse than a longer wait.
        max_skew: Span::from_millis(100),
        // A node writes to its disk before it answers.
        retry: Span::from_millis(500),
        retries: 5,
        search: Span::from_secs(3),
        pause: Span::from_secs(2),
        ..Self::DEFAULT
    };

    /// Refuses values that cannot work together.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        Limits::new()
            .time("retry", self.retry)
            .more_than(0, "or messages are repeated without a pause")
            .time("lease", self.lease)
            .at_least(
                self.retry.times(9).as_micros(),
                "nine times retry: or a lease ends while it is renewed",
            )
            .time("max_skew", self.max_skew)
            .at_most(
                self.lease.as_micros() / 3,
                "a third of lease: or a lease is over before it is renewed",
            )
            .time("retention", self.retention)
            .at_least(
                self.retry.as_micros(),
                "retry: or an end is forgotten before its home can answer",
            )
            .time("search", self.search)
            .more_than(0, "or no node is found in time")
            .number("rounds", self.rounds as u64)
            .at_least(1, "or no node is searched for")
            .end(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

use crate::config::{ConfigError, Limits, Room};
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

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT): a path that is broken for half a minute costs
    /// no zone.
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a round trip takes half a millisecond. A node is missed after five seconds: longer
    /// than the pause of a busy computer.
    pub const LAN: Self = Self {
        period: Span::from_secs(1),
        patience: 5,
        grace: Span::from_millis(500),
        spread: Span::from_secs(1),
        confirmation: Span::from_millis(500),
        timeout: Span::from_secs(3),
        ..Self::DEFAULT
    };

    /// Refuses values that cannot work together, or in a space of `D` dimensions.
    pub const fn checked<const D: usize>(self) -> Result<Self, ConfigError> {
        self.fitting(Room::new(D, "the parameter D of Can<D>"))
    }

    /// The same for a space inside another machine, which calls the parameter by its own name.
    pub(crate) const fn fitting(self, dimensions: Room) -> Result<Self, ConfigError> {
        Limits::new()
            .number("virtual_dimensions", self.virtual_dimensions as u64)
            .fits(dimensions)
            .time("period", self.period)
            .at_least(PHASES as u64, "or all nodes begin at once")
            .number("patience", self.patience as u64)
            .at_least(1, "or every neighbour is missed")
            .time("confirmation", self.confirmation)
            .more_than(0, "or no peer can object")
            .number("memory", self.memory as u64)
            .more_than(
                self.patience as u64,
                "patience: or a gone peer is forgotten before it is missed",
            )
            .time("timeout", self.timeout)
            .more_than(0, "or no zone arrives in time")
            .number("hops", self.hops as u64)
            .at_least(1, "or no request reaches another node")
            .end(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

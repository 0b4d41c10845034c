use crate::config::{ConfigError, Limits, Room};
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

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT).
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network: the times of [`cyclon::Config::LAN`](crate::overlay::cyclon::Config::LAN).
    pub const LAN: Self = Self {
        period: Span::from_secs(1),
        timeout: Span::from_millis(200),
        ..Self::DEFAULT
    };

    /// Refuses values that cannot work together, or with views of `V` links and messages of `G` descriptors.
    pub const fn checked<const V: usize, const G: usize>(self) -> Result<Self, ConfigError> {
        self.fitting(
            Room::new(V, "the parameter V of Vicinity<P, D, V, G, R>"),
            Room::new(G, "the parameter G of Vicinity<P, D, V, G, R>"),
        )
    }

    /// The same for an overlay inside another machine, which calls the parameters by its own names.
    pub(crate) const fn fitting(self, links: Room, gossip: Room) -> Result<Self, ConfigError> {
        Limits::new()
            .number("links", self.links as u64)
            .at_least(1, "or the node has no links")
            .fits(links)
            .number("gossip", self.gossip as u64)
            .at_least(1, "the node's own descriptor")
            .fits(gossip)
            .time("period", self.period)
            .at_least(super::PHASES as u64, "or all nodes begin at once")
            .time("timeout", self.timeout)
            .more_than(0, "or no answer arrives in time")
            .less_than(self.period.as_micros(), "period")
            .number("max_age", self.max_age as u64)
            .at_least(1, "or every descriptor is too old")
            .end(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

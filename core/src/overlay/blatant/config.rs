use super::{MOST_LINKS, MOST_RECORDS};
use crate::config::{ConfigError, Limits};
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

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT).
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a round trip takes half a millisecond: iterations of one second.
    pub const LAN: Self = Self {
        period: Span::from_secs(1),
        timeout: Span::from_secs(3),
        // Every five minutes, as often as elsewhere.
        remember: 300,
        ..Self::DEFAULT
    };

    /// From what distance on two nodes are linked, `2 D - 1`.
    pub const fn far(&self) -> u16 {
        (self.diameter as u16).saturating_mul(2).saturating_sub(1)
    }

    /// The most ants that a node sends on in an iteration: 64, and four times as many as come to a node on average.
    pub(super) fn most_ants(&self) -> u32 {
        let links = u32::from(self.lifespan).saturating_mul(u32::from(self.birth));
        let four_times = links.saturating_mul(4).checked_div(1000);
        four_times.unwrap_or(0).saturating_add(64)
    }

    /// Refuses values that cannot work together.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        Limits::new()
            .number("diameter", self.diameter as u64)
            .at_least(2, "or all nodes are linked to all others")
            .number("detour", self.detour as u64)
            .at_least(2, "the shortest way around a link")
            .less_than(
                self.far() as u64,
                "2 diameter - 1: or links come and go for ever",
            )
            .number("links", self.links as u64)
            .at_least(2, "or the overlay falls apart")
            .at_most(MOST_LINKS as u64, "MOST_LINKS")
            .number("optimising", self.optimising as u64)
            .at_most(self.links as u64, "links")
            .number("lifespan", self.lifespan as u64)
            .at_least(1, "or ants do not walk")
            .number("memory", self.memory as u64)
            .at_least(1, "or ants bring nothing")
            .at_most(MOST_RECORDS as u64, "MOST_RECORDS")
            .number("birth", self.birth as u64)
            .at_most(1000, "thousandths of one")
            .number("decay", self.decay as u64)
            .less_than(1000, "thousandths of one: or no pheromone fades")
            .number("faint", self.faint as u64)
            .at_least(1, "or no neighbour is pinged")
            .less_than(
                1000,
                "thousandths of one: or every neighbour is pinged all the time",
            )
            .number("patience", self.patience as u64)
            .at_least(1, "or a neighbour is lost before it can answer")
            .time("period", self.period)
            .at_least(super::PHASES as u64, "or all nodes begin at once")
            .time("timeout", self.timeout)
            .more_than(0, "or no answer arrives in time")
            .number("remember", self.remember as u64)
            .at_least(1, "or contacts are written all the time")
            .end(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

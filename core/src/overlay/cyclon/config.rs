use crate::config::{ConfigError, Limits, Room};
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

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT). A round trip takes up to 200 ms, so ten of them
    /// fit into the timeout.
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a round trip takes half a millisecond. A lost neighbour is replaced ten times as
    /// soon: exchanges are a second apart, and cost little. The timeout is longer than the pause of a busy computer.
    pub const LAN: Self = Self {
        period: Span::from_secs(1),
        timeout: Span::from_millis(200),
        // Every five minutes, as often as elsewhere.
        remember: 300,
        ..Self::DEFAULT
    };

    /// Refuses values that cannot work together, or with views of `C` links and messages of `L`.
    pub const fn checked<const C: usize, const L: usize>(self) -> Result<Self, ConfigError> {
        self.fitting(
            Room::new(C, "the parameter C of Cyclon<C, L>"),
            Room::new(L, "the parameter L of Cyclon<C, L>"),
        )
    }

    /// The same for an overlay inside another machine, which calls the parameters by its own names.
    pub(crate) const fn fitting(self, view: Room, shuffle: Room) -> Result<Self, ConfigError> {
        Limits::new()
            .number("view", self.view as u64)
            .at_least(1, "or the node has no links")
            .fits(view)
            .number("shuffle", self.shuffle as u64)
            .at_least(1, "or nothing is exchanged")
            .at_most(self.view as u64, "view")
            .fits(shuffle)
            .time("period", self.period)
            .at_least(super::PHASES as u64, "or all nodes begin at once")
            .time("timeout", self.timeout)
            .more_than(0, "or no answer arrives in time")
            .less_than(self.period.as_micros(), "period")
            .number("patience", self.patience as u64)
            .at_least(1, "or a node asks for links before it can have any")
            .number("remember", self.remember as u64)
            .at_least(1, "or contacts are written all the time")
            .number("samples", self.samples as u64)
            .at_most(super::MOST_SAMPLES as u64, "MOST_SAMPLES")
            .end(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

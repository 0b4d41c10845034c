use super::links::{SHUFFLE, VIEW};
use crate::config::{ConfigError, Limits, Room};
use crate::custody;
use crate::overlay::flood::Reach;
use crate::overlay::{blatant, cyclon};
use crate::queue::Lateness;
use crate::time::Span;

/// The rules of the scheduler, the same on all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The overlay over which floods go.
    pub overlay: Overlay,
    /// How far the REQUEST for a first site is flooded.
    pub request: Reach,
    /// How far the INFORM about a waiting job is flooded.
    pub inform: Reach,
    /// Which nodes pass a flood on (PROTOCOLS A1).
    pub forward: Forward,
    /// How long offers are collected: at least the time of a message to the farthest node and back (PROTOCOLS A3).
    pub window: Span,
    /// Whether a site that advertises a job waits for all offers (PROTOCOLS A13).
    pub taking: Taking,
    /// Which jobs that it is given a site takes (PROTOCOLS A15).
    pub gifts: Gifts,
    /// How many rounds of asking for offers a job has: after a round without offers or a lost holder (PROTOCOLS A4).
    pub rounds: u8,
    /// How long to wait after a round without offers; doubled after each further one.
    pub pause: Span,
    /// How waiting jobs are moved; `None`: they are not.
    pub rescheduling: Option<Rescheduling>,
    /// How lateness is counted for jobs with deadlines (PROTOCOLS A9).
    pub lateness: Lateness,
    /// How long a site may have a job without word from its home; a site asks three times in that span.
    pub lease: Span,
    /// The largest difference of two clocks, at most a third of the lease. If it is larger, a job may run twice.
    pub max_skew: Span,
    /// How long to wait for an answer before asking again.
    pub retry: Span,
    /// How often to ask again.
    pub retries: u8,
    /// How long a site tries to report the end of a job.
    pub retention: Span,
    /// The longest expected delay of a message over one hop.
    pub max_delay: Span,
    /// The most jobs of which a node is the home.
    pub tasks: u16,
    /// The most jobs that a site holds.
    pub held: u16,
    /// The most floods that a node remembers.
    pub floods: u16,
}

/// The overlay over which floods go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overlay {
    /// BLATANT-S, as in the paper: ants lay links.
    Blatant(blatant::Config),
    /// Cyclon: nodes exchange random views.
    Cyclon(cyclon::Config),
    /// A node keeps the links with which it starts.
    Fixed,
}

impl Overlay {
    /// Refuses a configuration that the overlay refuses.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        let links = Limits::new();
        let links = match self {
            Self::Blatant(config) => links.part("Blatant", &config.checked()),
            Self::Cyclon(config) => {
                let view = Room::new(VIEW, "the most links of a site over Cyclon");
                let shuffle = Room::new(SHUFFLE, "the most links in a message of aria");
                links.part("Cyclon", &config.fitting(view, shuffle))
            }
            Self::Fixed => links,
        };
        links.end(self)
    }
}

/// Which nodes pass a flood on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Forward {
    /// Nodes that do not match the job, as in the paper. If all neighbours of a submitter match, it asks no others.
    Unmatched,
    /// Nodes that do not match, and matching nodes up to this number of hops. If all neighbours of a submitter match, a
    /// few more nodes are asked; if all nodes match, the flood does not reach all of them.
    Near(u8),
    /// The same as [`Near`](Self::Near), and up to a larger number of hops also matching nodes at which the job would
    /// have to wait. So a busy grid is asked more widely than an idle one.
    Wide {
        /// Up to how many hops all nodes pass a flood on.
        near: u8,
        /// Up to how many hops busy nodes pass it on.
        busy: u8,
    },
    /// All nodes pass every flood on.
    Always,
}

/// Whether a site that advertises a job waits for all offers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Taking {
    /// The site waits for all offers and takes the best.
    Best,
    /// The site takes the first offer that is better.
    First,
}

/// Which jobs that it is given a site takes, if it could run them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gifts {
    /// All of them, as in the paper, even if other jobs have come since the site made its offer.
    All,
    /// Those that it can end no later than it offered, give or take the window. Any other job goes to the next best offer,
    /// or stays where it waits. A job that three sites refused is taken by the next one.
    AsOffered,
}

/// Which waiting jobs a site advertises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Adverts {
    /// The jobs most in need, as in the paper: those with the least time to spare, then those that wait longest. A job
    /// that no other site wants is advertised again in each period, and keeps the jobs behind it from being advertised.
    Neediest,
    /// The jobs that may gain the threshold by a move: those that would still wait so long. A job that no site wanted is
    /// advertised again when it is expected to end later by the threshold, or after a pause that doubles each time. The
    /// jobs that were advertised least recently come first. In a long queue more jobs are advertised at a time: an eighth.
    Promising,
}

/// How jobs that wait are moved (P3 III-D).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rescheduling {
    /// How often a site advertises.
    pub period: Span,
    /// The most jobs that are advertised at a time (PROTOCOLS A14).
    pub jobs: u8,
    /// Which of the waiting jobs are advertised.
    pub adverts: Adverts,
    /// By how much the cost at another site must be less (PROTOCOLS A12).
    pub threshold: Span,
}

impl Rescheduling {
    /// P3's baseline: two jobs every five minutes, for a gain of three.
    pub const PAPER: Self = Self {
        period: Span::from_secs(300),
        jobs: 2,
        adverts: Adverts::Neediest,
        threshold: Span::from_secs(180),
    };

    /// The same, but a job is advertised only where it may gain, and again only where it may gain since the last time.
    pub const DEFAULT: Self = Self {
        adverts: Adverts::Promising,
        ..Self::PAPER
    };
}

impl Config {
    /// P3's baseline, with the values of PROTOCOLS where it is silent.
    pub const PAPER: Self = Self {
        overlay: Overlay::Blatant(blatant::Config::DEFAULT),
        request: Reach::REQUEST,
        inform: Reach::INFORM,
        forward: Forward::Unmatched,
        window: Span::from_secs(5),
        taking: Taking::Best,
        gifts: Gifts::All,
        rounds: 4,
        pause: Span::from_secs(10),
        rescheduling: Some(Rescheduling::PAPER),
        lateness: Lateness::Literal,
        lease: Span::from_secs(600),
        max_skew: Span::from_secs(1),
        retry: Span::from_secs(3),
        retries: 3,
        retention: Span::from_secs(86_400),
        max_delay: Span::from_millis(250),
        tasks: 1024,
        held: 1024,
        floods: 4096,
    };

    /// The paper's baseline with rules of our own: nodes close to the submitter pass all floods on, and busy ones a hop
    /// farther; sites keep to what they offer, a job with a deadline costs the lateness that it adds, and only jobs that
    /// may gain are advertised.
    pub const DEFAULT: Self = Self {
        forward: Forward::Wide { near: 2, busy: 3 },
        gifts: Gifts::AsOffered,
        rescheduling: Some(Rescheduling::DEFAULT),
        lateness: Lateness::Marginal,
        ..Self::PAPER
    };

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT). A hop takes up to 100 ms, and 250 ms when links
    /// are busy. A flood takes nine hops, and its offers come back within nine: 4.5 s, less than the window. The leases
    /// are those of [`custody::Config::WAN`].
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a hop takes a quarter of a millisecond, and 50 ms if a computer is busy. So offers
    /// are complete after a second. The leases are those of [`custody::Config::LAN`]. How often jobs are advertised,
    /// and for what gain, depends on the lengths of jobs and not on the network: it stays P3's.
    pub const LAN: Self = Self {
        overlay: Overlay::Blatant(blatant::Config::LAN),
        window: Span::from_secs(1),
        pause: custody::Config::LAN.pause,
        lease: custody::Config::LAN.lease,
        max_skew: custody::Config::LAN.max_skew,
        retry: custody::Config::LAN.retry,
        retries: custody::Config::LAN.retries,
        max_delay: Span::from_millis(50),
        ..Self::DEFAULT
    };

    /// The rules by which a job has one holder at a time.
    pub(super) const fn custody(&self) -> custody::Config {
        custody::Config {
            lease: self.lease,
            max_skew: self.max_skew,
            retry: self.retry,
            retries: self.retries,
            retention: self.retention,
            // Longer than the window for offers, so that the window ends a search.
            search: self.window.times(2),
            rounds: self.rounds,
            pause: self.pause,
            tasks: self.tasks as u32,
            held: self.held as u32,
            bounded: false,
        }
    }

    /// The reach of the kind of flood that goes farther.
    pub(super) const fn farthest(&self) -> Reach {
        if self.request.ttl >= self.inform.ttl {
            self.request
        } else {
            self.inform
        }
    }

    /// Refuses values that cannot work together.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        let farthest = self.farthest().ttl as u64;
        let limits = Limits::new()
            .part("overlay", &self.overlay.checked())
            .time("window", self.window)
            .more_than(0, "or no offer arrives in time")
            .at_least(
                self.max_delay.times(farthest.saturating_mul(2)).as_micros(),
                "twice the hops of a flood times max_delay: or the farthest offers come too late",
            );
        let limits = match self.rescheduling {
            None => limits,
            Some(rescheduling) => limits
                .time("rescheduling.period", rescheduling.period)
                .more_than(
                    self.window.as_micros(),
                    "window: or a job is advertised again while offers come",
                )
                .number("rescheduling.jobs", rescheduling.jobs as u64)
                .at_least(1, "or no job is advertised"),
        };
        let limits = match farthest {
            0 | 1 => limits,
            _ => limits
                .number("floods", self.floods as u64)
                .at_least(1, "or a node passes a flood on whenever it comes back"),
        };
        match (limits.end(self), self.custody().checked()) {
            (Ok(_), Err(error)) => Err(error),
            (checked, _) => checked,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

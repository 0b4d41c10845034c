use core::fmt;

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
    /// The largest difference of two clocks. If it is larger, a job may run twice.
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

/// Which nodes pass a flood on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Forward {
    /// Nodes that do not match the job, as in the paper. If all neighbours of a submitter match, it asks no others.
    Unmatched,
    /// Nodes that do not match, and matching nodes up to this number of hops. If all neighbours of a submitter match, a
    /// few more nodes are asked; if all nodes match, the flood does not reach all of them.
    Near(u8),
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

/// How jobs that wait are moved (P3 III-D).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rescheduling {
    /// How often a site advertises.
    pub period: Span,
    /// The most jobs that are advertised at a time (PROTOCOLS A14).
    pub jobs: u8,
    /// By how much the cost at another site must be less (PROTOCOLS A12).
    pub threshold: Span,
}

impl Rescheduling {
    /// P3's baseline: two jobs every five minutes, for a gain of three.
    pub const PAPER: Self = Self {
        period: Span::from_secs(300),
        jobs: 2,
        threshold: Span::from_secs(180),
    };
}

impl Config {
    /// P3's baseline, with the values of PROTOCOLS where it is silent.
    pub const DEFAULT: Self = Self {
        overlay: Overlay::Blatant(blatant::Config::DEFAULT),
        request: Reach::REQUEST,
        inform: Reach::INFORM,
        forward: Forward::Unmatched,
        window: Span::from_secs(5),
        taking: Taking::Best,
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

    /// The rules by which a job has one holder at a time.
    pub(super) fn custody(&self) -> custody::Config {
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
            tasks: self.tasks.into(),
            held: self.held.into(),
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
    pub(super) const fn checked(self) -> Result<Self, ConfigError> {
        if let Some(rescheduling) = self.rescheduling
            && (rescheduling.period.as_micros() <= self.window.as_micros()
                || rescheduling.jobs == 0)
        {
            return Err(ConfigError::Rescheduling);
        }
        // Else offers of the farthest nodes, and of nodes behind a slow link, come too late (PROTOCOLS A3).
        let there_and_back = (self.farthest().ttl as u64).saturating_mul(2);
        if self.window.as_micros() < self.max_delay.times(there_and_back).as_micros() {
            return Err(ConfigError::ShortWindow);
        }
        Ok(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why a node cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The period between adverts must be longer than the window for offers, with at least one job at a time.
    Rescheduling,
    /// The window for offers must be at least twice the hops of a flood times the longest delay.
    ShortWindow,
    /// Custody refuses its configuration, for example because the window for offers is zero.
    Custody(custody::ConfigError),
    /// The BLATANT-S overlay refuses its configuration.
    Blatant(blatant::ConfigError),
    /// The Cyclon overlay refuses its configuration.
    Cyclon(cyclon::ConfigError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rescheduling => {
                "jobs must be advertised less often than offers are collected, at least one at a time"
            }
            Self::ShortWindow => {
                "offers must be waited for at least twice the hops of a flood times the longest delay"
            }
            Self::Custody(error) => return error.fmt(f),
            Self::Blatant(error) => return error.fmt(f),
            Self::Cyclon(error) => return error.fmt(f),
        })
    }
}

impl core::error::Error for ConfigError {}

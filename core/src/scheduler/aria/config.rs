use core::fmt;

use crate::custody;
use crate::overlay::flood::Reach;
use crate::overlay::{blatant, cyclon};
use crate::queue::Lateness;
use crate::time::Span;

/// The rules of the scheduler, the same on all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// What keeps nodes in touch.
    pub overlay: Overlay,
    /// How far the search for a first site goes.
    pub request: Reach,
    /// How far the news of a job that waits goes.
    pub inform: Reach,
    /// Who passes a message on (PROTOCOLS A1).
    pub forward: Forward,
    /// How long offers are waited for: at least as long as a message may take to the farthest node and back (PROTOCOLS A3).
    pub window: Span,
    /// Whether a site that advertises a job waits for all offers (PROTOCOLS A13).
    pub taking: Taking,
    /// How often offers are asked for before a job fails: when there are none, and when whoever had it is lost (PROTOCOLS A4).
    pub rounds: u8,
    /// How long to wait after a round without offers; twice as long after the next one.
    pub pause: Span,
    /// Whether jobs that wait are moved, and which.
    pub rescheduling: Option<Rescheduling>,
    /// How lateness is counted for jobs with deadlines (PROTOCOLS A9).
    pub lateness: Lateness,
    /// For how long a site may have a job without word from its initiator; asked for three times in that span.
    pub lease: Span,
    /// How far two clocks may be apart. Beyond that, a job may run twice.
    pub max_skew: Span,
    /// How long to wait for an answer before asking again.
    pub retry: Span,
    /// How often to ask again.
    pub retries: u8,
    /// How long a site tries to tell of a job that ended.
    pub retention: Span,
    /// The longest that a message is expected to travel one hop.
    pub max_delay: Span,
    /// The most jobs that a node sees to as their initiator.
    pub tasks: u16,
    /// The most jobs that a site has.
    pub held: u16,
    /// The most floods that a node remembers.
    pub floods: u16,
}

/// What keeps nodes in touch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overlay {
    /// Ants that lay links, as in the paper.
    Blatant(blatant::Config),
    /// Random views that are exchanged.
    Cyclon(cyclon::Config),
    /// The links that a node begins with stay.
    Fixed,
}

/// Who passes a message on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Forward {
    /// Those that it is not meant for, as in the paper. If all neighbours of a node match a job, it asks no others.
    Unmatched,
    /// Those, and the others as long as it has taken at most so many hops. So a node whose neighbours all match asks a few more than them,
    /// and one where all nodes match does not ask everyone.
    Near(u8),
    /// Everyone.
    Always,
}

/// Whether a site that advertises a job waits for all offers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Taking {
    /// It does, and takes the best.
    Best,
    /// The first one that is better has it.
    First,
}

/// How jobs that wait are moved (P3 III-D).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rescheduling {
    /// How often a site advertises.
    pub period: Span,
    /// At most how many jobs at a time (PROTOCOLS A14).
    pub jobs: u8,
    /// By how much another site must be better (PROTOCOLS A12).
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
            // Longer than offers are waited for, so that it is the window that ends a search.
            search: self.window.times(2),
            rounds: self.rounds,
            pause: self.pause,
            tasks: self.tasks.into(),
            held: self.held.into(),
            bounded: false,
        }
    }

    /// Of the two sorts of floods, that which goes farther.
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
        // Else the farthest who hear of a job, and those beyond a slow link, are heard too late (PROTOCOLS A3).
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

/// Why there is no such node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// Jobs are advertised less often than offers are collected, and at least one at a time.
    Rescheduling,
    /// Offers are waited for at least as long as a flood may take to the farthest node and back: twice its hops times the longest delay.
    ShortWindow,
    /// It cannot be decided who has a job, or offers are not waited for.
    Custody(custody::ConfigError),
    /// The ants are misconfigured.
    Blatant(blatant::ConfigError),
    /// The gossip is misconfigured.
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

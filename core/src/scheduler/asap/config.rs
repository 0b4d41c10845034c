use core::fmt;

use crate::commit;
use crate::overlay::cyclon;
use crate::scheduler::desk;
use crate::time::{Span, Time};

/// The rules of the scheduler, the same on all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The overlay. Changes in the view are looked for, so nobody needs to be told of them.
    pub overlay: cyclon::Config,
    /// Whether views change.
    pub links: Links,
    /// How nodes know the schedules of those in their view.
    pub exchange: Exchange,
    /// How many nodes of the view search for a place; `fwd` in the paper (PROTOCOLS D12).
    pub forward: u8,
    /// How many steps away from the one who searches a node may be. With two, a job that wants more nodes than that
    /// is refused, as in the paper; with more, rings are added until there are enough, or nobody new (PROTOCOLS D1).
    pub max_hops: u8,
    /// How many candidates a search wants for each node that is wanted before it puts the job off; while there are fewer, rings
    /// are added as far as `max_hops` allows. The paper is content with one. With few more, a large job waits for almost
    /// every node that was seen, and all others wait with it.
    pub breadth: u8,
    /// How many nodes are asked at once whom they know: one after another in the paper (PROTOCOLS D3).
    pub width: u8,
    /// Whether who searches is among the candidates (PROTOCOLS D2).
    pub searcher: Searcher,
    /// Which of the free nodes are taken if there are more than needed (PROTOCOLS D4).
    pub choice: Choice,
    /// Jobs start at multiples of this and get multiples of it (PROTOCOLS D5).
    pub slot: Span,
    /// How long before its start a job must be found a place; a slot or more when messages take time (PROTOCOLS D6).
    pub lead: Span,
    /// How much later than its earliest start a job may start. Who offers a later place has nothing to offer: else a liar could have a
    /// job wait for ever.
    pub horizon: Span,
    /// How often a place is searched for before a job fails (PROTOCOLS D11).
    pub rounds: u8,
    /// How often a better place is searched for a job that has one, while it waits. Never in the paper; but where run times
    /// are estimates, time comes free that nobody could count on.
    pub improve: Option<Span>,
    /// How long to wait for one answer (PROTOCOLS D13).
    pub timeout: Span,
    /// How long a search may take; what it knows by then has to do.
    pub search_limit: Span,
    /// How places are confirmed.
    pub commit: commit::Config,
    /// What becomes of a job that ran when one of its nodes was lost.
    pub after_loss: commit::AfterLoss,
    /// The most windows of a schedule that is sent; what lies behind them counts as busy.
    pub windows: u16,
    /// The most nodes that are told of changes.
    pub subscribers: u16,
    /// The most searches at once, of which one asker may have half.
    pub searches: u16,
    /// The most nodes that a search looks at.
    pub candidates: u16,
}

/// Whether views change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Links {
    /// Gossip goes on all the time.
    Dynamic,
    /// The views that a node starts with stay.
    Static,
}

/// How nodes know the schedules of those in their view (P1 section III-C).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Exchange {
    /// A node tells all who have subscribed whenever its schedule changes (PROTOCOLS D7).
    Push {
        /// For how long a subscription lasts; it is renewed three times in that span.
        lease: Span,
    },
    /// A node asks whenever it searches, and so does each whom it asks for more (PROTOCOLS D9).
    Pull,
    /// A node asks from time to time; what it knows may be old (PROTOCOLS D10).
    Poll {
        /// How often.
        period: Span,
    },
}

/// Whether who searches is among the candidates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Searcher {
    /// It is, so that a grid of one node works.
    Included,
    /// Only those it knows are, as in the paper.
    Excluded,
}

/// Which of the free nodes are taken if there are more than needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// The first that were discovered.
    Nearest,
    /// Those where the job leaves the least idle time around it.
    BestFit,
}

impl Config {
    /// Sensible values for a wide-area network.
    pub const DEFAULT: Self = Self {
        overlay: cyclon::Config {
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::DEFAULT
        },
        links: Links::Dynamic,
        exchange: Exchange::Push {
            lease: Span::from_secs(30),
        },
        forward: 5,
        max_hops: u8::MAX,
        breadth: 8,
        width: 1,
        searcher: Searcher::Included,
        choice: Choice::Nearest,
        slot: Span::from_secs(60),
        lead: Span::from_secs(60),
        horizon: Span::from_secs(365 * 86_400),
        rounds: 4,
        improve: None,
        timeout: Span::from_secs(2),
        search_limit: Span::from_secs(20),
        commit: commit::Config::DEFAULT,
        after_loss: commit::AfterLoss::Restart,
        windows: 128,
        subscribers: 256,
        searches: 64,
        candidates: 4096,
    };

    /// The paper's values, for a network without delay: two hops, nobody offers itself, and one fresh search.
    pub const PAPER: Self = Self {
        max_hops: 2,
        breadth: 1,
        searcher: Searcher::Excluded,
        lead: Span::ZERO,
        rounds: 2,
        commit: commit::Config {
            lead: Span::ZERO,
            ..commit::Config::DEFAULT
        },
        ..Self::DEFAULT
    };

    /// Refuses values that cannot work together.
    pub(super) fn checked(mut self) -> Result<Self, ConfigError> {
        // What started and was lost is searched a new place for, which is not the coordinator's to do.
        self.commit.after_loss = commit::AfterLoss::GiveUp;
        self.commit = self.commit.checked().map_err(ConfigError::Commit)?;
        self.overlay.changes = cyclon::Changes::Untold;
        let some = [
            self.forward,
            self.max_hops,
            self.breadth,
            self.width,
            self.rounds,
        ];
        let limits = [
            self.windows,
            self.subscribers,
            self.searches,
            self.candidates,
        ];
        if some.contains(&0) || limits.contains(&0) {
            return Err(ConfigError::ZeroLimit);
        }
        if self.slot.is_zero() {
            return Err(ConfigError::ZeroSlot);
        }
        if self.lead < self.commit.lead {
            return Err(ConfigError::ShortLead);
        }
        if let commit::Overrun::Extend { by, .. } = self.commit.overrun
            && by.round_up(self.slot) != by
        {
            return Err(ConfigError::PartOfSlot);
        }
        if self.timeout.is_zero() || self.search_limit < self.timeout {
            return Err(ConfigError::Timeout);
        }
        if self.improve == Some(Span::ZERO) {
            return Err(ConfigError::ShortPeriod);
        }
        match self.exchange {
            Exchange::Push { lease } if lease < Span::from_micros(3) => {
                Err(ConfigError::ShortPeriod)
            }
            Exchange::Poll { period } if period.is_zero() => Err(ConfigError::ShortPeriod),
            _ => Ok(self),
        }
    }

    /// What its desk goes by.
    pub(super) fn desk(&self) -> desk::Config {
        desk::Config {
            rounds: self.rounds,
            after_loss: self.after_loss,
            commit: self.commit,
        }
    }

    /// The earliest start of a job for which a place is searched now.
    pub(super) fn earliest(&self, now: Time) -> Time {
        (now + self.lead).round_up(self.slot)
    }

    /// How long to wait for those who search. Who pulls asks its neighbours for their schedules before it begins.
    pub(super) fn answers_by(&self, now: Time) -> Time {
        now + self.search_limit + self.names_others_in()
    }

    /// How long to wait for one who is asked whom it knows. Who pulls waits for its neighbours meanwhile.
    pub(super) fn names_others_in(&self) -> Span {
        match self.exchange {
            Exchange::Pull => self.timeout.times(2),
            Exchange::Push { .. } | Exchange::Poll { .. } => self.timeout,
        }
    }

    /// How often subscriptions are renewed, or neighbours are asked.
    pub(super) fn beat(&self) -> Option<Span> {
        match self.exchange {
            Exchange::Push { lease: Span::MAX } | Exchange::Pull => None,
            Exchange::Push { lease } => Some(Span::from_micros(lease.as_micros() / 3)),
            Exchange::Poll { period } => Some(period),
        }
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
    /// The overlay cannot be so.
    Overlay(cyclon::ConfigError),
    /// Places cannot be confirmed so.
    Commit(commit::ConfigError),
    /// Nothing could ever be found.
    ZeroLimit,
    /// A slot takes no time.
    ZeroSlot,
    /// Jobs that run longer would get a part of a slot.
    PartOfSlot,
    /// A static overlay is laid out by hand; nobody can join it.
    StaticJoin,
    /// A place would be found later than it can be confirmed.
    ShortLead,
    /// A search would be over before the first answer.
    Timeout,
    /// There is no time to renew a subscription, to poll, or between two searches for a better place.
    ShortPeriod,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overlay(error) => return fmt::Display::fmt(error, f),
            Self::Commit(error) => return fmt::Display::fmt(error, f),
            Self::ZeroLimit => "a limit is zero",
            Self::ZeroSlot => "a slot is zero",
            Self::PartOfSlot => "the time by which jobs are extended is no whole number of slots",
            Self::StaticJoin => "nobody can join a static overlay",
            Self::ShortLead => "the lead is shorter than that of the commit",
            Self::Timeout => "the timeout is zero, or longer than a search",
            Self::ShortPeriod => {
                "the lease of a subscription or the period of polling or improving is too short"
            }
        })
    }
}

impl core::error::Error for ConfigError {}

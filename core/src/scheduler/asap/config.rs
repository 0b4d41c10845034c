use core::fmt;

use crate::commit;
use crate::overlay::cyclon;
use crate::scheduler::desk;
use crate::time::{Span, Time};

/// The rules of the scheduler, the same on all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The overlay. `changes` is always [`Untold`](cyclon::Changes::Untold): the scheduler compares views
    /// itself.
    pub overlay: cyclon::Config,
    /// Whether gossip changes the views.
    pub links: Links,
    /// How a node gets the schedules of its neighbours.
    pub exchange: Exchange,
    /// How many neighbours of the submitter search for a placement; `fwd` in the paper (PROTOCOLS D12).
    pub forward: u8,
    /// How many hops a candidate may be away from the searcher (PROTOCOLS D1). With two, a job that wants more nodes is
    /// refused, as in the paper; with more, rings are added until there are enough candidates, or no new ones.
    pub max_hops: u8,
    /// How many candidates for each wanted node a search collects before it puts the job off, as far as `max_hops`
    /// allows. The paper collects one. With only a few, a large job waits for almost every node that was seen, and all
    /// other jobs wait with it.
    pub breadth: u8,
    /// How many nodes are asked for their neighbours at the same time; one in the paper (PROTOCOLS D3).
    pub width: u8,
    /// Whether the searcher itself is a candidate (PROTOCOLS D2).
    pub searcher: Searcher,
    /// Which of the free nodes are taken if there are more than needed (PROTOCOLS D4).
    pub choice: Choice,
    /// Jobs start at multiples of this and get multiples of it (PROTOCOLS D5).
    pub slot: Span,
    /// The least time between a search and the start of the job; a slot or more when messages take time (PROTOCOLS D6).
    pub lead: Span,
    /// How much later than its earliest start a job may start. The submitter drops later offers: else a liar could make
    /// a job wait for ever.
    pub horizon: Span,
    /// How many searches for a placement are made before a job fails (PROTOCOLS D11).
    pub rounds: u8,
    /// The time between two searches for a better placement of a waiting job; `None` in the paper: no such search. Jobs
    /// that end before their estimate free time that no earlier search could count on.
    pub improve: Option<Span>,
    /// How long to wait for one answer (PROTOCOLS D13).
    pub timeout: Span,
    /// How long a search may take. At that limit it answers with what it knows.
    pub search_limit: Span,
    /// How placements are confirmed.
    pub commit: commit::Config,
    /// What becomes of a job that ran when one of its nodes was lost.
    pub after_loss: commit::AfterLoss,
    /// The most busy windows of a schedule that is sent; all time after them counts as busy.
    pub windows: u16,
    /// The most subscribers of one node.
    pub subscribers: u16,
    /// The most searches at the same time; at most half of them for one asker.
    pub searches: u16,
    /// The most candidates of one search.
    pub candidates: u16,
}

/// Whether gossip changes the views.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Links {
    /// Gossip changes the views all the time.
    Dynamic,
    /// A node keeps the neighbours with which it starts.
    Static,
}

/// How a node gets the schedules of its neighbours (P1 section III-C).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Exchange {
    /// A node sends its schedule to all subscribers whenever it changes (PROTOCOLS D7).
    Push {
        /// How long a subscription lasts; it is renewed three times in that span.
        lease: Span,
    },
    /// A searcher asks its neighbours before it searches, and so does each node that it asks for more (PROTOCOLS D9).
    Pull,
    /// A node asks its neighbours periodically; the schedules it knows may be old (PROTOCOLS D10).
    Poll {
        /// The time between two polls.
        period: Span,
    },
}

/// Whether the searcher itself is a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Searcher {
    /// The searcher is the first candidate, so that a grid of one node works.
    Included,
    /// Only other nodes are candidates, as in the paper.
    Excluded,
}

/// Which of the free nodes are taken if there are more than needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// The nodes that were discovered first.
    Nearest,
    /// The nodes where the job leaves the least idle time around it.
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

    /// The paper's values, for a network without delay: two hops, no searcher offers itself, and one fresh search.
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
        // If a job is lost after its start, the scheduler searches a new placement, not the coordinator.
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

    /// The configuration of the desk.
    pub(super) fn desk(&self) -> desk::Config {
        desk::Config {
            rounds: self.rounds,
            after_loss: self.after_loss,
            commit: self.commit,
        }
    }

    /// The earliest start of a job for which a placement is searched now.
    pub(super) fn earliest(&self, now: Time) -> Time {
        (now + self.lead).round_up(self.slot)
    }

    /// When the submitter stops waiting for its searchers. With Pull, a searcher first waits for schedules.
    pub(super) fn answers_by(&self, now: Time) -> Time {
        now + self.search_limit + self.names_others_in()
    }

    /// How long a searcher waits for the answer to `WhoElse`. With Pull, the asked node first waits for schedules.
    pub(super) fn names_others_in(&self) -> Span {
        match self.exchange {
            Exchange::Pull => self.timeout.times(2),
            Exchange::Push { .. } | Exchange::Poll { .. } => self.timeout,
        }
    }

    /// How often subscriptions are renewed, or neighbours are polled.
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

/// Why a node cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The overlay refuses its configuration.
    Overlay(cyclon::ConfigError),
    /// The commit refuses its configuration.
    Commit(commit::ConfigError),
    /// A count or a limit is zero, so that no search could succeed.
    ZeroLimit,
    /// The slot is zero.
    ZeroSlot,
    /// Jobs that overrun would be extended by a part of a slot.
    PartOfSlot,
    /// A static overlay is laid out by hand; no node can join it.
    StaticJoin,
    /// The lead is shorter than that of the commit: a placement would be found too late to be confirmed.
    ShortLead,
    /// The timeout is zero, or a search would be over before its first answer.
    Timeout,
    /// The lease of a subscription, the period of polling or the time between improvements is too short.
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
            Self::StaticJoin => "no node can join a static overlay",
            Self::ShortLead => "the lead is shorter than that of the commit",
            Self::Timeout => "the timeout is zero, or longer than a search",
            Self::ShortPeriod => {
                "the lease of a subscription or the period of polling or improving is too short"
            }
        })
    }
}

impl core::error::Error for ConfigError {}

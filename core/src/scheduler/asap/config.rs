use crate::admission::Preselection;
use crate::commit;
use crate::config::{ConfigError, Limits, Room};
use crate::job::Job;
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
    /// Whether nodes that cannot run a job are passed over (PROTOCOLS F14).
    pub preselection: Preselection,
    /// Which of the free nodes are taken if there are more than needed (PROTOCOLS D4).
    pub choice: Choice,
    /// Jobs start at multiples of this and get multiples of it (PROTOCOLS D5).
    pub slot: Span,
    /// The least time between a search and the start of the job; a slot or more when messages take time (PROTOCOLS D6).
    pub lead: Span,
    /// How much longer than the estimate the time of a job is: a start may be late by as much when messages are lost, and
    /// the job is still not cut short.
    pub margin: Span,
    /// How long a job may take, and how much later than its earliest start it may start. The submitter drops later
    /// offers: else a liar could make a job wait for ever.
    pub horizon: Span,
    /// How many searches for a placement are made before a job fails (PROTOCOLS D11).
    pub rounds: u8,
    /// The time between two searches for a job that waits, on average; `None` in the paper: no such search. Jobs that
    /// end before their estimate free time that no earlier search could count on.
    pub improve: Option<Span>,
    /// How long a job that cannot start at once waits without a placement; zero in the paper. Then it gets the earliest
    /// placement, so that jobs that need many nodes are not passed over for ever. Placements of all jobs that wait would
    /// keep each other from moving up when jobs end before their estimates.
    pub patience: Span,
    /// How long to wait for one answer (PROTOCOLS D13).
    pub timeout: Span,
    /// How long a search may take. At that limit it answers with what it knows.
    pub search_limit: Span,
    /// How placements are confirmed.
    pub commit: commit::Config,
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
        /// How long a subscription lasts, at least three times `timeout`; it is renewed three times in that span.
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
    /// Those of a wide-area network, see [`WAN`](Self::WAN).
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
        breadth: 16,
        width: 8,
        searcher: Searcher::Included,
        preselection: Preselection::ByAttributes,
        choice: Choice::Nearest,
        slot: Span::from_secs(1),
        lead: Span::from_secs(10),
        margin: Span::from_secs(5),
        horizon: Span::from_secs(365 * 86_400),
        rounds: 4,
        improve: Some(Span::from_secs(300)),
        patience: Span::from_secs(86_400),
        timeout: Span::from_secs(2),
        search_limit: Span::from_secs(20),
        commit: commit::Config::DEFAULT,
        windows: 128,
        subscribers: 256,
        searches: 64,
        candidates: 4096,
    };

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT). A round trip takes up to 200 ms: ten of them
    /// fit into the timeout, and a hundred into a search. A search and a commit must be over when the job starts: a
    /// search takes two seconds or so, and time is committed five seconds before the start. So jobs start ten seconds
    /// later at the earliest.
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a round trip takes half a millisecond: a search and a commit take some milliseconds
    /// and a few writes to disks. Jobs start at full seconds, two seconds after their submission at the earliest. Messages cost little: a job that
    /// waits is searched for again every half a minute.
    pub const LAN: Self = Self {
        overlay: cyclon::Config {
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::LAN
        },
        lead: Span::from_secs(2),
        margin: Span::from_secs(1),
        improve: Some(Span::from_secs(30)),
        timeout: Span::from_millis(200),
        search_limit: Span::from_secs(1),
        commit: commit::Config::LAN,
        ..Self::DEFAULT
    };

    /// The paper's values, for a network without delay: two hops, no searcher offers itself, and one fresh search.
    pub const PAPER: Self = Self {
        max_hops: 2,
        breadth: 1,
        width: 1,
        searcher: Searcher::Excluded,
        slot: Span::from_secs(60),
        lead: Span::ZERO,
        margin: Span::ZERO,
        rounds: 2,
        improve: None,
        patience: Span::ZERO,
        commit: commit::Config {
            lead: Span::ZERO,
            ..commit::Config::DEFAULT
        },
        ..Self::DEFAULT
    };

    /// Refuses values that cannot work together, or with views of `C` links and messages of `L`.
    pub const fn checked<const C: usize, const L: usize>(self) -> Result<Self, ConfigError> {
        let view = Room::new(C, "the parameter C of Asap<C, L>");
        let shuffle = Room::new(L, "the parameter L of Asap<C, L>");
        let limits = Limits::new()
            .part("overlay", &self.overlay.fitting(view, shuffle))
            .part("commit", &self.commit.checked())
            .number("forward", self.forward as u64)
            .at_least(1, "or no node searches")
            .number("max_hops", self.max_hops as u64)
            .at_least(1, "or there are no candidates")
            .number("breadth", self.breadth as u64)
            .at_least(1, "or there are no candidates")
            .number("width", self.width as u64)
            .at_least(1, "or no node is asked")
            .time("slot", self.slot)
            .more_than(0, "or jobs have no length")
            .time("lead", self.lead)
            .at_least(
                self.commit.lead.as_micros(),
                "commit.lead: or a placement is found too late to be confirmed",
            )
            .time("margin", self.margin)
            .at_most(86_400_000_000, "a day: no start is later than that")
            .number("rounds", self.rounds as u64)
            .at_least(1, "or no search begins")
            .time("timeout", self.timeout)
            .more_than(0, "or no answer arrives in time")
            .time("search_limit", self.search_limit)
            .at_least(
                self.timeout.as_micros(),
                "timeout: or a search ends before its first answer",
            )
            .number("windows", self.windows as u64)
            .at_least(1, "or every node counts as busy for ever")
            .number("subscribers", self.subscribers as u64)
            .at_least(1, "or no node is told of changes")
            .number("searches", self.searches as u64)
            .at_least(1, "or no node searches")
            .number("candidates", self.candidates as u64)
            .at_least(1, "or no search can succeed");
        let limits = match self.improve {
            None => limits
                .time("patience", self.patience)
                .at_most(0, "improve is None: no search would find it a place later"),
            Some(period) => limits.time("improve", period).at_least(
                self.timeout.as_micros(),
                "timeout: or searches follow each other without end",
            ),
        };
        let limits = match self.commit.overrun {
            commit::Overrun::Cut => limits,
            commit::Overrun::Extend { by, .. } => limits
                .time("commit.overrun.by", by)
                .multiple_of(self.slot.as_micros(), "slot"),
        };
        let limits = match self.exchange {
            Exchange::Push { lease } => limits.time("exchange.lease", lease).at_least(
                self.timeout.times(3).as_micros(),
                "three times timeout: or it ends before it is renewed",
            ),
            Exchange::Pull => limits,
            Exchange::Poll { period } => limits
                .time("exchange.period", period)
                .more_than(0, "or neighbours are asked without a pause"),
        };
        limits.end(self)
    }

    /// The configuration with those values that are not the host's to choose.
    pub(super) const fn settled(mut self) -> Self {
        self.overlay.changes = cyclon::Changes::Untold;
        self
    }

    /// How much time a job is given.
    pub(super) fn length(&self, job: &Job) -> Span {
        (job.estimate() + self.margin).round_up(self.slot)
    }

    /// The configuration of the desk.
    pub(super) fn desk(&self) -> desk::Config {
        desk::Config {
            rounds: self.rounds,
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

    /// When a placement with this start must be chosen, so that its nodes can still be asked and told.
    pub(super) fn confirmed_by(&self, start: Time) -> Time {
        start - self.commit.lead - self.commit.max_delay.times(2)
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

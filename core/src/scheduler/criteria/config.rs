use super::Helper;
use crate::admission::Preselection;
use crate::commit;
use crate::config::{ConfigError, Limits, Room};
use crate::job::Job;
use crate::overlay::{cyclon, vicinity, vivaldi};
use crate::scheduler::desk;
use crate::select;
use crate::time::{Span, Time};

/// The rules of the scheduler, the same on all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The random overlay. `changes` is always [`Untold`](cyclon::Changes::Untold): the scheduler compares views
    /// itself.
    pub overlay: cyclon::Config,
    /// The times and sizes of each helper overlay.
    pub helper: vicinity::Config,
    /// The helper overlays of every node; the index is the number.
    pub helpers: [Option<Helper>; Self::MOST_HELPERS],
    /// Whether an iteration uses helper overlays.
    pub exploration: Exploration,
    /// Whether nodes that cannot run a job are passed over (PROTOCOLS F14).
    pub preselection: Preselection,
    /// How many nodes are found for each one that is wanted, in hundredths (PROTOCOLS F0).
    pub alpha: u16,
    /// How many nodes are found for each one that is wanted, if too few of them are free for the job at once. With zero
    /// busy nodes count as well, as in the paper: an iteration ends at `alpha`.
    pub breadth: u8,
    /// The most nodes that are found for the sake of `breadth`.
    pub reach: u16,
    /// How many iterations a job has, `tau` in the paper (PROTOCOLS F6).
    pub iterations: u16,
    /// How many of the densest places that it has heard of a node remembers and tells. Iterations of a job that wants near
    /// nodes begin at one of them and in the middle of the best placement, in turn; with zero none does, as in the paper.
    pub dense: u8,
    /// How many iterations of a job may be under way at the same time; the paper allows it in a footnote.
    pub parallel: u8,
    /// How long to wait after an iteration before the next begins.
    pub pause: Span,
    /// The time between two further iterations for a job that waits, on average; `None` in the paper: no such iteration.
    /// Jobs that end before their estimate free time that no earlier iteration could count on.
    pub improve: Option<Span>,
    /// How long a job that wants an early start waits without a placement if it cannot start at once; zero in the
    /// paper. Then it gets the best placement, so that jobs that need many nodes are not passed over for ever.
    pub patience: Span,
    /// How many nodes an iteration asks at the same time.
    pub width: u8,
    /// How the best set of the found nodes is selected.
    pub select: select::Config,
    /// How a node gets its coordinate.
    pub coordinates: Coordinates,
    /// Jobs start at multiples of this and get multiples of it.
    pub slot: Span,
    /// The least time between a search and the start of the job; a slot or more when messages take time.
    pub lead: Span,
    /// How much longer than the estimate the time of a job is: a start may be late by as much when messages are lost, and
    /// the job is still not cut short.
    pub margin: Span,
    /// How much later than its earliest start a job may start (PROTOCOLS F3).
    pub horizon: Span,
    /// How many rounds of searching a job has before it fails.
    pub rounds: u8,
    /// How many nodes beside those of a placement are remembered. One of them takes the place of a node that is lost before
    /// the start.
    pub spares: u16,
    /// How long to wait for one answer.
    pub timeout: Span,
    /// How placements are confirmed.
    pub commit: commit::Config,
    /// The most busy windows of a schedule that is sent; all time after them counts as busy.
    pub windows: u16,
    /// The most nodes that are found in an iteration.
    pub candidates: u16,
}

/// How nodes for an iteration are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Exploration {
    /// Through random links only (P2 section 3.2).
    Basic,
    /// Through the links of a helper overlay, if there is one for the criterion (P2 section 3.3).
    Proactive,
}

/// How a node gets its coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coordinates {
    /// The host gives it in the profile.
    Given,
    /// The node computes it from the round trips of gossip.
    Learned(vivaldi::Config),
}

impl Config {
    /// The most helper overlays of a node.
    pub const MOST_HELPERS: usize = 4;

    /// Those of a wide-area network, see [`WAN`](Self::WAN), with helpers for proximity and for early starts.
    pub const DEFAULT: Self = Self {
        overlay: cyclon::Config {
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::DEFAULT
        },
        helper: vicinity::Config::DEFAULT,
        helpers: [Some(Helper::Proximity), Some(Helper::FirstFree), None, None],
        exploration: Exploration::Proactive,
        preselection: Preselection::ByAttributes,
        alpha: 200,
        breadth: 64,
        reach: 1000,
        iterations: 50,
        dense: 6,
        parallel: 1,
        pause: Span::ZERO,
        improve: Some(Span::from_secs(300)),
        patience: Span::from_secs(86_400),
        width: 8,
        select: select::Config::DEFAULT,
        coordinates: Coordinates::Given,
        slot: Span::from_secs(60),
        lead: Span::from_secs(60),
        margin: Span::from_secs(5),
        horizon: Span::from_secs(30 * 86_400),
        rounds: 8,
        spares: 8,
        timeout: Span::from_secs(2),
        commit: commit::Config::DEFAULT,
        windows: 128,
        candidates: 4096,
    };

    /// For a wide-area network, the same as [`DEFAULT`](Self::DEFAULT). A round trip takes up to 200 ms, and an
    /// iteration some of them, on a busy grid a hundred. So jobs start a minute later at the earliest.
    pub const WAN: Self = Self::DEFAULT;

    /// For a local network, where a round trip takes half a millisecond: an iteration takes some milliseconds, on a busy
    /// grid fifty. Jobs start at full seconds, five seconds after their submission at the earliest.
    pub const LAN: Self = Self {
        overlay: cyclon::Config {
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::LAN
        },
        helper: vicinity::Config::LAN,
        slot: Span::from_secs(1),
        lead: Span::from_secs(5),
        margin: Span::from_secs(1),
        improve: Some(Span::from_secs(30)),
        timeout: Span::from_millis(200),
        commit: commit::Config::LAN,
        ..Self::DEFAULT
    };

    /// The rules of the paper: busy nodes count, all iterations happen at submission, and none begins at a dense place.
    pub const PAPER: Self = Self {
        breadth: 0,
        dense: 0,
        spares: 0,
        improve: None,
        patience: Span::ZERO,
        slot: Span::from_secs(60),
        lead: Span::from_secs(60),
        margin: Span::ZERO,
        ..Self::DEFAULT
    };

    /// Refuses values that cannot work together, or with views of `C` links and messages of `L` links or `G`
    /// descriptors.
    pub const fn checked<const C: usize, const L: usize, const G: usize>(
        self,
    ) -> Result<Self, ConfigError> {
        let view = Room::new(C, "the parameter C of Criteria<C, L, G>");
        let shuffle = Room::new(L, "the parameter L of Criteria<C, L, G>");
        let gossip = Room::new(G, "the parameter G of Criteria<C, L, G>");
        let limits = Limits::new()
            .part("overlay", &self.overlay.fitting(view, shuffle))
            .part("commit", &self.commit.checked())
            .part("select", &self.select.checked())
            .number("alpha", self.alpha as u64)
            .at_least(
                100,
                "hundredths of one: or fewer nodes are found than wanted",
            )
            .number("iterations", self.iterations as u64)
            .at_least(1, "or no search begins")
            .number("dense", self.dense as u64)
            .at_most(
                16,
                "or messages of the random overlay have no room for profiles",
            )
            .number("parallel", self.parallel as u64)
            .at_least(1, "or no search begins")
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
            .number("windows", self.windows as u64)
            .at_least(1, "or every node counts as busy for ever")
            .number("candidates", self.candidates as u64)
            .at_least(1, "or no search can succeed");
        let limits = match self.helpers {
            [None, None, None, None] => limits,
            _ => limits
                .part("helper", &self.helper.fitting(view, gossip))
                .time("helper.period", self.helper.period)
                .only(
                    self.overlay.period.as_micros(),
                    "overlay.period: ages count the cycles of both",
                ),
        };
        let limits = match self.improve {
            None => limits.time("patience", self.patience).at_most(
                0,
                "improve is None: no iteration would find it a place later",
            ),
            Some(period) => limits.time("improve", period).at_least(
                self.timeout.as_micros(),
                "timeout: or iterations follow each other without end",
            ),
        };
        let limits = match self.coordinates {
            Coordinates::Given => limits,
            Coordinates::Learned(config) => limits.part("coordinates", &config.checked()),
        };
        limits.end(self)
    }

    /// The configuration with those values that are not the host's to choose.
    pub(super) const fn settled(mut self) -> Self {
        self.overlay.changes = cyclon::Changes::Untold;
        self
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

    /// The most nodes that an iteration finds when `count` are wanted.
    pub(super) fn room(&self, count: u32) -> usize {
        let wide = u64::from(count).saturating_mul(u64::from(self.breadth));
        let reach = usize::from(self.reach.min(self.candidates));
        let wide = usize::try_from(wide).unwrap_or(usize::MAX);
        self.pool(count).max(wide.min(reach))
    }

    /// How much time a job is given.
    pub(super) fn length(&self, job: &Job) -> Span {
        (job.estimate() + self.margin).round_up(self.slot)
    }

    /// How many nodes an iteration looks for when `count` are wanted.
    pub(super) fn pool(&self, count: u32) -> usize {
        let found = u64::from(count)
            .saturating_mul(u64::from(self.alpha))
            .div_ceil(100);
        let found = usize::try_from(found).unwrap_or(usize::MAX);
        found.min(usize::from(self.candidates))
    }

    /// The number of the helper overlay of this kind.
    pub(super) fn number(&self, helper: Helper) -> Option<u8> {
        let index = self
            .helpers
            .iter()
            .position(|known| *known == Some(helper))?;
        u8::try_from(index).ok()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

use core::fmt;

use super::Helper;
use crate::commit;
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
    /// How many nodes are found for each one that is wanted, in hundredths (PROTOCOLS F0).
    pub alpha: u16,
    /// How many iterations a job has, `tau` in the paper (PROTOCOLS F6).
    pub iterations: u16,
    /// How many iterations of a job may be under way at the same time; the paper allows it in a footnote.
    pub parallel: u8,
    /// How long to wait after an iteration before the next begins.
    pub pause: Span,
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
    /// How much later than its earliest start a job may start (PROTOCOLS F3).
    pub horizon: Span,
    /// How many rounds of searching a job has before it fails.
    pub rounds: u8,
    /// How long to wait for one answer.
    pub timeout: Span,
    /// How placements are confirmed.
    pub commit: commit::Config,
    /// What becomes of a job that ran when one of its nodes was lost.
    pub after_loss: commit::AfterLoss,
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

    /// Sensible values for a wide-area network, with helpers for proximity and for early starts.
    pub const DEFAULT: Self = Self {
        overlay: cyclon::Config {
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::DEFAULT
        },
        helper: vicinity::Config::DEFAULT,
        helpers: [Some(Helper::Proximity), Some(Helper::FirstFree), None, None],
        exploration: Exploration::Proactive,
        alpha: 200,
        iterations: 50,
        parallel: 1,
        pause: Span::ZERO,
        width: 8,
        select: select::Config::DEFAULT,
        coordinates: Coordinates::Given,
        slot: Span::from_secs(60),
        lead: Span::from_secs(60),
        horizon: Span::from_secs(30 * 86_400),
        rounds: 8,
        timeout: Span::from_secs(2),
        commit: commit::Config::DEFAULT,
        after_loss: commit::AfterLoss::Restart,
        windows: 128,
        candidates: 4096,
    };

    /// Refuses values that cannot work together.
    pub(super) fn checked(mut self) -> Result<Self, ConfigError> {
        // If a job is lost after its start, the scheduler searches a new placement, not the coordinator.
        self.commit.after_loss = commit::AfterLoss::GiveUp;
        self.commit = self.commit.checked().map_err(ConfigError::Commit)?;
        self.overlay.changes = cyclon::Changes::Untold;
        if self.alpha < 100 {
            return Err(ConfigError::Alpha);
        }
        let some = [self.parallel, self.width, self.rounds];
        let limits = [self.iterations, self.windows, self.candidates];
        if some.contains(&0) || limits.contains(&0) {
            return Err(ConfigError::ZeroLimit);
        }
        if self.slot.is_zero() {
            return Err(ConfigError::ZeroSlot);
        }
        if self.lead < self.commit.lead {
            return Err(ConfigError::ShortLead);
        }
        if self.timeout.is_zero() {
            return Err(ConfigError::Timeout);
        }
        Ok(self)
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

/// Why a node cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The random overlay refuses its configuration.
    Overlay(cyclon::ConfigError),
    /// A helper overlay refuses its configuration.
    Helper(vicinity::ConfigError),
    /// The commit refuses its configuration.
    Commit(commit::ConfigError),
    /// `alpha` is below one: fewer nodes would be found than are wanted.
    Alpha,
    /// A count or a limit is zero, so that no search could succeed.
    ZeroLimit,
    /// The slot is zero.
    ZeroSlot,
    /// The lead is shorter than that of the commit: a placement would be found too late to be confirmed.
    ShortLead,
    /// The timeout is zero: no answer could arrive in time.
    Timeout,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overlay(error) => return fmt::Display::fmt(error, f),
            Self::Helper(error) => return fmt::Display::fmt(error, f),
            Self::Commit(error) => return fmt::Display::fmt(error, f),
            Self::Alpha => "alpha is below one",
            Self::ZeroLimit => "a limit is zero",
            Self::ZeroSlot => "a slot is zero",
            Self::ShortLead => "the lead is shorter than that of the commit",
            Self::Timeout => "the timeout is zero",
        })
    }
}

impl core::error::Error for ConfigError {}

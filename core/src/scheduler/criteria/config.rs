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
    /// The random overlay. Changes in the view are looked for, so nobody needs to be told of them.
    pub overlay: cyclon::Config,
    /// The times and sizes of each helper overlay.
    pub helper: vicinity::Config,
    /// Which helper overlays there are.
    pub helpers: [Option<Helper>; Self::MOST_HELPERS],
    /// How nodes for an iteration are found.
    pub exploration: Exploration,
    /// How many nodes are found for each one that is wanted, in hundredths (PROTOCOLS F0).
    pub alpha: u16,
    /// How many times nodes are searched for a job, `tau` in the paper (PROTOCOLS F6).
    pub iterations: u16,
    /// How many of these may be under way at once; the paper allows it in a footnote.
    pub parallel: u8,
    /// How long to wait after one before the next begins.
    pub pause: Span,
    /// How many nodes are asked at once in an iteration.
    pub width: u8,
    /// How nodes are selected from those that were found.
    pub select: select::Config,
    /// How a node knows where it is.
    pub coordinates: Coordinates,
    /// Jobs start at multiples of this and get multiples of it.
    pub slot: Span,
    /// How long before its start a job must have its place; a slot or more when messages take time.
    pub lead: Span,
    /// How much later than its earliest start a job may start (PROTOCOLS F3).
    pub horizon: Span,
    /// How many places may be refused before a job fails.
    pub rounds: u8,
    /// How long to wait for one answer.
    pub timeout: Span,
    /// How places are confirmed.
    pub commit: commit::Config,
    /// What becomes of a job that ran when one of its nodes was lost.
    pub after_loss: commit::AfterLoss,
    /// The most windows of a schedule that is sent; what lies behind them counts as busy.
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

/// How a node knows where it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coordinates {
    /// Its host has told it.
    Given,
    /// It learns from the round trips of gossip.
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
        // What started and was lost is searched a new place for, which is not the coordinator's to do.
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

    /// How many nodes are to be found for so many.
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

/// Why there is no such node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The random overlay cannot be so.
    Overlay(cyclon::ConfigError),
    /// A helper overlay cannot be so.
    Helper(vicinity::ConfigError),
    /// Places cannot be confirmed so.
    Commit(commit::ConfigError),
    /// Fewer nodes would be found than are wanted.
    Alpha,
    /// Nothing could ever be found.
    ZeroLimit,
    /// A slot takes no time.
    ZeroSlot,
    /// A place would be found later than it can be confirmed.
    ShortLead,
    /// Nobody could ever answer in time.
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

//! What the owner of a site keeps from the grid, and when.

use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU32;

use crate::time::{Interval, Time};

/// Processors that a site's owner keeps for a while: no job of the grid is started that is expected to need them then.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Window {
    /// The time for which they are kept.
    pub interval: Interval,
    /// How many processors are kept.
    pub processors: NonZeroU32,
}

/// Why processors are not kept. The site is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WindowError {
    /// There are as many windows as there can be.
    TooMany,
    /// The site has too few processors, or keeps too many of them at some time in the window already.
    TooLarge,
    /// It is over already.
    Past,
    /// It has no end, so that jobs could wait for ever.
    Endless,
}

/// All windows of a site that are not over, sorted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Windows(Vec<Window>);

impl Windows {
    pub(super) const MOST: usize = 16;

    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) fn all(&self) -> &[Window] {
        &self.0
    }

    pub(super) fn drop_past(&mut self, now: Time) {
        if !self.0.is_empty() {
            self.0.retain(|window| window.interval.end() > now);
        }
    }

    pub(super) fn add(
        &mut self,
        now: Time,
        window: Window,
        processors: NonZeroU32,
    ) -> Result<(), WindowError> {
        self.drop_past(now);
        let interval = window.interval;
        if interval.end() <= now {
            return Err(WindowError::Past);
        }
        if interval.end() == Time::MAX {
            return Err(WindowError::Endless);
        }
        if self.0.len() >= Self::MOST {
            return Err(WindowError::TooMany);
        }
        let kept = self
            .most_kept(interval)
            .saturating_add(window.processors.get());
        if kept > processors.get() {
            return Err(WindowError::TooLarge);
        }
        let index = self.0.partition_point(|other| *other <= window);
        self.0.insert(index, window);
        Ok(())
    }

    /// How many processors are kept at some time in the interval, at most.
    pub(super) fn most_kept(&self, interval: Interval) -> u32 {
        let begins = self.0.iter().map(|window| window.interval.start());
        let begins = begins.filter(|begin| interval.contains(*begin));
        let kept = [interval.start()].into_iter().chain(begins);
        kept.map(|at| self.kept(at)).max().unwrap_or(0)
    }

    /// The next time at which a window ends.
    pub(super) fn next_end(&self, now: Time) -> Option<Time> {
        let ends = self.0.iter().map(|window| window.interval.end());
        ends.filter(|end| *end > now).min()
    }

    fn kept(&self, at: Time) -> u32 {
        let open = self.0.iter().filter(|window| window.interval.contains(at));
        open.fold(0, |sum, window| sum.saturating_add(window.processors.get()))
    }
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooMany => "the site keeps processors in as many windows as it can",
            Self::TooLarge => "the site cannot keep so many processors",
            Self::Past => "the window is over",
            Self::Endless => "the window has no end",
        })
    }
}

impl core::error::Error for WindowError {}

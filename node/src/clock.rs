//! The time of the grid: microseconds since 1970, by the clock of this computer and an offset.

use std::time::{SystemTime, UNIX_EPOCH};

use gridweave_core::time::Time;

/// A clock that never goes back.
///
/// The offset is for tests: with it, several agents of one computer have clocks that differ.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Microseconds to add to the clock of this computer.
    offset: i64,
    last: Time,
}

impl Clock {
    /// The clock of this computer, and so many microseconds more.
    pub const fn with_offset(offset: i64) -> Self {
        let last = Time::ZERO;
        Self { offset, last }
    }

    /// How many microseconds are added.
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// The present time; if the clock of this computer was set back, the last time that was returned.
    pub fn now(&mut self) -> Time {
        self.last = self.last.max(wall(self.offset));
        self.last
    }
}

/// The time by the clock of this computer, which may go back.
pub fn wall(offset: i64) -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(u64::MAX);
    Time::from_micros(micros.saturating_add_signed(offset))
}

//! The time of the grid: microseconds since 1970, by the clock of this computer and an offset.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use gridweave_core::time::{Span, Time};

/// A clock that never goes back, and never stands still: if the clock of this computer is set back, this one runs at half
/// its speed until the other has caught up. If it stood, no lease would be renewed for so long.
///
/// The offset is for tests: with it, several agents of one computer have clocks that differ.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Microseconds to add to the clock of this computer.
    offset: i64,
    /// What was read last, and when.
    last: Option<(Time, Instant)>,
}

impl Clock {
    /// The clock of this computer, and so many microseconds more.
    pub const fn with_offset(offset: i64) -> Self {
        Self { offset, last: None }
    }

    /// How many microseconds are added.
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// The present time.
    pub fn now(&mut self) -> Time {
        self.follow(wall(self.offset), Instant::now())
    }

    fn follow(&mut self, wall: Time, at: Instant) -> Time {
        let slowly = self.last.map_or(Time::ZERO, |(last, then)| {
            last + Span::from(at.saturating_duration_since(then) / 2)
        });
        let now = wall.max(slowly);
        self.last = Some((now, at));
        now
    }
}

/// The time by the clock of this computer, which may go back.
pub fn wall(offset: i64) -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(u64::MAX);
    Time::from_micros(micros.saturating_add_signed(offset))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_set_back_runs_at_half_its_speed_until_it_has_caught_up() {
        let mut clock = Clock::with_offset(0);
        let begun = Instant::now();
        let mut at = |seconds: u64, wall: u64| {
            let now = clock.follow(Time::from_secs(wall), begun + Duration::from_secs(seconds));
            now.as_micros() / 1_000_000
        };
        assert_eq!([at(0, 1000), at(10, 1010)], [1000, 1010]);
        // It is set back by 20 s.
        assert_eq!(
            [at(20, 1000), at(30, 1010), at(50, 1030)],
            [1015, 1020, 1030]
        );
        assert_eq!(at(60, 1040), 1040);
    }
}

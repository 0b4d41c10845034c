//! Moving bookings earlier after something ended before its time.

use super::Availability;
use crate::time::{Interval, Time};

/// Processors that are reserved for an interval, as [`Availability::compress`] moves them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Booking {
    /// When they are reserved.
    pub interval: Interval,
    /// How many.
    pub count: u32,
}

impl Availability {
    /// Moves bookings earlier, in the given order, to where they fit best now (PROTOCOLS 7.2), and returns how many moved.
    ///
    /// To be called when processors became free that nobody counted on, with the bookings in the order of the queue and
    /// `from` as the current time. Each booking is released and placed at its earliest fit at or after `from`; since its old
    /// place is free then, none ever moves later. A booking that began before `from` stays where it is. So does one that the
    /// profile does not hold, as far as can be told, and one whose move would exceed the limit on breakpoints.
    pub fn compress(&mut self, from: Time, bookings: &mut [Booking]) -> usize {
        let mut moved = 0_usize;
        for booking in bookings {
            if self.move_earlier(from, booking) {
                moved = moved.saturating_add(1);
            }
        }
        moved
    }

    fn move_earlier(&mut self, from: Time, booking: &mut Booking) -> bool {
        let Booking { interval, count } = *booking;
        if self.release(interval, count).is_err() {
            return false;
        }
        let earlier = self
            .earliest_fit(from, count, interval.length())
            .ok()
            .filter(|&start| start < interval.start())
            .and_then(|start| Interval::starting(start, interval.length()).ok());
        if let Some(earlier) = earlier
            && self.reserve(earlier, count).is_ok()
        {
            booking.interval = earlier;
            return true;
        }
        // What was released just now is free, and the breakpoints become those that there were.
        let restored = self.reserve(interval, count);
        debug_assert_eq!(restored, Ok(()), "a released booking fits its old place");
        false
    }
}

//! Moves bookings earlier after a job has ended early.

use super::Availability;
use crate::time::{Interval, Time};

/// Processors that are reserved for an interval, as [`Availability::compress`] moves them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Booking {
    /// When they are reserved.
    pub interval: Interval,
    /// How many processors are reserved.
    pub count: u32,
}

impl Availability {
    /// Moves each booking, in the given order, to the earliest time at which it now fits (PROTOCOLS 7.2), and returns
    /// how many moved.
    ///
    /// Call it when processors became free earlier than planned, with the bookings in the order of the queue and the
    /// present time as `from`. Each booking is released and placed at its earliest fit at or after `from`. Its old time
    /// is free then, so no booking moves later. A booking stays as it is if it began before `from`, if so many
    /// processors are not reserved in its interval, or if its move would need more steps than the limit allows.
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
        // This time was released just now, so it is free; the steps become what they were.
        let restored = self.reserve(interval, count);
        debug_assert_eq!(restored, Ok(()), "a released booking fits its old place");
        false
    }
}

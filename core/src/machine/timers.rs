use alloc::collections::BTreeMap;
use core::hash::Hash;

use crate::hashing::FixedMap;
use crate::time::Time;

/// The pending timers of a host, due in the order of (time, sequence): of two that are due at once, the one set first.
///
/// At most one of equal timers is pending: setting it again replaces it, and counts as set then.
///
/// ```
/// use gridweave_core::machine::TimerQueue;
/// use gridweave_core::time::Time;
///
/// let mut timers = TimerQueue::new();
/// timers.wake(Time::from_secs(5), "gossip");
/// timers.wake(Time::from_secs(3), "expire");
/// timers.wake(Time::from_secs(9), "gossip");
/// assert_eq!(timers.next_at(), Some(Time::from_secs(3)));
/// assert_eq!(timers.pop_due(Time::from_secs(5)), Some((Time::from_secs(3), "expire")));
/// assert_eq!(timers.pop_due(Time::from_secs(5)), None);
/// ```
#[derive(Clone, Debug)]
pub struct TimerQueue<T> {
    due: BTreeMap<(Time, u64), T>,
    places: FixedMap<T, (Time, u64)>,
    sequence: u64,
}

impl<T: Copy + Eq + Hash> TimerQueue<T> {
    /// No timer pending.
    pub fn new() -> Self {
        Self {
            due: BTreeMap::new(),
            places: FixedMap::default(),
            sequence: 0,
        }
    }

    /// Sets the timer, or moves it if it is pending.
    pub fn wake(&mut self, at: Time, timer: T) {
        let place = (at, self.sequence);
        // 2^64 timers are never set; were they, the order among the last at one time would be by place alone.
        self.sequence = self.sequence.saturating_add(1);
        if let Some(old) = self.places.insert(timer, place) {
            self.due.remove(&old);
        }
        self.due.insert(place, timer);
    }

    /// Drops the timer if it is pending.
    pub fn cancel(&mut self, timer: T) {
        if let Some(place) = self.places.remove(&timer) {
            self.due.remove(&place);
        }
    }

    /// When the next timer is due.
    pub fn next_at(&self) -> Option<Time> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes out the next timer that is due by `now`, with the time it was set for.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, T)> {
        let entry = self
            .due
            .first_entry()
            .filter(|entry| entry.key().0 <= now)?;
        let ((at, _), timer) = entry.remove_entry();
        self.places.remove(&timer);
        Some((at, timer))
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.due.len()
    }

    /// Whether none is pending.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}

impl<T: Copy + Eq + Hash> Default for TimerQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_due_at_once_come_in_the_order_they_were_set() {
        let mut timers = TimerQueue::new();
        let at = Time::from_secs(1);
        for timer in [3_u8, 1, 2] {
            timers.wake(at, timer);
        }
        timers.wake(at, 3);
        let order = [(); 4].map(|()| timers.pop_due(at).map(|(_, timer)| timer));
        assert_eq!(order, [Some(1), Some(2), Some(3), None]);
    }

    #[test]
    fn an_equal_timer_replaces_and_a_cancelled_one_never_comes() {
        let mut timers = TimerQueue::new();
        timers.wake(Time::from_secs(1), 'a');
        timers.wake(Time::from_secs(2), 'b');
        timers.wake(Time::from_secs(3), 'a');
        timers.cancel('b');
        timers.cancel('b');
        assert_eq!((timers.len(), timers.is_empty()), (1, false));
        assert_eq!(timers.next_at(), Some(Time::from_secs(3)));
        assert_eq!(timers.pop_due(Time::from_secs(2)), None);
        assert_eq!(timers.pop_due(Time::MAX), Some((Time::from_secs(3), 'a')));
        assert_eq!(
            (timers.len(), timers.is_empty(), timers.next_at()),
            (0, true, None)
        );
        timers.wake(Time::ZERO, 'a');
        assert_eq!(timers.pop_due(Time::ZERO), Some((Time::ZERO, 'a')));
    }
}

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
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
pub struct TimerQueue<T: Ord> {
    /// Every pending timer, and some that were replaced or cancelled; never one of those on top.
    due: BinaryHeap<Reverse<(Time, u64, T)>>,
    /// The sequence under which each pending timer was set last.
    pending: FixedMap<T, u64>,
    sequence: u64,
}

impl<T: Copy + Ord + Hash> TimerQueue<T> {
    /// No timer pending.
    pub fn new() -> Self {
        Self {
            due: BinaryHeap::new(),
            pending: FixedMap::default(),
            sequence: 0,
        }
    }

    /// Sets the timer, or moves it if it is pending.
    pub fn wake(&mut self, at: Time, timer: T) {
        self.pending.insert(timer, self.sequence);
        self.due.push(Reverse((at, self.sequence, timer)));
        // Nobody sets 2^64 timers.
        self.sequence = self.sequence.saturating_add(1);
        self.drop_stale();
    }

    /// Drops the timer if it is pending.
    pub fn cancel(&mut self, timer: T) {
        if !canary!(TimerNotCancelled) {
            self.pending.remove(&timer);
        }
        self.drop_stale();
    }

    /// When the next timer is due.
    pub fn next_at(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes out the next timer that is due by `now`, with the time it was set for. One set for [`Time::MAX`] is never due.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, T)> {
        let &Reverse((at, _, timer)) = self
            .due
            .peek()
            .filter(|Reverse((at, ..))| *at <= now && *at < Time::MAX)?;
        self.cancel(timer);
        Some((at, timer))
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether none is pending.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Drops what was replaced or cancelled: from the top always, from below once it is most of the queue.
    fn drop_stale(&mut self) {
        let pending = &self.pending;
        let stale = |(_, sequence, timer): &(Time, u64, T)| pending.get(timer) != Some(sequence);
        while self.due.peek().is_some_and(|Reverse(top)| stale(top)) {
            self.due.pop();
        }
        if self.due.len() > pending.len().saturating_mul(2).saturating_add(32) {
            self.due.retain(|Reverse(entry)| !stale(entry));
        }
    }
}

impl<T: Copy + Ord + Hash> Default for TimerQueue<T> {
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

    #[test]
    fn a_timer_for_the_end_of_time_is_never_due() {
        let mut timers = TimerQueue::new();
        timers.wake(Time::MAX, 'a');
        assert_eq!(timers.pop_due(Time::MAX), None);
        assert_eq!((timers.len(), timers.next_at()), (1, Some(Time::MAX)));
    }

    #[test]
    fn timers_that_are_set_again_and_again_take_no_more_room() {
        let mut timers = TimerQueue::new();
        timers.wake(Time::ZERO, 'b');
        for n in 0..10_000 {
            timers.wake(Time::from_secs(n + 1), 'a');
        }
        assert_eq!(timers.len(), 2);
        assert!(timers.due.len() <= 2 * 2 + 32, "{}", timers.due.len());
        timers.cancel('a');
        assert_eq!(timers.pop_due(Time::MAX), Some((Time::ZERO, 'b')));
        assert_eq!(timers.due.len(), 0);
    }
}

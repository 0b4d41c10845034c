use alloc::collections::BinaryHeap;
use alloc::vec::{self, Vec};
use core::cmp::Reverse;
use core::hash::{BuildHasherDefault, Hash, Hasher};

use crate::hashing::FixedMap;
use crate::time::Time;

/// The pending timers of a host, in the order of time; of two that are due at once, the smaller one comes first.
///
/// At most one of several equal timers is pending: setting it again replaces it. Two queues with the same pending
/// timers are equal, whatever happened before.
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
    /// Every pending timer, and some stale ones, replaced or cancelled; the top is never stale.
    due: BinaryHeap<Reverse<(Time, T)>>,
    /// When each pending timer is due.
    times: FixedMap<T, Time>,
}

impl<T: Copy + Ord + Hash> TimerQueue<T> {
    /// No timer pending.
    pub const fn new() -> Self {
        Self {
            due: BinaryHeap::new(),
            times: FixedMap::with_hasher(BuildHasherDefault::new()),
        }
    }

    /// Sets the timer, or moves it if it is pending. [`Time::MAX`] means never: such a timer is not kept.
    pub fn wake(&mut self, at: Time, timer: T) {
        if at == Time::MAX {
            return self.cancel(timer);
        }
        self.times.insert(timer, at);
        self.due.push(Reverse((at, timer)));
        self.drop_stale();
    }

    /// Drops the timer if it is pending.
    pub fn cancel(&mut self, timer: T) {
        if !canary!(TimerNotCancelled) {
            self.times.remove(&timer);
        }
        self.drop_stale();
    }

    /// When a timer is due, if it is pending.
    pub fn due(&self, timer: T) -> Option<Time> {
        self.times.get(&timer).copied()
    }

    /// When the next timer is due.
    pub fn next_at(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes out the next timer that is due by `now`, with the time it was set for.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, T)> {
        let &Reverse((at, timer)) = self.due.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.due.pop();
        self.times.remove(&timer);
        self.drop_stale();
        Some((at, timer))
    }

    /// Every pending timer and when it is due, the next one first. Each call sorts them.
    pub fn iter(&self) -> vec::IntoIter<(Time, T)> {
        let entries = self.due.iter().map(|Reverse(entry)| *entry);
        let mut pending: Vec<(Time, T)> = entries.filter(|entry| !self.is_stale(entry)).collect();
        pending.sort_unstable();
        pending.dedup();
        pending.into_iter()
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether none is pending.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    fn is_stale(&self, (at, timer): &(Time, T)) -> bool {
        self.times.get(timer) != Some(at)
    }

    /// Drops stale timers: from the top always, from below once they are most of the queue.
    fn drop_stale(&mut self) {
        while self
            .due
            .peek()
            .is_some_and(|Reverse(top)| self.is_stale(top))
        {
            self.due.pop();
        }
        if self.due.len() > self.times.len().saturating_mul(2).saturating_add(32) {
            let mut entries = core::mem::take(&mut self.due).into_vec();
            entries.retain(|Reverse(entry)| !self.is_stale(entry));
            entries.sort_unstable();
            entries.dedup();
            self.due = entries.into();
        }
    }
}

impl<T: Copy + Ord + Hash> Default for TimerQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Ord + Hash> PartialEq for TimerQueue<T> {
    fn eq(&self, other: &Self) -> bool {
        self.times == other.times
    }
}

impl<T: Ord + Hash> Eq for TimerQueue<T> {}

impl<T: Copy + Ord + Hash> Hash for TimerQueue<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for pending in self.iter() {
            pending.hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_due_at_once_come_in_their_own_order() {
        let mut timers = TimerQueue::new();
        timers.wake(Time::from_secs(1), 'c');
        timers.wake(Time::from_secs(1), 'a');
        timers.wake(Time::from_secs(0), 'b');
        let due: Vec<_> = std::iter::from_fn(|| timers.pop_due(Time::MAX)).collect();
        assert_eq!(
            due.iter()
                .map(|(_, timer)| *timer)
                .collect::<std::string::String>(),
            "bac"
        );
    }

    #[test]
    fn replaced_timers_are_dropped_before_they_take_much_room() {
        let mut timers = TimerQueue::new();
        for second in 1..1000 {
            timers.wake(Time::from_secs(1), 'a');
            timers.wake(Time::from_secs(1 + second), 'b');
            assert!(timers.due.len() <= 37, "{}", timers.due.len());
        }
    }

    #[test]
    fn queues_with_the_same_pending_timers_are_equal() {
        let mut timers = TimerQueue::new();
        timers.wake(Time::from_secs(1), 'a');
        timers.wake(Time::from_secs(2), 'a');
        timers.wake(Time::from_secs(3), 'b');
        timers.cancel('b');
        timers.wake(Time::MAX, 'c');
        let mut other = TimerQueue::new();
        other.wake(Time::from_secs(2), 'a');
        assert_eq!(timers, other);
        assert_eq!(timers.len(), 1);
        assert_eq!(timers.next_at(), Some(Time::from_secs(2)));
        assert!(timers.iter().eq([(Time::from_secs(2), 'a')]));
    }

    #[test]
    fn a_timer_that_is_set_again_and_again_takes_no_more_room() {
        let mut timers = TimerQueue::new();
        for round in 0..10_000 {
            timers.wake(Time::from_micros(round), 'a');
            timers.cancel('b');
            timers.wake(Time::from_secs(1), 'b');
        }
        assert!(timers.due.len() < 50, "{}", timers.due.len());
        assert_eq!(
            timers.pop_due(Time::from_micros(9999)),
            Some((Time::from_micros(9999), 'a'))
        );
        assert_eq!(timers.pop_due(Time::MAX), Some((Time::from_secs(1), 'b')));
        assert_eq!(timers.pop_due(Time::MAX), None);
    }
}

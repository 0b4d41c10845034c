use alloc::collections::BTreeSet;
use core::hash::{BuildHasherDefault, Hash, Hasher};

use crate::hashing::FixedMap;
use crate::time::Time;

/// The pending timers of a host, due in the order of time; of two that are due at once, the lesser one.
///
/// At most one of equal timers is pending: setting it again replaces it. Two queues with the same pending timers are
/// equal, however they came about.
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
    pending: BTreeSet<(Time, T)>,
    /// When each pending timer is due. The same as above, by timer.
    times: FixedMap<T, Time>,
}

impl<T: Copy + Ord + Hash> TimerQueue<T> {
    /// No timer pending.
    pub const fn new() -> Self {
        Self {
            pending: BTreeSet::new(),
            times: FixedMap::with_hasher(BuildHasherDefault::new()),
        }
    }

    /// Sets the timer, or moves it if it is pending. One set for [`Time::MAX`] is never due, and so not kept.
    pub fn wake(&mut self, at: Time, timer: T) {
        if at == Time::MAX {
            return self.cancel(timer);
        }
        if let Some(before) = self.times.insert(timer, at) {
            self.pending.remove(&(before, timer));
        }
        self.pending.insert((at, timer));
    }

    /// Drops the timer if it is pending.
    pub fn cancel(&mut self, timer: T) {
        if !canary!(TimerNotCancelled)
            && let Some(at) = self.times.remove(&timer)
        {
            self.pending.remove(&(at, timer));
        }
    }

    /// When a timer is due, if it is pending.
    pub fn due(&self, timer: T) -> Option<Time> {
        self.times.get(&timer).copied()
    }

    /// When the next timer is due.
    pub fn next_at(&self) -> Option<Time> {
        self.pending.first().map(|(at, _)| *at)
    }

    /// Takes out the next timer that is due by `now`, with the time it was set for.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, T)> {
        let (at, timer) = self.pending.first().copied().filter(|(at, _)| *at <= now)?;
        self.pending.pop_first();
        self.times.remove(&timer);
        Some((at, timer))
    }

    /// Every pending timer and when it is due, the next one first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Time, T)> {
        self.pending.iter().copied()
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether none is pending.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

impl<T: Copy + Ord + Hash> Default for TimerQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for TimerQueue<T> {
    fn eq(&self, other: &Self) -> bool {
        self.pending == other.pending
    }
}

impl<T: Eq> Eq for TimerQueue<T> {}

impl<T: Hash> Hash for TimerQueue<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pending.hash(state);
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
        let due: std::vec::Vec<_> = std::iter::from_fn(|| timers.pop_due(Time::MAX)).collect();
        assert_eq!(
            due.iter()
                .map(|(_, timer)| *timer)
                .collect::<std::string::String>(),
            "bac"
        );
    }

    #[test]
    fn a_queue_is_what_is_pending_in_it() {
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
    }
}

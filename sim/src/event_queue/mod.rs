//! What has yet to happen: the pending events of a simulation, in the order in which they happen.
//!
//! An [`EventQueue`] orders by (time, order of insertion): of events at the same instant, the one pushed first comes
//! first. An event is a [`Time`] and a small `Copy` value, as a rule a handle to something that lives in a table of the
//! host. With a handle of eight bytes an event takes sixteen.
//!
//! ```
//! use gridweave_core::time::{Span, Time};
//! use gridweave_sim::event_queue::EventQueue;
//!
//! let mut counters = [0_u32; 3];
//! let mut events = EventQueue::new();
//! for node in 0..counters.len() {
//!     events.push(Time::from_secs(1), node);
//! }
//! while let Some((now, node)) = events.pop() {
//!     counters[node] += 1;
//!     if counters[node] < 4 {
//!         events.push(now + Span::from_secs(1), node);
//!     }
//! }
//! assert_eq!((counters, events.now()), ([4; 3], Time::from_secs(4)));
//! ```
//!
//! # Seeing ahead
//! In a large simulation an event mostly waits for memory: its target was last used long ago. [`EventQueue::upcoming`]
//! shows which events come next, some dozens as a rule, so that a host can read something of each of their targets in
//! one go. These reads do not depend on each other, so the processor waits for all of them together.
//!
//! ```
//! # use gridweave_core::time::Time;
//! # use gridweave_sim::event_queue::EventQueue;
//! # let mut states = [0_u64; 8];
//! # let mut events = EventQueue::new();
//! # (0..8_usize).for_each(|node| events.push(Time::from_secs(1), node));
//! let mut touched = 0_usize;
//! while let Some((now, node)) = events.pop() {
//!     if touched == 0 {
//!         let ahead = events.upcoming();
//!         std::hint::black_box(ahead.iter().map(|&(_, node)| states[node]).fold(0, u64::wrapping_add));
//!         touched = ahead.len();
//!     } else {
//!         touched -= 1;
//!     }
//!     states[node] = now.as_micros();
//! }
//! # assert_eq!(states, [1_000_000; 8]);
//! ```
//!
//! # How it works
//! Three places hold events, and each is in order with the next.
//!
//! - The **lane** holds what was pushed for the present instant: first in, first out.
//! - The **run** holds all events up to some instant, sorted. Pops take from its front; a push into its stretch of time
//!   is sorted in.
//! - The **wheel** holds the rest in buckets, by the highest digit (of six bits) in which their time differs from the
//!   present. An empty run is filled from the first bucket: a small one is sorted, a large one is first dealt out to
//!   finer buckets.
//!
//! Dealing out keeps the order within a bucket and the sort is stable, so no sequence numbers are needed for events of
//! the same instant to stay in order.
//!
//! # Cost
//! - A push appends to one of 704 buckets, whatever their number of events. It costs a search among at most some
//!   hundreds of events if it falls into the run, and less if it is for the present instant.
//! - An event is dealt out at most ten times before it is popped: once per digit in which its delay and the distance to
//!   its neighbours differ, which is once or twice for most simulations.
//! - A run that too many events are pushed into is given back to the wheel, so no pattern of pushes makes it long.
//! - Buckets draw from one store in chunks of a kilobyte, and give them back. Nothing is allocated unless more is
//!   pending than ever before, or as much in more buckets, or a `T` has more than 32 bytes. Memory is not returned
//!   before the queue is dropped; an empty queue has 22 kilobytes.
//! - [`EventQueue::next_at`], [`EventQueue::len`] and [`EventQueue::now`] read one or two words.

mod run;
mod sorting;
mod store;
#[cfg(test)]
mod tests;
mod wheel;

use std::collections::VecDeque;

use gridweave_core::time::Time;

use run::Run;
use wheel::Wheel;

/// The pending events of a simulation, first by time and then by order of insertion.
///
/// Time never runs backwards: an event that is pushed for an instant before [`now`](Self::now) happens now, after
/// whatever else is pending for now. Every [`Time`] is an instant like any other here, [`Time::MAX`] included; a host
/// to which that means "never" does not push it.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    now: Time,
    len: usize,
    /// What was pushed for `now` while it was `now`; so it comes after what the run holds for `now`.
    lane: VecDeque<(Time, T)>,
    /// Comes before everything in the wheel.
    run: Run<T>,
    wheel: Wheel<T>,
}

impl<T: Copy> EventQueue<T> {
    /// Nothing pending, at the beginning of time.
    pub fn new() -> Self {
        Self {
            now: Time::ZERO,
            len: 0,
            lane: VecDeque::new(),
            run: Run::new(),
            wheel: Wheel::new(),
        }
    }

    /// Adds an event, behind all others for the same instant; one for the past counts as one for now.
    #[inline]
    pub fn push(&mut self, at: Time, what: T) {
        self.len += 1;
        if at <= self.now {
            self.lane.push_back((self.now, what));
        } else if !self.run.reaches(at) {
            self.wheel.insert(at, what);
        } else if !self.run.is_crowded() {
            self.run.insert(at, what);
        } else {
            for (at, what) in self.run.retreat(self.now) {
                self.wheel.insert(at, what);
            }
            self.wheel.insert(at, what);
        }
    }

    /// Takes out the next event, whose time becomes [`now`](Self::now).
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, T)> {
        if !self.lane.is_empty() && self.run.next_at() != Some(self.now) {
            self.len -= 1;
            return self.lane.pop_front();
        }
        if self.run.is_empty() {
            self.run.fill(&mut self.wheel);
        }
        let event = self.run.pop()?;
        self.len -= 1;
        self.now = event.0;
        Some(event)
    }

    /// When the next event happens.
    pub fn next_at(&self) -> Option<Time> {
        if !self.lane.is_empty() {
            return Some(self.now);
        }
        self.run.next_at().or_else(|| self.wheel.next_at())
    }

    /// The events that come next, as far as the queue has sorted them already: what the next calls of
    /// [`pop`](Self::pop) return in this order, unless something earlier is pushed meanwhile.
    ///
    /// May be empty although events are pending; the next `pop` then sorts more.
    pub fn upcoming(&self) -> &[(Time, T)] {
        if self.lane.is_empty() {
            return self.run.rest();
        }
        let before_lane = self.run.until(self.now);
        if before_lane.is_empty() {
            self.lane.as_slices().0
        } else {
            before_lane
        }
    }

    /// How many events are pending.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether none is pending.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The time of the event that was popped last, and zero before that.
    pub const fn now(&self) -> Time {
        self.now
    }
}

impl<T: Copy> Default for EventQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

//! [`EventQueue`] beside an ordered set.

use std::collections::BTreeSet;

use gridweave_core::time::{Span, Time};
use gridweave_sim::event_queue::EventQueue;
use proptest::prelude::*;

use super::Twins;

/// Events named by how many were pushed before them.
#[derive(Clone, Debug)]
pub struct Events;

/// One operation on events.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after what they do")]
pub enum Step {
    /// At an instant of its own, be it past, present or the end of time.
    Push { at: Time },
    /// So many events, the first after a delay and each later than the one before by as much.
    PushRow {
        after: Span,
        apart: Span,
        count: u64,
    },
    /// The same in reverse: the last event is the earliest.
    PushBackwards {
        after: Span,
        apart: Span,
        count: u64,
    },
    /// Takes out up to so many events, each followed by another if there is a delay.
    Pop {
        count: usize,
        followed_after: Option<Span>,
    },
}

/// Pending events as (time, how many were pushed before).
#[derive(Clone, Debug, Default)]
pub struct Ordered {
    pending: BTreeSet<(Time, u64)>,
    pushed: u64,
    now: Time,
}

/// The queue, and how many events were pushed into it.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    events: EventQueue<u64>,
    pushed: u64,
}

/// What both can do.
trait Pending {
    fn now(&self) -> Time;
    fn push(&mut self, at: Time);
    fn pop(&mut self) -> Option<(Time, u64)>;

    fn follow(&mut self, step: &Step) -> Vec<(Time, u64)> {
        let mut popped = Vec::new();
        match *step {
            Step::Push { at } => self.push(at),
            Step::PushRow {
                after,
                apart,
                count,
            } => {
                let first = self.now() + after;
                (0..count).for_each(|n| self.push(first + apart.times(n)));
            }
            Step::PushBackwards {
                after,
                apart,
                count,
            } => {
                let first = self.now() + after;
                (0..count)
                    .rev()
                    .for_each(|n| self.push(first + apart.times(n)));
            }
            Step::Pop {
                count,
                followed_after,
            } => {
                for _ in 0..count {
                    let Some(event) = self.pop() else { break };
                    popped.push(event);
                    if let Some(delay) = followed_after {
                        self.push(self.now() + delay);
                    }
                }
            }
        }
        popped
    }
}

impl Pending for Ordered {
    fn now(&self) -> Time {
        self.now
    }
    fn push(&mut self, at: Time) {
        self.pending.insert((at.max(self.now), self.pushed));
        self.pushed += 1;
    }
    fn pop(&mut self) -> Option<(Time, u64)> {
        let event = self.pending.pop_first()?;
        self.now = event.0;
        Some(event)
    }
}

impl Pending for Queue {
    fn now(&self) -> Time {
        self.events.now()
    }
    fn push(&mut self, at: Time) {
        self.events.push(at, self.pushed);
        self.pushed += 1;
    }
    fn pop(&mut self) -> Option<(Time, u64)> {
        self.events.pop()
    }
}

/// None, some ticks, and every power of two; so all buckets of the queue are reached.
fn delay() -> impl Strategy<Value = Span> {
    prop_oneof![
        2 => Just(0),
        4 => 0..200_u64,
        4 => 0..20_000_u64,
        2 => (0..64_u32, 0..3_u64).prop_map(|(bit, more)| (1_u64 << bit).saturating_add(more)),
    ]
    .prop_map(Span::from_micros)
}

impl Twins for Events {
    type Step = Step;
    type Answer = Vec<(Time, u64)>;
    type Model = Ordered;
    type Real = Queue;

    fn begin() -> (Ordered, Queue) {
        (Ordered::default(), Queue::default())
    }

    fn steps() -> BoxedStrategy<Step> {
        let instant = prop_oneof![
            (0..30_000_u64).prop_map(Time::from_micros),
            Just(Time::MAX),
            (0..3_u64).prop_map(|less| Time::MAX - Span::from_micros(less)),
        ];
        // Enough for a bucket that is dealt out, and for a run that is given back.
        let row = || (delay(), delay(), 1..250_u64);
        let pops = prop_oneof![3 => 0..5_usize, 2 => 0..300_usize];
        prop_oneof![
            1 => instant.prop_map(|at| Step::Push { at }),
            4 => (delay(), 1..4_u64).prop_map(|(after, count)| {
                Step::PushRow { after, apart: Span::ZERO, count }
            }),
            2 => row().prop_map(|(after, apart, count)| Step::PushRow { after, apart, count }),
            1 => row().prop_map(|(after, apart, count)| Step::PushBackwards { after, apart, count }),
            5 => (pops, prop::option::of(delay())).prop_map(|(count, followed_after)| {
                Step::Pop { count, followed_after }
            }),
        ]
        .boxed()
    }

    fn model(ordered: &mut Ordered, step: &Step) -> Self::Answer {
        ordered.follow(step)
    }

    fn real(queue: &mut Queue, step: &Step) -> Self::Answer {
        queue.follow(step)
    }

    fn compare(ordered: &Ordered, queue: &Queue) {
        let events = &queue.events;
        assert_eq!(events.now(), ordered.now);
        assert_eq!(events.len(), ordered.pending.len());
        assert_eq!(events.is_empty(), ordered.pending.is_empty());
        assert_eq!(events.next_at(), ordered.pending.first().map(|&(at, _)| at));
        let upcoming = events.upcoming();
        let first = ordered.pending.iter().take(upcoming.len());
        assert!(upcoming.iter().eq(first), "{upcoming:?} is not next");
    }
}

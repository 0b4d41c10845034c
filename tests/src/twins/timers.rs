//! [`TimerQueue`] beside an unsorted list.

use gridweave_core::machine::TimerQueue;
use gridweave_core::time::Time;
use proptest::prelude::*;

use super::Twins;

/// Timers named by small numbers.
#[derive(Clone, Debug)]
pub struct Timers;

/// One operation on timers.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the methods they call")]
pub enum Step {
    Wake { at: Time, timer: u8 },
    Cancel { timer: u8 },
    PopDue { now: Time },
}

/// Pending timers, unsorted.
#[derive(Clone, Debug, Default)]
pub struct List {
    pending: Vec<(Time, u8)>,
}

impl Twins for Timers {
    type Step = Step;
    type Answer = Option<(Time, u8)>;
    type Model = List;
    type Real = TimerQueue<u8>;

    fn begin() -> (List, TimerQueue<u8>) {
        (List::default(), TimerQueue::new())
    }

    fn steps() -> BoxedStrategy<Step> {
        let time = || (0..10_u64).prop_map(Time::from_micros);
        prop_oneof![
            3 => (time(), 0..6_u8).prop_map(|(at, timer)| Step::Wake { at, timer }),
            1 => (0..6_u8).prop_map(|timer| Step::Cancel { timer }),
            2 => time().prop_map(|now| Step::PopDue { now }),
        ]
        .boxed()
    }

    fn model(list: &mut List, step: &Step) -> Self::Answer {
        match *step {
            Step::Wake { at, timer } => {
                list.pending.retain(|(_, other)| *other != timer);
                list.pending.push((at, timer));
                None
            }
            Step::Cancel { timer } => {
                list.pending.retain(|(_, other)| *other != timer);
                None
            }
            Step::PopDue { now } => {
                let due = list.pending.iter().filter(|(at, _)| *at <= now);
                let first = *due.min()?;
                list.pending.retain(|other| *other != first);
                Some(first)
            }
        }
    }

    fn real(real: &mut TimerQueue<u8>, step: &Step) -> Self::Answer {
        match *step {
            Step::Wake { at, timer } => {
                real.wake(at, timer);
                None
            }
            Step::Cancel { timer } => {
                real.cancel(timer);
                None
            }
            Step::PopDue { now } => real.pop_due(now),
        }
    }

    fn compare(list: &List, real: &TimerQueue<u8>) {
        let mut pending = list.pending.clone();
        pending.sort_unstable();
        assert!(real.iter().eq(pending.iter().copied()));
        assert_eq!(real.len(), pending.len());
        assert_eq!(real.next_at(), pending.first().map(|(at, _)| *at));
        for timer in 0..6 {
            let due = pending.iter().find(|(_, other)| *other == timer);
            assert_eq!(real.due(timer), due.map(|(at, _)| *at));
        }
    }
}

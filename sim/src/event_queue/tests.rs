use std::collections::BTreeSet;

use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::EventQueue;
use super::sorting::append_in_order;

const fn micros(micros: u64) -> Time {
    Time::from_micros(micros)
}

fn drain<T: Copy>(events: &mut EventQueue<T>) -> Vec<(Time, T)> {
    std::iter::from_fn(|| events.pop()).collect()
}

#[test]
fn events_come_by_time_and_then_in_the_order_they_were_pushed() {
    let mut events = EventQueue::new();
    for (at, what) in [(7, 'a'), (3, 'b'), (7, 'c'), (0, 'd'), (3, 'e')] {
        events.push(micros(at), what);
    }
    assert_eq!((events.len(), events.next_at()), (5, Some(Time::ZERO)));
    let order = [(0, 'd'), (3, 'b'), (3, 'e'), (7, 'a'), (7, 'c')];
    assert_eq!(
        drain(&mut events),
        order.map(|(at, what)| (micros(at), what))
    );
    assert!(events.is_empty());
    assert_eq!(
        (events.pop(), events.next_at(), events.now()),
        (None, None, micros(7))
    );
}

#[test]
fn an_event_for_now_comes_after_those_that_were_due_now_already() {
    let mut events = EventQueue::new();
    for what in ['a', 'b'] {
        events.push(micros(5), what);
    }
    events.push(micros(6), 'z');
    assert_eq!(events.pop(), Some((micros(5), 'a')));
    events.push(micros(5), 'c');
    assert_eq!(events.upcoming(), [(micros(5), 'b')]);
    assert_eq!(events.pop(), Some((micros(5), 'b')));
    assert_eq!(events.upcoming(), [(micros(5), 'c')]);
    events.push(micros(5), 'd');
    let rest = [(5, 'c'), (5, 'd'), (6, 'z')];
    assert_eq!(
        drain(&mut events),
        rest.map(|(at, what)| (micros(at), what))
    );
}

#[test]
fn an_event_for_the_past_happens_now() {
    let mut events = EventQueue::new();
    events.push(micros(50), 'a');
    events.push(micros(60), 'b');
    assert_eq!(events.pop(), Some((micros(50), 'a')));
    events.push(Time::ZERO, 'c');
    events.push(micros(50), 'd');
    events.push(micros(49), 'e');
    assert_eq!(events.next_at(), Some(micros(50)));
    let rest = [(50, 'c'), (50, 'd'), (50, 'e'), (60, 'b')];
    assert_eq!(
        drain(&mut events),
        rest.map(|(at, what)| (micros(at), what))
    );
}

#[test]
fn every_instant_up_to_the_end_of_time_is_in_reach() {
    let around = |bit: u32| {
        let power = 1_u64 << bit;
        [power - 1, power, power + 1]
    };
    let mut times: Vec<u64> = (0..u64::BITS).flat_map(around).collect();
    times.extend([u64::MAX, u64::MAX, u64::MAX - 1]);
    let mut events = EventQueue::new();
    times
        .iter()
        .rev()
        .for_each(|&at| events.push(micros(at), at));
    times.sort_unstable();
    let expected: Vec<_> = times.iter().map(|&at| (micros(at), at)).collect();
    assert_eq!(drain(&mut events), expected);

    assert_eq!(events.now(), Time::MAX);
    events.push(Time::MAX, 1);
    events.push(Time::ZERO, 2);
    assert_eq!(drain(&mut events), [(Time::MAX, 1), (Time::MAX, 2)]);
}

#[test]
fn what_is_upcoming_is_what_pops_return() {
    let mut events = EventQueue::new();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..3_000).for_each(|what| events.push(micros(u64::from(rng.below(1_000_000))), what));
    assert!(events.upcoming().is_empty(), "nothing is sorted yet");
    let (mut stretches, mut longest) = (0, 0);
    while events.pop().is_some() {
        let ahead = events.upcoming().to_vec();
        (stretches, longest) = (stretches + 1, longest.max(ahead.len()));
        for event in ahead {
            assert_eq!(events.pop(), Some(event));
        }
    }
    assert!(longest >= 40, "one sees only {longest} events ahead");
    assert!(stretches < 150, "{stretches} looks for 3,000 events");
}

#[test]
fn a_run_that_much_is_pushed_into_stays_short() {
    let mut events = EventQueue::new();
    events.push(micros(999_000), 0);
    events.push(micros(1_000_000), 1);
    events.push(Time::MAX, 2);
    assert_eq!(events.pop(), Some((micros(999_000), 0)));
    // The first two shared a bucket, so all that follows falls between what was sorted already.
    assert_eq!(events.upcoming(), [(micros(1_000_000), 1)]);
    let mut longest = 0;
    for what in 3..5_000_u32 {
        events.push(micros(999_999 - u64::from(what) % 700), what);
        longest = longest.max(events.upcoming().len());
    }
    assert!((200..400).contains(&longest), "{longest} events in a run");
    let order: Vec<Time> = drain(&mut events).iter().map(|&(at, _)| at).collect();
    assert_eq!(order.len(), 4_999);
    assert!(order.is_sorted());
}

#[test]
fn children_without_delay_take_turns_and_no_more_room_than_their_parents() {
    let count = 10_000_u32;
    let mut events = EventQueue::new();
    (0..count).for_each(|what| events.push(Time::from_secs(1), what));
    for _generation in 0..20 {
        for what in 0..count {
            assert_eq!(events.pop(), Some((Time::from_secs(1), what)));
            events.push(events.now(), what);
        }
    }
    assert_eq!(events.len(), count as usize);
    assert!(events.lane.capacity() <= 2 * count as usize);
}

/// Delays that send events through all places of the queue, some of them many at once.
fn delay(rng: &mut Xoshiro256PlusPlus, regime: u32) -> Span {
    let random = u64::from(rng.below(u32::MAX));
    let delay = match regime % 6 {
        0 => random % 2_000_000,
        1 => 1_000 * (random % 4),
        2 if random % 2 == 0 => 0,
        2 => random % 100_000,
        3 if random % 2 == 0 => 1_000,
        3 => 86_400_000_000,
        4 => random << (random % 30),
        _ => 1_000_000,
    };
    Span::from_micros(delay)
}

#[test]
fn thousands_of_events_come_as_from_an_ordered_set() {
    for seed in 0..24 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut events, mut model) = (EventQueue::new(), BTreeSet::new());
        let mut pushed = 0_u32;
        for round in 0..40 {
            let regime = rng.below(6);
            // More pushes than pops first, and the other way round towards the end.
            let target = [400, 5_000, 20, 0][round / 10];
            for _ in 0..1_000 {
                if model.len() <= target {
                    let at = events.now() + delay(&mut rng, regime);
                    events.push(at, pushed);
                    model.insert((at, pushed));
                    pushed += 1;
                }
                assert_eq!(events.next_at(), model.first().map(|&(at, _)| at));
                if model.len() >= target {
                    assert_eq!(events.pop(), model.pop_first(), "seed {seed}");
                }
            }
            assert_eq!(events.len(), model.len());
        }
        assert_eq!(
            drain(&mut events),
            model.into_iter().collect::<Vec<_>>(),
            "seed {seed}"
        );
    }
}

#[test]
fn a_bucket_is_sorted_as_by_the_standard_library() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for round in 0..2_000_u32 {
        let events: Vec<(Time, u32)> = (0..rng.below(200))
            .map(|n| {
                let random = u64::from(rng.below(u32::MAX));
                let at = match round % 5 {
                    0 => random,
                    1 => random % 3,
                    2 if random % 9 == 0 => u64::MAX - random % 2,
                    2 => random % 50,
                    3 => u64::from(1_000 - n),
                    _ => random << 31,
                };
                (micros(at), n)
            })
            .collect();
        let mut expected = vec![(Time::MAX, 7)];
        let mut sorted = expected.clone();
        expected.extend_from_slice(&events);
        expected[1..].sort_by_key(|&(at, _)| at);
        append_in_order(&events, &mut sorted);
        assert_eq!(sorted, expected, "round {round}");
    }
}

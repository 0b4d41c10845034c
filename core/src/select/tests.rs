use super::*;
use crate::profile::Coordinate;
use crate::time::{Interval, Span};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use std::vec;

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn names(count: u64) -> Vec<NodeId> {
    (0..count).map(NodeId::new).collect()
}

fn profiles(count: usize, seed: u64) -> Vec<Profile> {
    use crate::rng::Choose;
    let mut rng = rng(seed);
    let mut part = || rng.below(100_000) as i32;
    (0..count)
        .map(|_| Profile::at(Coordinate::at([part(), part(), part()])))
        .collect()
}

fn busy(bounds: &[(u64, u64)]) -> Vec<Interval> {
    let interval =
        |&(a, b): &(u64, u64)| Interval::new(Time::from_secs(a), Time::from_secs(b)).unwrap();
    bounds.iter().map(interval).collect()
}

fn problem<'a>(
    nodes: &'a [NodeId],
    profiles: &'a [Profile],
    starts: &'a Starts,
    count: u32,
) -> Problem<'a> {
    Problem {
        nodes,
        profiles,
        starts,
        count,
        current: &[],
        from: Time::ZERO,
    }
}

const SECOND: Span = Span::from_secs(1);

#[test]
fn a_set_starts_where_the_last_of_its_members_becomes_free() {
    let schedules = [
        busy(&[(0, 5)]),
        busy(&[(3, 8)]),
        busy(&[]),
        busy(&[(0, 100)]),
    ];
    let starts = Starts::new(
        &schedules,
        Time::ZERO,
        SECOND.times(2),
        SECOND.times(50),
        Span::ZERO,
    );
    let at = |seconds| Some(Time::from_secs(seconds));
    assert_eq!(starts.common(&[1, 2]), at(0));
    assert_eq!(starts.common(&[0, 2]), at(5));
    assert_eq!(starts.common(&[0, 1]), at(8));
    assert_eq!(starts.common(&[0, 3]), None);
    assert_eq!(starts.earliest_for(2), at(0));
    assert_eq!(starts.earliest_for(3), at(8));
    assert_eq!(starts.earliest_for(4), None);
}

#[test]
fn starts_lie_on_slots() {
    let schedules = [busy(&[(0, 5)]), busy(&[(0, 61)])];
    let minute = SECOND.times(60);
    let starts = Starts::new(
        &schedules,
        Time::from_secs(1),
        SECOND,
        minute.times(9),
        minute,
    );
    assert_eq!(starts.times(), [Time::from_secs(60), Time::from_secs(120)],);
    assert_eq!(starts.common(&[0]), Some(Time::from_secs(60)));
    assert_eq!(starts.common(&[0, 1]), Some(Time::from_secs(120)));
}

#[test]
fn of_too_many_starts_the_first_and_the_last_are_kept() {
    let schedules: Vec<_> = (0..1000).map(|i| busy(&[(2 * i, 2 * i + 1)])).collect();
    let starts = Starts::new(
        &schedules,
        Time::ZERO,
        SECOND,
        SECOND.times(5000),
        Span::ZERO,
    );
    let times = starts.times();
    assert_eq!(times.len(), Starts::MOST);
    assert!(times.is_sorted_by(|a, b| a < b));
    assert_eq!(times[1], Time::from_secs(1));
    assert_eq!(times[Starts::MOST / 2 - 1], Time::from_secs(253));
    assert_eq!(times.last(), Some(&Time::from_secs(1999)));
    // A set is free at a kept start or at none; it never starts where a member is busy.
    let start = starts.common(&[0, 1, 999]).unwrap();
    assert!(schedules[999][0].start() >= start + SECOND);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let (nodes, profiles) = (names(4), profiles(4, 1));
    let starts = Starts::at(Time::ZERO, 4);
    let refusal =
        |problem: &Problem<'_>| select(problem, &Closest, &Config::PAPER, &mut rng(1)).unwrap_err();
    let sound = problem(&nodes, &profiles, &starts, 2);
    assert_eq!(
        refusal(&Problem { count: 0, ..sound }),
        NoSelection::ZeroCount
    );
    assert_eq!(
        refusal(&Problem { count: 5, ..sound }),
        NoSelection::TooFew { have: 4 }
    );
    assert_eq!(
        refusal(&Problem {
            profiles: &profiles[1..],
            ..sound
        }),
        NoSelection::Mismatch
    );
    let fewer = Starts::at(Time::ZERO, 3);
    assert_eq!(
        refusal(&Problem {
            starts: &fewer,
            ..sound
        }),
        NoSelection::Mismatch
    );
    assert_eq!(
        refusal(&Problem {
            nodes: &[nodes[0], nodes[1], nodes[0], nodes[3]],
            ..sound
        }),
        NoSelection::NotDistinct
    );
    for current in [&[4][..], &[1, 1]] {
        assert_eq!(
            refusal(&Problem { current, ..sound }),
            NoSelection::NotDistinct
        );
    }
    let never = Starts::new(
        &vec![busy(&[(0, 100)]); 4],
        Time::ZERO,
        SECOND,
        SECOND.times(99),
        Span::ZERO,
    );
    assert_eq!(
        refusal(&Problem {
            starts: &never,
            ..sound
        }),
        NoSelection::NoCommonStart
    );
}

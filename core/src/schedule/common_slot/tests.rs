use std::collections::BTreeSet;
use std::format;
use std::vec;
use std::vec::Vec;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::*;
use crate::rng::Choose as _;

type Rng = Xoshiro256PlusPlus;

#[derive(Clone, Debug)]
struct Known {
    windows: Vec<Interval>,
    horizon: Time,
}

impl BusyTime for Known {
    fn windows(&self) -> &[Interval] {
        &self.windows
    }
    fn horizon(&self) -> Time {
        self.horizon
    }
}

fn at(micros: u64) -> Time {
    Time::from_micros(micros)
}

fn span(micros: u64) -> Span {
    Span::from_micros(micros)
}

fn busy(bounds: &[(u64, u64)]) -> Vec<Interval> {
    let interval = |&(start, end)| Interval::new(at(start), at(end)).unwrap();
    bounds.iter().map(interval).collect()
}

/// The obvious way: is any window in the way?
fn is_idle(schedule: &Known, start: Time, length: Span) -> bool {
    let Ok(slot) = Interval::starting(start, length) else {
        return false;
    };
    slot.end() <= schedule.horizon && !schedule.windows.iter().any(|w| w.overlaps(slot))
}

/// The obvious way: every time at which a schedule can become free.
fn slow(schedules: &[Known], from: Time, length: Span, count: u32) -> Option<(Time, Vec<u32>)> {
    let ends = schedules
        .iter()
        .flat_map(|s| s.windows.iter().map(|w| w.end()));
    let times: BTreeSet<Time> = ends.filter(|&end| end > from).chain([from]).collect();
    times.into_iter().find_map(|start| {
        let free: Vec<u32> = (0..)
            .zip(schedules)
            .filter(|(_, schedule)| is_idle(schedule, start, length))
            .map(|(index, _)| index)
            .collect();
        (free.len() >= count as usize).then_some((start, free))
    })
}

/// Widens the free time around the slot by one microsecond at a time.
fn slow_idle(schedule: &Known, from: Time, start: Time, length: Span) -> u64 {
    let one = span(1);
    let (mut since, mut until) = (start, start + length);
    while since > from && is_idle(schedule, since - one, one) {
        since = since - one;
    }
    while until < Time::MAX && is_idle(schedule, until, one) {
        until += one;
    }
    (until - since).as_micros() - length.as_micros()
}

/// Schedules on a short stretch of time that begins at `origin`; some touch, some are empty, some have a horizon.
fn random_schedules(rng: &mut Rng, origin: u64) -> Vec<Known> {
    let most = rng.below(12);
    (0..=rng.below(9))
        .map(|_| {
            let mut end = origin.saturating_add(u64::from(rng.below(6)));
            let windows = (0..rng.below(most + 1)).filter_map(|_| {
                let start = end.saturating_add(u64::from(rng.below(7)));
                end = start.saturating_add(1 + u64::from(rng.below(9)));
                Interval::new(at(start), at(end)).ok()
            });
            let windows = windows.collect();
            let horizon = match rng.below(3) {
                0 => origin.saturating_add(u64::from(rng.below(90))),
                _ => u64::MAX,
            };
            Known {
                windows,
                horizon: at(horizon),
            }
        })
        .collect()
}

fn check_against_the_obvious_way(seed: u64, origin: u64, search: &mut CommonSearch) -> bool {
    let mut rng = Rng::seed_from_u64(seed);
    let schedules = random_schedules(&mut rng, origin);
    let from = at(origin.saturating_add(u64::from(rng.below(60))));
    let length = span(1 + u64::from(rng.below(8)));
    let count = 1 + rng.below(schedules.len() as u32);
    let context = format!("seed {seed} origin {origin}");

    let Some((start, free)) = slow(&schedules, from, length, count) else {
        let found = search.earliest(&schedules, from, length, count, InOrder);
        assert_eq!(found, Err(NoCommonSlot::BeyondHorizon), "{context}");
        return false;
    };
    let wanted = count as usize;
    let slot = search
        .earliest(&schedules, from, length, count, InOrder)
        .unwrap();
    assert_eq!(
        (slot.start, slot.chosen),
        (start, &free[..wanted]),
        "{context}"
    );

    let slot = search
        .earliest(&schedules, from, length, count, Seeded(&mut rng))
        .unwrap();
    let chosen: BTreeSet<u32> = slot.chosen.iter().copied().collect();
    assert_eq!(
        (slot.start, chosen.len(), slot.chosen.len()),
        (start, wanted, wanted),
        "{context}"
    );
    assert!(chosen.iter().all(|index| free.contains(index)), "{context}");

    let slot = search
        .earliest(&schedules, from, length, count, BestFit)
        .unwrap();
    assert_eq!(
        (slot.start, slot.chosen.len()),
        (start, wanted),
        "{context}"
    );
    // An idle time without end takes too long to measure a microsecond at a time.
    let ends = |index: &u32| {
        let schedule = &schedules[*index as usize];
        let near = Time::MAX - at(origin) < span(1000);
        near || schedule.horizon < Time::MAX
            || schedule.windows.last().is_some_and(|w| w.start() > start)
    };
    if free.iter().all(ends) {
        let mut ranked = free.clone();
        ranked.sort_by_key(|&index| slow_idle(&schedules[index as usize], from, start, length));
        assert_eq!(slot.chosen, &ranked[..wanted], "{context}");
    }
    true
}

#[test]
fn every_pick_agrees_with_trying_every_time() {
    let mut search = CommonSearch::default();
    let found = (0..6_000).filter(|&seed| check_against_the_obvious_way(seed, 1_000, &mut search));
    let found = found.count();
    assert!(
        (3_000..5_950).contains(&found),
        "{found} of 6000 have an answer"
    );
}

#[test]
fn the_end_of_time_is_no_exception() {
    let mut search = CommonSearch::default();
    let found = (0..4_000)
        .filter(|&seed| check_against_the_obvious_way(seed, u64::MAX - 80, &mut search))
        .count();
    assert!(
        (500..3_950).contains(&found),
        "{found} of 4000 have an answer"
    );
    let idle: [Vec<Interval>; 1] = [vec![]];
    let last = Time::MAX - span(5);
    assert_eq!(
        earliest_common(&idle, last, span(5), 1, InOrder),
        Ok((last, vec![0]))
    );
    assert_eq!(
        earliest_common(&idle, last, span(6), 1, InOrder),
        Err(NoCommonSlot::BeyondHorizon)
    );
}

/// Longer schedules on wildly different scales, so that the sweep takes several stretches and buckets hold many events.
#[test]
fn long_crowded_and_lopsided_schedules_agree_with_trying_every_time() {
    let mut search = CommonSearch::default();
    for seed in 0..150 {
        let mut rng = Rng::seed_from_u64(seed);
        let scale = [1, 3, 1 << 20, 1 << 40][rng.below(4) as usize];
        let schedules: Vec<Known> = (0..12)
            .map(|_| {
                let mut end = 0_u64;
                let mut windows = Vec::new();
                for _ in 0..rng.below(60) {
                    let start = end + scale * u64::from(rng.below(4));
                    end = start + 1 + scale * u64::from(rng.below(12));
                    windows.push(Interval::new(at(start), at(end)).unwrap());
                }
                // Far away, so that all the others share the first bucket.
                if rng.below(4) == 0 {
                    windows.push(Interval::new(at(1 << 60), at((1 << 60) + 1)).unwrap());
                }
                Known {
                    windows,
                    horizon: Time::MAX,
                }
            })
            .collect();
        for count in 1..=12 {
            let length = span(1 + scale * u64::from(rng.below(4)));
            let from = at(scale * u64::from(rng.below(200)));
            let (start, free) = slow(&schedules, from, length, count).unwrap();
            let slot = search
                .earliest(&schedules, from, length, count, InOrder)
                .unwrap();
            assert_eq!(
                (slot.start, slot.chosen),
                (start, &free[..count as usize]),
                "seed {seed} count {count}"
            );
        }
    }
}

#[test]
fn careless_windows_never_panic_and_any_answer_is_well_formed() {
    let mut search = CommonSearch::default();
    let mut rng = Rng::seed_from_u64(7);
    for _ in 0..4_000 {
        let schedules: Vec<Known> = (0..=rng.below(8))
            .map(|_| {
                let mut edge = || match rng.below(4) {
                    0 => u64::from(rng.below(50)),
                    1 => u64::MAX - u64::from(rng.below(50)),
                    2 => u64::from(rng.below(u32::MAX)) << rng.below(32),
                    _ => u64::from(rng.below(2000)),
                };
                let windows = (0..9)
                    .filter_map(|_| Interval::new(at(edge()), at(edge())).ok())
                    .collect();
                let horizon = at(edge().max(edge()));
                Known { windows, horizon }
            })
            .collect();
        let from = at(u64::from(rng.below(100)));
        let length = span(1 + u64::from(rng.below(30)));
        let count = 1 + rng.below(schedules.len() as u32);
        for pick in 0..3 {
            let found = match pick {
                0 => search.earliest(&schedules, from, length, count, InOrder),
                1 => search.earliest(&schedules, from, length, count, BestFit),
                _ => search.earliest(&schedules, from, length, count, Seeded(&mut rng)),
            };
            if let Ok(slot) = found {
                let chosen: BTreeSet<u32> = slot.chosen.iter().copied().collect();
                assert_eq!(chosen.len(), count as usize);
                assert_eq!(slot.chosen.len(), count as usize);
                assert!(
                    chosen
                        .iter()
                        .all(|&index| (index as usize) < schedules.len())
                );
                assert!(slot.start >= from);
            }
        }
    }
}

#[test]
fn a_question_without_an_answer_says_why() {
    let schedules = [busy(&[(0, 10)]), busy(&[])];
    let ask = |length, count| earliest_common(&schedules, Time::ZERO, span(length), count, InOrder);
    assert_eq!(ask(1, 0), Err(NoCommonSlot::ZeroCount));
    assert_eq!(ask(0, 1), Err(NoCommonSlot::ZeroLength));
    assert_eq!(ask(1, 3), Err(NoCommonSlot::TooFewSchedules { have: 2 }));
    assert_eq!(ask(u64::MAX, 2), Err(NoCommonSlot::BeyondHorizon));
    let none: [Vec<Interval>; 0] = [];
    assert_eq!(
        earliest_common(&none, Time::ZERO, span(1), 1, InOrder),
        Err(NoCommonSlot::TooFewSchedules { have: 0 })
    );
    for (error, word) in [
        (NoCommonSlot::ZeroCount, "no schedules"),
        (NoCommonSlot::ZeroLength, "no length"),
        (NoCommonSlot::TooFewSchedules { have: 2 }, "only 2"),
        (NoCommonSlot::BeyondHorizon, "horizons"),
    ] {
        assert!(format!("{error}").contains(word));
    }
}

#[test]
fn a_schedule_is_busy_from_its_horizon_on() {
    let known = |horizon| Known {
        windows: busy(&[(0, 10)]),
        horizon: at(horizon),
    };
    let ask = |horizon| earliest_common(&[known(horizon)], Time::ZERO, span(5), 1, InOrder);
    assert_eq!(ask(15), Ok((at(10), vec![0])));
    assert_eq!(ask(14), Err(NoCommonSlot::BeyondHorizon));
    assert_eq!(ask(3), Err(NoCommonSlot::BeyondHorizon));
}

#[test]
fn a_slot_may_fill_its_gap_exactly_between_touching_windows() {
    let schedules = [
        busy(&[(0, 4), (4, 10), (15, 20), (20, 30)]),
        busy(&[(3, 10)]),
    ];
    let ask = |length| earliest_common(&schedules, Time::ZERO, span(length), 2, InOrder);
    assert_eq!(ask(5), Ok((at(10), vec![0, 1])));
    assert_eq!(ask(6), Ok((at(30), vec![0, 1])));
}

#[test]
fn best_fit_counts_idle_time_from_the_earliest_start_and_breaks_ties_by_order() {
    let schedules = [
        busy(&[(0, 1), (40, 50)]),
        busy(&[(0, 2), (25, 50)]),
        busy(&[(0, 3), (40, 50)]),
        busy(&[(0, 20)]),
    ];
    let (start, chosen) = earliest_common(&schedules, at(10), span(10), 3, BestFit).unwrap();
    assert_eq!((start, chosen), (at(10), vec![1, 0, 2]));
}

#[test]
fn the_stream_of_a_seeded_pick_is_golden() {
    let schedules: Vec<Vec<Interval>> = (0..10)
        .map(|index| {
            if index % 3 == 0 {
                busy(&[(0, 9)])
            } else {
                busy(&[])
            }
        })
        .collect();
    let mut rng = Rng::seed_from_u64(0x6772_6964);
    let mut pick =
        |count| earliest_common(&schedules, Time::ZERO, span(2), count, Seeded(&mut rng));
    let picks: Vec<_> = [2, 4, 6, 9].map(|count| pick(count).unwrap()).into();
    assert_eq!(
        picks,
        GOLDEN_PICKS.map(|(start, chosen)| (at(start), chosen.to_vec()))
    );
}
const GOLDEN_PICKS: [(u64, &[u32]); 4] = [
    (0, &[5, 7]),
    (0, &[8, 1, 4, 5]),
    (0, &[2, 5, 4, 8, 1, 7]),
    (9, &[7, 0, 1, 6, 5, 2, 3, 4, 8]),
];

#[test]
fn a_seeded_pick_draws_once_for_each_schedule_examined_and_never_in_vain() {
    let schedules = [busy(&[]), busy(&[]), busy(&[]), busy(&[(0, 9)])];
    let draws = |count: u32, length: u64| {
        let mut rng = Counting(Rng::seed_from_u64(3), 0);
        let found = earliest_common(
            &schedules,
            Time::ZERO,
            span(length),
            count,
            Seeded(&mut rng),
        );
        (found.map(|(start, _)| start).ok(), rng.1)
    };
    let (start, drawn) = draws(1, 5);
    assert_eq!(start, Some(Time::ZERO));
    assert!((1..=2).contains(&drawn), "{drawn}");
    // The last one left is no choice.
    assert_eq!(draws(4, 5), (Some(at(9)), 3));
    assert_eq!(draws(5, 5), (None, 0));
    assert_eq!(draws(4, u64::MAX), (None, 0));
}

/// Counts draws.
struct Counting(Rng, u32);

impl rand_core::TryRng for Counting {
    type Error = core::convert::Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.1 += 1;
        self.0.try_next_u32()
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        panic!("a choice draws u32 only")
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
        panic!("a choice draws u32 only")
    }
}

#[test]
fn a_seeded_pick_takes_every_free_schedule_about_as_often() {
    let schedules: Vec<Vec<Interval>> = (0..6)
        .map(|index| {
            if index == 2 {
                busy(&[(0, 9)])
            } else {
                busy(&[])
            }
        })
        .collect();
    let mut rng = Rng::seed_from_u64(11);
    let mut search = CommonSearch::default();
    let (mut taken, mut first) = ([0_u32; 6], [0_u32; 6]);
    for _ in 0..10_000 {
        let pick = Seeded(&mut rng);
        let slot = search
            .earliest(&schedules, Time::ZERO, span(1), 2, pick)
            .unwrap();
        first[slot.chosen[0] as usize] += 1;
        for &index in slot.chosen {
            taken[index as usize] += 1;
        }
    }
    assert_eq!((taken[2], first[2]), (0, 0));
    let others = [0, 1, 3, 4, 5];
    assert!(
        others.iter().all(|&i| (3_800..4_200).contains(&taken[i])),
        "{taken:?}"
    );
    assert!(
        others.iter().all(|&i| (1_850..2_150).contains(&first[i])),
        "{first:?}"
    );
}

#[test]
fn a_search_may_draw_from_a_generator_behind_a_pointer() {
    let mut rng = Rng::seed_from_u64(1);
    let dynamic: &mut dyn rand_core::Rng = &mut rng;
    let schedules: [&[Interval]; 2] = [&[], &[]];
    let found = earliest_common(&schedules, Time::ZERO, span(1), 2, Seeded(dynamic));
    assert!(found.is_ok());
}

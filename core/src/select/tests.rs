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

/// The starts of jobs of a second, within 5,000 s.
fn starts(schedules: &[Vec<Interval>]) -> Starts {
    Starts::new(
        schedules,
        Time::ZERO,
        SECOND,
        SECOND.times(5000),
        Span::ZERO,
    )
}

#[test]
fn of_too_many_starts_the_first_and_the_last_are_kept() {
    let schedules: Vec<_> = (0..1000).map(|i| busy(&[(2 * i, 2 * i + 1)])).collect();
    let starts = starts(&schedules);
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
fn as_many_starts_as_may_be_are_all_kept() {
    for count in [1, Starts::MOST / 2, Starts::MOST / 2 + 9, Starts::MOST - 1] {
        let schedules: Vec<_> = (0..count as u64)
            .map(|i| busy(&[(2 * i, 2 * i + 1)]))
            .collect();
        let starts = starts(&schedules);
        let ends = (0..count as u64).map(|i| Time::from_secs(2 * i + 1));
        assert!(
            starts
                .times()
                .iter()
                .copied()
                .eq(core::iter::once(Time::ZERO).chain(ends))
        );
    }
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

/// What a set of all of these profiles costs.
fn cost(objective: &dyn Objective, profiles: &[Profile], wait: Span) -> f64 {
    let nodes = names(profiles.len() as u64);
    let chosen: Vec<u32> = (0..profiles.len() as u32).collect();
    let set = Set::new(&nodes, profiles, &chosen, Time::ZERO + wait, Time::ZERO);
    objective.cost(&set)
}

#[test]
fn the_standard_objectives_cost_what_they_say() {
    // Around the centroid (3, 4, 0), each five away; heights do not count.
    let at = |x, y| Profile::at(Coordinate::at([x, y, 0]).raised(Span::from_micros(100)));
    let square = [at(0, 0), at(6, 8), at(0, 8), at(6, 0)];
    assert_eq!(cost(&Closest, &square, SECOND), 20.0);
    assert_eq!(cost(&Farthest, &square, SECOND), -20.0);
    assert_eq!(cost(&SquaredSpread, &square, SECOND), 100.0);
    assert_eq!(cost(&Soonest, &square, SECOND), 1e6);
    let regions = [3, 7, 3, 3].map(|region| Profile {
        region,
        ..Profile::default()
    });
    assert_eq!(cost(&Regions, &regions, SECOND), 2.0);
    let bandwidth = Bandwidth {
        location: Coordinate::at([30, 40, 0]),
        volume: 3_000,
        unknown: 1_500,
    };
    // There and back to the data, then 3 Mbit at 1 Mbit/s and at what to reckon with.
    let known = Profile {
        bandwidth: 1_000,
        ..Profile::default()
    };
    assert_eq!(
        bandwidth.fetching(&known),
        Some(Span::from_micros(3_000_100))
    );
    assert_eq!(
        bandwidth.fetching(&Profile::default()),
        Some(Span::from_micros(2_000_100))
    );
    assert_eq!(
        cost(&bandwidth, &[known.clone(), Profile::default()], SECOND),
        5_000_200.0
    );
    let careful = Bandwidth {
        unknown: 0,
        ..bandwidth
    };
    assert_eq!(
        cost(&careful, &[known, Profile::default()], SECOND),
        f64::INFINITY
    );
}

#[test]
fn a_part_without_weight_does_not_count_even_if_it_costs_infinitely_much() {
    let never = Standard::Bandwidth(Bandwidth {
        location: Coordinate::default(),
        volume: 1,
        unknown: 0,
    });
    let only = Combined::from(Standard::Soonest).and(Weight::from_millionths(0), never);
    assert_eq!(cost(&only, &profiles(3, 1), SECOND), 1e6);
    let both = only.and(Weight::from_millionths(1), never);
    assert_eq!(cost(&both, &profiles(3, 1), SECOND), f64::INFINITY);
}

#[test]
fn soonest_starts_when_enough_nodes_are_free_and_prefers_nodes_that_the_job_has() {
    let schedules = [
        busy(&[(0, 9)]),
        busy(&[(0, 5)]),
        busy(&[(0, 5)]),
        busy(&[(0, 5)]),
        busy(&[(0, 2)]),
    ];
    let starts = Starts::new(&schedules, Time::ZERO, SECOND, SECOND.times(99), Span::ZERO);
    let (nodes, profiles) = (names(5), profiles(5, 1));
    let sound = Problem {
        current: &[0, 3],
        ..problem(&nodes, &profiles, &starts, 3)
    };
    let soonest = select(&sound, &Soonest, &Config::DEFAULT, &mut rng(1)).unwrap();
    assert_eq!(soonest.start, Time::from_secs(5));
    assert_eq!(soonest.chosen, [1, 2, 3]);
}

#[test]
fn the_genetic_algorithm_finds_the_golden_set() {
    let (nodes, profiles) = (names(100), profiles(100, 1));
    let starts = Starts::at(Time::ZERO, 100);
    let bred = select(
        &problem(&nodes, &profiles, &starts, 8),
        &Closest,
        &Config::PAPER,
        &mut rng(1),
    );
    assert_eq!(bred.unwrap().chosen, GOLDEN);
}
const GOLDEN: [u32; 8] = [8, 15, 18, 29, 37, 52, 69, 90];

/// For each objective, on nodes of which some are busy: the seeds as one number, and the set that swaps make of the
/// first nodes.
#[test]
fn greedy_seeds_and_swaps_give_the_golden_sets() {
    let (nodes, profiles) = (names(60), profiles(60, 3));
    let schedules: Vec<_> = (0..60_u64)
        .map(|node| busy(&[(node % 7, node % 7 + 5 + node % 3)]))
        .collect();
    let starts = Starts::new(
        &schedules,
        Time::ZERO,
        SECOND.times(4),
        SECOND.times(40),
        Span::ZERO,
    );
    let current = [3, 20, 41, 55, 58];
    let problem = Problem {
        current: &current,
        ..problem(&nodes, &profiles, &starts, 5)
    };
    let combined = Combined::from(Standard::SquaredSpread).and(Weight::ONE, Standard::Soonest);
    let bandwidth = Bandwidth {
        location: Coordinate::at([9, 9, 9]),
        volume: 1 << 20,
        unknown: 100,
    };
    let objectives: [&dyn Objective; 7] = [
        &Soonest,
        &Closest,
        &Farthest,
        &SquaredSpread,
        &Regions,
        &bandwidth,
        &combined,
    ];
    let sums = objectives.map(|objective| {
        let (mut tables, mut greedy) = (Tables::default(), Greedy::default());
        let pool = tables.pool(&problem, objective.latest()).unwrap();
        let sum = |set: &[u32]| {
            set.iter().fold(0_u64, |sum, at| {
                sum.wrapping_mul(61).wrapping_add(u64::from(*at))
            })
        };
        let seeds = sum(greedy.seeds(&pool, objective).unwrap());
        let mut first: Vec<u32> = (0..5).collect();
        greedy.improve(&pool, objective, &mut first).unwrap();
        (seeds, first)
    });
    let golden = [
        (12_022_782_693_758_424_437, [0, 1, 2, 3, 4]),
        (16_876_464_735_924_424_828, [3, 11, 21, 45, 58]),
        (9_177_408_964_328_356_475, [16, 21, 30, 46, 50]),
        (14_947_302_864_409_132_574, [3, 21, 37, 45, 58]),
        (12_022_782_693_758_424_437, [0, 1, 3, 7, 58]),
        (4_725_706_920_225_392_443, [7, 18, 33, 36, 51]),
        (14_947_302_864_409_132_574, [3, 21, 37, 45, 58]),
    ];
    assert_eq!(sums, golden.map(|(seeds, set)| (seeds, set.to_vec())));
}

#[test]
fn the_cheaper_is_better_and_at_equal_cost_the_earlier() {
    let selection = |cost, start| Selection {
        chosen: vec![0],
        start: Time::from_secs(start),
        cost,
    };
    let one = selection(2.0, 5);
    assert!(one.is_better_than(&selection(3.0, 4)));
    assert!(one.is_better_than(&selection(2.0, 6)));
    assert!(!one.is_better_than(&one), "PROTOCOLS F4");
    assert!(!one.is_better_than(&selection(2.0, 4)));
    assert!(!one.is_better_than(&selection(1.0, 6)));
}

#[test]
fn a_set_tells_its_members_and_how_long_it_waits() {
    let (nodes, profiles) = (names(3), profiles(3, 1));
    let (from, start) = (Time::from_secs(4), Time::from_secs(9));
    let set = Set::new(&nodes, &profiles, &[2, 0], start, from);
    assert_eq!((set.len(), set.is_empty()), (2, false));
    assert!(set.nodes().eq([2, 0].map(NodeId::new)));
    assert_eq!((set.from(), set.start()), (from, start));
    assert_eq!(set.wait(), Span::from_secs(5));
    assert!(Set::new(&nodes, &profiles, &[], start, from).is_empty());
}

#[test]
fn sums_that_start_too_late_are_not_acceptable() {
    fn rest(objective: impl Objective, start: u64) -> f64 {
        objective.rest(&Sums::new(Time::from_secs(start), Time::ZERO))
    }
    let within = Limit::StartWithin(SECOND.times(5));
    let soonest = Combined::from(Standard::Soonest).limited(within);
    assert_eq!(rest(&soonest, 4), 4e6);
    assert_eq!(rest(&soonest, 5), 5e6);
    assert_eq!(rest(&soonest, 6), f64::INFINITY);
}

#[test]
fn a_mask_has_just_the_starts_at_which_a_candidate_is_free() {
    let schedules = [busy(&[(0, 5)]), busy(&[(3, 8)]), busy(&[])];
    let (length, horizon) = (SECOND.times(2), SECOND.times(20));
    let starts = Starts::new(&schedules, Time::ZERO, length, horizon, Span::ZERO);
    let all = starts.all();
    assert_ne!(starts.mask(0, all), all);
    for candidate in 0..3 {
        let mask = starts.mask(candidate, all);
        for at in 0..starts.times().len() {
            let bit = mask[at / 64] >> (at % 64) & 1 == 1;
            assert_eq!(bit, starts.is_free(candidate, at));
        }
    }
}

#[test]
fn farthest_costs_the_negative_of_closest() {
    let (nodes, profiles) = (names(3), profiles(3, 1));
    let set = Set::new(&nodes, &profiles, &[0, 1, 2], Time::ZERO, Time::ZERO);
    assert!(Closest.estimate(&set) > 0.0 && Closest.cost(&set) > 0.0);
    assert_eq!(Farthest.estimate(&set), -Closest.estimate(&set));
    assert_eq!(Farthest.cost(&set), -Closest.cost(&set));
}

#[test]
fn a_stand_in_is_free_at_the_start_and_the_best_comes_first() {
    let nodes = names(5);
    let at = |place: i32| Profile::at(Coordinate::at([place, 0, 0]));
    // The second makes the first two start at 10. The third is busy by then, though it was free with the first before.
    let profiles = [at(0), at(1), at(2), at(40), at(30)];
    let schedules = [
        busy(&[]),
        busy(&[(0, 10)]),
        busy(&[(5, 24)]),
        busy(&[]),
        busy(&[]),
    ];
    let starts = starts(&schedules);
    let problem = problem(&nodes, &profiles, &starts, 2);
    let selection = evaluate(&problem, &Closest, &[0, 1]).unwrap();
    assert_eq!(selection.start, Time::from_secs(10));
    assert_eq!(stand_ins(&problem, &Closest, &selection, 8), Ok(vec![4, 3]));
    assert_eq!(stand_ins(&problem, &Closest, &selection, 1), Ok(vec![4]));
}

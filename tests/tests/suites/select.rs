//! Nodes are selected beside a search that tries every set at every tick.

use gridweave_core::id::NodeId;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::rng::Choose;
use gridweave_core::schedule::BusyTime;
use gridweave_core::select::{
    Bandwidth, Closest, Combined, Config, Farthest, Form, Limit, NoSelection, Objective, Problem,
    Regions, Selection, Set, Soonest, SquaredSpread, Standard, Starts, Sums, Weight, evaluate,
    select,
};
use gridweave_core::time::{Interval, Span, Time};
use gridweave_tests::scaled;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

type Generator = Xoshiro256PlusPlus;

/// Ticks are seconds; nothing happens after the last.
const TICKS: u64 = 40;

/// A small grid and a question about it.
struct Case {
    nodes: Vec<NodeId>,
    profiles: Vec<Profile>,
    busy: Vec<Vec<Interval>>,
    starts: Starts,
    length: u64,
    horizon: u64,
    count: u32,
    current: Vec<u32>,
}

impl Case {
    fn new(seed: u64, nodes: u32, count: u32, windows: u32) -> Self {
        let mut rng = Generator::seed_from_u64(seed);
        let profiles: Vec<Profile> = (0..nodes).map(|_| profile(&mut rng)).collect();
        let busy: Vec<Vec<Interval>> = (0..nodes).map(|_| schedule(&mut rng, windows)).collect();
        let length = 1 + u64::from(rng.below(4));
        let horizon = u64::from(rng.below(TICKS as u32));
        let starts = Starts::new(
            &busy,
            Time::ZERO,
            seconds(length),
            seconds(horizon),
            Span::ZERO,
        );
        let mut everyone: Vec<u32> = (0..nodes).collect();
        let current = rng.below(count + 1) as usize;
        let current = rng.sample(&mut everyone, current).0.to_vec();
        Self {
            nodes: (0..u64::from(nodes)).map(NodeId::new).collect(),
            profiles,
            busy,
            starts,
            length,
            horizon,
            count,
            current,
        }
    }

    fn problem(&self) -> Problem<'_> {
        Problem {
            nodes: &self.nodes,
            profiles: &self.profiles,
            starts: &self.starts,
            count: self.count,
            current: &self.current,
            from: Time::ZERO,
        }
    }

    /// The first tick at which all of these are free.
    fn start(&self, chosen: &[u32]) -> Option<Time> {
        let free = |tick: u64| {
            let job = Interval::starting(Time::from_secs(tick), seconds(self.length)).unwrap();
            chosen.iter().all(|&at| self.busy[at as usize].is_free(job))
        };
        (0..=self.horizon)
            .find(|&tick| free(tick))
            .map(Time::from_secs)
    }

    /// The best set, by trying all of them; ties by start, then by how many are new.
    fn best(&self, objective: &dyn Objective) -> Result<Selection, NoSelection> {
        let mut best: Option<((f64, Time, usize), Vec<u32>)> = None;
        let mut startable = false;
        for bits in 0_u32..1 << self.nodes.len() {
            if bits.count_ones() != self.count {
                continue;
            }
            let chosen: Vec<u32> = (0..32).filter(|at| bits >> at & 1 == 1).collect();
            let Some(start) = self.start(&chosen) else {
                continue;
            };
            startable = true;
            let set = Set::new(&self.nodes, &self.profiles, &chosen, start, Time::ZERO);
            let new = chosen
                .iter()
                .filter(|at| !self.current.contains(at))
                .count();
            let rank = (objective.cost(&set), start, new);
            if rank.0.is_finite() && best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, chosen));
            }
        }
        match best {
            Some(((cost, start, _), chosen)) => Ok(Selection {
                chosen,
                start,
                cost,
            }),
            None if startable => Err(NoSelection::NotAcceptable),
            None => Err(NoSelection::NoCommonStart),
        }
    }

    fn new_nodes(&self, selection: &Selection) -> usize {
        let new = |at: &&u32| !self.current.contains(at);
        selection.chosen.iter().filter(new).count()
    }
}

fn seconds(seconds: u64) -> Span {
    Span::from_secs(seconds)
}

fn profile(rng: &mut Generator) -> Profile {
    let mut part = || rng.below(100_000) as i32 - 50_000;
    let coordinate = Coordinate::at([part(), part(), part()]);
    Profile {
        region: rng.below(4) as u16,
        bandwidth: rng.below(5) * 1000,
        ..Profile::at(coordinate)
    }
}

fn schedule(rng: &mut Generator, windows: u32) -> Vec<Interval> {
    let mut at = 0;
    let mut busy = Vec::new();
    for _ in 0..rng.below(windows + 1) {
        let start = at + u64::from(rng.below(9));
        at = start + 1 + u64::from(rng.below(9));
        busy.push(Interval::new(Time::from_secs(start), Time::from_secs(at)).unwrap());
        at += 1;
    }
    busy
}

fn objectives() -> Vec<Box<dyn Objective>> {
    let bandwidth = Bandwidth {
        location: Coordinate::at([1000, 2000, 3000]),
        volume: 8_000,
        unknown: 500,
    };
    let soon = Limit::StartWithin(seconds(10));
    let half = Weight::from_millionths(500_000);
    vec![
        Box::new(Soonest),
        Box::new(Closest),
        Box::new(Farthest),
        Box::new(Regions),
        Box::new(SquaredSpread),
        Box::new(bandwidth),
        Box::new(Bandwidth {
            unknown: 0,
            ..bandwidth
        }),
        Box::new(Combined::from(Standard::Closest).limited(soon)),
        Box::new(Combined::from(Standard::Soonest).and(half, Standard::Bandwidth(bandwidth))),
        Box::new(
            Combined::from(Standard::Closest)
                .and(Weight::from_millionths(20_000_000_000), Standard::Regions)
                .and(Weight::from_millionths(1_000), Standard::Soonest),
        ),
        Box::new(
            Combined::from(Standard::Bandwidth(bandwidth)).limited(Limit::AtMost {
                what: Standard::Closest,
                cost: 150_000,
            }),
        ),
    ]
}

#[test]
fn a_sets_start_is_the_first_tick_at_which_all_are_free() {
    for seed in 0..2_000 {
        let case = Case::new(seed, 6, 3, 4);
        let mut rng = Generator::seed_from_u64(seed);
        for count in 1..=6 {
            let mut everyone: Vec<u32> = (0..6).collect();
            let (chosen, _) = rng.sample(&mut everyone, count);
            assert_eq!(
                case.starts.common(chosen),
                case.start(chosen),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn a_selection_among_few_sets_is_the_best_of_all() {
    let objectives = objectives();
    let mut found = 0;
    for seed in 0..300 {
        let nodes = 1 + (seed % 9) as u32;
        let case = Case::new(seed, nodes, 1 + (seed % 5) as u32 % nodes, 4);
        for (which, objective) in objectives.iter().enumerate() {
            let mut rng = Generator::seed_from_u64(seed);
            let ours = select(&case.problem(), &**objective, &Config::DEFAULT, &mut rng);
            let best = case.best(&**objective);
            match (&ours, &best) {
                (Ok(ours), Ok(best)) => {
                    let same = (ours.cost, ours.start, case.new_nodes(ours));
                    assert_eq!(
                        same,
                        (best.cost, best.start, case.new_nodes(best)),
                        "seed {seed}, objective {which}"
                    );
                    assert_eq!(case.start(&ours.chosen), Some(ours.start));
                    assert_eq!(
                        evaluate(&case.problem(), &**objective, &ours.chosen).as_ref(),
                        Ok(ours)
                    );
                    found += 1;
                }
                // What is left out when a limit prunes starts counts as no start.
                (Err(ours), Err(_)) => assert!(
                    matches!(
                        ours,
                        NoSelection::NoCommonStart | NoSelection::NotAcceptable
                    ),
                    "seed {seed}, objective {which}: {ours:?}"
                ),
                _ => panic!("seed {seed}, objective {which}: {ours:?} where {best:?}"),
            }
        }
    }
    assert!(found > 1_500, "only {found} cases had an answer");
}

/// How many searches are held against the best there is.
const CASES: u32 = scaled(1_000, 100);

/// Up to five of twelve by breeding alone.
fn share_of_optima(objective: &dyn Objective, windows: u32) -> (u32, u32) {
    let (mut optimal, mut cases) = (0, 0);
    for seed in 0..u64::from(CASES) {
        let case = Case::new(seed, 12, 1 + (seed % 5) as u32, windows);
        let mut rng = Generator::seed_from_u64(seed);
        let bred = select(&case.problem(), objective, &Config::PAPER, &mut rng);
        match (bred, case.best(objective)) {
            (Ok(bred), Ok(best)) => {
                assert!(bred.cost >= best.cost, "seed {seed}: better than the best");
                assert_eq!(case.start(&bred.chosen), Some(bred.start), "seed {seed}");
                cases += 1;
                optimal += u32::from(bred.cost == best.cost);
            }
            (bred, best) => assert!(
                bred.is_err() && best.is_err(),
                "seed {seed}: {bred:?} where {best:?}"
            ),
        }
    }
    (optimal, cases)
}

#[test]
fn breeding_alone_finds_the_closest_few_of_twelve_in_99_of_100_cases() {
    let (optimal, cases) = share_of_optima(&Closest, 0);
    println!("optimal in {optimal} of {cases}");
    assert_eq!(cases, CASES);
    assert!(optimal * 100 >= cases * 99, "{optimal} of {cases}");
}

#[test]
fn breeding_alone_finds_the_best_among_schedules_in_99_of_100_cases() {
    let soon = Combined::from(Standard::Closest)
        .and(Weight::from_millionths(1_000), Standard::Soonest)
        .limited(Limit::StartWithin(seconds(30)));
    let (optimal, cases) = share_of_optima(&soon, 3);
    println!("optimal in {optimal} of {cases}");
    assert!(cases > CASES / 2, "only {cases} cases had an answer");
    assert!(optimal * 100 >= cases * 99, "{optimal} of {cases}");
}

#[test]
fn breeding_with_every_shortcut_is_no_worse_than_without() {
    let (mut better, mut worse) = (0, 0);
    for seed in 0..u64::from(scaled(40, 3)) {
        let case = Case::new(seed, 60, 20, 2);
        for objective in objectives() {
            let run = |config: &Config| {
                let mut rng = Generator::seed_from_u64(seed);
                select(&case.problem(), &*objective, config, &mut rng)
            };
            if let (Ok(bred), Ok(helped)) = (run(&Config::PAPER), run(&Config::DEFAULT)) {
                better += u32::from(helped.cost < bred.cost);
                worse += u32::from(helped.cost > bred.cost * (1.0 + 1e-9));
            }
        }
    }
    println!("better in {better}, worse in {worse}");
    assert!(better > 10 * worse, "better in {better}, worse in {worse}");
}

#[test]
fn sums_that_follow_swaps_cost_what_the_whole_set_costs() {
    let mut checked = 0;
    for seed in 0..200 {
        let case = Case::new(seed, 20, 8, 0);
        let mut rng = Generator::seed_from_u64(seed);
        for objective in objectives() {
            if objective.form() == Form::Whole {
                continue;
            }
            let point = |at: u32| case.profiles[at as usize].coordinate.point.map(f64::from);
            let share = |at: u32| objective.share(&case.profiles[at as usize]);
            let mut everyone: Vec<u32> = (0..20).collect();
            rng.shuffle(&mut everyone);
            let (chosen, others) = everyone.split_at_mut(8);
            let start = Time::from_secs(u64::from(rng.below(20)));
            let mut sums = Sums::new(start, Time::ZERO);
            chosen.iter().for_each(|&at| sums.add(share(at), point(at)));
            for _ in 0..50 {
                let (leaving, joining) = (rng.index(8), rng.index(12));
                sums.remove(share(chosen[leaving]), point(chosen[leaving]));
                sums.add(share(others[joining]), point(others[joining]));
                std::mem::swap(&mut chosen[leaving], &mut others[joining]);
                let set = Set::new(&case.nodes, &case.profiles, chosen, start, Time::ZERO);
                let (whole, quick) = (objective.cost(&set), sums.cost(&*objective));
                // A share without end does not come back out of a sum.
                if !quick.is_finite() || !whole.is_finite() {
                    continue;
                }
                let off = (whole - quick).abs() / whole.abs().max(1.0);
                assert!(off < 1e-9, "seed {seed}: {whole} and {quick}");
                checked += 1;
            }
        }
    }
    assert!(checked > 10_000, "only {checked}");
}

#[test]
fn estimates_are_within_a_millionth_of_the_cost() {
    // The estimate decides what is bred; what is told is the cost.
    for seed in 0..u64::from(scaled(50, 3)) {
        let case = Case::new(seed, 200, 64, 0);
        let mut rng = Generator::seed_from_u64(seed);
        let bred = select(&case.problem(), &Estimated, &Config::PAPER, &mut rng);
        let off = bred.unwrap().cost;
        assert!(off < 1e-6, "seed {seed}: off by {off}");
    }
}

/// Costs how far off the estimate of the closest is; negative, so that breeding looks for the worst.
struct Estimated;

impl Objective for Estimated {
    fn cost(&self, set: &Set<'_>) -> f64 {
        let exact = Closest.cost(set);
        (Closest.estimate(set) - exact).abs() / exact
    }
    fn estimate(&self, set: &Set<'_>) -> f64 {
        -self.cost(set)
    }
}

#[test]
fn the_same_seed_selects_the_same_nodes() {
    for seed in 0..u64::from(scaled(20, 1)) {
        let case = Case::new(seed, 80, 30, 2);
        for config in [Config::PAPER, Config::DEFAULT] {
            for objective in objectives() {
                let run = || {
                    let mut rng = Generator::seed_from_u64(seed);
                    select(&case.problem(), &*objective, &config, &mut rng)
                };
                assert_eq!(run(), run(), "seed {seed}");
            }
        }
    }
}

/// An objective made of a function.
struct Custom<F>(F);

impl<F: Fn(&Set<'_>) -> f64> Objective for Custom<F> {
    fn cost(&self, set: &Set<'_>) -> f64 {
        (self.0)(set)
    }
}

/// Every way to search.
fn configs() -> [Config; 4] {
    let greedy = Config {
        greedy: true,
        generations: 0,
        ..Config::PAPER
    };
    let none = Config {
        population: 0,
        generations: 3,
        stall: Some(0),
        tournament: 0,
        swaps: 0,
        elite: 9,
        restarts: 0,
        exact: Some(0),
        greedy: true,
    };
    [Config::PAPER, Config::DEFAULT, greedy, none]
}

#[test]
fn whatever_an_objective_returns_there_is_an_answer_or_a_refusal() {
    for (nodes, count) in [(1, 1), (6, 6), (6, 5), (40, 20), (130, 64)] {
        let case = Case::new(u64::from(nodes), nodes, count, 0);
        // Breeding among many nodes is for a release build.
        for config in configs().into_iter().skip(scaled(0, nodes / 100) as usize) {
            let run = |objective: &dyn Objective| {
                let mut rng = Generator::seed_from_u64(1);
                select(&case.problem(), objective, &config, &mut rng)
            };
            let not_a_number = Err(NoSelection::NotANumber);
            assert_eq!(run(&Custom(|_: &Set<'_>| f64::NAN)), not_a_number);
            assert_eq!(run(&Custom(|_: &Set<'_>| f64::NEG_INFINITY)), not_a_number);
            let never = run(&Custom(|_: &Set<'_>| f64::INFINITY));
            assert_eq!(never, Err(NoSelection::NotAcceptable));
            for huge in [f64::MAX, f64::MIN, -0.0] {
                let selection = run(&Custom(|_: &Set<'_>| huge)).unwrap();
                assert_eq!(selection.cost, huge);
                assert_eq!(selection.chosen.len(), count as usize);
                assert!(selection.chosen.is_sorted_by(|a, b| a < b));
            }
            for objective in objectives() {
                let outcome = run(&*objective);
                assert_ne!(outcome.err(), Some(NoSelection::NotANumber));
            }
            let unreachable = Combined::from(Standard::Closest).limited(Limit::AtMost {
                what: Standard::Soonest,
                cost: -1,
            });
            assert!(run(&unreachable).is_err());
        }
    }
}

#[test]
fn nodes_at_equal_or_extreme_coordinates_are_selected() {
    let same = vec![Profile::at(Coordinate::at([7, 7, 7])); 50];
    let ends = |at: usize| match at % 2 {
        0 => Profile::at(Coordinate::at([i32::MIN; 3])),
        _ => Profile::at(Coordinate::at([i32::MAX; 3])),
    };
    let nodes: Vec<NodeId> = (0..50).map(NodeId::new).collect();
    let starts = Starts::at(Time::ZERO, 50);
    for config in configs() {
        for count in [1, 24, 25, 26, 49, 50] {
            let run = |profiles: &[Profile]| {
                let problem = Problem {
                    nodes: &nodes,
                    profiles,
                    starts: &starts,
                    count,
                    current: &[],
                    from: Time::ZERO,
                };
                let mut rng = Generator::seed_from_u64(1);
                select(&problem, &Closest, &config, &mut rng).unwrap()
            };
            assert_eq!(run(&same).cost, 0.0);
            let apart = run(&(0..50).map(ends).collect::<Vec<_>>());
            assert!(apart.cost.is_finite());
            if config == Config::DEFAULT {
                assert_eq!(apart.cost == 0.0, count <= 25);
            }
        }
    }
}

#[test]
fn at_equal_cost_a_job_keeps_the_nodes_it_has() {
    let mut case = Case::new(3, 30, 10, 0);
    case.profiles = vec![Profile::default(); 30];
    case.current = vec![3, 5, 7, 11, 13, 17, 19, 23, 25, 29];
    for objective in [Standard::Soonest, Standard::Closest, Standard::Regions] {
        let mut rng = Generator::seed_from_u64(1);
        let kept = select(&case.problem(), &objective, &Config::DEFAULT, &mut rng).unwrap();
        assert_eq!(kept.chosen, case.current, "{objective:?}");
    }
}

//! VICINITY at work over CYCLON: how fast nodes find those nearest to them (PROTOCOLS 2.5), and whether they lose them
//! again.
//!
//! There are [`NODES`] nodes, or fewer where a test says so, that CYCLON has shuffled for 50 cycles (20 links, 8 to a
//! message), then both layers run side by side without delay. An *ideal* link leads to one of the nearest others there
//! are, as many of them as a view has links.

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::NodeId;
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine};
use gridweave_core::overlay::cyclon::{self, Cyclon};
use gridweave_core::overlay::vicinity::{
    Command, Config, Descriptor, Descriptors, Distance, Feed, Target, Timer, Vicinity, nearest,
};
use gridweave_core::rng::Choose;
use gridweave_core::time::Time;
use gridweave_lab::overlay::warmed_up;
use gridweave_tests::scaled;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

const NODES: u32 = scaled(1000, 330);
const CLUSTERS: usize = scaled(30, 10) as usize;
const SEED: u64 = 0x7669_6369;

type Point = [i32; 2];

/// The square of the distance in a plane.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Plane;

impl Distance<Point> for Plane {
    type Rank = u64;
    fn rank(&self, target: &Point, other: &Point) -> u64 {
        let square = |a: i32, b: i32| u64::from(a.abs_diff(b)).pow(2);
        square(target[0], other[0]) + square(target[1], other[1])
    }
}

type Below = Cyclon<20, 8>;
type Near<D> = Vicinity<Point, D, 20, 10, 20>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Below(cyclon::Timer),
    Near(Timer),
}

/// Two layers on each node, without delay.
struct Grid<D: Distance<Point>> {
    points: Vec<Point>,
    below: Vec<Below>,
    near: Vec<Near<D>>,
    up: Vec<bool>,
    timers: BTreeSet<(Time, u32, Layer)>,
    rng: Xoshiro256PlusPlus,
    cycles: u64,
    /// How often a view got worse in an exchange.
    worse: usize,
    /// The sum of the distances in a view may only shrink while all are up.
    sums: Vec<(usize, u64)>,
    /// How many requests each node has had.
    asked: Vec<u32>,
}

fn id(node: u32) -> NodeId {
    NodeId::new(u64::from(node))
}

impl<D: Distance<Point, Rank = u64>> Grid<D> {
    fn new(points: Vec<Point>, config: Config, distance: &D) -> Self {
        let nodes = points.len() as u32;
        let cyclon = cyclon::Config {
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::DEFAULT
        };
        let mut grid = Self {
            below: (0..nodes)
                .map(|node| Cyclon::new(id(node), cyclon).unwrap())
                .collect(),
            near: (0..nodes)
                .map(|node| {
                    let (distance, point) = (distance.clone(), points[node as usize]);
                    Vicinity::new(id(node), config, distance, point, 0).unwrap()
                })
                .collect(),
            up: vec![true; points.len()],
            points,
            timers: BTreeSet::new(),
            rng: Xoshiro256PlusPlus::seed_from_u64(SEED),
            cycles: 0,
            worse: 0,
            sums: vec![(0, 0); nodes as usize],
            asked: vec![0; nodes as usize],
        };
        let views = warmed_up(nodes, 20, 8, 50, SEED);
        for (node, view) in (0..nodes).zip(views) {
            grid.feed_below(node, Event::Start, Time::ZERO);
            for &peer in &view {
                let meet = cyclon::Command::Meet(id(peer));
                grid.feed_below(node, Event::Command(meet), Time::ZERO);
            }
            grid.feed_near(node, Event::Start, Time::ZERO);
        }
        grid
    }

    fn feed_below(&mut self, node: u32, event: Event<Below>, now: Time) {
        let mut effects = EffectQueue::new();
        effects.feed(&mut self.below[node as usize], event, now, &mut self.rng);
        for effect in effects.drain() {
            match effect {
                Effect::Wake { at, timer } => {
                    self.timers.insert((at, node, Layer::Below(timer)));
                }
                Effect::Send { to, message } if self.up[to.get() as usize] => {
                    let from = id(node);
                    self.feed_below(to.get() as u32, Event::Message { from, message }, now);
                }
                _ => {}
            }
        }
    }

    fn feed_near(&mut self, node: u32, event: Event<Near<D>>, now: Time) {
        let links = self.below[node as usize].view().links();
        let random: Descriptors<Point, 20> = links
            .map(|link| Descriptor {
                id: link.id,
                age: link.age,
                version: 0,
                profile: self.points[link.id.get() as usize],
            })
            .collect();
        let mut effects = EffectQueue::new();
        let near = &mut self.near[node as usize];
        let random = Event::Command(Command::Random(random));
        effects.feed(near, random, now, &mut self.rng);
        effects.feed(near, event, now, &mut self.rng);
        near.check().unwrap();
        for effect in effects.drain() {
            match effect {
                Effect::Wake { at, timer } => {
                    self.timers.insert((at, node, Layer::Near(timer)));
                }
                Effect::Send { to, message } if self.up[to.get() as usize] => {
                    self.asked[to.get() as usize] += 1;
                    let from = id(node);
                    self.feed_near(to.get() as u32, Event::Message { from, message }, now);
                }
                _ => {}
            }
        }
    }

    fn run(&mut self, cycles: u64) {
        self.cycles += cycles;
        let until = Time::ZERO + Config::DEFAULT.period.times(self.cycles);
        while let Some(&(at, node, timer)) = self.timers.first().filter(|(at, ..)| *at <= until) {
            self.timers.pop_first();
            if !self.up[node as usize] {
                continue;
            }
            match timer {
                Layer::Below(timer) => self.feed_below(node, Event::Timer(timer), at),
                Layer::Near(timer) => {
                    self.feed_near(node, Event::Timer(timer), at);
                    self.compare(node);
                }
            }
        }
    }

    /// Counts a view that is worse after an exchange than it was after the one before.
    fn compare(&mut self, node: u32) {
        let near = &self.near[node as usize];
        let ranks = near.view().iter().map(|peer| {
            let distance = near.distance();
            distance.rank(near.profile(), &peer.profile)
        });
        let ranks: Vec<u64> = ranks.collect();
        let (before, sum) = self.sums[node as usize];
        let now = (ranks.len(), ranks.iter().sum());
        self.worse += usize::from(now.0 < before || (now.0 == before && now.1 > sum));
        self.sums[node as usize] = now;
    }

    /// The share of the ideal links of nodes that are up which exist.
    fn ideal(&self) -> f64 {
        let (mut found, mut all) = (0, 0);
        for (node, near) in (0_u32..).zip(&self.near) {
            if !self.up[node as usize] {
                continue;
            }
            let links = usize::from(near.config().links);
            let mut others: Vec<(u64, u32)> = (0..self.points.len() as u32)
                .filter(|other| *other != node && self.up[*other as usize])
                .map(|other| {
                    let other_point = &self.points[other as usize];
                    (near.distance().rank(near.profile(), other_point), other)
                })
                .collect();
            others.select_nth_unstable(links);
            let ideal: BTreeSet<NodeId> = others[..links].iter().map(|(_, o)| id(*o)).collect();
            all += links;
            let view = near.view().iter();
            found += view.filter(|peer| ideal.contains(&peer.id)).count();
        }
        found as f64 / all as f64
    }
}

/// Anywhere in a square.
fn uniform(nodes: u32) -> Vec<Point> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut place = || rng.below(1_000_000) as i32;
    (0..nodes).map(|_| [place(), place()]).collect()
}

/// In [`CLUSTERS`] clusters anywhere in a square, each a hundredth as wide.
fn clustered() -> Vec<Point> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut place = |side: u32| rng.below(side) as i32;
    let mut centres = [[0; 2]; CLUSTERS];
    for centre in &mut centres {
        *centre = [place(1_000_000), place(1_000_000)];
    }
    let centres = centres.iter().cycle().take(NODES as usize);
    centres
        .map(|[x, y]| [x + place(10_000), y + place(10_000)])
        .collect()
}

#[test]
fn nodes_find_those_nearest_to_them_in_a_few_cycles_and_never_lose_them() {
    let mut grid = Grid::new(uniform(NODES), Config::DEFAULT, &Plane);
    let mut ideal = BTreeMap::new();
    for cycles in [3, 5, 10, 15, 20] {
        grid.run(cycles - grid.cycles);
        ideal.insert(cycles, grid.ideal());
    }
    println!("20 links, 10 descriptors: {ideal:.3?}");
    assert!(ideal[&3] >= 0.4 && ideal[&5] >= 0.8, "{ideal:?}");
    assert!(ideal[&15] >= 0.97, "{ideal:?}");
    assert_eq!(grid.worse, 0, "no view gets worse");
}

#[test]
fn half_as_many_links_and_descriptors_do_as_well() {
    let config = Config {
        links: 10,
        gossip: 5,
        ..Config::DEFAULT
    };
    let mut grid = Grid::new(uniform(NODES), config, &Plane);
    grid.run(10);
    let ideal = grid.ideal();
    println!("10 links, 5 descriptors, 10 cycles: {ideal:.3}");
    assert!(ideal >= 0.97, "{ideal}");
}

#[test]
fn a_pinch_of_randomness_helps_clusters_to_find_themselves() {
    let cycles = scaled(60, 20);
    let ideal = |feed| {
        let config = Config {
            feed,
            ..Config::DEFAULT
        };
        let mut grid = Grid::new(clustered(), config, &Plane);
        grid.run(u64::from(cycles));
        grid.ideal()
    };
    let (with, without) = (ideal(Feed::Always), ideal(Feed::WhenEmpty));
    println!("clusters, {cycles} cycles: {with:.4} with, {without:.4} without random peers");
    assert!(with >= without && with >= 0.97, "{with} {without}");
}

/// 300 nodes.
#[test]
fn when_a_third_dies_its_links_go_and_the_others_find_the_nearest_that_are_left() {
    let mut grid = Grid::new(uniform(300), Config::DEFAULT, &Plane);
    grid.run(15);
    let (dead, _) = grid.up.split_at_mut(100);
    dead.fill(false);
    let to_the_dead = |grid: &Grid<Plane>| {
        let views = grid.near[100..].iter().flat_map(Vicinity::view);
        views.filter(|peer| peer.id < id(100)).count()
    };
    assert!(to_the_dead(&grid) > 500);
    let mut cycles = 0;
    while to_the_dead(&grid) > 0 {
        grid.run(1);
        cycles += 1;
        assert!(cycles <= u64::from(Config::DEFAULT.max_age), "seed {SEED}");
    }
    grid.run(5);
    let ideal = grid.ideal();
    println!("a third dead: their links are gone after {cycles} cycles, {ideal:.3} ideal then");
    assert!(ideal >= 0.97, "{ideal}");
}

/// All are equally near.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Nowhere;

impl Distance<Point> for Nowhere {
    type Rank = u64;
    fn rank(&self, _: &Point, _: &Point) -> u64 {
        0
    }
}

/// 300 nodes. If ties were broken by a hash of one id only, all nodes would link to the same twenty.
#[test]
fn where_all_nodes_are_equally_near_no_node_is_in_every_view() {
    let mut grid = Grid::new(uniform(300), Config::DEFAULT, &Nowhere);
    grid.run(30);
    let mut known = vec![0; 300];
    for peer in grid.near.iter().flat_map(Vicinity::view) {
        known[peer.id.get() as usize] += 1;
    }
    let (most, least) = (known.iter().max().unwrap(), known.iter().min().unwrap());
    let asked = grid.asked.iter().max().unwrap();
    println!("all equally near: known to {least} to {most}, at most {asked} messages in 30 cycles");
    assert!(*most < 60, "{known:?}");
    assert!(*asked < 200, "{asked}");
}

/// The selection function, straight from its rule.
fn slow_nearest(
    target: (u64, u32),
    pools: &[Vec<Descriptor<u32>>],
    most: usize,
) -> Vec<Descriptor<u32>> {
    let mix = |word: u64| {
        let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    let mut best: BTreeMap<NodeId, Descriptor<u32>> = BTreeMap::new();
    for &one in pools.iter().flatten() {
        let known = best.entry(one.id).or_insert(one);
        let newer = one.version > known.version;
        if newer || (one.version == known.version && one.age < known.age) {
            *known = one;
        }
    }
    best.remove(&NodeId::new(target.0));
    let mut all: Vec<Descriptor<u32>> = best.into_values().collect();
    all.sort_by_key(|one| {
        let tie = mix(one.id.get() ^ mix(target.0));
        (one.profile.abs_diff(target.1), tie)
    });
    all.truncate(most);
    all
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Line;

impl Distance<u32> for Line {
    type Rank = u32;
    fn rank(&self, target: &u32, other: &u32) -> u32 {
        target.abs_diff(*other)
    }
}

fn pool() -> impl Strategy<Value = Vec<Descriptor<u32>>> {
    let age = prop_oneof![0_u16..4, Just(u16::MAX)];
    let version = prop_oneof![0_u64..3, Just(u64::MAX)];
    let one = (0_u64..16, age, version, 0_u32..12);
    let one = one.prop_map(|(id, age, version, profile)| Descriptor {
        id: NodeId::new(id),
        age,
        version,
        profile,
    });
    proptest::collection::vec(one, 0..16)
}

fn seeded() -> ProptestConfig {
    ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(SEED),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn the_nearest_are_those_of_the_rule(
        target in (0_u64..16, 0_u32..12),
        pools in proptest::collection::vec(pool(), 0..4),
        most in 0_usize..12,
    ) {
        let slices: Vec<&[Descriptor<u32>]> = pools.iter().map(Vec::as_slice).collect();
        let whom = Target { id: NodeId::new(target.0), profile: &target.1 };
        let chosen = nearest::<_, _, 10>(&Line, whom, &slices, most);
        prop_assert_eq!(chosen.as_slice(), slow_nearest(target, &pools, most.min(10)));
    }
}

//! CYCLON at work: the statistics of PROTOCOLS 1.6, failures, losses and joins.
//!
//! Graphs have 20 links to a node, 8 to a message, and 1000 nodes, or 700 in a debug build; fewer, to save time, where
//! a test says so. Clustering is that of the undirected graph. Path lengths are those of the directed graph, from every
//! twentieth node to all others. Both are compared with a graph of as many nodes in which each has as many links to
//! random others, measured in the same way.

use gridweave_core::id::{Incarnation, NodeId};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine};
use gridweave_core::overlay::cyclon::{
    Changes, Command, Config, Cyclon, Message, Replacement, Timer,
};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_sim::engine::{Checking, Simulation};
use gridweave_sim::network::{Delay, Network, NetworkConfig, Partition};
use gridweave_tests::{invariants, scaled};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

type Node = Cyclon<20, 8>;

const LINKS: u32 = 20;
const NODES: u32 = scaled(1000, 700);
/// Where half as many nodes show as much.
const FEWER: u32 = 500;
const SEED: u64 = 0x6379_636c;

const CONFIG: Config = Config {
    changes: Changes::Untold,
    ..Config::DEFAULT
};

/// How nodes know each other in the beginning.
#[derive(Clone, Copy)]
enum Layout {
    /// Each knows those behind it, as many as its view holds.
    Ring,
    /// All know the first, and it knows the second.
    Star,
}

struct Overlay {
    grid: Simulation<Node>,
    cycles: u64,
}

impl Overlay {
    fn new(nodes: u32, layout: Layout, network: &NetworkConfig, config: Config) -> Self {
        let network = Network::new(network, SEED).unwrap();
        let mut grid = Simulation::new(nodes, network, SEED, move |me| {
            Node::new(me, config).unwrap()
        });
        for node in 0..nodes {
            let met: Vec<u32> = match layout {
                Layout::Ring => (1..=LINKS).map(|step| (node + step) % nodes).collect(),
                Layout::Star => vec![u32::from(node == 0)],
            };
            for peer in met {
                grid.command(Time::ZERO, id(node), Command::Meet(id(peer)));
            }
        }
        Self { grid, cycles: 0 }
    }

    fn run(&mut self, cycles: u64) {
        self.cycles += cycles;
        let until = Time::ZERO + CONFIG.period.times(self.cycles);
        self.grid.run_until(until);
        assert_eq!(self.grid.broken(), [], "seed {SEED}");
    }

    /// What each node links to; nothing for one that is down.
    fn graph(&self) -> Graph {
        let links = (0..self.grid.len() as u32).map(|node| {
            let machine = self.grid.machine(id(node));
            let ids = machine.map_or(&[][..], |machine| machine.view().ids());
            invariants::view_is_sound(id(node), LINKS as usize, ids).unwrap();
            ids.iter().map(|id| id.get() as u32).collect()
        });
        Graph(links.collect())
    }

    fn is_up(&self, node: u32) -> bool {
        self.grid.machine(id(node)).is_some()
    }
}

fn id(node: u32) -> NodeId {
    NodeId::new(u64::from(node))
}

/// The links of each node.
struct Graph(Vec<Vec<u32>>);

impl Graph {
    fn random(nodes: u32, links: usize) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let links = (0..nodes).map(|node| {
            let mut others: Vec<u32> = (0..nodes).filter(|other| *other != node).collect();
            rng.sample(&mut others, links).0.to_vec()
        });
        Self(links.collect())
    }

    fn links(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    fn in_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.0.len()];
        for &peer in self.0.iter().flatten() {
            degrees[peer as usize] += 1;
        }
        degrees
    }

    fn in_degree_deviation(&self) -> f64 {
        let degrees = self.in_degrees();
        let count = degrees.len() as f64;
        let mean = degrees.iter().map(|&d| f64::from(d)).sum::<f64>() / count;
        let variance = degrees.iter().map(|&d| (f64::from(d) - mean).powi(2));
        (variance.sum::<f64>() / count).sqrt()
    }

    fn undirected(&self) -> Vec<Vec<u32>> {
        let mut neighbours = self.0.clone();
        for (node, peers) in self.0.iter().enumerate() {
            for &peer in peers {
                neighbours[peer as usize].push(node as u32);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        neighbours
    }

    /// The mean over nodes of the part of pairs of neighbours that are neighbours themselves.
    fn clustering(&self) -> f64 {
        let neighbours = self.undirected();
        let mut of = vec![u32::MAX; neighbours.len()];
        let mut sum = 0.0;
        for (node, list) in (0..).zip(&neighbours) {
            list.iter().for_each(|&peer| of[peer as usize] = node);
            let closed = list.iter().flat_map(|&peer| &neighbours[peer as usize]);
            let closed = closed.filter(|&&peer| of[peer as usize] == node).count();
            let pairs = list.len() * list.len().saturating_sub(1);
            sum += closed as f64 / pairs.max(1) as f64;
        }
        sum / neighbours.len() as f64
    }

    /// The mean distance from every twentieth node to all that it reaches.
    fn path_length(&self) -> f64 {
        let (mut sum, mut count) = (0_u64, 0_u64);
        for from in (0..self.0.len()).step_by(20) {
            let mut distance = vec![u64::MAX; self.0.len()];
            distance[from] = 0;
            let mut queue = vec![from as u32];
            let mut next = 0;
            while let Some(&node) = queue.get(next) {
                next += 1;
                for &peer in &self.0[node as usize] {
                    if distance[peer as usize] == u64::MAX {
                        distance[peer as usize] = distance[node as usize] + 1;
                        queue.push(peer);
                    }
                }
            }
            sum += queue
                .iter()
                .map(|&node| distance[node as usize])
                .sum::<u64>();
            count += queue.len() as u64 - 1;
        }
        sum as f64 / count as f64
    }

    /// How many parts fall apart, of those nodes that are asked for, when links are followed both ways.
    fn weak_components(&self, wanted: impl Fn(u32) -> bool) -> usize {
        let neighbours = self.undirected();
        let mut seen = vec![false; neighbours.len()];
        let mut parts = 0;
        for start in (0..neighbours.len() as u32).filter(|&node| wanted(node)) {
            if seen[start as usize] {
                continue;
            }
            parts += 1;
            let mut stack = vec![start];
            seen[start as usize] = true;
            while let Some(node) = stack.pop() {
                for &peer in &neighbours[node as usize] {
                    if wanted(peer) && !seen[peer as usize] {
                        seen[peer as usize] = true;
                        stack.push(peer);
                    }
                }
            }
        }
        parts
    }

    /// Asserts that the graph looks random, but with in-degrees that vary less.
    fn assert_random(&self, what: &str) {
        let random = Self::random(self.0.len() as u32, LINKS as usize);
        let deviation = self.in_degree_deviation();
        let clustering = (self.clustering(), random.clustering());
        let paths = (self.path_length(), random.path_length());
        let degrees = self.in_degrees();
        println!(
            "{what}: links {}, in-degree {:?}..{:?} deviation {deviation:.2} ({:.2}), clustering {:.4} ({:.4}), paths {:.3} ({:.3})",
            self.links(),
            degrees.iter().min(),
            degrees.iter().max(),
            random.in_degree_deviation(),
            clustering.0,
            clustering.1,
            paths.0,
            paths.1,
        );
        assert!(
            deviation < 0.7 * f64::from(LINKS).sqrt(),
            "{what}: {deviation}"
        );
        assert!(
            (clustering.0 / clustering.1 - 1.0).abs() < 0.1,
            "{what}: {clustering:?}"
        );
        assert!((paths.0 - paths.1).abs() < 0.03, "{what}: {paths:?}");
        assert_eq!(self.weak_components(|_| true), 1, "{what}");
    }
}

#[test]
fn a_ring_looks_random_after_fifty_cycles() {
    let mut overlay = Overlay::new(NODES, Layout::Ring, &NetworkConfig::default(), CONFIG);
    overlay.run(50);
    let graph = overlay.graph();
    graph.assert_random("ring");
    assert!(
        graph.links() * 1000 >= (NODES * LINKS) as usize * 997,
        "{}",
        graph.links()
    );
}

#[test]
fn a_star_looks_random_after_twenty_cycles_and_after_fifty() {
    let mut overlay = Overlay::new(NODES, Layout::Star, &NetworkConfig::default(), CONFIG);
    overlay.run(20);
    overlay.graph().assert_random("star, 20 cycles");
    overlay.run(30);
    overlay.graph().assert_random("star, 50 cycles");
}

#[test]
fn the_literal_rule_looks_random_too_and_keeps_every_link() {
    let config = Config {
        replacement: Replacement::Literal,
        ..CONFIG
    };
    let mut overlay = Overlay::new(FEWER, Layout::Ring, &NetworkConfig::default(), config);
    overlay.run(50);
    let graph = overlay.graph();
    graph.assert_random("literal");
    assert_eq!(graph.links(), (FEWER * LINKS) as usize);
}

fn links_to_the_dead_go(part: u32) {
    let mut overlay = Overlay::new(FEWER, Layout::Ring, &NetworkConfig::default(), CONFIG);
    overlay.run(10);
    let now = overlay.grid.now();
    let mut all: Vec<u32> = (0..FEWER).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let (dead, _) = rng.sample(&mut all, (FEWER * part / 100) as usize);
    for &mut node in dead {
        overlay.grid.crash(now, id(node));
    }
    let to_the_dead = |overlay: &Overlay| {
        let graph = overlay.graph();
        let links = graph.0.iter().flatten();
        links.filter(|&&peer| !overlay.is_up(peer)).count()
    };
    overlay.run(1);
    assert!(to_the_dead(&overlay) > 0);
    let mut cycles = 1;
    while to_the_dead(&overlay) > 0 {
        assert!(cycles < 3 * LINKS, "{part} % dead, seed {SEED}");
        overlay.run(1);
        cycles += 1;
    }
    println!("{part} % dead: their links are gone after {cycles} cycles");
    let parts = overlay.graph().weak_components(|node| overlay.is_up(node));
    assert_eq!(parts, 1, "{part} % dead, seed {SEED}");
}

#[test]
fn when_a_tenth_dies_its_links_go_and_the_rest_stays_connected() {
    links_to_the_dead_go(10);
}

#[test]
fn when_half_dies_its_links_go_and_the_rest_stays_connected() {
    links_to_the_dead_go(50);
}

#[test]
fn a_loss_of_one_percent_costs_hardly_a_link() {
    let network = NetworkConfig {
        delay: Delay::Constant(Span::from_millis(10)),
        loss: 0.01,
        ..NetworkConfig::default()
    };
    let mut overlay = Overlay::new(NODES, Layout::Ring, &network, CONFIG);
    overlay.run(50);
    let graph = overlay.graph();
    graph.assert_random("1 % loss");
    let all = (NODES * LINKS) as usize;
    assert!(
        graph.links() * 1000 >= all * 999,
        "{} of {all}",
        graph.links()
    );
}

#[test]
fn a_joiner_gets_as_many_links_as_others_and_no_node_loses_any() {
    let mut overlay = Overlay::new(NODES, Layout::Ring, &NetworkConfig::default(), CONFIG);
    overlay.run(10);
    let now = overlay.grid.now();
    for introducer in [0, 100, 200, 300, 400] {
        let before = overlay.graph().in_degrees();
        let joiner = overlay.grid.join(now);
        let introducer = id(introducer);
        overlay
            .grid
            .command(now, joiner, Command::Join { introducer });
        overlay.run(0);
        let graph = overlay.graph();
        let joiner = joiner.get() as usize;
        let degrees = graph.in_degrees();
        println!(
            "joiner: out {}, in {}",
            graph.0[joiner].len(),
            degrees[joiner]
        );
        // One fewer if a walk brings a link that is there already, from a giver that is linked too: 1 joiner in 70.
        assert!((19..=20).contains(&graph.0[joiner].len()));
        assert!((18..=20).contains(&degrees[joiner]), "{}", degrees[joiner]);
        for (before, after) in before.iter().zip(&degrees) {
            // Two walks may bring the same link; then the joiner links to the giver instead.
            assert!(before.abs_diff(*after) <= 1, "{before} {after}");
        }
    }
    overlay.run(5);
    let graph = overlay.graph();
    assert_eq!(graph.weak_components(|_| true), 1);
    assert!(
        graph
            .0
            .iter()
            .skip(NODES as usize)
            .all(|links| links.len() >= 19)
    );
}

/// 300 nodes, a tenth of a cycle apart.
#[test]
fn successive_joins_keep_the_overlay_connected() {
    let network = Network::new(&NetworkConfig::default(), SEED).unwrap();
    let mut grid = Simulation::new(1, network, SEED, |me| Node::new(me, CONFIG).unwrap());
    grid.check(Checking::EveryEvent);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut overlay = Overlay { grid, cycles: 0 };
    for second in 1..300 {
        let now = Time::from_secs(second);
        let introducer = id(rng.below(second as u32));
        let joiner = overlay.grid.join(now);
        overlay
            .grid
            .command(now, joiner, Command::Join { introducer });
        overlay.grid.run_until(now);
        assert_eq!(
            overlay.graph().weak_components(|_| true),
            1,
            "{second}, seed {SEED}"
        );
    }
    // Growth leaves early nodes better known than late ones. The deviation is only printed: with so few nodes it
    // settles near 3.1, where the bound for 1000 nodes is 3.13.
    overlay.cycles = 30;
    overlay.run(20);
    let graph = overlay.graph();
    let (all, degrees) = (300 * LINKS as usize, graph.in_degrees());
    println!(
        "300 joins: links {}, in-degree {:?}..{:?} deviation {:.2}",
        graph.links(),
        degrees.iter().min(),
        degrees.iter().max(),
        graph.in_degree_deviation()
    );
    assert!(
        graph.links() * 100 >= all * 99,
        "{} of {all}",
        graph.links()
    );
    assert_eq!(graph.weak_components(|_| true), 1);
}

/// 100 nodes.
#[test]
fn bad_weather_breaks_no_invariant_and_passes() {
    let network = NetworkConfig {
        delay: Delay::Uniform {
            min: Span::from_millis(10),
            max: Span::from_millis(1000),
        },
        loss: 0.1,
        duplication: 0.1,
        reordering: 0.1,
        held_up: Span::from_millis(30_000),
        report_unreachable: true,
        ..NetworkConfig::default()
    };
    let mut overlay = Overlay::new(100, Layout::Star, &network, CONFIG);
    overlay.grid.check(Checking::EveryEvent);
    overlay.run(5);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    for _ in 0..60 {
        let node = id(rng.below(100));
        let at = Time::from_secs(50 + u64::from(rng.below(150)));
        overlay.grid.crash(at, node);
        let down = Span::from_secs(u64::from(rng.below(60)));
        overlay.grid.restart(at + down, node);
    }
    overlay.run(35);
    let lives = (0..100).filter_map(|node| overlay.grid.machine(id(node))?.incarnation());
    let restarts: u32 = lives.map(Incarnation::get).sum();
    assert!(restarts > 40, "{restarts}");
    let graph = overlay.graph();
    println!(
        "bad weather: links {} of 2000, {restarts} restarts",
        graph.links()
    );
    assert!(graph.links() >= 1700, "{}", graph.links());
    assert_eq!(graph.weak_components(|_| true), 1, "seed {SEED}");
    assert!(graph.0.iter().all(|links| !links.is_empty()));
}

/// 100 nodes.
#[test]
fn halves_that_have_forgotten_each_other_become_one_again() {
    let hundred_cycles = Time::ZERO + CONFIG.period.times(100);
    let network = NetworkConfig {
        partitions: vec![Partition {
            from: Time::ZERO + CONFIG.period.times(10),
            until: hundred_cycles,
            nodes: vec![[0, 49]],
        }],
        ..NetworkConfig::default()
    };
    let mut overlay = Overlay::new(100, Layout::Ring, &network, CONFIG);
    overlay.run(99);
    assert_eq!(overlay.graph().weak_components(|_| true), 2);
    overlay.run(50);
    let graph = overlay.graph();
    assert_eq!(graph.weak_components(|_| true), 1);
    let across = |(node, links): (usize, &Vec<u32>)| {
        let links = links.iter().filter(|peer| (**peer < 50) != (node < 50));
        links.count()
    };
    let across: usize = graph.0.iter().enumerate().map(across).sum();
    println!(
        "after a partition: {across} of {} links lead across",
        graph.links()
    );
    assert!(across * 4 > graph.links(), "{across}");
}

/// 100 nodes.
#[test]
fn a_frozen_overlay_stays_as_it_is() {
    let network = NetworkConfig {
        delay: Delay::Constant(Span::from_millis(500)),
        ..NetworkConfig::default()
    };
    let mut overlay = Overlay::new(100, Layout::Ring, &network, CONFIG);
    overlay.run(5);
    for node in 0..100 {
        overlay
            .grid
            .command(overlay.grid.now(), id(node), Command::Freeze);
    }
    overlay.run(0);
    let (frozen, events) = (overlay.graph(), overlay.grid.traffic().total().messages);
    assert!(frozen.links() >= 1980, "{}", frozen.links());
    overlay.run(5);
    assert_eq!(overlay.graph().0, frozen.0);
    assert_eq!(overlay.grid.traffic().total().messages, events);
}

/// A few nodes with at most four links each, and an exchange of two of them without anything in between.
struct Tiny {
    nodes: Vec<Cyclon<4, 4>>,
    timers: Vec<Timer>,
    effects: EffectQueue<Cyclon<4, 4>>,
    now: Time,
    rng: Xoshiro256PlusPlus,
}

impl Tiny {
    fn random(seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let nodes = 2 + rng.below(8);
        let view = 1 + rng.below(4) as u8;
        let shuffle = 1 + rng.below(u32::from(view)) as u8;
        let config = Config {
            view,
            shuffle,
            ..CONFIG
        };
        let nodes: Vec<_> = (0..nodes)
            .map(|node| Cyclon::new(id(node), config).unwrap())
            .collect();
        let mut tiny = Self {
            timers: Vec::new(),
            effects: EffectQueue::new(),
            now: Time::ZERO,
            nodes,
            rng,
        };
        for node in 0..tiny.nodes.len() {
            tiny.feed(node, Event::Start);
            let timer = tiny.effects.drain().find_map(|effect| match effect {
                Effect::Wake { timer, .. } => Some(timer),
                _ => None,
            });
            tiny.timers.push(timer.unwrap());
            for _ in 0..tiny.rng.below(u32::from(view) + 1) {
                let peer = id(tiny.rng.below(tiny.nodes.len() as u32));
                tiny.feed(node, Event::Command(Command::Meet(peer)));
            }
        }
        tiny.now = Time::ZERO + CONFIG.period;
        tiny
    }

    fn feed(&mut self, node: usize, event: Event<Cyclon<4, 4>>) {
        self.effects
            .feed(&mut self.nodes[node], event, self.now, &mut self.rng);
        self.nodes[node].check().unwrap();
    }

    fn sent(&mut self) -> Option<(usize, Message<4>)> {
        self.effects.drain().find_map(|effect| match effect {
            Effect::Send { to, message } => Some((to.get() as usize, message)),
            _ => None,
        })
    }

    fn graph(&self) -> Graph {
        let ids =
            |node: &Cyclon<4, 4>| node.view().ids().iter().map(|id| id.get() as u32).collect();
        Graph(self.nodes.iter().map(ids).collect())
    }
}

#[test]
fn no_exchange_cuts_an_overlay_in_two() {
    let (mut exchanges, mut connected) = (0, 0);
    for seed in 0..10_000 {
        let mut tiny = Tiny::random(seed);
        let asker = tiny.rng.index(tiny.nodes.len());
        let before = tiny.graph();
        tiny.feed(asker, Event::Timer(tiny.timers[asker]));
        let Some((peer, message)) = tiny.sent() else {
            continue;
        };
        if !matches!(message, Message::Shuffle { .. }) {
            continue;
        }
        tiny.feed(
            peer,
            Event::Message {
                from: id(asker as u32),
                message,
            },
        );
        let (back, answer) = tiny.sent().unwrap();
        assert_eq!(back, asker);
        tiny.feed(
            asker,
            Event::Message {
                from: id(peer as u32),
                message: answer,
            },
        );
        let after = tiny.graph();
        exchanges += 1;
        assert!(after.0[peer].contains(&(asker as u32)), "seed {seed}");
        assert!(after.0[peer].len() >= before.0[peer].len(), "seed {seed}");
        assert!(
            after.0[asker].len() + 1 >= before.0[asker].len(),
            "seed {seed}"
        );
        if before.weak_components(|_| true) == 1 {
            connected += 1;
            assert_eq!(
                after.weak_components(|_| true),
                1,
                "seed {seed}: {:?} {:?}",
                before.0,
                after.0
            );
        }
    }
    println!("{exchanges} exchanges, {connected} of them in a connected overlay");
    assert!(
        exchanges > 5000 && connected > 3000,
        "{exchanges} {connected}"
    );
}

//! Whole overlays, held to what PROTOCOLS 4.2 to 4.4 say of them.

use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::vec::Vec;

use super::super::*;
use super::network::{Faults, Network, Shape, distances};
use crate::overlay::flood::{FloodId, Header, Reach, Seen, Sight};
use crate::scaled;

/// Ids are drawn at random in a real grid.
fn id(index: u64) -> NodeId {
    NodeId::new(index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Nodes that join through random ones, ten in an iteration.
fn grown(count: u64, faults: Faults, seed: u64) -> Network {
    let mut network = Network::new(Config::DEFAULT, faults, seed);
    for index in 0..count {
        let introducer = (index > 0).then(|| network.some_id());
        network.start(id(index));
        if let Some(introducer) = introducer {
            network.command(id(index), Command::Join { introducer });
        }
        if index.is_multiple_of(10) {
            network.run(1);
        }
    }
    network
}

/// Nodes in a ring, laid out by hand.
fn ring(count: u64, faults: Faults, seed: u64) -> Network {
    let mut network = Network::new(Config::DEFAULT, faults, seed);
    for index in 0..count {
        network.start(id(index));
    }
    for index in 0..count {
        network.command(id(index), Command::Meet(id((index + 1) % count)));
        network.command(id(index), Command::Meet(id((index + count - 1) % count)));
    }
    network
}

/// How many nodes a large overlay has. What is measured of one is known for 500.
const LARGE: u64 = scaled(500, 60);

/// An overlay 250 iterations after the last join.
fn large() -> &'static Network {
    static MADE: OnceLock<Network> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut network = grown(LARGE, Faults::NONE, 1);
        network.run(scaled(250, 60));
        network
    })
}

fn assert_is_as_expected(shape: &Shape) {
    let degree = shape.degree();
    let all = (shape.nodes as u64, shape.unreached);
    assert_eq!(all, (LARGE, 0), "{shape:?}");
    assert!((2.2..4.8).contains(&degree), "{degree} {shape:?}");
    if LARGE == 500 {
        assert!((3.2..4.6).contains(&degree), "{degree} {shape:?}");
        assert!((4.3..5.5).contains(&shape.path), "{shape:?}");
        assert!((7..=9).contains(&shape.diameter), "{shape:?}");
    }
    assert!(shape.least >= 2 && shape.most <= 8, "{shape:?}");
}

#[test]
fn a_large_overlay_is_small_sparse_and_symmetric() {
    let network = large();
    let shape = network.shape();
    std::println!("degree {:.2}, {shape:?}", shape.degree());
    assert_is_as_expected(&shape);
    assert_eq!(network.half_open(), 0);
    assert_eq!(network.alone, 1, "only the first knew nobody");
}

#[test]
fn loss_and_delay_do_it_no_harm() {
    let mut network = grown(LARGE, Faults::SOME, 2);
    network.run(scaled(200, 60));
    let shape = network.shape();
    std::println!("with faults: degree {:.2}, {shape:?}", shape.degree());
    assert_is_as_expected(&shape);
    // Only links that are being added or removed, or were a moment ago.
    assert!(network.half_open() <= 5, "{}", network.half_open());
    network.still();
    network.run(40);
    assert_eq!(network.half_open(), 0);
    assert_eq!(network.shape().unreached, 0);
}

/// If the tables can hold all nodes, the rules hold for all pairs and links, not only for those known by chance.
#[test]
fn at_rest_no_two_are_far_and_no_link_has_a_short_way_around() {
    let (more, fewer) = (scaled(28, 20), scaled(24, 18));
    for (count, faults) in [(more, Faults::NONE), (fewer, Faults::SOME)] {
        let mut network = ring(count, faults, count);
        network.run(400);
        let (entered, left) = (network.entered, network.left);
        network.run(100);
        assert_eq!((network.entered, network.left), (entered, left));
        assert_eq!(network.half_open(), 0);
        assert!(network.entered > 2 * 2 * count / 2, "links were laid");
        let graph = network.graph();
        for (one, around) in &graph {
            for (other, distance) in distances(&graph, *one, None) {
                assert!(distance < 9, "{one} {other} {distance}");
            }
            for other in around {
                let without = distances(&graph, *one, Some(*other)).get(other).copied();
                let needed = around.len() == 2 || graph[other].len() == 2;
                assert!(needed || without.is_none_or(|way| way > 5), "{one} {other}");
            }
        }
    }
}

#[test]
fn links_with_a_short_way_around_are_removed_and_each_node_keeps_two() {
    let mut network = Network::new(Config::DEFAULT, Faults::NONE, 3);
    for index in 0..8 {
        network.start(id(index));
    }
    for one in 0..8 {
        for other in (0..8).filter(|other| *other != one) {
            network.command(id(one), Command::Meet(id(other)));
        }
    }
    assert_eq!(network.shape().links, 28);
    network.run(300);
    let shape = network.shape();
    assert_eq!((shape.unreached, shape.least), (0, 2), "{shape:?}");
    assert!(shape.links <= 12, "{shape:?}");
}

#[test]
fn it_stays_one_while_nodes_join_leave_crash_and_restart() {
    for (faults, seed) in [(Faults::NONE, 1), (Faults::SOME, 2)] {
        let mut network = grown(scaled(100, 40), faults, seed);
        network.run(60);
        let mut next = 100;
        for round in 0..scaled(24, 4) {
            let who = network.some_id();
            match round % 4 {
                0 => {
                    network.start(id(next));
                    network.command(id(next), Command::Join { introducer: who });
                    next += 1;
                }
                1 => {
                    network.command(who, Command::Leave);
                    network.run(1);
                    network.crash(who);
                }
                2 => network.crash(who),
                _ => {
                    network.crash(who);
                    network.start(who);
                }
            }
            network.run(20);
            // A crash takes 14 silent iterations and three pings to be seen, and is mended in the next.
            let shape = network.shape();
            assert_eq!(shape.unreached, 0, "seed {seed} round {round} {shape:?}");
            assert!(shape.most <= 10, "{shape:?}");
        }
        network.still();
        network.run(40);
        assert_eq!(network.half_open(), 0);
        assert_eq!(network.shape().unreached, 0);
    }
}

#[test]
fn a_node_that_joined_while_its_introducer_was_down_finds_it_later() {
    let mut network = Network::new(Config::DEFAULT, Faults::NONE, 4);
    network.start(id(1));
    network.command(id(1), Command::Join { introducer: id(0) });
    network.start(id(2));
    network.command(id(2), Command::Join { introducer: id(1) });
    network.run(100);
    network.start(id(0));
    // It is asked again every thirty iterations.
    network.run(40);
    let shape = network.shape();
    assert_eq!((shape.nodes, shape.unreached), (3, 0), "{shape:?}");
}

/// Twenty nodes, all of which joined through one.
fn introduced() -> Network {
    let mut network = Network::new(Config::DEFAULT, Faults::NONE, 5);
    network.start(id(0));
    for index in 1..20 {
        network.start(id(index));
        network.command(id(index), Command::Join { introducer: id(0) });
        network.run(1);
    }
    network
}

#[test]
fn two_islands_with_no_links_between_them_become_one_overlay_again() {
    // With one introducer for all, nodes look for it. Without one, they look for the peers that stopped answering.
    let beginnings = [introduced, || ring(20, Faults::NONE, 5)];
    for (index, begin) in beginnings.into_iter().enumerate() {
        // Shorter and longer than a sighting is remembered; a debug build tries one of them.
        for apart in &[60, 260][scaled(0, index as u64) as usize..][..scaled(2, 1) as usize] {
            let mut network = begin();
            network.run(100);
            assert_eq!(network.shape().unreached, 0);
            network.apart = (0..10).map(id).collect();
            network.run(*apart);
            let (asked, shape) = (network.asked, network.shape());
            assert!(shape.unreached >= 2 * 10 * 10, "{apart} {shape:?}");
            network.apart.clear();
            network.run(240);
            let shape = network.shape();
            assert_eq!(shape.unreached, 0, "{apart} {shape:?}");
            assert!(shape.most <= 8, "{apart} {shape:?}");
            std::println!(
                "apart for {apart}: {} links asked for",
                network.asked - asked
            );
        }
    }
}

/// All nodes of a large overlay joined through one node, which most of them do not see at a time.
#[test]
fn one_introducer_for_all_nodes_does_not_distort_a_large_overlay() {
    let mut network = Network::new(Config::DEFAULT, Faults::NONE, 6);
    network.start(id(0));
    for index in 1..scaled(300, 45) {
        network.start(id(index));
        network.command(id(index), Command::Join { introducer: id(0) });
        if index.is_multiple_of(10) {
            network.run(1);
        }
    }
    network.run(scaled(150, 100));
    let (asked, entered) = (network.asked, network.entered);
    network.run(scaled(300, 60));
    let shape = network.shape();
    std::println!(
        "{} links asked for, {} entered, degree {:.2}, {shape:?}",
        network.asked - asked,
        network.entered - entered,
        shape.degree()
    );
    assert_eq!(shape.unreached, 0);
    assert!(shape.least >= 2 && shape.most <= 8, "{shape:?}");
    assert!((2.2..4.8).contains(&shape.degree()), "{shape:?}");
}

/// The nodes that a flood from `origin` reached, and how many messages it took.
fn flood(
    network: &Network,
    reach: Reach,
    passes_on: impl Fn(NodeId) -> bool,
    origin: NodeId,
    rng: &mut impl rand_core::Rng,
) -> (BTreeSet<NodeId>, u64) {
    let now = Time::ZERO;
    let mut seen: std::collections::BTreeMap<NodeId, Seen> = network
        .ids()
        .into_iter()
        .map(|id| (id, Seen::covering(reach, Span::from_secs(1), 10)))
        .collect();
    let name = FloodId {
        origin,
        sequence: 0,
        kind: 0,
        round: 0,
    };
    let (mut reached, mut messages) = (BTreeSet::from([origin]), 0);
    seen.get_mut(&origin).unwrap().see(name, now);
    let mut queue: VecDeque<(NodeId, Option<NodeId>, Header)> = VecDeque::new();
    queue.push_back((origin, None, reach.begin(name)));
    while let Some((at, from, header)) = queue.pop_front() {
        if from.is_some() {
            messages += 1;
            if seen.get_mut(&at).unwrap().see(name, now) == Sight::Again {
                continue;
            }
            reached.insert(at);
            if !passes_on(at) {
                continue;
            }
        }
        if let Some(onward) = header.onward(reach) {
            for to in reach.targets(network.nodes[&at].neighbours(), from, rng) {
                queue.push_back((to, Some(at), onward));
            }
        }
    }
    (reached, messages)
}

/// PROTOCOLS 4.4 on the overlay: 22 of 100 nodes match, and either pass on what they match or do not.
#[test]
fn floods_reach_as_many_as_expected() {
    let network = large();
    let mut rng = network.rng.clone();
    let mut measure = |reach: Reach, always: bool| {
        let (mut nodes, mut messages, mut least) = (0, 0, usize::MAX);
        let origins: Vec<NodeId> = network.ids().into_iter().step_by(5).collect();
        for origin in &origins {
            let salt = rng.below(1 << 30);
            let matches = |id: NodeId| {
                let mut hash = (id.get() ^ u64::from(salt)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                hash ^= hash >> 32;
                hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32 < (1 << 32) / 100 * 22
            };
            let passes_on = |id: NodeId| always || !matches(id);
            let (reached, sent) = flood(network, reach, passes_on, *origin, &mut rng);
            nodes += reached.len();
            least = least.min(reached.len());
            messages += sent;
        }
        let floods = origins.len() as f64;
        let (nodes, messages) = (nodes as f64 / floods, messages as f64 / floods);
        std::println!(
            "{reach:?} always {always}: {messages:.0} messages, {nodes:.1} nodes, least {least}"
        );
        (nodes, messages)
    };
    let (nodes, messages) = measure(Reach::REQUEST, true);
    if LARGE < 500 {
        assert!(nodes > 0.9 * LARGE as f64, "{nodes}");
        return;
    }
    assert!(nodes > 498.0 && (1200.0..1800.0).contains(&messages));
    let (nodes, messages) = measure(Reach::REQUEST, false);
    assert!((430.0..500.0).contains(&nodes) && (700.0..1400.0).contains(&messages));
    let (nodes, messages) = measure(Reach::INFORM, true);
    assert!((200.0..350.0).contains(&nodes) && (250.0..450.0).contains(&messages));
    let (nodes, messages) = measure(Reach::INFORM, false);
    assert!((50.0..140.0).contains(&nodes) && (50.0..140.0).contains(&messages));
}

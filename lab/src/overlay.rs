//! Overlays that have settled, for schedulers that begin with one.
//!
//! An experiment about schedulers should not measure how their overlay comes about. [`warmed_up`] runs CYCLON alone,
//! over a network without delay, and returns the links with which each node begins. The scheduler may then freeze them,
//! or go on to shuffle.
//!
//! ```
//! use gridweave_lab::overlay::warmed_up;
//!
//! let views = warmed_up(100, 20, 8, 50, 1);
//! assert_eq!(views.len(), 100);
//! assert!(views.iter().all(|view| view.len() == 20));
//! // On a small grid all nodes know each other.
//! assert_eq!(*warmed_up(3, 20, 8, 50, 1), [[1, 2], [0, 2], [0, 1]].map(Box::from));
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gridweave_core::id::NodeId;
use gridweave_core::machine::{Effect, EffectQueue, Event};
use gridweave_core::overlay::blatant::{self, Blatant};
use gridweave_core::overlay::cyclon::{Changes, Command, Config, Cyclon};
use gridweave_core::rng::Choose;
use gridweave_core::time::Time;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use gridweave_sim::engine::Simulation;
use gridweave_sim::network::{Network, NetworkConfig};

/// The most links of a node; a larger degree counts as this.
pub const MOST_LINKS: u8 = 64;

/// The most links that are exchanged at once; more count as this.
pub const MOST_SHUFFLED: u8 = 8;

/// How many links fit into a small view, which is enough for most degrees.
const SMALL: usize = 20;

/// The links of `nodes` nodes, in the order of ids, after so many cycles from a random start: `degree` links each, or
/// links to all others if there are fewer.
///
/// CYCLON leaves a few views a link or two short. Random links fill them up, so that all nodes begin with the same
/// number. The result depends only on the arguments.
pub fn warmed_up(nodes: u32, degree: u8, shuffle: u8, cycles: u32, seed: u64) -> Vec<Box<[u32]>> {
    let degree = degree.min(MOST_LINKS);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut views = vec![Vec::new(); nodes as usize];
    fill_up(&mut views, degree, &mut rng);
    // If all nodes know each other, there is nothing to shuffle, and exchanges only lose links.
    if degree > 0 && nodes.saturating_sub(1) > u32::from(degree) {
        let shuffled = if usize::from(degree) <= SMALL {
            shuffled::<SMALL>
        } else {
            shuffled::<{ MOST_LINKS as usize }>
        };
        views = shuffled(&views, degree, shuffle, cycles, &mut rng);
        fill_up(&mut views, degree, &mut rng);
    }
    views.into_iter().map(Vec::into_boxed_slice).collect()
}

/// Adds random links until each view has `degree` of them, or links to all others.
fn fill_up(views: &mut [Vec<u32>], degree: u8, rng: &mut Xoshiro256PlusPlus) {
    let nodes = u32::try_from(views.len()).unwrap_or(u32::MAX);
    for (me, view) in (0..nodes).zip(views) {
        if nodes.saturating_sub(1) <= u32::from(degree) {
            *view = (0..nodes).filter(|peer| *peer != me).collect();
            continue;
        }
        while view.len() < usize::from(degree) {
            let drawn = rng.below(nodes);
            if drawn != me && !view.contains(&drawn) {
                view.push(drawn);
            }
        }
        view.sort_unstable();
    }
}

/// Runs so many cycles of CYCLON, from these views.
///
/// Without delay an exchange is over at once, and in each cycle nodes have their turns in the same order. So this needs
/// no simulation, and takes a fraction of its time.
fn shuffled<const LINKS: usize>(
    views: &[Vec<u32>],
    degree: u8,
    shuffle: u8,
    cycles: u32,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Vec<u32>> {
    let config = Config {
        view: degree,
        shuffle: shuffle.clamp(1, MOST_SHUFFLED.min(degree)),
        changes: Changes::Untold,
        ..Config::DEFAULT
    };
    let id = |node: u32| NodeId::new(u64::from(node));
    let mut effects = EffectQueue::new();
    let mut nodes = Vec::new();
    let mut turns = Vec::new();
    for (me, view) in (0..).zip(views) {
        let mut node = Cyclon::<LINKS, { MOST_SHUFFLED as usize }>::new(id(me), config)
            .expect("the sizes are within bounds and the times are the defaults");
        effects.feed(&mut node, Event::Start, Time::ZERO, rng);
        for peer in view {
            let meet = Event::Command(Command::Meet(id(*peer)));
            effects.feed(&mut node, meet, Time::ZERO, rng);
        }
        for effect in effects.drain() {
            if let Effect::Wake { at, timer } = effect {
                turns.push((at, me, timer));
            }
        }
        nodes.push(node);
    }
    turns.sort_unstable();
    let mut inbox = Vec::new();
    for _ in 0..cycles {
        for (at, me, timer) in &mut turns {
            let now = *at;
            inbox.push((*me, Event::Timer(*timer)));
            while let Some((to, event)) = inbox.pop() {
                effects.feed(&mut nodes[to as usize], event, now, rng);
                for effect in effects.drain() {
                    match effect {
                        Effect::Send { to: peer, message } => {
                            let from = id(to);
                            inbox.push((peer.get() as u32, Event::Message { from, message }));
                        }
                        Effect::Wake {
                            at: next,
                            timer: of,
                        } => (*at, *timer) = (next, of),
                        _ => {}
                    }
                }
            }
        }
    }
    let ids = nodes.iter().map(|node| node.view().ids().iter());
    ids.map(|ids| ids.map(|peer| peer.get() as u32).collect())
        .collect()
}

/// The links of `nodes` nodes, in the order of ids, after so many iterations of BLATANT-S. In each iteration ten nodes
/// or a fiftieth of all join, each through a node that is in. The result depends only on the arguments.
///
/// ```
/// use gridweave_lab::overlay::ants;
///
/// let links = ants(50, 200, 1);
/// // Links are symmetric, and each node has at least two.
/// for (node, neighbours) in (0..).zip(&*links) {
///     assert!(neighbours.len() >= 2);
///     assert!(neighbours.iter().all(|&peer| links[peer as usize].contains(&node)));
/// }
/// ```
pub fn ants(nodes: u32, iterations: u32, seed: u64) -> Arc<Vec<Box<[u32]>>> {
    type Made = Arc<OnceLock<Arc<Vec<Box<[u32]>>>>>;
    type Known = VecDeque<((u32, u32, u64), Made)>;
    // Experiments compare schedulers over one overlay. Making it takes longer than using it, so it is kept.
    static KNOWN: Mutex<Known> = Mutex::new(VecDeque::new());
    const MOST_KNOWN: usize = 32;
    let key = (nodes, iterations, seed);
    let made = {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(other, _)| *other == key);
        match found {
            Some((_, made)) => made.clone(),
            None => {
                let made = Made::default();
                known.push_back((key, made.clone()));
                if known.len() > MOST_KNOWN {
                    known.pop_front();
                }
                made
            }
        }
    };
    made.get_or_init(|| Arc::new(walked(nodes, iterations, seed)))
        .clone()
}

/// Makes the overlay that [`ants`] keeps.
fn walked(nodes: u32, iterations: u32, seed: u64) -> Vec<Box<[u32]>> {
    // All nodes are in after fifty iterations at most.
    let joining = (nodes / 50).max(10);
    let config = blatant::Config::DEFAULT;
    let network = Network::new(&NetworkConfig::default(), seed)
        .expect("a network without delay can always be had");
    let mut simulation = Simulation::new(nodes, network, seed, move |me| {
        Blatant::new(me, config).expect("the defaults work")
    });
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let id = |node: u32| NodeId::new(u64::from(node));
    for node in 1..nodes {
        let at = Time::ZERO + config.period.times(u64::from(node / joining));
        let introducer = id(rng.below(node));
        simulation.command(at, id(node), blatant::Command::Join { introducer });
    }
    let joined = Time::ZERO + config.period.times(u64::from(nodes / joining));
    simulation.run_until(joined + config.period.times(u64::from(iterations)));
    let known = |node: u32| simulation.machine(id(node)).map(Blatant::neighbours);
    let mut links: Vec<Vec<u32>> = (0..nodes)
        .map(|node| known(node).into_iter().flatten())
        .map(|peers| peers.map(|peer| peer.get() as u32).collect())
        .collect();
    // A link that is being laid or removed may be known at one end only. Only links known at both ends count.
    let whole = links.clone();
    for (node, peers) in (0..).zip(&mut links) {
        peers.retain(|&peer| whole[peer as usize].contains(&node));
    }
    links.into_iter().map(Vec::into_boxed_slice).collect()
}

/// A random graph in which each node has `degree` neighbours, or all others if there are not more, in the order of ids.
/// It is made of random rings, and of pairs if the degree is odd. The result depends only on the arguments.
///
/// ```
/// use gridweave_lab::overlay::regular;
///
/// let links = regular(101, 4, 1);
/// assert!(links.iter().all(|neighbours| neighbours.len() == 4));
/// assert!((0..).zip(&links).all(|(node, peers)| peers.iter().all(|&peer| links[peer as usize].contains(&node))));
/// ```
pub fn regular(nodes: u32, degree: u8, seed: u64) -> Vec<Box<[u32]>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut links = vec![Vec::new(); nodes as usize];
    if nodes <= u32::from(degree) + 1 {
        fill_up(&mut links, degree, &mut rng);
        return links.into_iter().map(Vec::into_boxed_slice).collect();
    }
    for step in 0..degree.div_ceil(2) {
        let ring = 2 * step + 1 < degree;
        lay(&mut links, ring, &mut rng);
    }
    for peers in &mut links {
        peers.sort_unstable();
    }
    links.into_iter().map(Vec::into_boxed_slice).collect()
}

/// Adds a ring through all nodes in random order, or random pairs; avoids links that exist, as far as it can.
fn lay(links: &mut [Vec<u32>], ring: bool, rng: &mut Xoshiro256PlusPlus) {
    let mut order: Vec<u32> = (0..links.len() as u32).collect();
    rng.shuffle(&mut order);
    let count = order.len();
    let step = if ring { 1 } else { 2 };
    let clashes = |order: &[u32], at: usize, links: &[Vec<u32>]| {
        let (one, other) = (order[at], order[(at + 1) % count]);
        links[one as usize].contains(&other)
    };
    let last = if ring { count } else { count - 1 };
    for _ in 0..1000 {
        let clash = (0..last)
            .step_by(step)
            .find(|&at| clashes(&order, at, links));
        let Some(at) = clash else { break };
        let other = rng.index(count);
        order.swap((at + 1) % count, other);
    }
    for at in (0..last).step_by(step) {
        let (one, other) = (order[at], order[(at + 1) % count]);
        if !links[one as usize].contains(&other) {
            links[one as usize].push(other);
            links[other as usize].push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many parts there are if links count in both directions.
    fn weak_components(views: &[Box<[u32]>]) -> usize {
        let mut neighbours = vec![Vec::new(); views.len()];
        for (node, view) in (0..).zip(views) {
            for &peer in view {
                neighbours[node as usize].push(peer);
                neighbours[peer as usize].push(node);
            }
        }
        let mut seen = vec![false; views.len()];
        let mut parts = 0;
        for start in 0..views.len() as u32 {
            let mut reached = vec![start];
            parts += usize::from(!seen[start as usize]);
            while let Some(node) = reached.pop() {
                if !std::mem::replace(&mut seen[node as usize], true) {
                    reached.extend(&neighbours[node as usize]);
                }
            }
        }
        parts
    }

    /// Fewer in a debug build, which takes ten times as long.
    const MANY: u32 = if cfg!(debug_assertions) { 300 } else { 1000 };

    #[test]
    fn every_node_knows_as_many_distinct_others_as_it_should() {
        for (nodes, degree) in [(MANY, 20), (200, 64), (65, 64), (66, 64), (50, 1), (7, 0)] {
            for (me, view) in (0..).zip(warmed_up(nodes, degree, 8, 20, 3)) {
                assert_eq!(view.len(), usize::from(degree), "{nodes} nodes");
                assert!(view.is_sorted_by(|a, b| a < b), "{view:?}");
                assert!(!view.contains(&me) && view.iter().all(|peer| *peer < nodes));
            }
        }
    }

    #[test]
    fn the_overlay_does_not_fall_apart() {
        for (nodes, degree) in [(MANY, 20), (MANY, 5), (21, 20), (2, 20)] {
            assert_eq!(weak_components(&warmed_up(nodes, degree, 8, 50, 4)), 1);
        }
        assert_eq!(weak_components(&warmed_up(9, 0, 8, 50, 4)), 9);
    }

    #[test]
    fn in_degrees_spread_as_little_as_cyclon_promises() {
        let deviation = |cycles| {
            let mut known = vec![0_f64; 1000];
            for peer in warmed_up(1000, 20, 8, cycles, 5).iter().flatten() {
                known[*peer as usize] += 1.0;
            }
            let squares = known.iter().map(|known| (known - 20.0).powi(2));
            (squares.sum::<f64>() / 1000.0).sqrt()
        };
        let (before, after) = (deviation(0), deviation(50));
        assert!(before > 4.0 && after < 3.0, "{before} then {after}");
    }

    #[test]
    fn a_seed_always_gives_the_same_overlay_and_another_seed_another() {
        assert_eq!(warmed_up(300, 20, 8, 10, 1), warmed_up(300, 20, 8, 10, 1));
        assert_ne!(warmed_up(300, 20, 8, 10, 1), warmed_up(300, 20, 8, 10, 2));
        assert_ne!(warmed_up(300, 20, 8, 10, 1), warmed_up(300, 20, 8, 11, 1));
    }

    #[test]
    fn in_a_grid_smaller_than_the_degree_each_node_knows_all_others() {
        assert!(warmed_up(0, 20, 8, 50, 1).is_empty());
        assert_eq!(*warmed_up(1, 20, 8, 50, 1), [Box::from([])]);
        assert_eq!(*warmed_up(2, 20, 8, 50, 1), [[1], [0]].map(Box::from));
    }

    #[test]
    fn sizes_beyond_the_bounds_count_as_the_bounds() {
        assert_eq!(
            warmed_up(300, 255, 255, 5, 1),
            warmed_up(300, MOST_LINKS, MOST_SHUFFLED, 5, 1)
        );
        assert_eq!(warmed_up(300, 4, 0, 5, 1), warmed_up(300, 4, 1, 5, 1));
        assert_eq!(warmed_up(300, 4, 8, 5, 1), warmed_up(300, 4, 4, 5, 1));
    }
}

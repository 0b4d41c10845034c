//! Centralised references, which know every node: the figures of P2 are relative to these.

use gridweave_core::id::NodeId;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::select::{Config, NoSelection, Objective, Problem, Starts, select};
use gridweave_core::time::Time;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// P2's own reference: the genetic algorithm on all nodes at once, all of them free (PROTOCOLS F8). It stops after 200
/// generations without progress. Of five such runs the best counts.
pub(super) fn genetic(
    profiles: &[Profile],
    count: u32,
    objective: &dyn Objective,
    seed: u64,
) -> Result<f64, NoSelection> {
    let config = Config {
        generations: 1_000_000,
        stall: Some(200),
        restarts: 5,
        ..Config::PAPER
    };
    on_all(profiles, count, objective, &config, seed)
}

/// This project's selection on all nodes at once, all of them free.
pub(super) fn best_effort(
    profiles: &[Profile],
    count: u32,
    objective: &dyn Objective,
    seed: u64,
) -> Result<f64, NoSelection> {
    on_all(profiles, count, objective, &Config::DEFAULT, seed)
}

fn on_all(
    profiles: &[Profile],
    count: u32,
    objective: &dyn Objective,
    config: &Config,
    seed: u64,
) -> Result<f64, NoSelection> {
    let nodes: Vec<NodeId> = (0_u64..)
        .zip(profiles)
        .map(|(at, _)| NodeId::new(at))
        .collect();
    let candidates = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let problem = Problem {
        nodes: &nodes,
        profiles,
        starts: &Starts::at(Time::ZERO, candidates),
        count,
        current: &[],
        from: Time::ZERO,
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    Ok(select(&problem, objective, config, &mut rng)?.cost)
}

/// A stronger reference for nodes close to each other: the least cost that a search over all nodes finds.
///
/// For each node it takes the set of its nearest nodes. It improves the best [`KEPT`] sets: it takes the nodes nearest
/// to the centroid and swaps members, while the cost falls. The optimum costs no more than the result. `None` if there
/// are too few nodes, or none are wanted.
pub(super) fn bound(profiles: &[Profile], count: u32) -> Option<f64> {
    let points: Vec<Point> = profiles
        .iter()
        .map(|p| p.coordinate.point.map(f64::from))
        .collect();
    let count = usize::try_from(count).ok()?;
    if count == 0 || count > points.len() {
        return None;
    }
    let mut search = Search {
        points: &points,
        count,
        near: Vec::with_capacity(points.len()),
    };
    let mut sets: Vec<(f64, u32)> = Vec::with_capacity(points.len());
    for (at, &centre) in (0_u32..).zip(&points) {
        sets.push((cost(&points, search.nearest(centre, count)), at));
    }
    sets.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let improved = sets
        .iter()
        .take(KEPT)
        .map(|&(_, at)| search.improve(points[at as usize]));
    improved.min_by(f64::total_cmp)
}

/// How many of the first sets are improved.
const KEPT: usize = 32;
/// How many nodes a member may be swapped for: those nearest to the centroid.
const AROUND: usize = 64;

type Point = [f64; Coordinate::DIMENSIONS];

struct Search<'a> {
    points: &'a [Point],
    count: usize,
    /// All nodes, with their squared distance from a point.
    near: Vec<(f64, u32)>,
}

impl Search<'_> {
    /// The nodes nearest to a point, in no order.
    fn nearest(&mut self, place: Point, count: usize) -> &[(f64, u32)] {
        self.near.clear();
        let squares = self.points.iter().map(|point| square(*point, place));
        self.near.extend(squares.zip(0_u32..));
        if count < self.near.len() {
            let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            self.near.select_nth_unstable_by(count, order);
        }
        &self.near[..count]
    }

    /// The cost of the set around a point, after all improvements.
    fn improve(&mut self, place: Point) -> f64 {
        let count = self.count;
        let mut set = self.nearest(place, count).to_vec();
        let mut best = cost(self.points, &set);
        loop {
            let mut better = self.moved(&set);
            if cost(self.points, &better) >= best {
                better.clone_from(&set);
            }
            self.swap(&mut better);
            let now = cost(self.points, &better);
            // The gain must be larger than rounding errors, so that two sets do not alternate for ever.
            if now >= best * (1.0 - 1e-12) {
                return best;
            }
            (set, best) = (better, now);
        }
    }

    /// The nodes nearest to the centroid of a set.
    fn moved(&mut self, set: &[(f64, u32)]) -> Vec<(f64, u32)> {
        let centre = centroid(self.points, set);
        let count = self.count;
        self.nearest(centre, count).to_vec()
    }

    /// Swaps each member for the nearby node that lowers the cost most, if any does.
    fn swap(&mut self, set: &mut [(f64, u32)]) {
        let centre = centroid(self.points, set);
        let around = (self.count + AROUND).min(self.points.len());
        let mut others = self.nearest(centre, around).to_vec();
        others.retain(|(_, at)| set.iter().all(|(_, member)| member != at));
        let mut best = cost(self.points, set);
        for member in 0..set.len() {
            for other in &mut others {
                std::mem::swap(&mut set[member], other);
                let now = cost(self.points, set);
                if now < best {
                    best = now;
                } else {
                    std::mem::swap(&mut set[member], other);
                }
            }
        }
    }
}

fn square(a: Point, b: Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn centroid(points: &[Point], set: &[(f64, u32)]) -> Point {
    let mut centre = [0.0; Coordinate::DIMENSIONS];
    for (_, at) in set {
        for (sum, part) in centre.iter_mut().zip(points[*at as usize]) {
            *sum += part;
        }
    }
    centre.map(|sum| sum / set.len() as f64)
}

/// The sum of the distances to the centroid.
fn cost(points: &[Point], set: &[(f64, u32)]) -> f64 {
    let centre = centroid(points, set);
    let distance = |(_, at): &(f64, u32)| square(points[*at as usize], centre).sqrt();
    set.iter().map(distance).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridweave_core::rng::Choose;
    use gridweave_core::select::Closest;

    fn profiles(count: u32, seed: u64) -> Vec<Profile> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut part = || rng.below(100_000) as i32;
        (0..count)
            .map(|_| Profile::at(Coordinate::at([part(), part(), 0])))
            .collect()
    }

    /// The least cost of all sets, by trying all.
    fn optimum(profiles: &[Profile], count: u32) -> f64 {
        let points: Vec<Point> = profiles
            .iter()
            .map(|p| p.coordinate.point.map(f64::from))
            .collect();
        let sets = (0_u32..1 << points.len()).filter(|bits| bits.count_ones() == count);
        let costs = sets.map(|bits| {
            let members: Vec<(f64, u32)> = (0..32)
                .filter(|at| bits >> at & 1 == 1)
                .map(|at| (0.0, at))
                .collect();
            cost(&points, &members)
        });
        costs.min_by(f64::total_cmp).expect("there is a set")
    }

    #[test]
    fn both_references_find_the_closest_few_of_twelve() {
        for seed in 0..if cfg!(debug_assertions) { 7 } else { 20 } {
            let profiles = profiles(12, seed);
            let least = optimum(&profiles, 4);
            let bound = bound(&profiles, 4).expect("there are enough");
            assert!(
                (bound / least - 1.0).abs() < 1e-9,
                "seed {seed}: {bound} and {least}"
            );
            let bred = genetic(&profiles, 4, &Closest, seed).expect("there are enough");
            assert!(
                (bred / least - 1.0).abs() < 1e-9,
                "seed {seed}: {bred} and {least}"
            );
        }
    }

    #[test]
    fn the_search_is_no_worse_than_breeding() {
        let profiles = profiles(200, 1);
        let bound = bound(&profiles, 16).expect("there are enough");
        let bred = genetic(&profiles, 16, &Closest, 1).expect("there are enough");
        assert!(bound <= bred * (1.0 + 1e-9), "{bound} and {bred}");
    }

    #[test]
    fn there_is_no_reference_for_more_nodes_than_there_are() {
        assert_eq!(bound(&profiles(3, 1), 4), None);
        assert_eq!(bound(&profiles(3, 1), 0), None);
        assert_eq!(
            genetic(&profiles(3, 1), 4, &Closest, 1),
            Err(NoSelection::TooFew { have: 3 })
        );
    }
}

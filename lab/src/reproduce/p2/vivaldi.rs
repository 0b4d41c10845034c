//! How well coordinates predict the round trips of a measured network (PROTOCOLS 6).

use gridweave_core::overlay::vivaldi::{Config, Vivaldi};
use gridweave_core::rng::Choose;
use gridweave_core::time::Span;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// The median relative error of all predictions, after each of these increasing numbers of samples per node.
///
/// In each round every node observes the round trip to one random peer. Pairs without a believable round trip are
/// neither observed nor counted. `None` if no pair has one. The result depends only on the arguments.
pub(crate) fn median_errors(
    nodes: u32,
    round_trip: impl Fn(u32, u32) -> Span,
    config: Config,
    samples: &[u32],
    seed: u64,
) -> Option<Vec<f64>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut grid = vec![Vivaldi::new(config); nodes as usize];
    let (mut round, mut medians) = (0, Vec::new());
    for &until in samples {
        while round < until {
            round += 1;
            for node in 0..nodes {
                let step = rng.below(nodes.saturating_sub(1)) + 1;
                let peer = ((u64::from(node) + u64::from(step)) % u64::from(nodes)) as u32;
                let rtt = round_trip(node, peer);
                let (there, error) = {
                    let peer = &grid[peer as usize];
                    (peer.coordinate(), peer.error())
                };
                // A value that cannot be a round trip changes nothing.
                let _ = grid[node as usize].observe(rtt, there, error, &mut rng);
            }
        }
        medians.push(median_error(&grid, &round_trip)?);
    }
    Some(medians)
}

fn median_error(grid: &[Vivaldi], round_trip: impl Fn(u32, u32) -> Span) -> Option<f64> {
    let mut errors = Vec::new();
    for (a, from) in (0..).zip(grid) {
        for (b, to) in (0..a).zip(grid) {
            let real = round_trip(a, b).as_micros();
            if real == 0 {
                continue;
            }
            let predicted = from.coordinate().latency(to.coordinate()).as_micros();
            errors.push(predicted.abs_diff(real) as f64 / real as f64);
        }
    }
    let middle = errors.len() / 2;
    if errors.is_empty() {
        return None;
    }
    let (_, median, _) = errors.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips between nodes on a ring.
    fn ring(a: u32, b: u32) -> Span {
        let apart = a.abs_diff(b);
        Span::from_millis(5 * u64::from(apart.min(40 - apart)))
    }

    #[test]
    fn predictions_get_better_with_the_samples() {
        let errors = median_errors(40, ring, Config::DEFAULT, &[0, 20, 200], 1).unwrap();
        assert!(errors[0] > 0.99, "{errors:?}");
        assert!(errors[1] < errors[0] && errors[2] < errors[1], "{errors:?}");
    }

    #[test]
    fn without_a_round_trip_there_is_no_error() {
        let nowhere = |_, _| Span::ZERO;
        assert_eq!(median_errors(9, nowhere, Config::DEFAULT, &[5], 1), None);
        assert_eq!(median_errors(0, ring, Config::DEFAULT, &[5], 1), None);
        assert_eq!(median_errors(1, ring, Config::DEFAULT, &[5], 1), None);
    }
}

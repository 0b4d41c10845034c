use super::*;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use std::vec::Vec;

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(0x7669_7661)
}

/// A node at this place, as sure of it as can be.
fn sure(point: [i32; 3]) -> Vivaldi {
    let mut node = Vivaldi::new(Config::STEADY);
    node.point = point.map(|part| to_parts(f64::from(part)));
    node.error = MILLIONTHS_PER_THOUSANDTH;
    node
}

#[test]
fn two_nodes_predict_their_round_trip_within_a_hundredth_after_twenty_rounds() {
    for micros in [100, 2_000, 30_000, 250_000, 9_000_000] {
        let mut rng = rng();
        let rtt = Span::from_micros(micros);
        let [mut a, mut b] = [(); 2].map(|()| Vivaldi::new(Config::DEFAULT));
        // A hundred milliseconds at once are not much on a way of nine seconds.
        let rounds = if micros > 1_000_000 { 200 } else { 20 };
        for _ in 0..rounds {
            a.observe(rtt, b.coordinate(), b.error(), &mut rng).unwrap();
            b.observe(rtt, a.coordinate(), a.error(), &mut rng).unwrap();
        }
        let predicted = a.coordinate().latency(b.coordinate()).as_micros();
        assert!(
            predicted.abs_diff(micros) * 100 <= micros,
            "{predicted} of {micros}"
        );
    }
}

#[test]
fn samples_that_cannot_be_are_refused_and_change_nothing() {
    let (node, mut rng) = (sure([1, 2, 3]), rng());
    let far = MAX_ROUND_TRIP.as_micros() as i32;
    let refused = |rtt, peer, rng: &mut _| {
        let mut after = node.clone();
        let refused = after.observe(rtt, peer, 100, rng);
        assert_eq!(refused.is_err(), after == node);
        refused
    };
    let here = Coordinate::at([0, 0, 0]);
    let long = Span::from_micros(10_000_001);
    assert_eq!(refused(Span::ZERO, here, &mut rng), Err(BadSample::Zero));
    assert_eq!(refused(long, here, &mut rng), Err(BadSample::TooLong));
    assert_eq!(refused(MAX_ROUND_TRIP, here, &mut rng), Ok(()));
    let rtt = Span::from_millis(10);
    for point in [[far + 1, 0, 0], [0, -far - 1, 0], [0, 0, i32::MIN]] {
        let peer = Coordinate::at(point);
        assert_eq!(refused(rtt, peer, &mut rng), Err(BadSample::TooFar));
    }
    let high = here.raised(Span::from_micros(10_000_001));
    assert_eq!(refused(rtt, high, &mut rng), Err(BadSample::TooFar));
    assert_eq!(
        refused(rtt, Coordinate::at([far, -far, far]), &mut rng),
        Ok(())
    );
}

#[test]
fn two_nodes_in_the_same_place_part_in_any_direction() {
    let mut rng = rng();
    let mut ways = Vec::new();
    for _ in 0..50 {
        let mut node = Vivaldi::new(Config::STEADY);
        let rtt = Span::from_micros(40_020);
        node.observe(
            rtt,
            Vivaldi::new(Config::DEFAULT).coordinate(),
            1_500,
            &mut rng,
        )
        .unwrap();
        // An eighth of 40 ms: both are equally unsure, and the gain is a quarter.
        let moved = node.coordinate().distance(Coordinate::default());
        assert!((moved - 5_000.0).abs() < 2.0, "{moved}");
        assert_eq!(node.coordinate().height, 10);
        ways.push(node.coordinate().point);
    }
    for axis in 0..3 {
        let up = ways.iter().filter(|way| way[axis] > 0).count();
        assert!((10..=40).contains(&up), "{ways:?}");
    }
}

#[test]
fn a_step_is_a_part_of_the_surprise_along_the_line_and_in_height() {
    let mut node = sure([30_000, 0, 0]);
    node.error = 500_000;
    let peer = Coordinate::at([0, 0, 0]).raised(Span::from_micros(9_990));
    // Predicted: 30 ms and 10 ms of heights. Observed: 60 ms. Both are equally sure, so an eighth of 20 ms is moved.
    node.observe(Span::from_millis(60), peer, 500, &mut rng())
        .unwrap();
    let expected = Coordinate::at([31_875, 0, 0]).raised(Span::from_micros(635));
    assert_eq!(node.coordinate(), expected);
    // A third off counts for an eighth, and the old error for the rest.
    assert_eq!(node.error(), 480);
}

#[test]
fn a_peer_that_knows_its_place_is_believed_in_full_and_one_that_does_not_hardly_counts() {
    let moved = |error| {
        let mut node = sure([30_000, 0, 0]);
        node.error = 150_000;
        let peer = Coordinate::at([0, 0, 0]);
        node.observe(Span::from_millis(40), peer, error, &mut rng())
            .unwrap();
        node.coordinate().point[0] - 30_000
    };
    assert_eq!(moved(0), 2_497);
    assert!(
        moved(u16::MAX) < 250 && moved(u16::MAX) > 150,
        "{}",
        moved(u16::MAX)
    );
}

#[test]
fn errors_heights_and_places_stay_in_their_ranges_whatever_peers_say() {
    let mut rng = rng();
    let mut node = Vivaldi::new(Config::DEFAULT);
    let far = MAX_ROUND_TRIP.as_micros() as u32;
    for round in 0..20_000 {
        let mut part = || rng.below(2 * far + 1) as i32 - far as i32;
        let point = [part(), part(), part()];
        let mut peer = Coordinate::at(point);
        peer.height = rng.below(far + 1);
        if round % 3 == 0 {
            peer = node.coordinate();
        }
        let rtt = Span::from_micros(u64::from(rng.below(far)) + 1);
        let error = rng.next_u32() as u16;
        let before = node.coordinate();
        node.observe(rtt, peer, error, &mut rng).unwrap();
        assert!((1..=MAX_ERROR).contains(&node.error()));
        let after = node.coordinate();
        assert!((10..=far).contains(&after.height));
        assert!(after.point.iter().all(|part| part.unsigned_abs() <= far));
        assert!(before.distance(after) <= 100_002.0);
    }
}

#[test]
fn a_liar_among_honest_peers_pushes_no_farther_than_they_do() {
    let mut rng = rng();
    let mut node = sure([30_000, 0, 0]);
    let honest = Coordinate::at([0, 0, 0]);
    for round in 0..7 {
        // About right, a millisecond too long or too short.
        let rtt = Span::from_micros(29_010 + 2_000 * (round % 2));
        node.observe(rtt, honest, 1, &mut rng).unwrap();
    }
    let before = node.coordinate();
    let lie = Coordinate::at([-9_000_000, 9_000_000, 0]);
    node.observe(Span::from_millis(1), lie, 0, &mut rng)
        .unwrap();
    let moved = before.distance(node.coordinate());
    // A quarter of four times a millisecond or little more, and not the hundred milliseconds that are allowed.
    assert!(moved > 100.0 && moved < 1_300.0, "{moved}");
    assert!(node.error() < 400, "{}", node.error());
}

#[test]
fn a_network_that_changes_for_all_is_followed() {
    let mut rng = rng();
    let [mut a, mut b] = [(); 2].map(|()| Vivaldi::new(Config::DEFAULT));
    for rtt in [Span::from_millis(20), Span::from_millis(200)] {
        for _ in 0..60 {
            a.observe(rtt, b.coordinate(), b.error(), &mut rng).unwrap();
            b.observe(rtt, a.coordinate(), a.error(), &mut rng).unwrap();
        }
        let predicted = a.coordinate().latency(b.coordinate()).as_micros();
        assert!(
            predicted.abs_diff(rtt.as_micros()) * 50 < rtt.as_micros(),
            "{predicted}"
        );
    }
}

#[test]
fn small_steps_add_up() {
    let mut node = sure([1_000, 0, 0]);
    let peer = Coordinate::at([0, 0, 0]);
    // Each step is less than a hundredth of a microsecond.
    for _ in 0..2_000 {
        node.observe(Span::from_micros(1_020), peer, 1_500, &mut rng())
            .unwrap();
    }
    assert!(
        node.coordinate().point[0] > 1_005,
        "{:?}",
        node.coordinate()
    );
}

#[test]
fn values_out_of_bounds_count_as_the_bounds() {
    let wild = Config {
        gain: u16::MAX,
        haste: 0,
        learning: u16::MAX,
        floor: Span::ZERO,
        step: Span::MAX,
    };
    let tame = Config {
        gain: 1_000,
        haste: 1_000,
        learning: 1_000,
        floor: Span::from_micros(1),
        step: MAX_ROUND_TRIP,
    };
    assert_eq!(Vivaldi::new(wild), Vivaldi::new(tame));
}

/// The median relative error of nodes at random places in a plane or a cube with sides of 100 ms, with heights of up to
/// 5 ms, after each has observed `samples` random others.
fn error_in_space(dimensions: usize, samples: usize, config: Config, seed: u64) -> f64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let places: Vec<Coordinate> = (0..100)
        .map(|_| {
            let mut point = [(); 3].map(|()| rng.below(100_000) as i32);
            point[dimensions..].fill(0);
            Coordinate::at(point).raised(Span::from_micros(u64::from(rng.below(5_000))))
        })
        .collect();
    let mut nodes: Vec<Vivaldi> = places.iter().map(|_| Vivaldi::new(config)).collect();
    for _ in 0..samples {
        for node in 0..nodes.len() {
            let others = rng.index(nodes.len() - 1) + 1;
            let peer = (node + others) % nodes.len();
            let rtt = places[node].latency(places[peer]);
            let (coordinate, error) = (nodes[peer].coordinate(), nodes[peer].error());
            nodes[node]
                .observe(rtt, coordinate, error, &mut rng)
                .unwrap();
        }
    }
    let mut errors = Vec::new();
    for a in 0..nodes.len() {
        for b in 0..a {
            let real = places[a].latency(places[b]).as_micros();
            let predicted = nodes[a].coordinate().latency(nodes[b].coordinate());
            errors.push(predicted.as_micros().abs_diff(real) as f64 / real as f64);
        }
    }
    errors.sort_unstable_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn places_are_found_to_a_few_percent_and_sooner_with_haste() {
    const SEEDS: u64 = crate::scaled(6, 2);
    // A cube takes longer to unfold than a plane.
    for (dimensions, samples, most) in [(2, 100, 0.05), (3, 100, 0.1), (3, 200, 0.05)] {
        let mean = |config| {
            let errors = (0..SEEDS).map(|seed| error_in_space(dimensions, samples, config, seed));
            errors.sum::<f64>() / SEEDS as f64
        };
        let (hasty, steady) = (mean(Config::DEFAULT), mean(Config::STEADY));
        std::println!(
            "{dimensions} dimensions, {samples} samples: {hasty:.4} with haste, {steady:.4} without"
        );
        assert!(hasty < most && hasty < steady, "{hasty} {steady}");
    }
}

//! How many neighbours nodes have, and how long routes are. Zones alone, without the protocol.

use crate::rng::Choose;
use std::collections::BTreeMap;
use std::println;
use std::vec;
use std::vec::Vec;

use super::super::*;
use super::network::Population;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// The zones of so many nodes that joined one after the other.
fn zones<const D: usize>(population: Population, size: usize, seed: u64) -> Vec<Zone<D>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut leaves = vec![(population.draw::<D>(&mut rng), Leaf::<D>::whole())];
    while leaves.len() < size {
        let point = population.draw::<D>(&mut rng);
        let mut owner = leaves.iter_mut();
        let (at, leaf) = owner.find(|(_, leaf)| leaf.zone.contains(&point)).unwrap();
        if let Some((own, other)) = leaf.split(at, &point) {
            *leaf = own;
            leaves.push((point, other));
        }
    }
    leaves.into_iter().map(|(_, leaf)| leaf.zone).collect()
}

/// Checks that there is no gap behind any face of so many nodes. Returns the most neighbours at a face.
fn look_for_gaps<const D: usize>(size: usize, seed: u64) -> usize {
    let zones = zones::<D>(Population::Mixed, size, seed);
    let mut most = 0;
    for own in &zones {
        let mut at: BTreeMap<Face, Vec<&Zone<D>>> = BTreeMap::new();
        for other in &zones {
            if let Some(face) = own.neighbour_face(other) {
                at.entry(face).or_default().push(other);
            }
        }
        for (face, others) in at {
            let behind = own.behind(face).unwrap();
            let others = || others.iter().copied();
            assert_eq!(behind.gap(others()), None, "{D} dimensions, seed {seed}");
            assert!(behind.is_covered(others()), "{D} dimensions, seed {seed}");
            most = most.max(others().count());
        }
    }
    most
}

#[test]
fn no_gap_is_seen_where_there_is_none_however_many_neighbours_are_at_a_face() {
    let seeds = 1..=crate::scaled(5, 1);
    let most = seeds.map(|seed| look_for_gaps::<6>(1000, seed)).max();
    assert!(most > Some(100), "{most:?}");
    let most = look_for_gaps::<5>(crate::scaled(3000, 1500) as usize, 1);
    assert!(most > crate::scaled(50, 30) as usize, "{most}");
}

/// The mean and the most neighbours, and the mean hops from a node to the point of another.
fn shape<const D: usize>(population: Population, size: usize) -> (f64, usize, f64) {
    let zones = zones::<D>(population, size, 1);
    let around = |own: &Zone<D>| -> Vec<usize> {
        let others = zones.iter().enumerate();
        let others = others.filter(|(_, other)| own.neighbour_face(other).is_some());
        others.map(|(index, _)| index).collect()
    };
    let around: Vec<_> = zones.iter().map(around).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut hops = 0;
    for _ in 0..1000 {
        let target = zones[rng.index(size)];
        let point = Point::new(target.stretches().map(Stretch::from));
        let mut at = rng.index(size);
        while !zones[at].contains(&point) {
            let nearest = around[at]
                .iter()
                .min_by_key(|it| zones[**it].distance(&point));
            let next = *nearest.unwrap();
            assert!(zones[next].distance(&point) < zones[at].distance(&point));
            at = next;
            hops += 1;
        }
    }
    let degrees = around.iter().map(Vec::len);
    let most = degrees.clone().max().unwrap();
    let mean = degrees.sum::<usize>() as f64 / size as f64;
    (mean, most, f64::from(hops) / 1000.0)
}

/// The exponent with which the second number grows with the first, by least squares over the logarithms.
fn exponent(pairs: &[(f64, f64)]) -> f64 {
    let logs = pairs.iter().map(|(x, y)| (x.ln(), y.ln()));
    let logs: Vec<_> = logs.collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let both: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let square: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    both / square
}

fn print<const D: usize>(population: Population, effective: usize) {
    let mut ways = Vec::new();
    for size in [250, 500, 1000, 2000, 4000, 8000] {
        let (mean, most, way) = shape::<D>(population, size);
        println!(
            "{D} dimensions, {population:?}, {size}: {mean:.1} neighbours, {most} at most, {way:.2} hops"
        );
        ways.push((size as f64, way));
    }
    println!(
        "{D} dimensions, {population:?}: hops grow with N^{:.3}, expected {:.3}",
        exponent(&ways),
        1.0 / effective as f64
    );
}

#[test]
#[ignore = "prints figures: run with --release --nocapture"]
fn every_hop_is_nearer_in_mixed_populations_of_all_sizes() {
    print::<3>(Population::Mixed, 3);
    print::<4>(Population::Mixed, 4);
    print::<5>(Population::Mixed, 5);
    print::<6>(Population::Mixed, 6);
}

#[test]
#[ignore = "prints figures: run with --release --nocapture"]
fn every_hop_is_nearer_in_clustered_populations_of_all_sizes() {
    print::<5>(Population::Clustered(1), 1);
    print::<6>(Population::Clustered(2), 2);
    print::<7>(Population::Clustered(3), 3);
}

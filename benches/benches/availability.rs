//! Finds and churn on a dense machine, in `Availability` and in a plain sorted list of steps.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use gridweave_benches::availability::{Dense, PlainList, Profile, Request};
use gridweave_core::schedule::availability::Availability;

const SEED: u64 = 1;
const SIZES: [usize; 3] = [100, 1_000, 10_000];

fn find<P: Profile>(criterion: &mut Criterion, name: &str) {
    let mut group = criterion.benchmark_group("availability/find");
    for size in SIZES {
        let mut dense = Dense::<Availability>::build(size, SEED).on::<P>();
        let requests: Vec<Request> = (0..10_000).map(|_| dense.request()).collect();
        let mut requests = requests.iter().cycle();
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter(|| {
                let request = requests.next().copied();
                black_box(request.map(|request| dense.find(request)))
            });
        });
    }
    group.finish();
}

fn churn<P: Profile>(criterion: &mut Criterion, name: &str) {
    let mut group = criterion.benchmark_group("availability/churn");
    for size in SIZES {
        let mut dense = Dense::<Availability>::build(size, SEED).on::<P>();
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            bencher.iter(|| dense.churn());
        });
    }
    group.finish();
}

fn all(criterion: &mut Criterion) {
    find::<Availability>(criterion, "blocks");
    find::<PlainList>(criterion, "plain list");
    churn::<Availability>(criterion, "blocks");
    churn::<PlainList>(criterion, "plain list");
}

criterion_group!(benches, all);
criterion_main!(benches);

//! The centralised schedulers on 20,000 generated jobs; throughput is jobs per second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gridweave_benches::central::{replay, workload};
use gridweave_lab::schedulers::central::Central;

fn schedulers(c: &mut Criterion) {
    let workload = workload(20_000, 1);
    let mut group = c.benchmark_group("central");
    group.sample_size(20);
    group.throughput(Throughput::Elements(workload.jobs.len() as u64));
    for central in Central::ALL {
        group.bench_function(central.name(), |b| {
            b.iter(|| black_box(replay(central, &workload)));
        });
    }
    group.finish();
}

criterion_group!(benches, schedulers);
criterion_main!(benches);

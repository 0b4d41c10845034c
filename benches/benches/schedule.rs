//! `Schedule` beside a map behind a lock, at 10, 100 and 1,000 reservations.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use gridweave_benches::schedule::{LockedMap, Node, Ours, Work};

fn contestant<N: Node>(c: &mut Criterion, name: &str) {
    for reservations in [10, 100, 1_000] {
        let mut work = Work::<N>::with(reservations, 1);
        let mut group = c.benchmark_group("schedule");
        group.bench_function(BenchmarkId::new(format!("{name}/fit"), reservations), |b| {
            b.iter(|| black_box(work.fit()));
        });
        group.bench_function(
            BenchmarkId::new(format!("{name}/round"), reservations),
            |b| {
                b.iter(|| black_box(work.round()));
            },
        );
    }
}

fn schedules(c: &mut Criterion) {
    contestant::<Ours>(c, "schedule");
    contestant::<LockedMap>(c, "mutex-btreemap");
}

criterion_group!(benches, schedules);
criterion_main!(benches);

//! The earliest common slot beside the paper's loop, a bitmap per node and one pass over the same bytes.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use gridweave_benches::common_slot::{Answer, COUNTS, RESERVATIONS, Workload};
use gridweave_core::schedule::common_slot::CommonSearch;

fn earliest_common(criterion: &mut Criterion) {
    for answer in Answer::ALL {
        for reservations in RESERVATIONS {
            let name = format!("earliest common/{answer:?}/{reservations} reservations");
            let mut group = criterion.benchmark_group(name);
            group.sample_size(10);
            for count in COUNTS {
                let workload = Workload::new(reservations, count, answer);
                let mut search = CommonSearch::default();
                let mut chosen = Vec::new();
                group.bench_function(BenchmarkId::new("sweep", count), |bencher| {
                    bencher.iter(|| workload.sweep(&mut search));
                });
                group.bench_function(BenchmarkId::new("slot loop", count), |bencher| {
                    bencher.iter(|| workload.slot_loop(&mut chosen));
                });
                group.bench_function(BenchmarkId::new("bitmap", count), |bencher| {
                    bencher.iter(|| workload.bitmap_loop(&mut chosen));
                });
                group.bench_function(BenchmarkId::new("pass", count), |bencher| {
                    bencher.iter(|| black_box(&workload).pass());
                });
            }
            group.finish();
        }
    }
}

criterion_group!(benches, earliest_common);
criterion_main!(benches);

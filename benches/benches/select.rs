//! The table of `docs/results/performance.md` on selections: `cargo bench -p gridweave-benches --bench select`.
//!
//! With `--test` everything runs once, too short to mean anything.

use gridweave_benches::select::{SIZES, WAYS, Workload, measure};

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--test");
    let selections = if smoke { 1 } else { 100 };
    println!("\n| nodes | wanted | search | time | cost of what it finds, to the best here |");
    println!("|---|---|---|---|---|");
    for (nodes, count) in SIZES {
        let workload = Workload::new(nodes, count);
        let measured = WAYS.map(|(way, config)| (way, measure(&workload, &config, selections)));
        let costs = measured.iter().map(|(_, measurement)| measurement.cost);
        let best = costs.min_by(f64::total_cmp).expect("there are ways");
        for (way, measurement) in measured {
            println!(
                "| {nodes} | {count} | {way} | {:.3} ms | {:.4} |",
                measurement.time.as_secs_f64() * 1e3,
                measurement.cost / best
            );
        }
    }
}

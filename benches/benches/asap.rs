//! `asap` on traces: `cargo bench -p gridweave-benches --bench asap -- FILE[@NODES] ...`
//!
//! For each trace the whole of a run by default: Push over a static overlay, each place confirmed by two-phase commit,
//! every message encoded and hashed into the digest, run times known. Without a trace it takes the bundled week. With
//! `--test` a day of it.

use std::path::PathBuf;

use gridweave_lab::config::{Config, Source};
use gridweave_lab::experiment::prepare;
use gridweave_lab::schedulers::Scheduler;
use gridweave_sim::monitor::Monitor;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let files: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    println!("\n### `asap`, Push, static overlay, commit included\n");
    println!(
        "| trace | nodes | jobs | CPU-seconds | messages | events per CPU-second | peak of memory |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut config = Config {
        scheduler: Scheduler::Asap,
        ..Config::default()
    };
    if arguments.iter().any(|argument| argument == "--test") {
        config.workload.until = Some(gridweave_core::time::Span::from_secs(86_400));
    }
    if files.is_empty() {
        row(&config);
    }
    for file in files {
        let (path, nodes) = match file.rsplit_once('@') {
            Some((path, nodes)) => (path, nodes.parse().ok()),
            None => (file.as_str(), None),
        };
        config.workload.source = Source::Trace;
        config.workload.trace = Some(PathBuf::from(path));
        config.grid.nodes = nodes;
        row(&config);
    }
}

fn row(config: &Config) {
    let prepared = prepare(config).expect("the trace can be read");
    let results = prepared
        .execute(&Monitor::default())
        .expect("asap can run it");
    let (cost, summary) = (&results.cost, &results.summary);
    println!(
        "| {} | {} | {} | {:.1} | {:.1} M | {:.2} M | {} MB |",
        prepared.workload.name,
        prepared.grid.len(),
        summary.jobs.submitted,
        cost.cpu_s.unwrap_or(f64::NAN),
        results.run.traffic.total().messages as f64 / 1e6,
        cost.events_per_s / 1e6,
        cost.peak_rss_bytes.unwrap_or(0) / 1_000_000
    );
}

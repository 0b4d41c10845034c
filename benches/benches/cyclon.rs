//! CYCLON's table in `docs/results/performance.md`: `cargo bench -p gridweave-benches --bench cyclon`.
//!
//! Each size is measured in a process of its own, so that its peak of memory is its own. With `--million` there is a
//! row for a million nodes as well, and with `--test` everything runs once, too short to mean anything.

use std::env;
use std::process::{Command, ExitCode};
use std::time::Duration;

use gridweave_benches::cyclon::{measure, overlay, run};
use gridweave_benches::events::Effort;
use gridweave_lab::results::Meter;

/// How a process is told to measure one size only.
const ONE: &str = "--one";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let smoke = has("--test");
    let effort = Effort {
        rounds: if smoke { 1 } else { 5 },
        turn: Duration::from_millis(if smoke { 1 } else { 1_000 }),
    };
    if let [one, nodes, ..] = &arguments[..]
        && one == ONE
        && let Ok(nodes) = nodes.parse()
    {
        row(nodes, effort);
        return ExitCode::SUCCESS;
    }
    println!("\n### CYCLON, event-driven: 20 links, 8 exchanged\n");
    println!(
        "| nodes | cycles per CPU-second | events per CPU-second | peak of memory | bytes per node |"
    );
    println!("|---|---|---|---|---|");
    let mut sizes = if smoke {
        vec![100]
    } else {
        vec![1_000, 5_000, 10_000, 100_000]
    };
    if has("--million") {
        sizes.push(1_000_000);
    }
    for nodes in sizes {
        if !measured_alone(nodes, smoke) {
            eprintln!("{nodes} nodes could not be measured");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Lets a fresh process print the row of one size; false if it did not.
fn measured_alone(nodes: u32, smoke: bool) -> bool {
    let mut process = match env::current_exe() {
        Ok(program) => Command::new(program),
        Err(_) => return false,
    };
    process.args([ONE, &nodes.to_string()]);
    if smoke {
        process.arg("--test");
    }
    process.status().is_ok_and(|status| status.success())
}

fn row(nodes: u32, effort: Effort) {
    let nothing = Meter::start().stop(0).peak_rss_bytes;
    let mut overlay = overlay(nodes);
    run(&mut overlay, 5);
    let rate = measure(&mut overlay, effort);
    let peak = Meter::start().stop(0).peak_rss_bytes;
    let memory = nothing.zip(peak).map_or_else(
        || "unknown | unknown".into(),
        |(nothing, peak)| {
            let per_node = peak.saturating_sub(nothing) / u64::from(nodes);
            format!("{:.0} MB | {per_node}", peak as f64 / 1e6)
        },
    );
    println!(
        "| {nodes} | {:.2} | {:.2} M | {memory} |",
        rate.cycles,
        rate.events / 1e6
    );
}

//! What `benches/peers/compare` takes from Rust: `cargo bench -p gridweave-benches --bench peers --
//! [TRACE@PROCESSORS]`.
//!
//! Prints a line of JSON for each contestant: what is counted, its name, and how many it handles in a second of
//! processor time. With `--test` everything runs once, too short to mean anything.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use gridweave_benches::events::engine::Simcore;
use gridweave_benches::events::queues::Binary;
use gridweave_benches::events::{
    Delays, Draws, Effort, LookAhead, Phold, Simulation, cpu_time, measure,
};
use gridweave_benches::gossip::Cluster;
use gridweave_benches::{cyclon, gossip};
use gridweave_lab::grid::Grid;
use gridweave_lab::outcome::Estimates;
use gridweave_lab::schedulers::central::{Central, simulate};
use gridweave_lab::workload::{Origin, read};
use gridweave_sim::event_queue::EventQueue;
use gridweave_sim::monitor::Monitor;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let smoke = arguments.iter().any(|argument| argument == "--test");
    let effort = Effort {
        rounds: if smoke { 1 } else { 3 },
        turn: Duration::from_millis(if smoke { 0 } else { 400 }),
    };
    let sizes: &[u32] = if smoke { &[100] } else { &[1_000, 10_000] };
    for &nodes in sizes {
        events(nodes, effort);
    }
    messages(if smoke { 100 } else { 1_000 }, effort);
    let traces = arguments.iter().filter(|one| !one.starts_with("--"));
    for (path, processors) in traces.filter_map(|one| one.rsplit_once('@')) {
        let processors = processors.parse().expect("after @ is a number");
        jobs(&PathBuf::from(path), processors, effort);
    }
}

fn tell(what: &str, who: &str, rate: f64) {
    println!(r#"{{"what": "{what}", "who": "{who}", "per_cpu_second": {rate}}}"#);
}

/// PHOLD, as many nodes as pending events.
fn events(nodes: u32, effort: Effort) {
    let draws = Draws::new(Delays::Exponential, nodes);
    let mut contestants: Vec<Box<dyn Simulation>> = vec![
        Box::new(Phold::<EventQueue<u32>>::new(
            draws.clone(),
            LookAhead::Touch,
        )),
        Box::new(Phold::<Binary>::new(draws.clone(), LookAhead::Ignore)),
        Box::new(Simcore::new(draws)),
    ];
    let rates = measure(&mut contestants, 2 * nodes as usize + 1_000, effort);
    let what = format!("events, {nodes} pending");
    for (who, rate) in ["gridweave", "BinaryHeap", "simcore"]
        .into_iter()
        .zip(rates)
    {
        tell(&what, who, rate);
    }
}

/// Gossip in virtual time: of ours two of three events are messages.
fn messages(nodes: u32, effort: Effort) {
    let what = format!("gossip messages, {nodes} nodes");
    let mut overlay = cyclon::overlay(nodes);
    cyclon::run(&mut overlay, 5);
    let rate = cyclon::measure(&mut overlay, effort);
    tell(&what, "gridweave", rate.events * 2.0 / 3.0);
    let nodes = NonZeroU32::new(nodes).expect("there are some");
    let mut cluster = Cluster::new(nodes);
    cluster.run(1_000);
    tell(&what, "foca", gossip::measure(&mut cluster, effort));
}

/// EASY backfilling on a trace, from the file on.
fn jobs(path: &std::path::Path, processors: u32, effort: Effort) {
    let mut best = 0.0_f64;
    for _ in 0..effort.rounds {
        let began = cpu_time();
        let trace = read(path, Origin::FirstJob).expect("the trace can be read");
        let (grid, monitor) = (Grid::Uniform(processors), Monitor::default());
        let jobs = trace.workload.jobs.len() as f64;
        simulate(
            Central::Easy,
            &grid,
            &trace.workload,
            Estimates::Kill,
            &monitor,
        )
        .expect("nodes are alike");
        let spent = cpu_time().saturating_sub(began).as_secs_f64();
        best = best.max(jobs / spent.max(1e-9));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    tell(&format!("jobs under EASY, {name}"), "gridweave", best);
}

//! Lost and duplicated messages, and nodes that crash, which the papers leave out.

use gridweave_core::rng::Choose;
use gridweave_core::time::Span;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Cell, Sample};
use crate::config::{Config, Fault};
use crate::results::Summary;

/// The cases, each worse than the one before: the title, and the name in runs.
pub(super) const CASES: [(&str, &str); 4] = [
    ("none", ""),
    ("5 % loss, 5 % repeated", "loss"),
    ("and 10 % crash, back in 10 min", "restart"),
    ("and 10 % crash for ever", "crash"),
];

/// Applies the case of this name. A tenth of `nodes` nodes crash one after the other within `lasting` seconds, from
/// half an hour on. `heed` sets how often nodes look for lost peers.
pub(super) fn apply(
    case: &str,
    config: &mut Config,
    (nodes, lasting): (u32, u64),
    heed: fn(&mut Config),
) {
    if case.is_empty() {
        return;
    }
    config.network.loss = 0.05;
    config.network.duplication = 0.05;
    heed(config);
    match case {
        "restart" => crash(config, nodes, lasting, Some(600)),
        "crash" => crash(config, nodes, lasting, None),
        _ => {}
    }
}

/// A tenth of the nodes, drawn with a fixed seed, go down one after the other; each comes back after so many seconds,
/// or never.
fn crash(config: &mut Config, nodes: u32, lasting: u64, back_after: Option<u64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0xc4a5);
    let mut drawn: Vec<u32> = (0..nodes).collect();
    rng.shuffle(&mut drawn);
    let going = nodes / 10;
    for (number, node) in (0_u64..).zip(drawn.into_iter().take(going as usize)) {
        let seconds = 1_800 + number * (lasting / u64::from(going.max(1)));
        let at = Span::from_secs(seconds);
        config.faults.push(Fault::Crash { at, node });
        if let Some(after) = back_after {
            let at = Span::from_secs(seconds + after);
            config.faults.push(Fault::Restart { at, node });
        }
    }
}

/// A row of outcomes, with how long jobs took.
pub(super) fn row(title: &str, sample: &Sample<'_>, took: Cell) -> [Cell; 10] {
    let count = |figure: fn(&Summary) -> f64| sample.mean(1, &|run| figure(&run.summary));
    [
        title.into(),
        count(|run| run.jobs.completed as f64),
        count(|run| (run.jobs.failed + run.jobs.rejected) as f64),
        count(|run| run.jobs.orphaned as f64),
        count(|run| run.faults.jobs.interrupted as f64),
        count(|run| run.faults.mean_recovery_seconds() / 60.0),
        count(|run| run.faults.jobs.longest_recovery_seconds as f64 / 60.0),
        count(|run| run.faults.jobs.orphaned as f64),
        took,
        count(|run| run.violations as f64),
    ]
}

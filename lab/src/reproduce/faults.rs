//! Lost and repeated messages, and nodes that crash, which the papers leave out.

use gridweave_core::rng::Choose;
use gridweave_core::time::Span;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Cell, Sample};
use crate::config::{Config, Fault};
use crate::results::Summary;

/// What goes wrong, each case more than the one before: its title, and its name in runs.
pub(super) const CASES: [(&str, &str); 4] = [
    ("none", ""),
    ("5 % loss, 5 % repeated", "loss"),
    ("and 10 % crash, back in 10 min", "restart"),
    ("and 10 % crash for ever", "crash"),
];

/// Lets go wrong what the case of this name says. Of so many nodes, those that crash do so one after the other within so
/// many seconds, after half an hour. `heed` sets how often nodes look for others that are gone.
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

/// A tenth of the nodes, drawn by a seed of their own, go down one after the other; each is back after so many seconds, if
/// ever.
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

/// A row of what became of jobs, with how long they took.
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

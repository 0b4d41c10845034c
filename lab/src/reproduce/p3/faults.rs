//! iMixed with loss, duplication and nodes that crash.

use super::{Planned, Scenario, Setup};
use crate::config::Config;
use crate::experiment::InputError;
use crate::reproduce::{Cell, Finished, Outages, Report, Sample, Table};
use gridweave_core::time::Span;

pub(super) const TITLE: &str = "iMixed with lost and repeated messages, and nodes that crash";

/// A case: its title, its name in runs, and what sets it apart.
struct Case(&'static str, &'static str, fn(&mut Config));

const CASES: [Case; 4] = [
    Case("none", "", |_| {}),
    Case("5 % loss, 5 % repeated", "-loss", lossy),
    Case("and 10 % crash, back in 10 min", "-restart", |config| {
        lossy(config);
        crash(config, Some(600));
    }),
    Case("and 10 % crash for ever", "-crash", |config| {
        lossy(config);
        crash(config, None);
    }),
];

fn lossy(config: &mut Config) {
    config.network.loss = 0.05;
    config.network.duplication = 0.05;
    // Ants have to find out who is gone.
    config.rules.aria.iteration = Some(Span::from_secs(300));
}

fn crash(config: &mut Config, back_after: Option<u64>) {
    let outages = Outages {
        nodes: config.workload.aria.nodes,
        first: 1_800,
        lasting: 27_000,
        back_after,
    };
    outages.apply(config);
}

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES
        .iter()
        .map(|Case(_, suffix, change)| setup.changed(Scenario::IMixed, suffix, change));
    Ok(runs.collect())
}

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "faults",
        "what became of jobs",
        &[
            "faults",
            "completed",
            "failed",
            "initiator gone",
            "interrupted",
            "run again after min",
            "worst min",
            "let go by sites",
            "completion min",
            "violations",
        ],
    );
    for (Case(title, ..), sample) in CASES.iter().zip(samples) {
        let count = |figure: fn(&Finished) -> f64| Cell::Number(sample.estimate(figure), 1);
        table.push([
            (*title).into(),
            count(|run| run.summary.jobs.completed as f64),
            count(|run| (run.summary.jobs.failed + run.summary.jobs.rejected) as f64),
            count(|run| run.summary.jobs.orphaned as f64),
            count(|run| run.summary.faults.jobs.interrupted as f64),
            count(|run| run.summary.faults.mean_recovery_seconds() / 60.0),
            count(|run| run.summary.faults.jobs.longest_recovery_seconds as f64 / 60.0),
            count(|run| run.summary.faults.jobs.orphaned as f64),
            count(|run| run.summary.turnaround.unwrap_or_default().mean / 60.0),
            count(|run| run.summary.violations as f64),
        ]);
    }
    let mut notes = vec![
        "initiator gone: whoever answered for the job went down for ever, so that nobody may run it again; its slots are freed when its lease is over".into(),
        "interrupted: the job ran when its node went down; run again: from then until it ran elsewhere".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

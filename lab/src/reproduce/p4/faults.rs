//! LIQ-PULL with loss, duplication and nodes that crash.

use super::{Planned, Scheme, Setup, wait};
use crate::config::Config;
use crate::experiment::InputError;
use crate::reproduce::{Cell, Finished, Outages, Report, Sample, Table};
use crate::schedulers::desktop::SchedulingName;
use gridweave_core::time::Span;

pub(super) const TITLE: &str = "LIQ-PULL with lost and repeated messages, and nodes that crash";

/// A case: its title, its name in runs, and what sets it apart.
struct Case(&'static str, &'static str, fn(&mut Config));

const CASES: [Case; 4] = [
    Case("none", "", |_| {}),
    Case("5 % loss, 5 % repeated", "loss", lossy),
    Case("and 10 % crash, back in 10 min", "restart", |config| {
        lossy(config);
        crash(config, Some(600));
    }),
    Case("and 10 % crash for ever", "crash", |config| {
        lossy(config);
        crash(config, None);
    }),
];

fn lossy(config: &mut Config) {
    config.network.loss = 0.05;
    config.network.duplication = 0.05;
    config.rules.desktop.heartbeat = Some(Span::from_secs(20));
}

fn crash(config: &mut Config, back_after: Option<u64>) {
    let outages = Outages {
        nodes: config.workload.desktop.nodes,
        first: 1_800,
        lasting: 9_000,
        back_after,
    };
    outages.apply(config);
}

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let ours = Scheme::Desktop(SchedulingName::LiqPull);
    let runs = CASES.iter().map(|Case(_, suffix, change)| {
        let mut planned = setup.with_gap(ours, 3000);
        if !suffix.is_empty() {
            planned.name = format!("{}-{suffix}", ours.name());
        }
        change(&mut planned.config);
        planned
    });
    Ok(runs.collect())
}

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "faults",
        "what became of jobs, a job every 3 s",
        &[
            "faults",
            "completed",
            "failed",
            "submitter gone",
            "interrupted",
            "run again after min",
            "worst min",
            "let go by nodes",
            "mean wait s",
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
            wait(sample),
            count(|run| run.summary.violations as f64),
        ]);
    }
    let mut notes = vec![
        "submitter gone: where the job was submitted went down for ever, so that nobody wants its results".into(),
        "interrupted: the job ran when its node went down, or was stopped because its owner did; run again: from then until it ran elsewhere".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

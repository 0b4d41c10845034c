//! LIQ-PULL with loss, duplication and nodes that crash.

use super::{OURS, Planned, Setup, wait};
use crate::experiment::InputError;
use crate::reproduce::faults::{CASES, apply, row};
use crate::reproduce::{Part, Report, Rules, Sample, Table, part};
use gridweave_core::time::Span;

pub(super) const FAULTS: Part<Setup> = part(
    "faults",
    "LIQ-PULL with lost and repeated messages, and nodes that crash",
    plan,
    report,
);

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES.map(|(_, case)| {
        let mut planned = setup.with_gap(OURS, 3000);
        if !case.is_empty() {
            planned.name = format!("{}-{case}", OURS.name());
        }
        let crashing = (planned.config.workload.desktop.nodes, 9_000);
        apply(case, &mut planned.config, crashing, |config| {
            config.rules.desktop.heartbeat = Some(Span::from_secs(20));
        });
        planned
    });
    Ok(runs.into())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "faults",
        "what became of jobs, a job every 3 s",
        "faults | completed | failed | submitter gone | interrupted | run again after min | worst min | \
         let go by nodes | mean wait s | violations",
    )
    .by(Rules::Ours);
    for ((title, _), sample) in CASES.iter().zip(samples) {
        table.push(row(title, sample, wait(sample)));
    }
    let notes = [
        "submitter gone: where the job was submitted went down for ever, so that its results are not wanted",
        "where messages are lost, heartbeats are every 20 s instead of every 150 s",
        "interrupted: the job ran when its node went down, or was stopped because its owner did; run again: from then until it ran elsewhere",
    ];
    Report::new([table], &notes, setup.size.caveat())
}

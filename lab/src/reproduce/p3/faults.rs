//! iMixed with loss, duplication and nodes that crash.

use super::{Planned, Scenario, Setup};
use crate::experiment::InputError;
use crate::reproduce::faults::{CASES, apply, row};
use crate::reproduce::{Finished, Part, Report, Sample, Table, part};
use gridweave_core::time::Span;

pub(super) const FAULTS: Part<Setup> = part(
    "faults",
    "iMixed with lost and repeated messages, and nodes that crash",
    plan,
    report,
);

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES.map(|(_, case)| {
        let suffix = if case.is_empty() { "" } else { "-" };
        setup.changed(Scenario::IMixed, &format!("{suffix}{case}"), |config| {
            let crashing = (config.workload.aria.nodes, 27_000);
            apply(case, config, crashing, |config| {
                // Ants must find out which nodes are gone.
                config.rules.aria.iteration = Some(Span::from_secs(300));
            });
        })
    });
    Ok(runs.into())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "faults",
        "what became of jobs",
        "faults | completed | failed | initiator gone | interrupted | run again after min | worst min | \
         let go by sites | completion min | violations",
    );
    for ((title, _), sample) in CASES.iter().zip(samples) {
        table.push(row(
            title,
            sample,
            sample.mean(1, &Finished::completion_minutes),
        ));
    }
    let notes = [
        "initiator gone: the node that answered for the job went down for ever, so that no other may run it again; its slots are freed when its lease is over",
        "interrupted: the job ran when its node went down; run again: from then until it ran elsewhere",
    ];
    Report::new([table], &notes, setup.size.caveat())
}

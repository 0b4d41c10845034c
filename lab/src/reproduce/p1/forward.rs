//! How many neighbours should search.

use gridweave_core::time::Time;

use super::{Planned, Setup, Trace};
use crate::experiment::{InputError, wait_ratio};
use crate::reproduce::{Cell, Finished, Report, Sample, Table};
use crate::schedulers::asap::OTHERS;

pub(super) const TITLE: &str =
    "Number of neighbours that search (fwd), on the trace compressed to 95 %";

const FORWARD: [u8; 5] = [1, 2, 5, 10, 20];

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = FORWARD.map(|forward| {
        // Five is what all other runs have.
        let name = match forward {
            5 => "push".to_owned(),
            _ => format!("push-forward{forward}"),
        };
        setup.planned(&name, Trace::Compressed, |config| {
            config.rules.asap.forward = forward;
        })
    });
    Ok(runs.into())
}

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "forward",
        "what more searches buy",
        &[
            "fwd",
            "measured wait s",
            "wait / fwd 5",
            "failures %",
            "searches per job",
            "messages of searches per job",
        ],
    );
    let usual = samples[2];
    let per_job = |run: &Finished, kinds: &[&str]| {
        run.sent(kinds).messages as f64 / (run.summary.jobs.submitted.max(1)) as f64
    };
    let searching = ["search", "found", "not_found", "who_else", OTHERS];
    for (forward, sample) in FORWARD.into_iter().zip(samples) {
        let ratio = sample.against(&usual, |run, usual| {
            wait_ratio(&run.waits(), &usual.waits())
        });
        table.push([
            u64::from(forward).into(),
            Cell::Number(sample.estimate(|run| run.wait().mean), 0),
            Cell::maybe(ratio, 2),
            Cell::Number(
                sample.estimate(|run| run.failures(Time::ZERO, Time::MAX)),
                2,
            ),
            Cell::Number(sample.estimate(|run| per_job(run, &["search"])), 1),
            Cell::Number(sample.estimate(|run| per_job(run, &searching)), 1),
        ]);
    }
    let mut notes = vec![
        "the paper uses 5 and publishes no figures for others; a second round of searches counts too".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

//! How many neighbours should search.

use gridweave_core::time::Time;

use super::{Planned, Setup, Trace};
use crate::experiment::{InputError, wait_ratio};
use crate::reproduce::{Finished, Part, Report, Sample, Table, part};
use crate::schedulers::asap::SEARCH;

pub(super) const FORWARD: Part<Setup> = part(
    "forward",
    "Number of neighbours that search (fwd), on the trace compressed to 95 %",
    plan,
    report,
);

const SEARCHERS: [u8; 5] = [1, 2, 5, 10, 20];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = SEARCHERS.map(|forward| {
        // All other runs have five.
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

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "forward",
        "what more searches buy",
        "fwd | measured wait s | wait / fwd 5 | failures % | searches per job | messages of searches per job",
    );
    let usual = samples[2];
    for (forward, sample) in SEARCHERS.into_iter().zip(samples) {
        table.push([
            u64::from(forward).into(),
            sample.mean(0, &Finished::mean_wait),
            sample.against(&usual, 2, &|run, usual| {
                wait_ratio(&run.waits(), &usual.waits())
            }),
            sample.mean(2, &|run| run.failures(Time::ZERO, Time::MAX)),
            sample.mean(1, &|run| run.sent_per_job(&SEARCH[..1])),
            sample.mean(1, &|run| run.sent_per_job(&SEARCH)),
        ]);
    }
    let note = "the paper uses 5 and publishes no figures for others; a second round of searches counts too";
    Report::new([table], &[note], setup.size.caveat())
}

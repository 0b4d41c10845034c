//! iMixed over other overlays, which P3 leaves to the future.

use super::{Planned, Scenario, Setup};
use crate::config::Config;
use crate::experiment::InputError;
use crate::reproduce::{Cell, Finished, Report, Sample, Table};
use crate::schedulers::aria::{ACCEPT, INFORM, REQUEST};
use crate::schedulers::aria::{ForwardName, OverlayName};
use gridweave_core::time::Span;

pub(super) const TITLE: &str = "iMixed over other overlays";

/// An overlay: its title, its name in runs, and what sets it apart.
struct Case(&'static str, &'static str, fn(&mut Config));

const CASES: [Case; 7] = [
    Case("BLATANT-S", "", |_| {}),
    Case("BLATANT-S, near forward", "-near", |config| {
        config.rules.aria.forward = ForwardName::Near;
    }),
    Case("CYCLON, 4 links", "-cyclon", |config| {
        config.rules.aria.overlay = OverlayName::Cyclon;
        // A view is no view if it stays as it is.
        config.rules.aria.iteration = Some(Span::from_secs(300));
    }),
    Case("random regular, 4 links", "-regular", |config| {
        config.rules.aria.overlay = OverlayName::Regular;
    }),
    Case("BLATANT-S, all forward", "-always", |config| {
        config.rules.aria.forward = ForwardName::Always;
    }),
    Case("CYCLON, all forward", "-cyclon-always", |config| {
        config.rules.aria.overlay = OverlayName::Cyclon;
        config.rules.aria.iteration = Some(Span::from_secs(300));
        config.rules.aria.forward = ForwardName::Always;
    }),
    Case("random regular, all forward", "-regular-always", |config| {
        config.rules.aria.overlay = OverlayName::Regular;
        config.rules.aria.forward = ForwardName::Always;
    }),
];

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES
        .iter()
        .map(|Case(_, suffix, change)| setup.changed(Scenario::IMixed, suffix, change));
    Ok(runs.collect())
}

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "overlays",
        "the same jobs, nodes and policies",
        &[
            "overlay",
            "waiting min",
            "completion min",
            "REQUEST for each job",
            "ACCEPT for each job",
            "INFORM for each job",
            "completed",
        ],
    );
    for (Case(title, ..), sample) in CASES.iter().zip(samples) {
        let per_job = |kind: &str| {
            let figure = sample.estimate(|run| {
                run.sent(&[kind]).messages as f64 / run.summary.jobs.submitted.max(1) as f64
            });
            Cell::Number(figure, 0)
        };
        table.push([
            (*title).into(),
            Cell::Number(sample.estimate(|run| run.wait().mean / 60.0), 1),
            Cell::Number(
                sample.estimate(|run: &Finished| {
                    run.summary.turnaround.unwrap_or_default().mean / 60.0
                }),
                1,
            ),
            per_job(REQUEST),
            per_job(ACCEPT),
            per_job(INFORM),
            Cell::Number(sample.estimate(|run| run.summary.jobs.completed as f64), 0),
        ]);
    }
    let mut notes = vec![
        "all forward: everyone passes floods on, not only those that cannot run the job (A1); near: everyone within two hops"
            .into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

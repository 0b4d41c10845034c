//! Figure 4: how deadlines are met.

use super::{Planned, Scenario, Setup};
use crate::experiment::InputError;
use crate::outcome::Outcome;
use crate::reproduce::statistics::mean;
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Rules, Sample, Table, part};
use gridweave_core::queue::Lateness;

pub(super) const FIG4: Part<Setup> = part("fig4", "Figure 4: deadline scheduling", plan, report);

/// A scenario, and how many missed deadlines the paper reports.
const CASES: [(Scenario, f64); 4] = [
    (Scenario::Deadline, 187.0),
    (Scenario::IDeadline, 4.0),
    (Scenario::DeadlineH, 236.0),
    (Scenario::IDeadlineH, 59.0),
];

/// How lateness is counted, with its name and the suffix of runs.
const READINGS: [(Lateness, &str, &str); 2] = [
    (Lateness::Marginal, "marginal", ""),
    (Lateness::Literal, "literal", "-literal"),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = READINGS.iter().flat_map(|(lateness, _, suffix)| {
        CASES.iter().map(move |(scenario, _)| {
            setup.changed(*scenario, suffix, |config| {
                config.rules.aria.lateness = *lateness;
            })
        })
    });
    Ok(runs.collect())
}

/// By how many minutes jobs were early, or if `late`, by how many minutes the late ones were late.
fn minutes(run: &Finished, late: bool) -> Option<f64> {
    let deadlines = &run.prepared.workload.deadlines;
    let outcomes = run.run.outcomes.iter().zip(deadlines);
    let minutes: Vec<f64> = outcomes
        .filter_map(|(outcome, deadline)| match outcome {
            Outcome::Ran { end, .. } if (*end > *deadline) == late => {
                let apart = (*end - *deadline) + (*deadline - *end);
                Some(apart.as_micros() as f64 / 6e7)
            }
            _ => None,
        })
        .collect();
    mean(&minutes)
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "fig4",
        "missed deadlines, of 1000 jobs",
        "scenario | lateness | published missed | measured missed | in time by min | late by min | completed",
    );
    for ((_, reading, _), samples) in READINGS.iter().zip(samples.chunks(CASES.len())) {
        for ((scenario, published), sample) in CASES.iter().zip(samples) {
            let missed =
                |run: &Finished| run.summary.deadlines.map_or(0.0, |kept| kept.missed as f64);
            let rules = match reading {
                &"literal" => Rules::Paper,
                _ => Rules::Ours,
            };
            let row = [
                scenario.name().into(),
                (*reading).into(),
                Cell::exact(*published, 0),
                sample.mean(1, &missed),
                sample.mean_of_some(0, &|run| minutes(run, false)),
                sample.mean_of_some(0, &|run| minutes(run, true)),
                sample.mean(0, &Finished::completed),
            ];
            table.push_by(rules, row);
        }
    }
    let notes = [
        "published besides: the time by which deadlines are met hardly changes with rescheduling; that by which they are missed is halved",
        "literal: the cost of a site is the sum over its whole queue, as printed, so that a site with many jobs in time asks less than an idle one (A9); marginal: what the job adds",
    ];
    // The rows of the paper's own reading come second.
    let findings = CASES.iter().enumerate().map(|(number, (scenario, published))| {
        let claim = Claim::number(format!("missed, {}, literal", scenario.name()), *published, 0.3);
        let claim = match scenario.reschedules() {
            true => claim.or_below(100.0),
            false => claim.or_above(50.0),
        };
        claim
            .because("P3 does not say how it draws deadlines and redraws jobs with rare requirements; without rescheduling it misses two to three times as many as we can make it miss by its own formula")
            .judge(&table, CASES.len() + number, "measured missed")
    });
    let findings: Vec<_> = findings.collect();
    Report::new([table], &notes, setup.size.caveat()).judged(findings)
}

//! Bounded waiting: how long jobs of each class wait, and how often they are passed, with the bound and without it.

use std::ops::Range;

use super::{OURS, Planned, Scheme, Setup, counted};
use crate::experiment::InputError;
use crate::grid::Grid;
use crate::reproduce::{Cell, Finished, Part, Report, Rules, Sample, Table, part};
use crate::schedulers::{PassingName, SchedulingName};
use gridweave_core::time::Time;

pub(super) const BOUNDS: Part<Setup> = part(
    "bounds",
    "bounded waiting: the longest waits, and how often jobs are passed",
    plan,
    report,
);

/// A scheme with the bound or without it.
const CASES: [(Scheme, PassingName); 7] = [
    (Scheme::Desktop(SchedulingName::L), PassingName::Bounded),
    (Scheme::Desktop(SchedulingName::L), PassingName::Unbounded),
    (OURS, PassingName::Bounded),
    (OURS, PassingName::Unbounded),
    (Scheme::Cent, PassingName::Unbounded),
    (Scheme::CentBounded, PassingName::Bounded),
    (Scheme::CentStrict, PassingName::Bounded),
];

/// A class of jobs: its title, and whether a job is in it, by its cores and the part of the nodes that can run it.
type Class = (&'static str, fn(u64, f64) -> bool);

const CLASSES: [Class; 3] = [
    ("one core, most nodes", |cores, able| {
        cores < 2 && able >= 0.2
    }),
    ("several cores, most nodes", |cores, able| {
        cores >= 2 && able >= 0.2
    }),
    ("fewer than a fifth of the nodes", |_, able| able < 0.2),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES.map(|(scheme, passing)| {
        let mut planned = setup.with_gap(scheme, 2000);
        if matches!(scheme, Scheme::Desktop(_)) && passing == PassingName::Unbounded {
            planned.name.push_str("-unbounded");
            planned.config.rules.desktop.passing = passing;
        }
        planned
    });
    Ok(runs.into())
}

/// The sorted waits of a class of jobs, of those that count.
fn waits(run: &Finished, class: fn(u64, f64) -> bool) -> Vec<f64> {
    let Grid::Mixed(mixed) = &*run.prepared.grid else {
        return Vec::new();
    };
    let (during, workload): (Range<Time>, _) = (counted(run), &run.prepared.workload);
    let is_in = |number: u64| {
        let required = workload.requirements.get(number as usize - 1)?;
        let cores = required.value(mixed.shares()?).unwrap_or(1);
        let able = mixed.nodes.iter();
        let able = able.filter(|node| mixed.dimensions.matches(&node.capability, required));
        Some(class(
            cores,
            able.count() as f64 / mixed.nodes.len().max(1) as f64,
        ))
    };
    let waited = run.waited().filter(|(job, _)| during.contains(&job.at));
    let mut waits: Vec<f64> = waited
        .filter(|(job, _)| is_in(job.number) == Some(true))
        .map(|(_, wait)| wait)
        .collect();
    waits.sort_by(f64::total_cmp);
    waits
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "bounds",
        "waits in seconds, a job every 2 s",
        "scheme | jobs | mean | p99 | longest | most passed | proved bound | longest queue | balanced",
    );
    for ((scheme, passing), sample) in CASES.iter().zip(samples) {
        let count = |name: &'static str| {
            let of = move |run: &Finished| run.run.counts.get(name).map(|count| *count as f64);
            sample.mean_of_some(0, &of)
        };
        let is_ours = matches!(scheme, Scheme::Desktop(_));
        for (title, class) in CLASSES {
            let name = match (is_ours, passing) {
                (true, PassingName::Unbounded) => format!("{}, no bound", scheme.name()),
                _ => scheme.name().to_owned(),
            };
            let part = move |part: f64| {
                move |run: &Finished| {
                    let waits = waits(run, class);
                    let index = (part * waits.len().saturating_sub(1) as f64) as usize;
                    waits.get(index).copied()
                }
            };
            let mean = move |run: &Finished| {
                let waits = waits(run, class);
                (!waits.is_empty()).then(|| waits.iter().sum::<f64>() / waits.len() as f64)
            };
            let bound = match (is_ours, passing) {
                (true, PassingName::Bounded) => Cell::exact(64.0, 0),
                _ => Cell::Empty,
            };
            let rules = if is_ours { Rules::Ours } else { Rules::Other };
            table.push_by(
                rules,
                [
                    name.into(),
                    title.into(),
                    sample.mean_of_some(0, &mean),
                    sample.mean_of_some(0, &part(0.99)),
                    sample.mean_of_some(0, &part(1.0)),
                    count("most_passed"),
                    bound,
                    count("most_waiting"),
                    count("balanced"),
                ],
            );
        }
    }
    let notes = [
        "proved bound: a queue lets no job pass while a job in it was passed 64 times, so no counter goes beyond that, wherever jobs come from",
        "most passed, longest queue: the highest at any node; balanced: jobs that went where the load is lower; both of all jobs",
    ];
    Report::new([table], &notes, setup.size.caveat())
}

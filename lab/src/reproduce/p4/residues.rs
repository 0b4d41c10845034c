//! P4's two models of what busy nodes have left, Balloons and Dual-CAN, and neither.

use super::messages::{UPKEEP, jobs_kinds, steady};
use super::{Planned, Scheme, Setup, beside, wait};
use crate::experiment::InputError;
use crate::reproduce::{Cell, Finished, Report, Sample, Table};
use crate::schedulers::desktop::SchedulingName;
use crate::schedulers::desktop::{RENDEZVOUS, RESIDUE_OVERLAY};
use gridweave_core::scheduler::desktop::Residues;

pub(super) const TITLE: &str = "LIQ-PULL with balloons, with Dual-CAN, and with neither";

/// Mean times between submissions, in milliseconds.
const GAPS: [u64; 3] = [2000, 2500, 3000];

/// A model: its title, its name in runs, and which it is.
struct Model(&'static str, &'static str, Residues);

const MODELS: [Model; 3] = [
    Model("balloons", "", Residues::Balloons),
    Model("Dual-CAN", "dual", Residues::DualCan),
    Model("neither", "neither", Residues::Neighbours),
];

const OURS: Scheme = Scheme::Desktop(SchedulingName::LiqPull);

/// What keeps the second space of the Dual-CAN up to date.
const SECOND: [&str; 3] = [RESIDUE_OVERLAY, RENDEZVOUS[0], RENDEZVOUS[1]];

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = GAPS.iter().flat_map(|gap| {
        let models = MODELS.iter().map(|Model(_, suffix, residues)| {
            let mut planned = setup.with_gap(OURS, *gap);
            if !suffix.is_empty() {
                planned.name = format!("{}-{suffix}", planned.name);
            }
            planned.config.rules.desktop.residues = *residues;
            planned
        });
        models.chain([setup.with_gap(Scheme::Cent, *gap)])
    });
    Ok(runs.collect())
}

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "residues",
        "mean wait in seconds; messages and bytes for each node and minute, in the steady state",
        &[
            "between",
            "model",
            "wait",
            "CENT",
            "wait / CENT",
            "s more",
            "first space",
            "second space",
            "for jobs",
            "all messages",
            "first space B",
            "second space B",
            "for jobs B",
            "all B",
        ],
    );
    for (gap, samples) in GAPS.iter().zip(samples.chunks(MODELS.len() + 1)) {
        let Some((cent, samples)) = samples.split_last() else {
            continue;
        };
        for (Model(title, ..), sample) in MODELS.iter().zip(samples) {
            let first = |run: &Finished| steady(run, &UPKEEP);
            let second = |run: &Finished| steady(run, &SECOND);
            let jobs = |run: &Finished| {
                let mut kinds = jobs_kinds(run);
                kinds.retain(|kind| !SECOND.contains(kind));
                steady(run, &kinds)
            };
            let cell = |figure: &dyn Fn(&Finished) -> f64, digits| {
                Cell::Number(sample.estimate(figure), digits)
            };
            let mut cells = vec![
                format!("{:.2} s", *gap as f64 / 1000.0).into(),
                (*title).into(),
                wait(sample),
                wait(cent),
            ];
            cells.extend(beside(sample, cent));
            cells.extend([
                cell(&|run| first(run).0, 1),
                cell(&|run| second(run).0, 1),
                cell(&|run| jobs(run).0, 1),
                cell(&|run| first(run).0 + second(run).0 + jobs(run).0, 1),
                cell(&|run| first(run).1, 0),
                cell(&|run| second(run).1, 0),
                cell(&|run| jobs(run).1, 0),
                cell(&|run| first(run).1 + second(run).1 + jobs(run).1, 0),
            ]);
            table.push(cells);
        }
    }
    let mut notes = vec![
        "P4 does not compare its two models; it says that a second CAN is not free, and that a balloon touches two nodes at most".into(),
        "balloons count as for jobs; so do searches in the second space".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

//! P4's two models of what busy nodes have left, Balloons and Dual-CAN, beside none.

use super::messages::{UPKEEP, jobs_kinds, steady};
use super::waits::between;
use super::{OURS, Planned, Scheme, Setup, beside, wait};
use crate::experiment::InputError;
use crate::reproduce::{Finished, Part, Report, Rules, Sample, Table, part};
use crate::schedulers::desktop::{RENDEZVOUS, RESIDUE_OVERLAY};
use gridweave_core::scheduler::desktop::Residues;

pub(super) const RESIDUES: Part<Setup> = part(
    "residues",
    "LIQ-PULL with balloons, with Dual-CAN, and with neither",
    plan,
    report,
);

/// Mean times between submissions, in milliseconds.
const GAPS: [u64; 3] = [2000, 2500, 3000];

/// A model: its title, its name in runs, and its setting.
struct Model(&'static str, &'static str, Residues);

const MODELS: [Model; 3] = [
    Model("balloons", "", Residues::Balloons),
    Model("Dual-CAN", "dual", Residues::DualCan),
    Model("neither", "neither", Residues::Neighbours),
];

/// The kinds of messages that maintain the second space of the Dual-CAN.
const SECOND: [&str; 3] = [RESIDUE_OVERLAY, RENDEZVOUS[0], RENDEZVOUS[1]];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
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

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "residues",
        "mean wait in seconds; messages and bytes for each node and minute, in the steady state",
        "between | model | wait | CENT | wait / CENT | s more | first space | second space | for jobs | all messages | \
         first space B | second space B | for jobs B | all B",
    )
    .by(Rules::Ours);
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
            let mut cells = vec![between(*gap).into(), (*title).into()];
            cells.extend([wait(sample), wait(cent)]);
            cells.extend(beside(sample, cent));
            cells.extend([
                sample.mean(1, &|run| first(run).0),
                sample.mean(1, &|run| second(run).0),
                sample.mean(1, &|run| jobs(run).0),
                sample.mean(1, &|run| first(run).0 + second(run).0 + jobs(run).0),
                sample.mean(0, &|run| first(run).1),
                sample.mean(0, &|run| second(run).1),
                sample.mean(0, &|run| jobs(run).1),
                sample.mean(0, &|run| first(run).1 + second(run).1 + jobs(run).1),
            ]);
            table.push(cells);
        }
    }
    let notes = [
        "P4 does not compare its two models; it says that a second CAN is not free, and that a balloon touches two nodes at most",
        "balloons count as for jobs; so do searches in the second space",
    ];
    Report::new([table], &notes, setup.size.caveat())
}

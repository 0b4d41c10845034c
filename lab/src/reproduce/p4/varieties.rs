//! Clustered and mixed nodes and jobs; P4 shows only clustered ones.

use super::waits::table;
use super::{Planned, Scheme, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Part, Report, Rules, Sample, part};
use crate::workload::generate::Variety;

pub(super) const VARIETIES: Part<Setup> = part(
    "varieties",
    "clustered and mixed nodes and jobs",
    plan,
    report,
);

const CASES: [(&str, Variety, Variety); 4] = [
    (
        "clustered nodes, clustered jobs",
        Variety::Clustered,
        Variety::Clustered,
    ),
    (
        "clustered nodes, mixed jobs",
        Variety::Clustered,
        Variety::Mixed,
    ),
    (
        "mixed nodes, clustered jobs",
        Variety::Mixed,
        Variety::Clustered,
    ),
    ("mixed nodes, mixed jobs", Variety::Mixed, Variety::Mixed),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let cases = CASES.iter().enumerate();
    let runs = cases.flat_map(|(number, (_, nodes, jobs))| {
        Scheme::FEW.map(|scheme| {
            let mut planned = setup.with_gap(scheme, 2500);
            if number > 0 {
                planned.name = format!("{}-variety{number}", scheme.name());
            }
            planned.config.workload.desktop.node_variety = *nodes;
            planned.config.workload.desktop.job_variety = *jobs;
            planned
        })
    });
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let rows = CASES.map(|(name, ..)| name.to_owned());
    let title = "mean wait in seconds, a job every 2.5 s";
    let mut table = table(
        ("varieties", title, "nodes, jobs"),
        &rows,
        &Scheme::FEW,
        samples,
        Rules::Ours,
    );
    table.published = false;
    Report::new([table], &[], setup.size.caveat())
}

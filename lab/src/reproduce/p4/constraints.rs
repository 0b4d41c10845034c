//! Figure 5: how long jobs wait, by how many constraints they have.

use super::waits::{EARLY, keeps_up, table};
use super::{Planned, Scheme, Setup};
use crate::experiment::InputError;
use crate::reproduce::chart::Chart;
use crate::reproduce::{Claim, Finding, Part, Report, Rules, Sample, Table, part};

pub(super) const FIG5: Part<Setup> = part(
    "fig5",
    "Figure 5: mean wait, by how likely a job names each resource",
    plan,
    report,
);

/// How likely a job names each resource.
pub(super) const PERCENT: [u32; 4] = [20, 40, 60, 80];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = PERCENT
        .iter()
        .flat_map(|percent| Scheme::ALL.map(|scheme| setup.with_constraints(scheme, *percent)));
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let rows = PERCENT.map(|percent| format!("{percent} %"));
    let title = "mean wait in seconds, a job every 3 s";
    let table = table(
        ("fig5", title, "named"),
        &rows,
        &Scheme::ALL,
        samples,
        Rules::Ours,
    );
    let published = "P4 prints no numbers; it says the same as of Figure 3, and that LIQ-PULL falls behind CENT at 80 %";
    let findings = judged(&table);
    let schemes = Scheme::ALL.map(Scheme::name);
    let chart = Chart::columns(&table, "named", &schemes, "mean wait s")
        .axes("% of resources that jobs name", "mean wait in seconds")
        .named(
            "p4-fig5",
            "mean waits by how likely a job names each resource",
        );
    Report::new([table], &[published], setup.size.caveat())
        .judged(findings)
        .drawn([chart])
}

/// The verdicts: LIQ-PULL keeps up with CENT until jobs name nearly everything.
fn judged(table: &Table) -> [Finding; 2] {
    [
        keeps_up(table, 0, "at 20 %", EARLY),
        Claim::sentence(
            "s more than CENT, at 80 % - at 60 %",
            "falls behind at 80 %",
            1.0..=f64::INFINITY,
        )
        .because("here LIQ-PULL keeps up at 80 % too: its searches go on where P4's end")
        .judge_value(table, table.difference(3, 2, "s more")),
    ]
}

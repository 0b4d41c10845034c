//! Figure 3: how long jobs wait, by how often they come.

use super::{Planned, Scheme, Setup, beside, wait};
use crate::experiment::InputError;
use crate::reproduce::{Report, Sample, Table};
use crate::schedulers::desktop::SchedulingName;

pub(super) const FIG3: &str = "Figure 3: mean wait, by the time between submissions";
pub(super) const LIGHT: &str = "the same under light load, which P4 only mentions";

/// Mean times between submissions, in milliseconds.
const GAPS: [u64; 5] = [2000, 2250, 2500, 2750, 3000];
const LIGHT_GAPS: [u64; 3] = [4000, 5000, 6000];

fn plan(setup: &Setup, gaps: &[u64]) -> Vec<Planned> {
    let pairs = gaps
        .iter()
        .flat_map(|gap| Scheme::ALL.map(|scheme| (*gap, scheme)));
    pairs
        .map(|(gap, scheme)| setup.with_gap(scheme, gap))
        .collect()
}

pub(super) fn plan3(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    Ok(plan(setup, &GAPS))
}

pub(super) fn plan_light(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    Ok(plan(setup, &LIGHT_GAPS))
}

/// A table of waits: a row for each of these, a column for each scheme, and how LIQ-PULL compares with CENT.
pub(super) fn table(
    (name, title, first): (&str, &str, &str),
    rows: &[String],
    schemes: &[Scheme],
    samples: &[Sample<'_>],
) -> Table {
    let mut columns = vec![first];
    columns.extend(schemes.iter().map(|scheme| scheme.name()));
    columns.extend(["LIQ-PULL / CENT", "s more"]);
    let mut table = Table::new(name, title, &columns);
    let place = |wanted: Scheme| schemes.iter().position(|scheme| *scheme == wanted);
    for (row, samples) in rows.iter().zip(samples.chunks(schemes.len())) {
        let mut cells = vec![row.as_str().into()];
        cells.extend(samples.iter().map(wait));
        let ours = place(Scheme::Desktop(SchedulingName::LiqPull));
        if let (Some(ours), Some(cent)) = (ours, place(Scheme::Cent)) {
            cells.extend(beside(&samples[ours], &samples[cent]));
        }
        table.push(cells);
    }
    table
}

fn report(setup: &Setup, gaps: &[u64], name: &str, samples: &[Sample<'_>]) -> Report {
    let rows: Vec<String> = gaps
        .iter()
        .map(|gap| format!("{:.2} s", *gap as f64 / 1000.0))
        .collect();
    let title = "mean wait in seconds, clustered nodes and clustered jobs";
    let table = table((name, title, "between"), &rows, &Scheme::ALL, samples);
    let mut notes = vec![
        "P4 prints no numbers; it says that LIQ-PULL is best and competitive with CENT, LI similar to LIQ, PULL ahead of PUSH under high load, and L behind Vanilla at 2 s".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

pub(super) fn report3(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    report(setup, &GAPS, "fig3", samples)
}

pub(super) fn report_light(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    report(setup, &LIGHT_GAPS, "light", samples)
}

//! Figure 3: how long jobs wait, by the time between submissions.

use super::{OURS, Planned, Scheme, Setup, beside, wait};
use crate::reproduce::{Part, Report, Sample, Table, part};

pub(super) const FIG3: Part<Setup> = part(
    "fig3",
    "Figure 3: mean wait, by the time between submissions",
    |setup| Ok(plan(setup, &GAPS)),
    |setup, samples| report(setup, &GAPS, "fig3", samples),
);
pub(super) const LIGHT: Part<Setup> = part(
    "light",
    "the same under light load, which P4 only mentions",
    |setup| Ok(plan(setup, &LIGHT_GAPS)),
    |setup, samples| report(setup, &LIGHT_GAPS, "light", samples),
);

/// Mean times between submissions, in milliseconds.
const GAPS: [u64; 5] = [2000, 2250, 2500, 2750, 3000];
const LIGHT_GAPS: [u64; 3] = [4000, 5000, 6000];

fn plan(setup: &Setup, gaps: &[u64]) -> Vec<Planned> {
    let runs = gaps
        .iter()
        .flat_map(|gap| Scheme::ALL.map(|scheme| setup.with_gap(scheme, *gap)));
    runs.collect()
}

/// The time between submissions, as text.
pub(super) fn between(gap: u64) -> String {
    format!("{:.2} s", gap as f64 / 1000.0)
}

/// A table of waits: one row for each sample, one column for each scheme, and LIQ-PULL compared with CENT.
pub(super) fn table(
    (name, title, first): (&str, &str, &str),
    rows: &[String],
    schemes: &[Scheme],
    samples: &[Sample<'_>],
) -> Table {
    let mut columns = vec![first];
    columns.extend(schemes.iter().map(|scheme| scheme.name()));
    columns.extend(["LIQ-PULL / CENT", "s more"]);
    let mut table = Table::new(name, title, &columns.join(" | "));
    let index = |wanted: Scheme| schemes.iter().position(|scheme| *scheme == wanted);
    for (row, samples) in rows.iter().zip(samples.chunks(schemes.len())) {
        let mut cells = vec![row.as_str().into()];
        cells.extend(samples.iter().map(wait));
        if let (Some(ours), Some(cent)) = (index(OURS), index(Scheme::Cent)) {
            cells.extend(beside(&samples[ours], &samples[cent]));
        }
        table.push(cells);
    }
    table
}

fn report(setup: &Setup, gaps: &[u64], name: &str, samples: &[Sample<'_>]) -> Report {
    let rows: Vec<String> = gaps.iter().copied().map(between).collect();
    let title = "mean wait in seconds, clustered nodes and clustered jobs";
    let table = table((name, title, "between"), &rows, &Scheme::ALL, samples);
    let published = "P4 prints no numbers; it says that LIQ-PULL is best and competitive with CENT, LI similar to LIQ, PULL ahead of PUSH under high load, and L behind Vanilla at 2 s";
    Report::new([table], &[published], setup.size.caveat())
}

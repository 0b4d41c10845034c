//! Figure 5: how long jobs wait, by how many constraints they have.

use super::waits::table;
use super::{Planned, Scheme, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Part, Report, Sample, part};

pub(super) const FIG5: Part<Setup> = part(
    "fig5",
    "Figure 5: mean wait, by how likely a job names each resource",
    plan,
    report,
);

const PERCENT: [u32; 4] = [20, 40, 60, 80];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let pairs = PERCENT
        .iter()
        .flat_map(|percent| Scheme::ALL.map(|scheme| (*percent, scheme)));
    let runs = pairs.map(|(percent, scheme)| {
        let mut planned = setup.with_gap(scheme, 3000);
        planned.name = format!("{}-{percent}pc", scheme.name());
        planned.config.workload.desktop.constraint_ratio = f64::from(percent) / 100.0;
        planned
    });
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let rows = PERCENT.map(|percent| format!("{percent} %"));
    let title = "mean wait in seconds, a job every 3 s";
    let table = table(("fig5", title, "named"), &rows, &Scheme::ALL, samples);
    let published = "P4 prints no numbers; it says the same as of Figure 3, and that LIQ-PULL falls behind CENT at 80 %";
    Report::new([table], &[published], setup.size.caveat())
}

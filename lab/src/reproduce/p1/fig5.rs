//! Figure 5: how long jobs wait, by the time of submission and by their size.

use std::collections::BTreeMap;

use super::{Setup, Trace};
use crate::reproduce::statistics::{log_bins, spearman};
use crate::reproduce::{Cell, Finished, Part, Report, Sample, Table, part};
use crate::results::Distribution;
use crate::workload::Submission;

pub(super) const FIG5: Part<Setup> = part(
    "fig5",
    "Figure 5: waiting time on the trace compressed to 95 %, by time and by what jobs ask for",
    |setup| Ok(vec![setup.push(Trace::Compressed)]),
    report,
);

/// For each value of a property, the median wait of the jobs that have it.
fn medians(run: &Finished, property: fn(&Submission) -> u64) -> Vec<(f64, f64)> {
    let mut by_value: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (job, wait) in run.waited() {
        by_value.entry(property(job)).or_default().push(wait);
    }
    let medians = by_value.into_iter();
    medians
        .map(|(value, waits)| {
            (
                value as f64,
                Distribution::of(waits).unwrap_or_default().median,
            )
        })
        .collect()
}

/// A property of a job, and what the paper says about its effect on waits.
struct Property {
    name: &'static str,
    published: &'static str,
    of: fn(&Submission) -> u64,
}

fn slots(job: &Submission) -> u64 {
    job.run_time.as_secs().div_ceil(60)
}

const PROPERTIES: [Property; 3] = [
    Property {
        name: "nodes",
        published: "strong",
        of: |job| u64::from(job.processors),
    },
    Property {
        name: "duration",
        published: "little or none",
        of: slots,
    },
    Property {
        name: "slots",
        published: "generally higher for more",
        of: |job| slots(job).saturating_mul(u64::from(job.processors)),
    },
];

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let sample = samples[0];
    let run = sample.first();
    let mut table = Table::new(
        "fig5",
        "how waits depend on what jobs ask for",
        "property | published | measured Spearman, jobs | measured Spearman, medians",
    );
    let mut bins = Table::data(
        "fig5-properties",
        "waits in seconds by property, under the first seed; durations in slots of a minute",
        "property | from | until | jobs | median | mean",
    );
    for property in PROPERTIES {
        let of_jobs = |run: &Finished| {
            let pairs = run.waited();
            let pairs = pairs.map(|(job, wait)| ((property.of)(job) as f64, wait));
            spearman(&pairs.collect::<Vec<_>>())
        };
        table.push([
            property.name.into(),
            property.published.into(),
            sample.mean_of_some(2, &of_jobs),
            sample.mean_of_some(2, &|run| spearman(&medians(run, property.of))),
        ]);
        for bin in log_bins(run.waited().map(|(job, wait)| ((property.of)(job), wait))) {
            bins.push([
                property.name.into(),
                bin.from.into(),
                bin.until.into(),
                bin.count.into(),
                Cell::exact(bin.values.median, 0),
                Cell::exact(bin.values.mean, 0),
            ]);
        }
    }
    let mut shown = bins.clone();
    shown.rows.retain(|row| row[0] == Cell::from("nodes"));
    shown.shown = true;
    shown.name = "fig5-nodes".into();
    shown.title = "waits in seconds by nodes, under the first seed".into();
    let notes = [
        "rank correlations over the jobs that ran, and over the median wait of each value of the property, which is what the \
         paper draws; equal values share their mean rank",
        "the paper states no coefficients",
    ];
    let tables = [table, shown, bins, by_time(setup, run)];
    Report::new(tables, &notes, setup.size.caveat())
}

/// Waits by the window of submission.
fn by_time(setup: &Setup, run: &Finished) -> Table {
    let window = setup.base.report.window.as_micros().max(1);
    let mut windows: Vec<Vec<f64>> = Vec::new();
    for (job, wait) in run.waited() {
        let number = (job.at.as_micros() / window) as usize;
        if windows.len() <= number {
            windows.resize(number + 1, Vec::new());
        }
        windows[number].push(wait);
    }
    let mut table = Table::data(
        "fig5-time",
        "waits in seconds by time of submission, under the first seed",
        "day | jobs | mean | median",
    );
    for (number, waits) in (0_u64..).zip(windows) {
        let jobs = waits.len() as u64;
        let waits = Distribution::of(waits).unwrap_or_default();
        let day = (number * window) as f64 / 86_400e6;
        table.push([
            Cell::exact(day, 3),
            jobs.into(),
            Cell::exact(waits.mean, 0),
            Cell::exact(waits.median, 0),
        ]);
    }
    table
}

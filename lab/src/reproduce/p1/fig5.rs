//! Figure 5: how long jobs wait, by the time of submission and by their size.

use std::collections::BTreeMap;

use super::{Setup, Trace};
use crate::reproduce::chart::Chart;
use crate::reproduce::statistics::{log_bins, spearman};
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Sample, Table, part};
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
    let columns = "from | until | jobs | median | mean";
    let title = "waits in seconds by nodes, under the first seed";
    let mut shown = Table::unpublished("fig5-nodes", title, columns);
    for row in bins.rows.iter().filter(|row| row[0] == Cell::from("nodes")) {
        shown.push(&row[1..]);
    }
    let notes = [
        "rank correlations over the jobs that ran, and over the median wait of each value of the property, which is what the \
         paper draws; equal values share their mean rank",
        "the paper states no coefficients",
    ];
    let medians = "measured Spearman, medians";
    let findings = [
        Claim::sentence("rank correlation of waits with nodes", "strong", 0.5..=1.0)
            .or_above(0.1)
            .because("half of the jobs want one node, and short ones slip into gaps whatever their size")
            .judge(&table, 0, medians),
        Claim::sentence("rank correlation of waits with duration", "little or none", -0.3..=0.3)
            .or_below(0.5)
            .because("a long job finds no gap and waits for a free end; a short one slips in between")
            .judge(&table, 1, medians),
        Claim::sentence("rank correlation of waits with slots", "generally higher for more", 0.2..=1.0)
            .or_above(0.0)
            .because("few values of this property have many jobs, so that medians of single jobs blur the correlation")
            .judge(&table, 2, medians),
    ];
    let by_time = by_time(setup, run);
    let charts = [
        Chart::columns(&by_time, "day", &["mean", "median"], "wait in seconds")
            .named("p1-fig5-time", "waits by time of submission, 95 %"),
        Chart::of(&bins, &["property"], "from", "median")
            .axes(
                "nodes, slots of a minute, or both multiplied",
                "median wait in seconds",
            )
            .named(
                "p1-fig5-properties",
                "median waits by what jobs ask for, 95 %",
            ),
    ];
    let tables = [table, shown, bins, by_time];
    Report::new(tables, &notes, setup.size.caveat())
        .judged(findings)
        .drawn(charts)
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

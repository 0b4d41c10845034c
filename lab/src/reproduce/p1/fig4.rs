//! Figure 4: requested and effective utilisation over time.

use super::{Setup, Trace};
use crate::reproduce::chart::Chart;
use crate::reproduce::statistics::{mean, middle_half, pearson};
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Sample, Table, part};
use crate::results::Row;

pub(super) const FIG4: Part<Setup> = part(
    "fig4",
    "Figure 4: requested (RU) and effective (EU) utilisation over time",
    |setup| Ok(TRACES.map(|trace| setup.push(trace)).into()),
    report,
);

const TRACES: [Trace; 3] = [Trace::Plain, Trace::Compressed, Trace::Overloaded];

/// The windows that end before the last submission.
fn submitting(run: &Finished) -> &[Row] {
    let last = last_submission(run);
    let end = run
        .series
        .partition_point(|row| row.time + window(run) <= last);
    &run.series[..end]
}

fn window(run: &Finished) -> f64 {
    match run.series.as_slice() {
        [first, second, ..] => second.time - first.time,
        _ => f64::INFINITY,
    }
}

fn first_submission(run: &Finished) -> f64 {
    let first = run.prepared.workload.jobs.first();
    first.map_or(0.0, |job| job.at.as_micros() as f64 / 1e6)
}

fn last_submission(run: &Finished) -> f64 {
    let last = run.prepared.workload.jobs.last();
    last.map_or(0.0, |job| job.at.as_micros() as f64 / 1e6)
}

/// The utilisation of each window if no job waited: RU, spread over the run times of jobs.
fn demand(run: &Finished) -> Vec<f64> {
    let width = window(run);
    let mut work = vec![0.0; run.series.len()];
    for (job, _) in run.jobs() {
        let begin = job.at.as_micros() as f64 / 1e6;
        let end = begin + job.run_time.as_micros() as f64 / 1e6;
        let first = (begin / width) as usize;
        for (index, row) in run.series.iter().enumerate().skip(first) {
            if row.time >= end {
                break;
            }
            let busy = end.min(row.time + width) - begin.max(row.time);
            work[index] += f64::from(job.processors) * busy.max(0.0);
        }
    }
    let room = run.summary.nodes as f64 * width;
    work.into_iter().map(|work| work / room).collect()
}

/// Demand and EU in the windows with a demand below 60 %.
fn calm_demand(run: &Finished) -> Vec<(f64, f64)> {
    let rows = submitting(run).iter().zip(demand(run));
    rows.map(|(row, demand)| (demand, row.effective_utilization))
        .filter(|(demand, _)| *demand < 0.6)
        .collect()
}

/// RU and EU in the windows with an RU within these bounds.
fn pairs(run: &Finished, from: f64, until: f64) -> Vec<(f64, f64)> {
    let rows = submitting(run).iter();
    rows.map(|row| (row.requested_utilization, row.effective_utilization))
        .filter(|(requested, _)| from <= *requested && *requested < until)
        .collect()
}

/// The mean of a figure over some windows, in percent.
fn mean_percent<T>(windows: &[T], figure: fn(&T) -> f64) -> Option<f64> {
    let figures: Vec<f64> = windows.iter().map(figure).collect();
    Some(100.0 * mean(&figures)?)
}

/// The mean EU while the grid is full.
fn saturated(run: &Finished) -> Option<f64> {
    let (first, last) = (first_submission(run), last_submission(run));
    let full = middle_half(&run.series, window(run), first, last);
    mean_percent(full, |row| row.effective_utilization)
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "fig4",
        "mean utilisation, %",
        "trace | published RU | measured RU | RU where RU < 60 | EU there | EU - RU there | correlation there | \
         demand where demand < 60 | EU - demand there | correlation with demand there | \
         published EU where RU > 100 | EU where RU > 100 | EU in the middle half",
    );
    for (trace, sample) in TRACES.into_iter().zip(samples) {
        let calm = |digits, figure: fn(&[(f64, f64)]) -> Option<f64>| {
            sample.mean_of_some(digits, &|run| figure(&pairs(run, 0.0, 0.6)))
        };
        let spread = |digits, figure: fn(&[(f64, f64)]) -> Option<f64>| {
            sample.mean_of_some(digits, &|run| figure(&calm_demand(run)))
        };
        let part =
            |run: &Finished| mean_percent(&pairs(run, 1.0, f64::INFINITY), |(_, used)| *used);
        let (requested, full) = match trace {
            Trace::Plain => (Cell::exact(28.0, 0), Cell::Empty),
            Trace::Compressed => (Cell::exact(95.0, 0), "about 90".into()),
            Trace::Overloaded => (Cell::Empty, Cell::Empty),
        };
        table.push([
            trace.title().into(),
            requested,
            sample.mean(1, &|run| 100.0 * run.summary.utilization.requested),
            calm(1, |pairs| mean_percent(pairs, |pair| pair.0)),
            calm(1, |pairs| mean_percent(pairs, |pair| pair.1)),
            calm(1, |pairs| mean_percent(pairs, |pair| pair.1 - pair.0)),
            calm(2, pearson),
            spread(1, |pairs| mean_percent(pairs, |pair| pair.0)),
            spread(2, |pairs| mean_percent(pairs, |pair| pair.1 - pair.0)),
            spread(4, pearson),
            full,
            sample.mean_of_some(1, &part),
            sample.mean_of_some(1, &saturated),
        ]);
    }
    let mut series = Table::data(
        "fig4-series",
        "RU and EU in each window, under the first seed",
        "trace | day | requested | effective",
    );
    for (trace, sample) in TRACES.into_iter().zip(samples) {
        for row in &sample.first().series {
            series.push([
                trace.title().into(),
                Cell::exact(row.time / 86_400.0, 3),
                Cell::exact(row.requested_utilization, 4),
                Cell::exact(row.effective_utilization, 4),
            ]);
        }
    }
    let windows = format!(
        "windows of {}; RU counts a job's slots in the window in which it is submitted, EU in those in which it runs (D16)",
        setup.base.report.window
    );
    let notes = [
        &windows,
        "demand is what EU would be if no job waited: RU, spread over the run times of the jobs",
        "the middle half is from a quarter to three quarters of the time of submissions",
        "the trace compressed to 120 % is ours; if work comes evenly, the grid is full in the middle half of its submissions, \
         and EU there is what scheduling can get out of it",
        "a window gets the work of long jobs at once as RU and as EU over days, so the two correlate little where jobs are \
         longer than windows",
    ];
    let findings = [
        Claim::number("RU of the plain trace, %", 28.0, 0.1).judge(&table, 0, "measured RU"),
        Claim::number("RU of the compressed trace, %", 95.0, 0.05).judge(&table, 1, "measured RU"),
        Claim::number("EU at 95 % where RU is above 100, %", 90.0, 0.05)
            .or_above(80.0)
            .because("how full the grid is then depends on the jobs of the trace, and on how long windows with so much work last")
            .judge(&table, 1, "EU where RU > 100"),
        Claim::sentence("EU of a full grid, %", "above 90", 90.0..=100.0)
            .or_above(80.0)
            .because("windows with so much work come after calm ones in this trace, so the grid first fills up")
            .judge(&table, 2, "EU where RU > 100"),
        Claim::sentence("correlation of EU with demand below 60 %", "EU equals RU", 0.95..=1.0)
            .or_above(0.5)
            .because("where demand is low for a while after an overload, the grid is still busy with what waited")
            .judge(&table, 0, "correlation with demand there"),
    ];
    let chart = Chart::of(&series, &["trace"], "day", "effective")
        .axes("day", "share of all nodes that work")
        .named("p1-fig4", "effective utilisation over time");
    Report::new([table, series], &notes, setup.size.caveat())
        .judged(findings)
        .drawn([chart])
}

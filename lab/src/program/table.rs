//! Results as a table on the terminal.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};

use crate::results::{Distribution, Estimate, Jobs, Summary};

/// The most organisations that are drawn for each scheduler; `summary.json` has all.
const MOST_ORGANISATIONS: usize = 16;

/// A number from a summary, in the unit of its column; `None` if the run has none.
type Figure = fn(&Summary) -> Option<f64>;

/// A column: its name, its number of digits, and its figure.
struct Column(&'static str, usize, Figure);

const COLUMNS: [Column; 10] = [
    Column("completed", 0, |summary| {
        Some(summary.jobs.completed as f64)
    }),
    Column("killed", 0, |summary| Some(summary.jobs.killed as f64)),
    Column("rejected", 0, |summary| Some(summary.jobs.rejected as f64)),
    Column("lost", 0, |summary| {
        let Jobs {
            failed,
            lost,
            orphaned,
            ..
        } = summary.jobs;
        Some((failed + lost + orphaned) as f64)
    }),
    Column("unfinished", 0, |summary| {
        Some(summary.jobs.unfinished as f64)
    }),
    Column("mean wait s", 0, |summary| Some(summary.wait?.mean)),
    Column("p95 wait s", 0, |summary| Some(summary.wait?.p95)),
    Column("slowdown", 2, |summary| {
        Some(summary.bounded_slowdown?.mean)
    }),
    Column("used %", 1, |summary| {
        Some(100.0 * summary.utilization.effective)
    }),
    Column("messages/job", 1, |summary| Some(summary.messages.per_job)),
];

/// One row: the runs of a scheduler, one per seed.
pub(super) struct Line<'a> {
    pub(super) name: String,
    pub(super) summaries: Vec<&'a Summary>,
    /// The ratio of waits to those of the reference, one per run that has it.
    pub(super) ratios: Vec<f64>,
    /// The mean waits and the ratios if schedulers are told the users' requested times; empty without such runs.
    pub(super) requested: [Vec<f64>; 2],
}

impl Line<'_> {
    /// The mean waits and the ratios of the runs.
    pub(super) fn waits(&self) -> [Vec<f64>; 2] {
        let means = self
            .summaries
            .iter()
            .filter_map(|summary| Some(summary.wait?.mean));
        [means.collect(), self.ratios.clone()]
    }
}

/// Draws the waits of the first seeds by organisation; nothing if there are fewer than two.
pub(super) fn draw_organisations(lines: &[Line<'_>]) -> Option<String> {
    let runs = || {
        let runs = lines.iter().filter_map(|line| {
            let first = line.summaries.first()?;
            Some((line.name.as_str(), &first.organisations))
        });
        runs.filter(|(_, organisations)| organisations.len() > 1)
    };
    runs().next()?;
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    let names = ["scheduler", "organisation", "submitted", "ran", "rejected"];
    table.set_header(names.into_iter().chain(["mean wait s", "p95 wait s"]));
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for (name, organisations) in runs() {
        for (number, organisation) in organisations.iter().take(MOST_ORGANISATIONS) {
            let wait = |figure: fn(&Distribution) -> f64| match &organisation.wait {
                Some(wait) => format!("{:.0}", figure(wait)),
                None => "-".into(),
            };
            let mut row = vec![Cell::new(name), right(number.to_string())];
            let counts = [
                organisation.submitted,
                organisation.ran,
                organisation.rejected,
            ];
            row.extend(counts.map(|count| right(count.to_string())));
            row.extend([wait(|wait| wait.mean), wait(|wait| wait.p95)].map(right));
            table.add_row(row);
        }
    }
    Some(table.to_string())
}

/// Draws the lines. Columns of zeros are left out, except those that are always shown.
pub(super) fn draw(lines: &[Line<'_>], reference: Option<&str>) -> String {
    let always = [
        "completed",
        "rejected",
        "mean wait s",
        "p95 wait s",
        "slowdown",
        "used %",
    ];
    let figures = |line: &Line<'_>, figure: Figure| -> Vec<f64> {
        line.summaries
            .iter()
            .filter_map(|summary| figure(summary))
            .collect()
    };
    let estimate = |figures: &[f64], digits| match figures {
        [] => "-".to_owned(),
        _ => format!("{:.digits$}", Estimate::of(figures)),
    };
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|Column(name, _, figure)| {
            always.contains(name)
                || lines
                    .iter()
                    .any(|line| figures(line, *figure).iter().any(|figure| *figure != 0.0))
        })
        .collect();
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    let mut header = vec!["scheduler".to_owned()];
    header.extend(columns.iter().map(|Column(name, ..)| (*name).to_owned()));
    header.extend(reference.map(|reference| format!("wait /\n{reference}")));
    let requested = lines.iter().any(|line| !line.requested[0].is_empty());
    if let Some(reference) = reference.filter(|_| requested) {
        header.push("requested:\nmean wait s".to_owned());
        header.push(format!("requested:\nwait /\n{reference}"));
    }
    table.set_header(header);
    for line in lines {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let mut row = vec![Cell::new(&line.name)];
        row.extend(
            columns
                .iter()
                .map(|Column(_, digits, figure)| right(estimate(&figures(line, *figure), *digits))),
        );
        if reference.is_some() {
            row.push(right(estimate(&line.ratios, 2)));
        }
        if requested {
            let digits = [0, 2].into_iter();
            row.extend(
                digits
                    .zip(&line.requested)
                    .map(|(digits, own)| right(estimate(own, digits))),
            );
        }
        table.add_row(row);
    }
    table.to_string()
}

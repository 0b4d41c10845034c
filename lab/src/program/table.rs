//! Results as a table on the terminal.

use std::collections::BTreeSet;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};

use crate::results::{Estimate, Jobs, Organisation, Summary};

/// The most organisations that are drawn for each scheduler; `summary.json` has all.
const MOST_ORGANISATIONS: usize = 16;

/// A number from a summary, in the unit of its column; `None` if the run has none.
type Figure = fn(&Summary) -> Option<f64>;

/// The same of one organisation.
type OfOrganisation = fn(&Organisation) -> Option<f64>;

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

/// Draws the jobs of each organisation, as means over the seeds; nothing if there are fewer than two organisations.
pub(super) fn draw_organisations(lines: &[Line<'_>]) -> Option<String> {
    const COLUMNS: [(&str, OfOrganisation); 5] = [
        ("submitted", |of| Some(of.submitted as f64)),
        ("ran", |of| Some(of.ran as f64)),
        ("rejected", |of| Some(of.rejected as f64)),
        ("mean wait s", |of| Some(of.wait?.mean)),
        ("p95 wait s", |of| Some(of.wait?.p95)),
    ];
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    let names = COLUMNS.map(|(name, _)| name);
    table.set_header(["scheduler", "organisation"].into_iter().chain(names));
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    for line in lines {
        let of_seeds = || line.summaries.iter().map(|seed| &seed.organisations);
        let numbers: BTreeSet<u32> = of_seeds().flat_map(|of| of.keys().copied()).collect();
        for number in numbers.iter().take(MOST_ORGANISATIONS) {
            let mut row = vec![Cell::new(&line.name), right(number.to_string())];
            row.extend(COLUMNS.map(|(_, figure)| {
                let own = of_seeds().filter_map(|of| figure(of.get(number)?));
                match own.collect::<Vec<f64>>().as_slice() {
                    [] => right("-".into()),
                    figures => right(format!("{:.0}", Estimate::of(figures))),
                }
            }));
            if numbers.len() > 1 {
                table.add_row(row);
            }
        }
    }
    (!table.is_empty()).then(|| table.to_string())
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

//! Results as a table for people.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};

use crate::results::{Estimate, Summary};

/// A number of a summary, in the unit of its column.
type Figure = fn(&Summary) -> f64;

/// A column: what it is called, how many digits it shows, and where it comes from.
struct Column(&'static str, usize, Figure);

const COLUMNS: [Column; 10] = [
    Column("completed", 0, |summary| summary.jobs.completed as f64),
    Column("killed", 0, |summary| summary.jobs.killed as f64),
    Column("rejected", 0, |summary| summary.jobs.rejected as f64),
    Column("lost", 0, |summary| {
        (summary.jobs.failed + summary.jobs.lost + summary.jobs.orphaned) as f64
    }),
    Column("unfinished", 0, |summary| summary.jobs.unfinished as f64),
    Column("mean wait s", 0, |summary| summary.wait.mean),
    Column("p95 wait s", 0, |summary| summary.wait.p95),
    Column("slowdown", 2, |summary| summary.bounded_slowdown.mean),
    Column("used %", 1, |summary| 100.0 * summary.utilization.effective),
    Column("messages/job", 1, |summary| summary.messages.per_job),
];

/// One row: the runs of a scheduler, one per seed.
pub(super) struct Line<'a> {
    pub(super) name: String,
    pub(super) summaries: Vec<&'a Summary>,
    /// How long jobs waited against the reference, one figure per run that has it.
    pub(super) ratios: Vec<f64>,
}

/// Draws the lines. Columns of zeros are left out, save for those that always matter.
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
            .map(|summary| figure(summary))
            .collect()
    };
    // How long jobs waited is known only where some ran.
    let some_ran = |line: &Line<'_>| {
        let ran = |summary: &&Summary| summary.jobs.completed + summary.jobs.killed > 0;
        line.summaries.iter().any(ran)
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
    header.extend(reference.map(|reference| format!("wait / {reference}")));
    table.set_header(header);
    for line in lines {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let mut row = vec![Cell::new(&line.name)];
        row.extend(columns.iter().map(|Column(name, digits, figure)| {
            let needs_jobs = ["mean wait s", "p95 wait s", "slowdown"].contains(name);
            right(if needs_jobs && !some_ran(line) {
                "-".to_owned()
            } else {
                format!("{:.digits$}", Estimate::of(&figures(line, *figure)))
            })
        }));
        if reference.is_some() {
            row.push(right(if line.ratios.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.2}", Estimate::of(&line.ratios))
            }));
        }
        table.add_row(row);
    }
    table.to_string()
}

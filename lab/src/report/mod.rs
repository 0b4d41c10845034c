//! `report.html`: the results of runs as charts.
//!
//! A report is one file that needs nothing else: no network, no other file, no server. The page is the same for all
//! commands. It is put together here from `page.html`, `style.css`, some scripts and a chart library ([uPlot], in
//! `vendor`). It contains its data as JSON, with long columns packed ([`Packed`]). A report depends only on its
//! results: two runs of one seed have the same report, except a sweep with measured costs.
//!
//! | what | where |
//! |---|---|
//! | one run, as it is drawn | [`Track`] |
//! | runs of the same jobs on the same axes | [`Contest`] |
//! | where jobs ran, for a Gantt chart | [`Jobs`], [`Places`] |
//! | the zones of a CAN over time | [`Zones`] |
//! | a sweep | [`Sweep`] |
//! | the cost of runs by the number of nodes | [`CostCurve`] |
//! | a paper's tables beside measured ones | [`Paper`] |
//!
//! [uPlot]: https://github.com/leeoniya/uPlot

mod costs;
mod over_time;
mod packed;
mod paper;
mod places;
mod sweep;
#[cfg(test)]
mod tests;
mod track;
mod waits;
mod zones;

pub(crate) use costs::{CostCurve, Measured};
pub(crate) use over_time::{OverTime, Sent};
pub(crate) use packed::Packed;
pub(crate) use paper::{Paper, Part};
pub(crate) use places::{Jobs, Places};
pub(crate) use sweep::{Sweep, SweepPoint};
pub(crate) use track::{Contest, Track};
pub(crate) use waits::Waits;
pub(crate) use zones::Zones;

use std::io::{self, Write};

use serde::Serialize;

use crate::config::ConfigError;
use crate::experiment::{Prepared, Results};

/// Which command a report is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// One scheduler, with `run`.
    Run,
    /// Several schedulers on the same jobs, with `compare`.
    Compare,
    /// Many combinations of values, with `sweep`.
    Sweep,
    /// The tables and figures of a paper, with `reproduce`.
    Reproduce,
}

/// Everything that a report shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Page {
    /// The command that the report is from.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// The command that repeats it, called in the folder of the report.
    pub command: String,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Whether it was stopped before its end.
    pub partial: bool,
    /// The content of `config.toml`; empty if each run has its own.
    pub config: String,
    /// The version of the program that made it.
    pub version: &'static str,
    /// The runs, grouped by jobs.
    pub contests: Vec<Contest>,
    /// The sweep, if the report is about one.
    pub sweep: Option<Sweep>,
    /// The paper, if the report is about one.
    pub paper: Option<Paper>,
}

/// How many bytes of a run's report may list the nodes of jobs: browsers would not open a larger page.
const MOST_PLACES: usize = 48_000_000;

const PAGE: &str = include_str!("page.html");

/// The marks in the page, and what replaces each.
const PLACES: [(&str, &[&str]); 3] = [
    (
        "/*STYLE*/",
        &[
            include_str!("vendor/uPlot.min.css"),
            include_str!("style.css"),
        ],
    ),
    ("/*DATA*/", &[]),
    (
        "/*SCRIPTS*/",
        &[
            "/*!",
            include_str!("vendor/LICENSE-uPlot"),
            "*/",
            include_str!("vendor/uPlot.iife.min.js"),
            include_str!("text.js"),
            include_str!("data.js"),
            include_str!("colours.js"),
            include_str!("chart.js"),
            include_str!("runs.js"),
            include_str!("gantt.js"),
            include_str!("zones.js"),
            include_str!("sweep.js"),
            include_str!("costs.js"),
            include_str!("paper.js"),
            include_str!("page.js"),
        ],
    ),
];

impl Page {
    /// A page without content.
    pub(crate) fn new(kind: Kind, title: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            command: command.into(),
            notes: Vec::new(),
            partial: false,
            config: String::new(),
            version: env!("CARGO_PKG_VERSION"),
            contests: Vec::new(),
            sweep: None,
            paper: None,
        }
    }

    /// A page about one run.
    pub(crate) fn of_run(prepared: &Prepared, results: &Results) -> Result<Self, ConfigError> {
        let config = &prepared.config;
        let mut page = Self::new(
            Kind::Run,
            format!("{} on {}", config.scheduler, prepared.workload.name),
            "gridweave run --config config.toml --out again",
        );
        page.notes.clone_from(&prepared.notes);
        page.partial = results.summary.partial;
        page.config = config.to_toml()?;
        let mut contest = Contest::of(prepared, Track::of(prepared, results));
        contest.fit_into(MOST_PLACES);
        page.contests.push(contest);
        Ok(page)
    }

    /// Writes the page as HTML.
    pub(crate) fn write(&self, mut to: impl Write) -> io::Result<()> {
        // No `<` in names can end the script.
        let data = serde_json::to_string(self)?.replace('<', "\\u003c");
        let mut rest = PAGE;
        for (mark, parts) in PLACES {
            let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
            to.write_all(before.as_bytes())?;
            for part in parts {
                to.write_all(part.as_bytes())?;
                to.write_all(b"\n")?;
            }
            if parts.is_empty() {
                to.write_all(data.as_bytes())?;
            }
            rest = after;
        }
        to.write_all(rest.as_bytes())
    }
}

/// A number rounded to so many decimals, which is shorter in a file. NaN and infinity become zero.
fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    let rounded = (number * scale).round() / scale;
    if rounded.is_finite() { rounded } else { 0.0 }
}

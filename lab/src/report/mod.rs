//! `report.html`: what came of runs, for people who rather look than read.
//!
//! A report is one file that needs nothing else: no network, no other file, no server. The page is the same for all commands,
//! and is put together here from `page.html`, `style.css`, some scripts and a chart library ([uPlot], in `vendor`). What it shows is
//! in it as JSON, with long columns packed ([`Packed`]). A report is a function of its results: two runs of one seed
//! have the same. Only that of a sweep whose costs are measured has what the machine took.
//!
//! | what | where |
//! |---|---|
//! | one run, as it is drawn | [`Track`] |
//! | runs of the same jobs on the same axes | [`Contest`] |
//! | where jobs ran, for a Gantt chart | [`Jobs`], [`Places`] |
//! | the zones of a CAN from time to time | [`Zones`] |
//! | a sweep | [`Sweep`] |
//! | what runs cost by the number of nodes | [`CostCurve`] |
//! | a paper's tables beside ours | [`Paper`] |
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

pub use costs::{CostCurve, Measured};
pub use over_time::{OverTime, Sent};
pub use packed::Packed;
pub use paper::{Paper, Part};
pub use places::{Jobs, Places};
pub use sweep::{Sweep, SweepPoint};
pub use track::{Contest, Track};
pub use waits::{Binned, Share, Waits};
pub use zones::Zones;

use std::io::{self, Write};

use serde::Serialize;

use crate::config::ConfigError;
use crate::experiment::{Prepared, Results};

/// What a report is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One scheduler.
    Run,
    /// Several schedulers on the same jobs.
    Compare,
    /// Many combinations of keys.
    Sweep,
    /// A paper.
    Reproduce,
}

/// Everything that a report shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Page {
    /// What it is about.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// What repeats it, when called in the folder that the report is in.
    pub command: String,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Whether it was stopped before its end.
    pub partial: bool,
    /// The configuration, as `config.toml` has it; nothing where each run has its own.
    pub config: String,
    /// Who made it.
    pub version: &'static str,
    /// Runs, together where they are about the same jobs.
    pub contests: Vec<Contest>,
    /// The sweep, if it is one.
    pub sweep: Option<Sweep>,
    /// The paper, if it is about one.
    pub paper: Option<Paper>,
}

/// How many bytes of the report of one run may say where jobs ran: with more, browsers would not open it.
const MOST_PLACES: usize = 48_000_000;

const PAGE: &str = include_str!("page.html");

/// What stands in the page for what is put in there.
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
    /// A page about nothing yet.
    pub fn new(kind: Kind, title: impl Into<String>, command: impl Into<String>) -> Self {
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
    pub fn of_run(prepared: &Prepared, results: &Results) -> Result<Self, ConfigError> {
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

    /// Writes it as a file for a browser.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        // Nothing in a script can end it, whatever jobs and files are called.
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

/// A number with so many digits behind the point, which is shorter in a file. What is no number becomes zero.
fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    let rounded = (number * scale).round() / scale;
    if rounded.is_finite() { rounded } else { 0.0 }
}

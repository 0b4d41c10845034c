//! `gridweave sweep`.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::Ending;
use super::progress::{Goal, Watched};
use super::session::{Session, quoted, write_report};
use crate::experiment::{Point, Sweep, prepare};
use crate::monitor::Monitor;
use crate::report::{self, Kind, Page, SweepPoint};
use crate::results::{NewFolders, write_whole};

/// What a point asks for, as its folder remembers it: a finished run of the same is not repeated.
const REQUEST: &str = "request.toml";
const TABLE: &str = "table.csv";

/// What of a summary is in the table.
const FIGURES: [(&str, &str); 10] = [
    ("submitted", "/jobs/submitted"),
    ("completed", "/jobs/completed"),
    ("killed", "/jobs/killed"),
    ("rejected", "/jobs/rejected"),
    ("mean_wait", "/wait/mean"),
    ("p95_wait", "/wait/p95"),
    ("mean_bounded_slowdown", "/bounded_slowdown/mean"),
    ("effective_utilization", "/utilization/effective"),
    ("messages", "/messages/total"),
    ("violations", "/violations"),
];

/// Runs every combination of a file.
pub(super) fn sweep(session: &Session, file: &Path, out: &Path) -> anyhow::Result<Ending> {
    let sweep = Sweep::read(file)?;
    let new = open(out)?;
    let (finished, open): (Vec<&Point>, Vec<&Point>) = sweep
        .points
        .iter()
        .partition(|point| summary_of(point, out).is_some());
    if !finished.is_empty() {
        session.note(&format!(
            "{} of {} runs are finished already",
            finished.len(),
            sweep.points.len()
        ));
    }
    session.interrupt.begin();
    let watched = Watched::new(session, open.len(), Goal::Runs);
    let made = watched.each(open, |point, monitor| make(session, point, out, monitor));
    // What is done is in the table, also if another run could not be made.
    let table = Table::of(&sweep, out)?;
    if !table.rows.is_empty() {
        write_whole(&out.join(TABLE), |file| file.write_all(&table.csv))
            .with_context(|| unwritable(out))?;
        let page = table.page(&sweep, file);
        write_whole(&out.join("report.html"), |file| page.write(file))
            .with_context(|| unwritable(out))?;
    }
    session.interrupt.end();
    drop(new);
    made.into_iter().collect::<anyhow::Result<()>>()?;

    let missing = sweep.points.len() - table.rows.len();
    session.say(&table.drawn);
    session.point_to(out);
    if missing > 0 {
        session.note(&format!(
            "gridweave: stopped early; {missing} of {} runs are missing, which the same command makes up for",
            sweep.points.len()
        ));
    }
    session.tell(&Value::Array(table.rows))?;
    Ok(if table.broken {
        Ending::Broken
    } else if missing > 0 {
        Ending::Interrupted
    } else {
        Ending::Done
    })
}

/// Makes one run, unless someone pressed Ctrl-C before its end: then it is run from the beginning next time.
fn make(session: &Session, point: &Point, out: &Path, monitor: &Monitor) -> anyhow::Result<()> {
    if session.stopped() {
        return Ok(());
    }
    let named = || point.name.clone();
    let prepared = prepare(&point.config).with_context(named)?;
    let draft = session.draft(&out.join(&point.name))?;
    let results = prepared.execute(monitor).with_context(named)?;
    if session.stopped() && results.summary.partial {
        return Ok(());
    }
    results.write(&prepared, &draft, Path::new(""))?;
    write_report(&prepared, &results, &draft, Path::new(""))?;
    let request = point.config.to_toml()?;
    draft.write(REQUEST, |file| file.write_all(request.as_bytes()))?;
    draft.publish()?;
    Ok(())
}

fn unwritable(out: &Path) -> String {
    format!(
        "{}: cannot be written; choose another folder with --out",
        out.display()
    )
}

/// Makes sure that the folder can be written and is not somebody else's. If it is new and nothing comes of the sweep, it goes.
fn open(out: &Path) -> anyhow::Result<NewFolders> {
    let foreign = match fs::read_dir(out) {
        Ok(entries) => {
            let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
            !names.is_empty()
                && !out.join(TABLE).is_file()
                && !names
                    .iter()
                    .any(|name| out.join(name).join(REQUEST).is_file())
        }
        Err(_) => false,
    };
    if foreign {
        bail!(
            "{}: exists and is no sweep of gridweave; choose another folder with --out",
            out.display()
        );
    }
    let new = NewFolders::create(out).with_context(|| unwritable(out))?;
    tempfile::tempfile_in(out).with_context(|| unwritable(out))?;
    Ok(new)
}

/// The summary of a finished run of just this point.
fn summary_of(point: &Point, out: &Path) -> Option<Value> {
    let folder = out.join(&point.name);
    let request = fs::read_to_string(folder.join(REQUEST)).ok()?;
    if request != point.config.to_toml().ok()? {
        return None;
    }
    let summary = fs::read_to_string(folder.join("summary.json")).ok()?;
    serde_json::from_str(&summary).ok()
}

/// All runs that are finished.
struct Table {
    keys: Vec<String>,
    points: Vec<SweepPoint>,
    csv: Vec<u8>,
    drawn: String,
    rows: Vec<Value>,
    /// Whether one of them broke an invariant or lost a job.
    broken: bool,
}

impl Table {
    fn of(sweep: &Sweep, out: &Path) -> anyhow::Result<Self> {
        let keys: Vec<&str> = sweep
            .points
            .first()
            .map(|point| point.values.iter().map(|(key, _)| key.as_str()).collect())
            .unwrap_or_default();
        let mut csv = csv::Writer::from_writer(Vec::new());
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::UTF8_FULL_CONDENSED);
        let header: Vec<&str> = keys
            .iter()
            .copied()
            .chain(FIGURES.iter().map(|(name, _)| *name))
            .collect();
        csv.write_record(&header)?;
        table.set_header(&header);
        let (mut rows, mut points, mut broken) = (Vec::new(), Vec::new(), false);
        for point in &sweep.points {
            let Some(summary) = summary_of(point, out) else {
                continue;
            };
            let figures = FIGURES
                .map(|(_, pointer)| summary.pointer(pointer).cloned().unwrap_or(Value::Null));
            broken |= summary
                .pointer("/violations")
                .is_some_and(|count| *count != json!(0));
            let values = point.values.iter().map(|(_, value)| value.clone());
            csv.write_record(values.clone().chain(figures.iter().map(Value::to_string)))?;
            let short = figures.iter().map(|figure| match figure.as_f64() {
                Some(number) if number.fract() != 0.0 => format!("{number:.3}"),
                _ => figure.to_string(),
            });
            table.add_row(values.chain(short));
            points.push(SweepPoint {
                folder: point.name.clone(),
                values: point
                    .values
                    .iter()
                    .map(|(_, value)| value.clone())
                    .collect(),
                digest: summary["digest"].as_str().unwrap_or_default().into(),
                figures: figures.into(),
            });
            rows.push(json!({ "run": point.name, "summary": summary }));
        }
        Ok(Self {
            keys: keys.into_iter().map(str::to_owned).collect(),
            points,
            csv: csv.into_inner()?,
            drawn: table.to_string(),
            rows,
            broken,
        })
    }

    /// The report of what is finished of a sweep from this file.
    fn page(&self, sweep: &Sweep, file: &Path) -> Page {
        let name = file.file_name().unwrap_or(file.as_os_str());
        let mut page = Page::new(
            Kind::Sweep,
            format!("Sweep of {}", name.to_string_lossy()),
            format!(
                "gridweave sweep {} --out again",
                quoted(&file.to_string_lossy())
            ),
        );
        let missing = sweep.points.len() - self.points.len();
        page.partial = missing > 0;
        page.sweep = Some(report::Sweep {
            keys: self.keys.clone(),
            figures: FIGURES.map(|(name, _)| name.to_owned()).into(),
            points: self.points.clone(),
            missing,
        });
        page
    }
}

//! `gridweave sweep`.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::Ending;
use super::progress::Watched;
use super::session::Session;
use crate::experiment::{Point, Sweep, prepare};
use crate::results::Draft;

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
    open(out)?;
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
    let watched = Watched::new(session, open.len(), 0);
    let made = watched.each(open, |point, monitor| {
        if session.stopped() {
            return Ok(());
        }
        let prepared = prepare(&point.config).with_context(|| point.name.clone())?;
        let draft = Draft::new(&out.join(&point.name))?;
        let results = prepared
            .execute(monitor)
            .with_context(|| point.name.clone())?;
        if results.summary.partial {
            // It will be run from the beginning next time.
            return Ok(());
        }
        results.write(&prepared, &draft, Path::new(""))?;
        draft.write(REQUEST, |file| {
            file.write_all(point.config.to_toml().as_bytes())
        })?;
        draft.publish()?;
        Ok(())
    });
    // What is done is in the table, also if another run could not be made.
    let ending = tabulate(session, &sweep, out)?;
    made.into_iter().collect::<anyhow::Result<()>>()?;
    Ok(ending)
}

/// Makes sure that the folder can be written and is not somebody else's.
fn open(out: &Path) -> anyhow::Result<()> {
    let unwritable = || {
        format!(
            "{}: cannot be written; choose another folder with --out",
            out.display()
        )
    };
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
    fs::create_dir_all(out).with_context(unwritable)?;
    tempfile::tempfile_in(out).with_context(unwritable)?;
    Ok(())
}

/// The summary of a finished run of just this point.
fn summary_of(point: &Point, out: &Path) -> Option<Value> {
    let folder = out.join(&point.name);
    let request = fs::read_to_string(folder.join(REQUEST)).ok()?;
    if request != point.config.to_toml() {
        return None;
    }
    let summary = fs::read_to_string(folder.join("summary.json")).ok()?;
    serde_json::from_str(&summary).ok()
}

fn tabulate(session: &Session, sweep: &Sweep, out: &Path) -> anyhow::Result<Ending> {
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
    let (mut rows, mut broken) = (Vec::new(), false);
    for point in &sweep.points {
        let Some(summary) = summary_of(point, out) else {
            continue;
        };
        let figures =
            FIGURES.map(|(_, pointer)| summary.pointer(pointer).cloned().unwrap_or(Value::Null));
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
        rows.push(json!({ "run": point.name, "summary": summary }));
    }
    let mut file = tempfile::NamedTempFile::new_in(out)?;
    file.write_all(&csv.into_inner()?)?;
    file.persist(out.join(TABLE))?;
    session.say(&table.to_string());
    session.tell(&Value::Array(rows))?;
    session.point_to(out);
    Ok(if broken {
        Ending::Broken
    } else if session.stopped() {
        Ending::Interrupted
    } else {
        Ending::Done
    })
}

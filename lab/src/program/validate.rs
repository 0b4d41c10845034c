//! `gridweave validate`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::Ending;
use super::hints::rejected_gangs;
use super::session::Session;
use crate::config::{Config, ConfigError, read_text};
use crate::experiment::{Point, Prepared, Sweep, jobs_of, prepare};

/// Checks a configuration or a sweep and the files that it names, as a run would.
pub(super) fn validate(session: &Session, file: &Path) -> anyhow::Result<Ending> {
    // The file is read once: it may be a pipe.
    let text = read_text(file)?;
    let named = |error: ConfigError| error.within(file.display());
    let is_sweep = text
        .parse::<toml::Table>()
        .is_ok_and(|table| table.contains_key("vary"));
    if is_sweep {
        let sweep = Sweep::parse(&text).map_err(named)?;
        return validate_sweep(session, file, &sweep);
    }
    let prepared = prepare(&Config::parse(&text).map_err(named)?)?;
    prepared.check()?;
    session.hint(rejected_gangs(&prepared));
    let (jobs, nodes) = (prepared.workload.jobs.len(), prepared.grid.len());
    let (scheduler, workload) = (prepared.config.scheduler, &prepared.workload.name);
    session.say(&format!(
        "{}: {scheduler} with {jobs} jobs of {workload} on {nodes} nodes",
        file.display()
    ));
    session.tell(&json!({
        "file": file.display().to_string(),
        "runs": 1,
        "scheduler": scheduler.name(),
        "workload": workload,
        "jobs": jobs,
        "nodes": nodes,
    }))?;
    Ok(Ending::Done)
}

fn validate_sweep(session: &Session, file: &Path, sweep: &Sweep) -> anyhow::Result<Ending> {
    let hint = check_all(sweep.points.iter())?;
    session.hint(hint);
    let runs = sweep.points.len();
    session.say(&format!("{}: a sweep of {runs} runs", file.display()));
    session.tell(&json!({ "file": file.display().to_string(), "runs": runs }))?;
    Ok(Ending::Done)
}

/// Checks runs of a sweep, and the files that they name. Returns a hint about the first run that has one.
pub(super) fn check_all<'a>(
    points: impl Iterator<Item = &'a Point>,
) -> anyhow::Result<Option<String>> {
    // Groups runs with the same jobs and nodes, so that each workload is prepared once and is not kept.
    let mut groups: BTreeMap<String, Vec<&Point>> = BTreeMap::new();
    for point in points {
        if let Some(trace) = &point.config.workload.trace {
            refuse_stream(trace)?;
        }
        let source = jobs_of(&point.config).to_toml()?;
        groups.entry(source).or_default().push(point);
    }
    let mut first = None;
    for points in groups.values() {
        let hint = check_together(points)?;
        first = first.or(hint);
    }
    Ok(first)
}

/// Refuses a trace that can be read only once, if several runs read it.
pub(super) fn refuse_stream(trace: &Path) -> anyhow::Result<()> {
    let is_stream = |data: std::fs::Metadata| !data.is_file() && !data.is_dir();
    if std::fs::metadata(trace).is_ok_and(is_stream) {
        bail!(
            "{}: is a pipe or a device, and is read more than once; save it to a file first",
            trace.display()
        );
    }
    Ok(())
}

/// Checks runs that have the same jobs and nodes. Returns a hint about the first run that has one.
fn check_together(points: &[&Point]) -> anyhow::Result<Option<String>> {
    let Some(first) = points.first() else {
        return Ok(None);
    };
    let mut first_hint = None;
    let prepared = prepare(&first.config).with_context(|| first.name.clone())?;
    for point in points {
        let own = Prepared {
            config: point.config.clone(),
            ..prepared.clone()
        };
        own.check().with_context(|| point.name.clone())?;
        if first_hint.is_none() {
            first_hint = rejected_gangs(&own).map(|hint| format!("{}: {hint}", point.name));
        }
    }
    Ok(first_hint)
}

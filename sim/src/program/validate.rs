//! `gridweave validate`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde_json::json;

use super::Ending;
use super::session::Session;
use crate::config::{Config, read_text};
use crate::experiment::{Point, Prepared, Sweep, prepare};

/// Checks a configuration or a sweep, down to the files that it names, as if it were to be run.
pub(super) fn validate(session: &Session, file: &Path) -> anyhow::Result<Ending> {
    let is_sweep = read_text(file)?
        .parse::<toml::Table>()
        .is_ok_and(|table| table.contains_key("vary"));
    if is_sweep {
        return validate_sweep(session, file);
    }
    let prepared = prepare(&Config::read(file)?)?;
    prepared.check()?;
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

fn validate_sweep(session: &Session, file: &Path) -> anyhow::Result<Ending> {
    let sweep = Sweep::read(file)?;
    // Those with the same jobs and nodes together, so that these are prepared once and only some are in memory.
    let mut groups: BTreeMap<String, Vec<&Point>> = BTreeMap::new();
    for point in &sweep.points {
        let source = source_of(&point.config).to_toml()?;
        groups.entry(source).or_default().push(point);
    }
    for points in groups.values() {
        check_together(points)?;
    }
    let runs = sweep.points.len();
    session.say(&format!("{}: a sweep of {runs} runs", file.display()));
    session.tell(&json!({ "file": file.display().to_string(), "runs": runs }))?;
    Ok(Ending::Done)
}

/// What jobs and nodes depend on, and nothing else.
fn source_of(config: &Config) -> Config {
    let seed = if config.workload.source.is_generated() {
        config.seed
    } else {
        0
    };
    Config {
        workload: config.workload.clone(),
        grid: config.grid.clone(),
        seed,
        ..Config::default()
    }
}

/// Checks runs of the same jobs and nodes.
fn check_together(points: &[&Point]) -> anyhow::Result<()> {
    let Some(first) = points.first() else {
        return Ok(());
    };
    let prepared = prepare(&first.config).with_context(|| first.name.clone())?;
    for point in points {
        let own = Prepared {
            config: point.config.clone(),
            ..prepared.clone()
        };
        own.check().with_context(|| point.name.clone())?;
    }
    Ok(())
}

//! From the arguments of Python to a configuration.

use std::path::PathBuf;

use gridweave_lab::config::{Config, ConfigError, Source};
use serde::Deserialize;
use toml::{Table, Value};

use crate::failure::Failure;

/// What to run, as JSON from Python.
#[derive(Deserialize)]
pub(crate) struct Request {
    /// A configuration to begin with.
    config: Option<PathBuf>,
    /// The file with the jobs.
    trace: Option<String>,
    /// A generator of jobs, or `bundled`.
    workload: Option<String>,
    /// How many nodes there are.
    nodes: Option<Value>,
    /// Keys of a configuration; a key may have dots.
    settings: Table,
}

impl Request {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        serde_json::from_str(text).map_err(|error| {
            Failure::value(format!(
                "settings: {error}; give numbers, texts, lists and dicts"
            ))
        })
    }

    /// The configuration; if the caller brings jobs, without those that a file of Python's `config` names.
    pub(crate) fn config(self, brings_jobs: bool) -> Result<Config, Failure> {
        let mut whole = match &self.config {
            None => Table::new(),
            Some(file) => {
                // So that a missing file is an error of its own kind.
                std::fs::metadata(file).map_err(|error| Failure::of_file(file, &error))?;
                Config::read_file(file)?.to_table()?
            }
        };
        if brings_jobs || self.trace.is_some() || self.workload.is_some() {
            // The configuration had the jobs and the nodes of another workload.
            if let Some(Value::Table(grid)) = whole.get_mut("grid") {
                grid.remove("nodes");
            }
            if let Some(Value::Table(workload)) = whole.get_mut("workload") {
                for key in ["source", "trace", "trace_digest"] {
                    workload.remove(key);
                }
            }
        }
        if let Some(file) = self.trace {
            put(&mut whole, "workload.source", "trace".into())?;
            put(&mut whole, "workload.trace", file.into())?;
        }
        if let Some(name) = self.workload {
            put(&mut whole, "workload.source", name.into())?;
        }
        for (key, value) in self.settings {
            put(&mut whole, &key, value)?;
        }
        if let Some(nodes) = self.nodes {
            let source = whole.get("workload").and_then(|it| it.get("source"));
            let named = |source: &&Source| {
                let name = source.key().replace('_', "-");
                named_by(&name, &whole)
            };
            let generator = Source::GENERATORS.iter().find(named);
            let key = match (source, generator) {
                (Some(_), Some(source)) => format!("workload.{}.nodes", source.key()),
                _ => "grid.nodes".to_owned(),
            };
            put(&mut whole, &key, nodes)?;
        }
        Ok(Config::from_table(whole)?)
    }
}

/// Whether the workload is the one of this name.
fn named_by(name: &str, whole: &Table) -> bool {
    let source = whole.get("workload").and_then(|it| it.get("source"));
    source.and_then(Value::as_str) == Some(name)
}

/// The most parts of a dotted key, and the most tables inside each other.
const MOST_PARTS: usize = 16;

/// Puts a value where a dotted key says. Tables are merged, unless one has a kind and so its own keys.
fn put(table: &mut Table, key: &str, value: Value) -> Result<(), ConfigError> {
    let parts: Vec<&str> = key.split('.').collect();
    if parts.len() > MOST_PARTS || parts.contains(&"") {
        return Err(ConfigError::from(format!(
            "'{key}' is no key; write one such as grid.nodes"
        )));
    }
    let mut value = value;
    for part in parts.iter().skip(1).rev() {
        value = Value::Table(Table::from_iter([((*part).to_owned(), value)]));
    }
    merge(
        table,
        parts.first().copied().unwrap_or_default(),
        value,
        MOST_PARTS,
    );
    Ok(())
}

fn merge(table: &mut Table, key: &str, value: Value, depth: usize) {
    match (table.get_mut(key), value) {
        (Some(Value::Table(known)), Value::Table(new))
            if depth > 0 && !new.contains_key("kind") =>
        {
            for (key, value) in new {
                merge(known, &key, value, depth - 1);
            }
        }
        (_, value) => {
            table.insert(key.to_owned(), value);
        }
    }
}

//! Tells an output of this program from other files in a folder: only such an output may be replaced.
//!
//! A name proves nothing: other programs have a `config.toml`, too. So every file and folder, at any depth, must have a
//! name that this program writes there, and some files must have content that only this program writes.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::experiment::Table;
use crate::schedulers::Scheduler;

/// The configuration that repeats the output: every output has one.
const CONFIG: &str = "config.toml";
const SUMMARY: &str = "summary.json";

/// All files of a run, and of several runs together.
const FILES: [&str; 8] = [
    CONFIG,
    SUMMARY,
    "jobs.csv",
    "series.csv",
    "engine.json",
    "report.html",
    "request.toml",
    "zones.json",
];

/// The papers that are reproduced.
const PAPERS: [&str; 4] = ["p1", "p2", "p3", "p4"];

/// A larger file is none of the files that are read here.
const MOST_BYTES: u64 = 64 << 20;

/// Whether the folder is missing, empty, or an output of this program and nothing else.
pub(super) fn may_replace(folder: &Path) -> io::Result<bool> {
    let entries = match entries(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    Ok(entries.is_empty() || is_marked(folder) && all(&entries, |entry| is_ours(folder, entry))?)
}

/// Whether the files that every output has are as this program writes them.
fn is_marked(folder: &Path) -> bool {
    let summed_up =
        json(&folder.join(SUMMARY)).is_some_and(|summary| summary["partial"].is_boolean());
    is_config(&folder.join(CONFIG))
        && (summed_up || PAPERS.iter().any(|paper| paper_at(folder, paper).is_some()))
}

/// Whether a file has all parts that this program writes into a configuration; users leave some out.
pub fn is_config(file: &Path) -> bool {
    let table = text(file).and_then(|text| text.parse::<toml::Table>().ok());
    table.is_some_and(|table| {
        let parts = ["grid", "workload", "network", "asap", "aria", "report"];
        table.get("scheduler").is_some_and(toml::Value::is_str)
            && table.get("seed").is_some_and(toml::Value::is_integer)
            && parts
                .iter()
                .all(|part| table.get(*part).is_some_and(toml::Value::is_table))
    })
}

/// A file or folder in a folder.
struct Entry {
    name: String,
    kind: FileType,
    path: PathBuf,
}

impl Entry {
    fn is_file_of(&self, names: &[&str]) -> bool {
        self.kind.is_file() && names.contains(&self.name.as_str())
    }

    fn is_folder_of(&self, names: &[&str]) -> bool {
        self.kind.is_dir() && names.contains(&self.name.as_str())
    }

    /// Whether it is the folder of one seed of several.
    fn is_seed(&self) -> bool {
        let number = self.name.strip_prefix("seed-");
        self.kind.is_dir() && number.is_some_and(|number| number.parse::<u64>().is_ok())
    }
}

fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok(Entry {
            // A name that is not UTF-8 gets replacement characters, and so matches no name of an output.
            name: entry.file_name().to_string_lossy().into_owned(),
            kind: entry.file_type()?,
            path: entry.path(),
        })
    };
    fs::read_dir(folder)?.map(entry).collect()
}

fn all(entries: &[Entry], mut is_ours: impl FnMut(&Entry) -> io::Result<bool>) -> io::Result<bool> {
    for entry in entries {
        if !is_ours(entry)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether this program writes such an entry into an output, with all its content.
fn is_ours(folder: &Path, entry: &Entry) -> io::Result<bool> {
    if entry.is_folder_of(&Table::NAMES) {
        let schedulers = Scheduler::ALL
            .iter()
            .map(|it| it.name())
            .collect::<Vec<_>>();
        return all(&entries(&entry.path)?, |entry| {
            Ok(entry.is_folder_of(&schedulers) && is_runs(&entry.path)?)
        });
    }
    if entry.is_folder_of(&PAPERS) {
        return is_paper(folder, entry);
    }
    let of_paper = PAPERS.map(|paper| format!("{paper}.json"));
    Ok(entry.is_file_of(&FILES)
        || entry.is_file_of(&of_paper.each_ref().map(String::as_str))
        || entry.is_seed() && is_run(&entry.path)?)
}

/// Whether a folder holds the files of a run, or of one run per seed.
fn is_runs(folder: &Path) -> io::Result<bool> {
    all(&entries(folder)?, |entry| {
        Ok(entry.is_file_of(&FILES) || entry.is_seed() && is_run(&entry.path)?)
    })
}

fn is_run(folder: &Path) -> io::Result<bool> {
    all(&entries(folder)?, |entry| Ok(entry.is_file_of(&FILES)))
}

/// Whether a folder holds only the tables and runs that the paper's file in `folder` lists.
fn is_paper(folder: &Path, entry: &Entry) -> io::Result<bool> {
    let Some(paper) = paper_at(folder, &entry.name) else {
        return Ok(false);
    };
    let empty = serde_json::Map::new();
    let parts = paper["parts"].as_object().unwrap_or(&empty).values();
    let tables = parts.flat_map(|part| part["tables"].as_array().into_iter().flatten());
    let tables = tables.filter_map(|table| Some(format!("{}.csv", table["name"].as_str()?)));
    let tables: Vec<String> = tables.chain(["tables.txt".into()]).collect();
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    let runs = paper["runs"].as_array().into_iter().flatten();
    let runs = runs.filter_map(|run| run["file"].as_str()?.strip_prefix("runs/"));
    let runs: Vec<&str> = runs.collect();
    all(&entries(&entry.path)?, |entry| {
        Ok(entry.is_file_of(&tables)
            || entry.is_folder_of(&["runs"])
                && all(&entries(&entry.path)?, |run| Ok(run.is_file_of(&runs)))?)
    })
}

/// The content of the paper's file in this folder, if this program wrote it.
fn paper_at(folder: &Path, key: &str) -> Option<Value> {
    let paper = json(&folder.join(format!("{key}.json")))?;
    (paper["paper"]["key"] == key).then_some(paper)
}

fn json(file: &Path) -> Option<Value> {
    serde_json::from_str(&text(file)?).ok()
}

/// The text of a file, if it is a regular file and not too large.
fn text(file: &Path) -> Option<String> {
    // Another kind of file might never end.
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = File::open(file).ok()?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= MOST_BYTES).then_some(text)
}

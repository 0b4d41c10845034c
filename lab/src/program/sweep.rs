//! `gridweave sweep`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::execute::write_report;
use super::interrupt::Unfinished;
use super::progress::{Goal, Watched};
use super::session::{Session, quoted};
use super::validate::check_all;
use super::{Ending, own_process};
use crate::config::{ConfigError, Source};
use crate::experiment::{Point, Sweep, prepare};
use crate::report::{self, CostCurve, Kind, Measured, Page, SweepPoint};
use crate::results::{DraftFile, NewFolders, draft_in, is_config, is_draft, remove_abandoned};
use gridweave_sim::history::History;
use gridweave_sim::monitor::Monitor;

/// How the runs of a sweep are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Runs {
    /// In this process, on all cores.
    Together,
    /// Each in its own process, one after the other, so that the cost of each can be measured.
    Apart,
}

/// The file with the request of a point. A finished run with the same request is not repeated.
const REQUEST: &str = "request.toml";
/// The first line of a request whose run was made in its own process.
const APART: &str = "# measured in a process of its own\n";
const TABLE: &str = "table.csv";
const REPORT: &str = "report.html";

/// The figures of a summary that are in the table.
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

/// The figures of `engine.json` in the table, if each run has its own process.
const COSTS: [(&str, &str); 2] = [("cpu_s", "/cpu_s"), ("peak_rss_bytes", "/peak_rss_bytes")];

/// Makes all runs of a sweep.
pub(super) fn sweep(
    session: &Session,
    file: &Path,
    out: &Path,
    runs: Runs,
) -> anyhow::Result<Ending> {
    let sweep = Sweep::read(file)?;
    if runs == Runs::Apart && !keys_of(&sweep).any(sets_nodes) {
        bail!(
            "{}: --costs is about more and more nodes, and these are the same; vary grid.nodes, or the nodes of a generator such as workload.desktop.nodes",
            file.display()
        );
    }
    if !may_write(out) {
        bail!(
            "{}: exists and is no sweep of gridweave; choose another folder with --out",
            out.display()
        );
    }
    let inputs = Inputs::of(&sweep);
    let (finished, open): (Vec<&Point>, Vec<&Point>) = sweep
        .points
        .iter()
        .partition(|point| Finished::read(point, &inputs, out, runs).is_some());
    // Errors are reported before the first run, not hours later.
    let hint = check_all(open.iter().copied())?;
    let new = begin(session, out)?;
    if !finished.is_empty() {
        session.note(&format!(
            "{} of {} runs are finished already",
            finished.len(),
            sweep.points.len()
        ));
    }
    session.interrupt.begin();
    let watched = Watched::new(session, open.len(), Goal::Runs);
    let made = match runs {
        Runs::Together => watched.each(open, |point, monitor| {
            make(session, point, &inputs, out, monitor)
        }),
        Runs::Apart => {
            watched.one_by_one(open, |point, _| make_apart(session, point, &inputs, out))
        }
    };
    // The table has all finished runs, even if another run failed.
    let table = Table::of(&sweep, &inputs, out, runs)?;
    if !table.rows.is_empty() {
        let page = table.page(&sweep, file, runs);
        put(session, out, &table.csv, &page).with_context(|| unwritable(out))?;
    }
    session.interrupt.end();
    drop(new);
    made.into_iter().collect::<anyhow::Result<()>>()?;

    let missing = sweep.points.len() - table.rows.len();
    session.hint(hint);
    session.say(&table.drawn);
    for line in exponents(&table.costs) {
        session.say(&line);
    }
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

/// Makes one run. If the user presses Ctrl-C before its end, the next sweep makes it from the beginning.
fn make(
    session: &Session,
    point: &Point,
    inputs: &Inputs,
    out: &Path,
    monitor: &Monitor,
) -> anyhow::Result<()> {
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
    let request = inputs.request(point)?;
    draft.write(REQUEST, |file| file.write_all(request.as_bytes()))?;
    session.put_in_place(draft)
}

/// Makes one run in its own process, unless the user presses Ctrl-C before its end.
fn make_apart(session: &Session, point: &Point, inputs: &Inputs, out: &Path) -> anyhow::Result<()> {
    if session.stopped() {
        return Ok(());
    }
    let draft = session.draft(&out.join(&point.name))?;
    let request = format!("{APART}{}", inputs.request(point)?);
    draft.write(REQUEST, |file| file.write_all(request.as_bytes()))?;
    // It is inside the draft, so that it is removed with it.
    let made = draft.path().join("made");
    let run = own_process::run(session, &draft.path().join(REQUEST), &made)
        .with_context(|| point.name.clone())?;
    if run == own_process::Run::Stopped {
        return Ok(());
    }
    for entry in fs::read_dir(&made)? {
        let entry = entry?;
        fs::rename(entry.path(), draft.path().join(entry.file_name()))?;
    }
    fs::remove_dir(&made)?;
    session.put_in_place(draft)
}

/// Puts the table and the report into the folder, each whole or not at all.
fn put(session: &Session, out: &Path, table: &[u8], page: &Page) -> io::Result<()> {
    let unfinished = |draft: &tempfile::TempDir| Unfinished::draft(draft.path(), &[]);
    let draft = session.interrupt.draft(|| draft_in(out), unfinished)?;
    let within = |name: &str| draft.path().join(name);
    let table_file = DraftFile::new(&within(TABLE))?;
    table_file.write(|file| file.write_all(table))?;
    table_file.publish()?;
    let report = DraftFile::new(&within(REPORT))?;
    report.write(|file| page.write(file))?;
    report.publish()?;
    session.interrupt.finish(draft.path(), || {
        [TABLE, REPORT]
            .iter()
            .try_for_each(|name| fs::rename(within(name), out.join(name)))
    })
}

/// How costs grow with nodes: a line for each set of runs that differ only in nodes.
fn exponents(curves: &[CostCurve]) -> Vec<String> {
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for CostCurve {
        figure,
        name,
        exponent,
        ..
    } in curves
    {
        if let Some(exponent) = exponent {
            let of = lines.entry(name).or_default();
            of.push(format!("{figure} {exponent:.2}"));
        }
    }
    let lines = lines.iter();
    lines
        .map(|(name, of)| format!("{name}: powers of nodes: {}", of.join(", ")))
        .collect()
}

fn unwritable(out: &Path) -> String {
    format!(
        "{}: cannot be written; choose another folder with --out",
        out.display()
    )
}

/// Makes a folder that can be written, and removes drafts of killed runs. Drop the result to remove it if it is empty.
fn begin(session: &Session, out: &Path) -> anyhow::Result<NewFolders> {
    let unfinished = |new: &NewFolders| Unfinished::folders(new.made());
    let new = session
        .interrupt
        .draft(|| NewFolders::create(out), unfinished);
    let new = new.with_context(|| unwritable(out))?;
    tempfile::tempfile_in(out).with_context(|| unwritable(out))?;
    remove_abandoned(out);
    Ok(new)
}

/// Whether the folder may be written: it is new, or has only drafts, or has runs or the table of a sweep; and files
/// with the names of the table and the report were written by this program.
fn may_write(out: &Path) -> bool {
    let Ok(entries) = fs::read_dir(out) else {
        return true;
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names = names.filter(|name| !name.to_str().is_some_and(is_draft));
    let ours_if_there = |name: &str, is_ours: fn(&str) -> bool| {
        let file = out.join(name);
        !file.exists() || beginning(&file).is_some_and(|text| is_ours(&text))
    };
    let is_run = |name: &std::ffi::OsStr| is_config(&out.join(name).join(REQUEST));
    ours_if_there(TABLE, is_table)
        && ours_if_there(REPORT, |text| text.contains("<title>gridweave</title>"))
        && (out.join(TABLE).exists() || {
            let mut names = names.by_ref().peekable();
            names.peek().is_none() || names.any(|name| is_run(&name))
        })
}

/// Whether a table begins like those of this program: the varied keys, then the figures of a run.
fn is_table(text: &str) -> bool {
    let names = |figures: &[(&str, &str)]| {
        figures
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(",")
    };
    let heading = text.lines().next().unwrap_or_default();
    let heading = heading
        .strip_suffix(&format!(",{}", names(&COSTS)))
        .unwrap_or(heading);
    heading.ends_with(&format!(",{}", names(&FIGURES)))
}

/// The first bytes of a file, if they are text.
fn beginning(file: &Path) -> Option<String> {
    const ENOUGH: u64 = 1 << 16;
    let mut bytes = Vec::new();
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    fs::File::open(file)
        .ok()?
        .take(ENOUGH)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The keys that a sweep varies.
fn keys_of(sweep: &Sweep) -> impl Iterator<Item = &str> {
    let first = sweep.points.first().into_iter();
    first.flat_map(|point| point.values.iter().map(|(key, _)| key.as_str()))
}

/// Whether a key sets the number of nodes.
fn sets_nodes(key: &str) -> bool {
    let mut generators = Source::GENERATORS.iter();
    key == "grid.nodes"
        || generators.any(|source| key == format!("workload.{}.nodes", source.key()))
}

/// The files that a sweep reads, with their digests: a run with another file of the same name is another run.
struct Inputs(BTreeMap<PathBuf, String>);

impl Inputs {
    /// All files that can be read. For any other, the run itself reports the error.
    fn of(sweep: &Sweep) -> Self {
        let files = sweep.points.iter().flat_map(|point| point.config.files());
        let files: BTreeSet<&Path> = files.collect();
        let digests = files.into_iter().filter_map(|file| {
            let is_file = fs::metadata(file).is_ok_and(|data| data.is_file());
            let digest = is_file.then(|| digest_of(file))?.ok()?;
            Some((file.to_owned(), digest))
        });
        Self(digests.collect())
    }

    /// The request of a point: its configuration, and the digests of its files.
    fn request(&self, point: &Point) -> Result<String, ConfigError> {
        let mut request = point.config.to_toml()?;
        for digest in point.config.files().filter_map(|file| self.0.get(file)) {
            request.push_str(&format!("# reads {digest}\n"));
        }
        Ok(request)
    }
}

fn digest_of(file: &Path) -> io::Result<String> {
    let mut history = History::new();
    let mut bytes = BufReader::new(fs::File::open(file)?);
    loop {
        let read = bytes.fill_buf()?;
        if read.is_empty() {
            return Ok(history.digest());
        }
        history.bytes(read);
        let count = read.len();
        bytes.consume(count);
    }
}

/// The results of a finished run.
struct Finished {
    summary: Value,
    /// What it cost; null unless it had its own process.
    cost: Value,
}

impl Finished {
    /// Reads the finished run of this point, if its request is the same and it was made in the wanted way.
    fn read(point: &Point, inputs: &Inputs, out: &Path, runs: Runs) -> Option<Self> {
        let folder = out.join(&point.name);
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let json = |name: &str| serde_json::from_str(&read(name)?).ok();
        let request = read(REQUEST)?;
        // The user may have deleted large files.
        if !folder.join("jobs.csv").is_file() {
            return None;
        }
        let alone = request.strip_prefix(APART);
        if alone.unwrap_or(&request) != inputs.request(point).ok()? {
            return None;
        }
        let cost = match (runs, alone) {
            (Runs::Together, _) => Value::Null,
            (Runs::Apart, Some(_)) => json("engine.json")?,
            (Runs::Apart, None) => return None,
        };
        Some(Self {
            summary: json("summary.json")?,
            cost,
        })
    }

    fn measured(&self) -> Measured {
        let summary = |pointer: &str| self.summary.pointer(pointer).and_then(Value::as_f64);
        let cost = |name: &str| self.cost.get(name).and_then(Value::as_f64);
        Measured {
            nodes: self.summary["nodes"].as_u64().unwrap_or_default(),
            cpu_s: cost("cpu_s"),
            peak_rss_bytes: cost("peak_rss_bytes"),
            messages: summary("/messages/per_node_per_s").map(|rate| rate * 3600.0),
            events: summary("/events"),
        }
    }

    /// The name of the curve that this run belongs to: the varied values without the number of nodes.
    fn line(&self, point: &Point) -> String {
        let others = point.values.iter().filter(|(key, _)| !sets_nodes(key));
        let texts: Vec<String> = others
            .map(|(key, value)| match key.rsplit_once('.') {
                Some((_, last)) => format!("{last} {value}"),
                None if key == "scheduler" => value.clone(),
                None => format!("{key} {value}"),
            })
            .collect();
        if texts.is_empty() {
            return self.summary["scheduler"]
                .as_str()
                .unwrap_or_default()
                .into();
        }
        texts.join(", ")
    }
}

/// The table of all finished runs.
struct Table {
    keys: Vec<String>,
    points: Vec<SweepPoint>,
    csv: Vec<u8>,
    drawn: String,
    rows: Vec<Value>,
    figures: Vec<&'static str>,
    /// Costs by the number of nodes; empty if runs do not have their own process.
    costs: Vec<CostCurve>,
    /// Whether a run broke an invariant or lost a job.
    broken: bool,
}

impl Table {
    fn of(sweep: &Sweep, inputs: &Inputs, out: &Path, runs: Runs) -> anyhow::Result<Self> {
        let keys: Vec<&str> = keys_of(sweep).collect();
        let costs: &[_] = match runs {
            Runs::Together => &[],
            Runs::Apart => &COSTS,
        };
        let names = FIGURES.iter().chain(costs).map(|(name, _)| *name);
        let names: Vec<&'static str> = names.collect();
        let mut csv = csv::Writer::from_writer(Vec::new());
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::UTF8_FULL_CONDENSED);
        let header: Vec<&str> = keys.iter().copied().chain(names.iter().copied()).collect();
        csv.write_record(&header)?;
        table.set_header(&header);
        let (mut rows, mut points, mut broken) = (Vec::new(), Vec::new(), false);
        let mut measured = Vec::new();
        for point in &sweep.points {
            let Some(finished) = Finished::read(point, inputs, out, runs) else {
                continue;
            };
            let Finished { summary, cost } = &finished;
            let found =
                |pointer, within: &Value| within.pointer(pointer).cloned().unwrap_or_default();
            let of_summary = FIGURES.iter().map(|(_, pointer)| found(pointer, summary));
            let of_cost = costs.iter().map(|(_, pointer)| found(pointer, cost));
            let figures: Vec<Value> = of_summary.chain(of_cost).collect();
            if runs == Runs::Apart {
                measured.push((finished.line(point), finished.measured()));
            }
            broken |= summary
                .pointer("/violations")
                .is_some_and(|count| *count != json!(0));
            let values = point.values.iter().map(|(_, value)| value.clone());
            let whole = figures.iter().map(|figure| match figure {
                Value::Null => String::new(),
                _ => figure.to_string(),
            });
            csv.write_record(values.clone().chain(whole))?;
            let short = figures.iter().map(|figure| match figure.as_f64() {
                Some(number) if number.fract() != 0.0 => format!("{number:.3}"),
                Some(_) => figure.to_string(),
                None => "-".to_owned(),
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
                figures,
            });
            let mut row = json!({ "run": point.name, "summary": summary });
            if runs == Runs::Apart {
                row["cost"] = cost.clone();
            }
            rows.push(row);
        }
        Ok(Self {
            keys: keys.into_iter().map(str::to_owned).collect(),
            points,
            csv: csv.into_inner()?,
            drawn: table.to_string(),
            rows,
            figures: names,
            costs: CostCurve::of(&measured),
            broken,
        })
    }

    /// The report page of the finished runs.
    fn page(&self, sweep: &Sweep, file: &Path, runs: Runs) -> Page {
        let costs = match runs {
            Runs::Together => "",
            Runs::Apart => " --costs",
        };
        let name = file.file_name().unwrap_or(file.as_os_str());
        let mut page = Page::new(
            Kind::Sweep,
            format!("Sweep of {}", name.to_string_lossy()),
            format!(
                "gridweave sweep {}{costs} --out again",
                quoted(&file.to_string_lossy())
            ),
        );
        let missing = sweep.points.len() - self.points.len();
        page.partial = missing > 0;
        page.sweep = Some(report::Sweep {
            keys: self.keys.clone(),
            figures: self.figures.iter().copied().map(str::to_owned).collect(),
            points: self.points.clone(),
            missing,
            costs: self.costs.clone(),
        });
        page
    }
}

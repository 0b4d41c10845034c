//! `gridweave reproduce`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell as Drawn, CellAlignment};
use serde_json::{Map, Value, json};

use super::Ending;
use super::options::Reproduction;
use super::progress::{Goal, Watched};
use super::run::{note_violations, write_config};
use super::session::{Session, quoted};
use super::validate::refuse_stream;
use crate::config::Config;
use crate::experiment::{InputError, Prepared, prepare};
use crate::report::{self, Kind, Page};
use crate::reproduce::{
    Cell, Finished, Measured, Options, Planned, Report, Reproducible, Sample, Size, Table, p1, p2,
    p3, p4,
};
use crate::results::{Draft, Summary, write_json};
use gridweave_sim::history::History;

/// The papers, by name.
pub(super) const PAPERS: [&str; 4] = ["p1", "p2", "p3", "p4"];

/// Refuses options that a paper does not use.
fn refuse(given: &[(bool, &str)], why: &str) -> anyhow::Result<()> {
    match given.iter().find(|(given, _)| *given) {
        Some((_, option)) => bail!("{option}: {why}"),
        None => Ok(()),
    }
}

/// Makes the tables and figures of all papers, one after the other, until the user stops it.
pub(super) fn all(session: &Session, choice: &Reproduction) -> anyhow::Result<Ending> {
    let given = [
        (!choice.only.is_empty(), "--only"),
        (choice.trace.is_some(), "--trace"),
        (choice.nodes.is_some(), "--nodes"),
        (choice.coordinates.is_some(), "--coordinates"),
        (choice.round_trips.is_some(), "--round-trips"),
    ];
    refuse(&given, "is not for all papers; name one, such as p1")?;
    let choices = PAPERS.map(|name| Reproduction {
        out: choice.out.as_ref().map(|out| out.join(name)),
        ..choice.clone()
    });
    // Hours may pass before the last paper, so a folder that cannot be used is reported now.
    for (name, choice) in PAPERS.iter().zip(&choices) {
        drop(session.draft(&out(name, choice)?)?);
    }
    let mut ending = Ending::Done;
    for (name, choice) in PAPERS.iter().zip(&choices) {
        match paper(session, name, choice)? {
            Ending::Done => {}
            Ending::Broken => ending = Ending::Broken,
            Ending::Interrupted => return Ok(Ending::Interrupted),
        }
    }
    Ok(ending)
}

/// Makes the tables and figures of the paper of this name.
pub(super) fn paper(
    session: &Session,
    name: &str,
    choice: &Reproduction,
) -> anyhow::Result<Ending> {
    if let Some(trace) = &choice.trace {
        refuse_stream(trace)?;
    }
    let options = Options {
        size: if choice.quick {
            Size::Quick
        } else {
            Size::Full
        },
        trace: choice.trace.clone(),
        nodes: choice.nodes,
        coordinates: choice.coordinates.clone(),
        round_trips: choice.round_trips.clone(),
        seed: choice.seed,
    };
    let places = [
        (choice.coordinates.is_some(), "--coordinates"),
        (choice.round_trips.is_some(), "--round-trips"),
    ];
    let jobs = [
        (choice.trace.is_some(), "--trace"),
        (choice.nodes.is_some(), "--nodes"),
    ];
    let facts = json!({ "quick": choice.quick });
    match name {
        "p2" => {
            let setup = p2::Setup::new(&options)?;
            let paper = p2::PAPER.with(&setup, &setup.base);
            reproduce(session, choice, &paper, &facts)
        }
        "p3" => {
            let setup = p3::Setup::new(&options)?;
            let paper = p3::PAPER.with(&setup, &setup.base);
            reproduce(session, choice, &paper, &facts)
        }
        "p4" => {
            let why = "p4 makes up its own nodes and jobs; leave it out";
            refuse(&[places, jobs].concat(), why)?;
            let setup = p4::Setup::new(&options)?;
            let paper = p4::PAPER.with(&setup, &setup.base);
            reproduce(session, choice, &paper, &facts)
        }
        _ => {
            let why = "p1 knows nothing of where nodes are; leave it out";
            refuse(&places, why)?;
            let setup = p1::Setup::new(&options)?;
            let facts = json!({
                "jobs": setup.jobs,
                "nodes": setup.nodes,
                "load": setup.load,
                "quick": choice.quick,
            });
            let paper = p1::PAPER.with(&setup, &setup.base);
            reproduce(session, choice, &paper, &facts)
        }
    }
}

/// The indices of the parts with these names; all parts if there are no names.
fn chosen(paper: &dyn Reproducible, only: &[String]) -> anyhow::Result<Vec<usize>> {
    let parts = paper.parts();
    for name in only {
        if !parts.iter().any(|(part, _)| part == name) {
            let known: Vec<&str> = parts.iter().map(|(part, _)| *part).collect();
            bail!(
                "--only {name}: {} has no such part; choose from {}",
                paper.key(),
                known.join(", ")
            );
        }
    }
    let wanted = |part: &usize| only.is_empty() || only.iter().any(|name| name == parts[*part].0);
    Ok((0..parts.len()).filter(wanted).collect())
}

/// A part of a paper with its results.
struct Shown {
    name: &'static str,
    title: &'static str,
    /// The names of its runs.
    runs: Vec<String>,
    report: Report,
}

/// Makes the runs of some parts of a paper, and their tables.
fn reproduce(
    session: &Session,
    choice: &Reproduction,
    paper: &dyn Reproducible,
    facts: &Value,
) -> anyhow::Result<Ending> {
    let parts = chosen(paper, &choice.only)?;
    let last = choice.seed.saturating_add(u64::from(choice.runs - 1));
    if last > Config::LARGEST_SEED {
        bail!("--runs goes beyond the largest seed; give a smaller --seed");
    }
    let plans = parts
        .iter()
        .map(|part| paper.plan(*part))
        .collect::<Result<Vec<Vec<Planned>>, InputError>>()?;
    for (part, plan) in parts.iter().zip(&plans) {
        let (name, _) = paper.parts()[*part];
        let empty = plan.is_empty() && paper.cases(*part).is_empty();
        if empty && choice.only.iter().any(|only| only == name) {
            bail!(
                "--only {name}: there is nothing to make it of; give a trace with --trace, or a longer one"
            );
        }
    }
    let mut distinct: Vec<&Planned> = Vec::new();
    for planned in plans.iter().flatten() {
        if !distinct.iter().any(|known| known.name == planned.name) {
            distinct.push(planned);
        }
    }
    let tasks = tasks(&distinct, choice)?;
    let out = out(paper.key(), choice)?;
    let draft = session.draft(&out)?;
    let finished = make(session, tasks)?;
    let studies = study(session, choice, paper, &parts)?;
    let (Some(finished), Some(studies)) = (finished, studies) else {
        session.note("gridweave: stopped before all runs were made; nothing is written");
        return Ok(Ending::Interrupted);
    };
    let samples: BTreeMap<&str, Sample<'_>> = distinct
        .iter()
        .zip(finished.chunks(choice.runs as usize))
        .map(|(planned, runs)| {
            let name = planned.name.as_str();
            (name, Sample { name, runs })
        })
        .collect();
    let shown = parts.iter().zip(&plans).zip(&studies);
    let shown = shown.map(|((part, plan), measured)| {
        let own: Vec<Sample<'_>> = plan
            .iter()
            .map(|planned| samples[planned.name.as_str()])
            .collect();
        let (name, title) = paper.parts()[*part];
        Shown {
            name,
            title,
            runs: plan.iter().map(|planned| planned.name.clone()).collect(),
            report: paper.report(*part, &own, measured),
        }
    });
    let shown: Vec<Shown> = shown.collect();

    let runs: Vec<(&str, &Finished)> = samples
        .iter()
        .flat_map(|(name, sample)| sample.runs.iter().map(|run| (*name, run)))
        .collect();
    let report = json!({
        "paper": { "key": paper.key(), "title": paper.title() },
        "workload": facts,
        "seeds": (0..u64::from(choice.runs)).map(|n| choice.seed + n).collect::<Vec<u64>>(),
        "parts": shown.iter().map(Shown::json).collect::<Map<_, _>>(),
        "runs": runs
            .iter()
            .map(|(name, run)| run_json(name, run, choice))
            .collect::<anyhow::Result<Vec<Value>>>()?,
    });
    let text: Vec<String> = shown.iter().map(Shown::text).collect();
    let text = text.join("\n");
    let page = page(paper, &shown, &report, choice);
    draft.write("report.html", |file| page.write(file))?;
    write(&draft, paper.key(), &shown, &text)?;
    write_runs(&draft, paper.key(), &runs, choice)?;
    write_config(&draft, paper.base())?;
    draft.write(format!("{}.json", paper.key()), |file| {
        write_json(&report, file)
    })?;
    session.publish(draft)?;

    let summaries: Vec<&Summary> = runs.iter().map(|(_, run)| &run.summary).collect();
    note_violations(&summaries);
    if let Some((_, run)) = runs.first() {
        session.note_workload(&run.prepared);
    }
    session.say(&text);
    session.point_to(&out);
    session.tell(&report)?;
    let broken = summaries.iter().any(|summary| summary.violations > 0);
    Ok(if broken { Ending::Broken } else { Ending::Done })
}

/// The folder for the results of a paper; refuses one with results of another paper.
fn out(key: &str, choice: &Reproduction) -> anyhow::Result<PathBuf> {
    let Some(out) = &choice.out else {
        return Ok(PathBuf::from(format!("gridweave-reproduce-{key}")));
    };
    for other in PAPERS {
        if other != key && out.join(format!("{other}.json")).exists() {
            bail!(
                "{}: holds results of {other}; choose another folder with --out",
                out.display()
            );
        }
    }
    Ok(out.clone())
}

/// The report page of a paper.
fn page(paper: &dyn Reproducible, shown: &[Shown], report: &Value, choice: &Reproduction) -> Page {
    let mut page = Page::new(
        Kind::Reproduce,
        format!("{} reproduced", paper.key().to_uppercase()),
        command(paper.key(), choice),
    );
    let runs = report["runs"].as_array().cloned().unwrap_or_default();
    page.paper = Some(report::Paper {
        key: paper.key().into(),
        title: paper.title().into(),
        seeds: (0..u64::from(choice.runs))
            .map(|number| choice.seed + number)
            .collect(),
        parts: shown
            .iter()
            .map(|part| report::Part::of(part.name, part.title, &part.report))
            .collect(),
        runs: runs
            .iter()
            .map(|run| json!([run["name"], run["scheduler"], run["seed"], run["digest"]]))
            .collect(),
    });
    page
}

/// The command that repeats the reproduction.
fn command(key: &str, choice: &Reproduction) -> String {
    let mut command = format!("gridweave reproduce {key}");
    let mut add = |option: &str, value: &str| command.push_str(&format!(" {option}{value}"));
    if choice.quick {
        add("--quick", "");
    }
    if !choice.only.is_empty() {
        add("--only ", &quoted(&choice.only.join(",")));
    }
    for (option, file) in [
        ("--trace ", &choice.trace),
        ("--coordinates ", &choice.coordinates),
        ("--round-trips ", &choice.round_trips),
    ] {
        if let Some(file) = file {
            add(option, &quoted(&file.to_string_lossy()));
        }
    }
    if let Some(nodes) = choice.nodes {
        add("--nodes ", &nodes.to_string());
    }
    add("--seed ", &choice.seed.to_string());
    if choice.runs > 1 {
        add("--runs ", &choice.runs.to_string());
    }
    add("--out ", "again");
    command
}

/// All runs under all seeds: those of the first name, one per seed, then those of the second, and so on. Each workload
/// is read or generated once.
fn tasks(distinct: &[&Planned], choice: &Reproduction) -> anyhow::Result<Vec<Prepared>> {
    let mut workloads: Vec<(Config, Prepared)> = Vec::new();
    let mut tasks = Vec::new();
    for planned in distinct {
        for seed in (0..u64::from(choice.runs)).map(|number| choice.seed + number) {
            let mut config = planned.config.clone();
            config.seed = seed;
            let jobs = jobs_of(&config);
            let known = workloads.iter().find(|(known, _)| *known == jobs);
            let prepared = match known {
                Some((_, prepared)) => prepared.clone(),
                None => {
                    let prepared = prepare(&config)?;
                    workloads.push((jobs, prepared.clone()));
                    prepared
                }
            };
            // Fills in what the workload decides.
            config.workload.trace = prepared.config.workload.trace.clone();
            config.workload.trace_digest = prepared.config.workload.trace_digest.clone();
            config.grid.nodes = prepared.config.grid.nodes;
            let task = Prepared { config, ..prepared };
            task.check()?;
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// The part of a configuration that decides jobs and nodes.
fn jobs_of(config: &Config) -> Config {
    let mut jobs = Config {
        grid: config.grid.clone(),
        workload: config.workload.clone(),
        ..Config::default()
    };
    jobs.workload.estimates = Config::default().workload.estimates;
    if config.workload.source.is_generated() {
        jobs.seed = config.seed;
    }
    jobs
}

/// Makes all runs on all cores; `None` after a Ctrl-C. From here to publishing, the first one only asks runs to stop.
fn make(session: &Session, tasks: Vec<Prepared>) -> anyhow::Result<Option<Vec<Finished>>> {
    session.interrupt.begin();
    let jobs = tasks.iter().map(|task| task.workload.jobs.len() as u64);
    let watched = Watched::new(session, tasks.len(), Goal::Jobs(jobs.sum()));
    let made = watched.each(tasks, |prepared, monitor| {
        if session.stopped() {
            return Ok(None);
        }
        let results = prepared.execute(monitor)?;
        Ok(Some(Finished::of(prepared, results)))
    });
    let made = made
        .into_iter()
        .collect::<Result<Option<Vec<Finished>>, InputError>>()?;
    Ok(made.filter(|_| !session.stopped()))
}

/// Makes all studies of these parts on all cores, under all seeds; `None` if the user pressed Ctrl-C. For a part
/// without a study, nothing is measured.
fn study(
    session: &Session,
    choice: &Reproduction,
    paper: &dyn Reproducible,
    parts: &[usize],
) -> anyhow::Result<Option<Vec<Vec<Measured>>>> {
    let mut all = Vec::new();
    let mut tasks = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let cases = paper.cases(*part);
        for case in 0..cases.len() {
            let seeds = (0..u64::from(choice.runs)).map(|seed| choice.seed + seed);
            tasks.extend(seeds.map(|seed| (number, case, seed)));
        }
        let measured = cases.into_iter().map(|name| Measured {
            name,
            runs: Vec::new(),
        });
        all.push(measured.collect::<Vec<Measured>>());
    }
    if tasks.is_empty() || session.stopped() {
        return Ok(Some(all).filter(|_| !session.stopped()));
    }
    session.interrupt.begin();
    let watched = Watched::new(session, tasks.len(), Goal::Runs);
    let made = watched.each(tasks, |(number, case, seed), monitor| {
        let figures = match session.stopped() {
            false => paper.measure(parts[number], case, seed, monitor),
            true => Ok(Vec::new()),
        };
        figures.map(|figures| (number, case, figures))
    });
    for figures in made {
        let (number, case, figures) = figures?;
        all[number][case].runs.push(figures);
    }
    Ok(Some(all).filter(|_| !session.stopped()))
}

/// The name of a run's files.
fn file_name(name: &str, run: &Finished, choice: &Reproduction) -> String {
    if choice.runs > 1 {
        format!("{name}-seed-{}", run.summary.seed)
    } else {
        name.to_owned()
    }
}

fn run_json(name: &str, run: &Finished, choice: &Reproduction) -> anyhow::Result<Value> {
    let summary = &run.summary;
    // The digest of a trace identifies it; its path does not matter.
    let mut config = run.prepared.config.clone();
    config.workload.trace = None;
    let mut history = History::new();
    history.bytes(config.to_toml()?.as_bytes());
    Ok(json!({
        "name": name,
        "file": format!("runs/{}.toml", file_name(name, run, choice)),
        "scheduler": summary.scheduler,
        "seed": summary.seed,
        "config_digest": history.digest(),
        "digest": summary.digest,
        "jobs": summary.jobs,
        "wait": summary.wait,
        "utilization": summary.utilization,
        "messages": summary.messages.total,
        "violations": summary.violations,
    }))
}

impl Shown {
    fn json(&self) -> (String, Value) {
        let tables: Vec<Value> = self.report.tables.iter().map(Table::json).collect();
        let value = json!({
            "title": self.title,
            "runs": self.runs,
            "tables": tables,
            "notes": self.report.notes,
        });
        (self.name.to_owned(), value)
    }

    /// The part as text for people.
    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.name, self.title);
        for table in self.report.tables.iter().filter(|table| table.shown) {
            text.push_str(&format!("{}\n{}\n", table.title, draw(table)));
        }
        for note in &self.report.notes {
            text.push_str(&format!("  - {note}\n"));
        }
        text
    }
}

fn draw(table: &Table) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(UTF8_FULL_CONDENSED);
    drawn.set_header(table.columns.iter().map(|column| in_lines(column)));
    for row in &table.rows {
        drawn.add_row(row.iter().map(|cell| {
            let alignment = match cell {
                Cell::Text(_) => CellAlignment::Left,
                Cell::Empty | Cell::Number(..) => CellAlignment::Right,
            };
            Drawn::new(cell).set_alignment(alignment)
        }));
    }
    drawn.to_string()
}

/// A heading in lines of about a dozen characters, so that tables stay narrow.
fn in_lines(heading: &str) -> String {
    const WIDTH: usize = 12;
    let mut lines: Vec<String> = Vec::new();
    for word in heading.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Writes the tables, as text and as CSV.
fn write(draft: &Draft, key: &str, shown: &[Shown], text: &str) -> anyhow::Result<()> {
    for table in shown.iter().flat_map(|part| &part.report.tables) {
        draft.write(format!("{key}/{}.csv", table.name), |file| {
            table.write_csv(file)
        })?;
    }
    draft.write(format!("{key}/tables.txt"), |file| {
        file.write_all(text.as_bytes())
    })?;
    Ok(())
}

/// Writes the configuration of each run, and what the runs cost.
fn write_runs(
    draft: &Draft,
    key: &str,
    runs: &[(&str, &Finished)],
    choice: &Reproduction,
) -> anyhow::Result<()> {
    let mut costs = Vec::new();
    for (name, run) in runs {
        let name = file_name(name, run, choice);
        let text = run.prepared.config.to_toml()?;
        draft.write(format!("{key}/runs/{name}.toml"), |file| {
            file.write_all(text.as_bytes())
        })?;
        costs.push(json!({ "run": name, "cost": run.cost }));
    }
    draft.write("engine.json", |file| write_json(&costs, file))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_headings_become_several_short_lines() {
        assert_eq!(in_lines("jobs"), "jobs");
        assert_eq!(in_lines("published wait s"), "published\nwait s");
        assert_eq!(in_lines("EU in the middle half"), "EU in the\nmiddle half");
    }
}

//! The files of a reproduction: tables, configurations, and a report for the browser.

use std::io::Write;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell as Drawn, CellAlignment};
use serde_json::{Map, Value, json};

use super::super::options::Reproduction;
use super::super::session::quoted;
use super::make::{Shown, seeds};
use crate::report::{self, Kind, Page};
use crate::reproduce::{Cell, Finished, Reproducible, Table};
use crate::results::{Draft, write_json};
use gridweave_sim::history::History;

/// Everything about the parts, as JSON.
pub(super) fn whole(
    paper: &dyn Reproducible,
    facts: &Value,
    choice: &Reproduction,
    shown: &[Shown],
    runs: &[(&str, &Finished)],
) -> anyhow::Result<Value> {
    let runs = runs.iter().map(|(name, run)| run_json(name, run, choice));
    Ok(json!({
        "paper": { "key": paper.key(), "title": paper.title() },
        "workload": facts,
        "seeds": seeds(choice).collect::<Vec<u64>>(),
        "parts": shown.iter().map(Shown::json).collect::<Map<_, _>>(),
        "runs": runs.collect::<anyhow::Result<Vec<Value>>>()?,
    }))
}

/// The report page of a paper.
pub(super) fn page(
    paper: &dyn Reproducible,
    shown: &[Shown],
    report: &Value,
    choice: &Reproduction,
) -> Page {
    let mut page = Page::new(
        Kind::Reproduce,
        format!("{} reproduced", paper.key().to_uppercase()),
        format!("{} --out again", command(paper.key(), choice)),
    );
    let runs = report["runs"].as_array().cloned().unwrap_or_default();
    page.paper = Some(report::Paper {
        key: paper.key().into(),
        title: paper.title().into(),
        seeds: seeds(choice).collect(),
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
pub(super) fn command(key: &str, choice: &Reproduction) -> String {
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
    command
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
        let findings = self.report.findings.iter().map(|finding| {
            json!({
                "table": finding.table,
                "what": finding.what(),
                "published": finding.published(),
                "measured": finding.measured.number(),
                "agrees_if": finding.rule(),
                "verdict": finding.verdict.to_string(),
                "reason": finding.reason(),
            })
        });
        let value = json!({
            "title": self.title,
            "runs": self.runs,
            "tables": tables,
            "verdicts": findings.collect::<Vec<Value>>(),
            "notes": self.report.notes,
        });
        (self.name.to_owned(), value)
    }

    /// The part as text for people.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.name, self.title);
        for table in self.report.tables.iter().filter(|table| table.shown) {
            text.push_str(&format!("{}\n{}\n", table.title, draw(table)));
            for finding in self.report.findings_on(&table.name) {
                text.push_str(&format!(
                    "  {}: {}; published {}, measured {}, agrees if {}\n",
                    finding.verdict,
                    finding.what(),
                    finding.published(),
                    finding.measured,
                    finding.rule(),
                ));
            }
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
pub(super) fn write(draft: &Draft, key: &str, shown: &[Shown], text: &str) -> anyhow::Result<()> {
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
pub(super) fn write_runs(
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

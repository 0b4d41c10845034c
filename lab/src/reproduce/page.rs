//! A page of results in Markdown: for each part of a paper its tables, verdicts, charts, command, commit and seeds.
//!
//! A page is made of [`Section`]s between markers. Parts can be made one after the other, in hours or weeks: a new
//! section replaces the one of its part, and the others stay as they are. Each section has the digest of the quick run
//! of its part. If that run has another digest today, the code has changed since, and the section is marked as stale.

use std::collections::BTreeMap;
use std::fmt::Write;

use gridweave_sim::history::History;

use super::chart::Chart;
use super::report::{Cell, Report, Table};
use super::{Finished, Measured};

/// How a part was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// The command that repeats it.
    pub command: String,
    /// The commit of the code.
    pub commit: String,
    /// The digest of what decides runs in it; empty if that cannot be told.
    pub code: String,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Whether it is a quick run, which is too small to compare with the paper.
    pub quick: bool,
}

/// The part of a page that one part of a paper makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    /// The name of the part.
    pub part: String,
    /// The digest of its quick run.
    pub digest: String,
    /// Markdown, from its heading on.
    body: String,
}

/// Begins the line that marks a section as stale.
const STALE: &str = "> **Stale:**";
/// Begins the line that marks a section as that of a quick run.
const QUICK: &str = "*Quick:";
/// Begins the line with the verdict on a table.
const VERDICT: &str = "Verdict on `";

impl Section {
    /// The section for a report. Charts are files in the folder `charts` beside the page.
    pub(crate) fn new(
        (part, title): (&str, &str),
        digest: String,
        report: &Report,
        origin: &Origin,
        charts: &str,
    ) -> Self {
        let mut body = format!("## {}\n\n", escaped(title));
        let seeds = match origin.seeds.as_slice() {
            [one] => format!("seed {one}"),
            [first, .., last] => format!("seeds {first} to {last}"),
            [] => "no seeds".into(),
        };
        let code = origin
            .code
            .get(..12)
            .map(|code| format!(" (code `{code}`)"));
        let _ = writeln!(
            body,
            "`{}` at commit `{}`{}, {seeds}.\n",
            origin.command,
            origin.commit,
            code.unwrap_or_default()
        );
        if origin.quick {
            let _ = writeln!(
                body,
                "{QUICK} a small grid and few jobs. It shows that the part works, and compares with nothing.*\n"
            );
        }
        for table in report.tables.iter().filter(|table| table.shown) {
            let _ = writeln!(body, "**{}**\n", escaped(&table.title));
            body += &rows(table);
            body += &verdicts(table, report, origin);
        }
        for chart in &report.charts {
            let _ = writeln!(
                body,
                "![{}]({charts}/{}.svg)\n",
                escaped(chart.title()),
                chart.name
            );
        }
        for note in &report.notes {
            let _ = writeln!(body, "- {}", escaped(note));
        }
        Self {
            part: part.into(),
            digest,
            body: body.trim_end().to_owned() + "\n",
        }
    }

    /// Whether it is marked as stale.
    pub(crate) fn is_stale(&self) -> bool {
        self.body.lines().any(|line| line.starts_with(STALE))
    }

    /// Whether it is of a quick run.
    fn is_quick(&self) -> bool {
        self.body.lines().any(|line| line.starts_with(QUICK))
    }

    /// Marks it as stale, or as fresh.
    pub(crate) fn mark(&mut self, stale: bool) {
        if stale == self.is_stale() {
            return;
        }
        let mut lines: Vec<&str> = self.body.lines().collect();
        let mark = format!(
            "{STALE} the code of this part has changed since; what it shows may differ today."
        );
        if stale {
            lines.splice(1..1, ["", &mark]);
        } else {
            let at = lines.iter().position(|line| line.starts_with(STALE));
            lines.drain(at.map_or(0..0, |at| at - 1..at + 1));
        }
        self.body = lines.join("\n") + "\n";
    }

    /// The verdict on each table, with the name of the table.
    fn verdicts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.body.lines().filter_map(|line| {
            let (table, rest) = line.strip_prefix(VERDICT)?.split_once("`: **")?;
            Some((table, rest.split_once("**")?.0))
        })
    }
}

/// A whole page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Page {
    /// Its sections, in the order of the paper's parts.
    pub sections: Vec<Section>,
}

impl Page {
    /// Reads the sections of a page; an error if a section has no end.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut sections = Vec::new();
        let mut open: Option<Section> = None;
        for line in text.lines() {
            match (&mut open, marker(line)) {
                (None, Some(Marker::Begin { part, digest })) => {
                    open = Some(Section {
                        part: part.into(),
                        digest: digest.into(),
                        body: String::new(),
                    });
                }
                (Some(section), Some(Marker::End { part })) if section.part == part => {
                    sections.extend(open.take());
                }
                (Some(section), None) => {
                    section.body += line;
                    section.body.push('\n');
                }
                (_, Some(_)) => return Err(format!("'{line}' is out of place")),
                (None, None) => {}
            }
        }
        match open {
            Some(section) => Err(format!("the section of {} has no end", section.part)),
            None => Ok(Self { sections }),
        }
    }

    /// Replaces the sections of the same parts, and puts all into this order; those of other parts go.
    pub(crate) fn update(&mut self, new: Vec<Section>, order: &[&str]) {
        self.sections
            .retain(|old| new.iter().all(|new| new.part != old.part));
        self.sections.extend(new);
        let place = |section: &Section| order.iter().position(|part| *part == section.part);
        self.sections.retain(|section| place(section).is_some());
        self.sections.sort_by_key(place);
    }

    /// The page as Markdown.
    pub(crate) fn text(&self, key: &str, title: &str, about: &str) -> String {
        let quick = self.sections.iter().filter(|section| section.is_quick());
        let quick = match (quick.count(), self.sections.len()) {
            (0, _) => String::new(),
            (some, all) => format!(
                "**{some} of the {all} parts below are quick runs: small grids, which show that the code works and compare \
                 with nothing. The same command without `--quick` makes them at full size.**\n\n"
            ),
        };
        let mut text = format!(
            "# {} reproduced\n\n\
             *{title}.* Written by `gridweave reproduce {key} --page FILE`: a change by hand is lost with the next one. \
             *Rules* says whose rules a row follows: the paper's with the decisions of [the rules](../reference/rules.md) \
             where it is silent, or ours; a dash is another scheduler. ± is the 95 % interval over the seeds.\n\n{quick}{}\n\n",
            key.to_uppercase(),
            about.trim()
        );
        text += &self.summary();
        for Section { part, digest, body } in &self.sections {
            let _ = write!(
                text,
                "\n<!-- part {part}, quick run {digest} -->\n{body}<!-- end of {part} -->\n"
            );
        }
        text
    }

    /// The table of all verdicts.
    fn summary(&self) -> String {
        let mut text = String::from(
            "## Verdicts\n\n\
             A verdict is by rule: each published number or sentence has the values that agree with it and those that at \
             least point in its direction. That of a table is its worst one.\n\n\
             | part | table | verdict |\n|---|---|---|\n",
        );
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for section in &self.sections {
            for (table, verdict) in section.verdicts() {
                let verdict = match section.is_quick() {
                    true => "quick run, no verdict",
                    false => verdict,
                };
                let stale = if section.is_stale() { ", stale" } else { "" };
                let _ = writeln!(text, "| {} | `{table}` | {verdict}{stale} |", section.part);
                *counts.entry(verdict.to_owned()).or_default() += 1;
            }
        }
        let all: u32 = counts.values().sum();
        let counts = counts
            .iter()
            .map(|(verdict, count)| format!("{count} {verdict}"));
        let counts: Vec<String> = counts.collect();
        let _ = writeln!(text, "\n{all} tables: {}.", counts.join("; "));
        text
    }
}

enum Marker<'a> {
    Begin { part: &'a str, digest: &'a str },
    End { part: &'a str },
}

fn marker(line: &str) -> Option<Marker<'_>> {
    let inside = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    if let Some(part) = inside.strip_prefix("end of ") {
        return Some(Marker::End { part });
    }
    let (part, digest) = inside.strip_prefix("part ")?.split_once(", quick run ")?;
    Some(Marker::Begin { part, digest })
}

/// The digest of the quick run of a part: of its runs, of its measurements, and of all that is made of them.
pub(crate) fn digest(runs: &[&Finished], measured: &[Measured], report: &Report) -> String {
    let mut history = History::new();
    for run in runs {
        history.bytes(run.run.digest.as_bytes());
    }
    for figure in measured.iter().flat_map(|case| case.runs.iter().flatten()) {
        history.bytes(&figure.to_bits().to_le_bytes());
    }
    for table in &report.tables {
        history.bytes(table.json().to_string().as_bytes());
    }
    for finding in &report.findings {
        let rule = finding.rule();
        let parts = [finding.what(), finding.published(), &rule];
        for text in parts.into_iter().chain([&*finding.measured.to_string()]) {
            history.bytes(text.as_bytes());
        }
    }
    for chart in &report.charts {
        history.bytes(chart.svg().as_bytes());
    }
    history.digest()
}

/// The table in Markdown.
pub(super) fn rows(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(table.columns.iter().map(|name| escaped(name)).collect());
    let is_text = |column: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.any(|cell| matches!(cell, Cell::Text(_)))
    };
    let alignments = (0..table.columns.len()).map(|column| match is_text(column) {
        true => "---".to_owned(),
        false => "---:".to_owned(),
    });
    let _ = writeln!(text, "|{}|", alignments.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        text += &line(row.iter().map(cell).collect());
    }
    text + "\n"
}

/// The verdict on a table, and what it rests on.
fn verdicts(table: &Table, report: &Report, origin: &Origin) -> String {
    let name = &table.name;
    let Some(verdict) = report.verdict_on(name) else {
        debug_assert!(!table.published, "{name} has no verdict");
        return format!("{VERDICT}{name}`: **nothing published**.\n\n");
    };
    let verdict = match origin.quick {
        true => {
            format!("**none**, for this is a quick run; by the rules below it would be: {verdict}")
        }
        false => format!("**{verdict}**"),
    };
    let mut text = format!(
        "{VERDICT}{name}`: {verdict}.\n\n| published about it | published | measured | agrees if | verdict |\n|---|---|---|---|---|\n"
    );
    for finding in report.findings_on(name) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            escaped(finding.what()),
            escaped(finding.published()),
            cell(&finding.measured),
            finding.rule(),
            finding.verdict
        );
    }
    text.push('\n');
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for finding in report.findings_on(name) {
        match (reasons.iter_mut()).find(|(reason, _)| *reason == finding.reason()) {
            _ if finding.reason().is_empty() => {}
            Some((_, about)) => about.push(finding.what()),
            None => reasons.push((finding.reason(), vec![finding.what()])),
        }
    }
    for (reason, about) in reasons {
        let (about, reason) = (escaped(&about.join("; ")), escaped(reason));
        let _ = writeln!(text, "Why ({about}): {reason}\n");
    }
    text
}

/// A cell, with digits in groups of three.
pub(super) fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "–".into(),
        Cell::Text(text) => escaped(text),
        Cell::Number(estimate, digits) => {
            let mean = grouped(estimate.mean, *digits);
            match estimate.ci95 > 0.0 {
                true => format!("{mean} ± {}", grouped(estimate.ci95, *digits)),
                false => mean,
            }
        }
    }
}

/// A number with so many decimals, and a comma between groups of three digits.
fn grouped(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    let (whole, decimals) = match text.split_once('.') {
        Some((whole, decimals)) => (whole, format!(".{decimals}")),
        None => (text.as_str(), String::new()),
    };
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(whole) => ("-", whole),
        None => ("", whole),
    };
    let groups: Vec<&str> = (0..whole.len().div_ceil(3))
        .rev()
        .map(|group| {
            let end = whole.len() - 3 * group;
            &whole[end.saturating_sub(3)..end]
        })
        .collect();
    format!("{sign}{}{decimals}", groups.join(","))
}

/// Text that Markdown leaves as it is.
pub(super) fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// The charts of reports, each with the name of its file.
pub(crate) fn charts<'a>(
    reports: impl Iterator<Item = &'a Report>,
) -> impl Iterator<Item = (String, String)> {
    let charts = reports.flat_map(|report| &report.charts);
    charts.map(|chart: &Chart| (format!("{}.svg", chart.name), chart.svg()))
}

/// The names of all places between two markers, in their order.
pub(crate) fn places(page: &str) -> Vec<String> {
    let begins = page.lines().filter_map(|line| {
        let name = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        let end = format!("<!-- end of {name} -->");
        page.contains(&end).then(|| name.to_owned())
    });
    begins.collect()
}

/// Replaces what stands between two markers of a page: `<!-- NAME -->` and `<!-- end of NAME -->`. `None` if the page has
/// no such markers.
pub(crate) fn put_between(page: &str, name: &str, content: &str) -> Option<String> {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let from = page.find(&begin)? + begin.len();
    let until = from + page[from..].find(&end)?;
    Some(format!("{}{content}{}", &page[..from], &page[until..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Claim;

    fn report(value: f64) -> Report {
        let mut table = Table::new("waits", "mean waits | all", "trace | published | measured");
        table.push(["plain".into(), Cell::exact(936.0, 0), Cell::exact(value, 0)]);
        let claim = Claim::number("wait", 936.0, 0.1)
            .or_above(500.0)
            .because("another trace");
        let finding = claim.judge(&table, 0, "measured");
        let mut ours = Table::unpublished("ours", "ours", "a");
        ours.push([1_u64.into()]);
        Report::new([table, ours], &["a note"], None).judged([finding])
    }

    fn section(part: &str, value: f64) -> Section {
        let origin = Origin {
            command: "gridweave reproduce p1".into(),
            commit: "abc1234".into(),
            code: "0123456789abcdef".into(),
            seeds: vec![0, 1, 2],
            quick: false,
        };
        Section::new((part, "Waits"), "d1".into(), &report(value), &origin, "p1")
    }

    #[test]
    fn a_page_is_read_back_as_it_was_written() {
        let mut page = Page::default();
        page.update(vec![section("b", 1200.0), section("a", 936.0)], &["a", "b"]);
        let text = page.text("p1", "A title", "About it.");
        assert_eq!(Page::parse(&text), Ok(page.clone()));
        assert!(text.contains("| a | `waits` | agrees |"), "{text}");
        assert!(text.contains("| b | `waits` | direction only |"), "{text}");
        assert!(
            text.contains("| a | `ours` | nothing published |"),
            "{text}"
        );
        assert!(text.contains("Why (wait): another trace"), "{text}");
        assert!(text.contains("mean waits \\| all") && text.contains("seeds 0 to 2"));
        assert!(text.contains("4 tables: 1 agrees; 1 direction only; 2 nothing published."));
    }

    #[test]
    fn a_new_section_replaces_that_of_its_part_only() {
        let mut page = Page::default();
        page.update(vec![section("a", 1.0), section("b", 2.0)], &["a", "b"]);
        let kept = page.sections[0].clone();
        page.update(vec![section("b", 936.0), section("gone", 1.0)], &["a", "b"]);
        assert_eq!(page.sections.len(), 2);
        assert_eq!(page.sections[0], kept);
        assert_eq!(page.sections[1], section("b", 936.0));
    }

    #[test]
    fn a_section_that_is_marked_stale_and_fresh_again_is_as_before() {
        let fresh = section("a", 1.0);
        let mut marked = fresh.clone();
        marked.mark(true);
        assert!(marked.is_stale() && marked != fresh);
        let mut page = Page::default();
        page.update(vec![marked.clone()], &["a"]);
        let text = page.text("p1", "t", "x");
        assert!(text.contains("differs, stale"), "{text}");
        assert_eq!(Page::parse(&text).unwrap().sections, [marked.clone()]);
        marked.mark(true);
        marked.mark(false);
        assert_eq!(marked, fresh);
    }

    #[test]
    fn damaged_markers_are_refused() {
        let page = "<!-- part a, quick run d -->\n## A\n";
        assert!(Page::parse(page).unwrap_err().contains("no end"));
        let crossed = format!("{page}<!-- end of b -->\n");
        assert!(Page::parse(&crossed).unwrap_err().contains("out of place"));
        assert_eq!(Page::parse("plain text\n"), Ok(Page::default()));
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(14_189_748.0, 0), "14,189,748");
        assert_eq!(grouped(-1234.5, 1), "-1,234.5");
        assert_eq!(grouped(0.25, 2), "0.25");
        assert_eq!(grouped(999.0, 0), "999");
    }

    #[test]
    fn text_between_markers_is_replaced_and_the_rest_stays() {
        let page = "a\n<!-- waits -->\nold\n<!-- end of waits -->\nb\n";
        let new = put_between(page, "waits", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- waits -->\nnew\n<!-- end of waits -->\nb\n");
        assert_eq!(put_between(page, "other", ""), None);
    }
}

//! Records: what a bench or a campaign measured, as JSON, and how it is shown on a page.
//!
//! Benches and campaigns are no runs of this program's simulations, so they write down what they saw, with the command
//! and the commit. The program puts it between markers of pages that are otherwise written by hand, so that a table is
//! never typed.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;

use super::page;
use super::report::{Cell, Table};
use super::verdict::Claim;

/// What a bench or a campaign measured.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// The command that repeats it; empty if the page names one for each row.
    command: String,
    /// The commit of the code.
    commit: String,
    /// Where and how it was measured, in a few words.
    #[serde(default)]
    setting: String,
    /// Whether only the table is shown, as on a front page.
    #[serde(default)]
    bare: bool,
    /// The names of the columns.
    columns: Vec<String>,
    /// The rows: texts, numbers, or nothing.
    rows: Vec<Vec<Value>>,
    /// What must hold of the values, and whether it does.
    #[serde(default)]
    bars: Vec<Bar>,
    /// Notes for the reader.
    #[serde(default)]
    notes: Vec<String>,
}

/// A value that must not be passed.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bar {
    what: String,
    measured: f64,
    #[serde(default)]
    at_least: Option<f64>,
    #[serde(default)]
    at_most: Option<f64>,
}

impl Record {
    /// Reads a record; the error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let wanted = record.columns.len();
        let wrong = record.rows.iter().position(|row| row.len() != wanted);
        match wrong {
            _ if wanted == 0 => Err("there are no columns".into()),
            Some(row) => Err(format!(
                "row {} has {} cells, and there are {wanted} columns",
                row + 1,
                record.rows[row].len()
            )),
            None => Ok(record),
        }
    }

    /// The record in Markdown.
    pub(crate) fn markdown(&self, name: &str) -> String {
        let mut table = Table::bare(name, &self.columns);
        for row in &self.rows {
            table.rows.push(row.iter().map(cell).collect());
        }
        let bars = self.bars.iter().map(|bar| {
            let least = bar.at_least.unwrap_or(f64::NEG_INFINITY);
            let most = bar.at_most.unwrap_or(f64::INFINITY);
            Claim::sentence(&bar.what, "", least..=most)
                .judge_value(&table, Cell::exact(bar.measured, digits(bar.measured)))
        });
        let findings: Vec<_> = bars.collect();
        let mut text = page::rows(&table);
        if self.bare {
            return text;
        }
        if !findings.is_empty() {
            text += "| what must hold | bar | measured | |\n|---|---|---|---|\n";
            for finding in &findings {
                let verdict = match finding.verdict {
                    super::verdict::Verdict::Agrees => "holds",
                    _ => "**missed**",
                };
                let _ = writeln!(
                    text,
                    "| {} | {} | {} | {verdict} |",
                    page::escaped(finding.what()),
                    finding.rule(),
                    page::cell(&finding.measured),
                );
            }
            text.push('\n');
        }
        let setting = match self.setting.as_str() {
            "" => String::new(),
            setting => format!(", {}", page::escaped(setting)),
        };
        let command = match self.command.as_str() {
            "" => "With the commands beside it".to_owned(),
            command => format!("`{command}`"),
        };
        let _ = writeln!(text, "{command} at commit `{}`{setting}.", self.commit);
        for note in &self.notes {
            let _ = write!(text, "\n- {}", page::escaped(note));
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        text
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Empty,
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            Cell::exact(number, digits(number))
        }
        Value::String(text) => Cell::Text(text.clone()),
        other => Cell::Text(other.to_string()),
    }
}

/// How many decimals a number is shown with: three digits in all, unless it is whole.
fn digits(number: f64) -> usize {
    match number.abs() {
        _ if number.fract() == 0.0 => 0,
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    }
}

/// Puts records into the places of a page that are marked with their names. Returns the page, and the names of the
/// places for which there is no record.
pub(crate) fn fill(page: &str, records: &BTreeMap<String, Record>) -> (String, Vec<String>) {
    let mut text = page.to_owned();
    let mut missing = Vec::new();
    for name in page::places(page) {
        match records.get(&name) {
            Some(record) => {
                let content = record.markdown(&name);
                text = page::put_between(&text, &name, &content).unwrap_or(text);
            }
            None => missing.push(name),
        }
    }
    (text, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
        "command": "cargo bench", "commit": "abc", "setting": "two cores",
        "columns": ["what", "ns"], "rows": [["a slot", 7.25], ["b", null]],
        "bars": [{ "what": "a slot, ns", "measured": 7.25, "at_most": 5 }],
        "notes": ["a note"]
    }"#;

    #[test]
    fn a_record_is_shown_with_its_command_and_what_it_must_hold() {
        let text = Record::parse(TEXT).unwrap().markdown("slots");
        assert!(text.contains("| a slot | 7.25 |"), "{text}");
        assert!(
            text.contains("| a slot, ns | at most 5 | 7.25 | **missed** |"),
            "{text}"
        );
        assert!(
            text.contains("`cargo bench` at commit `abc`, two cores."),
            "{text}"
        );
        assert!(text.ends_with("- a note\n"), "{text}");
    }

    #[test]
    fn a_record_with_a_wrong_row_or_an_unknown_key_is_refused() {
        let short = TEXT.replace("[\"b\", null]", "[\"b\"]");
        assert!(Record::parse(&short).unwrap_err().contains("row 2"));
        let unknown = TEXT.replace("\"setting\"", "\"sitting\"");
        assert!(Record::parse(&unknown).unwrap_err().contains("sitting"));
    }

    #[test]
    fn records_go_to_their_places_and_places_without_a_record_stay() {
        let page = "# P\n<!-- slots -->\nbefore\n<!-- end of slots -->\ntext\n<!-- other -->\nkept\n<!-- end of other -->\n";
        let records = BTreeMap::from([("slots".to_owned(), Record::parse(TEXT).unwrap())]);
        let (filled, missing) = fill(page, &records);
        assert!(
            filled.contains("a slot") && !filled.contains("before"),
            "{filled}"
        );
        assert!(
            filled.contains("kept") && filled.contains("\ntext\n"),
            "{filled}"
        );
        assert_eq!(missing, ["other"]);
        assert_eq!(fill(&filled, &records).0, filled);
    }
}

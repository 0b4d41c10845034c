//! The report of a part of a reproduction.

use std::fmt;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::chart::Chart;
use super::verdict::{Finding, Verdict};
use crate::results::Estimate;

/// The results of a part.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Report {
    /// Tables to print, and data for plots; each becomes a file.
    pub tables: Vec<Table>,
    /// How the tables compare with what was published.
    pub findings: Vec<Finding>,
    /// Charts for the page.
    pub charts: Vec<Chart>,
    /// Notes for the reader: deviations, choices, caveats.
    pub notes: Vec<String>,
}

impl Report {
    /// A report with these tables and notes; the caveat comes last.
    pub(crate) fn new(tables: impl Into<Vec<Table>>, notes: &[&str], caveat: Option<&str>) -> Self {
        let notes = notes.iter().copied().chain(caveat);
        Self {
            tables: tables.into(),
            notes: notes.map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// The report with the verdicts on what was published.
    pub(crate) fn judged(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self
    }

    /// The report with charts.
    pub(crate) fn drawn(mut self, charts: impl IntoIterator<Item = Chart>) -> Self {
        self.charts.extend(charts);
        self
    }

    /// The verdicts on a table.
    pub(crate) fn findings_on<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a Finding> {
        let findings = self.findings.iter();
        findings.filter(move |finding| finding.table == table)
    }

    /// The worst verdict on a table; `None` if nothing was published about it.
    pub(crate) fn verdict_on(&self, table: &str) -> Option<Verdict> {
        self.findings_on(table).map(|finding| finding.verdict).max()
    }
}

/// Whose rules a row of a table follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    /// The paper's, with the decisions of PROTOCOLS where it is silent.
    Paper,
    /// The paper's, changed or added to by this project.
    Ours,
    /// Another scheduler's.
    Other,
}

impl Rules {
    const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
            Self::Other => "-",
        }
    }
}

/// The name of the column that says whose rules a row follows.
const RULES: &str = "rules";

/// A table with columns and rows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Table {
    /// The name of its file, without extension.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows, with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Whether it is printed; data for plots is only in files.
    pub shown: bool,
    /// Whether the paper has such a table, or a sentence about it.
    pub published: bool,
    /// Whose rules a row follows, unless it says otherwise.
    rules: Rules,
}

/// One value in a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// No value: it was not published, or does not exist.
    Empty,
    /// A text.
    Text(String),
    /// A number, printed with so many decimals.
    Number(Estimate, usize),
}

impl Cell {
    /// A number without a confidence interval.
    pub(crate) fn exact(number: f64, digits: usize) -> Self {
        let estimate = Estimate {
            mean: number,
            ci95: 0.0,
        };
        Self::Number(estimate, digits)
    }

    /// The mean of some numbers; empty if there are none.
    pub(crate) fn mean(digits: usize, numbers: impl Iterator<Item = f64>) -> Self {
        let numbers: Vec<f64> = numbers.collect();
        match numbers.as_slice() {
            [] => Self::Empty,
            numbers => Self::Number(Estimate::of(numbers), digits),
        }
    }

    /// The mean, if it is a number.
    pub(crate) const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(estimate, _) => Some(estimate.mean),
            Self::Empty | Self::Text(_) => None,
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Text(text) => json!(text),
            Self::Number(Estimate { mean, ci95 }, _) if *ci95 == 0.0 => json!(mean),
            Self::Number(estimate, _) => json!(estimate),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::exact(count as f64, 0)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("-"),
            Self::Text(text) => f.write_str(text),
            Self::Number(estimate, digits) => write!(f, "{estimate:.digits$}"),
        }
    }
}

impl Table {
    /// A table of the paper to print, without rows yet; ` | ` separates the names of its columns. A last column says
    /// whose rules a row follows.
    pub(crate) fn new(name: &str, title: &str, columns: &str) -> Self {
        let columns = columns.split(" | ").chain([RULES]);
        Self {
            name: name.into(),
            title: title.into(),
            columns: columns.map(str::to_owned).collect(),
            rows: Vec::new(),
            shown: true,
            published: true,
            rules: Rules::Paper,
        }
    }

    /// A table without a column for rules.
    pub(crate) fn bare(name: &str, columns: &[String]) -> Self {
        Self {
            columns: columns.to_vec(),
            ..Self::data(name, "", "")
        }
    }

    /// A table that the paper does not have, without rows yet.
    pub(crate) fn unpublished(name: &str, title: &str, columns: &str) -> Self {
        Self {
            published: false,
            ..Self::new(name, title, columns)
        }
    }

    /// Data for a plot, without rows yet.
    pub(crate) fn data(name: &str, title: &str, columns: &str) -> Self {
        let mut data = Self::unpublished(name, title, columns);
        data.columns.pop();
        data.shown = false;
        data
    }

    /// The table, whose rows follow these rules unless they say otherwise.
    pub(crate) const fn by(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl Into<Vec<Cell>>) {
        self.push_by(self.rules, row);
    }

    /// Adds a row that follows these rules.
    pub(crate) fn push_by(&mut self, rules: Rules, row: impl Into<Vec<Cell>>) {
        let mut row = row.into();
        if self.shown {
            row.push(rules.name().into());
        }
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.name);
        self.rows.push(row);
    }

    /// The cell in this row, and in the column of this name; empty if there is none.
    pub(crate) fn at(&self, row: usize, column: &str) -> Cell {
        let column = self.columns.iter().position(|name| name == column);
        debug_assert!(column.is_some(), "{} has no such column", self.name);
        let cell = column.and_then(|column| self.rows.get(row)?.get(column));
        cell.cloned().unwrap_or(Cell::Empty)
    }

    /// A cell divided by another one of the same column.
    pub(crate) fn ratio(&self, row: usize, other: usize, column: &str) -> Cell {
        let [one, other] = [row, other].map(|row| self.at(row, column).number());
        match (one, other) {
            (Some(one), Some(other)) if other != 0.0 => Cell::exact(one / other, 2),
            _ => Cell::Empty,
        }
    }

    /// A cell less another one of the same column.
    pub(crate) fn difference(&self, row: usize, other: usize, column: &str) -> Cell {
        let [one, other] = [row, other].map(|row| self.at(row, column).number());
        match (one, other) {
            (Some(one), Some(other)) => Cell::exact(one - other, 1),
            _ => Cell::Empty,
        }
    }

    /// The table as JSON: an object per row if it is printed, else a list per row.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let values = row.iter().map(Cell::json);
                if self.shown {
                    let fields = self.columns.iter().cloned().zip(values);
                    Value::Object(fields.collect::<Map<_, _>>())
                } else {
                    Value::Array(values.collect())
                }
            })
            .collect();
        json!({ "name": self.name, "title": self.title, "columns": self.columns, "rows": rows })
    }

    /// Writes the table as CSV. A column with confidence intervals gets a second column for them.
    pub(crate) fn write_csv(&self, to: impl Write) -> io::Result<()> {
        let uncertain = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .into_iter()
                .any(|cell| matches!(cell, Cell::Number(estimate, _) if estimate.ci95 > 0.0))
        };
        let uncertain: Vec<bool> = (0..self.columns.len()).map(uncertain).collect();
        let mut csv = csv::Writer::from_writer(to);
        for (column, uncertain) in self.columns.iter().zip(&uncertain) {
            csv.write_field(column)?;
            if *uncertain {
                csv.write_field(format!("{column} ci95"))?;
            }
        }
        csv.write_record(None::<&[u8]>)?;
        for row in &self.rows {
            for (cell, uncertain) in row.iter().zip(&uncertain) {
                let (value, interval) = match cell {
                    Cell::Empty => (String::new(), String::new()),
                    Cell::Text(text) => (text.clone(), String::new()),
                    Cell::Number(Estimate { mean, ci95 }, _) => {
                        (mean.to_string(), ci95.to_string())
                    }
                };
                csv.write_field(value)?;
                if *uncertain {
                    csv.write_field(interval)?;
                }
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_an_interval_have_a_column_for_it() {
        let mut table = Table::new("t", "a table", "name | published | measured");
        let measured = Cell::mean(1, [1.0, 3.0].into_iter());
        table.push(["a".into(), Cell::exact(1.5, 1), measured]);
        table.push(["b, c".into(), Cell::Empty, Cell::exact(4.0, 0)]);
        let mut csv = Vec::new();
        table.write_csv(&mut csv).unwrap();
        let text = String::from_utf8(csv).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "name,published,measured,measured ci95,rules");
        assert!(lines[1].starts_with("a,1.5,2,12.7"), "{text}");
        assert_eq!(lines[2], "\"b, c\",,4,0,paper");
        assert_eq!(table.json()["rows"][0]["published"], 1.5);
        assert_eq!(table.json()["rows"][0]["measured"]["mean"], 2.0);
        assert_eq!(table.json()["rows"][1]["published"], Value::Null);
    }
}

//! What a part of a reproduction has to show.

use std::fmt;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::results::Estimate;

/// What a part came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Tables for people and data for plots; each becomes a file.
    pub tables: Vec<Table>,
    /// What a reader must know: deviations, choices, caveats.
    pub notes: Vec<String>,
}

impl Report {
    /// Tables, and what a reader must know of them: a caveat last, if there is one.
    pub fn new(tables: impl Into<Vec<Table>>, notes: &[&str], caveat: Option<&str>) -> Self {
        let notes = notes.iter().copied().chain(caveat);
        Self {
            tables: tables.into(),
            notes: notes.map(str::to_owned).collect(),
        }
    }
}

/// Rows of cells under columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// What its file is called, without an ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows, with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Whether people are shown it; data for plots is only in files.
    pub shown: bool,
}

/// One value in a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// None: it was not published, or cannot be.
    Empty,
    /// A word.
    Text(String),
    /// A number, with so many digits behind the point where people read it.
    Number(Estimate, usize),
}

impl Cell {
    /// A number that is known for certain.
    pub fn exact(number: f64, digits: usize) -> Self {
        let estimate = Estimate {
            mean: number,
            ci95: 0.0,
        };
        Self::Number(estimate, digits)
    }

    /// The mean of some numbers, if there are any.
    pub fn mean(digits: usize, numbers: impl Iterator<Item = f64>) -> Self {
        let numbers: Vec<f64> = numbers.collect();
        match numbers.as_slice() {
            [] => Self::Empty,
            numbers => Self::Number(Estimate::of(numbers), digits),
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
    /// A table for people, without rows yet; ` | ` stands between the names of its columns.
    pub fn new(name: &str, title: &str, columns: &str) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            columns: columns.split(" | ").map(str::to_owned).collect(),
            rows: Vec::new(),
            shown: true,
        }
    }

    /// Data for a plot, without rows yet.
    pub fn data(name: &str, title: &str, columns: &str) -> Self {
        Self {
            shown: false,
            ..Self::new(name, title, columns)
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl Into<Vec<Cell>>) {
        let row = row.into();
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.name);
        self.rows.push(row);
    }

    /// It as JSON: an object per row of tables for people, a list per row of data.
    pub fn json(&self) -> Value {
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

    /// Writes it as comma-separated values; a number that has a confidence interval has another column for that.
    pub fn write_csv(&self, to: impl Write) -> io::Result<()> {
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
        assert_eq!(lines[0], "name,published,measured,measured ci95");
        assert!(lines[1].starts_with("a,1.5,2,12.7"), "{text}");
        assert_eq!(lines[2], "\"b, c\",,4,0");
        assert_eq!(table.json()["rows"][0]["published"], 1.5);
        assert_eq!(table.json()["rows"][0]["measured"]["mean"], 2.0);
        assert_eq!(table.json()["rows"][1]["published"], Value::Null);
    }
}

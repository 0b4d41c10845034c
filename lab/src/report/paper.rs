//! The tables and figures of a paper, for charts.

use serde::Serialize;
use serde_json::{Value, json};

use super::rounded;
use crate::reproduce::{Cell, Report, Table};
use crate::results::Estimate;

/// The results for a paper.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Paper {
    /// Its short name.
    pub key: String,
    /// Its title.
    pub title: String,
    /// The seeds of all runs.
    pub seeds: Vec<u64>,
    /// Its parts.
    pub parts: Vec<Part>,
    /// All runs: name, scheduler, seed, digest.
    pub runs: Vec<Value>,
}

/// A table or figure of a paper.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Part {
    /// Its short name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its tables; `shown` marks those that are printed as text.
    pub tables: Vec<Value>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The most rows of a table that is only drawn. Of a longer table, only every second row is kept, or fewer.
const MOST_ROWS: usize = 3000;

impl Part {
    /// The part with this report.
    pub(crate) fn of(name: &str, title: &str, report: &Report) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            tables: report.tables.iter().map(table).collect(),
            notes: report.notes.clone(),
        }
    }
}

fn table(table: &Table) -> Value {
    let every = if table.shown {
        1
    } else {
        table.rows.len().div_ceil(MOST_ROWS).max(1)
    };
    let rows: Vec<Vec<Value>> = table
        .rows
        .iter()
        .step_by(every)
        .map(|row| row.iter().map(cell).collect())
        .collect();
    json!({
        "name": table.name,
        "title": table.title,
        "columns": table.columns,
        "rows": rows,
        "every": every,
        "shown": table.shown,
    })
}

/// Null, a text, or a list: the mean, half of the confidence interval, and the number of digits to print.
fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Number(Estimate { mean, ci95 }, digits) => {
            json!([rounded(*mean, 6), rounded(*ci95, 6), digits])
        }
    }
}

//! A run over time, in as many points as a chart can show.

use gridweave_core::time::Span;
use serde::Serialize;

use super::rounded;
use crate::results::Row;
use gridweave_sim::engine::{KindTraffic, Traffic};

/// The most points of a line.
const MOST_POINTS: usize = 1500;

/// The most points of a line, where there is one line per kind of message.
const MOST_POINTS_OF_KINDS: usize = 400;

/// Columns of `series.csv`, as lines of a chart.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct OverTime {
    /// The time between points, in seconds.
    pub window: f64,
    /// Work submitted, as a part of what the grid can do.
    pub requested: Vec<f64>,
    /// Work done, as a part of what the grid can do.
    pub effective: Vec<f64>,
    /// How many jobs wait at the end of each window.
    pub queue: Vec<u64>,
    /// How many nodes are idle at the end of each window.
    pub idle: Vec<u64>,
}

impl OverTime {
    /// The points for these rows. If there are too many rows, several become one: the mean of utilisations, the last of
    /// queue and idle nodes.
    pub(crate) fn of(rows: &[Row], window: Span) -> Self {
        let together = rows.len().div_ceil(MOST_POINTS).max(1);
        let width = match rows {
            [first, second, ..] => second.time - first.time,
            _ => window.as_micros() as f64 / 1e6,
        };
        let mut columns = Self {
            window: width * together as f64,
            ..Self::default()
        };
        for rows in rows.chunks(together) {
            let mean = |column: fn(&Row) -> f64| {
                rounded(rows.iter().map(column).sum::<f64>() / rows.len() as f64, 4)
            };
            columns
                .requested
                .push(mean(|row| row.requested_utilization));
            columns
                .effective
                .push(mean(|row| row.effective_utilization));
            let last = rows.last();
            columns.queue.push(last.map_or(0, |row| row.queue_length));
            columns.idle.push(last.map_or(0, |row| row.idle_nodes));
        }
        columns
    }
}

/// Messages over time, by kind.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Sent {
    /// The time between points, in seconds.
    pub window: f64,
    /// The kinds of which at least one message was sent.
    pub kinds: Vec<String>,
    /// The number of messages, by kind and window.
    pub messages: Vec<Vec<u64>>,
    /// The number of bytes, by kind and window.
    pub bytes: Vec<Vec<u64>>,
}

impl Sent {
    /// The points for this traffic.
    pub(crate) fn of(traffic: &Traffic) -> Self {
        let windows: Vec<&[KindTraffic]> = traffic.kinds_per_window().collect();
        let together = windows.len().div_ceil(MOST_POINTS_OF_KINDS).max(1);
        let width = traffic.window_of_kinds().unwrap_or(Span::ZERO);
        let mut sent = Self {
            window: width.as_micros() as f64 / 1e6 * together as f64,
            ..Self::default()
        };
        for (kind, (name, total)) in traffic.kinds().iter().enumerate() {
            if total.messages == 0 {
                continue;
            }
            let sums = |of: fn(&KindTraffic) -> u64| {
                let chunks = windows.chunks(together);
                let sum = |chunk: &[&[KindTraffic]]| {
                    let own = chunk.iter().filter_map(|window| window.get(kind));
                    own.map(of).sum()
                };
                chunks.map(sum).collect()
            };
            sent.kinds.push(name.clone());
            sent.messages.push(sums(|traffic| traffic.messages));
            sent.bytes.push(sums(|traffic| traffic.bytes));
        }
        sent
    }
}

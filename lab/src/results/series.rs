//! A run over time: one row per window.

use gridweave_core::time::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Facts;
use crate::outcome::Outcome;
use crate::run::{Placement, Run};

/// One window of a run: a row of `series.csv`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// When the window begins, in seconds.
    pub time: f64,
    /// Work submitted in the window, as a part of what all nodes can do in it: P1's RU.
    pub requested_utilization: f64,
    /// Work done in the window, as a part of what all nodes can do in it: P1's EU.
    pub effective_utilization: f64,
    /// How many jobs wait at the end of the window.
    pub queue_length: u64,
    /// How many nodes are idle at the end of the window.
    pub idle_nodes: u64,
    /// How many messages were sent in the window.
    pub messages: u64,
}

/// Amounts of work, spread over windows.
struct Spread {
    window: u64,
    /// Work that fills a window only in part, in work units times microseconds.
    partly: Vec<u128>,
    /// Changes of the level of work that fills windows completely, by window.
    throughout: Vec<i128>,
}

impl Spread {
    fn new(window: u64, windows: usize) -> Self {
        Self {
            window,
            partly: vec![0; windows],
            throughout: vec![0; windows + 1],
        }
    }

    fn index(&self, at: u64) -> usize {
        ((at / self.window) as usize).min(self.partly.len() - 1)
    }

    /// Adds `amount` units of work throughout `[start, end)`.
    fn add(&mut self, start: u64, end: u64, amount: u64) {
        if end <= start {
            return;
        }
        let amount = u128::from(amount);
        let (first, last) = (self.index(start), self.index(end - 1));
        if first == last {
            self.partly[first] += amount * u128::from(end - start);
            return;
        }
        let second = (first as u64 + 1) * self.window;
        self.partly[first] += amount * u128::from(second - start);
        self.partly[last] += amount * u128::from(end - last as u64 * self.window);
        self.throughout[first + 1] += amount as i128;
        self.throughout[last] -= amount as i128;
    }

    /// The work in each window.
    fn finish(self) -> Vec<u128> {
        let mut level = 0_i128;
        let partly = self.partly.into_iter().zip(self.throughout);
        partly
            .map(|(partly, change)| {
                level += change;
                partly + u128::try_from(level).unwrap_or(0) * u128::from(self.window)
            })
            .collect()
    }
}

/// The most rows. Longer runs get wider windows.
pub const MOST_ROWS: u64 = 1 << 20;

/// The windows of a run, from the origin to the end of its last job, or to the time at which it was stopped.
///
/// The width of windows is doubled until there are at most [`MOST_ROWS`].
pub fn series(facts: &Facts<'_>, run: &Run, window: Span) -> Vec<Row> {
    let jobs = &facts.workload.jobs;
    if jobs.is_empty() {
        return Vec::new();
    }
    let until = run.over_at(facts.workload);
    let counted = run.traffic.window().unwrap_or(Span::ZERO);
    let mut micros = window.max(counted).as_micros().max(1);
    while until.as_micros() / micros >= MOST_ROWS {
        micros *= 2;
    }
    let windows = (until.as_micros() / micros + 1) as usize;
    let mut requested = vec![0_u128; windows];
    let mut effective = Spread::new(micros, windows);
    let mut waiting = vec![0_i64; windows];
    let at = |time: Time| ((time.as_micros() / micros) as usize).min(windows - 1);
    for (index, (job, outcome)) in jobs.iter().zip(&run.outcomes).enumerate() {
        if *outcome == Outcome::NotSubmitted {
            continue;
        }
        let weight = u64::from(facts.weight(index));
        requested[at(job.at)] += u128::from(weight) * u128::from(facts.run_time(index).as_micros());
        let started = match *outcome {
            Outcome::Ran { start, end, .. } => {
                effective.add(start.as_micros(), end.as_micros(), weight);
                Some(start)
            }
            Outcome::Unfinished { start } => {
                if let Some(start) = start {
                    effective.add(start.as_micros(), until.as_micros(), weight);
                }
                start
            }
            Outcome::Rejected(_)
            | Outcome::Failed(_)
            | Outcome::Lost
            | Outcome::Orphaned
            | Outcome::NotSubmitted => Some(job.at),
        };
        waiting[at(job.at)] += 1;
        if let Some(start) = started {
            waiting[at(start)] -= 1;
        }
    }
    let busy = busy_nodes(facts, run, windows, micros);
    let capacity = facts.capacity() as f64 * micros as f64;
    let messages = messages(run, micros);
    let mut queue = 0_i64;
    let columns = requested.into_iter().zip(effective.finish());
    columns
        .enumerate()
        .map(|(index, (requested, effective))| {
            queue += waiting[index];
            Row {
                time: (index as u64 * micros) as f64 / 1e6,
                requested_utilization: requested as f64 / capacity,
                effective_utilization: effective as f64 / capacity,
                queue_length: u64::try_from(queue).unwrap_or(0),
                idle_nodes: facts.nodes().saturating_sub(busy[index]),
                messages: messages.get(index).copied().unwrap_or(0),
            }
        })
        .collect()
}

/// How many messages were sent in each window. A window is one, two, four or more times as wide as those in which
/// messages were counted.
fn messages(run: &Run, micros: u64) -> Vec<u64> {
    let counted = run.traffic.window().map_or(micros, Span::as_micros);
    let together = (micros / counted.max(1)).max(1) as usize;
    let windows = run.traffic.per_window().chunks(together);
    windows.map(|windows| windows.iter().sum()).collect()
}

/// How many nodes are busy at the end of each window.
fn busy_nodes(facts: &Facts<'_>, run: &Run, windows: usize, micros: u64) -> Vec<u64> {
    // Starts and ends in the order of time; ends come first. An end at the very end of a window counts in it.
    let mut changes: Vec<(Time, bool, usize)> = Vec::new();
    for (job, outcome) in run.outcomes.iter().enumerate() {
        match *outcome {
            Outcome::Ran { start, end, .. } => {
                changes.extend([(start, true, job), (end, false, job)]);
            }
            Outcome::Unfinished { start: Some(start) } => changes.push((start, true, job)),
            _ => {}
        }
    }
    changes.sort_unstable();
    // If nodes are only counted, there may be more than fit into memory.
    let mut jobs_on = match run.placement {
        Placement::Interchangeable => Vec::new(),
        Placement::Assigned(_) => vec![0_u32; facts.nodes() as usize],
    };
    let mut busy = 0_u64;
    let mut column = Vec::with_capacity(windows);
    let mut changes = changes.into_iter().peekable();
    for window in 0..windows as u64 {
        let end = Time::from_micros((window + 1).saturating_mul(micros));
        while let Some((_, starts, job)) =
            changes.next_if(|(at, starts, _)| *at < end || (*at == end && !starts))
        {
            match &run.placement {
                Placement::Interchangeable => {
                    let count = u64::from(facts.workload.jobs[job].processors);
                    busy = if starts {
                        busy + count
                    } else {
                        busy.saturating_sub(count)
                    };
                }
                Placement::Assigned(nodes) => {
                    for &node in &nodes[job] {
                        let Some(count) = jobs_on.get_mut(node as usize) else {
                            continue;
                        };
                        if starts {
                            busy += u64::from(*count == 0);
                            *count += 1;
                        } else {
                            *count = count.saturating_sub(1);
                            busy = busy.saturating_sub(u64::from(*count == 0));
                        }
                    }
                }
            }
        }
        column.push(busy);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_spread_over_the_windows_that_they_cross() {
        let mut spread = Spread::new(10, 4);
        spread.add(5, 8, 2);
        spread.add(5, 25, 1);
        spread.add(10, 40, 3);
        spread.add(7, 7, 9);
        // What is beyond the last window counts in the last.
        spread.add(45, 50, 1);
        assert_eq!(spread.finish(), [6 + 5, 10 + 30, 5 + 30, 30 + 5]);
    }
}

//! One run as it is drawn, and runs that are drawn together.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Jobs, OverTime, Places, Sent, Waits, Zones};
use crate::experiment::{Prepared, Results};

/// One run, as it is drawn.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Track {
    /// Its name: the scheduler, or the seed.
    pub name: String,
    /// The path of its own report, relative to this one, if it has its own.
    pub report: Option<String>,
    /// Its `summary.json`, or the joined summary of several seeds.
    pub summary: Value,
    /// Utilisation, queue and idle nodes over time.
    pub over_time: OverTime,
    /// Messages over time.
    pub sent: Sent,
    /// Waiting times and slowdowns.
    pub waits: Waits,
    /// The nodes and times of jobs; `None` if they would make the page too large.
    pub places: Option<Places>,
    /// The zones of nodes, if they were recorded.
    pub zones: Option<Zones>,
    /// How many nodes have so many links that lead to them, at the end; empty if nodes keep no links.
    pub in_degrees: BTreeMap<u32, u32>,
}

impl Track {
    /// The drawing of a run, under the name of its scheduler.
    pub(crate) fn of(prepared: &Prepared, results: &Results) -> Self {
        let facts = prepared.facts();
        let report = &prepared.config.report;
        let run = &results.run;
        let mut in_degrees = BTreeMap::new();
        for degree in &run.in_degrees {
            *in_degrees.entry(*degree).or_insert(0) += 1;
        }
        Self {
            name: prepared.config.scheduler.to_string(),
            report: None,
            summary: serde_json::to_value(&results.summary).unwrap_or(Value::Null),
            over_time: OverTime::of(&results.series, report.window),
            sent: Sent::of(&run.traffic),
            waits: Waits::of(&facts, run, report.slowdown_threshold),
            places: Some(Places::of(&facts, run)),
            zones: Zones::of(&run.pictures, &prepared.grid),
            in_degrees,
        }
    }
}

/// Runs of the same jobs, to be drawn on the same axes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Contest {
    /// A word that names it on its page.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The jobs.
    pub jobs: Jobs,
    /// The runs.
    pub tracks: Vec<Track>,
}

impl Contest {
    /// A contest of one run.
    pub(crate) fn of(prepared: &Prepared, track: Track) -> Self {
        let mut contest = Self::among("run", prepared);
        contest.tracks.push(track);
        contest
    }

    /// A contest about these jobs, without runs yet.
    pub(crate) fn among(name: &str, prepared: &Prepared) -> Self {
        Self {
            name: name.into(),
            title: format!(
                "{}: {} jobs on {} nodes",
                prepared.workload.name,
                prepared.workload.jobs.len(),
                prepared.grid.len()
            ),
            jobs: Jobs::of(&prepared.facts()),
            tracks: Vec::new(),
        }
    }

    /// Removes the places of each run that does not fit into the rest of so many bytes. If no run keeps its places,
    /// removes the columns of jobs, too. Returns how many bytes are left.
    pub(crate) fn fit_into(&mut self, mut bytes: usize) -> usize {
        let all = bytes;
        bytes = bytes.saturating_sub(self.jobs.size());
        for track in &mut self.tracks {
            let size = track.places.as_ref().map_or(0, Places::size);
            match bytes.checked_sub(size) {
                Some(rest) => bytes = rest,
                None => track.places = None,
            }
        }
        if self.tracks.iter().all(|track| track.places.is_none()) {
            self.jobs.forget_each();
            return all;
        }
        bytes
    }
}

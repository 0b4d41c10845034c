//! A run in a few numbers.

use std::collections::BTreeMap;

use gridweave_core::time::{Span, Time};
use serde::Serialize;

use super::Facts;
use super::series::Row;
use super::statistics::Distribution;
use crate::outcome::{Ending, Outcome};
use crate::run::{Faults, Run};

/// What `summary.json` holds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Who scheduled.
    pub scheduler: String,
    /// The seed of the run.
    pub seed: u64,
    /// What was replayed.
    pub workload: String,
    /// How many nodes there were.
    pub nodes: u64,
    /// Whether the run was stopped before its end.
    pub partial: bool,
    /// What became of the jobs.
    pub jobs: Jobs,
    /// How long jobs that ran waited, in seconds; nothing if none did.
    pub wait: Option<Distribution>,
    /// How long they took from submission to end, in seconds.
    pub turnaround: Option<Distribution>,
    /// Turnaround over run time, with short run times counted as the threshold; at least 1.
    pub bounded_slowdown: Option<Distribution>,
    /// How much of the grid was asked for and used.
    pub utilization: Utilization,
    /// From the first submission to the last end, or to when the run was stopped, in seconds.
    pub makespan: f64,
    /// What was sent.
    pub messages: Messages,
    /// How deadlines were kept, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlines: Option<Deadlines>,
    /// What went wrong on purpose.
    pub faults: Faults,
    /// How many invariants were found broken.
    pub violations: u64,
    /// How many events there were.
    pub events: u64,
    /// The digest of the history.
    pub digest: String,
}

/// What became of the jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Jobs {
    /// How many were submitted.
    pub submitted: u64,
    /// Ran to their own end.
    pub completed: u64,
    /// Were ended because their time was up.
    pub killed: u64,
    /// Were lost, with word to their submitter.
    pub failed: u64,
    /// Were never taken.
    pub rejected: u64,
    /// Were taken and never heard of again.
    pub lost: u64,
    /// Were submitted to a node that went down for ever, and have no last word.
    pub orphaned: u64,
    /// Had no outcome when the run was stopped.
    pub unfinished: u64,
    /// Would have been submitted after the run was stopped.
    pub not_submitted: u64,
    /// Were left out of the workload when it was read.
    pub skipped: u64,
}

/// How much of the grid was asked for and used.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Utilization {
    /// Work submitted, over what the grid can do while jobs are submitted. Both are at baseline speed: where nodes are faster, the real
    /// load is lower.
    pub requested: f64,
    /// Work done, over what the grid can do from the first submission to the last end, or to when the run was stopped.
    pub effective: f64,
    /// The effective utilisation of the best window, or that of the whole run if it is shorter than one.
    pub peak: f64,
}

/// What was sent.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Messages {
    /// How many messages.
    pub total: u64,
    /// Their encoded length.
    pub bytes: u64,
    /// Messages per submitted job.
    pub per_job: f64,
    /// Messages per node and second, from the origin to the end of the run, which may be long after that of the last job.
    pub per_node_per_s: f64,
    /// Each kind.
    pub by_kind: BTreeMap<String, Kind>,
}

/// What was sent of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Kind {
    /// How many messages.
    pub total: u64,
    /// Their encoded length.
    pub bytes: u64,
}

/// How deadlines were kept.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Deadlines {
    /// How many jobs with a deadline ended late or not at all; those left out that still had time when the run was stopped.
    pub missed: u64,
    /// The mean of (end - deadline) over jobs that ran, in seconds; below zero if they were early.
    pub lateness: f64,
    /// The mean of (end - deadline) over those that were late, in seconds.
    pub missed_time: f64,
}

fn seconds(span: Span) -> f64 {
    span.as_micros() as f64 / 1e6
}

impl Summary {
    /// The summary of a run.
    pub fn new(facts: &Facts<'_>, run: &Run, series: &[Row], threshold: Span) -> Self {
        let submissions = &facts.workload.jobs;
        let mut jobs = Jobs {
            skipped: facts.skipped,
            ..Jobs::default()
        };
        let (mut waits, mut turnarounds, mut slowdowns) = (Vec::new(), Vec::new(), Vec::new());
        let (mut requested, mut done) = (0_u128, 0_u128);
        let over_at = run.over_at(facts.workload);
        let mut last = Time::ZERO;
        for (index, (job, outcome)) in submissions.iter().zip(&run.outcomes).enumerate() {
            if *outcome == Outcome::NotSubmitted {
                jobs.not_submitted += 1;
                continue;
            }
            jobs.submitted += 1;
            last = job.at;
            let weight = u128::from(facts.weight(index));
            requested += weight * u128::from(facts.run_time(index).as_micros());
            match *outcome {
                Outcome::Ran { start, end, ending } => {
                    match ending {
                        Ending::Completed => jobs.completed += 1,
                        Ending::Killed => jobs.killed += 1,
                    }
                    let (wait, ran) = (start - job.at, end - start);
                    done += weight * u128::from(ran.as_micros());
                    waits.push(seconds(wait));
                    turnarounds.push(seconds(wait + ran));
                    slowdowns.push((seconds(wait + ran) / seconds(ran.max(threshold))).max(1.0));
                }
                Outcome::Rejected => jobs.rejected += 1,
                Outcome::Failed => jobs.failed += 1,
                Outcome::Lost => jobs.lost += 1,
                Outcome::Orphaned => jobs.orphaned += 1,
                Outcome::Unfinished { start } => {
                    jobs.unfinished += 1;
                    let ran = start.map_or(Span::ZERO, |start| over_at - start);
                    done += weight * u128::from(ran.as_micros());
                }
                Outcome::NotSubmitted => {}
            }
        }
        let first = submissions.first().map_or(Time::ZERO, |job| job.at);
        let over = |work: u128, span: Span| {
            let room = facts.capacity() as f64 * span.as_micros() as f64;
            if room > 0.0 { work as f64 / room } else { 0.0 }
        };
        let makespan = over_at - first;
        let effective = over(done, makespan);
        let total = run.traffic.total();
        let per = |count: f64, of: f64| if of > 0.0 { count / of } else { 0.0 };
        let node_seconds = facts.nodes() as f64 * seconds(run.ended.max(over_at) - Time::ZERO);
        Self {
            scheduler: facts.scheduler.into(),
            seed: facts.seed,
            workload: facts.workload.name.clone(),
            nodes: facts.nodes(),
            partial: run.is_partial(),
            jobs,
            wait: Distribution::of(waits),
            turnaround: Distribution::of(turnarounds),
            bounded_slowdown: Distribution::of(slowdowns),
            utilization: Utilization {
                requested: over(requested, last - first),
                effective,
                peak: series
                    .iter()
                    .map(|row| row.effective_utilization)
                    .fold(effective, f64::max),
            },
            makespan: seconds(makespan),
            messages: Messages {
                total: total.messages,
                bytes: total.bytes,
                per_job: per(total.messages as f64, jobs.submitted as f64),
                per_node_per_s: per(total.messages as f64, node_seconds),
                by_kind: run
                    .traffic
                    .kinds()
                    .iter()
                    .map(|(name, kind)| {
                        let kind = Kind {
                            total: kind.messages,
                            bytes: kind.bytes,
                        };
                        (name.clone(), kind)
                    })
                    .collect(),
            },
            deadlines: deadlines(facts, run),
            faults: run.faults,
            violations: run.violations,
            events: run.events,
            digest: run.digest.clone(),
        }
    }
}

fn deadlines(facts: &Facts<'_>, run: &Run) -> Option<Deadlines> {
    if facts.workload.deadlines.is_empty() {
        return None;
    }
    let (mut missed, mut ran, mut late) = (0, 0_u64, 0_u64);
    let (mut lateness, mut missed_time) = (0.0, 0.0);
    let over_at = run.over_at(facts.workload);
    for (deadline, outcome) in facts.workload.deadlines.iter().zip(&run.outcomes) {
        match outcome {
            Outcome::Ran { end, .. } => {
                ran += 1;
                let over = seconds(*end - *deadline);
                lateness += over - seconds(*deadline - *end);
                if end > deadline {
                    missed += 1;
                    late += 1;
                    missed_time += over;
                }
            }
            Outcome::NotSubmitted => {}
            Outcome::Unfinished { .. } if *deadline >= over_at => {}
            _ => missed += 1,
        }
    }
    let mean = |sum: f64, count: u64| if count == 0 { 0.0 } else { sum / count as f64 };
    Some(Deadlines {
        missed,
        lateness: mean(lateness, ran),
        missed_time: mean(missed_time, late),
    })
}

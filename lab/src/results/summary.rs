//! Summary statistics of a run.

use std::collections::BTreeMap;
use std::fmt::Debug;

use gridweave_core::time::{Span, Time};
use serde::Serialize;

use super::Facts;
use super::organisations::Organisation;
use super::series::Row;
use super::statistics::Distribution;
use crate::outcome::{Ending, Outcome};
use crate::run::{Faults, Run};

/// The content of `summary.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// The name of the scheduler.
    pub scheduler: String,
    /// The seed of the run.
    pub seed: u64,
    /// The name of the workload.
    pub workload: String,
    /// How many nodes there were, later joiners included.
    pub nodes: u64,
    /// Whether the run was stopped before its end.
    pub partial: bool,
    /// The outcomes of jobs.
    pub jobs: Jobs,
    /// Why jobs were refused or failed, and how many: the names in `job::Refusal` and `job::Failure`.
    pub reasons: BTreeMap<String, u64>,
    /// How long jobs that ran had waited, in seconds; `None` if none ran.
    pub wait: Option<Distribution>,
    /// The same by size: under a power of two are the jobs of up to so many nodes or cores, and more than half of that.
    pub wait_by_size: BTreeMap<u64, SizeClass>,
    /// The jobs of each organisation, by its number, if the configuration has kinds of nodes or organisations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub organisations: BTreeMap<u32, Organisation>,
    /// By how many seconds jobs started earlier or later than the first start that their submitters were told.
    pub promise_error: Option<Distribution>,
    /// How long jobs that ran took from submission to end, in seconds.
    pub turnaround: Option<Distribution>,
    /// Turnaround divided by run time; shorter run times count as the threshold. At least 1.
    pub bounded_slowdown: Option<Distribution>,
    /// How much of the grid was requested and used.
    pub utilization: Utilization,
    /// From the first submission to the last end, or to the time at which the run was stopped, in seconds.
    pub makespan: f64,
    /// The messages that were sent.
    pub messages: Messages,
    /// How many deadlines were missed, and by how much, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlines: Option<Deadlines>,
    /// What planned faults did.
    pub faults: Faults,
    /// What nodes counted, by name, if they count anything: sums over the nodes that are up at the end, or the highest of
    /// any node if the name begins with `most`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// How many violations of invariants were found.
    pub violations: u64,
    /// How many events there were.
    pub events: u64,
    /// The digest of the run's history.
    pub digest: String,
}

/// Counts a reason by the name of its variant.
fn count(reasons: &mut BTreeMap<String, u64>, why: &dyn Debug) {
    let name = format!("{why:?}");
    let name = name.split('(').next().unwrap_or_default();
    *reasons.entry(name.into()).or_default() += 1;
}

/// The outcomes of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Jobs {
    /// How many were submitted.
    pub submitted: u64,
    /// How many ran to their end.
    pub completed: u64,
    /// How many were killed because their requested time was over.
    pub killed: u64,
    /// How many failed, and their submitter was told.
    pub failed: u64,
    /// How many were refused.
    pub rejected: u64,
    /// How many were accepted and got no outcome.
    pub lost: u64,
    /// How many have no outcome because their submitter went down for ever.
    pub orphaned: u64,
    /// How many had no outcome when the run was stopped.
    pub unfinished: u64,
    /// How many would have been submitted after the run was stopped.
    pub not_submitted: u64,
    /// How many were left out when the workload was read.
    pub skipped: u64,
}

/// The waits of jobs of one size.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SizeClass {
    /// How many jobs ran.
    pub jobs: u64,
    /// How long they had waited, in seconds.
    pub wait: Distribution,
}

impl SizeClass {
    /// The classes of these jobs, each with its size and its wait.
    fn of(waits: &[(u32, f64)]) -> BTreeMap<u64, Self> {
        let mut classes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (size, wait) in waits {
            let class = u64::from(*size).next_power_of_two();
            classes.entry(class).or_default().push(*wait);
        }
        let class = |(size, waits): (u64, Vec<f64>)| {
            let jobs = waits.len() as u64;
            let wait = Distribution::of(waits)?;
            Some((size, Self { jobs, wait }))
        };
        classes.into_iter().filter_map(class).collect()
    }
}

/// How much of the grid was requested and used.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Utilization {
    /// Work submitted, as a part of what the grid can do while jobs are submitted. Both count at baseline speed: if
    /// nodes are faster, the real load is lower.
    pub requested: f64,
    /// Work done, as a part of what the grid can do from the first submission to the last end, or to a stop.
    pub effective: f64,
    /// The effective utilisation of the best window, or that of the whole run if it is higher.
    pub peak: f64,
}

/// The messages that were sent.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Messages {
    /// The number of messages.
    pub total: u64,
    /// Their encoded length, in bytes.
    pub bytes: u64,
    /// Messages per submitted job.
    pub per_job: f64,
    /// Messages per node and second, from the origin to the end of the simulation, long after the last job or not.
    pub per_node_per_s: f64,
    /// The messages of each kind.
    pub by_kind: BTreeMap<String, Kind>,
}

/// The messages of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Kind {
    /// The number of messages.
    pub total: u64,
    /// Their encoded length, in bytes.
    pub bytes: u64,
}

/// How deadlines were met.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Deadlines {
    /// How many jobs ended late or never. Jobs that still had time when the run was stopped do not count.
    pub missed: u64,
    /// The mean of (end - deadline) over jobs that ran, in seconds; negative if they were early.
    pub lateness: f64,
    /// The mean of (end - deadline) over late jobs, in seconds.
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
        let mut reasons = BTreeMap::new();
        let (mut waits, mut turnarounds, mut slowdowns) = (Vec::new(), Vec::new(), Vec::new());
        let (mut sizes, mut errors) = (Vec::new(), Vec::new());
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
                    sizes.push((facts.weight(index), seconds(wait)));
                    if let Some(Some(told)) = run.promised.get(index) {
                        errors.push(seconds(start.max(*told) - start.min(*told)));
                    }
                    turnarounds.push(seconds(wait + ran));
                    slowdowns.push((seconds(wait + ran) / seconds(ran.max(threshold))).max(1.0));
                }
                Outcome::Rejected(why) => {
                    jobs.rejected += 1;
                    count(&mut reasons, &why);
                }
                Outcome::Failed(why) => {
                    jobs.failed += 1;
                    if let Some(why) = why {
                        count(&mut reasons, &why);
                    }
                }
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
            reasons,
            wait: Distribution::of(waits),
            wait_by_size: SizeClass::of(&sizes),
            organisations: BTreeMap::new(),
            promise_error: Distribution::of(errors),
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
            counts: run.counts.clone(),
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

//! Statistics of a workload.

use core::fmt;

use gridweave_core::time::Span;
use serde::Serialize;

use super::{Format, Oddities, Skipped, Trace, Workload};
use crate::outcome::Estimates;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Statistics of a workload or a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// The format of the trace, if it was read from one.
    pub format: Option<Format>,
    /// How many jobs can be replayed.
    pub jobs: u64,
    /// How many of them repeat the number of an earlier job.
    pub repeated_numbers: u64,
    /// Days from the first submission to the last.
    pub days: f64,
    /// Processors per job.
    pub processors: Summary,
    /// Run times in seconds.
    pub run_time: Summary,
    /// Requested times in seconds, over the jobs that have one.
    pub requested_time: Option<Summary>,
    /// How many different users there are; all unknown users count as one.
    pub users: u64,
    /// At how many different sites jobs were submitted.
    pub sites: u64,
    /// The load on a given number of nodes.
    pub load: Option<LoadInfo>,
    /// The names to acknowledge.
    pub acknowledge: Vec<String>,
    /// The records that were left out.
    pub skipped: Skipped,
    /// The records that were taken although they are unusual.
    pub oddities: Oddities,
}

/// The mean and the maximum of a distribution.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// The arithmetic mean.
    pub mean: f64,
    /// The maximum.
    pub max: f64,
}

/// The load on so many nodes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LoadInfo {
    /// The number of nodes.
    pub nodes: u32,
    /// By run times; 1 is the full capacity. `None` if all jobs were submitted at once.
    pub by_run_time: Option<f64>,
    /// By requested times, or by run times if these are longer.
    pub by_requested_time: Option<f64>,
}

impl Info {
    /// The statistics of a trace, with the load on `nodes`.
    pub fn of(trace: &Trace, nodes: Option<u32>) -> Self {
        Self {
            format: Some(trace.format),
            acknowledge: trace.header.acknowledge().map(str::to_owned).collect(),
            skipped: trace.skipped.clone(),
            oddities: trace.oddities,
            ..Self::of_workload(&trace.workload, nodes)
        }
    }

    /// The statistics of a workload from any source.
    pub fn of_workload(workload: &Workload, nodes: Option<u32>) -> Self {
        let jobs = &workload.jobs;
        let count = jobs.len() as u64;
        let requested = jobs.iter().filter_map(|job| job.requested_time);
        let requested: Vec<u64> = requested.map(Span::as_micros).collect();
        let numbers = distinct(jobs.iter().map(|job| job.number));
        Self {
            name: workload.name.clone(),
            format: None,
            jobs: count,
            repeated_numbers: count.saturating_sub(numbers),
            days: seconds(workload.span()) / SECONDS_PER_DAY,
            processors: Summary::of(jobs.iter().map(|job| u64::from(job.processors)), 1.0),
            run_time: Summary::of(jobs.iter().map(|job| job.run_time.as_micros()), 1e6),
            requested_time: (!requested.is_empty())
                .then(|| Summary::of(requested.into_iter(), 1e6)),
            users: distinct(jobs.iter().map(|job| u64::from(job.user))),
            sites: distinct(jobs.iter().filter_map(|job| job.site).map(u64::from)),
            load: nodes.map(|nodes| LoadInfo {
                nodes,
                by_run_time: workload.load(nodes, Estimates::Exact).ratio(),
                by_requested_time: workload.load(nodes, Estimates::Extend).ratio(),
            }),
            acknowledge: Vec::new(),
            skipped: Skipped::default(),
            oddities: Oddities::default(),
        }
    }
}

impl Summary {
    /// The summary of whole numbers, each divided by `unit`. Sums are exact, so the order does not matter.
    fn of(values: impl Iterator<Item = u64>, unit: f64) -> Self {
        let (mut count, mut sum, mut max) = (0_u64, 0_u128, 0_u64);
        for value in values {
            count += 1;
            sum = sum.saturating_add(u128::from(value));
            max = max.max(value);
        }
        Self {
            mean: sum as f64 / count.max(1) as f64 / unit,
            max: max as f64 / unit,
        }
    }
}

fn seconds(span: Span) -> f64 {
    span.as_micros() as f64 / 1e6
}

fn distinct(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            processors,
            run_time,
            ..
        } = self;
        writeln!(f, "{}", self.name)?;
        writeln!(f, "  jobs            {}", self.jobs)?;
        writeln!(f, "  skipped         {}", self.skipped)?;
        writeln!(f, "  days            {:.1}", self.days)?;
        writeln!(
            f,
            "  processors      mean {:.1}, max {}",
            processors.mean, processors.max
        )?;
        writeln!(
            f,
            "  run time        mean {:.0} s, max {:.0} s",
            run_time.mean, run_time.max
        )?;
        match self.requested_time {
            Some(time) => writeln!(
                f,
                "  requested time  mean {:.0} s, max {:.0} s",
                time.mean, time.max
            )?,
            None => writeln!(f, "  requested time  none")?,
        }
        writeln!(f, "  users           {}", self.users)?;
        writeln!(f, "  sites           {}", self.sites)?;
        if let Some(load) = self.load {
            write!(f, "  load            ")?;
            percent(f, load.by_run_time)?;
            write!(f, " of {} nodes by run time, ", load.nodes)?;
            percent(f, load.by_requested_time)?;
            writeln!(f, " by requested time")?;
        }
        for whom in &self.acknowledge {
            writeln!(f, "  acknowledge     {whom}")?;
        }
        let odd = &self.oddities;
        let notes = [
            (self.repeated_numbers, "have a number that was used before"),
            (odd.out_of_order, "were out of order"),
            (
                odd.processors_as_allocated,
                "have only allocated processors",
            ),
            (odd.without_requested_time, "have no requested time"),
            (odd.above_requested_time, "ran for longer than requested"),
            (odd.short, "lack columns at the end"),
            (
                odd.parts,
                "are parts of jobs that were stopped and continued",
            ),
        ];
        for (count, what) in notes.iter().filter(|(count, _)| *count > 0) {
            writeln!(f, "  of these        {count} {what}")?;
        }
        Ok(())
    }
}

fn percent(f: &mut fmt::Formatter<'_>, ratio: Option<f64>) -> fmt::Result {
    match ratio {
        Some(ratio) => write!(f, "{:.1} %", ratio * 100.0),
        None => f.write_str("unknown"),
    }
}

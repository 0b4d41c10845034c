//! Single days of low and of high load, for Table I (PROTOCOLS D14).

use gridweave_core::time::{Span, Time};

use super::{Planned, Setup, Trace};
use crate::config::Config;
use crate::experiment::{InputError, prepare};
use crate::reproduce::{Finished, Sample};
use crate::workload::Workload;

/// A day of a trace, with the warm-up before it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Day {
    /// The trace that it is from.
    pub trace: Trace,
    /// The index of the day in the trace as it is replayed.
    pub number: u64,
    /// The work submitted on this day, as a part of what the grid can do.
    pub load: f64,
    /// How long before the day a run begins.
    pub warm_up: Span,
    /// How long the day is.
    pub length: Span,
    /// The factor for times of submission.
    pub stretch: Option<f64>,
}

/// The loads to look for: a calm day, and a day with more work than the grid can do.
const WANTED: [(Trace, f64); 2] = [(Trace::Plain, 0.2), (Trace::Compressed, 1.1)];

/// The day of the plain trace with a load closest to 20 %, and the day of the compressed trace with a load closest to
/// 110 %; `None` if a trace is shorter than a day.
pub(super) fn choose(setup: &Setup) -> Result<Option<[Day; 2]>, InputError> {
    let mut days = Vec::new();
    for (trace, wanted) in WANTED {
        let stretch = trace.load().map(|load| setup.load / load);
        let mut config = setup.base.clone();
        config.workload.stretch = stretch;
        let workload = prepare(&config)?.workload;
        let Some(number) = closest(&workload, setup, wanted) else {
            return Ok(None);
        };
        let begin = setup.day().times(number);
        days.push(Day {
            trace,
            number,
            load: loads(&workload, setup.nodes, setup.day())[number as usize],
            warm_up: setup.warm_up().min(begin),
            length: setup.day(),
            stretch,
        });
    }
    Ok(days.try_into().ok())
}

/// The load of each whole day.
fn loads(workload: &Workload, nodes: u32, day: Span) -> Vec<f64> {
    let last = workload.jobs.last().map_or(Time::ZERO, |job| job.at);
    let whole = (last.as_micros() / day.as_micros().max(1)) as usize;
    let mut work = vec![0.0; whole];
    for job in &workload.jobs {
        let number = (job.at.as_micros() / day.as_micros().max(1)) as usize;
        if let Some(work) = work.get_mut(number) {
            *work += f64::from(job.processors) * job.run_time.as_micros() as f64;
        }
    }
    let room = f64::from(nodes) * day.as_micros() as f64;
    work.into_iter().map(|work| work / room).collect()
}

/// The first whole day with the load closest to the wanted one, among the days that have a full warm-up before them.
fn closest(workload: &Workload, setup: &Setup, wanted: f64) -> Option<u64> {
    let loads = loads(workload, setup.nodes, setup.day());
    let before = (setup.warm_up().as_micros()).div_ceil(setup.day().as_micros().max(1));
    let from = (before as usize).min(loads.len().checked_sub(1)?);
    let days = (from..loads.len()).min_by(|&a, &b| {
        let off = |day: usize| (loads[day] - wanted).abs();
        off(a).total_cmp(&off(b))
    });
    days.map(|day| day as u64)
}

impl Day {
    /// When the day begins in its run.
    pub(super) fn begin(&self) -> Time {
        Time::ZERO + self.warm_up
    }

    /// When the day and its run end.
    pub(super) fn end(&self) -> Time {
        self.begin() + self.length
    }

    /// How many schedules were sent on this day in messages of these kinds.
    pub(super) fn sent(&self, run: &Finished, kinds: &[&str]) -> f64 {
        run.sent_between(kinds, self.begin(), self.end()).items as f64
    }

    /// A description of the day.
    pub(super) fn title(&self) -> String {
        format!(
            "day {} of the trace {}, after {} of warm-up",
            self.number,
            self.trace.title(),
            (self.warm_up)
        )
    }

    /// The same, with the work that is submitted on it under each seed.
    pub(super) fn title_with_load(&self, sample: &Sample<'_>) -> String {
        let room = sample.any().prepared.grid.len() as f64 * self.length.as_micros() as f64;
        let load = |run: &Finished| {
            let jobs = &run.prepared.workload.jobs;
            let on_it = jobs
                .iter()
                .filter(|job| self.begin() <= job.at && job.at < self.end());
            let work = on_it.map(|job| f64::from(job.processors) * job.run_time.as_micros() as f64);
            Some(100.0 * work.sum::<f64>() / room)
        };
        let loads = sample.figures(&load).into_iter().flatten();
        let loads: Vec<f64> = loads.collect();
        let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
        let most = loads.iter().copied().fold(0.0, f64::max);
        match loads.len() {
            1 => format!("{}; RU on it {most:.1} %", self.title()),
            // The first seed has chosen the day. With a trace from a file it is the same for all.
            _ => format!(
                "{}; RU on it {least:.1} to {most:.1} % under the seeds",
                self.title()
            ),
        }
    }

    /// A run of this day and its warm-up only.
    pub(super) fn planned(
        &self,
        setup: &Setup,
        name: &str,
        change: impl FnOnce(&mut Config),
    ) -> Planned {
        let mut config = setup.base.clone();
        let end = self.length.times(self.number + 1);
        let begin = self.length.times(self.number) - self.warm_up;
        // The window applies to the times before stretching.
        let before = |span: Span| {
            let factor = self.stretch.unwrap_or(1.0);
            Span::from_micros((span.as_micros() as f64 / factor) as u64)
        };
        config.workload.from = Some(before(begin));
        config.workload.until = Some(before(end));
        config.workload.stretch = self.stretch;
        config.grid.until = Some(self.warm_up + self.length);
        config.report.window = Span::from_secs(3_600);
        change(&mut config);
        Planned {
            name: format!("{}-day{}-{name}", self.trace.name(), self.number),
            config,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::quick;
    use super::*;

    #[test]
    fn the_day_of_a_run_has_the_jobs_of_that_day_in_the_whole_trace() {
        let setup = quick(3);
        for day in setup.days.unwrap() {
            let planned = day.planned(&setup, "x", |_| {});
            let run = prepare(&planned.config).unwrap();
            let in_day = run
                .workload
                .jobs
                .iter()
                .filter(|job| day.begin() <= job.at && job.at < day.end());
            let work: f64 = in_day
                .map(|job| f64::from(job.processors) * job.run_time.as_micros() as f64)
                .sum();
            let room = f64::from(setup.nodes) * day.length.as_micros() as f64;
            let off = (work / room - day.load).abs();
            assert!(off < 0.02, "{day:?} has {}", work / room);
            assert_eq!(day.warm_up, setup.warm_up());
        }
    }

    #[test]
    fn the_day_that_is_closest_to_the_wanted_load_is_taken() {
        let setup = quick(3);
        let [low, high] = setup.days.unwrap();
        assert!(low.load < high.load);
        let config = Config {
            workload: crate::config::WorkloadConfig {
                stretch: high.stretch,
                ..setup.base.workload.clone()
            },
            ..setup.base.clone()
        };
        let workload = prepare(&config).unwrap().workload;
        let loads = loads(&workload, setup.nodes, setup.day());
        let off = |load: f64| (load - 1.1).abs();
        assert!(loads[1..].iter().all(|&load| off(load) >= off(high.load)));
        assert!(high.number >= 1);
    }
}

//! The tables and figures of the papers: published beside measured values.
//!
//! A [`Paper`] has [`Part`]s, one for each of its tables and figures. A part names the runs that it needs, each with a
//! [`Config`], and makes a [`Report`] of their results. A run that several parts need has the same name in all, and is
//! made once. What no run shows is measured in a study. The program makes the runs and writes the reports.
//!
//! Each run is made under every seed of a [`Sample`], and figures of a report are [`Estimate`]s over these seeds.

pub(crate) mod chart;
mod conditions;
mod faults;
pub(crate) mod kept;
pub(crate) mod p1;
pub(crate) mod p2;
pub(crate) mod p3;
pub(crate) mod p4;
pub(crate) mod page;
pub(crate) mod record;
mod report;
pub(crate) mod seeds;
pub(crate) mod statistics;
mod verdict;

pub(crate) use report::{Cell, Report, Rules, Table};
pub(crate) use verdict::{Claim, Finding};

use std::path::PathBuf;

use gridweave_core::time::Time;
use serde_json::{Value, json};

use crate::config::Config;
use crate::experiment::{InputError, Prepared, Results, Waits};
use crate::outcome::Outcome;
use crate::results::{Cost, Distribution, Estimate, Row, Summary};
use crate::run::{Placement, Run};
use crate::workload::Submission;
use gridweave_sim::engine::KindTraffic;
use gridweave_sim::monitor::Monitor;
use seeds::BySeed;

/// How large the simulations are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    /// As large as in the paper.
    Full,
    /// A small grid and few jobs: enough to see that all works, too little to compare with the paper.
    Quick,
}

impl Size {
    /// A warning if the figures cannot be compared with the paper.
    const fn caveat(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Quick => Some(
                "quick: a small grid and few jobs, so that only the form of this table means anything",
            ),
        }
    }
}

/// The facts of a workload that is made up.
fn generated(size: Size) -> Value {
    json!({ "quick": size == Size::Quick })
}

/// The choices of the user. A paper refuses or ignores choices that it does not use.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Options {
    /// How large the simulations are.
    pub size: Size,
    /// The trace; if left out, jobs are generated to fit the paper's.
    pub trace: Option<PathBuf>,
    /// How many nodes there are; if left out, as in the paper, or as the trace says.
    pub nodes: Option<u32>,
    /// The file with the points of nodes, from which delays follow; if left out, points are generated.
    pub coordinates: Option<PathBuf>,
    /// The file with measured round trips, from which delays follow instead.
    pub round_trips: Option<PathBuf>,
    /// The first seed.
    pub seed: u64,
}

#[cfg(test)]
impl Options {
    /// A small grid with this seed, and defaults for all else.
    const fn quick(seed: u64) -> Self {
        Self {
            size: Size::Quick,
            trace: None,
            nodes: None,
            coordinates: None,
            round_trips: None,
            seed,
        }
    }
}

/// A paper whose tables and figures are reproduced; `S` is the setup that its parts share.
#[derive(Debug)]
pub(crate) struct Paper<S: 'static> {
    /// Its name on the command line and in names of files.
    pub key: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What a reader of its page must know, in Markdown.
    pub about: &'static str,
    /// Facts about the workload.
    pub facts: fn(&S) -> Value,
    /// Its tables and figures, in the order in which they are shown.
    pub parts: &'static [Part<S>],
}

impl<S> Paper<S> {
    /// The paper with its setup, and with the configuration that its runs begin with.
    pub(crate) const fn with<'a>(
        &'static self,
        setup: &'a S,
        base: &'a Config,
    ) -> WithSetup<'a, S> {
        WithSetup {
            paper: self,
            setup,
            base,
        }
    }

    /// The names of its parts, in the order in which they are shown.
    pub(crate) fn part_names(&self) -> Vec<&'static str> {
        self.parts.iter().map(|part| part.name).collect()
    }

    /// All runs of all parts.
    #[cfg(test)]
    fn planned(&self, setup: &S) -> Vec<Planned> {
        let plans = self.parts.iter().map(|part| match part.making {
            Making::Runs { plan, .. } => plan(setup).unwrap(),
            Making::Study { .. } => Vec::new(),
        });
        plans.flatten().collect()
    }
}

/// A table or figure of a paper, or a further study.
#[derive(Debug)]
pub(crate) struct Part<S> {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// How it is made.
    pub making: Making<S>,
}

/// How a part of a paper is made.
#[derive(Debug)]
pub(crate) enum Making<S> {
    /// From runs of workloads.
    Runs {
        /// The runs that it needs, under the first seed.
        plan: fn(&S) -> Result<Vec<Planned>, InputError>,
        /// Makes the report from their results, in the same order.
        report: fn(&S, &[Sample<'_>]) -> Report,
    },
    /// From its own measurements.
    Study {
        /// The names of the cases.
        cases: fn(&S) -> Vec<String>,
        /// Measures the case of this index under a seed. If the monitor says stop, the result does not matter.
        measure: fn(&S, usize, u64, &Monitor) -> Figures,
        /// Makes the report from the measurements, in the same order.
        report: fn(&S, &[Measured]) -> Report,
    },
}

/// A paper with its setup, of any type.
pub(crate) trait Reproducible: Sync {
    /// Its name on the command line and in names of files.
    fn key(&self) -> &'static str;
    /// Its title.
    fn title(&self) -> &'static str;
    /// What a reader of its page must know, in Markdown.
    fn about(&self) -> &'static str;
    /// Facts about the workload.
    fn facts(&self) -> Value;
    /// The configuration that its runs begin with.
    fn base(&self) -> &Config;
    /// The names and titles of its parts.
    fn parts(&self) -> Vec<(&'static str, &'static str)>;
    /// The runs that a part needs, under the first seed; none if it is a study.
    fn plan(&self, part: usize) -> Result<Vec<Planned>, InputError>;
    /// The cases that a part measures; none if it is not a study.
    fn cases(&self, part: usize) -> Vec<String>;
    /// Measures a case of a part under a seed.
    fn measure(&self, part: usize, case: usize, seed: u64, monitor: &Monitor) -> Figures;
    /// The report of a part.
    fn report(&self, part: usize, samples: &[Sample<'_>], measured: &[Measured]) -> Report;
}

/// A paper with its setup.
#[derive(Debug)]
pub(crate) struct WithSetup<'a, S: 'static> {
    paper: &'static Paper<S>,
    setup: &'a S,
    base: &'a Config,
}

impl<S: Sync> Reproducible for WithSetup<'_, S> {
    fn key(&self) -> &'static str {
        self.paper.key
    }

    fn title(&self) -> &'static str {
        self.paper.title
    }

    fn about(&self) -> &'static str {
        self.paper.about
    }

    fn facts(&self) -> Value {
        (self.paper.facts)(self.setup)
    }

    fn base(&self) -> &Config {
        self.base
    }

    fn parts(&self) -> Vec<(&'static str, &'static str)> {
        let parts = self.paper.parts.iter();
        parts.map(|part| (part.name, part.title)).collect()
    }

    fn plan(&self, part: usize) -> Result<Vec<Planned>, InputError> {
        match self.paper.parts[part].making {
            Making::Runs { plan, .. } => plan(self.setup),
            Making::Study { .. } => Ok(Vec::new()),
        }
    }

    fn cases(&self, part: usize) -> Vec<String> {
        match self.paper.parts[part].making {
            Making::Runs { .. } => Vec::new(),
            Making::Study { cases, .. } => cases(self.setup),
        }
    }

    fn measure(&self, part: usize, case: usize, seed: u64, monitor: &Monitor) -> Figures {
        match self.paper.parts[part].making {
            Making::Runs { .. } => Ok(Vec::new()),
            Making::Study { measure, .. } => measure(self.setup, case, seed, monitor),
        }
    }

    fn report(&self, part: usize, samples: &[Sample<'_>], measured: &[Measured]) -> Report {
        match self.paper.parts[part].making {
            Making::Runs { report, .. } => report(self.setup, samples),
            Making::Study { report, .. } => report(self.setup, measured),
        }
    }
}

/// A part that is made from runs of workloads.
const fn part<S>(
    name: &'static str,
    title: &'static str,
    plan: fn(&S) -> Result<Vec<Planned>, InputError>,
    report: fn(&S, &[Sample<'_>]) -> Report,
) -> Part<S> {
    Part {
        name,
        title,
        making: Making::Runs { plan, report },
    }
}

/// The figures of a measurement.
pub(crate) type Figures = Result<Vec<f64>, InputError>;

/// The measurements of one case, under several seeds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Measured {
    /// The name of the case.
    pub name: String,
    /// The figures under each seed; there is at least one.
    pub runs: Vec<Vec<f64>>,
}

impl Measured {
    /// The mean of the figure with this index, over the seeds that have it.
    fn mean(&self, number: usize, digits: usize) -> Cell {
        self.mean_of(digits, &|figures| figures.get(number).copied())
    }

    /// The mean over the seeds of a value that `of` gets from the figures of a seed, where there is one.
    fn mean_of(&self, digits: usize, of: &dyn Fn(&[f64]) -> Option<f64>) -> Cell {
        Cell::mean(digits, self.runs.iter().filter_map(|run| of(run)))
    }

    /// The mean ratio of a figure to a figure of another case under the same seed.
    fn ratio(&self, number: usize, other: &Self, of: usize) -> Cell {
        let pairs = self.runs.iter().zip(&other.runs);
        let ratios = pairs.filter_map(|(ours, theirs)| Some(ours.get(number)? / theirs.get(of)?));
        Cell::mean(3, ratios.filter(|ratio| ratio.is_finite()))
    }
}

/// A planned run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Planned {
    /// Its name; two plans with the same name are the same run.
    pub name: String,
    /// Its configuration.
    pub config: Config,
}

/// A case of a part: the title, the name in runs, and how the configuration changes.
struct Case(&'static str, &'static str, fn(&mut Config));

/// What is kept of a run: all but the nodes of each job.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Finished {
    /// The prepared experiment.
    pub prepared: Prepared,
    /// The run, without the nodes of each job.
    pub run: Run,
    /// The run over time.
    pub series: Vec<Row>,
    /// Summary statistics.
    pub summary: Summary,
    /// The time and memory that the simulation took.
    pub cost: Cost,
}

impl Finished {
    /// Keeps the results, without the nodes of each job.
    pub(crate) fn of(prepared: Prepared, results: Results) -> Self {
        Self {
            prepared,
            run: Run {
                placement: Placement::Interchangeable,
                ..results.run
            },
            series: results.series,
            summary: results.summary,
            cost: results.cost,
        }
    }

    /// Each job with its outcome.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (&Submission, Outcome)> {
        let outcomes = self.run.outcomes.iter().copied();
        self.prepared.workload.jobs.iter().zip(outcomes)
    }

    /// The waits of jobs in seconds; all zero if none ran.
    pub(crate) fn wait(&self) -> Distribution {
        self.summary.wait.unwrap_or_default()
    }

    /// The mean wait of jobs in seconds.
    fn mean_wait(&self) -> f64 {
        self.wait().mean
    }

    /// The mean time from submission to end in minutes.
    fn completion_minutes(&self) -> f64 {
        self.summary.turnaround.unwrap_or_default().mean / 60.0
    }

    /// How many jobs completed.
    const fn completed(&self) -> f64 {
        self.summary.jobs.completed as f64
    }

    /// How many jobs were killed when their requested time was over.
    const fn killed(&self) -> f64 {
        self.summary.jobs.killed as f64
    }

    /// How many jobs were submitted, and did not run to their end or their limit.
    const fn not_done(&self) -> f64 {
        let jobs = &self.summary.jobs;
        (jobs.submitted - jobs.completed - jobs.killed) as f64
    }

    /// A count divided by the number of submitted jobs.
    fn per_job(&self, count: f64) -> f64 {
        count / self.summary.jobs.submitted.max(1) as f64
    }

    /// Messages of these kinds per submitted job.
    fn sent_per_job(&self, kinds: &[&str]) -> f64 {
        self.per_job(self.sent(kinds).messages as f64)
    }

    /// Each job that ran to its end, with its wait in seconds.
    pub(crate) fn waited(&self) -> impl Iterator<Item = (&Submission, f64)> {
        self.jobs().filter_map(|(job, outcome)| match outcome {
            Outcome::Ran { start, .. } => Some((job, (start - job.at).as_micros() as f64 / 1e6)),
            _ => None,
        })
    }

    /// The wait of each job that ran to its end.
    pub(crate) fn waits(&self) -> Waits {
        Waits::of(&self.prepared.workload, &self.run)
    }

    /// The percentage of failed jobs among those submitted in this interval.
    pub(crate) fn failures(&self, from: Time, until: Time) -> f64 {
        let (mut all, mut failed) = (0_u64, 0_u64);
        for (job, outcome) in self.jobs() {
            if from <= job.at && job.at < until {
                all += 1;
                failed += u64::from(is_failure(outcome));
            }
        }
        statistics::percent(failed as f64, all as f64)
    }

    /// All traffic of these kinds.
    pub(crate) fn sent(&self, kinds: &[&str]) -> KindTraffic {
        self.run.traffic.of(kinds)
    }

    /// The traffic of these kinds in each window of the series.
    pub(crate) fn sent_over_time(&self, kinds: &[&str]) -> Vec<KindTraffic> {
        let mut windows = self.run.traffic.of_per_window(kinds);
        windows.resize(self.series.len().max(windows.len()), KindTraffic::default());
        windows
    }

    /// The traffic of these kinds in the windows that begin in this interval.
    pub(crate) fn sent_between(&self, kinds: &[&str], from: Time, until: Time) -> KindTraffic {
        let width = self.run.traffic.window_of_kinds();
        let width = width.map_or(1, |width| width.as_micros().max(1));
        let mut sum = KindTraffic::default();
        for (number, window) in (0_u64..).zip(self.sent_over_time(kinds)) {
            let begin = Time::from_micros(number.saturating_mul(width));
            if from <= begin && begin < until {
                sum += window;
            }
        }
        sum
    }
}

/// Whether a job was refused, failed, or was lost.
pub(crate) fn is_failure(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Rejected(_) | Outcome::Failed(_) | Outcome::Lost | Outcome::Orphaned
    )
}

/// One run under several seeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    /// The run's name.
    pub name: &'a str,
    runs: &'a [Finished],
    by_seed: &'a BySeed,
}

impl<'a> Sample<'a> {
    /// A run with its results under each seed of now, at least one.
    pub(crate) const fn new(name: &'a str, runs: &'a [Finished], by_seed: &'a BySeed) -> Self {
        Self {
            name,
            runs,
            by_seed,
        }
    }

    /// A figure under each seed, where it has one.
    fn figures(&self, figure: &dyn Fn(&Finished) -> Option<f64>) -> Vec<Option<f64>> {
        self.by_seed.ask(self.name, self.runs.iter().map(figure))
    }

    /// A figure under each seed that compares this run with another one.
    fn pairs(
        &self,
        other: &Self,
        figure: &dyn Fn(&Finished, &Finished) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let pairs = self.runs.iter().zip(other.runs);
        let figures = pairs.map(|(one, other)| figure(one, other));
        let names = format!("{} / {}", self.name, other.name);
        self.by_seed.ask(&names, figures)
    }

    /// The mean of a figure over the seeds.
    pub(crate) fn estimate(&self, figure: &dyn Fn(&Finished) -> f64) -> Estimate {
        let figures = self.figures(&|run| Some(figure(run)));
        let figures: Vec<f64> = figures.into_iter().flatten().collect();
        Estimate::of(&figures)
    }

    /// The mean of a figure over the seeds, with so many digits.
    fn mean(&self, digits: usize, figure: &dyn Fn(&Finished) -> f64) -> Cell {
        Cell::Number(self.estimate(figure), digits)
    }

    /// The mean of a figure over the seeds that have it.
    fn mean_of_some(&self, digits: usize, figure: &dyn Fn(&Finished) -> Option<f64>) -> Cell {
        Cell::mean(digits, self.figures(figure).into_iter().flatten())
    }

    /// The mean of a figure that compares this run with another one under the same seed.
    fn against(
        &self,
        other: &Self,
        digits: usize,
        figure: &dyn Fn(&Finished, &Finished) -> Option<f64>,
    ) -> Cell {
        let figures = self.pairs(other, figure).into_iter();
        Cell::mean(digits, figures.flatten())
    }

    /// A run, for what is the same under all seeds.
    fn any(&self) -> &'a Finished {
        &self.runs[0]
    }

    /// The run under the first seed, for charts that show a single run.
    fn first(&self) -> &'a Finished {
        &self.all()[0]
    }

    /// All runs, for what is no figure. Seeds cannot be added to a report of them.
    fn all(&self) -> &'a [Finished] {
        self.by_seed.note_need_of_runs();
        self.runs
    }
}

/// Asserts that two plans have the same name if and only if they have the same configuration.
#[cfg(test)]
fn assert_names_tell_runs_apart(plans: &[Planned]) {
    for one in plans {
        for other in plans {
            let same = one.config == other.config;
            assert_eq!(one.name == other.name, same, "{} {}", one.name, other.name);
        }
    }
}

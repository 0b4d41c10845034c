//! P4: decentralised dynamic scheduling across heterogeneous multi-core desktop grids.
//!
//! All runs share the settings of P4 section V.A: 1000 nodes of 1, 2, 4 or 8 cores, 25,000 jobs of one hour on average,
//! clustered nodes and clustered jobs. What it leaves open, such as distributions, is in docs/results/p4.md.
//! Figures are of the steady state: of the jobs that do not come in the first and the last two hours.

mod bounds;
mod claim;
mod constraints;
mod faults;
mod habits;
mod literal;
mod messages;
mod residues;
mod sensitivity;
mod varieties;
mod waits;

use super::{Finished, Options, Paper, Planned, Sample, Size, generated};
use std::ops::Range;

use crate::config::DelayConfig;
use crate::config::{Config, Source};
use crate::experiment::InputError;
use crate::grid::Grid;
use crate::reproduce::Cell;
use crate::schedulers::desktop::{DesktopConfig, SchedulingName};
use crate::schedulers::{Rules, Scheduler};
use crate::workload::generate::CYCLE;
use gridweave_core::time::{Span, Time};

/// The paper.
pub(crate) const PAPER: Paper<Setup> = Paper {
    key: "p4",
    title: "Decentralized Dynamic Scheduling across Heterogeneous Multi-core Desktop Grids",
    about: include_str!("about.md"),
    facts: |setup| generated(setup.size),
    parts: &[
        claim::CLAIM,
        waits::FIG3,
        waits::LIGHT,
        messages::FIG4,
        constraints::FIG5,
        varieties::VARIETIES,
        literal::LITERAL,
        literal::LITERAL4,
        bounds::BOUNDS,
        habits::HABITS,
        sensitivity::SENSITIVITY,
        residues::RESIDUES,
        faults::FAULTS,
    ],
};

/// The setup that all parts share.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Setup {
    /// How large the simulations are.
    pub size: Size,
    /// The configuration that all runs begin with: LIQ-PULL, a job every three seconds.
    pub base: Config,
}

/// The load if a job comes every two seconds: high, and not too much.
const LOAD: f64 = 0.925;

/// How many jobs there are: ten times the same 2,500, of which six cycles count at the highest load.
const JOBS: u32 = 25_000;

/// P4's best scheme.
const OURS: Scheme = Scheme::Desktop(SchedulingName::LiqPull);

/// A scheme: one of P4's, or the centralised scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheme {
    Desktop(SchedulingName),
    /// A scan of the whole queue.
    Cent,
    /// The same, within the bound on passing.
    CentBounded,
    /// Strictly first come, first served.
    CentStrict,
}

impl Scheme {
    /// P4's six schemes, and CENT.
    const ALL: [Self; 7] = [
        Self::Desktop(SchedulingName::Vanilla),
        Self::Desktop(SchedulingName::L),
        Self::Desktop(SchedulingName::LiPush),
        Self::Desktop(SchedulingName::LiPull),
        Self::Desktop(SchedulingName::LiqPush),
        OURS,
        Self::Cent,
    ];

    /// The same, and CENT in two more readings.
    const ALL_READINGS: [Self; 9] = [
        Self::ALL[0],
        Self::ALL[1],
        Self::ALL[2],
        Self::ALL[3],
        Self::ALL[4],
        Self::ALL[5],
        Self::Cent,
        Self::CentBounded,
        Self::CentStrict,
    ];

    /// The simplest and the best of P4's schemes, and CENT.
    const FEW: [Self; 3] = [Self::Desktop(SchedulingName::Vanilla), OURS, Self::Cent];

    const fn name(self) -> &'static str {
        match self {
            Self::Desktop(scheduling) => scheduling.name(),
            Self::Cent => "CENT",
            Self::CentBounded => "CENT bounded",
            Self::CentStrict => "CENT FCFS",
        }
    }

    fn apply(self, config: &mut Config) {
        match self {
            Self::Desktop(scheduling) => config.rules.desktop.scheduling = scheduling,
            Self::Cent => config.scheduler = Scheduler::CentralGreedy,
            Self::CentBounded => config.scheduler = Scheduler::CentralBounded,
            Self::CentStrict => config.scheduler = Scheduler::CentralFcfs,
        }
    }
}

impl Setup {
    /// The setup for these options.
    pub(crate) fn new(options: &Options) -> Result<Self, InputError> {
        let mut base = Config {
            scheduler: Scheduler::Desktop,
            seed: options.seed,
            rules: Rules {
                desktop: DesktopConfig {
                    // With two virtual dimensions and what is told at once, this makes some 16 messages per node and
                    // minute, and P4 has 20 (Figure 4).
                    heartbeat: Some(Span::from_secs(150)),
                    ..DesktopConfig::default()
                },
                ..Rules::default()
            },
            ..Config::default()
        };
        base.workload.source = Source::Desktop;
        base.report.window = Span::from_secs(600);
        base.report.check_every = 4096;
        base.network.delay = DelayConfig::Plane {
            side: Span::from_millis(150),
        };
        base.workload.desktop.jobs = JOBS;
        base.workload.desktop.load = LOAD;
        if options.size == Size::Quick {
            base.workload.desktop.nodes = 60;
            base.workload.desktop.jobs = 150;
            // As many jobs for each node come in the same time.
            base.workload.desktop.load = LOAD * 1000.0 / 60.0;
        }
        Ok(Self {
            size: options.size,
            base: base.checked()?,
        })
    }

    /// A run of a scheme with this change, which its name tells.
    fn planned(&self, scheme: Scheme, about: &str, change: impl FnOnce(&mut Config)) -> Planned {
        let mut config = self.base.clone();
        change(&mut config);
        scheme.apply(&mut config);
        Planned {
            name: format!("{}-{about}", scheme.name().replace(' ', "-")),
            config,
        }
    }

    /// A run with this mean time between submissions, in milliseconds.
    fn with_gap(&self, scheme: Scheme, millis: u64) -> Planned {
        self.planned(scheme, &format!("{millis}ms"), |config| {
            // A smaller grid gets fewer jobs in the same time.
            let slower = 1000 / u64::from(config.workload.desktop.nodes.max(1));
            config.workload.desktop.mean_gap = Span::from_millis(millis * slower.max(1));
        })
    }

    /// A run in which jobs name each resource with this probability, in percent, and come every three seconds.
    fn with_constraints(&self, scheme: Scheme, percent: u32) -> Planned {
        let mut planned = self.with_gap(scheme, 3000);
        planned.name = format!("{}-{percent}pc", scheme.name());
        planned.config.workload.desktop.constraint_ratio = f64::from(percent) / 100.0;
        planned
    }
}

/// The jobs that count: whole pairs of cycles that begin after the first and end before the last two mean run times. In a
/// run that is too short for that, the middle three fifths.
fn counted(run: &Finished) -> Range<Time> {
    let jobs = &run.prepared.workload.jobs;
    let edge = run.prepared.config.workload.desktop.mean_run_time.times(2);
    let last = jobs.last().map_or(Time::ZERO, |job| job.at);
    let cycles = jobs.iter().step_by(CYCLE).map(|job| job.at);
    let whole: Vec<Time> = cycles
        .filter(|at| Time::ZERO + edge <= *at && *at + edge <= last)
        .collect();
    let pairs = whole.len().saturating_sub(1) / 2;
    if let (Some(first), Some(end)) = (whole.first(), whole.get(2 * pairs))
        && pairs > 0
    {
        return *first..*end;
    }
    let fifth = jobs.len() / 5;
    let at = |index: usize| jobs.get(index).map_or(last, |job| job.at);
    at(fifth)..at(jobs.len() - fifth)
}

/// The mean wait of the jobs that come in an interval, in seconds.
fn mean_wait(run: &Finished, during: &Range<Time>) -> f64 {
    let waits = run.waited().filter(|(job, _)| during.contains(&job.at));
    let (count, sum) = waits.fold((0_u32, 0.0), |(count, sum), (_, wait)| {
        (count + 1, sum + wait)
    });
    sum / f64::from(count.max(1))
}

/// The mean wait of jobs in the steady state, in seconds.
fn steady_wait(run: &Finished) -> f64 {
    mean_wait(run, &counted(run))
}

/// The mean waits in the first and in the second half of what is counted.
fn halves(run: &Finished) -> [f64; 2] {
    let Range { start, end } = counted(run);
    let middle = start + Span::from_micros((end - start).as_micros() / 2);
    [start..middle, middle..end].map(|half| mean_wait(run, &half))
}

/// Whether two waits are the same: they differ by less than a tenth, or by less than five seconds.
fn is_steady([one, other]: [f64; 2]) -> bool {
    let apart = (one - other).abs();
    apart < 5.0 || apart < 0.1 * one.max(other)
}

/// The work of the jobs that are counted, as a part of what all cores can do in that time.
fn offered(run: &Finished) -> Option<f64> {
    let Grid::Mixed(mixed) = &*run.prepared.grid else {
        return None;
    };
    let (cores, during) = (mixed.shares()?, counted(run));
    let workload = &run.prepared.workload;
    let jobs = workload.jobs.iter().zip(&workload.requirements);
    let work: f64 = jobs
        .filter(|(job, _)| during.contains(&job.at))
        .map(|(job, required)| {
            let taken = required.value(cores).unwrap_or(1) as f64;
            taken * job.run_time.as_micros() as f64
        })
        .sum();
    let room: f64 = mixed.nodes.iter().map(|node| node.work_rate(cores)).sum();
    Some(work / room / (during.end - during.start).as_micros().max(1) as f64)
}

/// The load that CENT's runs were offered, what was used, the mean waits in both halves, and whether these are steady: over
/// all seeds, and how many seeds are steady by themselves.
fn steadiness(cent: &Sample<'_>) -> [Cell; 5] {
    let mean = |half: usize| cent.estimate(&|run| halves(run)[half]).mean;
    let verdict = match is_steady([mean(0), mean(1)]) {
        true => "yes",
        false => "NO",
    };
    let seeds = cent.figures(&|run| Some(f64::from(is_steady(halves(run)))));
    let steady: f64 = seeds.iter().flatten().sum();
    let verdict = format!("{verdict}, {steady} of {}", seeds.len());
    [
        cent.mean_of_some(2, &offered),
        cent.mean(2, &|run| run.summary.utilization.effective),
        cent.mean(0, &|run| halves(run)[0]),
        cent.mean(0, &|run| halves(run)[1]),
        verdict.as_str().into(),
    ]
}

fn wait(sample: &Sample<'_>) -> Cell {
    sample.mean(0, &steady_wait)
}

/// Compares two runs under the same seeds: the ratio of their mean waits, and the difference in seconds.
fn beside(ours: &Sample<'_>, cent: &Sample<'_>) -> [Cell; 2] {
    let mean = |sample: &Sample<'_>| sample.estimate(&steady_wait).mean;
    let ratio = mean(ours) / mean(cent);
    let more = ours.against(cent, 0, &|ours, cent| {
        Some(steady_wait(ours) - steady_wait(cent))
    });
    let ratio = match ratio.is_finite() {
        true => Cell::exact(ratio, 2),
        false => Cell::Empty,
    };
    [ratio, more]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_name_are_one_run() {
        let plans = PAPER.planned(&Setup::new(&Options::quick(1)).unwrap());
        for one in &plans {
            for other in &plans {
                if one.name == other.name {
                    assert_eq!(one.config, other.config, "{}", one.name);
                }
            }
        }
    }
}

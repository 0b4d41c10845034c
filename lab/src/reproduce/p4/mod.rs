//! P4: decentralised dynamic scheduling across heterogeneous multi-core desktop grids.
//!
//! All runs share the settings of P4 section V.A: 1000 nodes of 1, 2, 4 or 8 cores, 5000 jobs of one hour on average,
//! clustered nodes and clustered jobs. What it leaves open, such as distributions, is in docs/results/reproduce-p4.md.
//! Figures are of the steady state: of the jobs in the middle three fifths.

mod constraints;
mod faults;
mod literal;
mod messages;
mod residues;
mod sensitivity;
mod varieties;
mod waits;

use super::{Finished, Options, Paper, Planned, Sample, Size};
use crate::config::DelayConfig;
use crate::config::{Config, Source};
use crate::experiment::InputError;
use crate::reproduce::Cell;
use crate::schedulers::desktop::{DesktopConfig, SchedulingName};
use crate::schedulers::{Rules, Scheduler};
use gridweave_core::time::Span;

/// The paper.
pub(crate) const PAPER: Paper<Setup> = Paper {
    key: "p4",
    title: "Decentralized Dynamic Scheduling across Heterogeneous Multi-core Desktop Grids",
    parts: &[
        waits::FIG3,
        waits::LIGHT,
        messages::FIG4,
        constraints::FIG5,
        varieties::VARIETIES,
        literal::LITERAL,
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

/// P4's best scheme.
const OURS: Scheme = Scheme::Desktop(SchedulingName::LiqPull);

/// A scheme: one of P4's, or the centralised scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scheme {
    Desktop(SchedulingName),
    Cent,
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

    /// The simplest and the best of P4's schemes, and CENT.
    const FEW: [Self; 3] = [Self::Desktop(SchedulingName::Vanilla), OURS, Self::Cent];

    const fn name(self) -> &'static str {
        match self {
            Self::Desktop(scheduling) => scheduling.name(),
            Self::Cent => "CENT",
        }
    }

    fn apply(self, config: &mut Config) {
        match self {
            Self::Desktop(scheduling) => config.rules.desktop.scheduling = scheduling,
            Self::Cent => config.scheduler = Scheduler::CentralGreedy,
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
                    // With about 19 neighbours this makes P4's 20 messages per node and minute (Figure 4).
                    heartbeat: Some(Span::from_secs(60)),
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
        if options.size == Size::Quick {
            base.workload.desktop.nodes = 60;
            base.workload.desktop.jobs = 150;
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
            name: format!("{}-{about}", scheme.name()),
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
}

/// The mean wait of jobs in the steady state, in seconds.
fn steady_wait(run: &Finished) -> f64 {
    let jobs = run.prepared.workload.jobs.len();
    let steady = jobs / 5..jobs - jobs / 5;
    let from = run
        .prepared
        .workload
        .jobs
        .get(steady.start)
        .map(|job| job.at);
    let until = run.prepared.workload.jobs.get(steady.end).map(|job| job.at);
    let waits = run.waited().filter(|(job, _)| {
        from.is_none_or(|from| job.at >= from) && until.is_none_or(|until| job.at < until)
    });
    let (count, sum) = waits.fold((0_u32, 0.0), |(count, sum), (_, wait)| {
        (count + 1, sum + wait)
    });
    sum / f64::from(count.max(1))
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

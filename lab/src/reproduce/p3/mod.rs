//! P3: ARiA, a protocol for dynamic fully distributed grid meta-scheduling.
//!
//! All runs have in common what P3 section IV says of its experiments, and PROTOCOLS A1 to A25 where it is silent: 500 nodes that differ in
//! architecture, system, memory, disk and speed, 1000 jobs, 41 hours and 40 minutes, an overlay made by BLATANT-S. A [`Scenario`] is one of
//! the 26 of its Table II.

mod completed;
mod completion;
mod deadlines;
mod faults;
mod idle;
mod overlays;
mod scenario;
mod trace;
mod traffic;

pub use scenario::Scenario;

use gridweave_core::time::Span;
use std::path::PathBuf;

use super::{Paper, Planned, Size, part};
use crate::config::DelayConfig;
use crate::config::{Config, Source};
use crate::experiment::InputError;
use crate::outcome::Estimates;
use crate::schedulers::aria::{AriaConfig, ForwardName, PolicyName};
use crate::schedulers::{Rules, Scheduler};

/// The paper.
pub const PAPER: Paper<Setup> = Paper {
    key: "p3",
    title: "ARiA: A Protocol for Dynamic Fully Distributed Grid Meta-Scheduling",
    parts: &[
        part("fig1", completed::TITLE, completed::plan, completed::report),
        part(
            "fig2",
            completion::FIG2,
            completion::plan2,
            completion::report2,
        ),
        part("fig3", idle::FIG3, idle::plan3, idle::report3),
        part("fig4", deadlines::TITLE, deadlines::plan, deadlines::report),
        part("fig5", idle::FIG5, idle::plan5, idle::report5),
        part("fig6", idle::FIG6, idle::plan6, idle::report6),
        part(
            "fig7",
            completion::FIG7,
            completion::plan7,
            completion::report7,
        ),
        part(
            "fig8",
            completion::FIG8,
            completion::plan8,
            completion::report8,
        ),
        part(
            "fig9",
            completion::FIG9,
            completion::plan9,
            completion::report9,
        ),
        part("fig10", traffic::TITLE, traffic::plan, traffic::report),
        part(
            "overlays",
            overlays::TITLE,
            overlays::plan,
            overlays::report,
        ),
        part("faults", faults::TITLE, faults::plan, faults::report),
        part("trace", trace::TITLE, trace::plan, trace::report),
    ],
};

/// What a user may choose.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// How much is simulated.
    pub size: Size,
    /// A trace of serial jobs for the part `trace`, which needs one.
    pub trace: Option<PathBuf>,
    /// How many processors replay it.
    pub nodes: Option<u32>,
    /// Where nodes are, which decides on delays; points in a square, if left out.
    pub coordinates: Option<PathBuf>,
    /// Measured round trips, which decide on delays instead.
    pub round_trips: Option<PathBuf>,
    /// The first seed.
    pub seed: u64,
}

/// What all parts have in common.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// How much is simulated.
    pub size: Size,
    /// What all runs begin with: the scenario *iMixed*.
    pub base: Config,
    trace: Option<PathBuf>,
    processors: Option<u32>,
}

impl Setup {
    /// What these options ask for.
    pub fn new(options: &Options) -> Result<Self, InputError> {
        let mut base = Config {
            scheduler: Scheduler::Aria,
            seed: options.seed,
            rules: Rules {
                aria: AriaConfig {
                    policy: PolicyName::Mixed,
                    // The overlay has settled before the first job, and its own traffic is not P3's subject.
                    iteration: Some(Span::from_secs(7_200)),
                    warm_up: 300,
                    forward: ForwardName::Unmatched,
                    lease: Some(Span::from_secs(600)),
                    ..AriaConfig::default()
                },
                ..Rules::default()
            },
            ..Config::default()
        };
        base.workload.source = Source::Aria;
        base.workload.estimates = Estimates::Overrun;
        base.grid.until = Some(Span::from_secs(2_500 * 60));
        base.report.window = Span::from_secs(600);
        base.report.check_every = 1024;
        base.network.delay = match (&options.coordinates, &options.round_trips) {
            (_, Some(file)) => DelayConfig::Matrix { file: file.clone() },
            (Some(file), None) => DelayConfig::Coordinates { file: file.clone() },
            (None, None) => DelayConfig::Plane {
                side: Span::from_millis(150),
            },
        };
        if options.size == Size::Quick {
            base.workload.aria.nodes = 60;
            base.workload.aria.jobs = 120;
        }
        Ok(Self {
            size: options.size,
            base: base.checked()?,
            trace: options.trace.clone(),
            processors: options.nodes,
        })
    }

    /// The run of a scenario.
    fn planned(&self, scenario: Scenario) -> Planned {
        self.changed(scenario, "", |_| {})
    }

    /// The run of a scenario with something else about it.
    fn changed(
        &self,
        scenario: Scenario,
        suffix: &str,
        change: impl FnOnce(&mut Config),
    ) -> Planned {
        let mut config = self.base.clone();
        scenario.apply(&mut config);
        change(&mut config);
        Planned {
            name: format!("{}{suffix}", scenario.name()),
            config,
        }
    }

    fn all(&self, scenarios: &[Scenario]) -> Result<Vec<Planned>, InputError> {
        let runs = scenarios.iter().map(|scenario| self.planned(*scenario));
        Ok(runs.collect())
    }

    /// Says so if figures are not worth a comparison.
    fn caveat(&self) -> Option<String> {
        (self.size == Size::Quick).then(|| {
            "quick: a small grid and few jobs, so that only the form of this table means anything"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Making;

    fn quick() -> Setup {
        Setup::new(&Options {
            size: Size::Quick,
            trace: None,
            nodes: None,
            coordinates: None,
            round_trips: None,
            seed: 1,
        })
        .unwrap()
    }

    #[test]
    fn runs_of_one_name_are_one_run_and_others_differ() {
        let setup = quick();
        let plans = PAPER.parts.iter().map(|part| match part.making {
            Making::Runs { plan, .. } => plan(&setup).unwrap(),
            Making::Study { .. } => Vec::new(),
        });
        let plans: Vec<Planned> = plans.flatten().collect();
        for one in &plans {
            for other in &plans {
                let same = one.config == other.config;
                assert_eq!(one.name == other.name, same, "{} {}", one.name, other.name);
            }
        }
        let all = Scenario::ALL.iter();
        for scenario in all {
            let made = plans.iter().any(|planned| planned.name == scenario.name());
            assert!(made, "{}", scenario.name());
        }
    }
}

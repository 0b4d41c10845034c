//! P3: ARiA, a protocol for dynamic fully distributed grid meta-scheduling.
//!
//! All runs share the settings of P3 section IV, and PROTOCOLS A1 to A25 where it is silent: 500 nodes that differ in
//! architecture, system, memory, disk and speed, 1000 jobs, 41 hours and 40 minutes, an overlay made by BLATANT-S. A
//! [`Scenario`] is one of the 26 of its Table II.

mod completed;
mod completion;
mod deadlines;
mod faults;
mod idle;
mod overlays;
mod scenario;
mod sites;
mod trace;
mod traffic;

pub(crate) use scenario::Scenario;

use gridweave_core::time::Span;
use std::path::PathBuf;

use super::{Options, Paper, Planned, Size, generated};
use crate::config::DelayConfig;
use crate::config::{Config, Source};
use crate::experiment::InputError;
use crate::outcome::Estimates;
use crate::schedulers::aria::{AriaConfig, PolicyName};
use crate::schedulers::{Rules, Scheduler};

/// The paper.
pub(crate) const PAPER: Paper<Setup> = Paper {
    key: "p3",
    title: "ARiA: A Protocol for Dynamic Fully Distributed Grid Meta-Scheduling",
    about: include_str!("about.md"),
    facts: |setup| generated(setup.size),
    parts: &[
        completed::FIG1,
        completion::FIG2,
        idle::FIG3,
        deadlines::FIG4,
        idle::FIG5,
        idle::FIG6,
        completion::FIG7,
        completion::FIG8,
        completion::FIG9,
        traffic::FIG10,
        overlays::OVERLAYS,
        faults::FAULTS,
        sites::SITES,
        trace::TRACE,
    ],
};

/// The setup that all parts share.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Setup {
    /// How large the simulations are.
    pub size: Size,
    /// The configuration that all runs begin with: the scenario *iMixed*.
    pub base: Config,
    trace: Option<PathBuf>,
    processors: Option<u32>,
}

impl Setup {
    /// The setup for these options.
    pub(crate) fn new(options: &Options) -> Result<Self, InputError> {
        let mut base = Config {
            scheduler: Scheduler::Aria,
            seed: options.seed,
            rules: Rules {
                aria: AriaConfig {
                    policy: PolicyName::Mixed,
                    // The overlay has settled before the first job, and P3 does not measure its traffic.
                    iteration: Some(Span::from_secs(7_200)),
                    warm_up: 300,
                    lease: Some(Span::from_secs(600)),
                    ..AriaConfig::paper()
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

    /// The run of a scenario with further changes.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::assert_names_tell_runs_apart;

    #[test]
    fn runs_of_one_name_are_one_run_and_others_differ() {
        let plans = PAPER.planned(&Setup::new(&Options::quick(1)).unwrap());
        assert_names_tell_runs_apart(&plans);
        for scenario in Scenario::ALL {
            let made = plans.iter().any(|planned| planned.name == scenario.name());
            assert!(made, "{}", scenario.name());
        }
    }
}

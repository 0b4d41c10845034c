//! P1: Decentralized As-Soon-As-Possible Grid Scheduling.
//!
//! All runs share the settings of the paper's experiments, by PROTOCOLS D1 to D23: exact run times, two hops, searchers
//! that do not offer themselves, two rounds, slots of a minute, a network without delay, and unless a part says
//! otherwise a static overlay of degree 20. Centralised schedulers get the same slotted jobs.

mod baselines;
mod day;
mod fig4;
mod fig5;
mod fig6;
mod forward;
mod poll;
mod scale;
mod table1;
mod table2;
mod table3;

use day::Day;
pub(crate) use gridweave_core::scheduler::asap::Links;
use gridweave_core::scheduler::asap::Searcher;

use gridweave_core::time::Span;
use serde_json::json;

use super::conditions::{Conditioned, Contender, condition};
use super::{Options, Paper, Planned, Rules as Whose, Size};
use crate::config::{Config, ConfigError, Source};
use crate::experiment::{InputError, prepare};
use crate::outcome::Estimates;
use crate::schedulers::asap::{AsapConfig, ExchangeName};
use crate::schedulers::asap::{OTHERS, PULL};
use crate::schedulers::{Rules, Scheduler};
use crate::workload::Workload;

/// The paper.
pub(crate) const PAPER: Paper<Setup> = Paper {
    key: "p1",
    title: "Decentralized As-Soon-As-Possible Grid Scheduling: a Feasibility Study",
    about: include_str!("about.md"),
    facts: |setup| {
        json!({
            "jobs": setup.jobs,
            "nodes": setup.nodes,
            "load": setup.load,
            "quick": setup.size == Size::Quick,
        })
    },
    parts: &[
        fig4::FIG4,
        fig5::FIG5,
        fig6::FIG6,
        table1::TABLE1,
        poll::POLLED,
        table2::TABLE2,
        table3::TABLE3,
        forward::FORWARD,
        baselines::BASELINES,
        condition::<Setup, 0>(),
        condition::<Setup, 1>(),
        condition::<Setup, 2>(),
        condition::<Setup, 3>(),
        scale::SCALE,
    ],
};

/// The setup that all parts share.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Setup {
    /// How large the simulations are.
    pub size: Size,
    /// The configuration that all runs begin with: the plain trace, Push, a static overlay.
    pub base: Config,
    /// How many jobs there are.
    pub jobs: usize,
    /// How many nodes there are.
    pub nodes: u32,
    /// The mean load of the trace before times are rounded up to slots.
    pub load: f64,
    /// Whether jobs have requested times.
    pub has_requested_times: bool,
    /// A day of low and a day of high load, if the trace is that long.
    pub days: Option<[Day; 2]>,
}

/// How the trace is compressed in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trace {
    /// Not at all.
    Plain,
    /// To a mean load of 95 %, as in the paper.
    Compressed,
    /// To a mean load of 120 %, so that the grid never catches up.
    Overloaded,
}

impl Trace {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Compressed => "95",
            Self::Overloaded => "120",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Compressed => "compressed to 95 %",
            Self::Overloaded => "compressed to 120 %",
        }
    }

    const fn load(self) -> Option<f64> {
        match self {
            Self::Plain => None,
            Self::Compressed => Some(0.95),
            Self::Overloaded => Some(1.2),
        }
    }
}

/// The kinds of messages that count as the cost of Pull.
const PULLED: [&str; 2] = [PULL, OTHERS];

const SLOT: Span = Span::from_secs(60);

impl Conditioned for Setup {
    const CONTENDERS: &'static [Contender] = &[
        Contender(
            "asap, as in the paper",
            "asap-paper",
            Whose::Paper,
            |config| {
                config.scheduler = Scheduler::Asap;
                config.rules.asap = paper_rules();
            },
        ),
        Contender("asap, by default", "asap", Whose::Ours, |config| {
            config.scheduler = Scheduler::Asap;
        }),
    ];

    fn size(&self) -> Size {
        self.size
    }

    fn seed(&self) -> u64 {
        self.base.seed
    }
}

/// The paper's rules for `asap`.
fn paper_rules() -> AsapConfig {
    AsapConfig {
        max_hops: 2,
        breadth: 1,
        width: 1,
        searcher: Searcher::Excluded,
        rounds: 2,
        improve: Span::ZERO,
        patience: Span::ZERO,
        slot: SLOT,
        links: Links::Static,
        exchange: ExchangeName::Push,
        degree: 20,
        forward: 5,
        ..AsapConfig::default()
    }
}

impl Setup {
    /// Prepares the workload of these options, and measures its load.
    pub(crate) fn new(options: &Options) -> Result<Self, InputError> {
        let base = base(options).checked()?;
        let mut unslotted = base.clone();
        unslotted.workload.slot = None;
        let prepared = prepare(&unslotted)?;
        let workload = &prepared.workload;
        let nodes = u32::try_from(prepared.grid.len()).unwrap_or(u32::MAX);
        let load = workload.load(nodes, Estimates::Exact).ratio();
        let load = load.ok_or_else(|| {
            ConfigError::from("all jobs were submitted at the same time; choose another trace")
        })?;
        let requested = |workload: &Workload| {
            let mut jobs = workload.jobs.iter();
            jobs.any(|job| job.requested_time.is_some())
        };
        // Pins the trace and the grid, so that all runs use the same.
        let mut base = base;
        base.grid = prepared.config.grid.clone();
        base.workload.trace = prepared.config.workload.trace.clone();
        base.workload.trace_digest = prepared.config.workload.trace_digest.clone();
        let mut setup = Self {
            size: options.size,
            base,
            jobs: workload.jobs.len(),
            nodes,
            load,
            has_requested_times: requested(workload),
            days: None,
        };
        setup.days = day::choose(&setup)?;
        Ok(setup)
    }

    /// A run on the whole trace, with these changes.
    fn planned(&self, name: &str, trace: Trace, change: impl FnOnce(&mut Config)) -> Planned {
        let mut config = self.base.clone();
        config.workload.load = trace.load();
        change(&mut config);
        Planned {
            name: format!("{}-{name}", trace.name()),
            config,
        }
    }

    /// The whole trace with Push.
    fn push(&self, trace: Trace) -> Planned {
        self.planned("push", trace, |_| {})
    }

    /// The whole trace with Pull.
    fn pull(&self, trace: Trace) -> Planned {
        self.planned("pull", trace, |config| {
            config.rules.asap.exchange = ExchangeName::Pull;
        })
    }

    /// How long a day is; shorter in quick runs.
    fn day(&self) -> Span {
        match self.size {
            Size::Full => Span::from_secs(86_400),
            Size::Quick => Span::from_secs(2 * 3_600),
        }
    }

    /// How long the grid fills before the measured day.
    fn warm_up(&self) -> Span {
        match self.size {
            Size::Full => Span::from_secs(12 * 3_600),
            Size::Quick => self.day(),
        }
    }
}

/// The configuration that all runs begin with.
fn base(options: &Options) -> Config {
    let mut config = Config {
        scheduler: Scheduler::Asap,
        seed: options.seed,
        rules: Rules {
            asap: paper_rules(),
            ..Rules::default()
        },
        ..Config::default()
    };
    config.workload.estimates = Estimates::Exact;
    config.workload.slot = Some(SLOT);
    config.report.window = Span::from_secs(6 * 3_600);
    if options.size == Size::Quick {
        config.report.window = Span::from_secs(3_600);
        config.rules.asap.shuffle_period = Span::from_secs(1_200);
    }
    if let Some(trace) = &options.trace {
        config.workload.source = Source::Trace;
        config.workload.trace = Some(trace.clone());
        config.grid.nodes = options.nodes;
        if options.size == Size::Quick {
            config.workload.until = Some(Span::from_secs(86_400));
        }
        return config;
    }
    config.workload.source = Source::Grid5000Like;
    let like = &mut config.workload.grid5000_like;
    if options.size == Size::Quick {
        like.days = 2;
        like.calm_days = 1;
        like.nodes = 100;
        like.largest = 80;
    }
    let nodes = options.nodes.unwrap_or(like.nodes);
    // As many jobs per node as the paper's 90,000 on 5000 nodes in 82 days; quick runs have more per day.
    like.jobs = match options.size {
        Size::Full => nodes.saturating_mul(18),
        Size::Quick => nodes.saturating_mul(3),
    };
    like.nodes = nodes;
    like.largest = like.largest.min(nodes);
    config
}

/// A small setup with this seed.
#[cfg(test)]
fn quick(seed: u64) -> Setup {
    Setup::new(&Options::quick(seed)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::assert_names_tell_runs_apart;

    #[test]
    fn runs_of_one_name_are_one_run_and_others_differ() {
        assert_names_tell_runs_apart(&PAPER.planned(&quick(1)));
    }

    #[test]
    fn every_run_has_the_rules_of_the_reproduction() {
        let week = |planned: &Planned| planned.name.starts_with("week-");
        let planned = PAPER.planned(&quick(1)).into_iter();
        for Planned { name, config } in planned.filter(|planned| !week(planned)) {
            assert_eq!(config.workload.slot, Some(SLOT), "{name}");
            assert_eq!(config.rules.asap.slot, SLOT, "{name}");
            let default = name.contains("default") || name.contains("improve");
            assert_eq!(config.rules.asap.rounds == 2, !default, "{name}");
            assert_eq!(config.seed, 1, "{name}");
            assert_eq!(config.network, crate::config::NetworkConfig::default());
        }
    }
}

//! How far `asap` is from schedulers that know everything.

use super::{Planned, Setup, Trace};
use crate::config::Config;
use crate::experiment::{InputError, wait_difference, wait_ratio};
use crate::outcome::Estimates;
use crate::reproduce::{Case, Finished, Part, Report, Rules, Sample, Table, part};
use crate::schedulers::Scheduler;
use crate::schedulers::asap::AsapConfig;
use gridweave_core::scheduler::asap::Choice;
use gridweave_core::scheduler::asap::Searcher;
use gridweave_core::time::Span;

pub(super) const BASELINES: Part<Setup> = part(
    "baselines",
    "Against centralised schedulers, on the same slotted jobs",
    plan,
    report,
);

fn paper(_: &mut Config) {}

fn wide(config: &mut Config) {
    config.rules.asap.max_hops = u8::MAX;
    config.rules.asap.searcher = Searcher::Included;
}

/// The defaults of the program, instead of the paper's values.
pub(super) fn default(config: &mut Config) {
    let default = AsapConfig::default();
    config.rules.asap.max_hops = default.max_hops;
    config.rules.asap.breadth = default.breadth;
    config.rules.asap.width = default.width;
    config.rules.asap.searcher = default.searcher;
    config.rules.asap.rounds = default.rounds;
    config.rules.asap.improve = default.improve;
    config.rules.asap.patience = default.patience;
}

const CONTENDERS: [Case; 8] = [
    Case("central-easy", "easy", |config| {
        config.scheduler = Scheduler::CentralEasy;
    }),
    Case("central-conservative", "conservative", |config| {
        config.scheduler = Scheduler::CentralConservative;
    }),
    Case("central-fcfs", "fcfs", |config| {
        config.scheduler = Scheduler::CentralFcfs;
    }),
    Case("asap, as in the paper", "push", paper),
    Case("asap, any number of hops", "push-wide", wide),
    Case("asap, by default", "push-default", default),
    Case(
        "asap, by default, moving up every hour",
        "push-improve",
        |config| {
            default(config);
            config.rules.asap.improve = Span::from_secs(3_600);
        },
    ),
    Case("asap, best fit", "push-best-fit", |config| {
        config.rules.asap.choice = Choice::BestFit;
    }),
];

/// Whose rules a contender follows.
fn rules(title: &str) -> Rules {
    match title {
        "asap, as in the paper" => Rules::Paper,
        central if central.starts_with("central") => Rules::Other,
        _ => Rules::Ours,
    }
}

const TRACES: [Trace; 2] = [Trace::Plain, Trace::Compressed];

fn estimates(setup: &Setup) -> &'static [Estimates] {
    if setup.has_requested_times {
        &[Estimates::Exact, Estimates::Kill]
    } else {
        &[Estimates::Exact]
    }
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let mut runs = Vec::new();
    for &estimates in estimates(setup) {
        for Case(_, name, change) in CONTENDERS {
            let name = match estimates {
                Estimates::Exact => name.to_owned(),
                _ => format!("{name}-requested"),
            };
            runs.extend(TRACES.map(|trace| {
                setup.planned(&name, trace, |config| {
                    config.workload.estimates = estimates;
                    change(config);
                })
            }));
        }
    }
    Ok(runs)
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut tables = Vec::new();
    let titles = [
        ("baselines", "exact run times"),
        (
            "baselines-requested",
            "requested times, nodes released when a job ends",
        ),
    ];
    let per_table = CONTENDERS.len() * TRACES.len();
    for ((name, title), samples) in titles.into_iter().zip(samples.chunks_exact(per_table)) {
        let mut table = Table::unpublished(
            name,
            title,
            "scheduler | failures, plain | wait s, plain | - easy s, plain | failures, 95 % | wait s, 95 % | \
             / easy, 95 % | / conservative, 95 %",
        );
        let (plain, full, conservative) = (samples[0], samples[1], samples[3]);
        for (Case(title, ..), pair) in CONTENDERS.iter().zip(samples.chunks_exact(2)) {
            let [ours, ours_full] = [pair[0], pair[1]];
            let to = |other: &Sample<'_>| {
                ours_full.against(other, 2, &|run, other| {
                    wait_ratio(&run.waits(), &other.waits())
                })
            };
            let row = [
                (*title).into(),
                ours.mean(0, &Finished::not_done),
                ours.mean(0, &Finished::mean_wait),
                ours.against(&plain, 0, &|run, plain| {
                    wait_difference(&run.waits(), &plain.waits())
                }),
                ours_full.mean(0, &Finished::not_done),
                ours_full.mean(0, &Finished::mean_wait),
                to(&full),
                to(&conservative),
            ];
            table.push_by(rules(title), row);
        }
        tables.push(table);
    }
    let notes = [
        "differences and ratios are over the jobs that ran under both; the paper has no such table",
        "jobs are rounded up to slots of a minute for all alike, and all know exact run times in the first table (D22)",
        "this workload has no requested times, so there is no second table for them",
    ];
    let notes = if setup.has_requested_times {
        &notes[..2]
    } else {
        &notes
    };
    Report::new(tables, notes, setup.size.caveat())
}

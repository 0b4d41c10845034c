//! The distance to schedulers that know everything.

use super::{Planned, Setup, Trace};
use crate::config::Config;
use crate::experiment::{InputError, wait_difference, wait_ratio};
use crate::outcome::Estimates;
use crate::reproduce::{Cell, Report, Sample, Table};
use crate::schedulers::Scheduler;
use crate::schedulers::asap::AsapConfig;
use gridweave_core::scheduler::asap::Choice;
use gridweave_core::scheduler::asap::Searcher;
use gridweave_core::time::Span;

pub(super) const TITLE: &str = "Against centralised schedulers, on the same slotted jobs";

/// A scheduler: its name in tables and in names of runs, and what sets it apart.
struct Contender(&'static str, &'static str, fn(&mut Config));

fn paper(_: &mut Config) {}

fn wide(config: &mut Config) {
    config.rules.asap.max_hops = u8::MAX;
    config.rules.asap.searcher = Searcher::Included;
}

/// What a user gets who sets nothing.
fn default(config: &mut Config) {
    let default = AsapConfig::default();
    config.rules.asap.max_hops = default.max_hops;
    config.rules.asap.breadth = default.breadth;
    config.rules.asap.searcher = default.searcher;
    config.rules.asap.rounds = default.rounds;
}

const CONTENDERS: [Contender; 7] = [
    Contender("central-conservative", "conservative", |config| {
        config.scheduler = Scheduler::CentralConservative;
    }),
    Contender("central-fcfs", "fcfs", |config| {
        config.scheduler = Scheduler::CentralFcfs;
    }),
    Contender("asap, as in the paper", "push", paper),
    Contender("asap, any number of hops", "push-wide", wide),
    Contender("asap, by default", "push-default", default),
    Contender(
        "asap, by default, moving up every hour",
        "push-improve",
        |config| {
            default(config);
            config.rules.asap.improve = Some(Span::from_secs(3_600));
        },
    ),
    Contender("asap, best fit", "push-best-fit", |config| {
        config.rules.asap.choice = Choice::BestFit;
    }),
];

const TRACES: [Trace; 2] = [Trace::Plain, Trace::Compressed];

fn estimates(setup: &Setup) -> &'static [Estimates] {
    if setup.has_requested_times {
        &[Estimates::Exact, Estimates::Kill]
    } else {
        &[Estimates::Exact]
    }
}

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let mut runs = Vec::new();
    for &estimates in estimates(setup) {
        for Contender(_, name, change) in CONTENDERS {
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

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
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
        let mut table = Table::new(
            name,
            title,
            &[
                "scheduler",
                "failures, plain",
                "wait s, plain",
                "- conservative s, plain",
                "failures, 95 %",
                "wait s, 95 %",
                "/ conservative, 95 %",
            ],
        );
        let (plain, full) = (samples[0], samples[1]);
        for (Contender(title, ..), pair) in CONTENDERS.iter().zip(samples.chunks_exact(2)) {
            let failures = |sample: Sample<'_>| {
                Cell::Number(
                    sample.estimate(|run| {
                        let jobs = run.summary.jobs;
                        (jobs.rejected + jobs.failed + jobs.lost) as f64
                    }),
                    0,
                )
            };
            let wait = |sample: Sample<'_>| Cell::Number(sample.estimate(|run| run.wait().mean), 0);
            table.push([
                (*title).into(),
                failures(pair[0]),
                wait(pair[0]),
                Cell::maybe(
                    pair[0].against(&plain, |run, reference| {
                        wait_difference(&run.waits(), &reference.waits())
                    }),
                    0,
                ),
                failures(pair[1]),
                wait(pair[1]),
                Cell::maybe(
                    pair[1].against(&full, |run, full| wait_ratio(&run.waits(), &full.waits())),
                    2,
                ),
            ]);
        }
        tables.push(table);
    }
    let mut notes = vec![
        "differences and ratios are over the jobs that ran under both; the paper has no such table".into(),
        "jobs are rounded up to slots of a minute for all alike, and all know exact run times in the first table (D22)".into(),
    ];
    if !setup.has_requested_times {
        notes.push(
            "this workload has no requested times, so there is no second table for them".into(),
        );
    }
    notes.extend(setup.caveat());
    Report { tables, notes }
}

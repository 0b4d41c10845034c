//! As soon as possible along a helper overlay of first free windows, against `asap`: what neither paper pursued.

use super::Setup;
use crate::config::Config;
use crate::experiment::{InputError, wait_ratio};
use crate::reproduce::{Cell, Planned, Report, Sample, Table};
use crate::schedulers::Scheduler;
use crate::schedulers::asap;
use crate::schedulers::criteria::{CriteriaConfig, CriterionName};
use crate::schedulers::criteria::{HELPERS, RANDOM, SEARCH};
use gridweave_core::scheduler::criteria::Exploration;
use gridweave_core::scheduler::criteria::Helper;
use gridweave_core::time::Span;

pub(super) const TITLE: &str = "As soon as possible, on a trace compressed to 95 %: helpers of first free windows against asap";

/// A scheduler in the table: its title, its name in runs, and what sets it apart.
struct Contender(&'static str, &'static str, fn(&mut Config));

const CONTENDERS: [Contender; 5] = [
    Contender("asap, as in its paper", "asap-paper", |_| {}),
    Contender("asap, its defaults", "asap", |config| {
        config.rules.asap = asap::AsapConfig::default();
    }),
    Contender("criteria, random links", "basic", |config| {
        criteria(config, Exploration::Basic, 2.0);
    }),
    Contender("criteria, helper", "proactive", |config| {
        criteria(config, Exploration::Proactive, 2.0);
    }),
    Contender("criteria, helper, alpha 8", "proactive-8", |config| {
        criteria(config, Exploration::Proactive, 8.0);
    }),
];

fn criteria(config: &mut Config, exploration: Exploration, alpha: f64) {
    config.scheduler = Scheduler::Criteria;
    config.rules.criteria = CriteriaConfig {
        criterion: CriterionName::Soonest,
        helpers: Some(match exploration {
            Exploration::Basic => Vec::new(),
            Exploration::Proactive => vec![Helper::FirstFree],
        }),
        exploration,
        alpha,
        iterations: 5,
        period: Span::from_secs(1_800),
        ..CriteriaConfig::default()
    };
}

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CONTENDERS.iter().map(|Contender(_, name, change)| {
        let mut config = setup.base.clone();
        config.workload.load = Some(0.95);
        change(&mut config);
        Planned {
            name: format!("95-{name}"),
            config,
        }
    });
    Ok(runs.collect())
}

/// Messages of asap that find places, and those that tell schedules.
const ASAP_SCHEDULES: [&str; 2] = ["Schedule", "Subscribe"];

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "windows",
        "all jobs want to start as soon as possible",
        &[
            "scheduler",
            "failures",
            "wait s",
            "wait / asap's",
            "search messages for each job",
            "schedules and gossip for each job",
            "all kilobytes for each job",
        ],
    );
    let asap = samples[0];
    for (Contender(title, ..), sample) in CONTENDERS.iter().zip(samples) {
        let per_job = |kinds: &[&str]| {
            let figure = sample.estimate(|run| {
                run.sent(kinds).messages as f64 / run.summary.jobs.submitted.max(1) as f64
            });
            Cell::Number(figure, 0)
        };
        let search = [&asap::SEARCH[..], &SEARCH].concat();
        let gossip = [&ASAP_SCHEDULES[..], &RANDOM, &[HELPERS]].concat();
        let failures = sample.estimate(|run| {
            let jobs = run.summary.jobs;
            (jobs.rejected + jobs.failed + jobs.lost) as f64
        });
        let bytes = sample.estimate(|run| {
            run.summary.messages.bytes as f64 / 1e3 / run.summary.jobs.submitted.max(1) as f64
        });
        table.push([
            (*title).into(),
            Cell::Number(failures, 0),
            Cell::Number(sample.estimate(|run| run.wait().mean), 0),
            Cell::maybe(
                sample.against(&asap, |run, asap| wait_ratio(&run.waits(), &asap.waits())),
                2,
            ),
            per_job(&search),
            per_job(&gossip),
            Cell::Number(bytes, 0),
        ]);
    }
    let mut notes = vec![
        "all know exact run times, which are rounded up to slots of a minute; asap pushes schedules over a static overlay of 20 links".into(),
        "criteria looks five times for each job, and gossips every half an hour; ratios are over the jobs that ran under both".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

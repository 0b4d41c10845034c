//! The earliest start with a helper overlay of first free windows, against `asap`: neither paper tried this.

use super::Setup;
use crate::config::Config;
use crate::experiment::{InputError, wait_ratio};
use crate::reproduce::{Case, Finished, Part, Planned, Report, Rules, Sample, Table, part};
use crate::schedulers::Scheduler;
use crate::schedulers::asap;
use crate::schedulers::criteria::{CriteriaConfig, CriterionName};
use crate::schedulers::criteria::{HELPERS, RANDOM, SEARCH};
use gridweave_core::scheduler::criteria::Exploration;
use gridweave_core::scheduler::criteria::Helper;
use gridweave_core::time::Span;

pub(super) const WINDOWS: Part<Setup> = part(
    "windows",
    "As soon as possible, on a trace compressed to 95 %: helpers of first free windows against asap",
    plan,
    report,
);

const CONTENDERS: [Case; 5] = [
    Case("asap, as in its paper", "asap-paper", |_| {}),
    Case("asap, its defaults", "asap", |config| {
        config.rules.asap = asap::AsapConfig::default();
    }),
    Case("criteria, random links", "basic", |config| {
        criteria(config, Exploration::Basic, 2.0);
    }),
    Case("criteria, helper", "proactive", |config| {
        criteria(config, Exploration::Proactive, 2.0);
    }),
    Case("criteria, helper, alpha 8", "proactive-8", |config| {
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
        ..CriteriaConfig::paper()
    };
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CONTENDERS.iter().map(|Case(_, name, change)| {
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

/// The kinds of messages by which `asap` tells schedules.
const ASAP_SCHEDULES: [&str; 2] = ["Schedule", "Subscribe"];

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "windows",
        "all jobs want to start as soon as possible",
        "scheduler | failures | wait s | wait / asap's | search messages for each job | \
         schedules and gossip for each job | all kilobytes for each job",
    );
    let asap = samples[0];
    for (Case(title, ..), sample) in CONTENDERS.iter().zip(samples) {
        let search = [&asap::SEARCH[..], &SEARCH].concat();
        let gossip = [&ASAP_SCHEDULES[..], &RANDOM, &[HELPERS]].concat();
        let rules = match *title {
            "asap, as in its paper" => Rules::Paper,
            _ => Rules::Ours,
        };
        table.push_by(
            rules,
            [
                (*title).into(),
                sample.mean(0, &Finished::not_done),
                sample.mean(0, &Finished::mean_wait),
                sample.against(&asap, 2, &|run, asap| {
                    wait_ratio(&run.waits(), &asap.waits())
                }),
                sample.mean(0, &|run| run.sent_per_job(&search)),
                sample.mean(0, &|run| run.sent_per_job(&gossip)),
                sample.mean(0, &|run| {
                    run.per_job(run.summary.messages.bytes as f64 / 1e3)
                }),
            ],
        );
    }
    let notes = [
        "all know exact run times, which are rounded up to slots of a minute; asap pushes schedules over a static overlay of 20 links",
        "criteria looks five times for each job, and gossips every half an hour; ratios are over the jobs that ran under both",
    ];
    Report::new([table], &notes, setup.caveat())
}

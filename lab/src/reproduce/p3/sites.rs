//! What sites decide for themselves: whose jobs they run, in which order, and what their owners keep.

use super::{Planned, Setup};
use crate::config::{Config, Source};
use crate::experiment::InputError;
use crate::grid::Grid;
use crate::outcome::{Estimates, Outcome};
use crate::reproduce::{Case, Cell, Finished, Part, Report, Rules, Sample, Size, Table, part};
use crate::schedulers::aria::{AriaConfig, ClassConfig, PolicyName, ServesName, WindowConfig};
use gridweave_core::time::{Span, Time};

pub(super) const SITES: Part<Setup> = part(
    "sites",
    "Sites with organisations, priorities, hours of their owners and backfilling",
    plan,
    report,
);

/// The sites of the grid, and the organisations to which they and the jobs belong.
const PLACES: u32 = 12;
const ORGANISATIONS: u32 = 3;

/// The load, at which queues are long enough for their order to matter.
const LOAD: f64 = 0.8;

const HOUR: Span = Span::from_secs(3_600);

/// The hours of each day that are the owners', and on how many days.
const FROM: u64 = 8;
const UNTIL: u64 = 18;
const DAYS: u64 = 7;

const CASES: [Case; 8] = [
    Case("first come, first served", "", |_| {}),
    Case("the same, backfilling", "-backfill", |config| {
        config.rules.aria.backfill = true;
    }),
    Case("jobs of the own organisation first", "-own", |config| {
        config.rules.aria.policy = PolicyName::Priority;
    }),
    Case("jobs of organisation 1 first", "-first", |config| {
        config.rules.aria.policy = PolicyName::Priority;
        config.rules.aria.classes = vec![ClassConfig {
            organisation: 1,
            class: 2,
        }];
    }),
    Case("the own organisation only", "-members", |config| {
        config.rules.aria.serves = ServesName::Members;
    }),
    Case(
        "owners keep a quarter, from 8 to 18 h",
        "-quarter",
        |config| {
            config.rules.aria.windows = hours(0.25, None);
        },
    ),
    Case("the same, backfilling", "-quarter-backfill", |config| {
        config.rules.aria.windows = hours(0.25, None);
        config.rules.aria.backfill = true;
    }),
    Case("those of organisation 1 keep all", "-whole", |config| {
        config.rules.aria.windows = hours(1.0, Some(1));
    }),
];

/// The owners' hours of each day.
fn hours(part: f64, organisation: Option<u32>) -> Vec<WindowConfig> {
    let of_day = |day| WindowConfig {
        from: HOUR.times(24 * day + FROM),
        until: HOUR.times(24 * day + UNTIL),
        part,
        organisation,
    };
    (0..DAYS).map(of_day).collect()
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES.iter().map(|Case(_, suffix, change)| {
        let mut config: Config = setup.base.clone();
        config.workload.source = Source::Bundled;
        config.workload.estimates = Estimates::Exact;
        config.workload.organisations = Some(ORGANISATIONS);
        config.workload.load = Some(LOAD);
        config.grid.sites = Some(PLACES);
        config.grid.until = None;
        config.report.window = HOUR;
        config.rules.aria = AriaConfig {
            organisations: ORGANISATIONS,
            iteration: Some(HOUR),
            lease: Some(HOUR),
            ..AriaConfig::default()
        };
        if setup.size == Size::Quick {
            config.workload.first = Some(200);
        }
        change(&mut config);
        Planned {
            name: format!("sites{suffix}"),
            config,
        }
    });
    Ok(runs.collect())
}

/// The part of all processors that jobs used in the owners' hours, in percent.
fn used_in_hours(run: &Finished) -> f64 {
    let Grid::Mixed(mixed) = &*run.prepared.grid else {
        return 0.0;
    };
    let Some(shares) = mixed.shares() else {
        return 0.0;
    };
    let workload = &run.prepared.workload;
    let (mut used, mut all) = (0.0, 0.0);
    for window in hours(1.0, None) {
        let (from, until) = (Time::ZERO + window.from, Time::ZERO + window.until);
        for (index, outcome) in run.run.outcomes.iter().enumerate() {
            if let Outcome::Ran { start, end, .. } = outcome {
                let taken = workload.requirement(index).value(shares).unwrap_or(1);
                let both = (*end).min(until) - (*start).max(from);
                used += taken as f64 * both.as_micros() as f64;
            }
        }
        let length = (window.until - window.from).as_micros();
        all += length as f64 * run.prepared.grid.capacity() as f64;
    }
    100.0 * used / all
}

/// The mean wait of the jobs of an organisation; nothing if none ran.
fn wait(run: &Finished, organisation: u32) -> Option<f64> {
    let of = run.summary.organisations.get(&organisation)?;
    Some(of.wait.as_ref()?.mean)
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "sites",
        "a week of parallel jobs at 12 sites of three organisations",
        "sites | completed | failed or rejected | wait s | p99 wait s | organisation 1 | organisation 2 | \
         organisation 3 | used in the owners' hours % | messages for each job | violations",
    );
    for (Case(title, ..), sample) in CASES.iter().zip(samples) {
        let row: [Cell; 11] = [
            (*title).into(),
            sample.mean(0, &Finished::completed),
            sample.mean(0, &Finished::not_done),
            sample.mean(0, &Finished::mean_wait),
            sample.mean(0, &|run| run.wait().p99),
            sample.mean_of_some(0, &|run| wait(run, 1)),
            sample.mean_of_some(0, &|run| wait(run, 2)),
            sample.mean_of_some(0, &|run| wait(run, 3)),
            sample.mean(1, &used_in_hours),
            sample.mean(1, &|run| run.summary.messages.per_job),
            sample.mean(0, &|run| run.summary.violations as f64),
        ];
        table.push_by(Rules::Ours, row);
    }
    let notes = [
        "the paper says that sites have policies of their own, and belong to virtual organisations, without figures",
        "jobs belong to organisations by the groups of their users, sites by chance; a wait of four hours makes up for one class",
        "run times are known, so no job runs on into the hours of an owner",
    ];
    Report::new([table], &notes, setup.size.caveat())
}

//! A real trace of serial jobs on many sites, which P3 leaves to future work.

use super::{Planned, Setup};
use crate::config::{Config, SiteSizes, Source};
use crate::experiment::InputError;
use crate::outcome::Estimates;
use crate::reproduce::{Cell, Finished, Part, Report, Rules, Sample, Size, Table, part};
use crate::results::Summary;
use crate::schedulers::Scheduler;
use crate::schedulers::aria::{AriaConfig, PolicyName};
use gridweave_core::time::Span;

pub(super) const TRACE: Part<Setup> = part(
    "trace",
    "A trace of serial jobs on many sites",
    plan,
    report,
);

/// How many sites there are: as many as in LCG's trace.
const SITES: u32 = 170;

/// How many processors there are, unless `--nodes` is given: twelve for each site.
const PROCESSORS: u32 = SITES * 12;

/// What schedulers are told of run times.
const TOLD: [(&str, &str, Estimates); 2] = [
    ("exact", "", Estimates::Exact),
    ("requested", "-requested", Estimates::Extend),
];

/// A scheduler, and which of the cases knows everything and has the same order of jobs.
struct Trial {
    title: &'static str,
    name: &'static str,
    rules: Rules,
    bound: usize,
    change: fn(&mut Config),
}

const TRIALS: [Trial; 10] = [
    Trial {
        title: "central-fcfs",
        name: "trace-central-fcfs",
        rules: Rules::Other,
        bound: 0,
        change: |config| central(config, Scheduler::CentralFcfs),
    },
    Trial {
        title: "central-easy",
        name: "trace-central-easy",
        rules: Rules::Other,
        bound: 1,
        change: |config| central(config, Scheduler::CentralEasy),
    },
    Trial {
        title: "central-sjf",
        name: "trace-central-sjf",
        rules: Rules::Other,
        bound: 2,
        change: |config| central(config, Scheduler::CentralSjf),
    },
    Trial {
        title: "aria, FCFS sites",
        name: "trace-fcfs",
        rules: Rules::Ours,
        bound: 0,
        change: |_| {},
    },
    Trial {
        title: "aria, backfilling sites",
        name: "trace-backfilling",
        rules: Rules::Ours,
        bound: 1,
        change: |config| config.rules.aria.backfill = true,
    },
    Trial {
        title: "aria, SJF sites",
        name: "trace-sjf",
        rules: Rules::Ours,
        bound: 2,
        change: |config| config.rules.aria.policy = PolicyName::Sjf,
    },
    Trial {
        title: "aria, FCFS sites",
        name: "trace-fcfs-paper",
        rules: Rules::Paper,
        bound: 0,
        change: |config| config.rules.aria = paper(&config.rules.aria),
    },
    Trial {
        title: "aria, SJF sites",
        name: "trace-sjf-paper",
        rules: Rules::Paper,
        bound: 2,
        change: |config| {
            config.rules.aria = paper(&config.rules.aria);
            config.rules.aria.policy = PolicyName::Sjf;
        },
    },
    Trial {
        title: "aria, SJF sites, busy ones pass floods on no farther than others",
        name: "trace-sjf-near",
        rules: Rules::Ours,
        bound: 2,
        change: |config| {
            config.rules.aria.policy = PolicyName::Sjf;
            config.rules.aria.busy_hops = config.rules.aria.near_hops;
        },
    },
    Trial {
        title: "aria, SJF sites, jobs do not move",
        name: "trace-sjf-still",
        rules: Rules::Ours,
        bound: 2,
        change: |config| {
            config.rules.aria.policy = PolicyName::Sjf;
            config.rules.aria.reschedule = false;
        },
    },
];

/// A scheduler that knows everything has one queue for all processors.
fn central(config: &mut Config, scheduler: Scheduler) {
    config.scheduler = scheduler;
    config.grid.sites = None;
    config.grid.site_sizes = SiteSizes::Equal;
}

/// The same with the paper's rules.
fn paper(aria: &AriaConfig) -> AriaConfig {
    AriaConfig {
        policy: aria.policy,
        iteration: aria.iteration,
        lease: aria.lease,
        ..AriaConfig::paper()
    }
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let Some(trace) = &setup.trace else {
        return Ok(Vec::new());
    };
    let runs = TOLD.iter().flat_map(|(_, suffix, estimates)| {
        TRIALS.iter().map(move |trial| {
            let mut config = setup.base.clone();
            config.workload.source = Source::Trace;
            config.workload.trace = Some(trace.clone());
            config.workload.estimates = *estimates;
            config.grid.sites = Some(SITES);
            config.grid.site_sizes = SiteSizes::Peaks;
            config.grid.nodes = Some(setup.processors.unwrap_or(PROCESSORS));
            config.grid.until = None;
            config.report.window = Span::from_secs(3_600);
            config.rules.aria = AriaConfig {
                iteration: Some(Span::from_secs(3_600)),
                lease: Some(Span::from_secs(3_600)),
                ..AriaConfig::default()
            };
            if setup.size == Size::Quick {
                config.workload.first = Some(2_000);
            }
            (trial.change)(&mut config);
            Planned {
                name: format!("{}{suffix}", trial.name),
                config,
            }
        })
    });
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let Some(sample) = samples.first() else {
        let missing = "not made: give a trace of serial jobs at 170 sites with --trace";
        return Report::new([], &[missing], None);
    };
    let mut table = Table::unpublished(
        "trace",
        "all jobs of the trace",
        "run times | scheduler | completed | failed or rejected | wait s | p95 wait s | p99 wait s | longest wait s | slowdown | messages for each job | wait / central",
    );
    let run = sample.any();
    let note = format!(
        "{}: {} jobs; {} processors in {SITES} sites, in proportion to the most processors that the jobs of each site would use at once; jobs are submitted to sites drawn by chance",
        run.prepared.workload.name,
        run.prepared.workload.jobs.len(),
        run.prepared.grid.capacity(),
    );
    for ((told, ..), samples) in TOLD.iter().zip(samples.chunks(TRIALS.len())) {
        for (trial, sample) in TRIALS.iter().zip(samples) {
            let figure =
                |digits, of: fn(&Summary) -> f64| sample.mean(digits, &|run| of(&run.summary));
            let against = sample.against(&samples[trial.bound], 3, &|run, bound| {
                Some(run.mean_wait() / bound.mean_wait()).filter(|ratio| ratio.is_finite())
            });
            let row: [Cell; 11] = [
                (*told).into(),
                trial.title.into(),
                sample.mean(0, &Finished::completed),
                figure(0, |run| (run.jobs.failed + run.jobs.rejected) as f64),
                sample.mean(0, &Finished::mean_wait),
                sample.mean(0, &|run| run.wait().p95),
                sample.mean(0, &|run| run.wait().p99),
                sample.mean(0, &|run| run.wait().max),
                figure(2, |run| run.bounded_slowdown.unwrap_or_default().mean),
                figure(1, |run| run.messages.per_job),
                against,
            ];
            table.push_by(trial.rules, row);
        }
    }
    let notes = [
        note.as_str(),
        "wait / central: with the same order of jobs in one queue for all processors; central-easy for backfilling sites",
        "serial jobs give backfilling nothing to fill: the first job that waits fits wherever another one does",
        "requested: schedulers are told the requested time, which jobs of this trace do not exceed",
    ];
    Report::new([table], &notes, setup.size.caveat())
}

//! A real trace of serial jobs on many sites, which P3 leaves to future work.

use super::{Planned, Setup};
use crate::config::Source;
use crate::experiment::InputError;
use crate::outcome::Estimates;
use crate::reproduce::{Case, Finished, Part, Report, Rules, Sample, Size, Table, part};
use crate::results::Summary;
use crate::schedulers::Scheduler;
use crate::schedulers::aria::{AriaConfig, ForwardName, PolicyName};
use gridweave_core::time::Span;

pub(super) const TRACE: Part<Setup> = part(
    "trace",
    "A trace of serial jobs on many sites",
    plan,
    report,
);

/// How many sites there are: as many as in LCG's trace.
const SITES: u32 = 170;

/// How many processors each site has, unless `--nodes` is given.
const PROCESSORS: u32 = 12;

const CASES: [Case; 6] = [
    Case("central-greedy", "trace-central-greedy", |config| {
        config.scheduler = Scheduler::CentralGreedy;
    }),
    Case("aria, rescheduling", "trace-iaria", |_| {}),
    Case("aria", "trace-aria", |config| {
        config.rules.aria.reschedule = false;
    }),
    Case(
        "aria, rescheduling, near forward",
        "trace-iaria-near",
        |config| {
            config.rules.aria.forward = ForwardName::Near;
        },
    ),
    Case(
        "aria, rescheduling, all forward",
        "trace-iaria-always",
        |config| {
            config.rules.aria.forward = ForwardName::Always;
        },
    ),
    Case("flood, each processor a node", "trace-flood", |config| {
        config.scheduler = Scheduler::Flood;
        config.grid.sites = None;
    }),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let Some(trace) = &setup.trace else {
        return Ok(Vec::new());
    };
    let runs = CASES.iter().map(|Case(_, name, change)| {
        let mut config = setup.base.clone();
        config.workload.source = Source::Trace;
        config.workload.trace = Some(trace.clone());
        config.workload.estimates = Estimates::Exact;
        config.grid.sites = Some(SITES);
        config.grid.nodes = Some(setup.processors.unwrap_or(SITES * PROCESSORS));
        config.grid.until = None;
        config.report.window = Span::from_secs(3_600);
        config.rules.aria = AriaConfig {
            policy: PolicyName::Fcfs,
            forward: ForwardName::Unmatched,
            iteration: Some(Span::from_secs(3_600)),
            lease: Some(Span::from_secs(3_600)),
            ..AriaConfig::default()
        };
        if setup.size == Size::Quick {
            config.workload.first = Some(2_000);
        }
        change(&mut config);
        Planned {
            name: (*name).to_owned(),
            config,
        }
    });
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let Some(sample) = samples.first() else {
        let missing = "not made: give a trace of serial jobs with --trace";
        return Report::new([], &[missing], None);
    };
    let mut table = Table::unpublished(
        "trace",
        "all jobs of the trace",
        "scheduler | completed | failed or rejected | wait s | p95 wait s | slowdown | used % | messages for each job",
    );
    let run = sample.first();
    let note = format!(
        "{}: {} jobs; {} processors in {SITES} equal sites, first come first served; run times are known exactly; jobs are submitted to sites drawn by chance",
        run.prepared.workload.name,
        run.prepared.workload.jobs.len(),
        run.prepared.grid.capacity(),
    );
    for (Case(title, ..), sample) in CASES.iter().zip(samples) {
        let figure = |digits, of: fn(&Summary) -> f64| sample.mean(digits, &|run| of(&run.summary));
        let rules = match title.starts_with("aria") {
            true => Rules::Paper,
            false => Rules::Other,
        };
        table.push_by(
            rules,
            [
                (*title).into(),
                sample.mean(0, &Finished::completed),
                figure(0, |run| (run.jobs.failed + run.jobs.rejected) as f64),
                sample.mean(0, &Finished::mean_wait),
                sample.mean(0, &|run| run.wait().p95),
                figure(2, |run| run.bounded_slowdown.unwrap_or_default().mean),
                figure(1, |run| 100.0 * run.utilization.effective),
                figure(1, |run| run.messages.per_job),
            ],
        );
    }
    Report::new([table], &[&note], setup.size.caveat())
}

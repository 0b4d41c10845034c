//! Requirements and policies: four kinds of nodes, and three organisations of which one admits no other.

use gridweave_core::admission::Preselection;
use gridweave_sim::engine::is_of;

use super::Setup;
use crate::config::Config;
use crate::experiment::InputError;
use crate::reproduce::{Finished, Part, Planned, Report, Rules, Sample, Size, Table, part};
use crate::schedulers::Scheduler;

pub(super) const POLICIES: Part<Setup> = part(
    "policies",
    "Requirements and policies: a week on four kinds of nodes of three organisations",
    plan,
    report,
);

/// The grid and its jobs; the guide shows this file as an example.
const EXAMPLE: &str = include_str!("policies.toml");

const SCHEDULERS: [Scheduler; 2] = [Scheduler::Asap, Scheduler::Criteria];

const PRESELECTIONS: [(Preselection, &str); 2] = [
    (Preselection::None, "none"),
    (Preselection::ByAttributes, "by attributes"),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let mut all = Vec::new();
    for scheduler in SCHEDULERS {
        for (preselection, name) in PRESELECTIONS {
            let mut config = Config::parse(EXAMPLE)?;
            config.seed = setup.base.seed;
            config.scheduler = scheduler;
            config.rules.asap.preselection = preselection;
            config.rules.criteria.preselection = preselection;
            if setup.size == Size::Quick {
                config.workload.first = Some(100);
                config.workload.max_nodes = Some(8);
                config.grid.nodes = Some(400);
            }
            all.push(Planned {
                name: format!("policies-{scheduler}-{}", name.replace(' ', "-")),
                config,
            });
        }
    }
    Ok(all)
}

/// How many messages of these kinds there were for each job.
fn per_job(run: &Finished, kinds: &[&str]) -> f64 {
    let all = run.summary.messages.by_kind.iter();
    let of_kind = all.filter(|(name, _)| is_of(name, kinds));
    run.per_job(of_kind.map(|(_, kind)| kind.total as f64).sum())
}

/// The mean wait of the jobs of an organisation; nothing if none ran.
fn wait(run: &Finished, organisation: u32) -> Option<f64> {
    let of = run.summary.organisations.get(&organisation)?;
    Some(of.wait.as_ref()?.mean)
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "policies",
        "what searches save by what nodes state",
        "scheduler | preselection | violations | not run % | refused for a requirement, for each job | \
         refused by a policy, for each job | questions to nodes, for each job | wait s | organisation 1 | \
         organisation 2 | organisation 3",
    );
    let of_each = SCHEDULERS
        .into_iter()
        .flat_map(|scheduler| PRESELECTIONS.map(|(_, name)| (scheduler, name)));
    for ((scheduler, preselection), sample) in of_each.zip(samples) {
        table.push_by(
            Rules::Ours,
            [
                scheduler.name().into(),
                preselection.into(),
                sample.mean(0, &|run| run.summary.violations as f64),
                sample.mean(1, &|run| {
                    let jobs = run.summary.jobs;
                    100.0 * (1.0 - jobs.completed as f64 / jobs.submitted.max(1) as f64)
                }),
                sample.mean(2, &|run| per_job(run, &["Commit.Refused.Lacking"])),
                sample.mean(2, &|run| per_job(run, &["Commit.Refused.NotAccepted"])),
                sample.mean(1, &|run| {
                    per_job(run, &["WhoElse", "Look", "Commit.Prepare"])
                }),
                sample.mean(0, &Finished::mean_wait),
                sample.mean_of_some(0, &|run| wait(run, 1)),
                sample.mean_of_some(0, &|run| wait(run, 2)),
                sample.mean_of_some(0, &|run| wait(run, 3)),
            ],
        );
    }
    let notes = [
        "the paper pre-selects nodes by their attributes and names policies of organisations, without figures",
        "half of the nodes have little memory; a tenth admits no job of organisation 1, and a tenth only jobs of organisation 3: jobs of others that need its architecture are refused",
        "without preselection nodes refuse a job one by one; a violation would be a job on a node that may not run it",
    ];
    Report::new([table], &notes, setup.size.caveat())
}

//! Messages per node as the grid grows.

use super::{Planned, SLOT, Setup};
use crate::config::Source;
use crate::experiment::InputError;
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Sample, Size, Table, part};
use crate::results::Estimate;
use crate::schedulers::asap::{GOSSIP, PULL, PUSH, SEARCH, SUBSCRIPTIONS};
use crate::workload::generate::Grid5000Like;
use gridweave_core::scheduler::asap::Links;
use gridweave_core::time::Span;

pub(super) const SCALE: Part<Setup> = part(
    "scale",
    "Messages per node and day as the grid grows",
    plan,
    report,
);

/// The parameters that all sizes share.
struct Scale {
    nodes: &'static [u32],
    /// Jobs per node.
    jobs: u32,
    largest: u32,
    hours: u64,
    shuffle: Span,
}

fn scale(setup: &Setup) -> Scale {
    match setup.size {
        Size::Full => Scale {
            nodes: &[1_000, 5_000, 20_000, 100_000],
            jobs: 2,
            largest: 420,
            hours: 24,
            shuffle: Span::from_secs(3_600),
        },
        Size::Quick => Scale {
            nodes: &[50, 100, 200],
            jobs: 4,
            largest: 20,
            hours: 4,
            shuffle: Span::from_secs(1_800),
        },
    }
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let scale = scale(setup);
    let runs = scale.nodes.iter().map(|&nodes| {
        let mut config = setup.base.clone();
        config.grid.nodes = None;
        config.grid.cores_per_node = 1;
        config.workload.source = Source::Grid5000Like;
        config.workload.trace = None;
        config.workload.trace_digest = None;
        config.workload.until = None;
        config.workload.slot = Some(SLOT);
        config.workload.grid5000_like = Grid5000Like {
            nodes,
            jobs: nodes.saturating_mul(scale.jobs),
            days: 1,
            calm_days: 0,
            calm_load: 0.28,
            load: 0.28,
            largest: scale.largest,
        };
        config.rules.asap.links = Links::Dynamic;
        config.rules.asap.shuffle_period = scale.shuffle;
        config.grid.until = Some(Span::from_secs(3_600 * scale.hours));
        config.report.window = Span::from_secs(3_600);
        Planned {
            name: format!("scale-{nodes}"),
            config,
        }
    });
    Ok(runs.collect())
}

/// A figure of a run, per node and day.
struct Column(&'static str, fn(&Finished) -> f64);

const COLUMNS: [Column; 7] = [
    Column("gossip", |run| sent(run, &[GOSSIP])),
    Column("push", |run| sent(run, &[PUSH])),
    Column("subscriptions", |run| sent(run, &SUBSCRIPTIONS)),
    Column("search", |run| sent(run, &SEARCH) + sent(run, &[PULL])),
    Column("commit", |run| {
        let others = [&[GOSSIP, PUSH, PULL][..], &SUBSCRIPTIONS, &SEARCH].concat();
        let all = run.run.traffic.total().messages as f64;
        per_node_and_day(run, all) - sent(run, &others)
    }),
    Column("reserved nodes", reserved),
    Column("push per reserved node", |run| {
        sent(run, &[PUSH]) / reserved(run).max(1e-9)
    }),
];

fn per_node_and_day(run: &Finished, count: f64) -> f64 {
    let until = run.run.over_at(&run.prepared.workload);
    let days = until.as_micros() as f64 / 86_400e6;
    count / run.summary.nodes as f64 / days.max(1e-9)
}

fn sent(run: &Finished, kinds: &[&str]) -> f64 {
    per_node_and_day(run, run.sent(kinds).messages as f64)
}

/// Nodes that submitted jobs need, per node and day.
fn reserved(run: &Finished) -> f64 {
    let until = run.run.over_at(&run.prepared.workload);
    let jobs = run.jobs().filter(|(job, _)| job.at < until);
    per_node_and_day(run, jobs.map(|(job, _)| f64::from(job.processors)).sum())
}

/// By how many percent the largest mean is above the smallest.
fn spread(estimates: &[Estimate]) -> f64 {
    let means = || estimates.iter().map(|estimate| estimate.mean);
    let (least, most) = (
        means().fold(f64::INFINITY, f64::min),
        means().fold(0.0, f64::max),
    );
    if least > 0.0 && least <= most {
        100.0 * (most / least - 1.0)
    } else {
        0.0
    }
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let scale = scale(setup);
    let mut names = vec!["nodes"];
    names.extend(COLUMNS.iter().map(|Column(name, _)| *name));
    let mut table = Table::new("scale", "messages per node and day", &names.join(" | "));
    let mut by_column = vec![Vec::new(); COLUMNS.len()];
    for (&nodes, sample) in scale.nodes.iter().zip(samples) {
        let mut row = vec![Cell::from(u64::from(nodes))];
        for (Column(_, figure), all) in COLUMNS.iter().zip(&mut by_column) {
            let estimate = sample.estimate(figure);
            all.push(estimate);
            row.push(Cell::Number(estimate, 1));
        }
        table.push(row);
    }
    let mut row = vec![Cell::from("spread %")];
    row.extend(by_column.iter().map(|all| Cell::exact(spread(all), 1)));
    table.push(row);
    let workload = format!(
        "{} h, {} jobs per node and day, 28 % load, jobs of up to {} nodes, Push in an overlay that shuffles every {}; the generator \
         with jobs in proportion to nodes, whatever --trace says",
        scale.hours, scale.jobs, scale.largest, scale.shuffle
    );
    let notes = [
        "published: the number of messages per node depends on the jobs, not on the size of the grid",
        &workload,
        "push follows the nodes that jobs reserve, whose number per node is drawn; per reserved node that chance is gone",
    ];
    let last = table.rows.len().saturating_sub(1);
    let size = "what grows a little is how much has been allocated by the end of the day, and with it what is pushed";
    let findings = ["gossip", "search", "push per reserved node"].map(|column| {
        Claim::sentence(
            format!("{column}: spread over sizes, %"),
            "the size does not matter",
            0.0..=5.0,
        )
        .or_below(25.0)
        .because(size)
        .judge(&table, last, column)
    });
    Report::new([table], &notes, setup.size.caveat()).judged(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_how_far_the_largest_is_above_the_least() {
        let estimates = [4.0, 5.0, 4.5].map(|mean| Estimate::of(&[mean]));
        assert_eq!(spread(&estimates), 25.0);
        assert_eq!(spread(&[]), 0.0);
    }
}

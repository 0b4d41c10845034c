//! Figures 3, 5 and 6: idle nodes.

use super::completed::POLICIES;
use super::completion::LOADS;
use super::{Scenario, Setup};
use crate::config::Fault;
use crate::reproduce::chart::Chart;
use crate::reproduce::{Cell, Claim, Finding, Finished, Part, Report, Sample, Table, part};

pub(super) const FIG3: Part<Setup> = part(
    "fig3",
    "Figure 3: idle nodes",
    |setup| setup.all(&POLICIES),
    |setup, samples| {
        let published =
            "published: iSJF and iMixed have about 100 fewer idle nodes than SJF and Mixed";
        report(setup, samples, "fig3", published, |table| {
            [(1, "SJF - iSJF"), (2, "Mixed - iMixed")]
                .map(|(plain, name)| {
                    Claim::number(format!("idle nodes in hours 2 to 4, {name}"), 100.0, 0.4)
                        .or_above(1.0)
                        .judge_value(table, table.difference(plain, plain + 3, HOURS_2_TO_4))
                })
                .into()
        })
    },
);
pub(super) const FIG5: Part<Setup> = part(
    "fig5",
    "Figure 5: idle nodes in an expanding network",
    |setup| setup.all(&EXPANDING),
    |setup, samples| {
        let published = "published as curves only: with rescheduling nodes that join are used sooner; but not all of them are needed: what iExpanding has more idle than iMixed, and Expanding more than Mixed, are nodes that joined and stayed idle";
        report(setup, samples, "fig5", published, |table| {
            vec![
                Claim::sentence(
                    "idle nodes in hours 2 to 4, Expanding - iExpanding",
                    "nodes that join are used sooner",
                    20.0..=f64::INFINITY,
                )
                .or_above(0.0)
                .judge_value(table, table.difference(1, 3, HOURS_2_TO_4)),
            ]
        })
    },
);
pub(super) const FIG6: Part<Setup> = part(
    "fig6",
    "Figure 6: idle nodes, by load",
    |setup| setup.all(&LOADS),
    |setup, samples| {
        let published =
            "published as curves only: fewer idle nodes with rescheduling, under low and high load";
        report(setup, samples, "fig6", published, |table| {
            [(0, "LowLoad - iLowLoad"), (2, "HighLoad - iHighLoad")]
                .map(|(plain, name)| {
                    Claim::sentence(
                        format!("idle nodes in hours 2 to 4, {name}"),
                        "fewer with rescheduling",
                        10.0..=f64::INFINITY,
                    )
                    .or_above(0.0)
                    .judge_value(table, table.difference(plain, plain + 3, HOURS_2_TO_4))
                })
                .into()
        })
    },
);

const EXPANDING: [Scenario; 4] = [
    Scenario::Mixed,
    Scenario::Expanding,
    Scenario::IMixed,
    Scenario::IExpanding,
];

/// How many of the nodes that have joined are idle, by hour.
fn idle(run: &Finished) -> Vec<(f64, f64)> {
    let joins: Vec<f64> = run
        .prepared
        .config
        .faults
        .iter()
        .filter_map(|fault| match fault {
            Fault::Join { at } => Some(at.as_micros() as f64 / 1e6),
            _ => None,
        })
        .collect();
    let window = run.prepared.config.report.window.as_micros() as f64 / 1e6;
    let rows = run.series.iter().map(|row| {
        let end = row.time + window;
        let absent = joins.iter().filter(|at| **at > end).count();
        (end / 3600.0, row.idle_nodes as f64 - absent as f64)
    });
    rows.collect()
}

/// The mean over an interval in hours; after the end of the run all nodes are idle.
fn mean_idle(run: &Finished, from: f64, until: f64) -> f64 {
    let rows = idle(run);
    let nodes = run.prepared.grid.len() as f64;
    let within: Vec<f64> = (0..)
        .map(|step| from + f64::from(step) / 6.0)
        .take_while(|hour| *hour <= until)
        .map(|hour| {
            let at = rows.iter().find(|(end, _)| *end >= hour - 1e-9);
            at.map_or(nodes, |(_, idle)| *idle)
        })
        .collect();
    within.iter().sum::<f64>() / within.len().max(1) as f64
}

/// The column that claims are about: all jobs have come, and most are not done yet.
const HOURS_2_TO_4: &str = "hours 2 to 4";

fn report(
    setup: &Setup,
    samples: &[Sample<'_>],
    name: &str,
    published: &str,
    judge: fn(&Table) -> Vec<Finding>,
) -> Report {
    let mut table = Table::new(
        name,
        "nodes that run nothing, mean over hours of the simulation",
        "scenario | least | hours 2 to 4 | hours 4 to 6 | hours 6 to 8 | hours 8 to 12",
    );
    let mut data = Table::data(
        &format!("{name}-idle"),
        "idle nodes over time, under the first seed",
        "scenario | hour | idle",
    );
    for sample in samples {
        let least = |run: &Finished| {
            let idle = idle(run).into_iter().map(|(_, idle)| idle);
            idle.fold(f64::INFINITY, f64::min)
        };
        let mut row = vec![sample.name.into(), sample.mean(0, &least)];
        let hours = [(2.0, 4.0), (4.0, 6.0), (6.0, 8.0), (8.0, 12.0)];
        row.extend(hours.map(|(from, until)| sample.mean(0, &|run| mean_idle(run, from, until))));
        table.push(row);
        for (hour, idle) in idle(sample.first()) {
            data.push([
                sample.name.into(),
                Cell::exact(hour, 2),
                Cell::exact(idle, 0),
            ]);
        }
    }
    let findings = judge(&table);
    let chart = Chart::of(&data, &["scenario"], "hour", "idle")
        .named(&format!("p3-{name}"), "idle nodes over time");
    Report::new([table, data], &[published], setup.size.caveat())
        .judged(findings)
        .drawn([chart])
}

//! Figure 1: the cost of a job's nodes after each iteration.

use gridweave_core::scheduler::criteria::Helper;
use gridweave_core::select::Closest;

use super::emulation::{CASES, CONTENDERS, ITERATIONS, SHOWN, case, cases, found};
use super::{Setting, Setup, reference};
use crate::reproduce::chart::Chart;
use crate::reproduce::{Cell, Claim, Figures, Finding, Making, Measured, Part, Report, Table};
use gridweave_sim::monitor::Monitor;

pub(super) const FIG1: Part<Setup> = Part {
    name: "fig1",
    title: "Figure 1: cost of the schedule found, relative to centralised ones, after each iteration",
    making: Making::Study {
        cases,
        measure,
        report,
    },
};

fn measure(setup: &Setup, number: usize, seed: u64, monitor: &Monitor) -> Figures {
    let (Setting { nodes, job }, contender) = case(setup, number);
    let profiles = setup.profiles(nodes, seed)?;
    let Some(contender) = contender else {
        let bred = reference::genetic(&profiles, job, &Closest, seed).unwrap_or(f64::NAN);
        let bound = reference::bound(&profiles, job).unwrap_or(f64::NAN);
        return Ok(vec![bred, bound]);
    };
    let config = contender.config(Helper::Proximity);
    Ok(found(&profiles, job, &config, seed, monitor))
}

fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::new(
        "fig1",
        "cost / that of the centralised genetic algorithm after iterations; and / that of the stronger bound",
        "nodes | job | protocol | 1 | 5 | 10 | 20 | 50 | 10 / bound | 50 / bound",
    );
    let mut data = Table::data(
        "fig1-iterations",
        "cost / that of the centralised genetic algorithm",
        "nodes | job | protocol | iteration | ratio",
    );
    let mut references = Table::unpublished(
        "fig1-references",
        "the centralised schedules: sums of distances to the centroid, in milliseconds",
        "nodes | job | genetic | bound | genetic / bound",
    );
    for (setting, measured) in setup.settings().iter().zip(measured.chunks_exact(CASES)) {
        let (contenders, centralised) = measured.split_at(CONTENDERS.len());
        let centralised = &centralised[0];
        let millis = |number| centralised.mean_of(1, &|figures| Some(figures.get(number)? / 1e3));
        let mut row = setting.cells();
        row.extend([millis(0), millis(1), centralised.ratio(0, centralised, 1)]);
        references.push(row);
        for (contender, measured) in CONTENDERS.iter().zip(contenders) {
            let ratio = |iteration: usize, to| measured.ratio(iteration - 1, centralised, to);
            let mut row = setting.cells();
            row.push(contender.title.into());
            row.extend(SHOWN.map(|iteration| ratio(iteration, 0)));
            row.extend([10, 50].map(|iteration| ratio(iteration, 1)));
            table.push_by(contender.rules(), row);
            for iteration in 1..=usize::from(ITERATIONS) {
                let mut row = setting.cells();
                let number = Cell::from(iteration as u64);
                row.extend([contender.title.into(), number, ratio(iteration, 0)]);
                data.push(row);
            }
        }
    }
    let notes = [
        "published: curves only, without numbers; the proactive protocol is close to the centralised schedule after few iterations, and always below the basic one",
        "the centralised genetic algorithm runs on all nodes until 200 generations bring nothing, five times; where it costs more than the bound it is a weak reference, and a ratio below 1 to it means just that",
        "the bound: the nearest of each node, the best of these improved until nothing gets better; still a schedule, and so no less than the optimum",
        &setup.whereabouts(),
    ];
    let findings: Vec<Finding> = setup
        .settings()
        .iter()
        .enumerate()
        .flat_map(|(number, setting)| judged(&table, number * CONTENDERS.len(), *setting))
        .collect();
    let charts = setup.settings().map(|setting| {
        let mut own = data.clone();
        own.rows.retain(|row| row[..2] == setting.cells());
        let Setting { nodes, job } = setting;
        Chart::of(&own, &["protocol"], "iteration", "ratio").named(
            &format!("p2-fig1-{nodes}-{job}"),
            &format!("cost / centralised: {job} of {nodes} nodes"),
        )
    });
    Report::new([table, references, data], &notes, setup.caveat())
        .judged(findings)
        .drawn(charts)
}

/// The verdicts on a setting, whose rows begin with that of the basic protocol.
fn judged(table: &Table, basic: usize, Setting { nodes, job }: Setting) -> [Finding; 3] {
    let setting = format!("{job} of {nodes}");
    let weak = "on many nodes the genetic algorithm of the reference finds poor sets, and costs many times the bound";
    [
        Claim::sentence(
            format!("proactive / centralised after 10 iterations, {setting}"),
            "close to it",
            0.0..=1.1,
        )
        .or_below(2.0)
        .because(weak)
        .judge(table, basic + 1, "10"),
        Claim::sentence(
            format!("basic / proactive after 10 iterations, {setting}"),
            "always below the basic one",
            1.0..=f64::INFINITY,
        )
        .judge_value(table, table.ratio(basic, basic + 1, "10")),
        Claim::sentence(
            format!("basic / proactive after 50 iterations, {setting}"),
            "always below the basic one",
            1.0..=f64::INFINITY,
        )
        .judge_value(table, table.ratio(basic, basic + 1, "50")),
    ]
}

//! Figure 1: the cost of a job's nodes after each iteration.

use gridweave_core::scheduler::criteria::Helper;
use gridweave_core::select::Closest;

use super::emulation::{self, CONTENDERS, ITERATIONS, SHOWN, found, ours};
use super::{Setting, Setup, reference};
use crate::reproduce::chart::Chart;
use crate::reproduce::{
    Cell, Claim, Figures, Finding, Making, Measured, Part, Report, Rules, Table,
};
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

/// The cases of a setting: the centralised references, each contender, and our rules.
const CASES: usize = emulation::CASES + 1;
const OURS: usize = emulation::CASES;

fn setting(setup: &Setup, number: usize) -> Setting {
    setup.settings()[number / CASES]
}

fn cases(setup: &Setup) -> Vec<String> {
    let all = 0..setup.settings().len() * CASES;
    let name = |number| {
        let Setting { nodes, job } = setting(setup, number);
        let title = match number % CASES {
            OURS => "our rules",
            contender => CONTENDERS
                .get(contender)
                .map_or("centralised", |known| known.title),
        };
        format!("{job} of {nodes}, {title}")
    };
    all.map(name).collect()
}

fn measure(setup: &Setup, number: usize, seed: u64, monitor: &Monitor) -> Figures {
    let Setting { nodes, job } = setting(setup, number);
    let profiles = setup.profiles(nodes, seed)?;
    let which = number % CASES;
    let config = match CONTENDERS.get(which) {
        Some(contender) => contender.config(Helper::Proximity),
        None if which == OURS => ours(),
        None => {
            let bred = reference::genetic(&profiles, job, &Closest, seed).unwrap_or(f64::NAN);
            let bound = reference::bound(&profiles, job).unwrap_or(f64::NAN);
            return Ok(vec![bred, bound]);
        }
    };
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
        let [contenders @ .., centralised, own] = measured else {
            continue;
        };
        let millis = |number| centralised.mean_of(1, &|figures| Some(figures.get(number)? / 1e3));
        let mut row = setting.cells();
        row.extend([millis(0), millis(1), centralised.ratio(0, centralised, 1)]);
        references.push(row);
        let known = CONTENDERS.map(|contender| (contender.title, contender.rules()));
        let known = known.into_iter().zip(contenders);
        let own = (("our rules", Rules::Ours), own);
        for ((title, rules), measured) in known.chain([own]) {
            let ratio = |iteration: usize, to| measured.ratio(iteration - 1, centralised, to);
            let mut row = setting.cells();
            row.push(title.into());
            row.extend(SHOWN.map(|iteration| ratio(iteration, 0)));
            row.extend([10, 50].map(|iteration| ratio(iteration, 1)));
            table.push_by(rules, row);
            for iteration in 1..=usize::from(ITERATIONS) {
                let mut row = setting.cells();
                let number = Cell::from(iteration as u64);
                row.extend([title.into(), number, ratio(iteration, 0)]);
                data.push(row);
            }
        }
    }
    let notes = [
        "published: curves only, without numbers; the proactive protocol is close to the centralised schedule after few iterations, and always below the basic one",
        "the centralised genetic algorithm runs on all nodes until 200 generations bring nothing, five times; where it costs more than the bound it is a weak reference, and a ratio below 1 to it means just that",
        "the bound: the nearest of each node, the best of these improved until nothing gets better; still a schedule, and so no less than the optimum",
        "our rules: searches begin at the densest places that nodes have heard of and in the middle of the best placement in turn; busy nodes do not count; and all else that is not in the paper",
        &setup.whereabouts(),
    ];
    let findings: Vec<Finding> = setup
        .settings()
        .iter()
        .enumerate()
        .flat_map(|(number, setting)| judged(&table, number * (CONTENDERS.len() + 1), *setting))
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
    let strong = "the bound is a stronger reference than P2's genetic algorithm, which costs up to 150 times as much";
    [
        Claim::sentence(
            format!("proactive / the bound after 10 iterations, {setting}"),
            "close to the centralised schedule",
            0.9..=1.1,
        )
        .or_below(2.0)
        .because(strong)
        .judge(table, basic + 1, "10 / bound"),
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

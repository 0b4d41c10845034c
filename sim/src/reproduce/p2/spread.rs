//! Nodes as far from each other as possible, iteration by iteration: a criterion that the paper only mentions.

use gridweave_core::job::Criterion;
use gridweave_core::select::Farthest;

use super::emulation::{CONTENDERS, Emulation, SHOWN, figures};
use super::{Setting, Setup, reference};
use crate::config::HelperName;
use crate::experiment::InputError;
use crate::monitor::Monitor;
use crate::reproduce::{Cell, Measured, Report, Table};

pub(super) const TITLE: &str = "Nodes far apart: spread of the schedule found after each iteration";

const CASES: usize = CONTENDERS.len() + 1;

fn of(setup: &Setup, case: usize) -> (Setting, usize) {
    (setup.settings()[case / CASES], case % CASES)
}

pub(super) fn cases(setup: &Setup) -> Vec<String> {
    let all = 0..setup.settings().len() * CASES;
    let name = |case| {
        let (Setting { nodes, job }, which) = of(setup, case);
        let title = CONTENDERS
            .get(which)
            .map_or("centralised", |known| known.title);
        format!("{job} of {nodes}, {title}")
    };
    all.map(name).collect()
}

pub(super) fn measure(
    setup: &Setup,
    case: usize,
    seed: u64,
    monitor: &Monitor,
) -> Result<Vec<f64>, InputError> {
    let (Setting { nodes, job }, which) = of(setup, case);
    let profiles = setup.profiles(nodes, seed)?;
    let Some(contender) = CONTENDERS.get(which) else {
        let bred = reference::genetic(&profiles, job, &Farthest, seed).unwrap_or(f64::NAN);
        let greedy = reference::best_effort(&profiles, job, &Farthest, seed).unwrap_or(f64::NAN);
        return Ok(vec![bred, greedy]);
    };
    let config = crate::config::CriteriaConfig {
        criterion: crate::config::CriterionName::Farthest,
        ..contender.config(HelperName::Remoteness)
    };
    let mut grid = Emulation::new(&profiles, &config, seed);
    grid.run_until(Emulation::settled(), monitor);
    let submitter = (seed % u64::from(nodes)) as u32;
    let now = grid.simulation.now();
    let job = grid.submit(now, submitter, job, 1, Criterion::Farthest);
    Ok(figures(&grid.follow(submitter, job, monitor)))
}

pub(super) fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::new(
        "spread",
        "sum of distances to the centroid / that of the centralised genetic algorithm after iterations: the larger the better; and / that of our own selection on all nodes",
        &[
            "nodes",
            "job",
            "protocol",
            "1",
            "5",
            "10",
            "20",
            "50",
            "50 / own on all",
        ],
    );
    for (setting, measured) in setup.settings().iter().zip(measured.chunks_exact(CASES)) {
        let (contenders, centralised) = measured.split_at(CONTENDERS.len());
        let centralised = &centralised[0];
        for (contender, measured) in CONTENDERS.iter().zip(contenders) {
            let ratio = |iteration: usize, to| {
                Cell::maybe(measured.ratio(iteration - 1, centralised, to), 3)
            };
            let mut row: Vec<Cell> = vec![
                u64::from(setting.nodes).into(),
                u64::from(setting.job).into(),
                contender.title.into(),
            ];
            row.extend(SHOWN.map(|iteration| ratio(iteration, 0)));
            row.push(ratio(50, 1));
            table.push(row);
        }
    }
    let mut notes = vec![
        "nothing is published about this criterion; its helper overlay links each node to the farthest it knows, and is followed breadth first".into(),
        setup.whereabouts(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}

//! Nodes as far apart as possible, after each iteration: a criterion that the paper only mentions.

use gridweave_core::scheduler::criteria::Helper;
use gridweave_core::select::Farthest;

use super::emulation::{CASES, CONTENDERS, SHOWN, case, cases, found};
use super::{Setting, Setup, reference};
use crate::reproduce::{Figures, Making, Measured, Part, Report, Table};
use crate::schedulers::criteria::{CriteriaConfig, CriterionName};
use gridweave_sim::monitor::Monitor;

pub(super) const SPREAD: Part<Setup> = Part {
    name: "spread",
    title: "Nodes far apart: spread of the schedule found after each iteration",
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
        let bred = reference::genetic(&profiles, job, &Farthest, seed).unwrap_or(f64::NAN);
        let greedy = reference::best_effort(&profiles, job, &Farthest, seed).unwrap_or(f64::NAN);
        return Ok(vec![bred, greedy]);
    };
    let config = CriteriaConfig {
        criterion: CriterionName::Farthest,
        ..contender.config(Helper::Remoteness)
    };
    Ok(found(&profiles, job, &config, seed, monitor))
}

fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::unpublished(
        "spread",
        "sum of distances to the centroid / that of the centralised genetic algorithm after iterations: the larger the better; and / that of our own selection on all nodes",
        "nodes | job | protocol | 1 | 5 | 10 | 20 | 50 | 50 / own on all",
    );
    for (setting, measured) in setup.settings().iter().zip(measured.chunks_exact(CASES)) {
        let (contenders, centralised) = measured.split_at(CONTENDERS.len());
        for (contender, measured) in CONTENDERS.iter().zip(contenders) {
            let ratio = |iteration: usize, to| measured.ratio(iteration - 1, &centralised[0], to);
            let mut row = setting.cells();
            row.push(contender.title.into());
            row.extend(SHOWN.map(|iteration| ratio(iteration, 0)));
            row.push(ratio(50, 1));
            table.push_by(contender.rules(), row);
        }
    }
    let published = "nothing is published about this criterion; its helper overlay links each node to the farthest it knows, and is followed breadth first";
    Report::new([table], &[published, &setup.whereabouts()], setup.caveat())
}

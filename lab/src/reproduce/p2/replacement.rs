//! Nodes that are lost before the start: how many gangs keep their start, with spares and without.

use gridweave_core::id::JobId;
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::emulation::{CYCLE, Emulation, ours};
use super::{Setup, id};
use crate::reproduce::{Figures, Making, Measured, Part, Report, Rules, Size, Table};
use crate::schedulers::criteria::CriteriaConfig;
use gridweave_sim::monitor::Monitor;

pub(super) const REPLACEMENT: Part<Setup> = Part {
    name: "replacement",
    title: "Nodes that are lost before the start: spares take their places",
    making: Making::Study {
        cases: |_| ROWS.map(|(title, _)| title.into()).to_vec(),
        measure,
        report,
    },
};

/// How many spares a job has.
const ROWS: [(&str, u16); 2] = [("without spares", 0), ("with 8 spares", 8)];

/// The largest gang.
const LARGEST: u32 = 32;

/// When the first gangs start: in the first slot. Others want nodes that are busy then, and start later.
const START: Time = Time::from_secs(3_600);

/// When nodes crash, in seconds: after the last iteration, and early enough to be noticed before the start.
const CRASHES: (u32, u32) = (1_800, 3_300);

/// A gang, and the node that answers for it.
struct Gang {
    node: u32,
    job: JobId,
    start: Time,
    nodes: Vec<u32>,
    /// How many iterations had ended when this was last looked at: fewer mean that the search has begun anew.
    iterations: u16,
    is_searched_again: bool,
}

fn nodes(setup: &Setup) -> u32 {
    match setup.size {
        Size::Full => 2_000,
        Size::Quick => 200,
    }
}

/// How many gangs there were, lost a node, have all their nodes up and start when they should, were searched for again,
/// start later, and have no placement.
fn measure(setup: &Setup, case: usize, seed: u64, monitor: &Monitor) -> Figures {
    let (all, spares) = (nodes(setup), ROWS[case].1);
    let profiles = setup.profiles(all, seed)?;
    let config = CriteriaConfig {
        spares,
        iterations: 5,
        improve: Span::ZERO,
        patience: Span::ZERO,
        // Coordinators look after the nodes of their gangs every 20 seconds.
        permission: Some(Span::from_secs(60)),
        ..ours()
    };
    let mut grid = Emulation::new(&profiles, &config, seed);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut gangs = Vec::new();
    let mut wanted = 0;
    while wanted < all / 2 {
        let (node, count) = (rng.below(all), 2 + rng.below(LARGEST - 1));
        let at = Emulation::settled() + CYCLE.times(gangs.len() as u64 % 30);
        let job = grid.submit(at, node, count, 1, config.job_criterion());
        wanted += count;
        gangs.push(Gang {
            node,
            job,
            start: Time::ZERO,
            nodes: Vec::new(),
            iterations: 0,
            is_searched_again: false,
        });
    }
    grid.run_until(Time::from_secs(u64::from(CRASHES.0)), monitor);
    // A gang whose own coordinator is lost is another matter.
    let mut crashing: Vec<u32> = (0..all).collect();
    crashing.retain(|node| gangs.iter().all(|gang| gang.node != *node));
    rng.shuffle(&mut crashing);
    crashing.truncate((all / 20) as usize);
    for node in &crashing {
        let at = Time::from_secs(u64::from(CRASHES.0 + rng.below(CRASHES.1 - CRASHES.0)));
        grid.simulation.crash(at, id(*node));
    }
    for gang in &mut gangs {
        if let Some(placed) = placed(&grid, gang) {
            (gang.start, gang.nodes) = placed;
        }
    }
    gangs.retain(|gang| !gang.nodes.is_empty());
    let middle = Span::from_micros(CYCLE.as_micros() / 2);
    let mut now = grid.simulation.now();
    while now + CYCLE < START {
        now += CYCLE;
        grid.run_until(now - middle, monitor);
        for gang in &mut gangs {
            let machine = grid.simulation.machine(id(gang.node));
            let progress = machine.and_then(|machine| machine.progress(gang.job));
            let ended = progress.map_or(0, |progress| progress.iterations);
            gang.is_searched_again |= ended < gang.iterations;
            gang.iterations = ended;
        }
    }
    let is_lost = |node: &u32| crashing.contains(node);
    let hit: Vec<&Gang> = gangs
        .iter()
        .filter(|gang| gang.nodes.iter().any(is_lost))
        .collect();
    let (mut kept, mut later, mut without) = (0, 0, 0);
    for gang in &hit {
        match placed(&grid, gang) {
            Some((start, nodes)) if start == gang.start => {
                kept += u32::from(!nodes.iter().any(is_lost));
            }
            Some(_) => later += 1,
            None => without += 1,
        }
    }
    let again = hit.iter().filter(|gang| gang.is_searched_again).count();
    let all = [gangs.len(), hit.len()].map(|count| count as f64);
    let ends = [kept, later, without].map(f64::from);
    Ok(all.into_iter().chain([again as f64]).chain(ends).collect())
}

/// The start and the nodes of a gang.
fn placed(grid: &Emulation, gang: &Gang) -> Option<(Time, Vec<u32>)> {
    let placement = grid
        .simulation
        .machine(id(gang.node))?
        .placement(gang.job)?;
    let nodes = placement.nodes.iter().map(|node| node.get() as u32);
    Some((placement.start, nodes.collect()))
}

fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::unpublished(
        "replacement",
        "gangs whose nodes crash before the start",
        "spares | gangs | lost a node | searched again | same start, all nodes up | later start | no placement",
    );
    for ((title, _), measured) in ROWS.iter().zip(measured) {
        let mut row = vec![(*title).into()];
        row.extend((0..6).map(|number| measured.mean(number, 1)));
        table.push_by(Rules::Ours, row);
    }
    let nodes = format!(
        "{} nodes; gangs of 2 to {LARGEST} near nodes have half of them; 5 % of all nodes crash for good in the half hour before the first start, no coordinator among them",
        nodes(setup)
    );
    let notes = [
        nodes.as_str(),
        "the paper says that failed nodes are replaced, and not how",
        "without spares, or when none can be had, the gang is searched for anew",
    ];
    Report::new([table], &notes, setup.caveat())
}

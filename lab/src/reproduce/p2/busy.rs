//! Near nodes on an idle grid and on one that is half busy, after each iteration.

use gridweave_core::profile::Profile;
use gridweave_core::rng::Choose;
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::emulation::{CYCLE, Emulation, SLOT, ours, submitter};
use super::{Setting, Setup, id, reference};
use crate::reproduce::{Figures, Making, Measured, Part, Report, Rules, Table};
use crate::schedulers::criteria::{CriteriaConfig, CriterionName, ObjectiveConfig, PartConfig};
use gridweave_sim::monitor::Monitor;

pub(super) const BUSY: Part<Setup> = Part {
    name: "fig1-busy",
    title: "Our rules in Figure 1, also on a grid that is half busy: cost of the schedule found after each iteration",
    making: Making::Study {
        cases: |setup| {
            let all = 0..setup.settings().len() * SHARES.len();
            let name = |case| {
                let (Setting { nodes, job }, busy) = of(setup, case);
                format!("{job} of {nodes}, {:.0} % busy", 100.0 * busy)
            };
            all.map(name).collect()
        },
        measure,
        report,
    },
};

/// How much of the grid others have.
const SHARES: [f64; 2] = [0.0, 0.5];

fn of(setup: &Setup, case: usize) -> (Setting, f64) {
    let index = case / SHARES.len();
    (setup.settings()[index], SHARES[case % SHARES.len()])
}

/// How many iterations a job has.
const ITERATIONS: u16 = 10;

/// The iterations that are in the table.
const SHOWN: [usize; 4] = [1, 2, 5, 10];

/// Behind the costs: the bound over the nodes that are free, and the share of the others.
const BOUND: usize = ITERATIONS as usize;
const SHARE: usize = BOUND + 1;

/// The instant at which all jobs start: the first slot.
const START: Time = Time::from_secs(3_600);

/// The cost of the nodes that a job finds after each iteration, if other jobs have some of the nodes; then the bound over
/// the free nodes, and how many nodes are busy.
fn measure(setup: &Setup, case: usize, seed: u64, monitor: &Monitor) -> Figures {
    let (Setting { nodes, job }, busy) = of(setup, case);
    let profiles = setup.profiles(nodes, seed)?;
    let closest = PartConfig {
        objective: ObjectiveConfig::Closest,
        weight: 1.0,
    };
    let config = CriteriaConfig {
        criterion: CriterionName::Combined,
        parts: vec![closest],
        // All jobs must start in the first slot.
        start_within: Some(Span::from_secs(1)),
        iterations: ITERATIONS,
        ..ours()
    };
    let mut grid = Emulation::new(&profiles, &config, seed);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut wanted = 0;
    for number in 0_u64.. {
        if f64::from(wanted) >= busy * f64::from(nodes) {
            break;
        }
        // The others come while overlays settle, and end their iterations before the followed job comes.
        let at = Time::ZERO + CYCLE.times(50 + number % 35);
        let (node, count) = (rng.below(nodes), 1 + rng.below(job));
        grid.submit(at, node, count, 1, config.job_criterion());
        wanted += count;
    }
    grid.run_until(Emulation::settled(), monitor);
    let first = Interval::starting(START, SLOT).expect("a slot takes time");
    let is_free = |node: &u32| {
        let machine = grid.simulation.machine(id(*node));
        machine.is_some_and(|machine| {
            let schedule = machine.commitments().participant.schedule();
            schedule.is_free(first)
        })
    };
    let free: Vec<Profile> = (0..nodes)
        .filter(is_free)
        .map(|node| profiles[node as usize].clone())
        .collect();
    let bound = reference::bound(&free, job).unwrap_or(f64::NAN);
    let share = 1.0 - free.len() as f64 / profiles.len() as f64;
    let submitter = submitter(profiles.len(), seed);
    let now = grid.simulation.now();
    let job = grid.submit(now, submitter, job, 1, config.job_criterion());
    let costs = grid.follow(submitter, job, ITERATIONS, monitor);
    let costs = costs.iter().map(|cost| cost.unwrap_or(f64::NAN));
    Ok(costs.chain([bound, share]).collect())
}

fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::unpublished(
        "fig1-busy",
        "our rules: cost / the stronger bound over the nodes that are free, after iterations",
        "nodes | job | busy % | placed % | 1 | 2 | 5 | 10",
    );
    for (case, measured) in measured.iter().enumerate() {
        let mut row = of(setup, case).0.cells();
        row.push(measured.mean_of(0, &|figures| Some(figures.get(SHARE)? * 100.0)));
        row.push(measured.mean_of(0, &|figures| {
            let is_placed = figures.get(BOUND - 1)?.is_finite();
            Some(if is_placed { 100.0 } else { 0.0 })
        }));
        row.extend(SHOWN.map(|iteration| measured.ratio(iteration - 1, measured, BOUND)));
        table.push_by(Rules::Ours, row);
    }
    let notes = [
        "where nodes are busy, other jobs for near nodes, up to as large, came before and have half of the nodes when the job must start",
        "the bound is that of Figure 1, on the free nodes; a mean is over the seeds in which the job had a placement by then; placed: by iteration 10",
        &setup.whereabouts(),
    ];
    Report::new([table], &notes, setup.caveat())
}

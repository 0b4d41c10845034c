//! Near nodes on a grid that is half busy.

use gridweave_core::profile::Profile;
use gridweave_core::rng::Choose;
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::emulation::{CYCLE, Emulation, SLOT, ours, submitter};
use super::{id, reference};
use crate::schedulers::criteria::{CriteriaConfig, CriterionName, ObjectiveConfig, PartConfig};
use gridweave_sim::monitor::Monitor;

/// How many iterations a job has.
const ITERATIONS: u16 = 10;

/// The iterations that are in the table.
pub(super) const SHOWN: [usize; 4] = [1, 2, 5, 10];

/// Behind the costs: the bound over the nodes that are free, and the share of the others.
pub(super) const BOUND: usize = ITERATIONS as usize;
pub(super) const SHARE: usize = BOUND + 1;

/// The instant at which all jobs start: the first slot.
const START: Time = Time::from_secs(3_600);

/// The cost of the nodes that a job finds after each iteration, if other jobs have half of the nodes; then the bound over
/// the free nodes, and how many nodes are busy.
pub(super) fn found(profiles: &[Profile], job: u32, seed: u64, monitor: &Monitor) -> Vec<f64> {
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
    let mut grid = Emulation::new(profiles, &config, seed);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let nodes = u32::try_from(profiles.len()).unwrap_or(u32::MAX);
    let mut wanted = 0;
    for number in 0_u64.. {
        if wanted >= nodes / 2 {
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
    costs.chain([bound, share]).collect()
}

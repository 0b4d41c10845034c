//! The earliest start on a busy grid, after each iteration: a criterion that the paper only mentions.

use gridweave_core::job::Criterion;
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::criteria::Helper;
use gridweave_core::select::Starts;
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::emulation::{CONTENDERS, CYCLE, Emulation, ITERATIONS, SHOWN, submitter};
use super::{Setting, Setup, id};
use crate::reproduce::{Figures, Making, Measured, Part, Report, Table};
use crate::schedulers::criteria::{CriteriaConfig, CriterionName};
use gridweave_sim::monitor::Monitor;

pub(super) const SOONEST: Part<Setup> = Part {
    name: "soonest",
    title: "The earliest start on a busy grid: wait found after each iteration",
    making: Making::Study {
        cases,
        measure,
        report,
    },
};

/// How many other jobs there are per node.
const JOBS_PER_NODE: f64 = 0.5;

/// The largest of these jobs, in nodes and in hours.
const LARGEST: (u32, u32) = (16, 8);

fn of(setup: &Setup, case: usize) -> (Setting, usize) {
    let cases = CONTENDERS.len();
    (setup.settings()[case / cases], case % cases)
}

fn cases(setup: &Setup) -> Vec<String> {
    let all = 0..setup.settings().len() * CONTENDERS.len();
    let name = |case| {
        let (Setting { nodes, job }, which) = of(setup, case);
        format!("{job} of {nodes}, {}", CONTENDERS[which].title)
    };
    all.map(name).collect()
}

/// The first figure is the earliest start on the whole grid; the others are the starts found. All are in hours after
/// the earliest start on an idle grid.
fn measure(setup: &Setup, case: usize, seed: u64, monitor: &Monitor) -> Figures {
    let (Setting { nodes, job }, which) = of(setup, case);
    let profiles = setup.profiles(nodes, seed)?;
    let config = CriteriaConfig {
        criterion: CriterionName::Soonest,
        ..CONTENDERS[which].config(Helper::FirstFree)
    };
    let mut grid = Emulation::new(&profiles, &config, seed);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let before = (f64::from(nodes) * JOBS_PER_NODE) as u32;
    for number in 0..before {
        // All other jobs come early while overlays settle, and end their iterations before the measured job comes.
        let at = Time::ZERO + CYCLE.times(5 + u64::from(number % 20));
        let (node, count) = (rng.below(nodes), 1 + rng.below(LARGEST.0));
        grid.submit(
            at,
            node,
            count,
            1 + rng.below(LARGEST.1),
            Criterion::Soonest,
        );
    }
    grid.run_until(Emulation::settled(), monitor);
    let now = grid.simulation.now();
    let (from, hour) = (now.round_up(Span::from_secs(3_600)), Span::from_secs(3_600));
    let hours = |start: Time| (start - from).as_micros() as f64 / 3.6e9;
    let schedules: Vec<Vec<Interval>> = (0..nodes)
        .filter_map(|node| grid.simulation.machine(id(node)))
        .map(|machine| {
            let schedule = machine.commitments().participant.schedule();
            schedule.busy_windows(from).collect()
        })
        .collect();
    let all = Starts::new(&schedules, from, hour, Span::from_secs(90 * 86_400), hour);
    let optimum = all.earliest_for(job).map_or(f64::NAN, hours);
    let submitter = submitter(profiles.len(), seed);
    let job = grid.submit(now, submitter, job, 1, Criterion::Soonest);
    let found = grid.follow(submitter, job, ITERATIONS, monitor);
    let found = found
        .iter()
        .map(|cost| cost.map_or(f64::NAN, |micros| micros / 3.6e9));
    Ok([optimum].into_iter().chain(found).collect())
}

fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::unpublished(
        "soonest",
        "hours until the job starts, after iterations",
        "nodes | job | protocol | earliest of all | 1 | 5 | 10 | 20 | 50",
    );
    let settings = setup.settings();
    let per_setting = measured.chunks_exact(CONTENDERS.len());
    for (setting, measured) in settings.iter().zip(per_setting) {
        for (contender, measured) in CONTENDERS.iter().zip(measured) {
            let hours = |number| {
                measured.mean_of(2, &|figures| {
                    let hours: Option<f64> = figures.get(number).copied();
                    hours.filter(|hours| hours.is_finite())
                })
            };
            let mut row = setting.cells();
            row.extend([contender.title.into(), hours(0)]);
            row.extend(SHOWN.map(hours));
            table.push_by(contender.rules(), row);
        }
    }
    let notes = [
        "nothing is published about this criterion",
        "before the job there are half as many others as nodes, of 1 to 16 nodes for 1 to 8 hours, placed by the same protocol; each row has a grid of its own, and the earliest start on it, found with knowledge of all nodes",
    ];
    Report::new([table], &notes, setup.caveat())
}

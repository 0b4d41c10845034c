//! The greedy scheduler starts every job when and where its rule says on nodes that differ.

use std::cell::Cell;
use std::num::NonZeroU32;

use gridweave_core::resource::{Dimensions, Kind, Requirement, Speed};
use gridweave_core::time::{Span, Time};
use gridweave_lab::grid::{Grid, Mixed, Profile};
use gridweave_lab::outcome::{Estimates, Outcome};
use gridweave_lab::schedulers::central::{self, Central};
use gridweave_lab::workload::{Submission, Workload};
use gridweave_sim::monitor::Monitor;
use gridweave_tests::oracles::{self, Desktop, Part};
use gridweave_tests::scaled;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6772_6964),
        ..Config::default()
    })
}

fn desktops() -> impl Strategy<Value = Desktop> {
    let speed = prop::sample::select(vec![333_333_u64, 500_000, 1_000_000, 2_000_000]);
    (1..5_u64, 0..2_u64, speed).prop_map(|(cores, architecture, speed)| Desktop {
        cores,
        architecture,
        speed,
    })
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let gap = prop_oneof![3 => Just(0_u64), 3 => 1..4_u64];
    let one = (gap, 1..6_u64, prop::option::of(0..2_u64), 1..9_u64);
    prop::collection::vec(one, 1..20).prop_map(|raw| {
        let mut now = 0;
        let part = |(gap, cores, architecture, run)| {
            now += gap;
            Part {
                at: now,
                cores,
                architecture,
                run,
            }
        };
        raw.into_iter().map(part).collect()
    })
}

#[test]
fn greedy_places_every_job_where_its_rule_says_on_nodes_that_differ() {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("architecture", Kind::Category)])
        .expect("two dimensions");
    let (cores, architecture) = (
        dimensions.named("cores").expect("it is there"),
        dimensions.named("architecture").expect("it is there"),
    );
    let ties = Cell::new(0);
    let inputs = (prop::collection::vec(desktops(), 0..5), parts());
    let compared = runner(scaled(2000, 300)).run(&inputs, |(nodes, jobs)| {
        let profile = |node: &Desktop| Profile {
            capability: dimensions
                .capability(&[node.cores, node.architecture])
                .expect("two values"),
            speed: Speed::from_millionths(
                NonZeroU32::new(node.speed as u32).expect("nothing stands still"),
            ),
        };
        let grid = Grid::Mixed(Mixed {
            dimensions: dimensions.clone(),
            nodes: nodes.iter().map(profile).collect(),
        });
        let requirement = |job: &Part| {
            let some = Requirement::any().with(cores, job.cores);
            job.architecture
                .map_or(some, |kind| some.with(architecture, kind))
        };
        let submission = |(number, job): (u64, &Part)| Submission {
            requested_time: Some(Span::from_micros(1)),
            ..Submission::new(
                number,
                Time::from_micros(job.at),
                Span::from_micros(job.run),
                1,
            )
        };
        let workload = Workload {
            jobs: (0..).zip(&jobs).map(submission).collect(),
            requirements: jobs.iter().map(requirement).collect(),
            ..Workload::default()
        };
        let monitor = Monitor::default();
        let run = central::simulate(
            Central::Greedy,
            &grid,
            &workload,
            Estimates::Exact,
            &monitor,
        )
        .expect("greedy takes any grid");
        let longest: u64 = jobs.iter().map(|job| 4 * job.run + job.at).sum();
        let expected = oracles::greedy_on_desktops(&nodes, &jobs, longest + 1);
        let ran = run.outcomes.iter().zip(&run.nodes);
        let ran: Vec<_> = ran
            .map(|(outcome, node)| match (*outcome, *node) {
                (Outcome::Ran { start, end, .. }, Some(node)) => {
                    Some((start.as_micros(), end.as_micros(), node as usize))
                }
                (Outcome::Rejected(_), None) => None,
                other => panic!("all others run somewhere: {other:?}"),
            })
            .collect();
        prop_assert_eq!(ran, expected);
        let mut speeds: Vec<_> = nodes.iter().map(|node| node.speed).collect();
        speeds.sort_unstable();
        speeds.dedup();
        ties.set(ties.get() + u32::from(speeds.len() < nodes.len()));
        Ok(())
    });
    compared.unwrap_or_else(|difference| panic!("{difference}"));
    assert!(
        ties.get() > scaled(300, 45),
        "nodes of one speed must be among them"
    );
}

//! ARiA, explored whole in small cases: every order of deliveries, timers and crashes.
//!
//! `cargo test` runs the small ones, with a site or an arrival fewer in a debug build. `.ci/long/models` runs the large
//! ones, or `cargo test -p gridweave-tests --test suites aria_model -- --ignored --nocapture`.

use gridweave_core::time::Time;
use gridweave_tests::model::aria::{
    Node, cancelled, foreign, foreign_moving, itself, moving, moving_on, sites, skewed, whole_life,
};
use gridweave_tests::model::leased::{
    Leased, finished, finished_after_all, recovery, running, runs_again, taken_back, withdrawn,
};
use gridweave_tests::model::{Crash, Exploration, State, up};
use gridweave_tests::scaled;
use stateright::Property;

type Case = Exploration<Node>;

fn placed_again() -> Property<Case> {
    Property::sometimes(
        "a job is placed again after its lease",
        |_, state: &State<Node>| up(state).any(|(_, node)| node.placed_again() > 0),
    )
}

fn moved() -> Property<Case> {
    Property::sometimes(
        "a job runs where it was moved to",
        |_, state: &State<Node>| up(state).any(|(index, node)| index == 2 && node.runs()),
    )
}

/// With two nodes, of which the first one submits.
fn moved_to_the_other() -> Property<Case> {
    Property::sometimes("a job runs at the other site", |_, state: &State<Node>| {
        up(state).any(|(index, node)| index == 1 && node.runs())
    })
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_job_outlives_its_site_and_never_runs_at_two() {
    let (case, seen) = (sites(2).arriving(9), [running(), placed_again()]);
    case.explore("2 sites, 9 arrivals", &seen, 129_248);
}

/// There are two sites, but in a debug build one.
#[test]
fn a_job_is_cancelled_at_any_moment() {
    let case = cancelled(whole_life(sites(scaled(2, 1) as u8))).arriving(6);
    let seen = [running(), finished(), withdrawn()];
    case.explore("cancelled, whole life", &seen, scaled(21_630, 9_020));
}

#[test]
fn a_node_crashes_that_runs_its_own_job() {
    let case = cancelled(whole_life(itself())).with_crash();
    let seen = [recovery(), finished(), withdrawn()];
    case.explore("the initiator itself, one crash", &seen, 1_014);
}

/// A job that was lost is finished by the sixth arrival; in a debug build there are five.
#[test]
fn one_of_two_nodes_crashes_at_any_moment_of_a_jobs_life() {
    let case = whole_life(sites(1)).with_crash().arriving(6).brief(5);
    let seen = &[recovery(), finished()][..scaled(2, 1) as usize];
    case.explore("one crash, whole life", seen, scaled(65_292, 14_432));
}

#[test]
fn a_machine_crashes_while_its_own_job_goes_on() {
    let case = cancelled(whole_life(itself())).with_agent_crash(Crash::Agent);
    let seen = [recovery(), finished_after_all(), withdrawn()];
    case.explore("the initiator itself, the job goes on", &seen, 1_142);
}

#[test]
fn one_of_two_machines_crashes_while_a_job_goes_on() {
    let case = whole_life(sites(1)).with_agent_crash(Crash::Agent);
    let seen = &[recovery(), finished_after_all()][..scaled(2, 1) as usize];
    case.arriving(6)
        .brief(5)
        .explore("one crash, the job goes on", seen, scaled(69_424, 15_100));
}

#[test]
fn a_job_is_moved_or_taken_back() {
    let (case, seen) = (moving_on().arriving(6).brief(5), [taken_back(), moved()]);
    case.explore("a move, 6 arrivals", &seen, scaled(13_628, 3_945));
}

/// There are two sites, but in a debug build one.
#[test]
fn foreign_sites_start_end_and_lose_a_job_at_any_moment() {
    let case = foreign(scaled(2, 1) as u8).arriving(6);
    let seen = [running(), finished(), placed_again()];
    case.explore("foreign, 6 arrivals", &seen, scaled(21_802, 10_003));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_job_leaves_a_foreign_site_only_when_that_has_withdrawn_it() {
    foreign_moving().arriving(6).explore(
        "a move between foreign sites, 6 arrivals",
        &[finished(), taken_back(), moved_to_the_other()],
        156_254,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_a_job_runs_a_second_time_after_its_lease() {
    sites(2)
        .arriving(10)
        .explore("2 sites, 10 arrivals", &[runs_again()], 433_298);
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_three_sites() {
    sites(3)
        .arriving(8)
        .explore("3 sites, 8 arrivals", &[running(), placed_again()], 108_952);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn clocks_are_apart_by_as_much_as_they_may_be() {
    let (case, seen) = (skewed().arriving(7), [running(), placed_again()]);
    case.explore("2 sites, 7 arrivals, clocks apart", &seen, 35_091);
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_one_of_two_nodes_crashes_at_any_moment() {
    let case = cancelled(whole_life(sites(1))).with_crash().arriving(7);
    let seen = [recovery(), finished(), withdrawn()];
    case.explore("1 site, one crash, whole life", &seen, 1_984_593);
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_a_job_runs_where_it_was_moved_to() {
    let case = whole_life(moving_on()).arriving(7);
    let seen = [taken_back(), moved(), finished()];
    case.explore("a move, 7 arrivals, whole life", &seen, 79_793);
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_a_site_gives_a_job_away() {
    let mut case = whole_life(moving()).arriving(9);
    case.horizon = Time::from_micros(8);
    case.explore(
        "a move from a site, 9 arrivals, until 8",
        &[taken_back()],
        715_017,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_a_job_is_moved_and_a_node_crashes() {
    whole_life(moving_on()).with_crash().arriving(5).explore(
        "a move, 5 arrivals, one crash, whole life",
        &[recovery(), taken_back()],
        240_794,
    );
}

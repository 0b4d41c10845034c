//! ARiA, explored whole in small cases: every order of deliveries, timers and crashes.
//!
//! `cargo test` runs the small ones. The large ones are run by `.ci/run`, with
//! `cargo test -p gridweave-tests --test aria_model -- --ignored --nocapture`.

use gridweave_core::job::News;
use gridweave_core::time::Time;
use gridweave_tests::model::aria::{
    Node, cancelled, ending, itself, moving, moving_on, runs, sites, skewed, up, words,
};
use gridweave_tests::model::{Exploration, State};
use stateright::{Checker, Model, Property};

type Case = Exploration<Node>;

/// Explores to the end, which is at so many states, and checks that everything holds and everything named was seen.
fn explore(name: &str, mut case: Case, seen: &[Property<Case>], expected: usize) {
    case.properties.extend(seen.iter().cloned());
    let checker = case.checker().threads(2).spawn_bfs().join();
    let states = checker.unique_state_count();
    println!("{name}: {states} states");
    checker.assert_properties();
    assert_eq!(states, expected, "{name}");
}

/// Of all that is sent, at most so many messages arrive and change something.
fn arriving(arrivals: u8, mut case: Case) -> Case {
    case.arrivals = Some(arrivals);
    case
}

fn with_crash(mut case: Case) -> Case {
    case.crashes = 1;
    case
}

/// With a host that ends what runs at any time.
fn whole_life(mut case: Case) -> Case {
    case.reactions = ending;
    case
}

fn running() -> Property<Case> {
    Property::sometimes("a job runs", |_, state: &State<Node>| {
        up(state).any(|(_, node)| runs(node))
    })
}

fn placed_again() -> Property<Case> {
    Property::sometimes(
        "a job is placed again after its lease",
        |_, state: &State<Node>| up(state).any(|(_, node)| node.counts().placed_again > 0),
    )
}

fn runs_again() -> Property<Case> {
    Property::sometimes(
        "a job runs that was placed again",
        |_, state: &State<Node>| {
            let again = |node: &Node| node.counts().placed_again > 0;
            up(state).any(|(_, node)| again(node)) && up(state).any(|(_, node)| runs(node))
        },
    )
}

fn moved() -> Property<Case> {
    Property::sometimes(
        "a job runs where it was moved to",
        |_, state: &State<Node>| up(state).any(|(place, node)| place == 2 && runs(node)),
    )
}

fn taken_back() -> Property<Case> {
    Property::sometimes(
        "a job that was given away runs where it was",
        |_, state: &State<Node>| up(state).any(|(_, node)| runs(node) && node.counts().moved > 0),
    )
}

fn finished() -> Property<Case> {
    Property::sometimes("a job is finished", |_, state: &State<Node>| {
        words(state).any(|news| news == News::Finished)
    })
}

fn withdrawn() -> Property<Case> {
    Property::sometimes("a job is cancelled", |_, state: &State<Node>| {
        words(state).any(|news| news == News::Cancelled)
    })
}

fn recovery() -> Property<Case> {
    Property::sometimes("a job runs after a crash", |_, state: &State<Node>| {
        state.crashes > 0 && up(state).any(|(_, node)| runs(node))
    })
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_job_outlives_its_site_and_never_runs_at_two() {
    explore(
        "2 sites, 9 arrivals",
        arriving(9, sites(2)),
        &[running(), placed_again()],
        138_333,
    );
}

#[test]
fn a_job_is_cancelled_at_any_moment() {
    explore(
        "2 sites, 6 arrivals, cancelled, whole life",
        arriving(6, cancelled(whole_life(sites(2)))),
        &[running(), finished(), withdrawn()],
        25_392,
    );
}

#[test]
fn a_node_crashes_that_runs_its_own_job() {
    explore(
        "1 site and the initiator itself, one crash, cancelled, whole life",
        with_crash(cancelled(whole_life(itself()))),
        &[recovery(), finished(), withdrawn()],
        1_014,
    );
}

#[test]
fn one_of_two_nodes_crashes_at_any_moment_of_a_jobs_life() {
    explore(
        "1 site, 6 arrivals, one crash, whole life",
        arriving(6, with_crash(whole_life(sites(1)))),
        &[recovery(), finished()],
        57_108,
    );
}

#[test]
fn a_job_is_moved_or_taken_back() {
    explore(
        "a move, 6 arrivals",
        arriving(6, moving_on()),
        &[taken_back(), moved()],
        14_012,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/run runs it"]
fn large_a_job_runs_a_second_time_after_its_lease() {
    explore(
        "2 sites, 10 arrivals",
        arriving(10, sites(2)),
        &[runs_again()],
        465_872,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/run runs it"]
fn large_three_sites() {
    explore(
        "3 sites, 8 arrivals",
        arriving(8, sites(3)),
        &[running(), placed_again()],
        113_110,
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn clocks_are_apart_by_as_much_as_they_may_be() {
    explore(
        "2 sites, 7 arrivals, clocks apart",
        arriving(7, skewed()),
        &[running(), placed_again()],
        36_379,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/run runs it"]
fn large_one_of_two_nodes_crashes_at_any_moment() {
    explore(
        "1 site, 7 arrivals, one crash, cancelled, whole life",
        arriving(7, with_crash(cancelled(whole_life(sites(1))))),
        &[recovery(), finished(), withdrawn()],
        1_796_892,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/run runs it"]
fn large_a_job_runs_where_it_was_moved_to() {
    explore(
        "a move, 7 arrivals, whole life",
        arriving(7, whole_life(moving_on())),
        &[taken_back(), moved(), finished()],
        87_659,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/run runs it"]
fn large_a_site_gives_a_job_away() {
    let mut case = arriving(9, whole_life(moving()));
    case.horizon = Time::from_micros(8);
    explore(
        "a move from a site, 9 arrivals, until 8",
        case,
        &[taken_back()],
        761_966,
    );
}

#[test]
#[ignore = "takes a minute in release; .ci/run runs it"]
fn large_a_job_is_moved_and_a_node_crashes() {
    explore(
        "a move, 5 arrivals, one crash, whole life",
        arriving(5, with_crash(whole_life(moving_on()))),
        &[recovery(), taken_back()],
        231_211,
    );
}

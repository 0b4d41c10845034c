//! Custody, explored whole in small cases: every order of deliveries, timers, crashes and choices of hosts.
//!
//! `cargo test` runs the small ones. The large ones take minutes; `.ci/long/models` runs them, or
//! `cargo test --release -p gridweave-tests --test suites custody_model -- --ignored --nocapture`.

use gridweave_core::id::NodeId;
use gridweave_core::time::{Span, Time};
use gridweave_tests::model::custody::{
    Fault, Levels, Node, Plan, TWO, Told, cancelled, explored, whole_life,
};
use gridweave_tests::model::leased::{
    Leased, finished, finished_after_all, recovery, running, runs_again, taken_back, withdrawn,
};
use gridweave_tests::model::{Crash, Exploration, State, up};
use stateright::Property;

type Case = Exploration<Node>;

/// A home that runs nothing, and two nodes that may; the first may give the job to the second.
const ONE: Plan = Plan {
    levels: Levels::One,
    holders: &[1, 2],
    runners: &[],
    moves: &[&[], &[2], &[]],
    fault: None,
    skew: Span::ZERO,
};

/// The same with one other node, and a home that may run the job itself.
const SELF: Plan = Plan {
    holders: &[1, 0],
    moves: &[&[], &[], &[]],
    ..ONE
};

/// A home, and an owner that runs the job itself.
const OWNER_RUNS: Plan = Plan {
    holders: &[1],
    runners: &[&[], &[1]],
    moves: &[&[], &[]],
    ..TWO
};

/// A home that owns the job itself, and two run nodes; the first may give the job to the second.
const HOME_OWNS: Plan = Plan {
    holders: &[0],
    runners: &[&[1, 2], &[], &[]],
    moves: &[&[], &[2], &[]],
    ..TWO
};

const SKEW: Span = Span::from_micros(1);

fn one() -> Case {
    explored(3, Span::ZERO, |me| Node::new(me, ONE))
}

fn itself() -> Case {
    explored(2, Span::ZERO, |me| Node::new(me, SELF))
}

fn two() -> Case {
    explored(3, Span::ZERO, |me| Node::new(me, TWO))
}

fn owner_runs() -> Case {
    explored(2, Span::ZERO, |me| Node::new(me, OWNER_RUNS))
}

fn home_owns() -> Case {
    explored(3, Span::ZERO, |me| Node::new(me, HOME_OWNS))
}

/// Explores only the time before the first lease ends. In that time a job that has ended must not run again.
fn within_a_lease(mut case: Case) -> Case {
    case.horizon = Time::from_micros(6);
    let ended_runs = |_: &Case, state: &State<Node>| {
        let ended = state.notices.iter().any(|(_, told)| *told == Told::Ended);
        !(ended && up(state).any(|(_, node)| node.runs()))
    };
    let property = Property::always("what has ended does not run again", ended_runs);
    case.properties.push(property);
    case
}

fn moved() -> Property<Case> {
    Property::sometimes(
        "a job runs where it was moved to",
        |_, state: &State<Node>| {
            up(state).any(|(_, node)| node.moved() > 0)
                && up(state).any(|(place, node)| place == 2 && node.runs())
        },
    )
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_job_is_moved_or_taken_back() {
    one().arriving(6).explore(
        "one level, 6 arrivals",
        &[running(), taken_back(), moved()],
        293_512,
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn one_of_two_nodes_crashes_at_any_moment_of_a_jobs_life() {
    let case = cancelled(whole_life(itself())).with_crash().arriving(4);
    let seen = [recovery(), finished(), withdrawn()];
    case.explore("one level, home and holder, one crash", &seen, 825_652);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn one_of_two_machines_crashes_while_its_job_goes_on() {
    let case = cancelled(whole_life(itself())).with_agent_crash(Crash::Agent);
    let seen = [recovery(), finished_after_all(), withdrawn()];
    case.arriving(4)
        .explore("one level, one crash, the job goes on", &seen, 835_454);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_job_outlives_its_owner_and_never_runs_for_two() {
    two().arriving(7).explore(
        "two levels, 7 arrivals",
        &[running(), runs_again()],
        187_607,
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn an_owner_crashes_at_any_moment_of_a_jobs_life() {
    cancelled(whole_life(owner_runs()))
        .with_crash()
        .arriving(4)
        .explore(
            "two levels, home and owner, 4 arrivals, one crash, cancelled, whole life",
            &[recovery(), finished(), withdrawn()],
            757_274,
        );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn the_machine_of_an_owner_crashes_while_its_job_goes_on() {
    let case = cancelled(whole_life(owner_runs())).with_agent_crash(Crash::Agent);
    let seen = [recovery(), finished_after_all(), withdrawn()];
    case.arriving(4)
        .explore("two levels, one crash, the job goes on", &seen, 829_875);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn what_has_ended_does_not_run_again_when_its_owner_crashes() {
    within_a_lease(whole_life(owner_runs()))
        .with_crash()
        .arriving(7)
        .explore(
            "two levels, home and owner, 7 arrivals, one crash, whole life, within a lease",
            &[recovery(), finished()],
            386_882,
        );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_job_is_moved_between_run_nodes() {
    home_owns().arriving(6).explore(
        "two levels, the home owns, 6 arrivals",
        &[running(), taken_back(), moved()],
        369_438,
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn clocks_are_apart_by_as_much_as_they_may_be() {
    let skewed = |me: NodeId| Node::new(me, Plan { skew: SKEW, ..TWO });
    explored(3, SKEW, skewed).arriving(6).explore(
        "two levels, 6 arrivals, clocks apart",
        &[running()],
        405_120,
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn clocks_that_are_further_apart_are_found() {
    let case = explored(3, SKEW.times(2), |me| Node::new(me, TWO));
    case.arriving(6).finds(
        "two levels, clocks too far apart",
        "at most one node runs the job",
    );
}

#[test]
fn an_owner_that_grants_beyond_its_bound_is_found() {
    let unbounded = |me: NodeId| {
        let fault = Some(Fault::Unbounded);
        Node::new(me, Plan { fault, ..TWO })
    };
    explored(3, Span::ZERO, unbounded)
        .arriving(6)
        .finds("two levels, unbounded", "at most one node runs the job");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_take_back_under_a_fresh_term_is_found() {
    let fresh = |me: NodeId| {
        let fault = Some(Fault::FreshTerm);
        Node::new(me, Plan { fault, ..ONE })
    };
    explored(3, Span::ZERO, fresh)
        .arriving(8)
        .finds("one level, fresh term", "at most one node runs the job");
}

#[test]
fn a_host_that_does_not_end_a_job_in_time_is_found() {
    itself()
        .with_agent_crash(Crash::Unwatched)
        .arriving(6)
        .finds("a job without end", "at most one program of the job runs");
}

#[test]
fn a_node_that_believes_an_outdated_grant_is_found() {
    let believes = |me: NodeId| {
        let fault = Some(Fault::Credulous);
        let plan = OWNER_RUNS;
        Node::new(me, Plan { fault, ..plan })
    };
    let case = whole_life(explored(2, Span::ZERO, believes));
    within_a_lease(case)
        .arriving(7)
        .finds("two levels, credulous", "what has ended does not run again");
}

#[test]
fn an_owner_that_forgets_a_last_word_is_found() {
    let forgets = |me: NodeId| {
        let fault = Some(Fault::Forgetful);
        let plan = OWNER_RUNS;
        Node::new(me, Plan { fault, ..plan })
    };
    let case = whole_life(explored(2, Span::ZERO, forgets));
    within_a_lease(case)
        .with_crash()
        .arriving(7)
        .finds("two levels, forgetful", "what has ended does not run again");
}

#[test]
#[ignore = "takes a minute in release"]
fn large_a_job_is_moved_or_taken_back() {
    one().arriving(7).explore(
        "one level, 7 arrivals",
        &[running(), taken_back(), moved()],
        1_448_859,
    );
}

#[test]
#[ignore = "takes a minute in release"]
fn large_one_of_two_nodes_crashes_at_any_moment_of_a_jobs_life() {
    cancelled(whole_life(itself()))
        .with_crash()
        .arriving(5)
        .explore(
            "one level, home and holder, 5 arrivals, one crash, cancelled, whole life",
            &[recovery(), finished(), withdrawn()],
            3_147_922,
        );
}

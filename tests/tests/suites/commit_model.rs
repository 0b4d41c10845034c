//! The commit protocol, explored whole in small cases: every order of deliveries, timers and crashes.
//!
//! `cargo test` runs the small ones, with fewer arrivals in a debug build. `.ci/long/models` runs the large ones, or
//! `cargo test -p gridweave-tests --test suites commit_model -- --ignored --nocapture`.

use gridweave_core::commit::coordinator::{Notice, Setback};
use gridweave_core::commit::{Message, Timer};
use gridweave_core::schedule::Reservation;
use gridweave_core::time::Time;
use gridweave_tests::model::commit::{
    Peer, asked, begun, ending, extending, improve, near, place, release, rivals, sent, slot,
    starting, told,
};
use gridweave_tests::model::{Crash, Exploration, State, up};
use gridweave_tests::scaled;
use stateright::{Checker, Model, Property};

type Case = Exploration<Peer>;

fn commit() -> Property<Case> {
    Property::sometimes("a job is placed", |_, state: &State<Peer>| {
        told(state, |told| matches!(told, Notice::Placed { .. }))
    })
}

fn refusal() -> Property<Case> {
    Property::sometimes("a hold is refused", |_, state: &State<Peer>| {
        sent(state, |message| matches!(message, Message::Refused { .. }))
    })
}

fn abort() -> Property<Case> {
    Property::sometimes("a hold is aborted", |_, state: &State<Peer>| {
        sent(state, |message| matches!(message, Message::Abort { .. }))
    })
}

fn expiry() -> Property<Case> {
    Property::sometimes(
        "a commit comes after the lease",
        |_, state: &State<Peer>| sent(state, |message| matches!(message, Message::Expired { .. })),
    )
}

fn start() -> Property<Case> {
    Property::sometimes("a job starts", |_, state: &State<Peer>| {
        begun(state).next().is_some()
    })
}

fn late_commit_is_cleared_up() -> Property<Case> {
    Property::sometimes(
        "a job is given up because a lease had ended",
        |_, state: &State<Peer>| {
            told(state, |told| {
                matches!(
                    told,
                    Notice::Unplaced {
                        setback: Setback::Expired { .. },
                        ..
                    }
                )
            })
        },
    )
}

fn swap() -> Property<Case> {
    Property::sometimes(
        "a later attempt stands over an earlier one",
        |_, state: &State<Peer>| {
            up(state).any(|(_, node)| {
                let schedule = node.participant.schedule();
                let over = |one: &Reservation| {
                    schedule.iter().any(|other| {
                        one.interval.overlaps(other.interval)
                            && one.attempt.epoch > other.attempt.epoch
                    })
                };
                schedule.iter().any(over)
            })
        },
    )
}

fn recovery() -> Property<Case> {
    Property::sometimes("a job is placed after a crash", |_, state: &State<Peer>| {
        state.crashes > 0 && told(state, |told| matches!(told, Notice::Placed { .. }))
    })
}

fn finish() -> Property<Case> {
    Property::sometimes("a job is finished", |_, state: &State<Peer>| {
        told(state, |told| matches!(told, Notice::Finished { .. }))
    })
}

fn finish_after_all() -> Property<Case> {
    Property::sometimes(
        "a job that went on is finished",
        |_, state: &State<Peer>| {
            state.resumed && told(state, |told| matches!(told, Notice::Finished { .. }))
        },
    )
}

fn extension() -> Property<Case> {
    Property::sometimes(
        "a job runs, and will not be stopped before it has had more time",
        |_, state: &State<Peer>| {
            up(state).any(|(index, node)| {
                let timer = state.nodes[index].timers().due(Timer::Participant);
                node.participant.running().next().is_some() && timer > Some(slot().end())
            })
        },
    )
}

fn cut() -> Property<Case> {
    Property::sometimes(
        "a job is given up though its node could have had more time",
        |_, state: &State<Peer>| {
            sent(state, |message| matches!(message, Message::Extend { .. }))
                && told(state, |told| matches!(told, Notice::Unplaced { .. }))
        },
    )
}

/// The whole life of a job: past its end, with a host that ends it at any time.
fn whole_life(mut case: Case) -> Case {
    case.horizon = Time::from_micros(40);
    case.reactions = ending;
    case
}

/// One coordinator whose job has time on a node and may be moved to overlapping time there.
fn moving() -> Case {
    let commands = vec![
        (0, place(0, &[1], &[slot()])),
        (0, improve(0, &[1], starting(12))),
    ];
    let mut case = asked(2, commands);
    case.horizon = Time::from_micros(13);
    case
}

#[test]
fn two_coordinators_want_the_same_node() {
    let seen = [commit(), refusal(), abort(), start()];
    let case = rivals(2, 1).brief(7);
    case.explore("2 coordinators", &seen, scaled(31_578, 7_622));
}

#[test]
fn a_job_needs_two_nodes() {
    let seen = [commit(), expiry(), late_commit_is_cleared_up(), start()];
    let case = rivals(1, 2).brief(11);
    case.explore("2 participants", &seen, scaled(20_244, 3_424));
}

#[test]
fn one_of_two_nodes_crashes_at_any_moment_of_a_jobs_life() {
    let case = whole_life(rivals(1, 1).with_crash()).brief(7);
    let seen = [recovery(), finish()];
    case.explore("one crash, whole life", &seen, scaled(44_217, 4_494));
}

#[test]
fn one_of_two_nodes_crashes_at_any_moment_of_a_job_that_overruns() {
    let case = extending(whole_life(rivals(1, 1).with_crash())).brief(7);
    let seen = [extension(), cut(), finish()];
    case.explore("one crash, an extension", &seen, scaled(231_807, 6_175));
}

#[test]
fn one_of_two_machines_crashes_while_its_job_goes_on() {
    let case = whole_life(rivals(1, 1).with_agent_crash(Crash::Agent)).brief(7);
    let seen = [recovery(), finish(), finish_after_all()];
    case.explore("one crash, the job goes on", &seen, scaled(48_025, 4_756));
}

#[test]
fn one_of_two_machines_crashes_while_a_job_goes_on_that_overruns() {
    let case = extending(whole_life(rivals(1, 1).with_agent_crash(Crash::Agent))).brief(7);
    let seen = [extension(), finish_after_all()];
    case.explore(
        "one crash, the job goes on and overruns",
        &seen,
        scaled(262_191, 6_707),
    );
}

#[test]
fn a_start_is_permitted_when_it_is_near() {
    let case = near(rivals(1, 1).with_crash()).brief(6);
    let seen = [recovery(), start()];
    case.explore("one crash, permitted late", &seen, scaled(22_251, 8_879));
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_a_job_is_moved() {
    moving().explore("a move", &[swap(), start()], 275_312);
}

#[test]
fn a_job_is_given_up_and_placed_again() {
    let again = || (0, place(0, &[1], &[slot()]));
    let mut case = asked(2, vec![again(), (0, release(0)), again()]);
    // Until leases end; starts are explored elsewhere.
    case.horizon = Time::from_micros(5);
    let (case, seen) = (case.brief(8), [commit(), abort()]);
    case.explore("given up and placed again", &seen, scaled(17_316, 4_674));
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_two_coordinators_one_participant_one_crash() {
    let seen = [commit(), refusal(), recovery(), start()];
    let case = rivals(2, 1).with_crash();
    case.explore("2 and 1, one crash", &seen, 1_033_474);
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_two_coordinators_two_participants() {
    let seen = [commit(), refusal(), abort()];
    let mut case = rivals(2, 2);
    case.horizon = Time::ZERO;
    case.explore("2 and 2, while leases last", &seen, 3_270);
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_two_coordinators_two_participants_one_crash() {
    let seen = [commit(), refusal(), abort()];
    let mut case = rivals(2, 2).with_crash();
    case.horizon = Time::ZERO;
    case.explore("2 and 2, one crash, while leases last", &seen, 62_250);
}

#[test]
#[ignore = "takes a minute in release; .ci/long/models runs it"]
fn large_two_coordinators_three_participants() {
    let mut case = rivals(2, 3);
    case.properties.extend([refusal(), abort()]);
    // Until this many states were reached, most of them more than once.
    let checker = case.checker().threads(2).target_state_count(500_000);
    let checker = checker.spawn_bfs().join();
    println!("2 and 3, bounded: {} states", checker.unique_state_count());
    checker.assert_properties();
}

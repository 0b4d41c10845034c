//! Each safeguard of the commit protocol is left out once, and the model checker must notice.
//!
//! `LEASE_AT_DECISION` costs attempts rather than safety, so it is shown by simulation, in `commit_simulated`.

use gridweave_core::commit::{Command, Guards};
use gridweave_tests::model::Exploration;
use gridweave_tests::model::commit::{
    Peer, asked, extending, improve, place, release, rivals, slot, starting,
};
use stateright::{Checker, HasDiscoveries, Model};

/// A set of safeguards with one left out.
macro_rules! without {
    ($name:ident, $guard:ident) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        struct $name;

        impl Guards for $name {
            const $guard: bool = false;
        }
    };
}

/// Explores until something fails, and checks that it is this.
fn caught<G: Guards>(case: Exploration<Peer<G>>, property: &'static str, broken: Option<&str>) {
    let checker = case
        .checker()
        .threads(2)
        .finish_when(HasDiscoveries::AnyFailures)
        .target_state_count(3_000_000)
        .spawn_bfs()
        .join();
    let found: Vec<&str> = checker.discoveries().into_keys().collect();
    let path = checker
        .discovery(property)
        .unwrap_or_else(|| panic!("nobody noticed that {property:?} fails, but {found:?}"));
    let steps = path.clone().into_actions().len();
    let last = path.last_state();
    assert_eq!(last.broken, broken);
    println!("{property} ({broken:?}): noticed after {steps} steps");
}

const ALWAYS_SOUND: &str = "nothing is broken";

fn commands(list: Vec<Command>) -> Vec<(u8, Command)> {
    list.into_iter().map(|command| (0, command)).collect()
}

without!(NoFencing, FENCING);

#[test]
fn without_fencing_a_late_message_of_an_old_attempt_takes_time_back() {
    let again = || place(0, &[1], &[slot()]);
    let case = asked::<NoFencing>(2, commands(vec![again(), release(0), again()]));
    // The shortest way to see it: a question that comes twice is held beside what it has become.
    caught(
        case,
        ALWAYS_SOUND,
        Some("what a seat says is in the schedule"),
    );
}

without!(LateCommit, LEASE_AT_COMMIT);

#[test]
fn without_a_look_at_leases_a_late_commit_is_accepted() {
    let broken = Some("a hold is never committed after its lease");
    caught(rivals::<LateCommit>(1, 2), ALWAYS_SOUND, broken);
}

without!(VoteInMemory, VOTE_ON_DISK);

#[test]
fn a_vote_that_is_not_on_disk_is_lost_in_a_crash() {
    let mut case = rivals::<VoteInMemory>(1, 1);
    case.crashes = 1;
    caught(case, "a vote outlives a crash", None);
}

without!(DecisionInMemory, DECISION_ON_DISK);

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_decision_that_is_not_on_disk_is_made_twice() {
    let twice = vec![place(0, &[1], &[slot()]), place(0, &[2], &[slot()])];
    let mut case = asked::<DecisionInMemory>(3, commands(twice));
    case.crashes = 1;
    caught(case, "at most one attempt at a job runs", None);
}

without!(ExtensionInMemory, EXTENSION_ON_DISK);

#[test]
fn an_extension_that_is_not_on_disk_is_forgotten_while_the_job_runs() {
    let mut case = extending(rivals::<ExtensionInMemory>(1, 1));
    case.crashes = 1;
    caught(case, "a coordinator knows until when a node may run", None);
}

without!(NoBarrier, BARRIER);

#[test]
fn without_the_barrier_a_node_starts_alone() {
    let property = "nothing is broken";
    let broken = Some("nobody may start before everyone has committed");
    caught(rivals::<NoBarrier>(1, 2), property, broken);
}

without!(NoPermission, PERMISSION);

#[test]
fn without_permissions_a_node_starts_alone() {
    let property = "no node starts unless all nodes of its epoch committed";
    caught(rivals::<NoPermission>(1, 2), property, None);
}

without!(HastyPermission, EARLIER_PERMISSIONS);

#[test]
fn a_permission_that_does_not_wait_for_earlier_ones_lets_two_attempts_run() {
    let moved = vec![place(0, &[1], &[slot()]), improve(0, &[2], slot())];
    let case = asked::<HastyPermission>(3, commands(moved));
    caught(case, "at most one attempt at a job runs", None);
}

without!(ReleaseFirst, LOCK_BEFORE_RELEASE);

#[test]
fn who_releases_before_it_locks_may_lose_both() {
    // The better place cannot be had: it is too near.
    let moved = vec![place(0, &[1], &[slot()]), improve(0, &[1], starting(0))];
    let case = asked::<ReleaseFirst>(2, commands(moved));
    caught(case, "a job that keeps its place still has it", None);
}

without!(NoOwnership, OWNERSHIP);

#[test]
fn without_ownership_anyone_frees_anyones_time() {
    // Both call their job the same.
    let both = vec![
        (0, place(0, &[2], &[slot()])),
        (1, place(0, &[2], &[slot()])),
    ];
    let case = asked::<NoOwnership>(3, both);
    caught(
        case,
        ALWAYS_SOUND,
        Some("only its coordinator frees a job's time"),
    );
}

//! Hold, commit, permit.

use super::*;

#[test]
fn a_job_is_held_committed_permitted_and_finished_on_all_nodes() {
    let mut desk = desk();
    let question = prepare(attempt(1), slot(1000));
    assert_eq!(
        desk.feed(place(vec![candidate(1000, &[A, B])], &[])),
        [
            Send(A, question.clone()),
            Send(B, question),
            Wake(second(2))
        ]
    );
    assert_eq!(desk.hear(A, prepared(attempt(1))), []);
    assert_eq!(
        desk.at(1).hear(B, prepared(attempt(1))),
        [
            Persist(TASK),
            Send(A, commit(attempt(1))),
            Send(B, commit(attempt(1))),
            Wake(second(3))
        ]
    );
    assert_eq!(desk.hear(A, committed(attempt(1))), []);
    assert_eq!(
        desk.at(2).hear(B, committed(attempt(1))),
        [
            Tell(placed(1, 1000)),
            Send(A, ping(attempt(1))),
            Send(B, ping(attempt(1))),
            Wake(second(102))
        ]
    );
    assert_eq!(desk.hear(A, alive(attempt(1), WAITING)), []);
    assert_eq!(
        desk.at(1400).hear(A, ended(attempt(1), Outcome::Done)),
        [Persist(TASK), Send(A, release(attempt(1)))]
    );
    assert_eq!(
        desk.hear(B, ended(attempt(1), Outcome::Done)),
        [
            Persist(TASK),
            Tell(Notice::Finished { job: JOB }),
            Send(B, release(attempt(1))),
            Forget(TASK),
            Tell(cleared()),
            Cancel
        ]
    );
    assert_eq!(desk.machine().jobs().count(), 0);
    assert_eq!(desk.host.records().len(), 1, "only which life this is");
}

#[test]
fn a_refusal_aborts_the_attempt_and_the_next_candidate_is_tried() {
    let mut desk = desk();
    let candidates = vec![candidate(1000, &[A, B]), candidate(2000, &[B])];
    desk.feed(place(candidates, &[]));
    desk.hear(A, prepared(attempt(1)));
    let refusal = |attempt| Message::Refused {
        attempt,
        reason: Refused::Busy,
        next_free: Some(second(4000)),
    };
    assert_eq!(
        desk.hear(B, refusal(attempt(1))),
        [
            Send(A, abort(attempt(1))),
            Send(B, abort(attempt(1))),
            Send(B, prepare(attempt(2), slot(2000)))
        ]
    );
    let setback = Setback::Refused {
        node: B,
        reason: Refused::Busy,
        next_free: Some(second(4000)),
    };
    assert_eq!(desk.hear(B, refusal(attempt(1))), []);
    assert_eq!(desk.hear(A, refusal(attempt(2))), []);
    assert_eq!(
        desk.hear(B, refusal(attempt(2))),
        [
            Send(B, abort(attempt(2))),
            Tell(unplaced(setback)),
            Forget(TASK),
            Tell(cleared()),
            Cancel
        ]
    );
}

#[test]
fn a_silent_voter_is_asked_again_and_then_the_trial_fails() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let question = prepare(attempt(1), slot(1000));
    assert_eq!(desk.ring(), [Send(B, question), Wake(second(3))]);
    let silent = unplaced(Setback::Silent { node: B });
    assert_eq!(
        desk.ring(),
        [
            Send(A, abort(attempt(1))),
            Send(B, abort(attempt(1))),
            Tell(silent),
            Forget(TASK),
            Tell(cleared())
        ]
    );
    assert_eq!(desk.host.timers().len(), 0);
}

#[test]
fn votes_that_leave_no_time_to_commit_are_too_slow() {
    // A lease from 0 to 5 does not outlive two delays that begin at 3.
    for (now, slow) in [(2, false), (3, true)] {
        let mut desk = desk();
        desk.feed(place(vec![candidate(1000, &[A])], &[]));
        let told = tells(desk.at(now).hear(A, prepared(attempt(1))));
        assert_eq!(told.contains(&unplaced(Setback::Slow)), slow);
    }
    // The lead is five seconds: at 2, a start at 7 is just in time.
    for (start, slow) in [(7, false), (6, true)] {
        let mut desk = desk();
        desk.feed(place(vec![candidate(start, &[A])], &[]));
        let told = tells(desk.at(2).hear(A, prepared(attempt(1))));
        assert_eq!(told.contains(&unplaced(Setback::Slow)), slow);
    }
}

#[test]
fn a_commit_after_the_lease_gives_the_attempt_up_and_tries_the_next() {
    let mut desk = desk();
    let candidates = vec![candidate(1000, &[A, B]), candidate(50, &[A])];
    desk.feed(place(candidates, &[]));
    desk.hear(A, prepared(attempt(1)));
    desk.hear(B, prepared(attempt(1)));
    desk.hear(A, committed(attempt(1)));
    assert_eq!(
        desk.at(1).hear(B, expired(attempt(1))),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Send(A, prepare(attempt(2), slot(50))),
            Wake(second(3))
        ]
    );
    // No node was permitted to start, so the next attempt need not wait for them.
    desk.hear(A, prepared(attempt(2)));
    assert_eq!(
        sends(desk.hear(A, committed(attempt(2)))),
        [(B, release(attempt(1))), (A, permit(attempt(2), 301))]
    );
    desk.hears(B, released(attempt(1)), [Persist(TASK), Wake(second(101))]);
    assert_eq!(desk.hear(B, released(attempt(1))), []);
}

#[test]
fn a_trial_fails_when_its_leases_leave_no_time_to_commit() {
    let mut desk: Bench<Coordinator> = started(|| Coordinator::new(Config::DEFAULT, Everyone));
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let mut told = Vec::new();
    while told.is_empty() {
        told = tells(desk.ring());
    }
    // Until then, leases of five seconds from the first question outlive two delays.
    assert_eq!(desk.now, second(3));
    let silent = unplaced(Setback::Silent { node: B });
    assert_eq!(told, [silent, cleared()]);
}

#[test]
fn a_node_that_gives_a_shorter_lease_has_refused() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    let (attempt, lease) = (attempt(1), Span::from_secs(3));
    let told = tells(desk.hear(A, Message::Prepared { attempt, lease }));
    // B has had no time to answer, and is not to blame.
    let expired = unplaced(Setback::Expired { node: A });
    assert_eq!(told, [expired, cleared()]);
}

#[test]
fn a_commit_is_repeated_and_then_the_silent_node_costs_the_attempt() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    desk.hear(B, prepared(attempt(1)));
    desk.hear(A, committed(attempt(1)));
    assert_eq!(desk.ring(), [Send(B, commit(attempt(1))), Wake(second(4))]);
    // The start is far away, so there might be time for another candidate.
    let silent = unplaced(Setback::Silent { node: B });
    assert_eq!(
        desk.ring(),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Tell(silent),
            Wake(second(6))
        ]
    );
    assert_eq!(desk.hear(A, released(attempt(1))), [Persist(TASK)]);
    // B cannot start the job, so the host is told when B has not answered for a while. B lets go by itself when the
    // grace after the start is over by any clock.
    assert_eq!(tells(desk.ring_until(8)), [cleared()]);
    let asked = desk.ring_until(1031);
    assert_eq!(tells(asked), []);
    assert_eq!(desk.ring(), [Persist(TASK), Forget(TASK)]);
    assert_eq!(desk.now, just_after(1031));
}

#[test]
fn an_end_counts_as_a_commit_so_that_the_others_are_permitted_to_run_on() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1100).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    assert_eq!(
        desk.hear(B, ended(attempt(1), Outcome::Done)),
        [
            Persist(TASK),
            Tell(placed(1, 1000)),
            Send(A, permit(attempt(1), 1400)),
            Send(B, release(attempt(1))),
            Wake(second(1200))
        ]
    );
}

#[test]
fn a_permission_until_the_end_is_given_once() {
    let build = || {
        let permission = Permission::UntilEnd;
        Coordinator::new(
            Config {
                permission,
                ..CONFIG
            },
            Everyone,
        )
    };
    let mut desk: Bench<Coordinator> = started(build);
    desk.feed(place(vec![candidate(1000, &[A])], &[]));
    assert_eq!(
        agree(&mut desk, &[A], 1),
        [Tell(placed(1, 1000)), Wake(second(996))]
    );
    desk.rings([Send(A, permit(attempt(1), 1600)), Wake(second(1605))]);
    let lost = given_up(Setback::Lost { node: A });
    assert_eq!(tells(desk.ring_until(1607)), [lost, cleared()]);
}

#[test]
fn long_before_the_start_only_signs_of_life_are_asked_for() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(430, &[A])], &[]));
    let sign = Send(A, ping(attempt(1)));
    assert_eq!(
        agree(&mut desk, &[A], 1),
        [Tell(placed(1, 430)), sign.clone(), Wake(second(100))]
    );
    // The last question comes one to two renewals before the permission.
    for next in [200, 330] {
        assert_eq!(desk.hear(A, query(attempt(1))), [], "it is not near");
        desk.hear(A, alive(attempt(1), WAITING));
        assert_eq!(desk.ring(), [sign.clone(), Wake(second(next))]);
        assert_eq!(desk.machine().may_run_until(JOB, A), None);
    }
    desk.hear(A, alive(attempt(1), WAITING));
    desk.rings([Send(A, permit(attempt(1), 630)), Wake(second(430))]);
    assert_eq!(desk.machine().may_run_until(JOB, A), Some(second(630)));
    // A node that committed less than a renewal before the permission is not asked.
    let mut desk = self::desk();
    desk.feed(place(vec![candidate(150, &[A])], &[]));
    assert_eq!(
        agree(&mut desk, &[A], 1),
        [Tell(placed(1, 150)), Wake(second(50))]
    );
    desk.rings([Send(A, permit(attempt(1), 350)), Wake(second(150))]);
}

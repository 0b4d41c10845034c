//! Moves of a job to a better placement.

use super::*;

#[test]
fn a_better_placement_that_cannot_be_had_changes_nothing() {
    let mut desk = standing(&[A], vec![], &[]);
    let kept = Notice::Kept {
        job: JOB,
        setback: None,
    };
    let silent = Notice::Kept {
        job: JOB,
        setback: Some(Setback::Silent { node: B }),
    };
    assert_eq!(
        desk.feed(improve(500, &[B])),
        [Send(B, prepare(attempt(2), slot(500))), Wake(second(2))]
    );
    assert_eq!(
        tells(desk.feed(improve(400, &[B]))),
        core::slice::from_ref(&kept)
    );
    assert_eq!(
        desk.ring_until(4),
        [
            Send(B, prepare(attempt(2), slot(500))),
            Wake(second(3)),
            Send(B, abort(attempt(2))),
            Tell(silent),
            Wake(second(100))
        ]
    );
    assert_eq!(
        sends(desk.ring()),
        [(A, ping(attempt(1)))],
        "the earlier attempt stands as before"
    );
    // Bad candidates, a job that is about to start, and an unknown job.
    assert_eq!(desk.feed(improve(2000, &[])), [Tell(kept.clone())]);
    assert_eq!(desk.feed(improve(2000, &[A, A])), [Tell(kept.clone())]);
    assert_eq!(desk.at(996).feed(improve(2000, &[B])), [Tell(kept.clone())]);
    let mut empty = self::desk();
    assert_eq!(empty.feed(improve(500, &[B])), [Tell(kept)]);
}

#[test]
fn a_better_placement_is_permitted_when_the_earlier_node_has_let_go() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[B]));
    assert_eq!(
        desk.hear(B, prepared(attempt(2))),
        [Persist(TASK), Send(B, commit(attempt(2)))]
    );
    assert_eq!(
        desk.hear(B, committed(attempt(2))),
        [Tell(placed(2, 1020)), Send(A, release(attempt(1)))]
    );
    assert_eq!(
        desk.hear(B, query(attempt(2))),
        [],
        "the other may still run"
    );
    desk.rings([Send(A, release(attempt(1))), Wake(second(944))]);
    assert_eq!(
        desk.hear(A, released(attempt(1))),
        [
            Persist(TASK),
            Send(B, permit(attempt(2), 1242)),
            Wake(second(1042))
        ]
    );
}

#[test]
fn a_job_that_began_before_its_node_let_go_does_not_begin_elsewhere() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[B]));
    agree(&mut desk, &[B], 2);
    assert_eq!(
        tells(desk.hear(A, stopped(attempt(1)))),
        [given_up(Setback::Lost { node: A })]
    );
    // A second answer to the same request changes nothing.
    assert_eq!(tells(desk.hear(A, stopped(attempt(1)))), []);
}

#[test]
fn if_a_node_never_lets_go_the_job_may_have_run_there_when_its_permission_has_ended_by_any_clock() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[B]));
    agree(&mut desk, &[B], 2);
    let before = sends(desk.ring_until(1241));
    assert!(before.iter().all(|sent| *sent == (A, release(attempt(1)))));
    let after = desk.ring_until(1242);
    let lost = Tell(given_up(Setback::Lost { node: A }));
    assert!(after.contains(&lost), "{after:?}");
    assert!(
        !sends(after)
            .iter()
            .any(|(_, sent)| matches!(sent, Message::Permit { .. }))
    );
}

#[test]
fn a_node_of_both_attempts_may_run_the_earlier_one_until_it_commits_the_later() {
    let mut desk = permitted(&[A], vec![candidate(1215, &[B])], &[]);
    desk.feed(improve(1020, &[A]));
    desk.hear(A, prepared(attempt(2)));
    // The hold of A has ended. A still has the earlier attempt, which may start.
    desk.hear(A, expired(attempt(2)));
    assert_eq!(
        agree(&mut desk, &[B], 3),
        [
            Tell(placed(3, 1215)),
            Send(A, release(attempt(2))),
            Send(B, ping(attempt(3)))
        ]
    );
    let sent = sends(desk.ring_until(1150));
    assert!(
        sent.iter().all(|sent| *sent == (A, release(attempt(2)))),
        "no permission while the other may run"
    );
    assert_eq!(
        sends(desk.hear(A, released(attempt(2)))),
        [(B, permit(attempt(3), 1450))]
    );
    // Once A has committed the later attempt, there is nothing to wait for.
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[A]));
    assert_eq!(
        agree(&mut desk, &[A], 2),
        [
            Tell(placed(2, 1020)),
            Send(A, permit(attempt(2), 1240)),
            Wake(second(1040))
        ]
    );
}

#[test]
fn an_attempt_that_an_earlier_one_would_outlast_is_not_decided_on() {
    // A says that the job is gone, but has not confirmed the release: it may run until 1240, by its own clock.
    let tried = |start| {
        let mut desk = permitted(&[A], vec![candidate(start, &[B])], &[]);
        desk.hear(A, alive(attempt(1), Standing::Gone));
        let did = desk.hear(B, prepared(attempt(2)));
        (desk, did)
    };
    let decided = [Persist(TASK), Send(B, commit(attempt(2)))];
    // B waits until 1244. A permission after 1241 comes in time: it takes a second, and clocks differ by another.
    assert_eq!(tried(1214).1, decided);
    let (mut desk, did) = tried(1213);
    assert_eq!(did, []);
    let until = just_after(1241);
    let earlier = unplaced(Setback::Earlier { until });
    assert_eq!(tells(desk.ring_until(943)), [earlier]);
    // A lets go after all.
    let (mut desk, _) = tried(1213);
    let did = desk.hear(A, released(attempt(1)));
    assert_eq!(did[1..], decided);
}

#[test]
fn a_job_is_not_moved_away_from_a_node_that_does_not_answer() {
    let silent = || {
        let mut desk = desk();
        desk.at(940).feed(place(vec![candidate(1000, &[A])], &[]));
        agree(&mut desk, &[A], 1);
        desk.feed(improve(1020, &[B]));
        assert_eq!(desk.hear(B, prepared(attempt(2))), []);
        desk
    };
    let until = just_after(1241);
    let kept = Notice::Kept {
        job: JOB,
        setback: Some(Setback::Earlier { until }),
    };
    assert_eq!(tells(silent().ring_until(943)), [kept]);
    assert_eq!(
        silent().hear(A, alive(attempt(1), WAITING)),
        [Persist(TASK), Send(B, commit(attempt(2)))]
    );
}

//! A node is lost.

use super::*;

#[test]
fn a_lost_node_is_replaced_by_a_spare_before_the_start() {
    let mut desk = standing(&[A, B], vec![], &[B, SPARE]);
    // B answers neither at zero nor at a hundred.
    let renewed = |node| Send(node, ping(attempt(1)));
    assert_eq!(desk.ring(), [renewed(A), renewed(B), Wake(second(200))]);
    desk.hear(A, alive(attempt(1), WAITING));
    let question = prepare(attempt(2), slot(1000));
    assert_eq!(
        desk.ring(),
        [
            Send(A, question.clone()),
            Send(SPARE, question),
            Wake(second(202))
        ]
    );
    assert_eq!(
        agree(&mut desk, &[A, SPARE], 2),
        [
            Tell(placed(2, 1000)),
            Send(B, release(attempt(1))),
            Send(A, ping(attempt(2))),
            Send(SPARE, ping(attempt(2)))
        ]
    );
    // B never lets go, but was not permitted to start either.
    let mut sent = Vec::new();
    while desk.now < second(900) {
        for node in [A, SPARE] {
            desk.hear(node, alive(attempt(2), WAITING));
        }
        sent = sends(desk.ring());
    }
    let start = |node| (node, permit(attempt(2), 1200));
    assert!(sent.contains(&start(A)) && sent.contains(&start(SPARE)));
}

#[test]
fn a_node_lost_before_all_have_committed_is_not_replaced() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[SPARE]));
    desk.hear(A, prepared(attempt(1)));
    desk.hear(B, prepared(attempt(1)));
    let did = desk.hear(A, alive(attempt(1), Standing::Gone));
    assert!(
        did.contains(&Tell(unplaced(Setback::Lost { node: A }))),
        "{did:?}"
    );
    assert_eq!(
        sends(did),
        [(A, release(attempt(1))), (B, release(attempt(1)))]
    );
}

#[test]
fn a_lost_node_without_a_spare_costs_the_attempt() {
    let lost = unplaced(Setback::Lost { node: A });
    let mut desk = standing(&[A, B], vec![], &[]);
    assert_eq!(
        desk.hear(A, alive(attempt(1), Standing::Gone)),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Tell(lost.clone()),
            Wake(second(2))
        ]
    );
    assert_eq!(desk.hear(A, alive(attempt(1), Standing::Gone)), []);
    // The same with a spare that refuses.
    let mut desk = standing(&[A, B], vec![], &[SPARE]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    let refusal = Message::Refused {
        attempt: attempt(2),
        reason: Refused::Full,
        next_free: None,
    };
    assert_eq!(tells(desk.hear(SPARE, refusal)), [lost]);
}

#[test]
fn an_attempt_that_fails_aborts_the_trial_of_another() {
    let mut desk = standing(&[A, B], vec![], &[SPARE]);
    desk.at(994);
    let question = prepare(attempt(2), slot(1000));
    let asked = sends(desk.hear(A, alive(attempt(1), Standing::Gone)));
    assert_eq!(asked, [(SPARE, question.clone()), (B, question)]);
    assert_eq!(sends(desk.hear(SPARE, prepared(attempt(2)))), []);
    // B has not voted when it is too late to wait for it.
    let sent = sends(desk.ring());
    assert_eq!(desk.now, second(995));
    for node in [SPARE, B] {
        assert!(sent.contains(&(node, abort(attempt(2)))), "{sent:?}");
    }
}

#[test]
fn a_node_lost_while_running_costs_the_attempt_and_the_next_is_tried() {
    let mut desk = standing(&[A, B], vec![candidate(3000, &[B])], &[SPARE]);
    desk.at(1100);
    assert_eq!(
        desk.hear(A, alive(attempt(1), Standing::Gone)),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Send(B, prepare(attempt(2), slot(3000))),
            Wake(second(1102))
        ]
    );
    // A job that broke is handled in the same way.
    let mut desk = standing(&[A, B], vec![], &[SPARE]);
    desk.at(1100);
    assert_eq!(
        desk.hear(A, ended(attempt(1), Outcome::Broke)),
        [
            Persist(TASK),
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Tell(given_up(Setback::Broke { node: A })),
            Wake(second(1102))
        ]
    );
}

#[test]
fn a_job_that_must_not_start_twice_is_given_up_once_it_has_started() {
    for (now, next) in [(945, true), (1100, false)] {
        let mut desk = desk();
        let candidates = vec![candidate(1000, &[A, B]), candidate(3000, &[B])];
        desk.at(940).feed(place(candidates, &[]));
        agree(&mut desk, &[A, B], 1);
        desk.at(now);
        let did = desk.hear(A, alive(attempt(1), Standing::Gone));
        let tried = Send(B, prepare(attempt(2), slot(3000)));
        assert_eq!(did.contains(&tried), next, "at {now}");
        let lost = Tell(given_up(Setback::Lost { node: A }));
        assert_eq!(did.contains(&lost), !next, "at {now}");
    }
}

#[test]
fn a_node_that_is_cut_off_before_the_start_may_have_run_the_job_unless_it_says_that_it_let_go() {
    for lets_go in [true, false] {
        let mut desk = desk();
        desk.at(940)
            .feed(place(vec![candidate(1000, &[A, B])], &[]));
        agree(&mut desk, &[A, B], 1);
        let lost = Setback::Lost { node: B };
        let did = desk.at(945).hear(B, alive(attempt(1), Standing::Gone));
        assert!(
            did.contains(&Tell(unplaced(lost))),
            "it has not started yet"
        );
        desk.hear(B, released(attempt(1)));
        if lets_go {
            desk.hear(A, released(attempt(1)));
        }
        desk.ring_until(1700);
        let did = desk.at(2000).feed(place(vec![candidate(3000, &[B])], &[]));
        let lost = Tell(given_up(Setback::Lost { node: A }));
        assert_eq!(did.contains(&lost), !lets_go, "{did:?}");
        assert_eq!(sends(did).len(), usize::from(lets_go));
    }
}

#[test]
fn a_node_that_commits_to_the_next_attempt_is_still_asked_whether_it_began_the_last() {
    for began in [None, Some(attempt(1).epoch)] {
        let mut desk = cut_off();
        // A may have begun at 1000, and is heard again.
        desk.at(1100).feed(place(vec![candidate(3000, &[A])], &[]));
        desk.hear(A, prepared(attempt(2)));
        let did = sends(desk.hear(A, committed(attempt(2))));
        assert_eq!(did.first(), Some(&(A, release(attempt(1)))));
        let through = attempt(1).epoch;
        let job = JOB;
        desk.hear(
            A,
            Message::Released {
                job,
                through,
                began,
            },
        );
        let mut told = Vec::new();
        let mut permitted = false;
        while desk.now < second(2999) {
            let did = desk.ring();
            permitted |= sends(did.clone())
                .iter()
                .any(|(_, message)| matches!(message, Message::Permit { until: Some(_), .. }));
            told.extend(tells(did));
            desk.hear(A, alive(attempt(2), Standing::Waiting));
        }
        let lost = given_up(Setback::Lost { node: A });
        assert_eq!(told.contains(&lost), began.is_some(), "{told:?}");
        assert_eq!(permitted, began.is_none());
    }
}

#[test]
fn a_node_that_does_not_tell_of_its_end_in_time_is_lost() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1590).hear(A, ended(attempt(1), Outcome::Done));
    let mut told = Vec::new();
    while told.is_empty() {
        desk.hear(B, alive(attempt(1), Standing::Running));
        told = tells(desk.ring());
    }
    // The clock of B may be behind, and its message may take a while.
    assert!(desk.now >= second(1605));
    told.extend(tells(desk.ring_until(1900)));
    assert_eq!(told, [given_up(Setback::Lost { node: B }), cleared()]);
}

#[test]
fn no_further_spare_is_tried_if_a_survivor_is_silent_or_refuses() {
    // B, which survives, is silent: no spare helps.
    let mut desk = standing(&[A, B], vec![], &[BOSS, SPARE]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    let did = desk.ring_until(50);
    let asked = sends(did.clone());
    let prepares = |sent: &&(NodeId, Message)| matches!(sent.1, Message::Prepare { .. });
    assert!(asked.iter().filter(prepares).all(|(node, _)| *node != BOSS));
    assert_eq!(tells(did)[0], unplaced(Setback::Silent { node: B }));
    // A survivor that refuses costs the attempt as well.
    let mut desk = standing(&[A, B], vec![], &[BOSS, SPARE]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    let (node, reason, next_free) = (B, Refused::Full, None);
    let refusal = Message::Refused {
        attempt: attempt(2),
        reason,
        next_free,
    };
    let setback = Setback::Refused {
        node,
        reason,
        next_free,
    };
    assert_eq!(tells(desk.hear(B, refusal)), [unplaced(setback)]);
}

#[test]
fn a_permitted_attempt_counts_as_started_whatever_its_node_says() {
    let mut desk = desk();
    let candidates = vec![candidate(1000, &[A]), candidate(3000, &[B])];
    desk.at(940).feed(place(candidates, &[]));
    agree(&mut desk, &[A], 1);
    desk.hear(A, alive(attempt(1), WAITING));
    // A went down while the job ran, and its message about that was lost.
    let did = desk.at(1100).hear(A, expired(attempt(1)));
    let lost = given_up(Setback::Expired { node: A });
    assert!(did.contains(&Tell(lost)), "{did:?}");
    let again = (B, prepare(attempt(2), slot(3000)));
    assert!(!sends(did).contains(&again));
}

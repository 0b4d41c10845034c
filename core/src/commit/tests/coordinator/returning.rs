//! After a crash.

use super::*;

#[test]
fn a_crash_before_the_decision_leaves_nothing() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A])], &[]));
    assert_eq!(desk.restart(), [Persist(Key::Life)]);
    desk.answers(A, prepared(attempt(1)), abort(attempt(1)));
    // Attempts of this life have numbers that no attempt of an earlier life has.
    let did = desk.feed(place(vec![candidate(1000, &[A])], &[]));
    assert_eq!(sends(did), [(A, prepare(in_life(2, 1), slot(1000)))]);
}

#[test]
fn a_decision_is_taken_up_again_after_a_crash() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let vote = Event::Message {
        from: B,
        message: prepared(attempt(1)),
    };
    assert_eq!(desk.feed_some(vote, 1), [Persist(TASK)]);
    assert_eq!(desk.at(3).restart(), [Persist(Key::Life), Wake(second(3))]);
    assert_eq!(
        desk.ring(),
        [
            Send(A, commit(attempt(1))),
            Send(B, commit(attempt(1))),
            Wake(second(5))
        ]
    );
    desk.hear(A, committed(attempt(1)));
    assert_eq!(
        desk.hear(B, committed(attempt(1))),
        [
            Tell(placed(1, 1000)),
            Send(A, ping(attempt(1))),
            Send(B, ping(attempt(1))),
            Wake(second(103))
        ]
    );
}

#[test]
fn a_later_life_also_waits_for_the_earlier_attempt_before_it_permits() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[B]));
    agree(&mut desk, &[B], 2);
    desk.at(941).restart();
    assert_eq!(
        sends(desk.ring()),
        [(B, commit(attempt(2)))],
        "the earlier attempt is kept while the later one does not stand"
    );
    assert_eq!(
        desk.hear(B, committed(attempt(2))),
        [Tell(placed(2, 1020)), Send(A, release(attempt(1)))]
    );
    assert_eq!(desk.hear(B, query(attempt(2))), []);
    assert_eq!(
        sends(desk.hear(A, released(attempt(1)))),
        [(B, permit(attempt(2), 1241))]
    );
}

#[test]
fn a_later_life_clears_up_what_is_left_of_earlier_attempts() {
    let mut desk = standing(&[A], vec![], &[]);
    desk.feed(GIVE_UP);
    assert_eq!(desk.restart(), [Persist(Key::Life), Wake(second(0))]);
    assert_eq!(desk.ring(), [Send(A, release(attempt(1))), Wake(second(2))]);
    // The coordinator crashes again, after it wrote that nothing is left and before it deletes the record.
    let letting_go = Event::Message {
        from: A,
        message: released(attempt(1)),
    };
    assert_eq!(desk.feed_some(letting_go, 1), [Persist(TASK)]);
    assert_eq!(
        desk.restart(),
        [Persist(Key::Life), Forget(TASK), Tell(cleared())]
    );
    assert_eq!(desk.machine().jobs().count(), 0);
}

#[test]
fn a_later_life_tells_of_an_end_that_the_earlier_one_wrote_down() {
    let mut desk = standing(&[A], vec![], &[]);
    let end = Event::Message {
        from: A,
        message: ended(attempt(1), Outcome::Done),
    };
    assert_eq!(desk.at(1100).feed_some(end, 1), [Persist(TASK)]);
    // At once, so that nothing else can become of the job.
    assert_eq!(
        desk.restart(),
        [
            Persist(Key::Life),
            Tell(Notice::Finished { job: JOB }),
            Forget(TASK),
            Tell(cleared())
        ]
    );
    assert_eq!(desk.host.timers().len(), 0);
}

/// The earlier life wrote down that the job had broken, and crashed before it gave the attempt up. The later life woke
/// itself without end (`gridweave torture --scheduler asap --seed 1001923`).
#[test]
fn a_later_life_gives_up_what_the_earlier_one_knew_to_be_broken() {
    let mut desk = standing(&[A], vec![], &[]);
    let end = Event::Message {
        from: A,
        message: ended(attempt(1), Outcome::Broke),
    };
    assert_eq!(desk.at(1100).feed_some(end, 1), [Persist(TASK)]);
    assert_eq!(desk.restart(), [Persist(Key::Life), Wake(second(1100))]);
    assert_eq!(
        desk.ring(),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Tell(given_up(Setback::Broke { node: A })),
            Wake(second(1102))
        ]
    );
}

#[test]
fn a_later_life_replaces_a_node_that_stays_away_before_the_start() {
    let mut desk = standing(&[A, B], vec![], &[SPARE]);
    desk.at(1).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    // A silent node counts as lost after two renewals.
    assert_eq!(tells(desk.ring_until(200)), []);
    let question = prepare(in_life(2, 1), slot(1000));
    let sent = sends(desk.ring_until(202));
    let asked = sent.iter().filter(|sent| sent.1 == question);
    assert_eq!(
        asked.collect::<Vec<_>>(),
        [&(A, question.clone()), &(SPARE, question)]
    );
}

#[test]
fn a_later_life_waits_for_a_running_node_as_long_as_it_may_run() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1100).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    assert_eq!(tells(desk.ring_until(1399)), []);
    assert_eq!(
        tells(desk.hear(B, committed(attempt(1)))),
        [placed(1, 1000)]
    );
    // After that B does not run any more.
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1100).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    let lost = given_up(Setback::Lost { node: B });
    assert_eq!(tells(desk.ring_until(1402)), [lost, cleared()]);
}

//! Done, given up, and cleared.

use super::*;

#[test]
fn a_job_that_finishes_aborts_its_open_trial() {
    let mut desk = standing(&[A], vec![], &[]);
    desk.at(995).feed(improve(2000, &[B]));
    assert_eq!(
        desk.at(1000).hear(A, ended(attempt(1), Outcome::Done)),
        [
            Persist(TASK),
            Send(B, abort(attempt(2))),
            Tell(Notice::Finished { job: JOB }),
            Send(A, release(attempt(1))),
            Forget(TASK),
            Tell(cleared()),
            Cancel
        ]
    );
    desk.answers(B, prepared(attempt(2)), abort(attempt(2)));
}

#[test]
fn a_job_that_is_given_up_is_freed_everywhere() {
    let mut desk = standing(&[A, B], vec![candidate(3000, &[B])], &[]);
    desk.feed(improve(500, &[SPARE]));
    assert_eq!(
        desk.feed(GIVE_UP),
        [
            Send(SPARE, abort(attempt(2))),
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1)))
        ]
    );
    assert_eq!(desk.feed(GIVE_UP), []);
    assert_eq!(desk.hear(A, released(attempt(1))), [Persist(TASK)]);
    assert_eq!(
        desk.hear(B, released(attempt(1))),
        [Persist(TASK), Forget(TASK), Tell(cleared()), Cancel]
    );
    assert_eq!(desk.feed(GIVE_UP), []);
}

#[test]
fn an_end_that_is_told_again_is_not_written_down_again() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1400).hear(A, ended(attempt(1), Outcome::Done));
    desk.answers(A, ended(attempt(1), Outcome::Done), release(attempt(1)));
}

#[test]
fn messages_about_unknown_attempts_are_answered_by_abort_or_release_or_ignored() {
    let mut desk = desk();
    let attempt = in_life(u64::from(u32::MAX), u64::from(u32::MAX));
    assert_eq!(desk.hear(A, prepared(attempt)), [Send(A, abort(attempt))]);
    for message in [
        committed(attempt),
        query(attempt),
        Message::Extend {
            attempt,
            until: Time::MAX,
        },
        ended(attempt, Outcome::Done),
    ] {
        assert_eq!(desk.hear(A, message), [Send(A, release(attempt))]);
    }
    for message in [
        expired(attempt),
        alive(attempt, Standing::Running),
        alive(attempt, Standing::Gone),
        released(attempt),
        commit(attempt),
        permit(attempt, 9),
        release(attempt),
        abort(attempt),
        prepare(attempt, slot(9)),
    ] {
        assert_eq!(desk.hear(A, message), []);
    }
    assert_eq!(desk.feed(Event::Unreachable { to: A }), []);
    assert_eq!(desk.machine().jobs().count(), 0);
}

#[test]
fn a_dead_node_is_asked_to_let_go_less_and_less_often_and_does_not_hold_up_the_last_word() {
    const WEEK: u64 = 7 * 24 * 3600;
    let mut desk = desk();
    desk.feed(place(vec![candidate(WEEK, &[A, B])], &[]));
    agree(&mut desk, &[A, B], 1);
    desk.feed(GIVE_UP);
    desk.hear(A, released(attempt(1)));
    let mut asked = Vec::new();
    let mut told = Vec::new();
    while !desk.host.timers().is_empty() {
        let did = desk.ring();
        let now = desk.now.as_secs();
        told.extend(tells(did.clone()).into_iter().map(|told| (now, told)));
        asked.extend(sends(did).iter().map(|_| now));
    }
    assert_eq!(asked[..9], [2, 4, 8, 16, 32, 64, 128, 256, 384]);
    assert!(asked.len() < 5000, "{}", asked.len());
    // No node was permitted to start, so the job is cleared when all retries are used up.
    assert_eq!(told, [(4, cleared())]);
    assert_eq!(desk.machine().jobs().count(), 0);
    assert_eq!(desk.host.records().len(), 1, "only which life this is");
}

#[test]
fn giving_up_a_cleared_job_tells_again_that_it_is_cleared() {
    let mut desk = standing(&[A], vec![], &[]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    assert_eq!(tells(desk.ring_until(10)), [cleared()]);
    // The host has not placed the job again, and does not want to any more.
    assert_eq!(tells(desk.feed(GIVE_UP)), [cleared()]);
    assert_eq!(desk.machine().jobs().count(), 1, "A is still asked");
}

#[test]
fn a_job_is_not_cleared_while_a_node_may_run_it() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(GIVE_UP);
    // A node that stops at 1240, by a clock that is behind, has stopped when 1241 has passed.
    assert_eq!(tells(desk.ring_until(1241)), []);
    assert_eq!(tells(desk.ring()), [cleared()]);
    assert_eq!(desk.now, just_after(1241));
}

#[test]
fn a_job_that_may_have_run_makes_no_room_before_its_host_knows() {
    let mut desk = cut_off();
    desk.ring_until(1700);
    let others = [JobId::new(8), JobId::new(9)];
    let full = others.map(|job| {
        let did = desk.feed(place_job(job, vec![candidate(3000, &[B])], &[]));
        let setback = Setback::Full;
        tells(did).contains(&Notice::Unplaced {
            job,
            setback,
            may_have_run: false,
        })
    });
    assert_eq!(full, [false, true]);
    let did = desk.feed(place(vec![candidate(3000, &[B])], &[]));
    assert!(did.contains(&Tell(given_up(Setback::Lost { node: A }))));
}

#[test]
fn a_job_that_is_only_being_cleared_makes_room_for_another() {
    let mut desk = desk();
    let (eight, nine) = (JobId::new(8), JobId::new(9));
    desk.feed(place_job(eight, vec![candidate(1000, &[A])], &[]));
    let attempt = Attempt {
        job: eight,
        ..attempt(1)
    };
    desk.hear(A, prepared(attempt));
    desk.hear(A, committed(attempt));
    desk.feed(place(vec![candidate(2000, &[A])], &[]));
    agree(&mut desk, &[A], 2);
    desk.feed(GIVE_UP);
    let place = || place_job(nine, vec![candidate(1000, &[B])], &[]);
    let setback = Setback::Full;
    let full = Notice::Unplaced {
        job: nine,
        setback,
        may_have_run: false,
    };
    assert_eq!(tells(desk.feed(place())), [full]);
    // A does not answer, but cannot start the job either.
    assert_eq!(tells(desk.ring_until(4)), [cleared()]);
    let did = desk.feed(place());
    assert_eq!(did[0], Forget(TASK));
    assert_eq!(tells(did), []);
    let jobs: Vec<JobId> = desk.machine().jobs().collect();
    assert_eq!(jobs, [eight, nine]);
}

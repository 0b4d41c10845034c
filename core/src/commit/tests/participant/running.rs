//! Permissions, ends and stops of jobs that run.

use super::*;

#[test]
fn without_a_permission_a_node_asks_and_then_lets_go() {
    let mut hall = committed_hall();
    hall.rings([Send(BOSS, query(attempt(1))), Wake(second(102))]);
    let asked = sends(hall.ring_until(129));
    assert_eq!(asked.len(), 4);
    assert!(asked.iter().all(|sent| *sent == (BOSS, query(attempt(1)))));
    // A permission that has ended does not count.
    assert_eq!(
        hall.hear(BOSS, permit(attempt(1), 129)),
        [Send(BOSS, alive(attempt(1), Standing::Waiting))]
    );
    hall.rings([Persist(JOB), gone(1), CHANGED, Wake(second(730))]);
    assert!(hall.machine().schedule().is_empty());
    // With a permission, the job starts at once.
    let mut hall = committed_hall();
    hall.ring();
    assert_eq!(
        hall.at(101).hear(BOSS, permit(attempt(1), 301)),
        [
            Persist(JOB),
            begin(1, 301),
            Send(BOSS, alive(attempt(1), Standing::Waiting)),
            Wake(second(301))
        ]
    );
}

#[test]
fn an_orphan_stops_when_its_permission_ends() {
    let mut hall = running_hall();
    assert_eq!(
        hall.ring(),
        [
            stop(1, Cause::Orphaned),
            Persist(JOB),
            gone(1),
            CHANGED,
            Wake(second(1000))
        ]
    );
    assert_eq!(hall.now, second(400));
}

#[test]
fn a_job_that_overruns_is_stopped_at_the_end_of_its_time() {
    let mut hall = running_hall();
    assert_eq!(
        sends(hall.hear(BOSS, permit(attempt(1), u64::MAX))),
        [(BOSS, alive(attempt(1), Standing::Running))]
    );
    assert_eq!(
        hall.ring(),
        [
            stop(1, Cause::Overran),
            Persist(JOB),
            Send(BOSS, ended(attempt(1), Outcome::Overran)),
            CHANGED,
            Wake(second(702))
        ]
    );
    assert_eq!(hall.now, second(700));
    // The coordinator is told until it answers.
    let again = sends(hall.ring());
    assert_eq!(again, [(BOSS, ended(attempt(1), Outcome::Overran))]);
}

#[test]
fn a_job_that_ends_at_the_very_end_of_its_time_is_not_cut() {
    let mut hall = running_hall();
    hall.hear(BOSS, permit(attempt(1), u64::MAX));
    let did = hall.at(700).feed(ending(Outcome::Done));
    assert_eq!(
        sends(did.clone()),
        [(BOSS, ended(attempt(1), Outcome::Done))]
    );
    assert_eq!(tells(did), [Notice::Changed]);
}

#[test]
fn a_job_stops_before_the_one_behind_it_begins() {
    let mut hall = running_hall();
    // The next job has the lower id, and its time follows at once.
    let next = in_job(1);
    hall.hear(BOSS, permit(attempt(1), u64::MAX));
    hall.hear(BOSS, prepare(next, slot(700)));
    hall.hear(BOSS, commit(next));
    hall.hear(BOSS, permit(next, u64::MAX));
    let told = tells(hall.ring());
    assert_eq!(
        told,
        [
            Notice::Stop {
                attempt: attempt(1),
                cause: Cause::Overran
            },
            Notice::Changed,
            Notice::Begin {
                attempt: next,
                until: slot(700).end(),
                assignment: Assignment::any(),
            }
        ]
    );
}

#[test]
fn a_release_stops_what_runs() {
    let mut hall = running_hall();
    assert_eq!(
        hall.hear(BOSS, release(attempt(1))),
        [
            stop(1, Cause::Released),
            Persist(JOB),
            CHANGED,
            Send(BOSS, stopped(attempt(1))),
            Wake(second(700))
        ]
    );
    // Older attempts are refused, even if they were never here.
    hall.hear(BOSS, release(attempt(8)));
    assert_eq!(
        hall.hear(BOSS, prepare(attempt(7), slot(900))),
        refused(attempt(7), Refused::Stale, 105)
    );
}

#[test]
fn only_the_coordinator_of_a_job_is_obeyed() {
    let mut hall = committed_hall();
    let before = hall.machine().clone();
    let forged = Attempt::new(JOB, Epoch::new(u64::MAX));
    for attempt in [attempt(1), forged] {
        let sent = |message| [Send(RIVAL, message)];
        assert_eq!(hall.hear(RIVAL, commit(attempt)), sent(expired(attempt)));
        assert_eq!(hall.hear(RIVAL, abort(attempt)), []);
        assert_eq!(
            hall.hear(RIVAL, permit(attempt, u64::MAX)),
            sent(alive(attempt, Standing::Gone))
        );
        assert_eq!(hall.hear(RIVAL, release(attempt)), []);
    }
    assert_eq!(*hall.machine(), before);
    // An unknown job has no time here.
    let unknown = in_job(3);
    hall.answers(RIVAL, release(unknown), released(unknown));
    for message in [
        prepared(unknown),
        committed(unknown),
        expired(unknown),
        query(unknown),
        released(unknown),
        alive(unknown, Standing::Gone),
        ended(unknown, Outcome::Done),
    ] {
        assert_eq!(hall.hear(RIVAL, message), [], "for coordinators");
    }
    assert_eq!(hall.feed(Event::Unreachable { to: BOSS }), []);
    assert_eq!(hall.feed(ending(Outcome::Done)), [], "it does not run");
    assert_eq!(*hall.machine(), before);
}

#[test]
fn an_early_timer_is_only_set_again() {
    let mut hall = committed_hall();
    let due = Event::Timer(crate::commit::participant::Due);
    assert_eq!(hall.feed(due), [Wake(second(100))]);
    hall.hear(BOSS, release(attempt(1)));
    hall.ring();
    let due = Event::Timer(crate::commit::participant::Due);
    assert_eq!(hall.feed(due), []);
    // When nothing is due any more, the timer is cancelled.
    let build = || {
        let retention = Span::from_micros(u64::MAX);
        Participant::new(
            Config {
                retention,
                ..CONFIG
            },
            Everyone,
        )
    };
    let mut hall: Hall = started(build);
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    hall.hears(BOSS, abort(attempt(1)), [Persist(JOB), CHANGED, Cancel]);
}

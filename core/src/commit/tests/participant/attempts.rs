//! Several attempts at one job on one node.

use super::*;

#[test]
fn an_abort_restores_what_the_older_attempt_had() {
    let mut hall = committed_hall();
    let before = hall.machine().schedule().clone();
    hall.hear(BOSS, prepare(attempt(2), slot(300)));
    assert_eq!(hall.machine().schedule().len(), 2);
    assert_eq!(
        hall.hear(BOSS, abort(attempt(2))),
        [Persist(JOB), CHANGED, Wake(second(100))]
    );
    assert_eq!(hall.machine().schedule(), &before);
    // So does the end of the lease.
    hall.hear(BOSS, prepare(attempt(3), slot(300)));
    hall.ring();
    assert_eq!(hall.machine().schedule(), &before);
    // A commit replaces the older attempt.
    hall.hear(BOSS, prepare(attempt(4), slot(300)));
    hall.hear(BOSS, commit(attempt(4)));
    assert_eq!(hall.machine().schedule().len(), 1);
    assert!(hall.machine().schedule().find(attempt(4)).is_some());
    assert_eq!(hall.machine().newest(JOB), Some(attempt(4).epoch));
    // A release of the older attempt leaves the newer one.
    hall.answers(BOSS, release(attempt(1)), released(attempt(1)));
    assert!(hall.machine().schedule().find(attempt(4)).is_some());
}

#[test]
fn an_attempt_does_not_start_while_a_later_one_is_held() {
    let mut hall = committed_hall();
    hall.hear(BOSS, permit(attempt(1), 400));
    hall.at(98).hear(BOSS, prepare(attempt(2), slot(300)));
    assert_eq!(hall.ring_until(102), []);
    assert_eq!(
        hall.ring(),
        [
            Persist(JOB),
            begin(1, 400),
            Persist(JOB),
            CHANGED,
            Wake(second(400))
        ]
    );
    assert_eq!(hall.now, second(103));
    hall.answers(BOSS, commit(attempt(2)), expired(attempt(2)));
}

#[test]
fn an_attempt_that_starts_ends_the_hold_of_a_later_one() {
    // The grace is shorter than a lease.
    let build = || {
        let grace = Span::from_secs(1);
        Participant::new(Config { grace, ..CONFIG }, Everyone)
    };
    let mut hall: Hall = started(build);
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    hall.hear(BOSS, commit(attempt(1)));
    hall.hear(BOSS, permit(attempt(1), 400));
    hall.at(98).hear(BOSS, prepare(attempt(2), slot(300)));
    let did = hall.ring();
    assert_eq!(did[..2], [Persist(JOB), begin(1, 400)]);
    assert_eq!(hall.now, second(101));
    // If the later attempt were committed, no message could stop the one that runs.
    hall.answers(BOSS, commit(attempt(2)), expired(attempt(2)));
    assert_eq!(hall.machine().running().collect::<Vec<_>>(), [attempt(1)]);
    let did = hall.hear(BOSS, release(attempt(2)));
    assert_eq!(did[0], stop(1, Cause::Released));
}

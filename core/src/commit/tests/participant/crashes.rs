//! What outlives a crash.

use super::*;

#[test]
fn a_hold_outlives_a_crash_and_no_longer_than_its_lease() {
    let mut hall = hall();
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    assert_eq!(hall.at(1).restart(), [Wake(second(5))]);
    hall.sends_back(BOSS, commit(attempt(1)), committed(attempt(1)));
    assert_eq!(hall.restart(), [Wake(second(100))]);
    assert!(hall.machine().schedule().find(attempt(1)).is_some());
    // A later attempt is held beside the committed one.
    hall.hear(BOSS, prepare(attempt(2), slot(300)));
    let before = hall.machine().schedule().clone();
    hall.restart();
    assert_eq!(hall.machine().schedule(), &before);
    hall.hear(RIVAL, prepare(in_job(3), slot(2000)));
    let did = hall.at(60).restart();
    let expected = [
        Persist(JobId::new(3)),
        CHANGED,
        Persist(JOB),
        CHANGED,
        Wake(second(100)),
    ];
    assert_eq!(did, expected, "both leases ended meanwhile");
}

#[test]
fn a_vote_is_on_disk_before_it_is_sent() {
    let mut hall = hall();
    let question = Event::Message {
        from: BOSS,
        message: prepare(attempt(1), slot(100)),
    };
    assert_eq!(hall.feed_some(question, 1), [Persist(JOB)]);
    hall.restart();
    assert!(hall.machine().schedule().find(attempt(1)).is_some());
}

#[test]
fn a_permission_does_not_outlive_a_crash() {
    let mut hall = committed_hall();
    hall.hear(BOSS, permit(attempt(1), 400));
    assert_eq!(hall.restart(), [Wake(second(100))]);
    hall.rings([Send(BOSS, query(attempt(1))), Wake(second(102))]);
}

#[test]
fn a_job_that_ran_when_the_node_went_down_is_gone() {
    let mut hall = running_hall();
    assert_eq!(
        hall.at(200).restart(),
        [
            stop(1, Cause::Released),
            Persist(JOB),
            gone(1),
            Wake(second(800))
        ]
    );
    assert_eq!(hall.machine().running().count(), 0);
    assert!(hall.machine().schedule().is_empty());
    // An end is told again.
    let mut hall = running_hall();
    let end = ending(Outcome::Done);
    assert_eq!(hall.at(200).feed_some(end, 1), [Persist(JOB)]);
    assert_eq!(
        hall.at(300).restart()[..1],
        [Send(BOSS, ended(attempt(1), Outcome::Done))]
    );
}

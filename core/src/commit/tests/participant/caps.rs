//! How much a coordinator can take up at a participant.

use super::*;
use crate::admission::Needs;

#[test]
fn a_coordinator_holds_only_so_much_at_once() {
    let mut hall = hall();
    for job in [1, 2] {
        let did = hall.hear(BOSS, prepare(in_job(job), slot(1000 * job)));
        assert_eq!(sends(did), [(BOSS, prepared(in_job(job)))]);
    }
    let third = in_job(3);
    assert_eq!(
        hall.hear(BOSS, prepare(third, slot(3000))),
        refused(third, Refused::Quota, 5)
    );
    hall.sends_back(RIVAL, prepare(third, slot(3000)), prepared(third));
    // Committed time is no longer a hold.
    hall.hear(BOSS, commit(in_job(1)));
    hall.sends_back(BOSS, prepare(in_job(4), slot(4000)), prepared(in_job(4)));
}

#[test]
fn a_coordinator_holds_in_vain_only_for_so_long() {
    let mut hall = hall();
    // One hold after the other, each of all the time from 1000 on.
    let all = Interval::since(second(1000)).unwrap();
    for number in [1, 2] {
        hall.hear(BOSS, prepare(attempt(number), all));
        hall.ring();
    }
    // Ten seconds in vain are a debt of twenty, of which five are paid.
    assert_eq!(hall.now, second(10));
    let late = attempt(3);
    let did = hall.hear(BOSS, prepare(late, all));
    assert_eq!(reasons(did), [Refused::Quota]);
    hall.at(15)
        .sends_back(BOSS, prepare(attempt(4), slot(1000)), prepared(attempt(4)));
    hall.hear(BOSS, abort(attempt(4)));
    hall.sends_back(RIVAL, prepare(in_job(1), slot(1000)), prepared(in_job(1)));
}

#[test]
fn jobs_that_are_over_take_at_most_half_of_the_seats_for_one_coordinator() {
    let mut hall = hall();
    for job in 1..=3 {
        hall.hear(BOSS, prepare(in_job(job), slot(1000)));
        hall.hear(BOSS, abort(in_job(job)));
    }
    let fourth = in_job(4);
    assert_eq!(
        hall.hear(BOSS, prepare(fourth, slot(1000))),
        refused(fourth, Refused::Quota, 5)
    );
    hall.sends_back(RIVAL, prepare(fourth, slot(1000)), prepared(fourth));
    let did = hall.ring_until(600);
    let forgotten = did.iter().filter(|did| matches!(did, Forget(_)));
    assert_eq!(forgotten.count(), 3);
    hall.sends_back(BOSS, prepare(in_job(5), slot(1000)), prepared(in_job(5)));
}

#[test]
fn extreme_numbers_do_no_harm() {
    let mut hall = hall();
    let epoch = Epoch::new(u64::MAX);
    let attempt = Attempt::new(JOB, epoch);
    let interval = Interval::since(second(100)).unwrap();
    let lease = Span::ZERO;
    let submitter = NOBODY;
    let question = Message::Prepare {
        attempt,
        interval,
        lease,
        submitter,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    };
    hall.sends_back(BOSS, question, Message::Prepared { attempt, lease });
    // A lease of zero length has ended at once.
    assert_eq!(hall.ring(), [Persist(JOB), CHANGED, Wake(second(600))]);
    let attempt = in_job(1);
    hall.hear(BOSS, prepare(attempt, interval));
    hall.hear(BOSS, commit(attempt));
    hall.hear(BOSS, permit(attempt, u64::MAX));
    hall.ring();
    assert_eq!(hall.machine().running().count(), 1);
    hall.now = Time::MAX;
    let told = tells(hall.feed(Event::Timer(crate::commit::participant::Due)));
    let cause = Cause::Overran;
    assert!(told.contains(&Notice::Stop { attempt, cause }));
    hall.hear(BOSS, prepare(in_job(2), slot(100)));
}

#[test]
fn liars_cannot_take_the_room_of_all_others() {
    let mut hall = hall();
    let liars = [NodeId::new(66), NodeId::new(67)];
    let question = |attempt| Message::Prepare {
        attempt,
        interval: slot(1000),
        lease: Span::ZERO,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    };
    // Each liar has three of the six seats, at no cost.
    for job in 0..6 {
        let liar = liars[job as usize % 2];
        hall.at(job).hear(liar, question(in_job(20 + job)));
    }
    hall.at(10).ring();
    assert_eq!(
        hall.hear(BOSS, prepare(attempt(1), slot(1000)))[..2],
        [Forget(JobId::new(20)), Persist(JOB)],
        "of equals, the peer that is named first loses what would be forgotten first"
    );
    hall.sends_back(BOSS, commit(attempt(1)), committed(attempt(1)));
    // Now the other liar has the most jobs.
    let did = hall.hear(RIVAL, prepare(in_job(1), slot(2000)));
    assert_eq!(did[0], Forget(JobId::new(21)));
    // A request that is refused anyway makes the node forget no job.
    let before = hall.machine().clone();
    let did = hall.hear(RIVAL, prepare(in_job(2), slot(1100)));
    assert_eq!(reasons(did), [Refused::Busy]);
    assert_eq!(*hall.machine(), before);
    // Nor does a request of a coordinator that has as many jobs as any other.
    let did = hall.hear(liars[0], question(in_job(30)));
    assert_eq!(reasons(did), [Refused::Full]);
}

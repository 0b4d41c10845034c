//! Holds, commits and refusals.

use super::*;
use crate::admission::{Admission, Attributes, Needs, Stated};
use crate::commit::Selective;
use crate::job::Scope;
use crate::resource::{Dimensions, Kind, Requirement};
use crate::shared::Shared;

#[test]
fn time_is_held_committed_run_and_given_back() {
    let mut hall = hall();
    assert_eq!(
        hall.hear(BOSS, prepare(attempt(1), slot(100))),
        [
            Persist(JOB),
            CHANGED,
            Send(BOSS, prepared(attempt(1))),
            Wake(second(5))
        ]
    );
    assert_eq!(
        hall.at(1).hear(BOSS, commit(attempt(1))),
        [
            Persist(JOB),
            CHANGED,
            Send(BOSS, committed(attempt(1))),
            Wake(second(100))
        ]
    );
    assert_eq!(
        hall.hear(BOSS, permit(attempt(1), 400)),
        [Send(BOSS, alive(attempt(1), Standing::Waiting))]
    );
    hall.rings([Persist(JOB), begin(1, 400), Wake(second(400))]);
    assert_eq!(
        hall.at(200).hear(BOSS, permit(attempt(1), 500)),
        [
            extended(1, 500),
            Send(BOSS, alive(attempt(1), Standing::Running)),
            Wake(second(500))
        ]
    );
    assert_eq!(hall.machine().running().collect::<Vec<_>>(), [attempt(1)]);
    let other = Command::Ended {
        attempt: attempt(2),
        outcome: Outcome::Done,
    };
    assert_eq!(
        hall.feed(Event::Command(other)),
        [],
        "another attempt's end"
    );
    let told = Send(BOSS, ended(attempt(1), Outcome::Done));
    assert_eq!(
        hall.at(450).feed(ending(Outcome::Done)),
        [Persist(JOB), told.clone(), CHANGED, Wake(second(452))]
    );
    assert!(hall.machine().schedule().is_free(slot(100)));
    assert_eq!(hall.feed(ending(Outcome::Broke)), [], "only once");
    assert_eq!(hall.ring(), [told, Wake(second(454))]);
    assert_eq!(
        hall.hear(BOSS, release(attempt(1))),
        [
            Persist(JOB),
            CHANGED,
            Send(BOSS, stopped(attempt(1))),
            Wake(second(1052))
        ]
    );
    assert_eq!(hall.ring(), [Forget(JOB)]);
    assert!(hall.host.records().is_empty() && hall.host.timers().is_empty());
}

#[test]
fn every_refusal_has_a_reason_and_the_next_free_time() {
    // Another job has some of that time.
    let mut hall = committed_hall();
    let other = in_job(8);
    assert_eq!(
        hall.hear(BOSS, prepare(other, slot(690))),
        refused(other, Refused::Busy, 700)
    );
    // The start is too near, by a second.
    assert_eq!(
        hall.at(1).hear(BOSS, prepare(other, slot(5))),
        refused(other, Refused::TooLate, 700)
    );
    // An older attempt, and the same attempt with another interval.
    hall.hear(BOSS, prepare(attempt(3), slot(800)));
    for (attempt, interval) in [(attempt(2), slot(900)), (attempt(3), slot(900))] {
        assert_eq!(
            hall.hear(BOSS, prepare(attempt, interval)),
            refused(attempt, Refused::Stale, 1400)
        );
    }
    // A job with the same id, but of another coordinator.
    let foreign = in_life(9, 9);
    assert_eq!(
        hall.hear(RIVAL, prepare(foreign, slot(900))),
        refused_to(RIVAL, foreign, Refused::Foreign, Some(second(1400)))
    );
    // The job runs already.
    let mut hall = running_hall();
    assert_eq!(
        hall.hear(BOSS, prepare(attempt(2), slot(900))),
        refused(attempt(2), Refused::Running, 700)
    );
    // Nothing fits before the end of time.
    let interval = Interval::since(Time::from_secs(100)).unwrap();
    assert_eq!(
        hall.at(1).hear(BOSS, prepare(in_job(8), interval)),
        refused_to(BOSS, in_job(8), Refused::Busy, None)
    );
}

#[test]
fn a_full_table_and_a_submitter_that_is_not_accepted_are_refused() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct NotOfY;
    impl Policy for NotOfY {
        fn may_submit(&self, _: &Submitter) -> bool {
            true
        }
        fn accepts(&self, submitter: &Submitter) -> bool {
            submitter.organisation.get() == 0
        }
    }
    let mut hall: Bench<Participant<NotOfY>> = started(|| Participant::new(CONFIG, NotOfY));
    let question = Message::Prepare {
        attempt: attempt(1),
        interval: slot(100),
        lease: CONFIG.lease,
        needs: Needs::NOTHING,
        submitter: Submitter {
            user: UserId::new(1),
            organisation: OrganisationId::new(1),
        },
        payload: Payload::EMPTY,
    };
    let refusal = |attempt, reason| Message::Refused {
        attempt,
        reason,
        next_free: Some(second(5)),
    };
    hall.sends_back(BOSS, question, refusal(attempt(1), Refused::NotAccepted));
    assert!(hall.host.records().is_empty());
    let mut hall: Hall = started(|| Participant::new(Config { seats: 2, ..CONFIG }, Everyone));
    hall.hear(BOSS, prepare(in_job(1), slot(1000)));
    hall.hear(BOSS, prepare(in_job(2), slot(2000)));
    assert_eq!(
        sends(hall.hear(RIVAL, prepare(in_job(3), slot(3000)))),
        [(RIVAL, refusal(in_job(3), Refused::Full))]
    );
}

#[test]
fn a_node_refuses_a_job_for_which_it_lacks_something_or_that_it_does_not_admit() {
    const OURS: OrganisationId = OrganisationId::new(3);
    fn choosy() -> Selective {
        let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
        Selective {
            stated: Stated::new(Attributes {
                organisation: OURS,
                admission: Admission::Own,
                capability: dimensions.capability(&[4]).unwrap(),
            }),
            dimensions: Shared::new(dimensions),
        }
    }
    let mut hall: Bench<Participant<Selective>> = started(|| Participant::new(CONFIG, choosy()));
    let cores = choosy().dimensions.get().named("cores").unwrap();
    let question = |number, organisation, cored| Message::Prepare {
        attempt: in_job(number),
        interval: slot(100 * number),
        lease: CONFIG.lease,
        submitter: Submitter {
            user: UserId::new(1),
            organisation,
        },
        needs: Needs::new(Requirement::any().with(cores, cored), Scope::Organisation),
        payload: Payload::EMPTY,
    };
    let refusal = |number, reason| Message::Refused {
        attempt: in_job(number),
        reason,
        next_free: Some(second(5)),
    };
    let other = OrganisationId::new(4);
    hall.sends_back(BOSS, question(1, OURS, 5), refusal(1, Refused::Lacking));
    hall.sends_back(
        BOSS,
        question(2, other, 4),
        refusal(2, Refused::NotAccepted),
    );
    assert!(hall.host.records().is_empty());
    let prepared = Message::Prepared {
        attempt: in_job(3),
        lease: CONFIG.lease,
    };
    hall.sends_back(BOSS, question(3, OURS, 4), prepared);
}

#[test]
fn a_hold_ends_with_its_lease_and_a_late_commit_is_told_so() {
    let mut hall = hall();
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    assert_eq!(hall.ring(), [Persist(JOB), CHANGED, Wake(second(605))]);
    hall.answers(BOSS, commit(attempt(1)), expired(attempt(1)));
    // Also if the timer has not fired: the lease counts, not the timer.
    let mut hall = self::hall();
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    assert_eq!(
        hall.at(5).hear(BOSS, commit(attempt(1))),
        [
            Persist(JOB),
            CHANGED,
            Send(BOSS, expired(attempt(1))),
            Wake(second(605))
        ]
    );
    // A lease is at most four times as long as the configured one.
    let mut hall = self::hall();
    let question = Message::Prepare {
        attempt: attempt(1),
        interval: slot(100),
        lease: Span::from_micros(u64::MAX),
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    };
    hall.hear(BOSS, question);
    assert_eq!(hall.host.next_at(), Some(second(20)));
    assert_eq!(hall.host.timers().len(), 1);
}

#[test]
fn a_question_that_comes_again_gets_the_same_answer() {
    let mut hall = hall();
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    // The answer has the whole lease, not the rest: the coordinator counts from its first question.
    hall.at(3)
        .answers(BOSS, prepare(attempt(1), slot(100)), prepared(attempt(1)));
    hall.hear(BOSS, commit(attempt(1)));
    hall.answers(BOSS, commit(attempt(1)), committed(attempt(1)));
    assert_eq!(
        hall.hear(BOSS, prepare(attempt(1), slot(100))),
        refused(attempt(1), Refused::Stale, 700)
    );
    assert_eq!(hall.hear(BOSS, abort(attempt(1))), [], "it is committed");
    hall.hear(BOSS, release(attempt(1)));
    hall.answers(BOSS, release(attempt(1)), released(attempt(1)));
    hall.answers(BOSS, commit(attempt(1)), expired(attempt(1)));
    assert_eq!(hall.hear(BOSS, permit(attempt(1), 400)), [gone(1)]);
}

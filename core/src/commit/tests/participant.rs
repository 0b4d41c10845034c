use super::*;
use crate::commit::participant::{Cause, Command, Notice, Participant};
use crate::id::UserId;
use crate::machine::Host;
use Did::{Cancel, Forget, Persist, Send, Tell, Wake};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

type Hall = Bench<Participant>;

const CHANGED: Did<Participant> = Tell(Notice::Changed);

fn hall() -> Hall {
    started(|| Participant::new(CONFIG, Everyone))
}

fn in_job(job: u64) -> Attempt {
    Attempt::new(JobId::new(job), Epoch::new(1))
}

/// Attempt 1 is committed here, for a start at 100.
fn committed_hall() -> Hall {
    let mut hall = hall();
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    hall.hear(BOSS, commit(attempt(1)));
    hall
}

/// Attempt 1 runs here since 100, and is permitted until 400.
fn running_hall() -> Hall {
    let mut hall = committed_hall();
    hall.hear(BOSS, permit(attempt(1), 400));
    hall.rings([Persist(JOB), begin(1, 100, 400), Wake(second(400))]);
    hall
}

fn begin(number: u64, start: u64, until: u64) -> Did<Participant> {
    Tell(Notice::Begin {
        attempt: attempt(number),
        interval: slot(start),
        until: second(until),
    })
}

fn extended(number: u64, until: u64) -> Did<Participant> {
    Tell(Notice::Extended {
        attempt: attempt(number),
        until: second(until),
    })
}

fn stop(number: u64, cause: Cause) -> Did<Participant> {
    Tell(Notice::Stop {
        attempt: attempt(number),
        cause,
    })
}

fn gone(number: u64) -> Did<Participant> {
    Send(BOSS, alive(attempt(number), Standing::Gone))
}

fn ending(outcome: Outcome) -> Event<Participant> {
    let attempt = attempt(1);
    Event::Command(Command::Ended { attempt, outcome })
}

fn refused(attempt: Attempt, reason: Refused, next_free: u64) -> [Did<Participant>; 2] {
    refused_to(BOSS, attempt, reason, Some(second(next_free)))
}

fn refused_to(
    peer: NodeId,
    attempt: Attempt,
    reason: Refused,
    next_free: Option<Time>,
) -> [Did<Participant>; 2] {
    let refusal = Message::Refused {
        attempt,
        reason,
        next_free,
    };
    [Send(peer, refusal), Tell(Notice::Declined { peer, reason })]
}

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
    hall.rings([Persist(JOB), begin(1, 100, 400), Wake(second(400))]);
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
            Send(BOSS, released(attempt(1))),
            Wake(second(1052))
        ]
    );
    assert_eq!(hall.ring(), [Forget(JOB)]);
    assert!(hall.host.records().is_empty() && hall.host.timers().is_empty());
}

#[test]
fn an_end_without_an_answer_is_told_until_the_retention_is_over() {
    let mut hall = running_hall();
    hall.at(200).feed(ending(Outcome::Broke));
    let told = sends(hall.ring_until(799));
    assert_eq!(told.len(), 16);
    let broke = ended(attempt(1), Outcome::Broke);
    assert!(told.iter().all(|sent| *sent == (BOSS, broke)));
    assert_eq!(hall.ring(), [Persist(JOB), Wake(second(1400))]);
    assert_eq!(hall.ring(), [Forget(JOB)]);
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
        submitter: Submitter {
            user: UserId::new(1),
            organisation: OrganisationId::new(1),
        },
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
    let declined = Notice::Declined {
        peer: BOSS,
        reason: Refused::Quota,
    };
    assert_eq!(tells(did), [declined]);
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
            begin(1, 100, 400),
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
    assert_eq!(did[..2], [Persist(JOB), begin(1, 100, 400)]);
    assert_eq!(hall.now, second(101));
    // If the later attempt were committed, no message could stop the one that runs.
    hall.answers(BOSS, commit(attempt(2)), expired(attempt(2)));
    assert_eq!(hall.machine().running().collect::<Vec<_>>(), [attempt(1)]);
    let did = hall.hear(BOSS, release(attempt(2)));
    assert_eq!(did[0], stop(1, Cause::Released));
}

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
            begin(1, 100, 301),
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
            gone(1),
            CHANGED,
            Wake(second(1300))
        ]
    );
    assert_eq!(hall.now, second(700));
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
                interval: slot(700),
                until: slot(700).end()
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
            Send(BOSS, released(attempt(1))),
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
fn without_an_answer_a_node_asks_less_and_less_often() {
    let mut hall = committed_hall();
    let mut asked = Vec::new();
    while hall.now < second(129) {
        let sent = sends(hall.ring());
        asked.extend(sent.iter().map(|_| hall.now.as_secs()));
    }
    assert_eq!(asked, [100, 102, 104, 108, 116, 130], "at 130 it lets go");
    // The wait is at most 64 times the first one.
    let mut hall = running_hall();
    hall.at(200).feed(ending(Outcome::Done));
    let mut told = Vec::new();
    while hall.now < second(799) {
        let sent = sends(hall.ring());
        told.extend(sent.iter().map(|_| hall.now.as_secs()));
    }
    // From the end of the reservation on as often as at first: the coordinator is about to take the job for lost.
    let (before, after) = told.split_at(9);
    assert_eq!(before, [202, 204, 208, 216, 232, 264, 328, 456, 584]);
    assert_eq!(after, [700, 702, 704, 708, 716, 732, 764]);
}

#[test]
fn nodes_do_not_ask_in_step() {
    let jitter = Span::from_secs(2);
    let participant = Participant::<Everyone>::new(Config { jitter, ..CONFIG }, Everyone);
    let (mut host, mut rng) = (Host::new(), Xoshiro256PlusPlus::seed_from_u64(0));
    host.start(participant, Time::ZERO, &mut rng);
    for message in [prepare(attempt(1), slot(100)), commit(attempt(1))] {
        let from = BOSS;
        host.handle(Event::Message { from, message }, Time::ZERO, &mut rng);
    }
    while host.execute().is_some() {}
    host.fire(host.next_at().unwrap(), &mut rng);
    while host.execute().is_some() {}
    let next = host.next_at().unwrap();
    assert!(second(102) < next && next < second(104), "{next:?}");
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
        "of equals, the one who is named first loses what would be forgotten first"
    );
    hall.sends_back(BOSS, commit(attempt(1)), committed(attempt(1)));
    // Now the other liar has the most jobs.
    let did = hall.hear(RIVAL, prepare(in_job(1), slot(2000)));
    assert_eq!(did[0], Forget(JobId::new(21)));
    // A request that is refused anyway makes the node forget no job.
    let before = hall.machine().clone();
    let did = hall.hear(RIVAL, prepare(in_job(2), slot(1100)));
    let declined = Notice::Declined {
        peer: RIVAL,
        reason: Refused::Busy,
    };
    assert_eq!(tells(did), [declined]);
    assert_eq!(*hall.machine(), before);
    // Nor does a request of a coordinator that has as many jobs as any other.
    let reason = Refused::Full;
    let did = hall.hear(liars[0], question(in_job(30)));
    let peer = liars[0];
    assert_eq!(tells(did), [Notice::Declined { peer, reason }]);
}

#[test]
fn a_coordinator_that_asks_about_a_job_hears_that_it_has_ended() {
    let mut hall = running_hall();
    hall.feed(ending(Outcome::Done));
    let done = [Send(BOSS, ended(attempt(1), Outcome::Done))];
    assert_eq!(hall.hear(BOSS, permit(attempt(1), 500)), done);
    // A later life of the coordinator does not know how far the job is.
    assert_eq!(hall.hear(BOSS, commit(attempt(1))), done);
    hall.answers(RIVAL, commit(attempt(1)), expired(attempt(1)));
}

//! Messages and commands that must change nothing.

use super::*;
use crate::admission::Needs;

#[test]
fn strangers_and_other_attempts_change_nothing() {
    let mut desk = permitted(&[A], vec![], &[]);
    let before = desk.machine().clone();
    let forged = Attempt::new(JOB, Epoch::new(u64::MAX));
    let refusal = Message::Refused {
        attempt: attempt(1),
        reason: Refused::Stale,
        next_free: None,
    };
    for (from, message, answer) in [
        (B, prepared(forged), Some(abort(forged))),
        (B, committed(forged), Some(release(forged))),
        (B, query(forged), Some(release(forged))),
        (B, ended(forged, Outcome::Broke), Some(release(forged))),
        (
            B,
            ended(attempt(1), Outcome::Broke),
            Some(release(attempt(1))),
        ),
        (B, expired(attempt(1)), None),
        (A, expired(forged), None),
        (B, alive(attempt(1), Standing::Gone), None),
        (A, alive(forged, Standing::Gone), None),
        (A, prepared(attempt(1)), None),
        (A, committed(attempt(1)), None),
        (A, refusal, None),
        (A, released(forged), None),
        (B, query(attempt(1)), None),
    ] {
        let answer: Vec<_> = answer
            .map(|answer| Send(from, answer))
            .into_iter()
            .collect();
        assert_eq!(desk.hear(from, message.clone()), answer, "{message:?}");
    }
    desk.hear(A, alive(attempt(1), WAITING));
    let mut expected = before;
    EffectQueue::new().feed(
        &mut expected,
        Event::Message {
            from: A,
            message: alive(attempt(1), WAITING),
        },
        desk.now,
        &mut Zeros,
    );
    assert_eq!(*desk.machine(), expected);
    desk.answers(A, query(attempt(1)), permit(attempt(1), 1240));
}

#[test]
fn a_vote_with_an_extreme_lease_does_no_harm() {
    for lease in [Span::ZERO, Span::from_micros(u64::MAX)] {
        let mut desk = desk();
        desk.feed(place(vec![candidate(1000, &[A])], &[]));
        let attempt = attempt(1);
        let told = tells(desk.hear(A, Message::Prepared { attempt, lease }));
        assert_eq!(told.is_empty(), !lease.is_zero());
    }
}

#[test]
fn commands_beyond_the_limits_are_refused() {
    let mut desk = desk();
    let sound = || vec![candidate(1000, &[A])];
    let bad = unplaced(Setback::BadCandidate);
    let four = [A, B, SPARE, BOSS];
    for (candidates, spares) in [
        (vec![], &[][..]),
        (vec![candidate(1000, &[])], &[]),
        (vec![candidate(1000, &[A, B, A])], &[]),
        (vec![candidate(1000, &four)], &[]),
        (vec![candidate(1000, &[A]); 17], &[]),
        (sound(), &four),
    ] {
        assert_eq!(desk.feed(place(candidates, spares)), [Tell(bad.clone())]);
    }
    for job in [1, 2] {
        let did = desk.feed(place_job(JobId::new(job), sound(), &[]));
        assert_eq!(sends(did).len(), 1);
    }
    let full = |job| Notice::Unplaced {
        job,
        setback: Setback::Full,
        may_have_run: false,
    };
    assert_eq!(desk.feed(place(sound(), &[])), [Tell(full(JOB))]);
    // A job that is being voted on is not placed a second time.
    let job = JobId::new(1);
    assert_eq!(desk.feed(place_job(job, sound(), &[])), [Tell(full(job))]);
}

#[test]
fn a_job_of_a_submitter_without_authorisation_is_refused() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Nobody;
    impl Policy for Nobody {
        fn may_submit(&self, submitter: &Submitter) -> bool {
            submitter.user.get() != 0
        }
        fn accepts(&self, _: &Submitter) -> bool {
            true
        }
    }
    let mut desk: Bench<Coordinator<Nobody>> = started(|| Coordinator::new(CONFIG, Nobody));
    let command = Command::Place {
        job: JOB,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        candidates: vec![candidate(1000, &[A])],
        spares: vec![],
        payload: Payload::EMPTY,
    };
    let refused = unplaced(Setback::NotAuthorised);
    assert_eq!(desk.feed(Event::Command(command)), [Tell(refused)]);
}

#[test]
fn the_end_of_time_does_no_harm() {
    let mut desk = desk();
    desk.now = Time::MAX;
    desk.feed(place(vec![candidate(1000, &[A])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let mut desk = self::desk();
    let interval = Interval::since(Time::from_secs(1000)).unwrap();
    let nodes = vec![A];
    desk.feed(place(vec![Candidate { interval, nodes }], &[]));
    agree(&mut desk, &[A], 1);
    desk.now = Time::MAX;
    let lost = unplaced(Setback::Lost { node: A });
    let told = tells(desk.feed(Event::Timer(crate::commit::coordinator::Due)));
    assert_eq!(told, [lost, cleared()]);
}

#[test]
fn a_candidate_is_not_tried_if_it_starts_too_soon_or_has_a_node_that_is_no_use() {
    let candidates = || {
        vec![
            candidate(1000, &[A, B]),
            candidate(2000, &[A]),
            candidate(3000, &[B]),
        ]
    };
    let at_2000 = Send(A, prepare(attempt(2), slot(2000)));
    let at_3000 = Send(B, prepare(attempt(2), slot(3000)));
    for (now, reason, next) in [
        (900, Refused::Full, at_3000.clone()),
        // What is taken at one time may be free at another, and a late question is no fault of the node, unless its
        // clock is wrong.
        (900, Refused::Busy, at_2000.clone()),
        (995, Refused::TooLate, at_2000),
        (900, Refused::TooLate, at_3000),
    ] {
        let mut desk = desk();
        desk.at(now).feed(place(candidates(), &[]));
        let refused = Message::Refused {
            attempt: attempt(1),
            reason,
            next_free: None,
        };
        let did = desk.hear(A, refused);
        assert!(did.contains(&next), "{reason:?} at {now}: {did:?}");
    }
    let did = desk().at(2500).feed(place(candidates(), &[]));
    assert_eq!(sends(did), [(B, prepare(attempt(1), slot(3000)))]);
    // Nor when a node is lost too shortly before that start.
    for (start, tried) in [(1010, true), (1002, false)] {
        let mut desk = desk();
        let candidates = vec![candidate(1000, &[A, B]), candidate(start, &[B])];
        desk.at(940).feed(place(candidates, &[]));
        agree(&mut desk, &[A, B], 1);
        let did = desk.at(998).hear(A, alive(attempt(1), Standing::Gone));
        let next = Send(B, prepare(attempt(2), slot(start)));
        assert_eq!(did.contains(&next), tried, "{did:?}");
    }
}

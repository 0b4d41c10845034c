use super::*;
use crate::admission::Needs;
use crate::commit::{Config, Everyone, Members};
use crate::job::Submitter;
use crate::machine::EffectQueue;
use crate::rng::Zeros;
use crate::time::Span;

const ATTEMPT: Attempt = Attempt::new(JobId::new(7), Epoch::new(1));

/// A participant that holds time for a job, or has committed it.
fn participant(commits: bool) -> Participant {
    let mut participant = Participant::new(Config::DEFAULT, Everyone);
    let interval = Interval::starting(Time::from_secs(100), Span::from_secs(60)).unwrap();
    let prepare = Message::Prepare {
        attempt: ATTEMPT,
        interval,
        lease: Config::DEFAULT.lease,
        submitter: Submitter::default(),
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    };
    let messages = [
        Some(prepare),
        commits.then_some(Message::Commit {
            attempt: ATTEMPT,
            members: Shared::new(Members::default()),
        }),
    ];
    for message in messages.into_iter().flatten() {
        let from = NodeId::new(1);
        let event = Event::Message { from, message };
        EffectQueue::new().feed(&mut participant, event, Time::ZERO, &mut Zeros);
    }
    assert_eq!(
        (participant.check(), participant.schedule.len()),
        (Ok(()), 1)
    );
    participant
}

#[test]
fn a_broken_state_is_named() {
    for commits in [false, true] {
        let named = |spoil: fn(&mut Participant)| {
            let mut participant = participant(commits);
            spoil(&mut participant);
            participant.check().map_err(|violation| violation.invariant)
        };
        let unreserved = named(|it| it.schedule = Schedule::with_limit(1));
        assert_eq!(unreserved, Err("what a seat says is in the schedule"));
        let forgotten = named(|it| it.seats.clear());
        assert_eq!(forgotten, Err("every reservation has a seat"));
    }
}

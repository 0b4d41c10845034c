//! Configurations, messages and texts.

use super::*;
use core::mem::size_of;
use std::string::ToString;

const TEXTS: [(Refused, &str); 8] = [
    (Refused::Busy, "another job has some of that time"),
    (Refused::Stale, "the attempt is over"),
    (Refused::Running, "the job runs already"),
    (Refused::TooLate, "the start is too near"),
    (Refused::Full, "there is no room"),
    (Refused::Quota, "the coordinator holds too much"),
    (
        Refused::NotAccepted,
        "the node does not run jobs of this submitter",
    ),
    (
        Refused::Foreign,
        "another coordinator has a job of this name",
    ),
];

/// One message of each kind; those for participants come first.
fn messages() -> [Message; 14] {
    let attempt = attempt(3);
    [
        prepare(attempt, slot(100)),
        commit(attempt),
        abort(attempt),
        permit(attempt, 400),
        release(attempt),
        prepared(attempt),
        Message::Refused {
            attempt,
            reason: Refused::Busy,
            next_free: None,
        },
        committed(attempt),
        expired(attempt),
        alive(attempt, Standing::Running),
        query(attempt),
        Message::Extend {
            attempt,
            until: second(400),
        },
        released(attempt),
        ended(attempt, Outcome::Broke),
    ]
}

#[test]
fn the_wait_before_a_retry_or_a_renewal_is_never_zero() {
    let config = Config {
        retry: Span::ZERO,
        permission: Permission::Renewed(Span::ZERO),
        ..CONFIG
    };
    assert_eq!(config.again(Span::ZERO), Span::from_micros(1));
    assert_eq!(config.renewal(), Some(Span::from_micros(1)));
}

#[test]
fn every_reason_has_its_text() {
    for (reason, text) in TEXTS {
        assert_eq!(reason.to_string(), text);
    }
}

#[test]
fn a_message_knows_its_attempt_and_its_side() {
    for (index, message) in messages().into_iter().enumerate() {
        assert_eq!(message.job(), JOB);
        assert_eq!(message.epoch(), attempt(3).epoch);
        assert_eq!(message.is_for_participant(), index < 5, "{message:?}");
    }
}

#[test]
fn messages_and_records_are_small() {
    assert!(size_of::<Message>() <= 72, "{}", size_of::<Message>());
    assert!(size_of::<super::super::participant::Seat>() <= 200);
    assert!(size_of::<Record>() <= 216, "{}", size_of::<Record>());
    assert!(size_of::<Notice>() <= 64);
}

#[cfg(feature = "serde")]
#[test]
fn every_message_survives_the_wire() {
    let mut all = messages().to_vec();
    all.extend(TEXTS.map(|(reason, _)| Message::Refused {
        attempt: attempt(1),
        reason,
        next_free: Some(second(1)),
    }));
    let standings = [Standing::Waiting, Standing::Running, Standing::Gone];
    all.extend(standings.map(|standing| alive(attempt(1), standing)));
    all.push(permit(
        Attempt::new(JobId::new(u64::MAX), Epoch::new(u64::MAX)),
        u64::MAX,
    ));
    for message in all {
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert!(bytes.len() <= 64, "{message:?} takes {}", bytes.len());
        assert_eq!(postcard::from_bytes(&bytes), Ok(message));
    }
}

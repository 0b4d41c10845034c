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
fn times_that_cannot_work_together_are_refused() {
    let with = |change: fn(&mut Config)| {
        let mut config = CONFIG;
        change(&mut config);
        config.checked().err()
    };
    assert_eq!(Config::default().checked(), Ok(Config::DEFAULT));
    assert_eq!(with(|_| {}), None);
    let short_lease = Some(ConfigError::ShortLease);
    assert_eq!(
        with(|config| config.lease = Span::from_secs(2)),
        short_lease
    );
    let short_retention = Some(ConfigError::ShortRetention);
    assert_eq!(
        with(|config| config.retention = Span::from_secs(6)),
        short_retention
    );
    assert_eq!(with(|config| config.retention = Span::from_secs(7)), None);
    let zero_retry = Some(ConfigError::ZeroRetry);
    assert_eq!(with(|config| config.retry = Span::ZERO), zero_retry);
    let short_permission = Some(ConfigError::ShortPermission);
    assert_eq!(
        with(|config| config.permission = Permission::Renewed(Span::from_micros(2))),
        short_permission
    );
    assert_eq!(
        with(|config| config.permission = Permission::Renewed(Span::from_micros(3))),
        None
    );
    let zero_extension = Some(ConfigError::ZeroExtension);
    assert_eq!(
        with(|config| {
            let (by, times) = (Span::ZERO, 1);
            config.overrun = Overrun::Extend { by, times };
        }),
        zero_extension
    );
    for change in [
        |config: &mut Config| config.seats = 0,
        |config: &mut Config| config.tasks = 0,
        |config: &mut Config| config.members = 0,
        |config: &mut Config| config.holds_per_peer = 0,
    ] {
        assert_eq!(with(change), Some(ConfigError::ZeroLimit));
    }
}

#[test]
fn every_reason_has_its_text() {
    for (reason, text) in TEXTS {
        assert_eq!(reason.to_string(), text);
    }
    for (error, text) in [
        (
            ConfigError::ShortLease,
            "the lease does not outlast two delays",
        ),
        (ConfigError::ZeroRetry, "the time between retries is zero"),
        (
            ConfigError::ShortRetention,
            "what is over is forgotten before its messages are",
        ),
        (
            ConfigError::ShortPermission,
            "the permission is too short to be renewed",
        ),
        (ConfigError::ZeroExtension, "the extension is zero"),
        (ConfigError::ZeroLimit, "a limit is zero"),
    ] {
        assert_eq!(error.to_string(), text);
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
    assert!(size_of::<Message>() <= 64, "{}", size_of::<Message>());
    assert!(size_of::<super::super::participant::Seat>() <= 160);
    assert!(size_of::<Record>() <= 192, "{}", size_of::<Record>());
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

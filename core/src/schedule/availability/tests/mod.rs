mod blocks;
mod twin;

use super::*;
use std::collections::hash_map::DefaultHasher;
use std::vec::Vec;

fn micros(start: u64, end: u64) -> Interval {
    Interval::new(Time::from_micros(start), Time::from_micros(end)).unwrap()
}

fn at(micros: u64) -> Time {
    Time::from_micros(micros)
}

fn long(micros: u64) -> Span {
    Span::from_micros(micros)
}

fn steps(profile: &Availability) -> Vec<(u64, u32)> {
    let steps = profile.steps();
    steps.map(|(time, free)| (time.as_micros(), free)).collect()
}

fn hash(profile: &Availability) -> u64 {
    let mut hasher = DefaultHasher::new();
    profile.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn equality_and_hash_see_the_steps_and_not_their_history() {
    let mut one = Availability::new(8).unwrap();
    let mut other = one.clone();
    for start in 0..200 {
        one.reserve(micros(start * 2, start * 2 + 1), 3).unwrap();
    }
    for start in (0..200).rev() {
        other.reserve(micros(start * 2, start * 2 + 1), 3).unwrap();
    }
    assert_eq!((&one, hash(&one)), (&other, hash(&other)));
    other.release(micros(398, 399), 1).unwrap();
    assert_ne!(one, other);
    assert_ne!(hash(&one), hash(&other));
    assert_ne!(Availability::new(8), Availability::with_limit(8, 9));
    assert_ne!(Availability::new(8), Availability::new(9));
}

#[test]
fn a_machine_without_processors_is_refused() {
    assert_eq!(Availability::new(0), Err(NoProcessors));
    assert_eq!(Availability::with_limit(0, 5), Err(NoProcessors));
}

#[test]
fn a_new_machine_is_free_from_the_origin_to_the_end_of_time() {
    let mut profile = Availability::new(4).unwrap();
    assert_eq!(steps(&profile), [(0, 4)]);
    assert_eq!(profile.free_at(Time::MAX), 4);
    assert_eq!(profile.least_free(micros(0, u64::MAX)), 4);
    assert_eq!(
        profile.earliest_fit(Time::ZERO, 4, Span::MAX),
        Ok(Time::ZERO)
    );
    assert_eq!(
        profile.earliest_fit(at(1), 4, Span::MAX),
        Err(FitError::BeyondTime)
    );
}

#[test]
fn a_fit_may_end_at_the_end_of_time_but_not_after_it() {
    let mut profile = Availability::new(4).unwrap();
    let last = u64::MAX - 10;
    profile.reserve(micros(0, last), 4).unwrap();
    assert_eq!(profile.earliest_fit(at(3), 1, long(10)), Ok(at(last)));
    assert_eq!(
        profile.earliest_fit(at(3), 1, long(11)),
        Err(FitError::BeyondTime)
    );
    assert_eq!(
        profile.earliest_fit(Time::MAX, 1, long(1)),
        Err(FitError::BeyondTime)
    );
}

#[test]
fn a_reservation_until_the_end_of_time_leaves_nothing_behind_it() {
    let mut profile = Availability::new(4).unwrap();
    profile.reserve(micros(5, u64::MAX), 4).unwrap();
    assert_eq!(steps(&profile), [(0, 4), (5, 0)]);
    assert_eq!(profile.free_at(Time::MAX), 0);
    assert_eq!(profile.earliest_fit(Time::ZERO, 1, long(5)), Ok(Time::ZERO));
    assert_eq!(
        profile.earliest_fit(Time::ZERO, 1, long(6)),
        Err(FitError::BeyondTime)
    );
    profile.release(micros(7, u64::MAX), 4).unwrap();
    assert_eq!(steps(&profile), [(0, 4), (5, 0), (7, 4)]);
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut profile = Availability::new(4).unwrap();
    profile.advance(at(10));
    profile.reserve(micros(20, 30), 3).unwrap();
    let before = profile.clone();
    let inside = micros(20, 30);
    for (interval, count, error) in [
        (inside, 0, ReserveError::ZeroCount),
        (inside, 5, ReserveError::MoreThanProcessors),
        (inside, u32::MAX, ReserveError::MoreThanProcessors),
        (micros(9, 12), 1, ReserveError::BeforeOrigin),
        (micros(29, 31), 2, ReserveError::NotFree),
        (micros(10, u64::MAX), 2, ReserveError::NotFree),
    ] {
        assert_eq!(profile.reserve(interval, count), Err(error));
    }
    for (interval, count, error) in [
        (inside, 0, ReleaseError::ZeroCount),
        (inside, 4, ReleaseError::MoreThanReserved),
        (inside, u32::MAX, ReleaseError::MoreThanReserved),
        (micros(19, 21), 1, ReleaseError::MoreThanReserved),
        (micros(9, 21), 1, ReleaseError::BeforeOrigin),
    ] {
        assert_eq!(profile.release(interval, count), Err(error));
    }
    for (count, length, error) in [
        (0, 1, FitError::ZeroCount),
        (1, 0, FitError::ZeroLength),
        (5, 1, FitError::MoreThanProcessors),
    ] {
        assert_eq!(
            profile.earliest_fit(Time::ZERO, count, long(length)),
            Err(error)
        );
    }
    assert_eq!(profile, before);
    assert_eq!(profile.check(), Ok(()));
}

#[test]
fn a_second_release_of_the_same_reservation_is_refused() {
    let mut profile = Availability::new(4).unwrap();
    profile.reserve(micros(5, 9), 2).unwrap();
    assert_eq!(profile.release(micros(5, 9), 2), Ok(()));
    assert_eq!(
        profile.release(micros(5, 9), 2),
        Err(ReleaseError::MoreThanReserved)
    );
    assert_eq!(steps(&profile), [(0, 4)]);
}

#[test]
fn at_the_limit_only_what_needs_no_step_is_accepted() {
    let mut profile = Availability::with_limit(4, 3).unwrap();
    profile.reserve(micros(10, 20), 2).unwrap();
    assert_eq!(profile.step_count(), profile.limit());
    let before = profile.clone();
    assert_eq!(profile.reserve(micros(12, 14), 1), Err(ReserveError::Full));
    assert_eq!(profile.reserve(micros(20, 21), 1), Err(ReserveError::Full));
    assert_eq!(profile.release(micros(12, 14), 1), Err(ReleaseError::Full));
    assert_eq!(profile, before);
    profile.reserve(micros(20, 30), 2).unwrap();
    assert_eq!(steps(&profile), [(0, 4), (10, 2), (30, 4)]);
    profile.reserve(micros(10, 30), 2).unwrap();
    profile.reserve(micros(0, 10), 4).unwrap();
    assert_eq!(steps(&profile), [(0, 0), (30, 4)]);
    assert_eq!(profile.check(), Ok(()));
}

#[test]
fn even_a_limit_of_zero_leaves_the_origin_its_step() {
    let mut profile = Availability::with_limit(4, 0).unwrap();
    assert_eq!(profile.reserve(micros(0, 1), 1), Err(ReserveError::Full));
    assert_eq!(profile.reserve(micros(0, u64::MAX), 1), Ok(()));
    assert_eq!(steps(&profile), [(0, 3)]);
    assert_eq!(profile.check(), Ok(()));
}

#[test]
fn advancing_forgets_the_past_and_never_turns_back() {
    let mut profile = Availability::new(4).unwrap();
    profile.reserve(micros(10, 20), 3).unwrap();
    profile.reserve(micros(15, 30), 1).unwrap();
    profile.advance(at(17));
    assert_eq!(steps(&profile), [(17, 0), (20, 3), (30, 4)]);
    profile.advance(at(5));
    assert_eq!(profile.origin(), at(17));
    assert_eq!(profile.free_at(at(16)), 0);
    assert_eq!(profile.least_free(micros(16, 40)), 0);
    assert_eq!(profile.earliest_fit(Time::ZERO, 1, long(1)), Ok(at(20)));
    profile.release(micros(17, 20), 3).unwrap();
    assert_eq!(steps(&profile), [(17, 3), (30, 4)]);
    profile.advance(at(30));
    assert_eq!(steps(&profile), [(30, 4)]);
    profile.advance(Time::MAX);
    assert_eq!(profile.check(), Ok(()));
    assert_eq!(profile.step_count(), 1);
    assert_eq!(
        profile.earliest_fit(Time::ZERO, 1, long(1)),
        Err(FitError::BeyondTime)
    );
    assert_eq!(
        profile.reserve(micros(40, u64::MAX), 1),
        Err(ReserveError::BeforeOrigin)
    );
}

#[test]
fn compression_moves_bookings_earlier_in_the_order_of_the_queue() {
    let booking = |start, end, count| Booking {
        interval: micros(start, end),
        count,
    };
    let mut profile = Availability::new(4).unwrap();
    let mut queue = [
        booking(2, 20, 1),
        booking(20, 30, 4),
        booking(30, 35, 2),
        booking(40, 50, 3),
        booking(90, 95, 1),
    ];
    for held in &queue[..4] {
        profile.reserve(held.interval, held.count).unwrap();
    }
    // The first runs already, the third fits beside it, the fourth then follows, and the last was never reserved.
    assert_eq!(profile.compress(at(3), &mut queue), 2);
    let intervals = queue.map(|booking| booking.interval);
    assert_eq!(
        intervals,
        [(2, 20), (20, 30), (3, 8), (8, 18), (90, 95)].map(|(s, e)| micros(s, e))
    );
    assert_eq!(
        steps(&profile),
        [(0, 4), (2, 3), (3, 1), (8, 0), (18, 3), (20, 0), (30, 4)]
    );
    assert_eq!(profile.compress(at(3), &mut queue), 0);
}

#[test]
fn compression_at_the_limit_leaves_bookings_where_they_are() {
    let mut profile = Availability::with_limit(4, 4).unwrap();
    profile.reserve(micros(0, 5), 3).unwrap();
    profile.reserve(micros(5, 10), 2).unwrap();
    profile.reserve(micros(10, 20), 4).unwrap();
    assert_eq!(steps(&profile), [(0, 1), (5, 2), (10, 0), (20, 4)]);
    let mut queue = [Booking {
        interval: micros(12, 14),
        count: 1,
    }];
    let before = profile.clone();
    assert_eq!(profile.compress(at(1), &mut queue), 0);
    assert_eq!(queue[0].interval, micros(12, 14));
    assert_eq!(profile, before);
}

#[test]
fn a_profile_prints_its_steps() {
    let mut profile = Availability::new(4).unwrap();
    profile
        .reserve(Interval::since(Time::from_secs(1)).unwrap(), 1)
        .unwrap();
    assert_eq!(
        std::format!("{profile:?}"),
        "4 processors, free {0s: 4, 1s: 3}"
    );
}

#[test]
fn a_profile_can_be_sent_and_shared() {
    fn sent_and_shared<T: Send + Sync + 'static>() {}
    sent_and_shared::<Availability>();
}

#[test]
fn errors_say_what_is_wrong() {
    use std::string::ToString;
    assert!(NoProcessors.to_string().contains("at least one processor"));
    assert!(
        ReserveError::NotFree
            .to_string()
            .contains("too few processors are free")
    );
    assert!(
        ReleaseError::MoreThanReserved
            .to_string()
            .contains("too few processors are reserved")
    );
    assert!(FitError::BeyondTime.to_string().contains("end of time"));
    assert_eq!(Availability::new(7).unwrap().processors(), 7);
}

use super::*;
use crate::few::Few;
use crate::id::{Epoch, JobId};
use crate::time::{Interval, IntervalError, Span, Time};
use std::string::ToString;
use std::vec::Vec;

type Growable = Schedule<Vec<Reservation>>;
type Fixed = Schedule<Few<Reservation, 2>>;

fn attempt(job: u64, epoch: u64) -> Attempt {
    Attempt::new(JobId::new(job), Epoch::new(epoch))
}

fn secs(start: u64, end: u64) -> Interval {
    Interval::new(Time::from_secs(start), Time::from_secs(end)).unwrap()
}

fn t(secs: u64) -> Time {
    Time::from_secs(secs)
}

/// Jobs 1, 2 and 3 at [10, 20), [20, 30) and [50, 60).
fn three() -> Growable {
    let mut schedule = Schedule::new();
    for (job, start) in [(1, 10), (3, 50), (2, 20)] {
        schedule
            .reserve(attempt(job, 0), secs(start, start + 10))
            .unwrap();
    }
    schedule
}

fn spans(schedule: &Growable) -> Vec<(u64, Interval)> {
    schedule
        .iter()
        .map(|r| (r.attempt.job.get(), r.interval))
        .collect()
}

#[test]
fn reservations_are_kept_in_order_of_time() {
    let schedule = three();
    assert_eq!(
        spans(&schedule),
        [(1, secs(10, 20)), (2, secs(20, 30)), (3, secs(50, 60))]
    );
    assert_eq!((schedule.len(), schedule.is_empty()), (3, false));
    assert!(Growable::default().is_empty());
}

#[test]
fn time_of_another_job_is_refused_and_nothing_changes() {
    let mut schedule = three();
    let before = schedule.clone();
    for interval in [
        secs(0, 11),
        secs(19, 21),
        secs(29, 31),
        secs(12, 13),
        secs(0, 99),
    ] {
        assert_eq!(
            schedule.reserve(attempt(9, 0), interval),
            Err(ReserveError::Taken)
        );
        assert_eq!(
            schedule.hold(attempt(9, 0), interval, t(99)),
            Err(ReserveError::Taken)
        );
        assert!(!schedule.is_free(interval));
    }
    assert_eq!(schedule, before);
    for interval in [secs(0, 10), secs(30, 50), secs(60, 99)] {
        assert!(schedule.is_free(interval));
        assert_eq!(
            schedule.reserve(attempt(100 + interval.start().as_secs(), 0), interval),
            Ok(())
        );
    }
    schedule.check().unwrap();
}

#[test]
fn the_same_attempt_twice_changes_nothing() {
    let mut schedule = Growable::new();
    schedule.hold(attempt(1, 4), secs(0, 5), t(10)).unwrap();
    let held = schedule.clone();
    assert_eq!(schedule.hold(attempt(1, 4), secs(0, 5), t(99)), Ok(()));
    assert_eq!(schedule, held);
    let other = schedule.hold(attempt(1, 4), secs(0, 6), t(10));
    assert_eq!(other, Err(ReserveError::OtherInterval));
    assert_eq!(schedule, held);
    schedule.commit(attempt(1, 4)).unwrap();
    let committed = schedule.clone();
    assert_eq!(schedule.commit(attempt(1, 4)), Ok(()));
    assert_eq!(schedule.hold(attempt(1, 4), secs(0, 5), t(10)), Ok(()));
    assert_eq!(schedule, committed);
    assert_eq!(
        schedule.find(attempt(1, 4)).map(|r| r.status),
        Some(Status::Committed)
    );
}

#[test]
fn a_later_epoch_fences_an_earlier_one() {
    let mut schedule = Growable::new();
    schedule.hold(attempt(1, 4), secs(0, 5), t(10)).unwrap();
    schedule.hold(attempt(1, 5), secs(7, 9), t(10)).unwrap();
    let before = schedule.clone();
    assert_eq!(
        schedule.hold(attempt(1, 3), secs(20, 25), t(10)),
        Err(ReserveError::Stale)
    );
    assert_eq!(
        schedule.reserve(attempt(1, 3), secs(20, 25)),
        Err(ReserveError::Stale)
    );
    assert_eq!(schedule.commit(attempt(1, 4)), Err(CommitError::Stale));
    assert_eq!(schedule, before);
}

#[test]
fn a_fenced_attempt_is_stale_even_if_it_still_stands() {
    let mut schedule = three();
    schedule.hold(attempt(1, 1), secs(5, 15), t(99)).unwrap();
    for interval in [secs(10, 20), secs(30, 40)] {
        assert_eq!(
            schedule.hold(attempt(1, 0), interval, t(99)),
            Err(ReserveError::Stale)
        );
    }
}

#[test]
fn a_swap_overlaps_its_own_job_only_and_replaces_it_when_committed() {
    let mut schedule = three();
    let hold = schedule.hold(attempt(1, 1), secs(15, 25), t(99));
    assert_eq!(hold, Err(ReserveError::Taken));
    schedule.hold(attempt(1, 1), secs(5, 15), t(99)).unwrap();
    schedule.check().unwrap();
    assert_eq!(schedule.len(), 4);
    assert!(!schedule.is_free(secs(5, 10)) && !schedule.is_free(secs(15, 20)));
    // Another job sees both, and neither may be touched.
    assert_eq!(
        schedule.reserve(attempt(9, 0), secs(4, 6)),
        Err(ReserveError::Taken)
    );
    assert_eq!(
        schedule.reserve(attempt(9, 0), secs(18, 19)),
        Err(ReserveError::Taken)
    );
    schedule.commit(attempt(1, 1)).unwrap();
    assert_eq!(
        spans(&schedule),
        [(1, secs(5, 15)), (2, secs(20, 30)), (3, secs(50, 60))]
    );
    assert!(schedule.is_free(secs(15, 20)));
}

#[test]
fn an_aborted_or_expired_swap_leaves_the_older_reservation() {
    let before = three();
    let mut schedule = before.clone();
    schedule.hold(attempt(1, 1), secs(5, 15), t(99)).unwrap();
    let released = schedule.release(attempt(1, 1)).unwrap();
    assert_eq!(
        (released.interval, released.status),
        (secs(5, 15), Status::Held { lease: t(99) })
    );
    assert_eq!(schedule, before);
    schedule.hold(attempt(1, 1), secs(5, 15), t(99)).unwrap();
    assert_eq!(schedule.expire(t(98)), 0);
    assert_eq!(schedule.expire(t(99)), 1);
    assert_eq!(schedule, before);
}

#[test]
fn a_third_attempt_takes_the_place_of_the_second() {
    let mut schedule = three();
    schedule.hold(attempt(1, 1), secs(5, 15), t(99)).unwrap();
    schedule.hold(attempt(1, 2), secs(12, 18), t(99)).unwrap();
    schedule.check().unwrap();
    assert_eq!(schedule.find(attempt(1, 1)), None);
    assert_eq!(schedule.len(), 4);
    assert_eq!(schedule.commit(attempt(1, 1)), Err(CommitError::Stale));
    // One that is refused takes no place.
    assert_eq!(
        schedule.hold(attempt(1, 3), secs(15, 25), t(99)),
        Err(ReserveError::Taken)
    );
    assert!(schedule.find(attempt(1, 2)).is_some());
    schedule.hold(attempt(1, 3), secs(40, 45), t(99)).unwrap();
    assert_eq!(schedule.find(attempt(1, 2)), None);
    schedule.commit(attempt(1, 3)).unwrap();
    assert_eq!(
        spans(&schedule),
        [(2, secs(20, 30)), (1, secs(40, 45)), (3, secs(50, 60))]
    );
}

#[test]
fn a_hold_stands_alone_once_the_older_reservation_is_gone() {
    let mut schedule = three();
    schedule.hold(attempt(2, 1), secs(22, 28), t(99)).unwrap();
    schedule.hold(attempt(1, 1), secs(5, 15), t(99)).unwrap();
    schedule.release(attempt(1, 0)).unwrap();
    schedule.check().unwrap();
    let mut direct = Growable::new();
    direct.reserve(attempt(2, 0), secs(20, 30)).unwrap();
    direct.reserve(attempt(3, 0), secs(50, 60)).unwrap();
    direct.hold(attempt(1, 1), secs(5, 15), t(99)).unwrap();
    direct.hold(attempt(2, 1), secs(22, 28), t(99)).unwrap();
    assert_eq!(schedule, direct);
}

#[test]
fn only_what_is_held_can_be_committed() {
    let mut schedule = Growable::new();
    assert_eq!(schedule.commit(attempt(1, 0)), Err(CommitError::NotHeld));
    schedule.hold(attempt(1, 0), secs(0, 5), t(3)).unwrap();
    assert_eq!(schedule.next_expiry(), Some(t(3)));
    schedule.expire(t(3));
    assert_eq!(schedule.commit(attempt(1, 0)), Err(CommitError::NotHeld));
    assert_eq!(schedule.release(attempt(1, 0)), None);
    assert_eq!(schedule.next_expiry(), None);
}

#[test]
fn a_committed_reservation_never_expires() {
    let mut schedule = three();
    assert_eq!(schedule.expire(Time::MAX), 0);
    assert_eq!(schedule.next_expiry(), None);
    schedule.hold(attempt(8, 0), secs(70, 71), t(9)).unwrap();
    schedule.hold(attempt(9, 0), secs(80, 81), t(7)).unwrap();
    assert_eq!(schedule.next_expiry(), Some(t(7)));
    assert_eq!(schedule.expire(t(8)), 1);
    assert_eq!(schedule.len(), 4);
}

#[test]
fn what_is_committed_is_lengthened_if_the_time_behind_it_is_free() {
    let mut schedule = three();
    // Up to the next one, and not beyond.
    assert_eq!(schedule.lengthen(attempt(2, 0), t(50)), Ok(()));
    let before = schedule.clone();
    assert_eq!(
        schedule.lengthen(attempt(2, 0), t(51)),
        Err(LengthenError::Taken)
    );
    assert_eq!(
        schedule.lengthen(attempt(1, 0), t(21)),
        Err(LengthenError::Taken)
    );
    // To no more than it has.
    for end in [0, 15, 50] {
        assert_eq!(schedule.lengthen(attempt(2, 0), t(end)), Ok(()));
    }
    // Of another attempt there is nothing.
    for attempt in [attempt(2, 1), attempt(4, 0)] {
        assert_eq!(
            schedule.lengthen(attempt, t(90)),
            Err(LengthenError::NotCommitted)
        );
    }
    assert_eq!(schedule, before);
    assert_eq!(schedule.lengthen(attempt(3, 0), Time::MAX), Ok(()));
    let last = Interval::since(t(50)).unwrap();
    assert_eq!(
        spans(&schedule),
        [(1, secs(10, 20)), (2, secs(20, 50)), (3, last)]
    );
    assert_eq!(schedule.check(), Ok(()));
}

#[test]
fn what_is_only_held_is_not_lengthened_nor_is_anything_over_a_hold() {
    let mut schedule = Growable::new();
    schedule.reserve(attempt(1, 0), secs(10, 20)).unwrap();
    // Newer attempts of the same job: one that overlaps it, and one that is behind it.
    for newer in [secs(15, 25), secs(22, 25)] {
        schedule.hold(attempt(1, 1), newer, t(9)).unwrap();
        let before = schedule.clone();
        assert_eq!(
            schedule.lengthen(attempt(1, 1), t(30)),
            Err(LengthenError::NotCommitted)
        );
        assert_eq!(
            schedule.lengthen(attempt(1, 0), t(23)),
            Err(LengthenError::Taken)
        );
        assert_eq!(schedule, before);
        schedule.release(attempt(1, 1));
    }
    assert_eq!(schedule.lengthen(attempt(1, 0), t(23)), Ok(()));
    assert_eq!(spans(&schedule), [(1, secs(10, 23))]);
}

#[test]
fn pruning_drops_what_is_over_and_nothing_else() {
    let mut schedule = three();
    assert_eq!(schedule.prune(t(19)), 0);
    assert_eq!(schedule.prune(t(20)), 1);
    assert_eq!(schedule.prune(t(59)), 1);
    assert_eq!(spans(&schedule), [(3, secs(50, 60))]);
}

#[test]
fn the_earliest_fit_is_the_first_gap_that_is_long_enough() {
    let schedule = three();
    let fit = |from, length| schedule.earliest_fit(t(from), Span::from_secs(length));
    assert_eq!(fit(0, 10), Ok(secs(0, 10)));
    assert_eq!(fit(0, 11), Ok(secs(30, 41)));
    assert_eq!(fit(1, 10), Ok(secs(30, 40)));
    assert_eq!(fit(0, 20), Ok(secs(30, 50)));
    assert_eq!(fit(0, 21), Ok(secs(60, 81)));
    assert_eq!(fit(12, 1), Ok(secs(30, 31)));
    assert_eq!(fit(55, 1), Ok(secs(60, 61)));
    assert_eq!(fit(60, 1), Ok(secs(60, 61)));
    assert_eq!(fit(0, 0), Err(IntervalError::Empty));
    assert_eq!(
        schedule.earliest_fit(t(12), Span::MAX),
        Err(IntervalError::BeyondTime)
    );
    let rest = Time::MAX - t(60);
    assert_eq!(schedule.earliest_fit(t(0), rest).unwrap().end(), Time::MAX);
}

#[test]
fn windows_merge_what_touches_and_gaps_lie_between() {
    let mut schedule = three();
    schedule.hold(attempt(3, 1), secs(45, 55), t(99)).unwrap();
    let busy: Vec<_> = schedule.busy_windows(t(0)).collect();
    assert_eq!(busy, [secs(10, 30), secs(45, 60)]);
    assert_eq!(
        schedule.busy_windows(t(20)).collect::<Vec<_>>(),
        [secs(20, 30), secs(45, 60)]
    );
    let cut: Vec<_> = schedule.busy_windows(t(15)).collect();
    assert_eq!(cut, [secs(15, 30), secs(45, 60)]);
    assert_eq!(schedule.busy_windows(t(60)).count(), 0);
    let free = |start, end| schedule.free_windows(secs(start, end)).collect::<Vec<_>>();
    assert_eq!(free(0, 99), [secs(0, 10), secs(30, 45), secs(60, 99)]);
    assert_eq!(free(12, 44), [secs(30, 44)]);
    assert_eq!(free(10, 30), []);
    assert_eq!(free(9, 31), [secs(9, 10), secs(30, 31)]);
    assert_eq!(free(61, 62), [secs(61, 62)]);
}

#[test]
fn a_hold_that_outlasts_all_else_makes_the_last_window_longer() {
    let mut schedule = three();
    schedule.hold(attempt(3, 1), secs(55, 70), t(99)).unwrap();
    let busy: Vec<_> = schedule.busy_windows(t(0)).collect();
    assert_eq!(busy, [secs(10, 30), secs(50, 70)]);
    assert_eq!(
        schedule.earliest_fit(t(31), Span::from_secs(20)),
        Ok(secs(70, 90))
    );
}

#[test]
fn a_full_schedule_refuses_and_stays_as_it_is() {
    let mut fixed = Fixed::new();
    fixed.reserve(attempt(1, 0), secs(0, 1)).unwrap();
    fixed.hold(attempt(1, 1), secs(0, 2), t(9)).unwrap();
    let before = fixed.clone();
    assert_eq!(
        fixed.reserve(attempt(2, 0), secs(5, 6)),
        Err(ReserveError::Full)
    );
    assert_eq!(fixed, before);
    // A third attempt needs no new place, and a commit gives one back.
    assert_eq!(fixed.hold(attempt(1, 2), secs(0, 3), t(9)), Ok(()));
    assert_eq!(fixed.commit(attempt(1, 2)), Ok(()));
    assert_eq!(fixed.reserve(attempt(2, 0), secs(5, 6)), Ok(()));
    fixed.check().unwrap();

    let mut none = Growable::with_limit(0);
    assert_eq!(
        none.reserve(attempt(1, 0), secs(0, 1)),
        Err(ReserveError::Full)
    );
    let mut one = Growable::with_limit(1);
    assert_eq!(one.reserve(attempt(1, 0), secs(0, 1)), Ok(()));
    assert_eq!(
        one.reserve(attempt(2, 0), secs(1, 2)),
        Err(ReserveError::Full)
    );
}

#[test]
fn storage_refuses_places_beyond_its_end() {
    fn refuses<S: Storage<Reservation>>() {
        let reservation = Reservation {
            attempt: attempt(1, 0),
            interval: secs(0, 1),
            status: Status::Committed,
        };
        let mut storage = S::default();
        assert_eq!(storage.insert_at(1, reservation), Err(reservation));
        assert_eq!(storage.remove_at(0), None);
        assert_eq!(storage.insert_at(0, reservation), Ok(()));
        assert_eq!(storage.insert_at(1, reservation), Ok(()));
        assert_eq!(storage.remove_at(2), None);
        assert_eq!(storage.remove_at(1), Some(reservation));
        storage.keep_if(|_| false);
        assert_eq!(storage.as_ref(), []);
        assert_eq!(storage.as_mut(), []);
    }
    refuses::<Vec<Reservation>>();
    refuses::<Few<Reservation, 2>>();
}

#[test]
fn a_snapshot_is_bounded_by_a_horizon_behind_which_all_is_busy() {
    let schedule = three();
    let all = SnapshotOptions::starting(t(0));
    let whole = schedule.snapshot(all.version(7));
    assert_eq!((whole.version(), whole.horizon()), (7, Time::MAX));
    assert_eq!(whole.windows(), [secs(10, 30), secs(50, 60)]);
    let cut = schedule.snapshot(all.most_windows(1));
    assert_eq!((cut.windows(), cut.horizon()), (&[secs(10, 30)][..], t(50)));
    let nothing = schedule.snapshot(all.most_windows(0));
    assert_eq!((nothing.windows(), nothing.horizon()), (&[][..], t(10)));
    let late = schedule.snapshot(SnapshotOptions::starting(t(60)));
    assert_eq!((late.windows(), late.horizon()), (&[][..], Time::MAX));
    assert_eq!(BusyTime::horizon(&&cut), t(50));
    assert!(core::ptr::eq(whole.windows(), whole.clone().windows()));
}

#[test]
fn windows_that_are_no_snapshot_are_refused() {
    let new = |busy: &[Interval]| Snapshot::new(1, t(100), busy);
    assert!(new(&[]).is_ok());
    assert!(new(&[secs(0, 1), secs(2, 100)]).is_ok());
    assert_eq!(new(&[secs(0, 1), secs(1, 2)]), Err(SnapshotError::Unsorted));
    assert_eq!(new(&[secs(3, 4), secs(1, 2)]), Err(SnapshotError::Unsorted));
    assert_eq!(new(&[secs(0, 101)]), Err(SnapshotError::Unsorted));
    let many: Vec<_> = (0..=512).map(|n| secs(2 * n, 2 * n + 1)).collect();
    assert_eq!(
        Snapshot::new(1, Time::MAX, &many),
        Err(SnapshotError::TooMany)
    );
    assert!(Snapshot::new(1, Time::MAX, &many[1..]).is_ok());
    assert!(SnapshotError::TooMany.to_string().contains("too many"));
    assert!(SnapshotError::Unsorted.to_string().contains("sorted"));
}

#[cfg(feature = "serde")]
#[test]
fn decoding_a_snapshot_checks_what_new_checks() {
    let snapshot = three().snapshot(SnapshotOptions::starting(t(0)).version(3));
    let bytes = postcard::to_allocvec(&snapshot).unwrap();
    assert_eq!(postcard::from_bytes::<Snapshot>(&bytes), Ok(snapshot));
    let send = |busy: &[Interval]| postcard::to_allocvec(&(1_u64, t(9999), busy)).unwrap();
    assert!(postcard::from_bytes::<Snapshot>(&send(&[secs(1, 2)])).is_ok());
    assert!(postcard::from_bytes::<Snapshot>(&send(&[secs(1, 2), secs(2, 3)])).is_err());
    let many: Vec<_> = (0..=512).map(|n| secs(2 * n, 2 * n + 1)).collect();
    assert!(postcard::from_bytes::<Snapshot>(&send(&many)).is_err());
    assert!(postcard::from_bytes::<Snapshot>(&send(&many[1..])).is_ok());
    // A length that is claimed and not delivered costs nothing.
    assert!(postcard::from_bytes::<Snapshot>(&[1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
}

#[test]
fn errors_say_what_is_wrong() {
    assert!(ReserveError::Taken.to_string().contains("another job"));
    assert!(ReserveError::Stale.to_string().contains("newer"));
    assert!(
        ReserveError::OtherInterval
            .to_string()
            .contains("other time")
    );
    assert!(ReserveError::Full.to_string().contains("full"));
    assert!(CommitError::Stale.to_string().contains("newer"));
    assert!(CommitError::NotHeld.to_string().contains("nothing"));
    assert!(LengthenError::Taken.to_string().contains("not free"));
    assert!(
        LengthenError::NotCommitted
            .to_string()
            .contains("committed")
    );
}

#[test]
fn a_snapshot_without_some_time_is_free_there_and_as_before_elsewhere() {
    let window = |start, end| Interval::new(Time::from_secs(start), Time::from_secs(end)).unwrap();
    let busy = Snapshot::new(7, Time::from_secs(100), &[window(10, 30), window(40, 50)]).unwrap();
    let windows = |free| busy.without(free).windows().to_vec();
    assert_eq!(
        windows(window(15, 20)),
        [window(10, 15), window(20, 30), window(40, 50)]
    );
    assert_eq!(windows(window(5, 30)), [window(40, 50)]);
    assert_eq!(windows(window(20, 45)), [window(10, 20), window(45, 50)]);
    assert_eq!(windows(window(30, 40)), busy.windows());
    let other = busy.without(window(0, 100));
    assert_eq!(
        (other.version(), other.horizon()),
        (7, Time::from_secs(100))
    );
    // One window too many: the last one counts as busy by the horizon.
    let most = Snapshot::MAX_WINDOWS as u64;
    let all: Vec<Interval> = (0..most).map(|at| window(10 * at, 10 * at + 5)).collect();
    let full = Snapshot::new(7, Time::MAX, &all).unwrap();
    let other = full.without(window(2, 3));
    assert_eq!(other.windows().len(), Snapshot::MAX_WINDOWS);
    assert_eq!(other.horizon(), Time::from_secs(10 * (most - 1)));
}

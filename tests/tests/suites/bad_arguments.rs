//! Bad arguments give a typed error or a documented saturating result, and nothing panics.

use core::num::NonZeroU32;

use gridweave_core::few::Few;
use gridweave_core::heartbeat::Detector;
use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId, OrganisationId};
use gridweave_core::job::{Demand, Job, JobError};
use gridweave_core::queue::{
    Lateness, LocalScheduler, Policy, Priorities, QueueError, QueuedJob, SiteQueue,
    TooManyOrganisations, WindowError, offer,
};
use gridweave_core::resource::{DimensionError, Dimensions, Kind, Speed, SpeedError};
use gridweave_core::rng::Choose;
use gridweave_core::schedule::ledger::{
    ClaimError, Slot, SlotLedger, SlotRange, SlotRangeError, SlotScale, ZeroLength,
};
use gridweave_core::schedule::{Attempt, Reservation, ReserveError, Schedule};
use gridweave_core::time::{Interval, IntervalError, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

const ATTEMPT: Attempt = Attempt::new(JobId::new(1), Epoch::new(u64::MAX));

#[test]
fn zero_capacity_refuses_everything_by_name() {
    let now = Interval::starting(Time::ZERO, Span::from_secs(1)).unwrap();
    let mut none = Schedule::<Vec<Reservation>>::with_limit(0);
    assert_eq!(none.reserve(ATTEMPT, now), Err(ReserveError::Full));
    let mut none = Schedule::<Few<Reservation, 0>>::new();
    assert_eq!(none.hold(ATTEMPT, now, Time::MAX), Err(ReserveError::Full));
    let slot = SlotRange::new(Slot::new(0), 1).unwrap();
    let refused = SlotLedger::<0>::new().claim(slot).map(|_| ());
    assert_eq!(refused, Err(ClaimError::Beyond));
    let job = QueuedJob::new(JobId::new(1), Span::ZERO);
    let mut none = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 0);
    assert_eq!(none.push(Time::ZERO, job), Err(QueueError::Full));
    assert!(Detector::<0>::new(NodeId::new(0), Span::MAX, u8::MAX).is_ok());
    assert!(Detector::<0>::new(NodeId::new(0), Span::ZERO, 1).is_err());
}

#[test]
fn empty_and_reversed_intervals_do_not_exist() {
    let (a, b) = (Time::from_secs(1), Time::from_secs(2));
    assert_eq!(Interval::new(a, a), Err(IntervalError::Empty));
    assert_eq!(Interval::new(b, a), Err(IntervalError::Reversed));
    assert_eq!(SlotRange::new(Slot::new(7), 0), Err(SlotRangeError::Empty));
    assert_eq!(SlotScale::new(a, Span::ZERO), Err(ZeroLength));
    let demand = Demand::Nodes(NonZeroU32::MIN);
    assert_eq!(
        Job::new(JobId::new(1), demand, Span::ZERO),
        Err(JobError::ZeroEstimate)
    );
}

#[test]
fn the_end_of_time_is_an_error_or_saturates() {
    assert_eq!(Time::MAX + Span::MAX, Time::MAX);
    assert_eq!(
        Interval::starting(Time::MAX, Span::from_micros(1)),
        Err(IntervalError::BeyondTime)
    );
    let mut schedule = Schedule::<Vec<Reservation>>::new();
    let last = Interval::new(Time::MAX - Span::from_micros(2), Time::MAX).unwrap();
    schedule.reserve(ATTEMPT, last).unwrap();
    let fit = |from, length| schedule.earliest_fit(from, Span::from_micros(length));
    assert_eq!(fit(last.start(), 1), Err(IntervalError::BeyondTime));
    assert_eq!(fit(Time::MAX, 1), Err(IntervalError::BeyondTime));
    assert_eq!(fit(Time::ZERO, u64::MAX), Err(IntervalError::BeyondTime));
    assert_eq!(fit(Time::ZERO, u64::MAX - 2).unwrap().end(), last.start());
    let ledger = SlotLedger::<4>::new();
    let last = SlotRange::new(Slot::new(u32::MAX - 1), 1).unwrap();
    assert_eq!(ledger.claim(last).map(|_| ()), Err(ClaimError::Beyond));
    assert_eq!(
        SlotRange::new(Slot::new(u32::MAX), 1),
        Err(SlotRangeError::BeyondSlots)
    );
    let end = ledger.advance(Slot::new(u32::MAX));
    assert_eq!((end, ledger.window()), (SlotLedger::<4>::END, None));
    assert_eq!(ATTEMPT.epoch.next(), None);
    assert_eq!(
        Incarnation::new(u32::MAX).next(),
        Incarnation::new(u32::MAX)
    );
    let endless = QueuedJob {
        deadline: Some(Time::ZERO),
        ..QueuedJob::new(JobId::new(1), Span::MAX)
    };
    let mut site = SiteQueue::new(Policy::EarliestDeadline, Speed::BASELINE, 9);
    site.push(Time::ZERO, endless).unwrap();
    site.start_next(Time::MAX).unwrap();
    let another = QueuedJob {
        job: JobId::new(2),
        ..endless
    };
    let cost = offer(&site, Time::MAX, &another, Lateness::Literal);
    assert_eq!(cost.as_micros(), i64::MAX);
}

#[test]
fn a_site_takes_no_job_and_no_window_that_is_too_large() {
    let (one, two) = (NonZeroU32::MIN, NonZeroU32::new(2).unwrap());
    let mut site = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 9);
    let wide = QueuedJob {
        processors: two,
        ..QueuedJob::new(JobId::new(1), Span::ZERO)
    };
    assert_eq!(site.push(Time::ZERO, wide), Err(QueueError::Unsuitable));
    let now = Interval::starting(Time::ZERO, Span::from_secs(1)).unwrap();
    let refusal = site.reserve(Time::ZERO, now, two);
    assert_eq!(refusal, Err(WindowError::TooLarge));
    let refusal = site.reserve(Time::MAX, now, one);
    assert_eq!(refusal, Err(WindowError::Past));
    let refusal = site.reserve(Time::ZERO, Interval::LAST, one);
    assert_eq!(refusal, Err(WindowError::Endless));
    let mut priorities = Priorities::ageing(Span::MAX);
    for organisation in 0..8 {
        let organisation = OrganisationId::new(organisation);
        priorities = priorities.with(organisation, u8::MAX).unwrap();
    }
    let refusal = priorities.with(OrganisationId::new(8), 0);
    assert_eq!(refusal, Err(TooManyOrganisations));
}

#[test]
fn more_than_eight_dimensions_are_refused() {
    let nine = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|name| (name, Kind::Amount));
    assert_eq!(Dimensions::new(&nine), Err(DimensionError::TooMany));
}

#[test]
fn numbers_that_are_not_numbers_are_refused() {
    assert_eq!(Speed::try_from(f64::NAN), Err(SpeedError::NotFinite));
    assert_eq!(Speed::try_from(-0.0), Err(SpeedError::OutOfRange));
}

#[test]
fn a_choice_among_nothing_is_no_choice() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    assert_eq!(rng.below(0), 0);
    assert_eq!(rng.pick::<u8>(&[]), None);
    let (chosen, rest) = rng.sample::<u8>(&mut [], 9);
    assert!(chosen.is_empty() && rest.is_empty());
}

//! [`Availability`] beside a row of slots.

use gridweave_core::schedule::availability::{
    Availability, Booking, FitError, ReleaseError, ReserveError,
};
use gridweave_core::time::{Interval, Span, Time};
use proptest::prelude::*;

use super::Twins;

const PROCESSORS: u32 = 10;
/// Nothing is ever reserved from here on.
const END: u64 = 80;

/// A machine of ten processors, all of whose reservations lie in the first eighty ticks.
#[derive(Clone, Debug)]
pub struct Profiles;

/// One operation on a profile.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the methods they call")]
pub enum Step {
    Reserve {
        interval: Interval,
        count: u32,
    },
    Release {
        interval: Interval,
        count: u32,
    },
    EarliestFit {
        from: Time,
        count: u32,
        length: Span,
    },
    Advance {
        now: Time,
    },
    Compress {
        from: Time,
        bookings: Vec<Booking>,
    },
    LeastFree {
        interval: Interval,
    },
}

/// What an operation answers.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "named after the answers they hold")]
pub enum Answer {
    Reserved(Result<(), ReserveError>),
    Released(Result<(), ReleaseError>),
    Fit(Result<Time, FitError>),
    Free(u32),
    Moved(usize, Vec<Booking>),
    Done,
}

/// How many processors are free in each tick from the origin on.
#[derive(Clone, Debug)]
pub struct Row {
    origin: u64,
    free: Vec<u32>,
}

impl Row {
    fn free(&self, tick: u64) -> u32 {
        if tick < self.origin {
            return 0;
        }
        self.free.get(tick as usize).copied().unwrap_or(PROCESSORS)
    }

    fn least(&self, interval: Interval) -> u32 {
        ticks(interval).map(|tick| self.free(tick)).min().unwrap()
    }

    fn reserve(&mut self, interval: Interval, count: u32) -> Result<(), ReserveError> {
        if count == 0 {
            return Err(ReserveError::ZeroCount);
        }
        if count > PROCESSORS {
            return Err(ReserveError::MoreThanProcessors);
        }
        if interval.start().as_micros() < self.origin {
            return Err(ReserveError::BeforeOrigin);
        }
        if self.least(interval) < count {
            return Err(ReserveError::NotFree);
        }
        ticks(interval).for_each(|tick| self.free[tick as usize] -= count);
        Ok(())
    }

    fn release(&mut self, interval: Interval, count: u32) -> Result<(), ReleaseError> {
        if count == 0 {
            return Err(ReleaseError::ZeroCount);
        }
        if interval.start().as_micros() < self.origin {
            return Err(ReleaseError::BeforeOrigin);
        }
        if ticks(interval).any(|tick| self.free(tick) + count > PROCESSORS) {
            return Err(ReleaseError::MoreThanReserved);
        }
        ticks(interval).for_each(|tick| self.free[tick as usize] += count);
        Ok(())
    }

    fn fit(&self, from: Time, count: u32, length: Span) -> Result<Time, FitError> {
        if count == 0 {
            return Err(FitError::ZeroCount);
        }
        if length.is_zero() {
            return Err(FitError::ZeroLength);
        }
        if count > PROCESSORS {
            return Err(FitError::MoreThanProcessors);
        }
        let from = from.as_micros().max(self.origin);
        let fits =
            |start: &u64| (*start..start + length.as_micros()).all(|tick| self.free(tick) >= count);
        Ok((from..=from.max(END))
            .find(fits)
            .map(Time::from_micros)
            .unwrap())
    }

    fn compress(&mut self, from: Time, bookings: &mut [Booking]) -> usize {
        let mut moved = 0;
        for booking in bookings {
            let Booking { interval, count } = *booking;
            if interval.start() < from || self.release(interval, count).is_err() {
                continue;
            }
            let start = self
                .fit(from, count, interval.length())
                .unwrap()
                .min(interval.start());
            booking.interval = Interval::starting(start, interval.length()).unwrap();
            self.reserve(booking.interval, count).unwrap();
            moved += usize::from(booking.interval != interval);
        }
        moved
    }
}

fn ticks(interval: Interval) -> core::ops::Range<u64> {
    interval.start().as_micros()..interval.end().as_micros()
}

impl Twins for Profiles {
    type Step = Step;
    type Answer = Answer;
    type Model = Row;
    type Real = Availability;

    fn begin() -> (Row, Availability) {
        let row = Row {
            origin: 0,
            free: vec![PROCESSORS; END as usize],
        };
        (row, Availability::new(PROCESSORS).unwrap())
    }

    fn steps() -> BoxedStrategy<Step> {
        let time = || (0..END).prop_map(Time::from_micros);
        let count = || 0..=PROCESSORS + 1;
        let interval = || {
            (0..END - 1, 1..30_u64).prop_map(|(start, length)| {
                let end = (start + length).min(END);
                Interval::new(Time::from_micros(start), Time::from_micros(end)).unwrap()
            })
        };
        let bookings = prop::collection::vec(
            (interval(), 0..4_u32).prop_map(|(interval, count)| Booking { interval, count }),
            0..6,
        );
        prop_oneof![
            8 => (interval(), 1..5_u32).prop_map(|(interval, count)| Step::Reserve { interval, count }),
            1 => (interval(), count()).prop_map(|(interval, count)| Step::Reserve { interval, count }),
            4 => (interval(), 0..4_u32).prop_map(|(interval, count)| Step::Release { interval, count }),
            6 => (time(), count(), 0..25_u64).prop_map(|(from, count, length)| {
                Step::EarliestFit { from, count, length: Span::from_micros(length) }
            }),
            1 => (0..END / 3).prop_map(|now| Step::Advance { now: Time::from_micros(now) }),
            2 => (time(), bookings).prop_map(|(from, bookings)| Step::Compress { from, bookings }),
            1 => interval().prop_map(|interval| Step::LeastFree { interval }),
        ]
        .boxed()
    }

    fn model(row: &mut Row, step: &Step) -> Answer {
        match step {
            Step::Reserve { interval, count } => Answer::Reserved(row.reserve(*interval, *count)),
            Step::Release { interval, count } => Answer::Released(row.release(*interval, *count)),
            Step::EarliestFit {
                from,
                count,
                length,
            } => Answer::Fit(row.fit(*from, *count, *length)),
            Step::Advance { now } => {
                row.origin = row.origin.max(now.as_micros());
                Answer::Done
            }
            Step::Compress { from, bookings } => {
                let mut bookings = bookings.clone();
                Answer::Moved(row.compress(*from, &mut bookings), bookings)
            }
            Step::LeastFree { interval } => Answer::Free(row.least(*interval)),
        }
    }

    fn real(real: &mut Availability, step: &Step) -> Answer {
        match step {
            Step::Reserve { interval, count } => Answer::Reserved(real.reserve(*interval, *count)),
            Step::Release { interval, count } => Answer::Released(real.release(*interval, *count)),
            Step::EarliestFit {
                from,
                count,
                length,
            } => Answer::Fit(real.earliest_fit(*from, *count, *length)),
            Step::Advance { now } => {
                real.advance(*now);
                Answer::Done
            }
            Step::Compress { from, bookings } => {
                let mut bookings = bookings.clone();
                Answer::Moved(real.compress(*from, &mut bookings), bookings)
            }
            Step::LeastFree { interval } => Answer::Free(real.least_free(*interval)),
        }
    }

    fn compare(row: &Row, real: &Availability) {
        real.check().unwrap();
        assert_eq!(real.origin().as_micros(), row.origin);
        for tick in 0..END + 2 {
            assert_eq!(
                real.free_at(Time::from_micros(tick)),
                row.free(tick),
                "at tick {tick}"
            );
        }
    }
}

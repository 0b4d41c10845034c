use super::{ScaleError, Slot, SlotRange, ZeroLength};
use crate::time::{Interval, IntervalError, Span, Time};

/// When slots are: the first begins at the origin, and all are equally long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlotScale {
    origin: Time,
    length: Span,
}

impl SlotScale {
    /// Slots of this length from `origin` on.
    pub const fn new(origin: Time, length: Span) -> Result<Self, ZeroLength> {
        if length.is_zero() {
            Err(ZeroLength)
        } else {
            Ok(Self { origin, length })
        }
    }

    /// When the first slot begins.
    pub const fn origin(self) -> Time {
        self.origin
    }

    /// How long each slot is; never zero.
    pub const fn length(self) -> Span {
        self.length
    }

    /// The slot in which an instant lies.
    pub fn slot_of(self, at: Time) -> Result<Slot, ScaleError> {
        if at < self.origin {
            return Err(ScaleError::BeforeOrigin);
        }
        let number = (at - self.origin)
            .as_micros()
            .checked_div(self.length.as_micros())
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| *number < u32::MAX);
        number.map(Slot::new).ok_or(ScaleError::BeyondSlots)
    }

    /// The fewest slots that cover an interval.
    pub fn covering(self, interval: Interval) -> Result<SlotRange, ScaleError> {
        let first = self.slot_of(interval.start())?;
        let last = self.slot_of(interval.end() - Span::from_micros(1))?;
        let end = Slot::new(last.get().saturating_add(1));
        SlotRange::between(first, end).map_err(|_| ScaleError::BeyondSlots)
    }

    /// The time of these slots. There is none only beyond the end of time.
    pub fn interval_of(self, slots: SlotRange) -> Result<Interval, IntervalError> {
        let from_origin = self
            .length
            .as_micros()
            .checked_mul(u64::from(slots.first().get()));
        let start = from_origin
            .and_then(|micros| micros.checked_add(self.origin.as_micros()))
            .ok_or(IntervalError::BeyondTime)?;
        let length = self
            .length
            .as_micros()
            .checked_mul(u64::from(slots.count()))
            .ok_or(IntervalError::BeyondTime)?;
        Interval::starting(Time::from_micros(start), Span::from_micros(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn minutes() -> SlotScale {
        SlotScale::new(Time::from_secs(600), Span::from_secs(60)).unwrap()
    }

    fn secs(start: u64, end: u64) -> Interval {
        Interval::new(Time::from_secs(start), Time::from_secs(end)).unwrap()
    }

    fn range(first: u32, count: u32) -> SlotRange {
        SlotRange::new(Slot::new(first), count).unwrap()
    }

    #[test]
    fn an_instant_lies_in_the_slot_that_has_begun() {
        let scale = minutes();
        let slot_of = |secs| scale.slot_of(Time::from_secs(secs));
        assert_eq!(slot_of(599), Err(ScaleError::BeforeOrigin));
        assert_eq!(slot_of(600), Ok(Slot::new(0)));
        assert_eq!(slot_of(659), Ok(Slot::new(0)));
        assert_eq!(slot_of(660), Ok(Slot::new(1)));
        assert_eq!(
            (scale.origin(), scale.length()),
            (Time::from_secs(600), Span::from_secs(60))
        );
    }

    #[test]
    fn an_interval_is_covered_by_the_fewest_slots_that_hold_it() {
        let covering = |start, end| minutes().covering(secs(start, end));
        assert_eq!(covering(600, 660), Ok(range(0, 1)));
        assert_eq!(covering(659, 661), Ok(range(0, 2)));
        assert_eq!(covering(700, 720), Ok(range(1, 1)));
        assert_eq!(covering(720, 960), Ok(range(2, 4)));
        assert_eq!(covering(0, 660), Err(ScaleError::BeforeOrigin));
    }

    #[test]
    fn slots_have_their_time_and_back() {
        let scale = minutes();
        assert_eq!(scale.interval_of(range(2, 3)), Ok(secs(720, 900)));
        for (first, count) in [(0, 1), (5, 9), (u32::MAX - 1, 1), (0, u32::MAX)] {
            let slots = range(first, count);
            assert_eq!(scale.covering(scale.interval_of(slots).unwrap()), Ok(slots));
        }
    }

    #[test]
    fn the_last_slot_and_the_end_of_time_are_errors_by_name() {
        assert_eq!(SlotScale::new(Time::ZERO, Span::ZERO), Err(ZeroLength));
        let tick = SlotScale::new(Time::ZERO, Span::from_micros(1)).unwrap();
        let last = u64::from(u32::MAX) - 1;
        assert_eq!(
            tick.slot_of(Time::from_micros(last)),
            Ok(Slot::new(u32::MAX - 1))
        );
        for micros in [last + 1, last + 2, u64::MAX] {
            let at = Time::from_micros(micros);
            assert_eq!(tick.slot_of(at), Err(ScaleError::BeyondSlots));
        }
        let all = Interval::since(Time::ZERO).unwrap();
        assert_eq!(tick.covering(all), Err(ScaleError::BeyondSlots));
        let long = SlotScale::new(Time::from_micros(5), Span::MAX).unwrap();
        assert_eq!(
            long.interval_of(range(0, 1)),
            Err(IntervalError::BeyondTime)
        );
        assert_eq!(
            long.interval_of(range(0, 2)),
            Err(IntervalError::BeyondTime)
        );
        assert_eq!(
            long.interval_of(range(2, 1)),
            Err(IntervalError::BeyondTime)
        );
        assert!(ZeroLength.to_string().contains("length"));
        assert!(ScaleError::BeforeOrigin.to_string().contains("before"));
        assert!(
            ScaleError::BeyondSlots
                .to_string()
                .contains("after the last")
        );
    }
}

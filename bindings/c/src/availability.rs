//! Free processors of one machine over time.

use gridweave_core::schedule::availability::{Availability, Booking};
use gridweave_core::time::{Span, Time};

use crate::raw::{self, Out, Room, fill};
use crate::schedule::interval;
use crate::status::{Fault, guarded, gw_status};
use crate::table::{self, Kept};

/// The free processors of a machine over time: a plan for backfilling. `id` is 0 for none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_availability {
    /// The library's number for the object.
    pub id: u64,
}

/// An instant of a plan, and how many processors are free from then until the next one.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_step {
    /// When it begins.
    pub time: u64,
    /// How many processors are free.
    pub free: u32,
    /// Zero.
    pub reserved: u32,
}

/// Processors that are reserved from `start` on, before `end`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_booking {
    /// When it begins.
    pub start: u64,
    /// The first instant after it.
    pub end: u64,
    /// How many processors it has.
    pub count: u32,
    /// Zero.
    pub reserved: u32,
}

impl Kept for Availability {
    const KIND: u8 = 1;
}

/// Makes the plan of a machine with so many processors, all free from time 0 on. Free it with `gw_availability_free`.
///
/// It has at most `limit` steps (0: 1,048,576, which take some 12 MiB); a reservation adds two at most.
///
/// Errors: GW_ZERO_COUNT, GW_NULL, GW_TOO_MANY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_availability_new(
    processors: u32,
    limit: usize,
    availability: *mut gw_availability,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a handle may be written there.
        let out = unsafe { Out::new(availability) }?;
        let limit = if limit == 0 {
            Availability::DEFAULT_LIMIT
        } else {
            limit
        };
        let id = table::keep(Availability::with_limit(processors, limit)?)?;
        out.set(gw_availability { id });
        Ok(())
    })
}

/// Makes a copy that changes independently. Free it with `gw_availability_free`.
///
/// Errors: those of handles, GW_NULL, GW_TOO_MANY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_availability_clone(
    availability: gw_availability,
    copy: *mut gw_availability,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a handle may be written there.
        let out = unsafe { Out::new(copy) }?;
        let copy = table::with(availability.id, |of: &mut Availability| Ok(of.clone()))?;
        out.set(gw_availability {
            id: table::keep(copy)?,
        });
        Ok(())
    })
}

/// Frees it. A later call with its handle returns GW_STALE_HANDLE.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_availability_free(availability: gw_availability) -> gw_status {
    guarded(|| table::remove::<Availability>(availability.id))
}

/// Reserves `count` processors from `start` on, before `end`.
///
/// Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_ZERO_COUNT, GW_TOO_LARGE, GW_BEFORE_ORIGIN,
/// GW_NOT_FREE, GW_FULL, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_availability_reserve(
    availability: gw_availability,
    start: u64,
    end: u64,
    count: u32,
) -> gw_status {
    guarded(|| {
        let interval = interval(start, end)?;
        table::with(availability.id, |plan: &mut Availability| {
            Ok(plan.reserve(interval, count)?)
        })
    })
}

/// Gives `count` processors back from `start` on, before `end`: when a job has ended early, the rest of its time.
///
/// Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_ZERO_COUNT, GW_BEFORE_ORIGIN, GW_NOT_RESERVED, GW_FULL,
/// those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_availability_release(
    availability: gw_availability,
    start: u64,
    end: u64,
    count: u32,
) -> gw_status {
    guarded(|| {
        let interval = interval(start, end)?;
        table::with(availability.id, |plan: &mut Availability| {
            Ok(plan.release(interval, count)?)
        })
    })
}

/// Tells the earliest time, at or after `from`, from which `count` processors are free for `length`.
///
/// Errors: GW_ZERO_COUNT, GW_ZERO_LENGTH, GW_TOO_LARGE, GW_BEYOND_TIME, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_availability_earliest_fit(
    availability: gw_availability,
    from: u64,
    count: u32,
    length: u64,
    start: *mut u64,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a time may be written there.
        let out = unsafe { Out::new(start) }?;
        let (from, length) = (Time::from_micros(from), Span::from_micros(length));
        let start = table::with(availability.id, |plan: &mut Availability| {
            Ok(plan.earliest_fit(from, count, length)?)
        })?;
        out.set(start.as_micros());
        Ok(())
    })
}

/// Tells how many processors are free throughout an interval; none if it begins before what is remembered.
///
/// Errors: GW_BAD_INTERVAL, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_availability_least_free(
    availability: gw_availability,
    start: u64,
    end: u64,
    count: *mut u32,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(count) }?;
        let interval = interval(start, end)?;
        out.set(table::with(availability.id, |plan: &mut Availability| {
            Ok(plan.least_free(interval))
        })?);
        Ok(())
    })
}

/// Tells how many processors are free at an instant; none before what is remembered.
///
/// Errors: GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_availability_free_at(
    availability: gw_availability,
    at: u64,
    count: *mut u32,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(count) }?;
        out.set(table::with(availability.id, |plan: &mut Availability| {
            Ok(plan.free_at(Time::from_micros(at)))
        })?);
        Ok(())
    })
}

/// Forgets everything before `now`. Call it as time goes on, so that the plan stays small.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_availability_advance(availability: gw_availability, now: u64) -> gw_status {
    guarded(|| {
        table::with(availability.id, |plan: &mut Availability| {
            plan.advance(Time::from_micros(now));
            Ok(())
        })
    })
}

/// Moves each booking, in the given order, to the earliest time at or after `from` at which it fits, and tells how many
/// moved. Call it when processors became free earlier than planned, with the bookings in the order of the queue. A
/// booking that is not reserved, or began before `from`, stays as it is.
///
/// Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_availability_compress(
    availability: gw_availability,
    from: u64,
    bookings: *mut gw_booking,
    count: usize,
    moved: *mut usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(moved) }?;
        // SAFETY: the caller says that there are so many bookings.
        let list = unsafe { raw::list(bookings.cast_const(), count) }?;
        let list = list.iter().map(|booking| {
            Ok(Booking {
                interval: interval(booking.start, booking.end)?,
                count: booking.count,
            })
        });
        let mut list: Vec<Booking> = list.collect::<Result<_, Fault>>()?;
        // SAFETY: the caller says that they may be written, and the copies are read no more.
        let room = unsafe { Room::new(bookings, count) }?;
        let number = table::with(availability.id, |plan: &mut Availability| {
            Ok(plan.compress(Time::from_micros(from), &mut list))
        })?;
        let items = list.iter().map(|booking| gw_booking {
            start: booking.interval.start().as_micros(),
            end: booking.interval.end().as_micros(),
            count: booking.count,
            reserved: 0,
        });
        fill(room, items, count)?;
        out.set(number);
        Ok(())
    })
}

/// Copies the steps of the plan, in order, and tells how many there are. With GW_NO_ROOM only their number is told; a
/// `size` of 0 asks for it, and `steps` may be null then.
///
/// Errors: GW_NO_ROOM, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_availability_steps(
    availability: gw_availability,
    steps: *mut gw_step,
    size: usize,
    count: *mut usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(count) }?;
        // SAFETY: the caller says that so many steps may be written there.
        let room = unsafe { Room::new(steps, size) }?;
        table::with(availability.id, |plan: &mut Availability| {
            out.set(plan.step_count());
            let items = plan.steps().map(|(time, free)| gw_step {
                time: time.as_micros(),
                free,
                reserved: 0,
            });
            fill(room, items, plan.step_count())
        })
    })
}

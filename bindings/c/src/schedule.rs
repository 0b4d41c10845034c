//! The reserved time of one node.

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::schedule::{Attempt, Reservation, Schedule, Status};
use gridweave_core::time::{Interval, Span, Time};

use crate::raw::{Out, Room, fill};
use crate::status::{Fault, guarded, gw_status};
use crate::table::{self, Kept};

/// The reservations of one node, which never overlap. `id` is 0 for none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_schedule {
    /// The library's number for the object.
    pub id: u64,
}

/// A stretch of time, from `start` on and before `end`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_interval {
    /// When it begins.
    pub start: u64,
    /// The first instant after it.
    pub end: u64,
}

/// One try to run a job. A later attempt at the same job has a higher number.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_attempt {
    /// The job.
    pub job: u64,
    /// The number of the attempt.
    pub number: u64,
}

/// Time of a node that belongs to one attempt.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_reservation {
    /// The attempt.
    pub attempt: gw_attempt,
    /// The time.
    pub interval: gw_interval,
    /// When the hold ends by itself; GW_NEVER if it is committed.
    pub lease: u64,
    /// 1 if it is committed, 0 if it is held.
    pub committed: u32,
    /// Zero.
    pub reserved: u32,
}

/// The schedules that have handles.
pub(crate) type Own = Schedule<Vec<Reservation>>;

impl Kept for Own {
    const KIND: u8 = 2;
}

impl From<gw_attempt> for Attempt {
    fn from(attempt: gw_attempt) -> Self {
        Self::new(JobId::new(attempt.job), Epoch::new(attempt.number))
    }
}

pub(crate) fn interval(start: u64, end: u64) -> Result<Interval, Fault> {
    Ok(Interval::new(
        Time::from_micros(start),
        Time::from_micros(end),
    )?)
}

impl gw_interval {
    /// The same for the core, which has no interval that ends before it begins.
    pub(crate) fn checked(self) -> Result<Interval, Fault> {
        interval(self.start, self.end)
    }
}

impl From<Interval> for gw_interval {
    fn from(interval: Interval) -> Self {
        Self {
            start: interval.start().as_micros(),
            end: interval.end().as_micros(),
        }
    }
}

impl From<&Reservation> for gw_reservation {
    fn from(reservation: &Reservation) -> Self {
        let Attempt { job, epoch } = reservation.attempt;
        let (lease, committed) = match reservation.status {
            Status::Held { lease } => (lease, 0),
            Status::Committed => (Time::MAX, 1),
        };
        Self {
            attempt: gw_attempt {
                job: job.get(),
                number: epoch.get(),
            },
            interval: reservation.interval.into(),
            lease: lease.as_micros(),
            committed,
            reserved: 0,
        }
    }
}

/// Makes an empty schedule for at most `limit` reservations (0: 1,024). Free it with `gw_schedule_free`.
///
/// Errors: GW_NULL, GW_TOO_MANY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_schedule_new(limit: usize, schedule: *mut gw_schedule) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a handle may be written there.
        let out = unsafe { Out::new(schedule) }?;
        let new = match limit {
            0 => Own::new(),
            _ => Own::with_limit(limit),
        };
        out.set(gw_schedule {
            id: table::keep(new)?,
        });
        Ok(())
    })
}

/// Frees it. A later call with its handle returns GW_STALE_HANDLE.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_schedule_free(schedule: gw_schedule) -> gw_status {
    guarded(|| table::remove::<Own>(schedule.id))
}

/// Reserves time for good.
///
/// Errors, after which nothing has changed: GW_BAD_INTERVAL; GW_NOT_FREE if another job has some of that time;
/// GW_OLD_ATTEMPT, GW_OTHER_INTERVAL, GW_FULL, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_schedule_reserve(
    schedule: gw_schedule,
    attempt: gw_attempt,
    interval: gw_interval,
) -> gw_status {
    guarded(|| {
        let interval = interval.checked()?;
        table::with(schedule.id, |own: &mut Own| {
            Ok(own.reserve(attempt.into(), interval)?)
        })
    })
}

/// Holds time until `lease`, to be committed before. A newer attempt may hold time that overlaps that of an older
/// attempt at the same job. Holding the same again changes nothing.
///
/// Errors, after which nothing has changed: those of `gw_schedule_reserve`.
#[unsafe(no_mangle)]
pub extern "C" fn gw_schedule_hold(
    schedule: gw_schedule,
    attempt: gw_attempt,
    interval: gw_interval,
    lease: u64,
) -> gw_status {
    guarded(|| {
        let (interval, lease) = (interval.checked()?, Time::from_micros(lease));
        table::with(schedule.id, |own: &mut Own| {
            Ok(own.hold(attempt.into(), interval, lease)?)
        })
    })
}

/// Makes a hold last, and drops an older reservation of the job. Committing again changes nothing. Call
/// `gw_schedule_expire` before: a lease that is over counts until then.
///
/// Errors, after which nothing has changed: GW_OLD_ATTEMPT, GW_NOT_HELD, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_schedule_commit(schedule: gw_schedule, attempt: gw_attempt) -> gw_status {
    guarded(|| table::with(schedule.id, |own: &mut Own| Ok(own.commit(attempt.into())?)))
}

/// Makes a committed reservation last until `end`, for a job that overruns. One that lasts as long stays as it is.
///
/// Errors, after which nothing has changed: GW_NOT_FREE, GW_NOT_HELD, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_schedule_lengthen(
    schedule: gw_schedule,
    attempt: gw_attempt,
    end: u64,
) -> gw_status {
    guarded(|| {
        table::with(schedule.id, |own: &mut Own| {
            Ok(own.lengthen(attempt.into(), Time::from_micros(end))?)
        })
    })
}

/// Gives time back, held or committed.
///
/// Errors: GW_NOT_HELD, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_schedule_release(schedule: gw_schedule, attempt: gw_attempt) -> gw_status {
    guarded(|| {
        table::with(schedule.id, |own: &mut Own| {
            let released = own.release(attempt.into());
            released
                .map(drop)
                .ok_or_else(|| gw_status::GW_NOT_HELD.into())
        })
    })
}

/// Drops the holds whose lease is over by `now`, and tells how many. `count` may be null.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_schedule_expire(
    schedule: gw_schedule,
    now: u64,
    count: *mut usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a count that is not null may be written.
        let out = unsafe { Out::if_wanted(count) }?;
        let work = |own: &mut Own| Ok(own.expire(Time::from_micros(now)));
        let number = table::with(schedule.id, work)?;
        if let Some(out) = out {
            out.set(number);
        }
        Ok(())
    })
}

/// Drops the reservations that are over by `now`, and tells how many. `count` may be null.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_schedule_prune(
    schedule: gw_schedule,
    now: u64,
    count: *mut usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a count that is not null may be written.
        let out = unsafe { Out::if_wanted(count) }?;
        let work = |own: &mut Own| Ok(own.prune(Time::from_micros(now)));
        let number = table::with(schedule.id, work)?;
        if let Some(out) = out {
            out.set(number);
        }
        Ok(())
    })
}

/// Tells the earliest start, at or after `from`, of a free interval of this length.
///
/// Errors: GW_BAD_INTERVAL for a length of zero, GW_BEYOND_TIME, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_schedule_earliest_fit(
    schedule: gw_schedule,
    from: u64,
    length: u64,
    start: *mut u64,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a time may be written there.
        let out = unsafe { Out::new(start) }?;
        let (from, length) = (Time::from_micros(from), Span::from_micros(length));
        let fit = table::with(schedule.id, |own: &mut Own| {
            Ok(own.earliest_fit(from, length)?)
        })?;
        out.set(fit.start().as_micros());
        Ok(())
    })
}

/// Tells whether no reservation overlaps an interval: 1 if it is free, else 0.
///
/// Errors: GW_BAD_INTERVAL, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_schedule_is_free(
    schedule: gw_schedule,
    interval: gw_interval,
    free: *mut u32,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(free) }?;
        let interval = interval.checked()?;
        let is_free = table::with(schedule.id, |own: &mut Own| Ok(own.is_free(interval)))?;
        out.set(u32::from(is_free));
        Ok(())
    })
}

/// Copies all reservations, and tells how many there are: first those that do not overlap, by time; then holds over an
/// older one of the same job. With GW_NO_ROOM only their number is told; a `size` of 0 asks for it, and `reservations`
/// may be null then.
///
/// Errors: GW_NO_ROOM, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_schedule_reservations(
    schedule: gw_schedule,
    reservations: *mut gw_reservation,
    size: usize,
    count: *mut usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(count) }?;
        // SAFETY: the caller says that so many reservations may be written there.
        let room = unsafe { Room::new(reservations, size) }?;
        table::with(schedule.id, |own: &mut Own| {
            out.set(own.len());
            fill(room, own.iter().map(gw_reservation::from), own.len())
        })
    })
}

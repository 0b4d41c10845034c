//! A machine that runs as many jobs at once as fit, and the jobs that wait for it.

use std::ffi::{CStr, c_char};

use gridweave_core::id::JobId;
use gridweave_core::queue::{BackfillQueue, Discipline, Passing, Waiting};
use gridweave_core::resource::{Dimension, Dimensions, Kind, Pool, Requirement};
use gridweave_core::time::Time;

use crate::raw::{self, Out, Room, fill};
use crate::status::{Fault, guarded, gw_status};
use crate::table::{self, Kept};

/// The most dimensions.
pub const GW_MOST_DIMENSIONS: usize = 8;

/// A machine has at least as much, and a running job uses it up: cores, memory.
pub const GW_AMOUNT: u32 = 0;
/// A machine has at least as much, and jobs share it: speed, a version.
pub const GW_LEVEL: u32 = 1;
/// A machine has exactly this: an architecture, an operating system.
pub const GW_CATEGORY: u32 = 2;

/// Only the first waiting job may start, when it fits.
pub const GW_HEAD_ONLY: u32 = 0;
/// The first waiting job starts when it fits, else the one that fills what is free best, of those that may pass it.
pub const GW_BACKFILL: u32 = 1;

/// Any job may pass any other, however often that one was passed.
pub const GW_UNBOUNDED: u32 = u32::MAX;

/// A queue with backfilling. It needs no run times. `id` is 0 for none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_queue {
    /// The library's number for the object.
    pub id: u64,
}

/// Something that machines have and jobs need.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_dimension {
    /// What people call it: 1 to 24 bytes and a zero byte. It is copied.
    pub name: *const c_char,
    /// GW_AMOUNT, GW_LEVEL or GW_CATEGORY.
    pub kind: u32,
    /// How much of it the machine has.
    pub has: u64,
}

/// A job that waits.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_waiting {
    /// The job.
    pub job: u64,
    /// When it came. Jobs wait in this order; of equals, the first to be pushed is first.
    pub submitted: u64,
    /// How often it was passed: 0 for a new job.
    pub passed: u32,
    /// In which dimensions it needs something: bit n is set for dimension n.
    pub named: u32,
    /// How much it needs in each of these.
    pub needs: [u64; GW_MOST_DIMENSIONS],
}

impl Kept for BackfillQueue {
    const KIND: u8 = 4;
}

fn waiting(from: &gw_waiting, dimensions: &Dimensions) -> Result<Waiting, Fault> {
    let mut requirement = Requirement::any();
    let bit = |dimension: Dimension| 1_u32 << dimension.position();
    let known = dimensions
        .iter()
        .fold(0, |all, (dimension, ..)| all | bit(dimension));
    if from.named & !known != 0 {
        let detail = "the job names a dimension that the queue does not have";
        return Err(Fault::with(gw_status::GW_DIMENSIONS, detail));
    }
    for ((dimension, ..), needed) in dimensions.iter().zip(from.needs) {
        if from.named & bit(dimension) != 0 {
            requirement = requirement.with(dimension, needed);
        }
    }
    Ok(Waiting {
        job: JobId::new(from.job),
        requirement,
        submitted: Time::from_micros(from.submitted),
        passed: from.passed,
    })
}

impl From<&Waiting> for gw_waiting {
    fn from(waiting: &Waiting) -> Self {
        let mut told = Self {
            job: waiting.job.get(),
            submitted: waiting.submitted.as_micros(),
            passed: waiting.passed,
            ..Self::default()
        };
        for (dimension, needed) in waiting.requirement.named() {
            if let Some(needs) = told.needs.get_mut(dimension.position()) {
                *needs = needed;
                told.named |= 1 << dimension.position();
            }
        }
        told
    }
}

/// Makes an idle queue for a machine that has these dimensions, and for at most `limit` jobs, waiting and running. No
/// job is passed more often than `passing` says (GW_UNBOUNDED: as often as may be). Free it with `gw_queue_free`.
///
/// Errors: GW_DIMENSIONS, GW_ARGUMENT for a kind, GW_NULL, GW_TOO_MANY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_new(
    dimensions: *const gw_dimension,
    count: usize,
    limit: usize,
    passing: u32,
    queue: *mut gw_queue,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a handle may be written there.
        let out = unsafe { Out::new(queue) }?;
        if count > GW_MOST_DIMENSIONS {
            return Err(gw_status::GW_DIMENSIONS.into());
        }
        // SAFETY: the caller says that there are so many dimensions.
        let list = unsafe { raw::list(dimensions, count) }?;
        let mut named = Vec::with_capacity(count);
        for dimension in list {
            if dimension.name.is_null() {
                return Err(gw_status::GW_NULL.into());
            }
            // SAFETY: it is not null, and the caller says that a zero byte ends it.
            let name = unsafe { CStr::from_ptr(dimension.name) };
            let name = name.to_str().map_err(|_| gw_status::GW_DIMENSIONS)?;
            let kind = match dimension.kind {
                GW_AMOUNT => Kind::Amount,
                GW_LEVEL => Kind::Level,
                GW_CATEGORY => Kind::Category,
                other => return Err(Fault::unknown("kind of dimension", other)),
            };
            named.push((name, kind));
        }
        let dimensions = Dimensions::new(&named)?;
        let has: Vec<u64> = list.iter().map(|dimension| dimension.has).collect();
        let total = dimensions.capability(&has)?;
        let passing = match passing {
            GW_UNBOUNDED => Passing::Unbounded,
            most => Passing::AtMost(most),
        };
        let new = BackfillQueue::new(Pool::new(dimensions, total), limit).with_passing(passing);
        out.set(gw_queue {
            id: table::keep(new)?,
        });
        Ok(())
    })
}

/// Frees it. A later call with its handle returns GW_STALE_HANDLE.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_queue_free(queue: gw_queue) -> gw_status {
    guarded(|| table::remove::<BackfillQueue>(queue.id))
}

/// Copies a job of the caller, and lets the queue do something with it.
///
/// # Safety
/// As [`raw::read`].
unsafe fn with_job<E: Into<Fault>>(
    queue: gw_queue,
    job: *const gw_waiting,
    size: usize,
    take: impl FnOnce(&mut BackfillQueue, Waiting) -> Result<(), E>,
) -> Result<(), Fault> {
    raw::same_size::<gw_waiting>(size)?;
    // SAFETY: the caller of this function says so.
    let job = unsafe { raw::read(job) }?;
    table::with(queue.id, |queue: &mut BackfillQueue| {
        let job = waiting(&job, queue.pool().dimensions())?;
        take(queue, job).map_err(Into::into)
    })
}

/// Lets a job wait. `size` is `sizeof(gw_waiting)`.
///
/// Errors, after which nothing has changed: GW_KNOWN, GW_UNSUITABLE, GW_FULL, GW_DIMENSIONS, GW_WRONG_SIZE, GW_NULL,
/// those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_push(
    queue: gw_queue,
    job: *const gw_waiting,
    size: usize,
) -> gw_status {
    // SAFETY: the caller says that there is a job.
    guarded(|| unsafe { with_job(queue, job, size, BackfillQueue::push) })
}

/// Starts a job that waited elsewhere, if it can start here at once and may pass those that wait.
///
/// Errors, after which nothing has changed: GW_HEAD_PASSED_MORE, GW_NOT_FREE, GW_KNOWN, GW_FULL, GW_DIMENSIONS,
/// GW_WRONG_SIZE, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_start_migrant(
    queue: gw_queue,
    job: *const gw_waiting,
    size: usize,
) -> gw_status {
    // SAFETY: the caller says that there is a job.
    guarded(|| unsafe { with_job(queue, job, size, |queue, job| queue.start_migrant(&job)) })
}

/// Takes a job that runs already: it went on while the program restarted. It passes no job.
///
/// Errors, after which nothing has changed: GW_NOT_FREE, GW_KNOWN, GW_FULL, GW_DIMENSIONS, GW_WRONG_SIZE, GW_NULL, those
/// of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_resume(
    queue: gw_queue,
    job: *const gw_waiting,
    size: usize,
) -> gw_status {
    // SAFETY: the caller says that there is a job.
    guarded(|| unsafe { with_job(queue, job, size, |queue, job| queue.resume(&job)) })
}

/// Starts one waiting job, if one may start now, and tells which. Call it until it returns GW_NONE. `discipline` is
/// GW_HEAD_ONLY or GW_BACKFILL.
///
/// Errors: GW_ARGUMENT for the discipline, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_start_next(
    queue: gw_queue,
    discipline: u32,
    job: *mut u64,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a job may be written there.
        let out = unsafe { Out::new(job) }?;
        let discipline = match discipline {
            GW_HEAD_ONLY => Discipline::HeadOnly,
            GW_BACKFILL => Discipline::Backfill,
            other => return Err(Fault::unknown("discipline", other)),
        };
        let started = table::with(queue.id, |queue: &mut BackfillQueue| {
            Ok(queue.start_next(discipline))
        })?;
        out.set(started.ok_or(gw_status::GW_NONE)?.get());
        Ok(())
    })
}

/// Frees what an ended job used.
///
/// Errors: GW_NO_JOB if it does not run here, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_queue_finish(queue: gw_queue, job: u64) -> gw_status {
    guarded(|| {
        table::with(queue.id, |queue: &mut BackfillQueue| {
            Ok(queue.finish(JobId::new(job))?)
        })
    })
}

/// Takes a waiting job out, to wait elsewhere or never to run. `waiting` gets it, with its counter, if it is not null;
/// `size` is `sizeof(gw_waiting)`.
///
/// Errors, after which nothing has changed: GW_NO_JOB if it does not wait here, GW_WRONG_SIZE, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_remove(
    queue: gw_queue,
    job: u64,
    waiting: *mut gw_waiting,
    size: usize,
) -> gw_status {
    guarded(|| {
        let out = if waiting.is_null() {
            None
        } else {
            raw::same_size::<gw_waiting>(size)?;
            // SAFETY: the caller says that a job may be written there.
            Some(unsafe { Out::new(waiting) }?)
        };
        let removed = table::with(queue.id, |queue: &mut BackfillQueue| {
            Ok(queue.remove(JobId::new(job)).ok_or(gw_status::GW_NO_JOB)?)
        })?;
        if let Some(out) = out {
            out.set((&removed).into());
        }
        Ok(())
    })
}

/// Tells which waiting job to offer to another machine, `target`: the job that fills it best, of those that could start
/// there at once and may pass its head. It stays here until `gw_queue_remove`. GW_NONE if there is none. `size` is
/// `sizeof(gw_waiting)`.
///
/// Errors: GW_WRONG_SIZE, GW_NULL, those of both handles; GW_BUSY if both are the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_best_for(
    queue: gw_queue,
    target: gw_queue,
    waiting: *mut gw_waiting,
    size: usize,
) -> gw_status {
    guarded(|| {
        raw::same_size::<gw_waiting>(size)?;
        // SAFETY: the caller says that a job may be written there.
        let out = unsafe { Out::new(waiting) }?;
        table::with(queue.id, |queue: &mut BackfillQueue| {
            table::with(target.id, |target: &mut BackfillQueue| {
                let best = queue.best_for(target.pool(), target.head_passed());
                out.set(best.ok_or(gw_status::GW_NONE)?.into());
                Ok(())
            })
        })
    })
}

/// Copies the waiting jobs, in order, and tells how many there are. `size` is `sizeof(gw_waiting)`, and `room` how many
/// fit. With GW_NO_ROOM only their number is told; a `room` of 0 asks for it, and `jobs` may be null then.
///
/// Errors: GW_NO_ROOM, GW_WRONG_SIZE, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_queue_waiting(
    queue: gw_queue,
    jobs: *mut gw_waiting,
    size: usize,
    room: usize,
    count: *mut usize,
) -> gw_status {
    guarded(|| {
        raw::same_size::<gw_waiting>(size)?;
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(count) }?;
        // SAFETY: the caller says that so many jobs may be written there.
        let room = unsafe { Room::new(jobs, room) }?;
        table::with(queue.id, |queue: &mut BackfillQueue| {
            let waiting = queue.waiting();
            out.set(waiting.len());
            fill(room, waiting.iter().map(gw_waiting::from), waiting.len())
        })
    })
}

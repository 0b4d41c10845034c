//! The earliest time when enough of many schedules are free together.

use gridweave_core::schedule::common_slot::{BestFit, CommonSearch, InOrder, Seeded};
use gridweave_core::schedule::{Snapshot, SnapshotOptions};
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::raw::{self, Out, Room, fill};
use crate::schedule::{Own, gw_interval, gw_schedule};
use crate::status::{Fault, guarded, gw_status};
use crate::table::{self, Kept};

/// Takes the first schedules that are free, by index.
pub const GW_PICK_IN_ORDER: u32 = 0;
/// Takes some of the schedules that are free, by the seed.
pub const GW_PICK_SEEDED: u32 = 1;
/// Takes the schedules in whose free windows the slot leaves the least.
pub const GW_PICK_BEST_FIT: u32 = 2;

/// Schedules to search, and the memory of searches. `id` is 0 for none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_search {
    /// The library's number for the object.
    pub id: u64,
}

#[derive(Default)]
struct Search {
    known: Vec<Snapshot>,
    search: CommonSearch,
}

impl Kept for Search {
    const KIND: u8 = 3;
}

/// The most schedules of a search.
const MOST: usize = 1 << 24;

impl Search {
    fn set(&mut self, index: usize, snapshot: Snapshot) -> Result<(), Fault> {
        if let Some(known) = self.known.get_mut(index) {
            *known = snapshot;
        } else if index == self.known.len() && index < MOST {
            self.known.push(snapshot);
        } else {
            let most = self.known.len().min(MOST.saturating_sub(1));
            let detail = format!("index {index} is above {most}: the next schedule has that");
            return Err(Fault::with(gw_status::GW_ARGUMENT, detail));
        }
        Ok(())
    }
}

/// Makes a search without schedules. Free it with `gw_search_free`.
///
/// Errors: GW_NULL, GW_TOO_MANY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_search_new(search: *mut gw_search) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a handle may be written there.
        let out = unsafe { Out::new(search) }?;
        let id = table::keep(Search::default())?;
        out.set(gw_search { id });
        Ok(())
    })
}

/// Frees it. A later call with its handle returns GW_STALE_HANDLE.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_search_free(search: gw_search) -> gw_status {
    guarded(|| table::remove::<Search>(search.id))
}

/// Tells the search when a schedule is busy. The windows are copied. They are sorted, have a gap between any two, and
/// end by `horizon`, from which on nothing is known and the schedule counts as busy (GW_NEVER: all is known). There are
/// at most 512.
///
/// `index` is that of a schedule to replace, or the number of schedules, to add one.
///
/// Errors, after which nothing has changed: GW_BAD_INTERVAL, GW_UNSORTED, GW_FULL for too many windows, GW_ARGUMENT for
/// the index, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_search_set(
    search: gw_search,
    index: usize,
    windows: *const gw_interval,
    count: usize,
    horizon: u64,
) -> gw_status {
    guarded(|| {
        if count > Snapshot::MAX_WINDOWS {
            return Err(gw_status::GW_FULL.into());
        }
        // SAFETY: the caller says that there are so many windows.
        let windows = unsafe { raw::list(windows, count) }?;
        let windows = windows.iter().map(|window| window.checked());
        let windows: Vec<Interval> = windows.collect::<Result<_, Fault>>()?;
        let snapshot = Snapshot::new(0, Time::from_micros(horizon), &windows)?;
        table::with(search.id, |search: &mut Search| search.set(index, snapshot))
    })
}

/// The same from a schedule as it is now, from `from` on: its first 512 busy windows, and busy after them. Later changes
/// of the schedule are not seen.
///
/// Errors, after which nothing has changed: GW_ARGUMENT for the index, those of both handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_search_set_schedule(
    search: gw_search,
    index: usize,
    schedule: gw_schedule,
    from: u64,
) -> gw_status {
    guarded(|| {
        let told = SnapshotOptions::starting(Time::from_micros(from));
        let snapshot = table::with(schedule.id, |own: &mut Own| Ok(own.snapshot(told)))?;
        table::with(search.id, |search: &mut Search| search.set(index, snapshot))
    })
}

/// Forgets all schedules from `count` on. The memory is kept for the next ones.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_search_truncate(search: gw_search, count: usize) -> gw_status {
    guarded(|| {
        table::with(search.id, |search: &mut Search| {
            search.known.truncate(count);
            Ok(())
        })
    })
}

/// Tells the earliest time, at or after `from`, when `count` of the schedules are free for `length`, and which ones:
/// `chosen` gets `count` distinct indices. `pick` is one of GW_PICK_IN_ORDER, GW_PICK_SEEDED (which uses `seed`) and
/// GW_PICK_BEST_FIT. `chosen` may be null.
///
/// Errors: GW_ZERO_COUNT, GW_ZERO_LENGTH, GW_TOO_LARGE if there are fewer schedules, GW_BEYOND_TIME, GW_ARGUMENT for the
/// pick, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_search_earliest(
    search: gw_search,
    from: u64,
    length: u64,
    count: u32,
    pick: u32,
    seed: u64,
    start: *mut u64,
    chosen: *mut u32,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a time may be written there.
        let out = unsafe { Out::new(start) }?;
        let (from, length) = (Time::from_micros(from), Span::from_micros(length));
        table::with(search.id, |Search { known, search }: &mut Search| {
            let slot = match pick {
                GW_PICK_IN_ORDER => search.earliest(known, from, length, count, InOrder),
                GW_PICK_SEEDED => {
                    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                    search.earliest(known, from, length, count, Seeded(&mut rng))
                }
                GW_PICK_BEST_FIT => search.earliest(known, from, length, count, BestFit),
                _ => return Err(Fault::unknown("pick", pick)),
            }?;
            if !chosen.is_null() {
                let indices = slot.chosen;
                // SAFETY: the caller says that there is room for `count` indices, and there are as many.
                let room = unsafe { Room::new(chosen, indices.len()) }?;
                fill(room, indices.iter().copied(), indices.len())?;
            }
            out.set(slot.start.as_micros());
            Ok(())
        })
    })
}

//! What must always hold, by name, as checkers that know nothing of how the code under test works.
//!
//! The checkers are tested as well: the suites `invariants` and `central` in `tests/tests/suites` plant bugs and show
//! that they are caught.

mod executions;
mod passing;
mod plans;

pub use executions::{Executions, Observation};
pub use passing::Passes;
pub use plans::{
    nobody_waits_who_fits, promises_are_kept, reservations_fit_together, starts_are_in_order,
};

use gridweave_core::id::NodeId;
use gridweave_core::machine::Violation;
use gridweave_core::queue::Waiting;
use gridweave_core::schedule::{Reservation, Status};
use gridweave_core::time::Time;

/// The names of all invariants that have a checker here.
pub const NAMES: [&str; 15] = [
    NO_OVERLAP,
    LEASES_END,
    OLDER_EPOCHS,
    WITHIN_CAPACITY,
    COUNTERS_FALL,
    PASSING_BOUNDED,
    SOUND_VIEW,
    executions::GANG_COMMITTED,
    executions::ONE_EXECUTION,
    executions::ONE_OUTCOME,
    plans::IN_ORDER,
    plans::NEVER_LATER,
    plans::KEPT,
    plans::NOT_OVERBOOKED,
    plans::NONE_FITS,
];

const NO_OVERLAP: &str = "no two reservations on a node overlap";
const LEASES_END: &str = "a hold never outlives its lease";
const OLDER_EPOCHS: &str = "an older epoch never changes state";
const WITHIN_CAPACITY: &str = "no more is in use than there is";
const COUNTERS_FALL: &str = "backfilling counters never increase along the queue";
const PASSING_BOUNDED: &str = "no job is passed more often than its bound";
const SOUND_VIEW: &str = "a view holds no self, no duplicate, and no more than its size";

/// No two reservations on a node overlap, but for a hold of a newer attempt at the same job.
pub fn reservations_never_overlap<'a>(
    reservations: impl IntoIterator<Item = &'a Reservation>,
) -> Result<(), Violation> {
    let all: Vec<_> = reservations.into_iter().collect();
    for (index, a) in all.iter().enumerate() {
        for b in &all[index + 1..] {
            let (older, newer) = if a.attempt.epoch < b.attempt.epoch {
                (a, b)
            } else {
                (b, a)
            };
            let swap = older.attempt.job == newer.attempt.job
                && older.attempt.epoch < newer.attempt.epoch
                && newer.status != Status::Committed;
            Violation::unless(swap || !a.interval.overlaps(b.interval), NO_OVERLAP)?;
        }
    }
    Ok(())
}

/// A hold never outlives its lease: none stands whose lease has ended.
pub fn holds_end_with_their_lease<'a>(
    reservations: impl IntoIterator<Item = &'a Reservation>,
    now: Time,
) -> Result<(), Violation> {
    let stands = |r: &Reservation| match r.status {
        Status::Held { lease } => now < lease,
        Status::Committed => true,
    };
    Violation::unless(reservations.into_iter().all(stands), LEASES_END)
}

/// An older epoch never changes state: the state is the same before and after a stale request.
pub fn an_older_epoch_changes_nothing<T: PartialEq>(
    before: &T,
    after: &T,
) -> Result<(), Violation> {
    Violation::unless(before == after, OLDER_EPOCHS)
}

/// No more is in use than there is, at any time: jobs given as (start, end, count) ticks.
pub fn capacity_is_never_exceeded(
    jobs: &[(u64, u64, u32)],
    capacity: u32,
) -> Result<(), Violation> {
    // Use grows only at the start of a job, so it is enough to look at all starts.
    for &(instant, ..) in jobs {
        let running = jobs
            .iter()
            .filter(|(start, end, _)| (*start..*end).contains(&instant));
        let used: u64 = running.map(|(.., count)| u64::from(*count)).sum();
        Violation::unless(used <= u64::from(capacity), WITHIN_CAPACITY)?;
    }
    Ok(())
}

/// Backfilling counters never increase along the queue (PROTOCOLS L2; while jobs arrive in order and none migrates).
pub fn counters_never_increase(waiting: &[Waiting]) -> Result<(), Violation> {
    Violation::unless(
        waiting.is_sorted_by(|a, b| a.passed >= b.passed),
        COUNTERS_FALL,
    )
}

/// A view holds no self, no duplicate, and no more than its size.
pub fn view_is_sound(me: NodeId, size: usize, view: &[NodeId]) -> Result<(), Violation> {
    let mut distinct = view.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let sound = distinct.len() == view.len() && view.len() <= size && !view.contains(&me);
    Violation::unless(sound, SOUND_VIEW)
}

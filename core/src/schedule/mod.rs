//! Busy and free time: of one node, of many nodes at once, and of a machine with many processors.
//!
//! - [`Schedule`]: the reservations of one node, which never overlap. [`Snapshot`]: its busy time, to send to peers.
//! - [`common_slot`]: the earliest time at which enough of many schedules are free together.
//! - [`availability`]: how many processors of a machine are free over time.
//! - [`ledger`]: the slots of one node, shared by many threads without locks.
//!
//! # Reserving time on one node
//! ```
//! use gridweave_core::id::{Epoch, JobId};
//! use gridweave_core::schedule::{Attempt, Reservation, ReserveError, Schedule};
//! use gridweave_core::time::{Interval, Span, Time};
//!
//! let mut schedule = Schedule::<Vec<Reservation>>::new();
//! let hour = Span::from_secs(3600);
//! let attempt = |job, epoch| Attempt::new(JobId::new(job), Epoch::new(epoch));
//!
//! // A coordinator asks for the earliest free hour, holds it for five seconds, and commits.
//! let slot = schedule.earliest_fit(Time::ZERO, hour)?;
//! schedule.hold(attempt(1, 0), slot, Time::from_secs(5))?;
//! schedule.commit(attempt(1, 0))?;
//!
//! // Another is refused at once, and told when there is time.
//! assert_eq!(schedule.reserve(attempt(2, 0), slot), Err(ReserveError::Taken));
//! assert_eq!(schedule.earliest_fit(Time::ZERO, hour)?.start(), slot.end());
//!
//! // The first job found something better that overlaps its own time: it may swap.
//! let better = Interval::starting(Time::from_secs(1800), hour)?;
//! schedule.hold(attempt(1, 1), better, Time::from_secs(9))?;
//! schedule.commit(attempt(1, 1))?;
//! assert_eq!(schedule.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without an allocator the same schedule lives in a [`Few`](crate::few::Few): `Schedule::<Few<Reservation,
//! 32>>::new()`.

#[cfg(feature = "alloc")]
pub mod availability;
mod busy;
#[cfg(feature = "alloc")]
pub mod common_slot;
mod exclusive;
#[cfg(target_has_atomic = "32")]
pub mod ledger;
mod reservation;
#[cfg(feature = "alloc")]
mod snapshot;
mod storage;
#[cfg(test)]
mod tests;
mod windows;

pub use busy::BusyTime;
pub use exclusive::{CommitError, LengthenError, ReserveError, Schedule};
pub use reservation::{Attempt, Reservation, Status};
#[cfg(feature = "alloc")]
pub use snapshot::{Snapshot, SnapshotError, SnapshotOptions};
pub use storage::Storage;
pub use windows::{BusyWindows, FreeWindows};

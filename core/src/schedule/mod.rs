//! Schedules.
#[cfg(feature = "alloc")]
pub mod availability;
mod busy;
#[cfg(feature = "alloc")]
pub mod common;

pub use busy::BusyTime;

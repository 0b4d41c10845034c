//! Machines in virtual time: what it takes to run a grid of any `gridweave-core` machine on one computer, and to repeat the run.
//!
//! | module | what it is |
//! |---|---|
//! | [`event_queue`] | pending events in the order of time, on a wheel of buckets |
//! | [`network`] | delays, loss, duplication, partitions |
//! | [`history`] | the digest of all that happened |
//! | [`engine`] | many machines, one clock, a disk each; crashes and restarts |
//! | [`hosting`] | what runs jobs for machines that schedule, and watches them: starts, ends, overlaps, last words |
//! | [`monitor`] | looking at a run from another thread, and stopping it |
//!
//! No scheduler is named here: whatever implements [`engine::Simulated`] is run alike. A run is a function of its machines, its network, its
//! seed and what its user asks for. Nothing here reads a file or a clock, or draws entropy.

pub mod engine;
pub mod event_queue;
pub mod history;
pub mod hosting;
pub mod monitor;
pub mod network;

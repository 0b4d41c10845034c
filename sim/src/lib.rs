//! Simulates a grid of any `gridweave-core` machine in virtual time on one computer. Every run can be repeated.
//!
//! | module | what it is |
//! |---|---|
//! | [`event_queue`] | pending events in the order of time, on a wheel of buckets |
//! | [`network`] | delays, loss, duplication, partitions |
//! | [`history`] | the digest of all that happened |
//! | [`engine`] | many machines, one clock, a disk each; crashes and restarts |
//! | [`hosting`] | runs the jobs of scheduling machines, and checks them: starts, ends, overlaps, outcomes |
//! | [`monitor`] | looking at a run from another thread, and stopping it |
//!
//! This crate names no scheduler: it runs every machine that implements [`engine::Simulated`]. A run is a function of
//! its machines, its network, its seed and the caller's requests. It uses no file, no clock and no entropy.

pub mod engine;
pub mod event_queue;
pub mod history;
pub mod hosting;
pub mod monitor;
pub mod network;

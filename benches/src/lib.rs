//! What is measured: workloads built from a seed, the contestants, and how their times are taken.
//!
//! The benches in `benches/benches` are thin: criterion for people, instruction counts for gates, and `numbers` for the
//! tables in `docs/results/performance.md`.

pub mod availability;
pub mod central;
pub mod commit;
pub mod common_slot;
pub mod cyclon;
pub mod events;
pub mod gossip;
pub mod ledger;
pub mod schedule;
pub mod select;

//! Decentralised grid scheduling.
#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::string_slice
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::panic,
        clippy::std_instead_of_core,
        clippy::std_instead_of_alloc
    )
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub use rand_core;

#[cfg(feature = "alloc")]
mod hashing;
pub mod heartbeat;
pub mod id;
pub mod job;
pub mod machine;
#[cfg(feature = "alloc")]
pub mod queue;
pub mod resource;
pub mod rng;
pub mod schedule;
pub mod time;

//! Gridweave for programs in C: schedules, queues and schedulers behind a stable ABI.
//!
//! `include/gridweave.h` is made from this crate, and says all that a program in C needs to know; the guide is
//! `docs/guide/embedding-from-c.md`. This page is for readers of the Rust code.
//!
//! | module | what it is |
//! |---|---|
//! | `status` | what calls return; the boundary that no panic crosses |
//! | `raw` | the caller's memory: pointers that are looked at before they are used |
//! | `table` | objects by handle, so that a mistake with a handle is told |
//! | `availability`, `schedule`, `search`, `queue` | the pieces of the core that need no host |
//! | `node` | a node of any of the four schedulers |
//!
//! # Unsafe code
//! What a C program promises cannot be checked by a compiler, so only this crate of the workspace has unsafe code. All of
//! it reads or writes the caller's memory, but for two things: a callback is called, and its context is sent to the
//! thread of the call. Functions are `unsafe` if they take a pointer; the contract of all of them is in the header, in
//! one place, and so not repeated here.
#![allow(
    clippy::missing_safety_doc,
    reason = "one contract for all functions, stated at the top of the header"
)]
#![allow(
    clippy::too_many_arguments,
    reason = "C has no tuples, and a structure for each call would be harder to use"
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing
    )
)]

mod availability;
mod node;
mod queue;
mod raw;
mod schedule;
mod search;
mod status;
mod table;

pub use availability::*;
pub use node::*;
pub use queue::*;
pub use schedule::*;
pub use search::*;
pub use status::*;

use std::ffi::c_char;

/// The version of the ABI that this header is for. It grows when a function or a structure changes its meaning.
pub const GW_ABI: u32 = 1;

/// The version of the ABI of the library: a program compares it with GW_ABI when it starts.
#[unsafe(no_mangle)]
pub extern "C" fn gw_abi() -> u32 {
    GW_ABI
}

/// The version of the library, such as "0.1.0". The text is the library's, and lasts as long as it is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn gw_version() -> *const c_char {
    static VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

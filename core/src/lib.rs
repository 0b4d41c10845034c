//! Decentralised grid scheduling as pure state machines.
//!
//! Every node keeps its own schedule, nodes talk to each other, and any node takes a submission. This crate is the part
//! that decides: it has no IO, no clock, no threads and no entropy. A *host* brings those, be it a simulator, a model checker
//! or the agent of a real scheduler.
//!
//! Each module is a layer, useful alone, and uses only the modules before it in this list:
//!
//! | module | what it is |
//! |---|---|
//! | [`time`], [`id`], [`rng`] | instants, intervals, names, random choices |
//! | [`machine`] | the contract between a protocol and its host |
//! | [`heartbeat`] | a failure detector, and the smallest complete machine |
//! | [`profile`] | what a node tells of itself: where it is, when it is free |
//! | [`shared`] | one immutable value behind a pointer, for messages that many get |
//! | [`sorted`] | a map for the few things that one node keeps |
//! | [`resource`] | what nodes have, what jobs need, and how well they match |
//! | [`job`] | the words all schedulers share |
//! | [`schedule`] | who has which time: on one node, on many together, on many processors, among threads |
//! | [`select`] | which of many nodes a job should have, by what its user cares for |
//! | [`queue`] | in which order a site runs its jobs, and what another one would cost |
//! | [`overlay`] | who knows whom: views, and the gossip that keeps them fresh |
//! | [`commit`] | time on several nodes at once, or on none: two-phase commit of reservations |
//! | [`custody`] | who has a job, so that none is lost and none runs twice |
//! | [`scheduler`] | whole schedulers, one machine per node |
//! | `wire` | every message as bytes, bounded (feature `wire`) |
//!
//! P1 to P4 are the four papers that the schedulers come from, and `PROTOCOLS` with a number, as in `PROTOCOLS L1`, is a rule:
//! `docs/protocols.md` of the repository has both.
//!
//! # Co-allocation in five minutes
//! Four nodes keep their schedules; a job wants three of them for an hour, as soon as possible, all at once.
//!
//! ```
//! use gridweave_core::id::{Epoch, JobId};
//! use gridweave_core::schedule::common_slot::{CommonSearch, InOrder};
//! use gridweave_core::schedule::{Attempt, Reservation, Schedule};
//! use gridweave_core::time::{Interval, Span, Time};
//!
//! // 1. Each node has a schedule. Here two of them are busy, one until 9:30, one from 9:00 to noon.
//! let at = |hour: u64, minute: u64| Time::from_secs(3600 * hour + 60 * minute);
//! let mut grid = vec![Schedule::<Vec<Reservation>>::new(); 4];
//! let other = Attempt::new(JobId::new(1), Epoch::new(0));
//! grid[0].reserve(other, Interval::new(at(8, 0), at(9, 30))?)?;
//! grid[2].reserve(other, Interval::new(at(9, 0), at(12, 0))?)?;
//!
//! // 2. Whoever schedules knows snapshots of them: immutable, cheap to clone and to send.
//! let now = at(8, 45);
//! let snapshots: Vec<_> = grid.iter().map(|schedule| schedule.snapshot(1, now, 100)).collect();
//!
//! // 3. The earliest common slot: the first instant at which three of the four are free for an hour.
//! let mut search = CommonSearch::default();
//! let slot = search.earliest(&snapshots, now, Span::from_secs(3600), 3, InOrder)?;
//! assert_eq!((slot.start, slot.chosen), (at(9, 30), &[0, 1, 3][..]));
//!
//! // 4. Snapshots may be old by now, so the slot is held on each node first, under a lease, and committed when all agree.
//! let me = Attempt::new(JobId::new(2), Epoch::new(0));
//! let interval = Interval::starting(slot.start, Span::from_secs(3600))?;
//! let lease = now + Span::from_secs(5);
//! for &node in slot.chosen {
//!     grid[node as usize].hold(me, interval, lease)?;
//! }
//! for &node in slot.chosen {
//!     grid[node as usize].commit(me)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Running a machine
//! 1. Build it, feed every record from disk as [`Event::Restored`](machine::Event::Restored), then
//!    [`Event::Start`](machine::Event::Start).
//! 2. Feed messages, due timers and commands one at a time, each with the present time.
//! 3. Execute its effects in order; persist before you send what follows.
//!
//! [`machine`] has the contract, [`heartbeat`] a machine embedded in another one and run to its end. Whole schedulers are
//! machines, too: [`scheduler::asap`] is the one to begin with. `examples/asap.rs` of this crate hosts eight of its nodes in one
//! process, and `examples/udp` is what a real agent needs beside that: a socket, a clock and a disk.
//!
//! # Notions of time
//! [`Time`](time::Time) is microseconds since an origin that the hosts of a grid agree on, and only as good as their
//! clocks. Leases are durations on one node's clock. Whatever compares two clocks must allow for their skew.
//!
//! # Panics and limits
//! Nothing here panics on any argument or input; where a rule would be broken there is a typed error, and nothing has
//! changed. Arithmetic on times saturates. Everything that a peer can grow has a cap, with a defined outcome at the cap. The
//! crate is `#![forbid(unsafe_code)]`.
//!
//! # Features
//! - `alloc` (default): growable storage. Without it there remain time, ids, choices, machines, the failure detector,
//!   profiles, resources, jobs, views with CYCLON, VICINITY and Vivaldi, [`schedule::ledger`], and [`schedule::Schedule`] on fixed
//!   storage.
//! - `serde`: `Serialize` and `Deserialize` for what crosses a boundary. Decoding checks what construction checks.
//! - `wire`: every message as bytes and back, whatever the bytes are. `docs/wire.md` is its specification.
//!
//! # What it does not do
//! It does not run jobs, move data, authenticate peers or encrypt anything; the host does. How messages are
//! encoded is up to the host: `wire` has a format, and with `serde` it can be another.
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

// First, for its macro.
#[cfg(canary)]
#[macro_use]
pub mod canary;
/// Whether a mistake is made on purpose: never, unless the crate is built with `--cfg canary`.
#[cfg(not(canary))]
macro_rules! canary {
    ($name:ident) => {
        false
    };
}

#[cfg(all(feature = "alloc", feature = "serde"))]
mod bounded;
#[cfg(feature = "alloc")]
pub mod commit;
#[cfg(feature = "alloc")]
pub mod custody;
mod hashing;
pub mod heartbeat;
pub mod id;
pub mod job;
pub mod machine;
pub mod overlay;
pub mod profile;
#[cfg(feature = "alloc")]
pub mod queue;
pub mod resource;
pub mod rng;
pub mod schedule;
#[cfg(feature = "alloc")]
pub mod scheduler;
#[cfg(feature = "alloc")]
pub mod select;
#[cfg(feature = "alloc")]
pub mod shared;
#[cfg(feature = "alloc")]
pub mod sorted;
pub mod time;
#[cfg(feature = "wire")]
pub mod wire;

/// A size of a test: whole in a release build, small in a debug build, which takes ten times as long.
#[cfg(test)]
pub(crate) const fn scaled(whole: u64, small: u64) -> u64 {
    if cfg!(debug_assertions) { small } else { whole }
}

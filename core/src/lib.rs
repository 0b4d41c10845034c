//! Decentralised grid scheduling as pure state machines.
//!
//! Every node keeps its own schedule. Nodes exchange messages, and a user can submit a job at any node. This crate
//! makes the decisions of one node. It has no IO, no clock, no threads and no entropy: a *host* provides these. The
//! host is a simulator, a model checker or the agent of a real scheduler.
//!
//! Each module is a layer that can be used alone. It depends only on modules above it in this table. Only
//! `scheduler::agent`, which builds nodes as agents run them, also uses those below:
//!
//! | module | what it is |
//! |---|---|
//! | [`time`], [`id`], [`rng`] | instants, intervals, names, random choices |
//! | [`config`] | why a configuration is refused: the field, its value and the bound |
//! | [`few`], [`sorted`], [`shared`] | a list of a few items, kept in place; a sorted map, for the few entries that one node keeps; an immutable value behind a pointer, for a message with many receivers |
//! | [`trace`] | why a job is where it is: which nodes were asked, which refused, and why |
//! | [`machine`] | the contract between a protocol and its host |
//! | [`heartbeat`] | a failure detector, and the smallest complete machine |
//! | [`resource`] | what nodes have, what jobs need, and how well they match |
//! | [`job`] | the types that all schedulers share: jobs, commands and notices |
//! | [`admission`] | which organisations' jobs a node admits, and what a job needs of each node |
//! | [`profile`] | what a node tells its peers about itself: where it is, when it is free |
//! | [`schedule`] | busy and free time: of one node, of many nodes at once, of many processors, shared by threads |
//! | [`select`] | which of many nodes a job gets, by the criterion of its user |
//! | [`queue`] | the order in which a site runs its jobs, and the cost of one more job |
//! | [`overlay`] | which nodes know each other: views, and the gossip that keeps them fresh |
//! | [`commit`] | time on several nodes at once, or on none: two-phase commit of reservations |
//! | [`custody`] | exactly one node has a job: no job is lost, and no job runs twice |
//! | [`scheduler`] | whole schedulers, one machine per node |
//! | [`mentions`] | which nodes a message mentions, for a host that sends their addresses along |
//! | [`wire`] | every message as bytes, with a bound on their number (feature `wire`) |
//!
//! P1 to P4 are the four papers that the schedulers come from. `PROTOCOLS` with a number, as in `PROTOCOLS L1`, is a
//! rule. `docs/reference/rules.md` in the repository lists the papers and the rules.
//!
//! # Co-allocation in five minutes
//! There are four nodes. A job needs three of them for an hour: all three at once, as soon as possible.
//!
//! ```
//! use gridweave_core::id::{Epoch, JobId};
//! use gridweave_core::schedule::common_slot::{CommonSearch, InOrder};
//! use gridweave_core::schedule::{Attempt, Reservation, Schedule, SnapshotOptions};
//! use gridweave_core::time::{Interval, Span, Time};
//!
//! // 1. Each node has a schedule. Here two of them are busy, one until 9:30, one from 9:00 to noon.
//! let at = |hour: u64, minute: u64| Time::from_secs(3600 * hour + 60 * minute);
//! let mut grid = vec![Schedule::<Vec<Reservation>>::new(); 4];
//! let other = Attempt::new(JobId::new(1), Epoch::new(0));
//! grid[0].reserve(other, Interval::new(at(8, 0), at(9, 30))?)?;
//! grid[2].reserve(other, Interval::new(at(9, 0), at(12, 0))?)?;
//!
//! // 2. A scheduler knows snapshots of them: immutable, cheap to clone and to send.
//! let now = at(8, 45);
//! let options = SnapshotOptions::starting(now);
//! let snapshots: Vec<_> = grid.iter().map(|schedule| schedule.snapshot(options)).collect();
//!
//! // 3. The earliest common slot: the first instant at which three of the four are free for an hour.
//! let mut search = CommonSearch::default();
//! let slot = search.earliest(&snapshots, now, Span::from_secs(3600), 3, InOrder)?;
//! assert_eq!((slot.start, slot.chosen), (at(9, 30), &[0, 1, 3][..]));
//!
//! // 4. Snapshots may be old by now, so each node first holds the slot, under a lease; all commit once all agree.
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
//! 1. Build the machine. Feed every record from disk as [`Event::Restored`](machine::Event::Restored), then
//!    [`Event::Start`](machine::Event::Start).
//! 2. Feed messages, due timers and commands one at a time, each with the present time.
//! 3. Execute the effects in order. A record must be durable before you execute the effects behind it. Go to 2.
//!
//! [`machine`] states the contract. The example of [`heartbeat`] runs a machine inside another one. A whole scheduler
//! is a machine, too: begin with [`scheduler::asap`]. `examples/asap.rs` of this crate hosts eight of its nodes in one
//! process. `examples/udp` adds what a real agent needs: a socket, a clock and a disk.
//!
//! # Notions of time
//! [`Time`](time::Time) is microseconds since an origin that the hosts of a grid agree on. It is only as good as their
//! clocks. A lease is a duration on the clock of one node. Code that compares two clocks must allow for their skew.
//!
//! # Panics and limits
//! No argument and no input causes a panic. If a call would break a rule, it returns a typed error and changes nothing.
//! Arithmetic on times saturates. All state that a peer can make grow has a cap, with a defined outcome at the cap. The
//! crate is `#![forbid(unsafe_code)]`.
//!
//! # Features
//! | feature | default | what it brings | what it needs |
//! |---|---|---|---|
//! | `alloc` | yes | storage that grows: [`commit`], [`custody`], [`queue`], [`scheduler`], [`select`], [`shared`], [`sorted`]; BLATANT-S, CAN and floods in [`overlay`]; the queues and the host of [`machine`]; snapshots, common slots and availability in [`schedule`] | an allocator, and the crate `hashbrown` |
//! | `serde` | no | `Serialize` and `Deserialize` for what crosses a boundary; decoding checks what construction checks | the crate `serde` with its derive macros |
//! | `wire` | no | [`wire`]: encodes every message, and decodes any bytes safely; `docs/reference/wire.md` is its specification | the features `alloc` and `serde`, and the crate `postcard` |
//!
//! Without features the crate has [`time`], [`id`], [`rng`], [`config`], [`trace`], [`machine`], [`heartbeat`],
//! [`mentions`], [`profile`], [`admission`], [`few`], [`resource`] and [`job`]; views, CYCLON, VICINITY and Vivaldi in [`overlay`];
//! [`schedule::ledger`], and [`schedule::Schedule`] on fixed storage. It then needs the crates `heapless`, `libm`
//! and `rand_core`, and no allocator. Of other crates, public items name only `rand_core::Rng`, which is re-exported,
//! and serde's traits.
//!
//! # What it does not do
//! It does not run jobs, move data, authenticate peers or encrypt anything. The host does that. The host also chooses
//! how messages are encoded: in the format of [`wire`], or through `serde` in another one.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The docs link to what all features bring. With fewer features, a link to what is absent is plain text.
#![cfg_attr(not(feature = "wire"), allow(rustdoc::broken_intra_doc_links))]
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
#[cfg(any(test, canary))]
extern crate std;

pub use rand_core;

// First, because the modules below use its macro.
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

#[cfg(canary)]
pub mod steps;
/// Lets a machine take a step, which is shown to a watcher if the crate is built with `--cfg canary`.
#[cfg(feature = "alloc")]
macro_rules! step {
    ($machine:expr, $event:expr, $cx:expr, $take:expr) => {{
        #[cfg(canary)]
        $crate::steps::show($machine, $event, $cx, $take);
        #[cfg(not(canary))]
        $take($machine, $event, $cx);
    }};
}

pub mod admission;
#[cfg(all(feature = "alloc", feature = "serde"))]
mod bounded;
#[cfg(feature = "alloc")]
pub mod commit;
pub mod config;
#[cfg(feature = "alloc")]
pub mod custody;
pub mod few;
mod hashing;
pub mod heartbeat;
pub mod id;
pub mod job;
pub mod machine;
pub mod mentions;
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
pub mod trace;
#[cfg(feature = "wire")]
pub mod wire;

/// The size of a test: `whole` in a release build; `small` in a debug build, which is ten times as slow.
#[cfg(test)]
pub(crate) const fn scaled(whole: u64, small: u64) -> u64 {
    if cfg!(debug_assertions) { small } else { whole }
}

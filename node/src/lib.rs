//! A grid of real computers: an agent on each of them, which runs one node of a scheduler of `gridweave-core`.
//!
//! The program `gridweave-node` is described in `docs/guide/a-grid-of-your-own.md`. This library is what it is made of:
//!
//! | module | what it does |
//! |---|---|
//! | [`driver`] | one machine: events in, effects out, in order; records are durable before what follows |
//! | [`store`] | the records of the machine and the jobs of its users, in one file |
//! | [`transport`] | messages over QUIC, between nodes that know each other by their certificates |
//! | [`executor`] | programs as processes, each under a supervisor that ends it in time |
//! | [`control`] | what users ask, over a Unix socket |
//! | [`observe`] | a log, figures, events, a status page |
//! | [`policy`] | which jobs run here |
//! | [`identity`] | the authority of a grid, and the certificates of its nodes |
//! | [`settings`] | what the administrator says |
//! | [`program`] | the command line |
//! | [`fuzzing`] | bodies of fuzz targets |
//!
//! No message of a peer causes a panic, and nothing in memory that a peer can make grow is without a cap.

#[macro_use]
mod canary;
pub mod clock;
pub mod control;
pub mod driver;
pub mod executor;
pub mod fuzzing;
pub mod identity;
pub mod observe;
pub mod policy;
pub mod program;
pub mod settings;
pub mod store;
pub mod transport;

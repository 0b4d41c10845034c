//! Drives `gridweave-core` in virtual time.
//!
//! This crate will hold the simulator. For now it holds the command line of the `gridweave` program, which can tell about
//! itself and nothing else.

pub mod central;
pub mod grid;
pub mod history;
pub mod monitor;
pub mod network;
pub mod outcome;
pub mod program;
pub mod results;
pub mod run;
pub mod scheduler;
pub mod workload;

//! Drives `gridweave-core` in virtual time.
//!
//! This crate will hold the simulator. For now it holds the command line of the `gridweave` program, which can tell about
//! itself and nothing else.

pub mod event_queue;
pub mod grid;
pub mod history;
pub mod monitor;
pub mod outcome;
pub mod workload;

use clap::Parser;

/// The command line.
#[derive(Parser, Clone, Copy, Debug)]
#[command(
    name = "gridweave",
    version,
    about = "Decentralised grid scheduling: nodes schedule jobs among themselves",
    long_about = "Decentralised grid scheduling: nodes schedule jobs among themselves, each keeping its own schedule.\n\n\
        This program will replay workloads through decentralised and centralised schedulers. It does not do so yet: \
        the core library is what there is so far, and `cargo test` is how to see it work.",
    after_help = "Exit status: 0 done, 2 bad usage."
)]
pub struct Cli {}

//! Schedulers in virtual time: a simulator for `gridweave-core`, and the `gridweave` program.
//!
//! [`experiment`] is the way in: a [`config::Config`] becomes jobs and nodes, those are simulated, and results become files.
//! Its parts are useful alone:
//!
//! | module | what it is |
//! |---|---|
//! | [`event_queue`] | pending events in the order of time, on a wheel of buckets |
//! | [`network`] | delays, loss, duplication, partitions |
//! | [`engine`] | many machines, one clock, a disk each |
//! | [`overlay`] | overlays as they look after a while |
//! | [`workload`] | traces in SWF and GWF, transforms, generators |
//! | [`central`] | schedulers that know everything |
//! | [`decentral`] | the host of schedulers that are one machine per node |
//! | [`reproduce`] | the papers' tables and figures, published beside measured |
//! | [`report`] | `report.html`: results to look at |
//! | [`torture`] | adversarial runs: faults by seed, invariants after every event |
//! | [`results`] | summaries, series, `jobs.csv`, folders that appear whole |
//! | `program` | the command line, with the feature of that name |
//!
//! A run is a function of its configuration, and has a digest that tells two histories apart. Nothing here reads a clock or
//! draws entropy, but for the measurement of what a run costs.

pub mod central;
pub mod config;
pub mod decentral;
pub mod engine;
pub mod event_queue;
pub mod experiment;
pub mod grid;
pub mod history;
pub mod lasting;
pub mod monitor;
pub mod network;
pub mod outcome;
pub mod overlay;
pub mod picture;
#[cfg(feature = "program")]
pub mod program;
pub mod report;
pub mod reproduce;
pub mod results;
pub mod run;
pub mod scheduler;
pub mod torture;
pub mod workload;

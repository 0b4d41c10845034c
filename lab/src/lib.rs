//! The `gridweave` program and its library: runs schedulers on real traces, beside centralised ones.
//!
//! [`experiment`] is the entry point: it turns a [`config::Config`] into jobs and nodes, simulates them, and writes
//! results to files. Its parts are useful alone:
//!
//! | module | what it is |
//! |---|---|
//! | [`config`] | the configuration of a run, as a file |
//! | [`workload`] | traces in SWF and GWF, transforms, generators |
//! | [`grid`] | the nodes |
//! | [`schedulers`] | every scheduler by name: its settings, how its nodes are built, how it is tortured |
//! | [`overlay`] | overlays that have settled |
//! | [`replay`] | the host of schedulers that are one machine per node |
//! | [`run`], [`outcome`] | what a simulation returns, and what happened to each job |
//! | [`results`] | summaries, series, `jobs.csv`, folders that appear whole or not at all |
//! | [`torture`] | adversarial runs: faults by seed, invariants after every event |
//! | [`program`] | the command line |
//!
//! A run depends only on its configuration. Its digest tells two histories apart.

pub mod config;
pub mod experiment;
pub mod grid;
pub mod kinds;
mod lasting;
mod memory;
pub mod outcome;
pub mod overlay;
mod picture;
pub mod program;
pub mod replay;
mod report;
mod reproduce;
pub mod results;
pub mod run;
pub mod schedulers;
pub mod torture;
mod unreadable;
pub mod workload;

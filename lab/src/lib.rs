//! The `gridweave` program and what only it needs: schedulers on real traces, beside centralised ones.
//!
//! [`experiment`] is the way in: a [`config::Config`] becomes jobs and nodes, those are simulated, and results become files.
//! Its parts are useful alone:
//!
//! | module | what it is |
//! |---|---|
//! | [`workload`] | traces in SWF and GWF, transforms, generators |
//! | [`schedulers`] | every scheduler by name: its rules, how its nodes are built, how it is tortured |
//! | [`overlay`] | overlays as they look after a while |
//! | [`replay`] | the host of schedulers that are one machine per node |
//! | [`results`] | summaries, series, `jobs.csv`, folders that appear whole |
//! | [`reproduce`] | the papers' tables and figures, published beside measured |
//! | [`report`] | `report.html`: results to look at |
//! | [`torture`] | adversarial runs: faults by seed, invariants after every event |
//! | [`program`] | the command line |
//!
//! A run is a function of its configuration, and has a digest that tells two histories apart.

pub mod config;
pub mod experiment;
pub mod grid;
pub mod lasting;
mod memory;
pub mod outcome;
pub mod overlay;
pub mod picture;
pub mod program;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod results;
pub mod run;
pub mod schedulers;
pub mod torture;
pub mod workload;

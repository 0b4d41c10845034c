//! The schedulers by name, and what the lab knows of each.
//!
//! The folder of a scheduler has its part of the configuration, how its nodes are built, and how it is tortured, all
//! behind one trait, [`Side`]. To add a scheduler, write such a folder, declare it below, and add it to `list.rs`.

pub mod aria;
pub mod asap;
pub mod central;
pub mod criteria;
pub mod desktop;
pub mod flood;
pub mod random;

mod list;
pub(crate) mod name;
mod reserving;
pub(crate) mod rules;
mod section;
mod side;
mod touch;

pub use name::{Scheduler, UnknownScheduler};
pub use rules::Rules;
pub use side::Side;

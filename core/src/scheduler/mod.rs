//! Whole schedulers: each composes the layers below into one machine per node, with the commands and notices of
//! [`crate::job`].
//!
//! | scheduler | what it does |
//! |---|---|
//! | [`asap`] | several nodes at once, as soon as possible, over a random overlay with cached schedules |
//!
//! What schedulers that reserve time have in common, whatever they search by, is the [`desk`].

pub mod asap;
pub mod desk;

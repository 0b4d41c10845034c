//! The schedulers by name, and what the lab knows of each.
//!
//! The folder of a scheduler has its part of the configuration, how its nodes are built, and how it is tortured, all
//! behind one trait, [`Side`]. To add a scheduler, write such a folder, declare it below, and add it to `list.rs`.
//! [`central`] and [`flood`] have no other home; the machines of the rest are in [`gridweave_core::scheduler`].
//!
//! ```
//! use gridweave_lab::schedulers::Scheduler;
//!
//! let aria: Scheduler = "aria".parse()?;
//! assert!(!aria.side().is_central() && !aria.side().places_gangs());
//! let gangs = Scheduler::ALL.iter().filter(|scheduler| scheduler.side().places_gangs());
//! assert!(gangs.clone().any(|scheduler| scheduler.name() == "asap"));
//! # Ok::<(), gridweave_lab::schedulers::UnknownScheduler>(())
//! ```

pub(crate) mod aria;
pub(crate) mod asap;
pub mod central;
pub mod criteria;
pub(crate) mod desktop;
pub mod flood;
pub(crate) mod random;

mod list;
pub(crate) mod name;
mod reserving;
pub(crate) mod rules;
mod section;
mod side;
pub(crate) mod told;
mod touch;

pub use aria::{
    AriaConfig, ClassConfig, ForwardName, OverlayName, PolicyName, ServesName, WindowConfig,
};
pub use asap::{AsapConfig, ExchangeName};
pub use desktop::{DesktopConfig, PassingName, SchedulingName};
pub use name::{Scheduler, UnknownScheduler};
pub use rules::Rules;
pub use side::Side;

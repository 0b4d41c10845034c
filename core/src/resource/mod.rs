//! What nodes have and what jobs need.
//!
//! A grid agrees on up to eight named [`Dimensions`]. A dimension is an *amount* that jobs use up (cores, memory), a
//! *level* that a node must reach but that no job uses up (processor speed), or a *category* that must be equal
//! (architecture, operating system). A node has a [`Capability`] in every dimension; a job has a [`Requirement`] in
//! those it names. A [`Pool`] is what is left of a node's amounts while jobs run, and ranks jobs by how well they would
//! fill it.
//!
//! Values are whole numbers in a unit of the grid's choice, so that taking and giving back is exact.
//!
//! ```
//! use gridweave_core::resource::{Dimensions, Kind, Pool, Requirement};
//!
//! let dimensions = Dimensions::new(&[
//!     ("cores", Kind::Amount),
//!     ("memory", Kind::Amount),
//!     ("speed", Kind::Level),
//!     ("architecture", Kind::Category),
//! ])?;
//! let cores = dimensions.named("cores").unwrap();
//! let memory = dimensions.named("memory").unwrap();
//!
//! let desktop = dimensions.capability(&[8, 16_384, 3_200, 1])?;
//! let job = Requirement::any().with(cores, 2).with(memory, 4_096);
//! assert!(dimensions.matches(&desktop, &job));
//!
//! let mut pool = Pool::new(dimensions, desktop);
//! pool.take(&job)?;
//! assert_eq!(pool.free().value(cores), 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dimension;
mod pool;
mod score;
mod speed;
mod vector;

pub use dimension::{Dimension, DimensionError, Dimensions, Kind, MAX_DIMENSIONS};
pub use pool::{Pool, Shortfall, Surplus};
pub use score::Score;
pub use speed::{Speed, SpeedError};
pub use vector::{Capability, Requirement};

#[cfg(test)]
mod tests;

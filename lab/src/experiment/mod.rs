//! From a configuration to results.
//!
//! [`prepare`] turns a [`Config`](crate::config::Config) into jobs and nodes, [`Prepared::execute`] simulates them, and
//! [`Results::write`] writes the results to a folder.
//!
//! ```
//! use gridweave_lab::config::Config;
//! use gridweave_lab::experiment::prepare;
//! use gridweave_sim::monitor::Monitor;
//!
//! let config = Config::parse("scheduler = 'central-easy'\n[workload]\nuntil = '1d'")?;
//! let prepared = prepare(&config)?;
//! let results = prepared.execute(&Monitor::default())?;
//! assert_eq!(results.summary.jobs.completed, results.summary.jobs.submitted);
//!
//! // The prepared configuration has all defaults filled in, and repeats the run.
//! let again = prepare(&prepared.config)?.execute(&Monitor::default())?;
//! assert_eq!(again.summary, results.summary);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregate;
mod comparison;
pub(crate) mod error;
mod execute;
pub(crate) mod nodes;
pub(crate) mod prepare;
mod sweep;
mod tables;

pub use aggregate::{aggregate, is_partial, join};
pub use comparison::{Waits, wait_difference, wait_ratio};
pub use error::{InputError, MOST_NODES};
pub use execute::Results;
pub(crate) use prepare::jobs_of;
pub use prepare::{Prepared, prepare, prepare_given};
pub use sweep::{Point, Sweep};
pub use tables::{Requested, Table, tables};

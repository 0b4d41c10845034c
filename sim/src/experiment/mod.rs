//! From a configuration to results.
//!
//! [`prepare`] turns a [`Config`](crate::config::Config) into jobs and nodes, [`Prepared::execute`] simulates them, and
//! [`Results::write`] puts what came of it into a folder.
//!
//! ```
//! use gridweave_sim::config::Config;
//! use gridweave_sim::experiment::prepare;
//! use gridweave_sim::monitor::Monitor;
//!
//! let config = Config::parse("scheduler = 'central-easy'\n[workload]\nuntil = '1d'")?;
//! let prepared = prepare(&config)?;
//! let results = prepared.execute(&Monitor::default())?;
//! assert_eq!(results.summary.jobs.completed, results.summary.jobs.submitted);
//!
//! // What is written back has everything filled in, and repeats the run.
//! let again = prepare(&prepared.config)?.execute(&Monitor::default())?;
//! assert_eq!(again.summary, results.summary);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregate;
mod comparison;
mod execute;
mod prepare;
mod sweep;

pub use aggregate::aggregate;
pub use comparison::{Waits, wait_difference, wait_ratio};
pub(crate) use execute::{CriteriaNode, bootstrap, laid_out, profile as node_profile};
pub use execute::{MOST_NODES, Results};
pub use prepare::{Prepared, prepare};
pub use sweep::{Point, Sweep};

use std::path::PathBuf;

use crate::central::Refused;
use crate::config::{ConfigError, Lasting};
use crate::network::NetworkError;
use crate::results::MOST_ROWS;
use crate::scheduler::Scheduler;
use crate::workload::generate::GenerateError;
use crate::workload::{ReadError, TransformError};

/// Why an experiment cannot be made; one line that says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The trace is not the one that the configuration was written for.
    #[error("{}: has the digest {found}, but the configuration was written for {wanted}; get that file back, or drop workload.trace_digest", file.display())]
    OtherTrace {
        /// The file.
        file: PathBuf,
        /// What it has.
        found: String,
        /// What it should have.
        wanted: String,
    },
    /// The trace does not say how many nodes there were.
    #[error("{name} does not say how many processors there are; give --nodes")]
    NoNodes {
        /// The workload.
        name: String,
    },
    /// The workload cannot be changed so.
    #[error("{name}: {error}")]
    Transform {
        /// The workload.
        name: String,
        /// Why.
        error: TransformError,
    },
    /// The workload cannot be made up so.
    #[error("workload.{name}: {error}")]
    Generate {
        /// The generator.
        name: &'static str,
        /// Why.
        error: GenerateError,
    },
    /// A generator decides on its own nodes.
    #[error(
        "the {name} workload brings its own nodes; set workload.{name}.nodes instead of grid.nodes, and leave grid.cores_per_node at 1"
    )]
    OwnNodes {
        /// The generator.
        name: &'static str,
    },
    /// There is no such network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// `asap` cannot be so.
    #[error("asap: {0}; see the [asap] part of the configuration")]
    Asap(gridweave_core::scheduler::asap::ConfigError),
    /// `criteria` cannot be so.
    #[error("criteria: {0}; see the [criteria] part of the configuration")]
    Criteria(gridweave_core::scheduler::criteria::ConfigError),
    /// `desktop` cannot be so.
    #[error("desktop: {0}; see the [desktop] part of the configuration")]
    Desktop(gridweave_core::scheduler::desktop::ConfigError),
    /// There are nodes or dimensions that `desktop` cannot use.
    #[error("desktop cannot use this grid: {0}")]
    DesktopGrid(&'static str),
    /// `aria` cannot be so.
    #[error("aria: {0}; see the [aria] part of the configuration")]
    Aria(gridweave_core::scheduler::aria::ConfigError),
    /// There are more sites than nodes to put into them.
    #[error("grid.sites is {sites}, but there are only {nodes} nodes; lower it")]
    TooManySites {
        /// How many sites.
        sites: u32,
        /// How many nodes.
        nodes: u32,
    },
    /// A centralised scheduler does not take this.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// There are more nodes than a machine each has room for.
    #[error(
        "{scheduler} simulates each node, at most {MOST_NODES} of them, and there are {nodes}; lower --nodes"
    )]
    TooManyNodes {
        /// Who schedules.
        scheduler: Scheduler,
        /// How many there are.
        nodes: u64,
    },
    /// Rows of `series.csv` would be too many.
    #[error(
        "report.window is {window}, which makes more than {MOST_ROWS} rows of series.csv while jobs are submitted; give a longer one"
    )]
    ShortWindow {
        /// How long it is.
        window: Lasting,
    },
    /// A decentralised scheduler does not take this.
    #[error(
        "{0} needs a grid of equal nodes; use central-greedy, aria or desktop for nodes that differ"
    )]
    MixedGrid(Scheduler),
    /// A partition cuts off a node that does not exist.
    #[error("network.partitions: there is no node {node}; nodes are numbered from 0 to {last}", last = nodes.saturating_sub(1))]
    NoSuchNodeCutOff {
        /// Which.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// Something happens to a node that does not exist.
    #[error("faults: there is no node {node}; nodes are numbered from 0 to {last}", last = nodes.saturating_sub(1))]
    NoSuchNode {
        /// Which.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
}

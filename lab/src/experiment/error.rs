//! Why an experiment cannot be made.

use core::fmt;
use std::path::PathBuf;

use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::network::NetworkError;
use crate::lasting::Lasting;
use crate::results::MOST_ROWS;
use crate::schedulers::central::Refused;
use crate::schedulers::name::Scheduler;
use crate::workload::generate::GenerateError;
use crate::workload::{ReadError, TransformError};

/// The most nodes that are simulated as a machine each.
pub const MOST_NODES: u32 = 10_000_000;

/// A number of bytes as people say it.
struct Gigabytes(u64);

impl fmt::Display for Gigabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} GB", self.0 as f64 / 1e9)
    }
}

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
    /// A scheduler cannot be so.
    #[error("{scheduler}: {error}; see the [{scheduler}] part of the configuration")]
    Rules {
        /// Which.
        scheduler: &'static str,
        /// Why.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There are nodes or dimensions that a scheduler cannot use.
    #[error("{0} cannot use this grid: {1}")]
    Grid(&'static str, &'static str),
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
    /// There is too little memory for so many.
    #[error(
        "{scheduler} needs more than {} for {nodes} nodes, and {} are free; lower --nodes", Gigabytes(*needed), Gigabytes(*free)
    )]
    TooLittleMemory {
        /// The scheduler.
        scheduler: Scheduler,
        /// How many nodes there are.
        nodes: u64,
        /// How many bytes they would take at least.
        needed: u64,
        /// How many bytes are free.
        free: u64,
    },
    /// Rows of `series.csv` would be too many.
    #[error(
        "report.window is {}, which makes more than {MOST_ROWS} rows of series.csv while jobs are submitted; give a longer one", Lasting(*window)
    )]
    ShortWindow {
        /// How long it is.
        window: Span,
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

impl InputError {
    pub(crate) fn rules(
        scheduler: &'static str,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        let error = Box::new(error);
        Self::Rules { scheduler, error }
    }
}

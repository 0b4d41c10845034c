//! Errors of experiments.

use core::fmt;
use std::path::PathBuf;

use gridweave_core::config;
use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::network::NetworkError;
use crate::lasting::Lasting;
use crate::results::MOST_ROWS;
use crate::schedulers::central::Refused;
use crate::schedulers::name::Scheduler;
use crate::workload::generate::GenerateError;
use crate::workload::{ReadError, TransformError};

/// The most nodes that can be simulated as one machine each.
pub const MOST_NODES: u32 = 10_000_000;

/// A number of bytes, printed in gigabytes.
struct Gigabytes(u64);

impl fmt::Display for Gigabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} GB", self.0 as f64 / 1e9)
    }
}

/// Why an experiment is refused: one line that says what is wrong, where, and what to do.
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
        /// The digest of the file.
        found: String,
        /// The digest in the configuration.
        wanted: String,
    },
    /// The configuration names a workload, and the caller brings jobs.
    #[error(
        "{name}: these jobs are given, and workload.source names others; leave one of them out"
    )]
    TwoWorkloads {
        /// The name of the given jobs.
        name: String,
    },
    /// Schedulers cannot be compared as was asked for.
    #[error("{0}")]
    Choice(String),
    /// The trace does not say how many processors there were.
    #[error("{name} does not say how many processors there are; give --nodes")]
    NoNodes {
        /// The name of the workload.
        name: String,
    },
    /// A transform of the workload is not possible.
    #[error("{name}: {error}")]
    Transform {
        /// The name of the workload.
        name: String,
        /// Why it is not possible.
        error: TransformError,
    },
    /// The parameters of a generator are wrong.
    #[error("workload.{name}: {error}")]
    Generate {
        /// The key of the generator.
        name: &'static str,
        /// What is wrong with them.
        error: GenerateError,
    },
    /// The configuration sets nodes, but a generator brings its own.
    #[error(
        "the {name} workload brings its own nodes; set workload.{name}.nodes instead of grid.nodes, and leave out grid.sites, grid.kinds and grid.cores_per_node"
    )]
    OwnNodes {
        /// The key of the generator.
        name: &'static str,
    },
    /// The settings of the network are wrong.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The nodes of a scheduler refuse a setting.
    #[error("{scheduler}.{key}: {error}")]
    Setting {
        /// The name of the scheduler.
        scheduler: &'static str,
        /// The key in its table.
        key: &'static str,
        /// What is wrong with the value that the nodes get.
        error: Box<config::ConfigError>,
    },
    /// The nodes of a scheduler refuse what follows from several settings.
    #[error("{scheduler}: {error}; see the [{scheduler}] part of the configuration")]
    Rules {
        /// The name of the scheduler.
        scheduler: &'static str,
        /// What is wrong with the value that the nodes get.
        error: Box<config::ConfigError>,
    },
    /// The scheduler (first) cannot use this grid, and why.
    #[error("{0} cannot use this grid: {1}")]
    Grid(&'static str, &'static str),
    /// The scheduler knows nothing of the kinds of nodes.
    #[error(
        "{0} knows no organisations and architectures of nodes, so it cannot use grid.kinds; leave them out, or choose asap, criteria or aria"
    )]
    EqualNodes(Scheduler),
    /// There are more sites than nodes.
    #[error("grid.sites is {sites}, but there are only {nodes} nodes; lower it")]
    TooManySites {
        /// The number of sites.
        sites: u32,
        /// The number of nodes.
        nodes: u32,
    },
    /// The trace has another number of sites.
    #[error(
        "grid.site_sizes is 'peaks' and grid.sites is {sites}, but {name} names {found} sites; set grid.sites to that, or make sites equal"
    )]
    OtherSites {
        /// The name of the trace.
        name: String,
        /// The number of sites that are wanted.
        sites: u32,
        /// The number of sites in the trace.
        found: usize,
    },
    /// A centralised scheduler refuses the grid or the workload.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// There are too many nodes to simulate.
    #[error(
        "{scheduler} simulates each node, at most {MOST_NODES} of them, and there are {nodes}; lower --nodes"
    )]
    TooManyNodes {
        /// The scheduler.
        scheduler: Scheduler,
        /// The number of nodes.
        nodes: u64,
    },
    /// There is too little memory for so many nodes.
    #[error(
        "{scheduler} needs more than {} for {nodes} nodes, and {} are free; lower --nodes", Gigabytes(*needed), Gigabytes(*free)
    )]
    TooLittleMemory {
        /// The scheduler.
        scheduler: Scheduler,
        /// The number of nodes.
        nodes: u64,
        /// The least number of bytes that they need.
        needed: u64,
        /// How many bytes are free.
        free: u64,
    },
    /// There would be too many rows in `series.csv`.
    #[error(
        "report.window is {}, which makes more than {MOST_ROWS} rows of series.csv while jobs are submitted; give a longer one", Lasting(*window)
    )]
    ShortWindow {
        /// The length of a row.
        window: Span,
    },
    /// The scheduler cannot use nodes that differ.
    #[error(
        "{0} needs a grid of equal nodes; use central-fcfs, central-greedy, central-bounded, aria or desktop for nodes that differ"
    )]
    MixedGrid(Scheduler),
    /// A partition cuts off a node that does not exist.
    #[error("network.partitions: there is no node {node}; nodes are numbered from 0 to {last}", last = nodes.saturating_sub(1))]
    NoSuchNodeCutOff {
        /// The node that does not exist.
        node: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// A fault names a node that does not exist.
    #[error("faults: there is no node {node}; nodes are numbered from 0 to {last}", last = nodes.saturating_sub(1))]
    NoSuchNode {
        /// The node that does not exist.
        node: u32,
        /// The number of nodes.
        nodes: usize,
    },
}

impl InputError {
    pub(crate) fn rules(
        scheduler: &'static str,
        key: Option<&'static str>,
        error: config::ConfigError,
    ) -> Self {
        let error = Box::new(error);
        match key {
            Some(key) => Self::Setting {
                scheduler,
                key,
                error,
            },
            None => Self::Rules { scheduler, error },
        }
    }
}

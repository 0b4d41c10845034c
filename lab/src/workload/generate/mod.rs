//! Workloads drawn from the distributions of the papers, with their grids.
//!
//! - [`Aria`]: P3's 1000 jobs on 500 nodes that differ in hardware and system.
//! - [`Desktop`]: P4's jobs on 1000 desktop computers with several cores.
//! - [`Grid5000Like`]: 82 days of parallel jobs on 5000 equal nodes, with the load that P1 reports.
//!
//! Each is a set of parameters; the defaults are the paper's. The same parameters and seed give the same jobs on every
//! computer: choices are whole numbers, and draws from continuous distributions are rounded to milliseconds, far
//! coarser than the differences between implementations of `exp` and `ln`.
//!
//! ```
//! use gridweave_lab::workload::generate::Aria;
//!
//! let (workload, grid) = Aria::default().generate(1)?;
//! assert_eq!((workload.jobs.len(), grid.len()), (1000, 500));
//! # Ok::<(), gridweave_lab::workload::generate::GenerateError>(())
//! ```

mod aria;
mod desktop;
mod draw;
mod grid5000;

pub use aria::{Aria, Beyond, Drift, actual_run_time};
pub(crate) use desktop::CYCLE;
pub use desktop::{Desktop, Drawing, Variety};
pub use grid5000::Grid5000Like;

use gridweave_core::resource::{Dimensions, Requirement};

use crate::config::setting::words;
use crate::grid::Profile;

/// The most jobs that a generator makes, and the most nodes if they are equal.
pub const LARGEST: u32 = 10_000_000;

/// The most nodes that a generator makes if they differ: each takes memory.
pub const MOST_MIXED_NODES: u32 = 1_000_000;

/// How often a job is drawn again before its generator gives up.
const MOST_REDRAWS: u32 = 100_000;

words! {
    /// What happens to a job that no node can ever run (PROTOCOLS A4).
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Infeasible {
        /// It is drawn again.
        #[default]
        Redraw = "redraw",
        /// It is submitted nevertheless.
        Keep = "keep",
    }
}

impl Infeasible {
    /// Draws a requirement, again and again until a node can meet it, unless infeasible jobs are kept.
    fn redraw(
        self,
        job: u64,
        dimensions: &Dimensions,
        nodes: &[Profile],
        mut draw: impl FnMut() -> Requirement,
    ) -> Result<Requirement, GenerateError> {
        for _ in 0..MOST_REDRAWS {
            let requirement = draw();
            let runs = |node: &Profile| dimensions.matches(&node.capability, &requirement);
            if self == Self::Keep || nodes.iter().any(runs) {
                return Ok(requirement);
            }
        }
        Err(GenerateError::Infeasible { job })
    }
}

/// Why a workload cannot be generated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A parameter is out of range.
    #[error("{parameter} must be {expected}")]
    Parameter {
        /// The name of the parameter in configuration files.
        parameter: &'static str,
        /// The accepted range.
        expected: &'static str,
    },
    /// No node can run a job, however often it is drawn.
    #[error(
        "no node can run job {job}, however often it is drawn; use more nodes, or keep infeasible jobs"
    )]
    Infeasible {
        /// The number of the job.
        job: u64,
    },
}

/// Refuses a parameter unless `holds`.
fn require(
    holds: bool,
    parameter: &'static str,
    expected: &'static str,
) -> Result<(), GenerateError> {
    if holds {
        return Ok(());
    }
    Err(GenerateError::Parameter {
        parameter,
        expected,
    })
}

/// Refuses zero, or too many nodes that differ.
fn require_mixed(count: u32, parameter: &'static str) -> Result<(), GenerateError> {
    require(
        (1..=MOST_MIXED_NODES).contains(&count),
        parameter,
        "from 1 to 1000000",
    )
}

/// Refuses zero, or too many jobs or equal nodes.
fn require_count(count: u32, parameter: &'static str) -> Result<(), GenerateError> {
    require(
        (1..=LARGEST).contains(&count),
        parameter,
        "from 1 to 10000000",
    )
}

//! Workloads drawn from the distributions that the papers give, and the grids they run on.
//!
//! - [`Aria`]: P3's 1000 jobs on 500 nodes that differ in hardware and system.
//! - [`Desktop`]: P4's 5000 jobs on 1000 desktop machines with several cores.
//! - [`Grid5000Like`]: 82 days of parallel jobs on 5000 equal nodes, with the load that P1 reports.
//!
//! Each is a set of parameters whose defaults are the paper's, and the same parameters and seed give the same jobs on every
//! machine: choices are whole numbers, and what is drawn from a continuous distribution is rounded to milliseconds, far
//! coarser than what implementations of `exp` and `ln` differ by.
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

pub use aria::{Aria, Drift, actual_run_time};
pub use desktop::{Desktop, Variety};
pub use grid5000::Grid5000Like;

use gridweave_core::resource::{Dimensions, Requirement};

use crate::config::setting::words;
use crate::grid::Profile;

/// The most jobs that a generator makes, and the most nodes if they are equal.
pub const LARGEST: u32 = 10_000_000;

/// The most nodes that a generator makes if they differ: each of them takes memory.
pub const MOST_MIXED_NODES: u32 = 1_000_000;

/// How often a job is redrawn before its generator gives up.
const MOST_REDRAWS: u32 = 100_000;

words! {
    /// What becomes of a job that no node could ever run (PROTOCOLS A4).
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Infeasible {
        /// It is drawn again.
        #[default]
        Redraw = "redraw",
        /// It is submitted all the same.
        Keep = "keep",
    }
}

impl Infeasible {
    /// What a job asks for, drawn again until one of the nodes can run it, unless it may stay as it is.
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

/// Why nothing can be generated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// A parameter makes no sense.
    #[error("{parameter} must be {expected}")]
    Parameter {
        /// Which one, as it is called in configuration files.
        parameter: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// No node can run any job that was drawn.
    #[error(
        "no node can run job {job}, however often it is drawn; use more nodes, or keep infeasible jobs"
    )]
    Infeasible {
        /// Its number.
        job: u64,
    },
}

/// Refuses a parameter unless this holds.
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

/// Refuses a number of nodes that differ that is zero or beyond memory.
fn require_mixed(count: u32, parameter: &'static str) -> Result<(), GenerateError> {
    require(
        (1..=MOST_MIXED_NODES).contains(&count),
        parameter,
        "from 1 to 1000000",
    )
}

/// Refuses a number of jobs or nodes that is zero or beyond memory.
fn require_count(count: u32, parameter: &'static str) -> Result<(), GenerateError> {
    require(
        (1..=LARGEST).contains(&count),
        parameter,
        "from 1 to 10000000",
    )
}

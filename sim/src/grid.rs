//! What there is to run jobs on.

use gridweave_core::resource::{Capability, Dimension, Dimensions, Kind, Speed};

/// The nodes of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one grid, which nobody moves about"
)]
pub enum Grid {
    /// So many equal nodes of baseline speed, each taken whole by one job at a time.
    Uniform(u32),
    /// Nodes that differ; a job takes a part of one node, as its requirement says.
    Mixed(Mixed),
}

/// Nodes that differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mixed {
    /// What they differ in.
    pub dimensions: Dimensions,
    /// Each of them.
    pub nodes: Vec<Profile>,
}

/// What one node has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// In each dimension.
    pub capability: Capability,
    /// How fast it runs jobs.
    pub speed: Speed,
}

impl Mixed {
    /// The dimension by which jobs share a node, if there is one: the first amount called `cores` or `slots`.
    pub fn shares(&self) -> Option<Dimension> {
        self.dimensions
            .iter()
            .find(|(_, name, kind)| *kind == Kind::Amount && matches!(*name, "cores" | "slots"))
            .map(|(dimension, ..)| dimension)
    }
}

impl Grid {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Uniform(nodes) => *nodes as usize,
            Self::Mixed(mixed) => mixed.nodes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

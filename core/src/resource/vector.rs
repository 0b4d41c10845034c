use super::{Dimension, MAX_DIMENSIONS};

/// What a node has in every dimension; zero where nothing is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Capability {
    values: [u64; MAX_DIMENSIONS],
}

/// What a job needs, in the dimensions it names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Requirement {
    values: [Option<u64>; MAX_DIMENSIONS],
}

impl Capability {
    /// Nothing of anything.
    pub const fn none() -> Self {
        Self {
            values: [0; MAX_DIMENSIONS],
        }
    }

    /// The same with this value in one dimension.
    #[must_use]
    pub fn with(mut self, dimension: Dimension, value: u64) -> Self {
        if let Some(index) = self.values.get_mut(dimension.position()) {
            *index = value;
        }
        self
    }

    /// What it has in a dimension.
    #[inline]
    pub fn value(&self, dimension: Dimension) -> u64 {
        self.values.get(dimension.position()).copied().unwrap_or(0)
    }
}

impl Requirement {
    /// No requirement: any node will do.
    pub const fn any() -> Self {
        Self {
            values: [None; MAX_DIMENSIONS],
        }
    }

    /// The same with this value needed in one dimension.
    #[must_use]
    pub fn with(mut self, dimension: Dimension, value: u64) -> Self {
        if let Some(index) = self.values.get_mut(dimension.position()) {
            *index = Some(value);
        }
        self
    }

    /// What it needs in a dimension; `None` if it names no need there.
    #[inline]
    pub fn value(&self, dimension: Dimension) -> Option<u64> {
        self.values.get(dimension.position()).copied().flatten()
    }

    /// The dimensions it names, with what it needs there.
    pub fn named(&self) -> impl Iterator<Item = (Dimension, u64)> + '_ {
        self.values
            .iter()
            .enumerate()
            .filter_map(|(position, value)| Dimension::new(position).zip(*value))
    }
}

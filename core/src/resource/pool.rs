use core::fmt;

use super::{Capability, Dimension, Dimensions, Kind, Requirement, Score};

/// What a node has, and how much of it the running jobs leave free.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pool {
    dimensions: Dimensions,
    total: Capability,
    free: Capability,
}

/// The first dimension in which a requirement is not met. Nothing was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shortfall {
    /// The dimension in which it is not met.
    pub dimension: Dimension,
}

/// More would be free in this dimension than there is. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surplus {
    /// The dimension in which too much was given back.
    pub dimension: Dimension,
}

impl Pool {
    /// An idle node.
    pub const fn new(dimensions: Dimensions, total: Capability) -> Self {
        Self {
            dimensions,
            total,
            free: total,
        }
    }

    /// A node of which this much is free, as another node tells it: no more of any amount than there is, and levels and
    /// categories as they are.
    pub fn with_free(
        dimensions: Dimensions,
        total: Capability,
        free: Capability,
    ) -> Result<Self, Surplus> {
        for (dimension, _, kind) in dimensions.iter() {
            let (left, all) = (free.value(dimension), total.value(dimension));
            let possible = if kind == Kind::Amount {
                left <= all
            } else {
                left == all
            };
            if !possible {
                return Err(Surplus { dimension });
            }
        }
        Ok(Self {
            dimensions,
            total,
            free,
        })
    }

    /// The dimensions this node is described in.
    pub const fn dimensions(&self) -> &Dimensions {
        &self.dimensions
    }

    /// What the node has.
    pub const fn total(&self) -> &Capability {
        &self.total
    }

    /// What it has left: amounts shrink as jobs run, levels and categories stay.
    pub const fn free(&self) -> &Capability {
        &self.free
    }

    /// Whether the node is idle.
    pub fn is_idle(&self) -> bool {
        self.free == self.total
    }

    /// Whether the node could run such a job if it were idle.
    pub fn suits(&self, requirement: &Requirement) -> bool {
        self.dimensions.matches(&self.total, requirement)
    }

    /// Whether such a job could start now.
    pub fn fits(&self, requirement: &Requirement) -> bool {
        self.dimensions.matches(&self.free, requirement)
    }

    /// Takes what a starting job uses up.
    pub fn take(&mut self, requirement: &Requirement) -> Result<(), Shortfall> {
        for (dimension, needed) in requirement.named() {
            let one = Requirement::any().with(dimension, needed);
            if !self.fits(&one) {
                return Err(Shortfall { dimension });
            }
        }
        for dimension in self.dimensions.amounts() {
            let needed = requirement.value(dimension).unwrap_or(0);
            let left = self.free.value(dimension).saturating_sub(needed);
            self.free = self.free.with(dimension, left);
        }
        Ok(())
    }

    /// Gives back what an ended job used.
    pub fn give_back(&mut self, requirement: &Requirement) -> Result<(), Surplus> {
        let mut free = self.free;
        for dimension in self.dimensions.amounts() {
            let returned = requirement.value(dimension).unwrap_or(0);
            match self.free.value(dimension).checked_add(returned) {
                Some(left) if left <= self.total.value(dimension) => {
                    free = free.with(dimension, left);
                }
                _ => return Err(Surplus { dimension }),
            }
        }
        self.free = free;
        Ok(())
    }

    /// How well a job would fill this node if it started now, or `None` if it does not fit (PROTOCOLS 5, L5: normalised
    /// by this node, with the utilisation of running jobs only).
    pub fn score(&self, requirement: &Requirement) -> Option<Score> {
        if !self.fits(requirement) {
            return None;
        }
        Some(Score::of(self.dimensions.amounts().map(|dimension| {
            let total = self.total.value(dimension);
            let needed = requirement.value(dimension).unwrap_or(0);
            let used = total
                .saturating_sub(self.free.value(dimension))
                .saturating_add(needed);
            (used, total)
        })))
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "dimension {} has too little left",
            self.dimension.position()
        )
    }
}

impl fmt::Display for Surplus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "more would come back in dimension {} than was taken",
            self.dimension.position()
        )
    }
}

impl core::error::Error for Shortfall {}
impl core::error::Error for Surplus {}

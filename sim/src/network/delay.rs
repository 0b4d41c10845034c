use std::path::{Path, PathBuf};
use std::sync::Arc;

use gridweave_core::rand_core::Rng;
use gridweave_core::time::Span;
use serde::{Deserialize, Serialize};

use super::below;
use super::places::{NetworkError, Plane, RoundTrips};
use crate::lasting::Lasting;

/// How long messages travel, as configured.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayConfig {
    /// No time at all, as some papers assume. Messages of one instant still come one after the other.
    #[default]
    Zero,
    /// Always as long.
    Constant {
        /// How long.
        delay: Lasting,
    },
    /// Anything between two bounds, drawn for each message.
    Uniform {
        /// The shortest.
        min: Lasting,
        /// The longest.
        max: Lasting,
    },
    /// As far as two points in a square lie apart; each node's point is drawn from the seed.
    Plane {
        /// The side of the square.
        side: Lasting,
    },
    /// As far as two points lie apart, in milliseconds; points come from a file, `x y` on each line or OverSim's XML.
    /// Nodes beyond the last point begin again with the first.
    Coordinates {
        /// The file; may be compressed with gzip.
        file: PathBuf,
    },
    /// Half of a measured round-trip time; a file with a square of milliseconds. Nodes beyond its size begin again with the
    /// first row.
    Matrix {
        /// The file; may be compressed with gzip.
        file: PathBuf,
    },
}

impl DelayConfig {
    /// Refuses what can be seen to be wrong without reading a file.
    pub(super) fn check(&self) -> Result<(), NetworkError> {
        match *self {
            Self::Uniform { min, max } if max < min => Err(NetworkError::Bounds { min, max }),
            _ => Ok(()),
        }
    }

    /// The file that it is read from, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Coordinates { file } | Self::Matrix { file } => Some(file),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Coordinates { file } | Self::Matrix { file } => Some(file),
            _ => None,
        }
    }
}

/// How long messages travel, ready for use.
#[derive(Clone, Debug)]
pub enum Delay {
    /// Always as long.
    Constant(Span),
    /// Anything between the bounds.
    Uniform {
        /// The shortest.
        min: Span,
        /// The longest.
        max: Span,
    },
    /// As far as points lie apart.
    Plane(Arc<Plane>),
    /// As measured.
    Matrix(Arc<RoundTrips>),
}

impl Delay {
    pub(super) fn new(
        config: &DelayConfig,
        nodes: u32,
        rng: &mut impl Rng,
    ) -> Result<Self, NetworkError> {
        config.check()?;
        Ok(match config {
            DelayConfig::Zero => Self::Constant(Span::ZERO),
            DelayConfig::Constant { delay } => Self::Constant(delay.span()),
            DelayConfig::Uniform { min, max } => Self::Uniform {
                min: min.span(),
                max: max.span(),
            },
            DelayConfig::Plane { side } => {
                Self::Plane(Arc::new(Plane::generate(nodes, side.span(), rng)))
            }
            DelayConfig::Coordinates { file } => Self::Plane(Arc::new(Plane::read(file)?)),
            DelayConfig::Matrix { file } => Self::Matrix(Arc::new(RoundTrips::read(file)?)),
        })
    }

    /// How long a message from one node to another travels. Nothing travels far within a node, unless the delay does not
    /// depend on places.
    pub fn between(&self, from: u32, to: u32, rng: &mut impl Rng) -> Span {
        match self {
            Self::Constant(delay) => *delay,
            Self::Uniform { min, max } => {
                let width = max.as_micros() - min.as_micros();
                *min + Span::from_micros(below(rng, width.saturating_add(1)))
            }
            Self::Plane(plane) => plane.distance(from, to),
            Self::Matrix(matrix) => matrix.one_way(from, to),
        }
    }
}

use std::sync::Arc;

use gridweave_core::rand_core::Rng;
use gridweave_core::time::Span;

use super::below;
use super::places::{Plane, RoundTrips};

/// How long messages travel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Delay {
    /// Always as long; for no time at all, as some papers assume, messages of one instant still come one after the
    /// other.
    Constant(Span),
    /// Anything between two bounds, drawn for each message.
    Uniform {
        /// The shortest.
        min: Span,
        /// The longest.
        max: Span,
    },
    /// As far as the nodes' points lie apart.
    Plane(Arc<Plane>),
    /// As measured.
    Matrix(Arc<RoundTrips>),
}

impl Default for Delay {
    fn default() -> Self {
        Self::Constant(Span::ZERO)
    }
}

impl Delay {
    /// How long a message from one node to another travels. Nothing travels far within a node, unless the delay does
    /// not depend on places.
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

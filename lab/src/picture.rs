//! How a grid looks at a moment, for whoever draws it.

use serde::Serialize;

/// All nodes at a moment: what a line of `zones.json` has.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Picture {
    /// When, in seconds.
    pub at: f64,
    /// The nodes that have a zone.
    pub nodes: Vec<Drawn>,
}

/// A node in a space.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Drawn {
    /// Its number.
    pub node: u64,
    /// Where it is, from 0 to 1 in each dimension.
    pub point: Vec<f64>,
    /// Its zone: from where to where in each dimension.
    pub zone: Vec<[f64; 2]>,
    /// How many jobs run there.
    pub running: u64,
    /// How many wait there.
    pub waiting: u64,
    /// How much of its cores is used, from 0 to 1.
    pub used: f64,
    /// The balloons in its zone: whose they are, and where.
    pub balloons: Vec<(u64, Vec<f64>)>,
}

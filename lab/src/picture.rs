//! Snapshots of a grid, for drawing.

use serde::Serialize;

/// All nodes at one time: an entry of `zones.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Picture {
    /// The time, in seconds.
    pub at: f64,
    /// The nodes that have a zone.
    pub nodes: Vec<Drawn>,
}

/// How one node is drawn in its space.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Drawn {
    /// Its id.
    pub node: u64,
    /// Its point, from 0 to 1 in each dimension.
    pub point: Vec<f64>,
    /// Its zone: start and end in each dimension.
    pub zone: Vec<[f64; 2]>,
    /// How many jobs run at the node.
    pub running: u64,
    /// How many jobs wait at the node.
    pub waiting: u64,
    /// The used part of its cores, from 0 to 1.
    pub used: f64,
    /// The balloons in its zone: the node of each, and its point.
    pub balloons: Vec<(u64, Vec<f64>)>,
}

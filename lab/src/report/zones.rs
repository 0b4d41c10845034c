//! The zones of a CAN over time, for a map.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Packed;
use crate::grid::Grid;
use crate::picture::{Drawn, Picture};

/// The most snapshots of a map.
const MOST_MOMENTS: usize = 100;

/// The most nodes that a map draws, over all snapshots: larger grids get fewer snapshots.
const MOST_DRAWN: usize = 400_000;

/// The resolution of a map: the largest coordinate.
const FINENESS: f64 = 65_535.0;

/// Zones and loads in some snapshots.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Zones {
    /// The names of the dimensions.
    pub dimensions: Vec<String>,
    /// Each zone once: for each dimension its start and its length, in 65535ths.
    pub shapes: Packed,
    /// How many zones there are.
    pub count: u64,
    /// The snapshots, in the order of time.
    pub moments: Vec<Moment>,
}

/// One snapshot.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Moment {
    /// The time, in seconds.
    pub at: f64,
    /// How many nodes have a zone.
    pub count: u64,
    /// For each such node: the step from the id of the node before, the index of its zone, the numbers of running and
    /// of waiting jobs, and the used percentage of its cores.
    pub nodes: Packed,
}

impl Zones {
    /// Some of these snapshots, evenly spread; `None` if there are none.
    pub(crate) fn of(pictures: &[Picture], grid: &Grid) -> Option<Self> {
        let largest = pictures.iter().map(|picture| picture.nodes.len()).max()?;
        let first = pictures.iter().flat_map(|picture| &picture.nodes).next()?;
        let most = (MOST_DRAWN / largest.max(1)).clamp(1, MOST_MOMENTS);
        let together = pictures.len().div_ceil(most);
        let mut shapes: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        let mut zones = Self {
            dimensions: names(grid, first.zone.len()),
            ..Self::default()
        };
        for picture in pictures.iter().step_by(together) {
            let mut moment = Moment {
                at: picture.at,
                count: picture.nodes.len() as u64,
                ..Moment::default()
            };
            let mut before = 0;
            for node in &picture.nodes {
                moment.nodes.push_step(before, node.node);
                before = node.node;
                let shape = shape(node);
                let next = shapes.len() as u64;
                let number = *shapes.entry(shape.clone()).or_insert(next);
                if number == next {
                    shape.into_iter().for_each(|part| zones.shapes.push(part));
                }
                moment.nodes.push(number);
                moment.nodes.push(node.running);
                moment.nodes.push(node.waiting);
                moment
                    .nodes
                    .push((node.used.clamp(0.0, 1.0) * 100.0).round() as u64);
            }
            zones.moments.push(moment);
        }
        zones.count = shapes.len() as u64;
        Some(zones)
    }
}

/// The start and the length of a zone in each dimension, in 65535ths.
fn shape(node: &Drawn) -> Vec<u64> {
    let fine = |part: f64| (part.clamp(0.0, 1.0) * FINENESS).round() as u64;
    let stretches = node.zone.iter();
    stretches
        .flat_map(|[from, to]| [fine(*from), fine(*to).saturating_sub(fine(*from))])
        .collect()
}

/// The names of the dimensions: first those of the grid, then virtual ones.
fn names(grid: &Grid, count: usize) -> Vec<String> {
    let known: Vec<&str> = match grid {
        Grid::Uniform(_) => Vec::new(),
        Grid::Mixed(mixed) => mixed.dimensions.iter().map(|(_, name, _)| name).collect(),
    };
    let name = |index: usize| match known.get(index) {
        Some(name) => (*name).to_owned(),
        None => format!("virtual {}", index + 1 - known.len()),
    };
    (0..count).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_that_does_not_change_is_there_once_and_moments_are_few() {
        let drawn = |node: u64| Drawn {
            node,
            point: vec![0.1, 0.2],
            zone: vec![[0.0, 0.5], [0.5 * node as f64, 1.0]],
            running: 1,
            waiting: 2,
            used: 0.5,
            balloons: Vec::new(),
        };
        let pictures: Vec<Picture> = (0..250_u32)
            .map(|at| Picture {
                at: f64::from(at),
                nodes: (0..2).map(drawn).collect(),
            })
            .collect();
        let zones = Zones::of(&pictures, &Grid::Uniform(2)).unwrap();
        assert_eq!(zones.count, 2);
        assert_eq!(zones.dimensions, ["virtual 1", "virtual 2"]);
        let at: Vec<f64> = zones.moments.iter().map(|moment| moment.at).collect();
        assert_eq!((at.len(), at[0], at[1], at[83]), (84, 0.0, 3.0, 249.0));
        assert!(zones.moments.iter().all(|moment| moment.count == 2));
        assert_eq!(Zones::of(&[], &Grid::Uniform(2)), None);
    }
}

//! Zones of many nodes at once, for a host that knows them all: as if they had joined one after the other.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::message::{Entries, Entry, Grant, Name};
use super::space::Point;
use super::tree::Leaf;
use super::zone::Zone;
use crate::id::{Incarnation, NodeId};

/// The zones of nodes that join one after the other, without messages.
///
/// ```
/// use gridweave_core::id::NodeId;
/// use gridweave_core::overlay::can::{Layout, Point};
///
/// let mut layout = Layout::<2>::default();
/// for (id, point) in [(1, [1000, 500]), (2, [9000, 700]), (3, [9000, 80])] {
///     layout.add(NodeId::new(id), Point::new(point)).expect("no two are alike");
/// }
/// let neighbours: Vec<usize> = layout.grants().map(|grant| grant.neighbours.len()).collect();
/// assert_eq!(neighbours, [2, 2, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct Layout<const D: usize> {
    nodes: Vec<(NodeId, Point<D>, Leaf<D>)>,
    tree: Tree,
}

/// The splits, from the root.
#[derive(Clone, Debug)]
enum Tree {
    /// The index of a node in the list.
    Leaf(usize),
    Split {
        dimension: u8,
        plane: u32,
        sides: Box<[Tree; 2]>,
    },
}

/// There is a node at this very point. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamePoint;

impl fmt::Display for SamePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is a node at this very point")
    }
}

impl core::error::Error for SamePoint {}

impl<const D: usize> Default for Layout<D> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            tree: Tree::Leaf(0),
        }
    }
}

impl<const D: usize> Layout<D> {
    /// Adds a node, as if it joined after the others.
    pub fn add(&mut self, id: NodeId, point: Point<D>) -> Result<(), SamePoint> {
        let index = self.nodes.len();
        let at = self.tree.leaf_mut(&point);
        let &mut Tree::Leaf(owner) = at else {
            return Err(SamePoint);
        };
        let Some((_, own_point, leaf)) = self.nodes.get_mut(owner) else {
            self.nodes.push((id, point, Leaf::whole()));
            return Ok(());
        };
        let (own, other) = leaf.split(own_point, &point).ok_or(SamePoint)?;
        let split = other.history.splits().last().ok_or(SamePoint)?;
        let sides = match split.side {
            super::Side::Lower => [index, owner],
            super::Side::Upper => [owner, index],
        };
        *at = Tree::Split {
            dimension: split.dimension,
            plane: split.plane,
            sides: Box::new(sides.map(Tree::Leaf)),
        };
        *leaf = own;
        self.nodes.push((id, point, other));
        Ok(())
    }

    /// How many nodes have joined.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no node has joined.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What each node begins with, in the order in which they joined: see [`Command::Place`](super::Command::Place).
    pub fn grants(&self) -> impl Iterator<Item = Grant<D>> + '_ {
        let mut touching = Vec::new();
        self.nodes.iter().map(move |(id, _, leaf)| {
            touching.clear();
            self.tree.touching(&leaf.zone, &mut touching);
            let around = touching.iter().filter_map(|index| self.nodes.get(*index));
            let around =
                around.filter(|(_, _, other)| leaf.zone.neighbour_face(&other.zone).is_some());
            let mut neighbours: Vec<Entry<D>> =
                around.map(|(id, _, leaf)| entry(*id, leaf)).collect();
            neighbours.sort_unstable_by_key(|entry| entry.name);
            let neighbours: Entries<D> = neighbours.into_iter().collect();
            Grant {
                own: entry(*id, leaf),
                neighbours,
            }
        })
    }
}

/// A node in its first life.
fn entry<const D: usize>(id: NodeId, leaf: &Leaf<D>) -> Entry<D> {
    Entry {
        name: Name {
            id,
            life: Incarnation::default(),
        },
        epoch: 0,
        rank: 0,
        zone: leaf.zone,
        history: leaf.history.clone(),
    }
}

impl Tree {
    fn leaf_mut<const D: usize>(&mut self, point: &Point<D>) -> &mut Self {
        let mut at = self;
        loop {
            match at {
                Self::Leaf(_) => return at,
                Self::Split {
                    dimension,
                    plane,
                    sides,
                } => {
                    let [lower, upper] = &mut **sides;
                    let is_lower = point.at(usize::from(*dimension)) < *plane;
                    at = if is_lower { lower } else { upper };
                }
            }
        }
    }

    /// Finds the nodes in the closed box or at its border: its neighbours, and a few more.
    fn touching<const D: usize>(&self, zone: &Zone<D>, found: &mut Vec<usize>) {
        let mut open = Vec::from([self]);
        while let Some(tree) = open.pop() {
            match tree {
                Self::Leaf(index) => found.push(*index),
                Self::Split {
                    dimension,
                    plane,
                    sides,
                } => {
                    let [lower, upper] = &**sides;
                    let Some(stretch) = zone.stretch(*dimension) else {
                        continue;
                    };
                    if stretch.from() <= *plane {
                        open.push(lower);
                    }
                    if *plane <= stretch.to() {
                        open.push(upper);
                    }
                }
            }
        }
    }
}

//! `desktop` in the lab: its part of the configuration, how its nodes are built, and how it is tortured.

pub(crate) mod config;
mod tortured;

pub use config::{DesktopConfig, PassingName, SchedulingName};

use gridweave_core::id::NodeId;
use gridweave_core::overlay::can;
use gridweave_core::resource::{Capability, Dimensions, Kind, Speed};
use gridweave_core::scheduler::desktop::{Bootstrap, Config, Desktop, Equipment};
use gridweave_core::shared::Shared;
use gridweave_sim::engine::Hints;
use gridweave_sim::monitor::Monitor;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::side::Side;
use crate::experiment::error::InputError;
use crate::experiment::nodes::{Nodes, stream};
use crate::experiment::prepare::Prepared;
use crate::grid::Grid;
use crate::picture::Drawn;
use crate::run::Run;
use crate::torture::host::{Play, play};

/// The most dimensions of a space: P4's four and two virtual ones. A space that has fewer never splits the others.
pub(crate) const DIMENSIONS: usize = 6;

type Point = can::Point<DIMENSIONS>;

/// A node that schedules as `desktop` does.
pub(crate) type Node = Desktop<DIMENSIONS>;

/// The kind of messages that maintain the overlay and tell neighbours the load of a node.
pub(crate) const OVERLAY: &str = "Overlay";
/// The same, in the second space of the Dual-CAN model.
pub(crate) const RESIDUE_OVERLAY: &str = "Residue";
/// The kinds of messages about the members of the second space.
pub(crate) const RENDEZVOUS: [&str; 2] = ["Errand.Enter", "Members"];

/// What the lab knows of `desktop`.
pub(crate) struct DesktopSide;

/// The configuration of the nodes, and the equipment of each; an error if there can be no such nodes.
fn config(prepared: &Prepared) -> Result<(Config, Vec<Equipment>), InputError> {
    let (dimensions, cores) = match &*prepared.grid {
        Grid::Uniform(_) => {
            let cores = Dimensions::new(&[("cores", Kind::Amount)]).ok();
            let cores = cores.and_then(|it| it.named("cores").map(|cores| (it, cores)));
            cores.ok_or(InputError::Grid("desktop", "it has no cores"))?
        }
        Grid::Mixed(mixed) => {
            let none = "no amount of its nodes is called cores or slots";
            let cores = mixed.shares().ok_or(InputError::Grid("desktop", none))?;
            (mixed.dimensions.clone(), cores)
        }
    };
    let nodes = (0..prepared.nodes_ever()).map(|node| {
        let (capability, speed) = match &*prepared.grid {
            Grid::Mixed(mixed) => {
                let profile = &mixed.nodes[node as usize];
                (profile.capability, profile.speed)
            }
            Grid::Uniform(_) => (Capability::none().with(cores, 1), Speed::BASELINE),
        };
        Equipment {
            dimensions: dimensions.clone(),
            cores,
            capability,
            speed,
        }
    });
    let nodes: Vec<Equipment> = nodes.collect();
    let most = dimensions.iter().fold(Capability::none(), |most, (k, ..)| {
        let values = nodes.iter().map(|node| node.capability.value(k));
        most.with(k, values.max().unwrap_or(0))
    });
    let differ = match &*prepared.grid {
        Grid::Uniform(_) => 0,
        Grid::Mixed(_) => dimensions.len(),
    };
    let whole = &prepared.config;
    let rules = &whole.rules.desktop;
    let config = rules.for_machines(&whole.network, &whole.faults, differ, most);
    if let Some(node) = nodes.first() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let (me, alone) = (NodeId::new(0), Bootstrap::Alone);
        Node::new(me, config, alone, node.clone(), &mut rng)
            .map_err(|error| InputError::rules("desktop", DesktopConfig::key_of(&error), error))?;
    }
    Ok((config, nodes))
}

/// Reads some words that a node needs when it handles a message of this sender.
fn touch(node: &Node, from: Option<NodeId>) -> u64 {
    let epoch = |word: u64, other: &can::Neighbour<DIMENSIONS>| word ^ u64::from(other.entry.epoch);
    match from {
        Some(from) => {
            let known = node.can().known_lives(from).iter().fold(0, epoch);
            known ^ u64::from(node.status_of(from).is_some())
        }
        None => node.can().neighbours().fold(0, epoch),
    }
}

/// How a node is drawn in its space.
fn drawn(node: &Node) -> Option<Drawn> {
    let part = |at: u32| f64::from(at) / f64::from(can::END);
    let point = |point: &Point| point.coordinates().iter().map(|at| part(*at)).collect();
    let stretches = node.can().zone()?.stretches().iter();
    let load = node.can().load();
    Some(Drawn {
        node: node.id().get(),
        point: point(node.can().point()),
        zone: stretches
            .map(|stretch| [part(stretch.from()), part(stretch.to())])
            .collect(),
        running: node.queue().running().len() as u64,
        waiting: node.queue().waiting().len() as u64,
        used: (load.required_cores as f64 / load.cores.max(1) as f64).min(1.0),
        balloons: node
            .balloons()
            .map(|(node, at)| (node.get(), point(at)))
            .collect(),
    })
}

/// The points and zones of nodes that join one after the other. A node draws again until its point can be added.
pub(crate) fn laid_out(
    config: &Config,
    nodes: &[Equipment],
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<(Point, Shared<can::Grant<DIMENSIONS>>)> {
    let mut layout = can::Layout::default();
    let mut points = Vec::with_capacity(nodes.len());
    for (number, node) in nodes.iter().enumerate() {
        let id = NodeId::new(number as u64);
        let point = loop {
            let point = Node::point_of(config, node, rng);
            if layout.add(id, point).is_ok() {
                break point;
            }
        };
        points.push(point);
    }
    let grants = layout.grants().map(Shared::new);
    points.into_iter().zip(grants).collect()
}

impl Side for DesktopSide {
    fn places_gangs(&self) -> bool {
        false
    }

    fn places_requirements(&self) -> bool {
        true
    }

    fn check(&self, prepared: &Prepared) -> Result<(), InputError> {
        prepared.check_nodes(self.places_requirements(), size_of::<Node>())?;
        config(prepared).map(drop)
    }

    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<Run, InputError> {
        let (config, equipment) = config(prepared)?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(prepared.config.seed, 4));
        let first = &equipment[..prepared.nodes_at_start() as usize];
        let placed = laid_out(&config, first, &mut rng);
        let build = move |me: NodeId| {
            let number = me.get() as usize;
            let bootstrap = match placed.get(number) {
                Some((point, grant)) => Bootstrap::Placed(*point, grant.clone()),
                // A node that joins later is introduced by the first node.
                None => Bootstrap::Join(NodeId::new(0).into()),
            };
            Node::new(me, config, bootstrap, equipment[number].clone(), &mut rng)
                .expect("all nodes are as the one that was checked")
        };
        let hints = Hints {
            items: |_| 1,
            touch,
        };
        let nodes = Nodes::built_by(build).hinted(hints).drawn(drawn);
        let nodes = nodes.counting(|node| {
            let counts = node.counts();
            vec![
                ("migrated", counts.migrated),
                ("balanced", counts.balanced),
                ("floods", counts.floods),
                ("most_passed", u64::from(counts.most_passed)),
                ("most_waiting", u64::from(counts.most_waiting)),
            ]
        });
        let nodes = nodes.linked(|node| {
            let neighbours = node.can().neighbours();
            neighbours.map(|other| other.entry.name.id).collect()
        });
        prepared.simulate_nodes(nodes, monitor)
    }

    fn tortured(&self) -> Option<Play> {
        Some(play::<Node>)
    }
}

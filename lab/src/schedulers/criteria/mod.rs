//! `criteria` in the lab: its part of the configuration, and the [`Profile`] of each node.
//!
//! ```
//! use gridweave_lab::config::Config;
//! use gridweave_lab::schedulers::criteria::CriterionName;
//!
//! let config = Config::parse("scheduler = 'criteria'\n[criteria]\ncriterion = 'closest'")?;
//! assert_eq!(config.rules.criteria.criterion, CriterionName::Closest);
//! assert!(Config::parse("[criteria]\ncriterion = 'nearest'").is_err());
//! # Ok::<(), gridweave_lab::config::ConfigError>(())
//! ```

pub(crate) mod config;
mod tortured;

pub use config::{
    Catalogue, CriteriaConfig, CriterionName, MOST_GOSSIP, MOST_NEAR, ObjectiveConfig, PartConfig,
    PlacesConfig,
};

use gridweave_core::commit::Selective;
use gridweave_core::id::NodeId;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::criteria::{Config, Criteria};
use gridweave_sim::engine::Hints;
use gridweave_sim::monitor::Monitor;

use super::asap::config::MOST_SHUFFLED;
use super::side::Side;
use crate::experiment::error::InputError;
use crate::experiment::nodes::{Nodes, bootstrap, stream};
use crate::experiment::prepare::Prepared;
use crate::kinds::policies;
use crate::run::Run;
use crate::torture::host::{Play, play};

/// A node that schedules as `criteria` does, with room for as many links as a configuration may ask for.
pub(crate) type Node = Criteria<MOST_NEAR, MOST_SHUFFLED, MOST_GOSSIP, Catalogue, Selective>;

/// The kinds of messages that search for nodes.
pub const SEARCH: [&str; 2] = ["Look", "Seen"];
/// The kinds of messages of the random overlay.
pub const RANDOM: [&str; 2] = ["Overlay.Shuffle", "Overlay.Shuffled"];
/// The kind of messages of helper overlays.
pub const HELPERS: &str = "Helper";

pub(crate) const HINTS: Hints<Node> = Hints {
    items: |_| 1,
    touch: |node, _| super::touch::touch_view(node.overlay().view()),
};

/// What the lab knows of `criteria`.
pub(crate) struct CriteriaSide;

/// The profile of a node at this point. Regions are squares with sides of 32 milliseconds.
pub(crate) fn profile(point: [i64; 2]) -> Profile {
    const SIDE: i64 = 32_768;
    let micros =
        |part: i64| i32::try_from(part).unwrap_or(if part < 0 { i32::MIN } else { i32::MAX });
    let square = |part: i64| (part.div_euclid(SIDE) & 0xff) as u16;
    let [x, y] = point;
    Profile {
        region: square(x) << 8 | square(y),
        ..Profile::at(Coordinate::at([micros(x), micros(y), 0]))
    }
}

/// The profiles of all nodes, later joiners included.
pub fn profiles(prepared: &Prepared) -> Result<Vec<Profile>, InputError> {
    let nodes = prepared.grid.len() + prepared.joining().count();
    let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
    let seed = stream(prepared.config.seed, 5);
    let points = prepared.config.rules.criteria.places.points(nodes, seed)?;
    Ok((0..nodes).map(|node| profile(points.point(node))).collect())
}

/// The configuration of the nodes; an error if it cannot work.
fn config(prepared: &Prepared) -> Result<Config, InputError> {
    let criteria = &prepared.config.rules.criteria;
    let config = criteria.for_machines(&prepared.config.network);
    let node = Node::new(
        NodeId::new(0),
        config,
        Bootstrap::Alone,
        Profile::default(),
        criteria.catalogue(),
        policies(None)(NodeId::new(0)),
    );
    node.map(|_| config)
        .map_err(|error| InputError::rules("criteria", CriteriaConfig::key_of(&error), error))
}

impl Side for CriteriaSide {
    fn places_gangs(&self) -> bool {
        true
    }

    fn places_by_kind(&self) -> bool {
        true
    }

    fn check(&self, prepared: &Prepared) -> Result<(), InputError> {
        prepared.check_nodes(self.places_requirements(), size_of::<Node>())?;
        config(prepared)?;
        profiles(prepared).map(drop)
    }

    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<Run, InputError> {
        let criteria = &prepared.config.rules.criteria;
        let views = prepared.warmed_up(criteria.degree, criteria.shuffle, criteria.warm_up);
        let (config, profiles) = (config(prepared)?, profiles(prepared)?);
        let catalogue = criteria.catalogue();
        let policy = policies(prepared.kinds());
        let build = move |me: NodeId| {
            let profile = profiles.get(me.get() as usize).cloned().unwrap_or_default();
            let (bootstrap, catalogue) = (bootstrap(&views, me), catalogue.clone());
            Node::new(me, config, bootstrap, profile, catalogue, policy(me))
                .expect("all nodes are as the one that was checked")
        };
        let nodes = Nodes::built_by(build).hinted(HINTS);
        let nodes = nodes.linked(|node| node.overlay().view().ids().to_vec());
        prepared.simulate_nodes(nodes.asking_for(criteria.job_criterion()), monitor)
    }

    fn tortured(&self) -> Option<Play> {
        Some(play::<Node>)
    }
}

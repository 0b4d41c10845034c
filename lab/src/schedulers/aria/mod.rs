//! `aria` in the lab: its part of the configuration, how its nodes are built, and how it is tortured.

pub(crate) mod config;
mod tortured;

pub use config::{AriaConfig, ForwardName, OverlayName, PolicyName};

use std::num::NonZeroU32;
use std::sync::Arc;

use gridweave_core::id::NodeId;
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{Aria, Config, Membership, Site};
use gridweave_sim::monitor::Monitor;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::asap::config::MOST_SHUFFLED;
use super::side::Side;
use crate::experiment::error::InputError;
use crate::experiment::nodes::{Nodes, bootstrap, stream};
use crate::experiment::prepare::Prepared;
use crate::grid::Grid;
use crate::overlay::{ants, regular, warmed_up};
use crate::run::Run;
use crate::torture::host::{Play, play};

/// A site that schedules as `aria` does.
pub(crate) type Node = Aria<SiteQueue>;

/// The kind of message that asks for offers: the first row of P3's Table I.
pub(crate) const REQUEST: &str = "Request";
/// The kind of message that advertises a waiting job.
pub(crate) const INFORM: &str = "Inform";
/// The kind of message that makes an offer.
pub(crate) const ACCEPT: &str = "Accept";
/// The kind of message that gives a job to a site.
pub(crate) const ASSIGN: &str = "Custody.Give";
/// The kind of message that says whether a site takes a job that another site gives it: one for each move.
pub(crate) const ANSWER: &str = "Custody.Answer";
/// The kinds of messages that P3 does not have: acknowledgements and leases.
pub(crate) const CUSTODY: [&str; 3] = [ANSWER, "Custody.Report", "Custody.Verdict"];

/// What the lab knows of `aria`.
pub(crate) struct AriaSide;

/// The configuration of the nodes; an error if it cannot work.
fn config(prepared: &Prepared) -> Result<Config, InputError> {
    let config = &prepared.config;
    let rules = config
        .rules
        .aria
        .for_machines(&config.network, &config.faults);
    let site = site(prepared, NodeId::new(0), Policy::FirstCome);
    let node = Node::new(NodeId::new(0), rules, Bootstrap::Alone, site);
    node.map(|_| rules)
        .map_err(|error| InputError::rules("aria", AriaConfig::key_of(&error), error))
}

/// The links of each node that is there at the beginning, in the order of ids.
pub(crate) fn overlay(prepared: &Prepared) -> Arc<Vec<Box<[u32]>>> {
    let (aria, nodes) = (&prepared.config.rules.aria, prepared.nodes_at_start());
    let seed = stream(prepared.config.seed, 4);
    match aria.overlay {
        OverlayName::Blatant => ants(nodes, aria.warm_up, seed),
        OverlayName::Cyclon => {
            let shuffle = aria.degree.min(MOST_SHUFFLED as u8);
            Arc::new(warmed_up(nodes, aria.degree, shuffle, aria.warm_up, seed))
        }
        OverlayName::Regular => Arc::new(regular(nodes, aria.degree, seed)),
    }
}

/// The capability of a node, and its local scheduler.
fn site(prepared: &Prepared, node: NodeId, policy: Policy) -> Site<SiteQueue> {
    let (dimensions, capability, speed, processors) = match &*prepared.grid {
        Grid::Uniform(_) => (None, Capability::none(), Speed::BASELINE, 1),
        Grid::Mixed(mixed) => {
            let profile = mixed.nodes.get(node.get() as usize);
            let (capability, speed) = profile
                .map_or((Capability::none(), Speed::BASELINE), |profile| {
                    (profile.capability, profile.speed)
                });
            let share = mixed.shares().map_or(1, |shares| capability.value(shares));
            (Some(&mixed.dimensions), capability, speed, share)
        }
    };
    let processors = u32::try_from(processors).ok().and_then(NonZeroU32::new);
    let mut local = SiteQueue::new(policy, speed, usize::MAX)
        .with_processors(processors.unwrap_or(NonZeroU32::MIN));
    if prepared.config.rules.aria.backfill {
        local = local.backfilling();
    }
    let none = || Dimensions::new(&[]).expect("no dimensions are not too many");
    Site {
        dimensions: dimensions.cloned().unwrap_or_else(none),
        capability,
        membership: Membership::default(),
        local,
    }
}

impl Side for AriaSide {
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
        let (config, links) = (config(prepared)?, overlay(prepared));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(prepared.config.seed, 6));
        let sites: Vec<Site<SiteQueue>> = (0..prepared.nodes_ever())
            .map(|node| {
                let policy = prepared.config.rules.aria.policy.of(rng.below(2));
                site(prepared, NodeId::new(u64::from(node)), policy)
            })
            .collect();
        let build = move |me: NodeId| {
            let site = sites[me.get() as usize].clone();
            Node::new(me, config, bootstrap(&links, me), site)
                .expect("all nodes are as the one that was checked")
        };
        let nodes = Nodes::built_by(build).linked(|node| node.links().neighbours());
        prepared.simulate_nodes(nodes, monitor)
    }

    fn tortured(&self) -> Option<Play> {
        Some(play::<Node>)
    }
}

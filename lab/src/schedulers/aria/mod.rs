//! `aria` in the lab: its part of the configuration, how its nodes are built, and how it is tortured.

pub(crate) mod config;
mod sites;
mod tortured;

pub(crate) use sites::Sites;

pub use config::{
    AriaConfig, ClassConfig, ForwardName, OverlayName, PolicyName, ServesName, WindowConfig,
};

use std::sync::Arc;

use gridweave_core::id::NodeId;
use gridweave_core::queue::SiteQueue;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{Aria, Config, Site};
use gridweave_sim::monitor::Monitor;

use super::asap::config::MOST_SHUFFLED;
use super::side::Side;
use crate::experiment::error::InputError;
use crate::experiment::nodes::{Nodes, bootstrap, stream};
use crate::experiment::prepare::Prepared;
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
    let mut sites = Sites::of(prepared);
    sites.check()?;
    let site = sites.next(NodeId::new(0));
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

impl Side for AriaSide {
    fn places_gangs(&self) -> bool {
        false
    }

    fn places_requirements(&self) -> bool {
        true
    }

    fn places_by_kind(&self) -> bool {
        true
    }

    fn check(&self, prepared: &Prepared) -> Result<(), InputError> {
        prepared.check_nodes(self.places_requirements(), size_of::<Node>())?;
        config(prepared).map(drop)
    }

    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<Run, InputError> {
        let (config, links) = (config(prepared)?, overlay(prepared));
        let mut sites = Sites::of(prepared);
        let sites: Vec<Site<SiteQueue>> = (0..prepared.nodes_ever())
            .map(|node| sites.next(NodeId::new(u64::from(node))))
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

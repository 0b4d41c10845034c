//! `asap` in the lab: its part of the configuration, how its nodes are built, and how it is tortured.

pub(crate) mod config;
mod tortured;

pub use config::{AsapConfig, ExchangeName};
pub(crate) use config::{MOST_LINKS, MOST_SHUFFLED};

use gridweave_core::commit::Selective;
use gridweave_core::id::NodeId;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::asap::{Asap, Config, Message};
use gridweave_sim::engine::Hints;
use gridweave_sim::monitor::Monitor;

use super::side::Side;
use crate::experiment::error::InputError;
use crate::experiment::nodes::{Nodes, bootstrap};
use crate::experiment::prepare::Prepared;
use crate::kinds::policies;
use crate::run::Run;
use crate::torture::host::{Play, play};

/// A node that schedules as `asap` does, with room for as many links as a configuration may ask for.
pub(crate) type Node = Asap<MOST_LINKS, MOST_SHUFFLED, Selective>;

/// The kind of message that sends a changed schedule to subscribers.
pub(crate) const PUSH: &str = "Schedule.Changed";
/// The kind of message that answers a search with a schedule.
pub(crate) const PULL: &str = "Schedule.Search";
/// The kind of message that answers a poll with a schedule.
pub(crate) const POLL: &str = "Schedule.Poll";
/// The kind of message that sends the schedule of a node that is new in a view.
pub(crate) const NEW_LINK: &str = "Schedule.NewLink";
/// The kind of message that lists the schedules a node knows; its items count them.
pub(crate) const OTHERS: &str = "Others";
/// The kinds of messages that search for a placement, beside schedules.
pub(crate) const SEARCH: [&str; 5] = ["Search", "Found", "NotFound", "WhoElse", OTHERS];
/// The kinds of messages that keep schedules of neighbours known, beside changes.
pub(crate) const SUBSCRIPTIONS: [&str; 4] = ["Subscribe", "Unsubscribe", "Fetch", NEW_LINK];
/// The kind of message by which a node refuses to hold time.
pub(crate) const REFUSED: &str = "Commit.Refused";
/// The kind of messages of the random overlay.
pub(crate) const GOSSIP: &str = "Overlay";

const HINTS: Hints<Node> = Hints {
    items: |message| match message {
        Message::Others { known, .. } => known.len() as u32,
        _ => 1,
    },
    touch: |node, _| super::touch::touch_view(node.overlay().view()),
};

/// What the lab knows of `asap`.
pub(crate) struct AsapSide;

/// The configuration of the nodes; an error if it cannot work.
fn config(prepared: &Prepared) -> Result<Config, InputError> {
    let config = &prepared.config;
    let rules = config
        .rules
        .asap
        .for_machines(&config.network, &config.faults);
    let bootstrap = match prepared.joining().next() {
        Some(_) => Bootstrap::Join(NodeId::new(1).into()),
        None => Bootstrap::Alone,
    };
    let me = NodeId::new(0);
    let node = Node::new(me, rules, bootstrap, policies(None)(me));
    node.map(|_| rules)
        .map_err(|error| InputError::rules("asap", AsapConfig::key_of(&error), error))
}

/// The links of each node at the beginning, in the order of ids.
pub(crate) fn overlay(prepared: &Prepared) -> Vec<Box<[u32]>> {
    let asap = &prepared.config.rules.asap;
    prepared.warmed_up(asap.degree, asap.shuffle, asap.warm_up)
}

impl Side for AsapSide {
    fn places_gangs(&self) -> bool {
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
        let (views, config) = (overlay(prepared), config(prepared)?);
        let policy = policies(prepared.kinds());
        let build = move |me: NodeId| {
            Node::new(me, config, bootstrap(&views, me), policy(me))
                .expect("all nodes are as the one that was checked")
        };
        let nodes = Nodes::built_by(build).hinted(HINTS);
        let nodes = nodes.linked(|node| node.overlay().view().ids().to_vec());
        prepared.simulate_nodes(nodes, monitor)
    }

    fn tortured(&self) -> Option<Play> {
        Some(play::<Node>)
    }
}

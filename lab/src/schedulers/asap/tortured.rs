//! `asap` under torture.

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::Job;
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::asap::{Config, Exchange, Links};
use gridweave_core::time::Span;
use gridweave_sim::hosting::Grounds;

use super::Node;
use crate::torture::dice::Dice;
use crate::torture::kinds;
use crate::torture::rules::{self, HORIZON, SLOT};
use crate::torture::scenario::Scenario;
use crate::torture::subject::{Budget, Build, Caps, Subject};

fn rules(scenario: &Scenario) -> Config {
    let mut dice = rules::rules(scenario);
    let commit = rules::commit(scenario, &mut dice);
    let improve = dice.percent(50).then_some(Span::from_secs(20));
    let patience = match improve.is_some() && dice.percent(50) {
        true => Span::from_secs(120),
        false => Span::ZERO,
    };
    Config {
        overlay: rules::overlay(scenario, Config::DEFAULT.overlay),
        links: match dice.percent(40) && scenario.joins.is_empty() {
            true => Links::Static,
            false => Links::Dynamic,
        },
        exchange: match dice.below(3) {
            0 => Exchange::Push {
                lease: Span::from_secs(60),
            },
            1 => Exchange::Pull,
            _ => Exchange::Poll {
                period: Span::from_secs(20),
            },
        },
        forward: 3,
        slot: SLOT,
        lead: SLOT,
        margin: Span::from_secs(2),
        horizon: HORIZON,
        width: 4,
        search_limit: Span::from_secs(4),
        improve,
        patience,
        commit,
        ..Config::DEFAULT
    }
}

impl Subject for Node {
    const GOSSIP: &'static [&'static str] =
        &["Overlay", "Schedule", "Fetch", "Subscribe", "Unsubscribe"];

    const BUDGETS: &'static [Budget] = &[
        rules::COMMIT_BUDGET,
        &[
            ("Search", 25),
            ("Found", 25),
            ("NotFound", 25),
            // Where few nodes can run a job, a search goes through all rings.
            ("WhoElse", 110),
            ("Others", 110),
        ],
    ];

    fn build(scenario: &Scenario) -> Build<Self> {
        let (config, bootstrap) = (rules(scenario), rules::bootstraps(scenario));
        let policy = kinds::policies(scenario);
        Box::new(move |me| {
            Self::new(me, config, bootstrap(me), policy(me)).expect("the rules are sound")
        })
    }

    fn job(id: JobId, estimate: Span, scenario: &Scenario, dice: &mut Dice) -> Job {
        kinds::demanding(rules::gang(id, estimate, scenario, dice), scenario)
    }

    fn grounds(scenario: &Scenario) -> Option<Grounds> {
        Some(kinds::grounds(scenario))
    }

    fn attempt(&self, job: JobId) -> Option<Epoch> {
        rules::attempt(self.commitments(), job)
    }

    fn left(&self) -> usize {
        self.jobs().count() + rules::commitments(self.commitments())
    }

    fn aimless(nodes: &[(NodeId, &Self)]) -> Vec<(NodeId, JobId)> {
        let commitments = nodes.iter().map(|(id, node)| (*id, node.commitments()));
        rules::aimless(&commitments.collect::<Vec<_>>())
    }

    fn knows(&self) -> Vec<NodeId> {
        self.overlay().view().ids().to_vec()
    }

    fn is_drained(&self) -> bool {
        Self::is_drained(self)
    }

    fn caps(scenario: &Scenario) -> Caps {
        rules::reserving_caps(scenario)
    }

    fn grace(scenario: &Scenario) -> Option<Span> {
        Some(rules::gang_grace(scenario))
    }
}

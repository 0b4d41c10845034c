//! `criteria` under torture: nodes in four towns, and jobs of every criterion.

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Criterion, Job};
use gridweave_core::overlay::vicinity;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::criteria::{Config, Exploration};
use gridweave_core::select::Combined;
use gridweave_core::time::Span;
use gridweave_sim::hosting::Grounds;

use super::{Catalogue, Node};
use crate::torture::dice::Dice;
use crate::torture::kinds;
use crate::torture::rules::{self, HORIZON, SLOT};
use crate::torture::scenario::Scenario;
use crate::torture::subject::{Budget, Build, Caps, Subject};

fn rules(scenario: &Scenario) -> Config {
    let mut dice = rules::rules(scenario);
    let commit = rules::commit(scenario, &mut dice);
    let overlay = rules::overlay(scenario, Config::DEFAULT.overlay);
    let improve = dice.percent(50).then_some(Span::from_secs(20));
    let patience = match improve.is_some() && dice.percent(50) {
        true => Span::from_secs(120),
        false => Span::ZERO,
    };
    Config {
        overlay,
        breadth: if dice.percent(50) { 4 } else { 0 },
        improve,
        patience,
        helper: vicinity::Config {
            links: rules::DEGREE,
            gossip: 5,
            period: overlay.period,
            ..vicinity::Config::DEFAULT
        },
        exploration: match dice.percent(30) {
            true => Exploration::Basic,
            false => Exploration::Proactive,
        },
        iterations: u16::try_from(dice.between(1, 6)).unwrap_or(1),
        parallel: u8::try_from(dice.between(1, 3)).unwrap_or(1),
        width: 4,
        slot: SLOT,
        lead: SLOT,
        margin: Span::from_secs(2),
        horizon: HORIZON,
        timeout: Span::from_secs(1),
        commit,
        ..Config::DEFAULT
    }
}

/// Four towns 30 ms apart, in each of them nodes a millisecond apart.
fn profile(node: NodeId) -> Profile {
    let number = i32::try_from(node.get() % 1000).unwrap_or(0);
    let (town, place) = (number % 4, number / 4);
    Profile::at(Coordinate::at([town * 30_000, place * 1000, 0]))
}

impl Subject for Node {
    const GOSSIP: &'static [&'static str] = &["Overlay", "Helper"];

    const BUDGETS: &'static [Budget] = &[rules::COMMIT_BUDGET, &[("Look", 200), ("Seen", 200)]];

    fn build(scenario: &Scenario) -> Build<Self> {
        let (config, bootstrap) = (rules(scenario), rules::bootstraps(scenario));
        let policy = kinds::policies(scenario);
        Box::new(move |me| {
            let (bootstrap, profile) = (bootstrap(me), profile(me));
            let catalogue = Catalogue {
                objective: Combined::default(),
                helper: None,
            };
            Self::new(me, config, bootstrap, profile, catalogue, policy(me))
                .expect("the rules are sound")
        })
    }

    fn job(id: JobId, estimate: Span, scenario: &Scenario, dice: &mut Dice) -> Job {
        let mut job = kinds::demanding(rules::gang(id, estimate, scenario, dice), scenario);
        job.criterion = match dice.below(3) {
            0 => Criterion::Soonest,
            1 => Criterion::Closest,
            _ => Criterion::Farthest,
        };
        job
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

//! Nodes of several kinds and organisations, and jobs that not every node may run: in some runs, by seed.

use std::sync::OnceLock;

use gridweave_core::admission::{Admission, Attributes, Organisations, Stated};
use gridweave_core::commit::Selective;
use gridweave_core::id::{NodeId, OrganisationId, UserId};
use gridweave_core::job::{Job, Scope, Submitter};
use gridweave_core::resource::{Capability, Dimensions, Kind};
use gridweave_core::rng::Choose;
use gridweave_core::shared::Shared;
use gridweave_sim::hosting::Grounds;

use super::dice::{Dice, For};
use super::scenario::Scenario;

/// How many organisations there are.
const ORGANISATIONS: u32 = 3;

/// In so many of a hundred runs, nodes differ.
const OFTEN: u32 = 40;

/// Memory, of which a node has one or two units, and an architecture, of which there are two.
pub(crate) fn dimensions() -> Dimensions {
    static ALL: OnceLock<Dimensions> = OnceLock::new();
    let all = || {
        let names = [("memory", Kind::Amount), ("architecture", Kind::Category)];
        Dimensions::new(&names).expect("there are two, with names of their own")
    };
    ALL.get_or_init(all).clone()
}

/// Whether nodes differ in this run.
fn differ(scenario: &Scenario) -> bool {
    let seed = scenario.request.seed;
    Dice::new(seed, For::Kinds, u64::MAX).percent(OFTEN)
}

fn organisation(dice: &mut Dice) -> OrganisationId {
    OrganisationId::new(dice.below(ORGANISATIONS))
}

/// What a node has, and whose jobs it admits.
fn stated(scenario: &Scenario, node: NodeId) -> Stated {
    if !differ(scenario) {
        return Stated::NOTHING;
    }
    let mut dice = Dice::new(scenario.request.seed, For::Kinds, node.get());
    let own = organisation(&mut dice);
    let some = [own, organisation(&mut dice)];
    let some = Organisations::new(some).expect("two are not too many");
    let admission = match dice.below(10) {
        0 => Admission::Own,
        1 => Admission::Only(some),
        2 => Admission::Except(some),
        _ => Admission::All,
    };
    let mut capability = Capability::none();
    for (dimension, ..) in dimensions().iter() {
        capability = capability.with(dimension, 1 + u64::from(dice.below(2)));
    }
    Stated::new(Attributes {
        organisation: own,
        admission,
        capability,
    })
}

/// The policy of each node.
pub(crate) fn policies(scenario: &Scenario) -> impl Fn(NodeId) -> Selective + use<> {
    let scenario = scenario.clone();
    let dimensions = Shared::new(dimensions());
    move |node| Selective {
        dimensions: dimensions.clone(),
        stated: stated(&scenario, node),
    }
}

/// What the oracle knows of all nodes.
pub(crate) fn grounds(scenario: &Scenario) -> Grounds {
    let all = u64::from(scenario.nodes) + scenario.joins.len() as u64;
    let stated = (0..all).map(|node| stated(scenario, NodeId::new(node)));
    Grounds {
        dimensions: dimensions(),
        stated: stated.collect(),
    }
}

/// The job of a user of some organisation, which may need some kind of node.
pub(crate) fn demanding(mut job: Job, scenario: &Scenario) -> Job {
    if !differ(scenario) {
        return job;
    }
    let number = job.id.get() | 1 << 32;
    let mut dice = Dice::new(scenario.request.seed, For::Kinds, number);
    job.submitter = Submitter {
        user: UserId::new(dice.below(5)),
        organisation: organisation(&mut dice),
    };
    for (dimension, ..) in dimensions().iter() {
        if dice.percent(25) {
            // A third unit of anything is what no node has.
            let needed = 1 + u64::from(dice.below(20)) % 3;
            let needed = if needed == 3 && dice.percent(70) {
                2
            } else {
                needed
            };
            job.requirement = job.requirement.with(dimension, needed);
        }
    }
    if dice.percent(10) {
        job.scope = Scope::Organisation;
    }
    job
}

//! A grid of `criteria` nodes in four towns, with jobs of every criterion.

use gridweave_core::commit::{self, Everyone};
use gridweave_core::id::NodeId;
use gridweave_core::job::{Criterion, Job};
use gridweave_core::overlay::{cyclon, vicinity};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::criteria::{Config, Criteria, Helper, OneMore};
use gridweave_core::select::{Objective, Set};
use gridweave_core::time::Span;

use super::{DEGREE, Watched};

/// A node with at most eight links in each overlay.
pub type Node = Criteria<8, 4, 5, OneMore<Cheapest>>;

/// The prices of all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cheapest;

impl Objective for Cheapest {
    fn cost(&self, set: &Set<'_>) -> f64 {
        set.profiles().map(|profile| f64::from(profile.note)).sum()
    }
}

/// What jobs ask for, one after the other.
pub const CRITERIA: [Criterion; 4] = [
    Criterion::Closest,
    Criterion::Soonest,
    Criterion::Custom(0),
    Criterion::Farthest,
];

/// Seconds and minutes instead of hours, so that much happens.
pub const CONFIG: Config = Config {
    overlay: cyclon::Config {
        view: DEGREE,
        shuffle: 4,
        ..Config::DEFAULT.overlay
    },
    helper: vicinity::Config {
        links: DEGREE,
        gossip: 5,
        ..vicinity::Config::DEFAULT
    },
    iterations: 6,
    improve: Some(Span::from_secs(30)),
    patience: Span::from_secs(120),
    slot: Span::from_secs(10),
    lead: Span::from_secs(10),
    timeout: Span::from_secs(1),
    width: 4,
    commit: super::CONFIG.commit,
    ..Config::DEFAULT
};

/// Where a node is, and its price: four towns 30 ms apart, in each of them nodes a millisecond apart.
pub fn profile(node: NodeId) -> Profile {
    let number = i32::try_from(node.get() % 1000).expect("it is below a thousand");
    let (town, place) = (number % 4, number / 4);
    Profile {
        note: (number % 7) as u32,
        ..Profile::at(Coordinate::at([town * 30_000, place * 1000, 0]))
    }
}

impl Watched for Node {
    type Config = Config;

    fn build(me: NodeId, config: Config, bootstrap: Bootstrap) -> Self {
        let catalogue = OneMore {
            objective: Cheapest,
            helper: Some(Helper::Proximity),
        };
        let profile = profile(me);
        Self::new(me, config, bootstrap, profile, catalogue, Everyone).expect("the rules are sound")
    }

    fn commitments(&self) -> &commit::Node {
        self.commitments()
    }

    fn open_jobs(&self) -> usize {
        self.jobs().count()
    }

    fn refine(job: &mut Job, number: usize) {
        job.criterion = CRITERIA[number % CRITERIA.len()];
    }
}

//! Rules that tortured schedulers share: seconds and minutes instead of hours, so that much happens in a run.

use std::num::NonZeroU32;

use gridweave_core::commit::{self, Overrun, Permission, Policy};
use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Demand, Job};
use gridweave_core::overlay::cyclon;
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::time::Span;

use super::dice::{Dice, For};
use super::fault::Fault;
use super::scenario::{Equipped, MAX_SKEW, PROBES, Scenario};
use super::subject::Budget;
use crate::overlay::warmed_up;

/// How many links a node has in a random overlay.
pub(crate) const DEGREE: u8 = 8;

/// How many of them are exchanged at once.
pub(crate) const SHUFFLE: u8 = 4;

/// How long a job may run without word from its coordinator.
pub(crate) const PERMISSION: Span = Span::from_secs(30);

/// How long a participant waits for its permission after the start.
pub(crate) const GRACE: Span = Span::from_secs(20);

/// How much later than its earliest start a job may start.
pub(crate) const HORIZON: Span = Span::from_secs(1200);

/// The slots of schedulers that reserve time.
pub(crate) const SLOT: Span = Span::from_secs(10);

/// How each node begins: with links to peers, or for a joiner, with an introducer.
pub(crate) fn bootstraps(scenario: &Scenario) -> impl Fn(NodeId) -> Bootstrap + use<> {
    let seed = Dice::new(scenario.request.seed, For::Overlay, u64::MAX).seed();
    let views = warmed_up(scenario.nodes, DEGREE, SHUFFLE, 10, seed);
    bootstraps_with(scenario, views)
}

/// The same with symmetric links: if one node has a link to another, both have it.
pub(crate) fn symmetric_bootstraps(scenario: &Scenario) -> impl Fn(NodeId) -> Bootstrap + use<> {
    let seed = Dice::new(scenario.request.seed, For::Overlay, u64::MAX).seed();
    let views = warmed_up(scenario.nodes, SHUFFLE, SHUFFLE, 10, seed);
    let both_ways = (0..scenario.nodes).map(|node| {
        let knows = |peer: &u32| {
            let [one, other] = [(node, *peer), (*peer, node)]
                .map(|(one, other)| views[one as usize].contains(&other));
            one || other
        };
        (0..scenario.nodes).filter(knows).collect()
    });
    bootstraps_with(scenario, both_ways.collect())
}

pub(crate) fn bootstraps_with(
    scenario: &Scenario,
    views: Vec<Box<[u32]>>,
) -> impl Fn(NodeId) -> Bootstrap + use<> {
    let scenario = scenario.clone();
    move |me| match views.get(me.get() as usize) {
        Some(view) if view.is_empty() => Bootstrap::Alone,
        Some(view) => {
            let peers = view.iter().map(|peer| NodeId::new(u64::from(*peer)));
            Bootstrap::Meet(peers.collect())
        }
        None => Bootstrap::Join(scenario.introducer(me).into()),
    }
}

/// This configuration with a small view and frequent exchanges.
pub(crate) fn overlay(scenario: &Scenario, default: cyclon::Config) -> cyclon::Config {
    cyclon::Config {
        view: DEGREE,
        shuffle: SHUFFLE,
        period: Span::from_secs(15),
        samples: samples(scenario),
        ..default
    }
}

/// The rules by which time is reserved.
pub(crate) fn commit(scenario: &Scenario, dice: &mut Dice) -> commit::Config {
    let full = scenario.has(Fault::Full);
    let permission = match dice.below(4) {
        0 => Permission::UntilEnd,
        _ => Permission::Renewed(PERMISSION),
    };
    let overrun = match dice.below(3) {
        0 => Overrun::Extend { by: SLOT, times: 2 },
        _ => Overrun::Cut,
    };
    commit::Config {
        max_skew: MAX_SKEW,
        grace: GRACE,
        permission,
        overrun,
        retention: Span::from_secs(120),
        seats: if full { 4 } else { 256 },
        holds_per_peer: if full { 2 } else { 64 },
        tasks: if full { 3 } else { 256 },
        ..commit::Config::DEFAULT
    }
}

/// A job that needs some whole nodes.
pub(crate) fn gang(id: JobId, estimate: Span, scenario: &Scenario, dice: &mut Dice) -> Job {
    let widest = (scenario.nodes / 2).clamp(1, 6);
    let count = NonZeroU32::new(dice.between(1, widest)).unwrap_or(NonZeroU32::MIN);
    Job::new(id, Demand::Nodes(count), estimate).expect("planned jobs take time")
}

/// The attempt under which a job runs at this node.
pub(crate) fn attempt<P: Policy>(node: &commit::Node<P>, job: JobId) -> Option<Epoch> {
    let mut running = node.participant.running();
    let attempt = running.find(|attempt| attempt.job == job)?;
    Some(attempt.epoch)
}

/// How many jobs, reservations and holds a node still has.
pub(crate) fn commitments<P: Policy>(node: &commit::Node<P>) -> usize {
    let participant = &node.participant;
    node.coordinator.jobs().count() + participant.schedule().len() + participant.engaged().count()
}

/// The budget of the messages by which time is reserved, as [`Subject::BUDGETS`](super::subject::Subject::BUDGETS).
pub(crate) const COMMIT_BUDGET: Budget = &[
    ("Commit.Prepare", 110),
    ("Commit.Prepared", 60),
    ("Commit.Refused", 50),
    ("Commit.Abort", 150),
    ("Commit.Commit", 25),
    ("Commit.Committed", 25),
    ("Commit.Permit", 80),
    ("Commit.Alive", 70),
    ("Commit.Extend", 10),
    ("Commit.Ended", 25),
    ("Commit.Release", 30),
    ("Commit.Released", 30),
];

/// The reservations and holds whose coordinator is up and does not know of them.
pub(crate) fn aimless<P: Policy>(nodes: &[(NodeId, &commit::Node<P>)]) -> Vec<(NodeId, JobId)> {
    let coordinator = |id: NodeId| nodes.iter().find(|(node, _)| *node == id);
    let aimless = nodes.iter().flat_map(|(me, node)| {
        let kept = node.participant.engaged();
        let aimless = kept.filter(move |(job, by)| {
            coordinator(*by).is_some_and(|(_, it)| !it.coordinator.involves(*job, *me))
        });
        aimless.map(|(job, _)| (*me, job))
    });
    aimless.collect()
}

/// The equipment of a node that is always taken whole.
pub(crate) const WHOLE: Equipped = Equipped {
    cores: 1,
    memory: 0,
};

/// How long a gang may be incomplete: until its nodes give up or lose their permission, by clocks that differ. A node
/// with a permission until the end runs on without the others.
pub(crate) fn gang_grace(scenario: &Scenario) -> Span {
    let rules = commit(scenario, &mut rules(scenario));
    match rules.permission {
        Permission::UntilEnd => Span::MAX,
        Permission::Renewed(span) => GRACE + span + MAX_SKEW.times(2) + Span::from_secs(60),
    }
}

/// The dice for the rules of a grid; those of reservations are drawn first.
pub(crate) fn rules(scenario: &Scenario) -> Dice {
    Dice::new(scenario.request.seed, For::Rules, 0)
}

/// The most jobs of a run, without those that liars make up.
pub(crate) const fn most_jobs(scenario: &Scenario) -> usize {
    scenario.jobs.len() + PROBES
}

/// How many nodes there are in all, joiners included.
pub(crate) const fn most_nodes(scenario: &Scenario) -> usize {
    scenario.nodes as usize + scenario.joins.len()
}

/// How many random peers a node keeps that no liar can choose for it: 8 in every third run, else none.
fn samples(scenario: &Scenario) -> u8 {
    match Dice::new(scenario.request.seed, For::Samples, 0).below(3) {
        0 => 8,
        _ => 0,
    }
}

/// The caps of nodes that reserve time: some records, timers and effects for each job and each peer.
pub(crate) fn reserving_caps(scenario: &Scenario) -> super::subject::Caps {
    let (jobs, nodes) = (most_jobs(scenario), most_nodes(scenario));
    super::subject::Caps {
        effects: 64 + 8 * jobs + 4 * nodes,
        bytes: 16 * 1024,
        records: 16 + 4 * jobs,
        timers: 32 + 4 * jobs + 2 * nodes,
    }
}

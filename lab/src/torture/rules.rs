//! Rules that tortured schedulers have in common, in seconds and minutes instead of hours, so that much happens in a run.

use std::num::NonZeroU32;

use gridweave_core::commit::{self, Overrun, Permission};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Demand, Job};
use gridweave_core::overlay::cyclon;
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::time::Span;

use super::dice::{Dice, For};
use super::fault::Fault;
use super::scenario::{Equipped, MAX_SKEW, PROBES, Scenario};
use crate::overlay::warmed_up;

/// The links of a node in a random overlay.
pub(crate) const DEGREE: u8 = 8;

/// How many of them are exchanged at once.
pub(crate) const SHUFFLE: u8 = 4;

/// How long a job may run without word from its coordinator.
pub(crate) const PERMISSION: Span = Span::from_secs(30);

/// How long a job that is committed waits for its permission.
pub(crate) const GRACE: Span = Span::from_secs(20);

/// How much later than as soon as possible a job may start.
pub(crate) const HORIZON: Span = Span::from_secs(1200);

/// The slots of schedulers that reserve time.
pub(crate) const SLOT: Span = Span::from_secs(10);

/// Whom nodes know at the beginning, and how the others come in.
pub(crate) fn bootstraps(scenario: &Scenario) -> impl Fn(NodeId) -> Bootstrap + use<> {
    let seed = Dice::new(scenario.request.seed, For::Overlay, u64::MAX).seed();
    let views = warmed_up(scenario.nodes, DEGREE, SHUFFLE, 10, seed);
    bootstraps_with(scenario, views)
}

/// The same where a link is one only if both ends have it: who is known to somebody knows it.
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
        None => Bootstrap::Join(scenario.introducer(me)),
    }
}

/// A random overlay that gossips often, and is else like this one.
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

/// A job for some whole nodes.
pub(crate) fn gang(id: JobId, estimate: Span, scenario: &Scenario, dice: &mut Dice) -> Job {
    let widest = (scenario.nodes / 2).clamp(1, 6);
    let count = NonZeroU32::new(dice.between(1, widest)).unwrap_or(NonZeroU32::MIN);
    Job::new(id, Demand::Nodes(count), estimate).expect("planned jobs take time")
}

/// Under what a job runs that was confirmed there.
pub(crate) fn attempt(node: &commit::Node, job: JobId) -> Option<u64> {
    let mut running = node.participant.running();
    let attempt = running.find(|attempt| attempt.job == job)?;
    Some(attempt.epoch.get())
}

/// How much there is of jobs that are being confirmed, or were.
pub(crate) fn commitments(node: &commit::Node) -> usize {
    let participant = &node.participant;
    node.coordinator.jobs().count() + participant.schedule().len() + participant.engaged().count()
}

/// The budget of the messages by which time is reserved, as [`Subject::BUDGET`](super::subject::Subject::BUDGET).
pub(crate) const COMMIT_BUDGET: &[(&str, u64)] = &[
    ("Prepare", 110),
    ("Prepared", 60),
    ("Refused", 50),
    ("Abort", 150),
    ("Commit", 25),
    ("Committed", 25),
    ("Permit", 80),
    ("Alive", 70),
    ("Extend", 10),
    ("Ended", 25),
    ("Release", 30),
    ("Released", 30),
];

/// The places that nodes keep for jobs, which the coordinators of these, if they are there, know nothing of.
pub(crate) fn aimless(nodes: &[(NodeId, &commit::Node)]) -> Vec<(NodeId, JobId)> {
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

/// A node that is taken whole.
pub(crate) const WHOLE: Equipped = Equipped {
    cores: 1,
    memory: 0,
};

/// For how long a gang may be incomplete: until its nodes have lost patience or their permission, by clocks that differ. Who has a
/// permission until the end runs on, whatever becomes of the others.
pub(crate) fn gang_grace(scenario: &Scenario) -> Span {
    let rules = commit(scenario, &mut rules(scenario));
    match rules.permission {
        Permission::UntilEnd => Span::MAX,
        Permission::Renewed(span) => GRACE + span + MAX_SKEW.times(2) + Span::from_secs(60),
    }
}

/// By what chance the rules of a grid are drawn, those of reservations first.
pub(crate) fn rules(scenario: &Scenario) -> Dice {
    Dice::new(scenario.request.seed, For::Rules, 0)
}

/// The most jobs that anyone speaks of in a run, those that liars make up left out.
pub(crate) const fn most_jobs(scenario: &Scenario) -> usize {
    scenario.jobs.len() + PROBES
}

/// How many nodes there ever are.
pub(crate) const fn most_nodes(scenario: &Scenario) -> usize {
    scenario.nodes as usize + scenario.joins.len()
}

/// How many peers that nobody can choose a node keeps, in every third run.
fn samples(scenario: &Scenario) -> u8 {
    match Dice::new(scenario.request.seed, For::Samples, 0).below(3) {
        0 => 8,
        _ => 0,
    }
}

/// What nodes that reserve time keep to: a record for each job on either side, some effects for each job and each peer.
pub(crate) fn reserving_caps(scenario: &Scenario) -> super::subject::Caps {
    let (jobs, nodes) = (most_jobs(scenario), most_nodes(scenario));
    super::subject::Caps {
        effects: 64 + 8 * jobs + 4 * nodes,
        bytes: 16 * 1024,
        records: 16 + 4 * jobs,
        timers: 32 + 4 * jobs + 2 * nodes,
    }
}

//! What the harness must know of a scheduler, and cannot see from outside.

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Job, Notice, Retry};
use gridweave_core::machine::Machine;
use gridweave_core::sorted::SortedMap;
use gridweave_core::time::Span;

use super::dice::Dice;
use super::rules::WHOLE;
use super::scenario::{Equipped, Scenario};
use super::witness::Counters;
use gridweave_sim::engine::Simulated;
use gridweave_sim::hosting::Grounds;

/// How many messages per job are allowed in the calm, of each kind without a budget of its own.
pub(crate) const SELDOM: u64 = 2;

/// Kinds of messages, and how many of each a job may cost in the calm.
pub(crate) type Budget = &'static [(&'static str, u64)];

/// Builds the machine of a node.
pub(crate) type Build<M> = Box<dyn FnMut(NodeId) -> M>;

/// A scheduler that is tortured.
pub(crate) trait Subject: Simulated + Machine<Command = Command, Notice = Notice> {
    /// Kinds of periodic messages, by their outermost name. Traces leave them out.
    const GOSSIP: &'static [&'static str];

    /// How many messages of each kind a job may cost in the calm: about twice the most that were ever seen. Other kinds
    /// have [`SELDOM`].
    const BUDGETS: &'static [Budget];

    /// Returns the function that builds the nodes of this scenario.
    fn build(scenario: &Scenario) -> Build<Self>;

    /// A job of this estimate that the scheduler can take.
    fn job(id: JobId, estimate: Span, scenario: &Scenario, dice: &mut Dice) -> Job;

    /// How often a job with this policy may begin again.
    fn reruns(retry: Retry) -> u32 {
        retry.times().into()
    }

    /// What a job takes on each of its nodes; by default all of it.
    fn takes(_job: &Job) -> Equipped {
        WHOLE
    }

    /// What a node has room for; by default one job.
    fn room(_scenario: &Scenario, _node: NodeId) -> Equipped {
        WHOLE
    }

    /// What nodes state of themselves, if jobs depend on it.
    fn grounds(_: &Scenario) -> Option<Grounds> {
        None
    }

    /// The attempt under which a job runs at this node. `None` if each start counts as an attempt of its own.
    fn attempt(&self, _job: JobId) -> Option<Epoch> {
        None
    }

    /// How many jobs the node still answers for, holds, or has reserved time for.
    fn left(&self) -> usize;

    /// Whether it waits for answers that belong to no job it has.
    fn awaits_answers(&self) -> bool {
        false
    }

    /// Reservations and holds on these nodes of which the coordinator does not know.
    fn aimless(_nodes: &[(NodeId, &Self)]) -> Vec<(NodeId, JobId)> {
        Vec::new()
    }

    /// Whether a leaver may go now.
    fn may_go(&self) -> bool {
        self.left() == 0
    }

    /// Whether it says that it is drained.
    fn is_drained(&self) -> bool;

    /// The caps that a node must keep.
    fn caps(scenario: &Scenario) -> Caps;

    /// How long a gang may run incomplete; `None` if the scheduler has no gangs.
    fn grace(_: &Scenario) -> Option<Span> {
        None
    }

    /// How long a job may still begin or run after it was reported as cancelled.
    fn lingers() -> Span {
        Span::ZERO
    }

    /// The name of a rare situation that this message shows.
    fn situation(_message: &Self::Message) -> Option<&'static str> {
        None
    }

    /// Adds this node's counts of rare situations, in this life.
    fn count(&self, _counters: &mut Counters) {}

    /// The peers to which the node has links.
    fn knows(&self) -> Vec<NodeId>;

    /// All nodes that it may ask for help with its overlay; `None` if it must find its way with those that it has.
    fn contacts(&self) -> Option<Vec<NodeId>> {
        None
    }

    /// Whether the overlay of these nodes is whole; the error says where it is not.
    fn is_whole(nodes: &[(NodeId, &Self)]) -> Result<(), String> {
        let known = nodes.iter();
        is_connected(
            &known
                .map(|(node, machine)| (*node, machine.knows()))
                .collect(),
        )
    }
}

/// Whether a path joins any two of these nodes, if links count in both directions.
pub(crate) fn is_connected(knows: &SortedMap<NodeId, Vec<NodeId>>) -> Result<(), String> {
    match parts(knows)[..] {
        [] | [_] => Ok(()),
        [_, node, ..] => Err(format!("there is no way to {node}; the links: {knows:?}")),
    }
}

/// The first node of each part: a path joins any two nodes of a part, if links count in both directions.
pub(crate) fn parts(knows: &SortedMap<NodeId, Vec<NodeId>>) -> Vec<NodeId> {
    let mut outside: SortedMap<NodeId, Vec<NodeId>> = knows.clone();
    for (node, peers) in knows.iter() {
        for peer in peers {
            if let Some(back) = outside.get_mut(peer) {
                back.push(*node);
            }
        }
    }
    let mut parts = Vec::new();
    loop {
        let Some(first) = outside.keys().next().copied() else {
            return parts;
        };
        parts.push(first);
        let mut reached = vec![first];
        while let Some(node) = reached.pop() {
            reached.extend(outside.remove(&node).unwrap_or_default());
        }
    }
}

/// The most that one node may do and keep.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caps {
    /// The most effects of one event.
    pub effects: usize,
    /// The most bytes of a message.
    pub bytes: usize,
    /// The most records on disk.
    pub records: usize,
    /// The most timers at once.
    pub timers: usize,
}

//! What the harness needs to know of a scheduler that cannot be seen from outside.

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Job, Notice};
use gridweave_core::machine::Machine;
use gridweave_core::sorted::SortedMap;
use gridweave_core::time::Span;

use super::dice::Dice;
use super::rules::WHOLE;
use super::scenario::{Equipped, Scenario};
use super::witness::Counters;
use gridweave_sim::engine::Simulated;

/// How many messages a job may cost in the calm of each kind that has no budget of its own.
pub(crate) const SELDOM: u64 = 2;

/// Builds the machine of a node.
pub(crate) type Build<M> = Box<dyn FnMut(NodeId) -> M>;

/// A scheduler that is tortured.
pub(crate) trait Subject: Simulated + Machine<Command = Command, Notice = Notice> {
    /// Kinds of messages, the outermost, that come all the time and say little, and are left out of traces.
    const GOSSIP: &'static [&'static str];

    /// How many messages of each kind a job may cost in the calm: some twice as many as were ever seen. Of kinds that are not named here,
    /// [`SELDOM`].
    const BUDGET: &'static [(&'static str, u64)];

    /// How nodes of this scenario are made.
    fn build(scenario: &Scenario) -> Build<Self>;

    /// A job that runs for so long, as far as this scheduler can take one.
    fn job(id: JobId, estimate: Span, scenario: &Scenario, dice: &mut Dice) -> Job;

    /// What a job takes on each of its nodes; if nothing is said, all of it.
    fn takes(_job: &Job) -> Equipped {
        WHOLE
    }

    /// What a node has room for; if nothing is said, one job.
    fn room(_scenario: &Scenario, _node: NodeId) -> Equipped {
        WHOLE
    }

    /// Which attempt at a job runs at this node. Where a job runs on one node, each start is an attempt of its own, and this is none.
    fn attempt(&self, _job: JobId) -> Option<u64> {
        None
    }

    /// How many jobs it still answers for, has, or keeps time for.
    fn left(&self) -> usize;

    /// Whether it waits for answers about jobs, beside those that belong to a job it has.
    fn awaits_answers(&self) -> bool {
        false
    }

    /// The places that some of these nodes keep for jobs whose coordinators know nothing of them.
    fn aimless(_nodes: &[(NodeId, &Self)]) -> Vec<(NodeId, JobId)> {
        Vec::new()
    }

    /// Whether it can go, having been asked to leave.
    fn may_go(&self) -> bool {
        self.left() == 0
    }

    /// The caps that it keeps.
    fn caps(scenario: &Scenario) -> Caps;

    /// For how long a job may run on some of its nodes only.
    fn grace(_: &Scenario) -> Option<Span> {
        None
    }

    /// For how long after it was said to be cancelled a job may still begin or run.
    fn lingers() -> Span {
        Span::ZERO
    }

    /// A rare situation that a message is part of.
    fn situation(_message: &Self::Message) -> Option<&'static str> {
        None
    }

    /// What happened at this node in this life.
    fn count(&self, _counters: &mut Counters) {}

    /// Whom it knows.
    fn knows(&self) -> Vec<NodeId>;

    /// Whether the overlay is whole that these nodes make.
    fn is_whole(nodes: &[(NodeId, &Self)]) -> Result<(), String> {
        let known = nodes.iter();
        is_connected(
            &known
                .map(|(node, machine)| (*node, machine.knows()))
                .collect(),
        )
    }
}

/// Whether there is a way between any two of these nodes, whoever of two knows the other.
pub(crate) fn is_connected(knows: &SortedMap<NodeId, Vec<NodeId>>) -> Result<(), String> {
    let mut outside: SortedMap<NodeId, Vec<NodeId>> = knows.clone();
    for (node, peers) in knows.iter() {
        for peer in peers {
            if let Some(back) = outside.get_mut(peer) {
                back.push(*node);
            }
        }
    }
    let mut reached: Vec<NodeId> = outside.keys().next().copied().into_iter().collect();
    while let Some(node) = reached.pop() {
        reached.extend(outside.remove(&node).unwrap_or_default());
    }
    match outside.keys().next() {
        None => Ok(()),
        Some(node) => Err(format!(
            "there is no way to {node}; who knows whom: {knows:?}"
        )),
    }
}

/// The most that a node may do and have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caps {
    /// Effects of one event.
    pub effects: usize,
    /// Bytes of a message.
    pub bytes: usize,
    /// Records on its disk.
    pub records: usize,
    /// Timers that it waits for.
    pub timers: usize,
}

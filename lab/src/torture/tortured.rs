//! A tortured grid of any scheduler.

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_sim::engine::{Simulation, is_of};
use gridweave_sim::hosting::Grid;

use super::player::Player;
use super::subject::{SELDOM, Subject};
use super::witness::Counters;

/// A tortured grid: what cannot be seen of its nodes from outside.
pub(super) trait Tortured: Grid {
    /// The attempt under which a job runs at a node.
    fn attempt(&self, node: NodeId, job: JobId) -> Option<Epoch>;
    /// How many jobs a node still answers for, holds, or has reserved time for.
    fn left(&self, node: NodeId) -> usize;
    /// Whether a node waits for answers that belong to no job it has.
    fn awaits_answers(&self, node: NodeId) -> bool;
    /// Reservations and holds of which the coordinator does not know.
    fn aimless(&self) -> Vec<(NodeId, JobId)>;
    /// Whether a leaver may go now.
    fn may_go(&self, node: NodeId) -> bool;
    /// Whether a node says that it is drained.
    fn is_drained(&self, node: NodeId) -> bool;
    /// The peers to which a node has links.
    fn knows(&self, node: NodeId) -> Vec<NodeId>;
    /// All nodes that a node may ask for help; `None` if it must find its way with those that it has.
    fn contacts(&self, node: NodeId) -> Option<Vec<NodeId>>;
    /// How many messages of each kind were sent, without gossip.
    fn said_of_jobs(&self) -> Vec<(String, u64)>;
    /// How many messages of a kind a job may cost in the calm.
    fn budget(&self, kind: &str) -> u64;
    /// Adds a node's counts of rare situations, in this life.
    fn count(&self, node: NodeId, counters: &mut Counters);
    /// Whether the overlay of these nodes is whole; the error says where it is not.
    fn is_whole(&self, nodes: &[NodeId]) -> Result<(), String>;
}

impl<M: Subject> Tortured for Simulation<Player<M>> {
    fn attempt(&self, node: NodeId, job: JobId) -> Option<Epoch> {
        self.machine(node)?.machine().attempt(job)
    }

    fn left(&self, node: NodeId) -> usize {
        self.machine(node).map_or(0, |it| it.machine().left())
    }

    fn awaits_answers(&self, node: NodeId) -> bool {
        let player = self.machine(node);
        player.is_some_and(|it| it.machine().awaits_answers())
    }

    fn aimless(&self) -> Vec<(NodeId, JobId)> {
        let all = (0..Grid::nodes(self)).map(NodeId::new);
        let up = all.filter_map(|node| Some((node, self.machine(node)?.machine())));
        M::aimless(&up.collect::<Vec<_>>())
    }

    fn may_go(&self, node: NodeId) -> bool {
        self.machine(node).is_some_and(|it| it.machine().may_go())
    }

    fn is_drained(&self, node: NodeId) -> bool {
        let player = self.machine(node);
        player.is_some_and(|it| it.machine().is_drained())
    }

    fn knows(&self, node: NodeId) -> Vec<NodeId> {
        let player = self.machine(node);
        player.map_or(Vec::new(), |it| it.machine().knows())
    }

    fn contacts(&self, node: NodeId) -> Option<Vec<NodeId>> {
        self.machine(node)?.machine().contacts()
    }

    fn said_of_jobs(&self) -> Vec<(String, u64)> {
        let kinds = self.traffic().kinds().iter();
        let of_jobs = kinds.filter(|(name, _)| !is_of(name, M::GOSSIP));
        let counts = of_jobs.map(|(name, traffic)| (name.clone(), traffic.messages));
        counts.collect()
    }

    fn budget(&self, kind: &str) -> u64 {
        let mut known = M::BUDGETS.iter().copied().flatten();
        known
            .find(|(name, _)| is_of(kind, &[name]))
            .map_or(SELDOM, |(_, most)| *most)
    }

    fn count(&self, node: NodeId, counters: &mut Counters) {
        if let Some(player) = self.machine(node) {
            player.machine().count(counters);
        }
    }

    fn is_whole(&self, nodes: &[NodeId]) -> Result<(), String> {
        let machine = |node: &NodeId| Some((*node, self.machine(*node)?.machine()));
        M::is_whole(&nodes.iter().filter_map(machine).collect::<Vec<_>>())
    }
}

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::machine::Violation;

pub(super) const GANG_COMMITTED: &str =
    "no node starts a job unless all nodes of that epoch committed";
pub(super) const ONE_EXECUTION: &str = "at most one live execution of a job";
pub(super) const ONE_OUTCOME: &str =
    "every accepted job has exactly one outcome: finished, failed or cancelled";

/// Something that happened to a job, as an outsider sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    missing_docs,
    reason = "named after what happened, to which job, where, in which attempt"
)]
pub enum Observation {
    Accepted {
        job: JobId,
    },
    Committed {
        job: JobId,
        epoch: Epoch,
        node: NodeId,
    },
    Started {
        job: JobId,
        epoch: Epoch,
        node: NodeId,
        gang: usize,
    },
    Stopped {
        job: JobId,
        epoch: Epoch,
        node: NodeId,
    },
    Outcome {
        job: JobId,
    },
}

/// Watches the executions of jobs all over a grid.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    committed: BTreeMap<(JobId, Epoch), BTreeSet<NodeId>>,
    live: BTreeMap<JobId, BTreeSet<(Epoch, NodeId)>>,
    /// How many outcomes each accepted job had.
    outcomes: BTreeMap<JobId, usize>,
}

impl Executions {
    /// Takes note of an observation, and names the invariant that it breaks.
    pub fn observe(&mut self, observation: Observation) -> Result<(), Violation> {
        match observation {
            Observation::Accepted { job } => {
                self.outcomes.entry(job).or_default();
                Ok(())
            }
            Observation::Committed { job, epoch, node } => {
                self.committed.entry((job, epoch)).or_default().insert(node);
                Ok(())
            }
            Observation::Started {
                job,
                epoch,
                node,
                gang,
            } => {
                let committed = self.committed.get(&(job, epoch));
                let all =
                    committed.is_some_and(|nodes| nodes.len() >= gang && nodes.contains(&node));
                Violation::unless(all, GANG_COMMITTED)?;
                let live = self.live.entry(job).or_default();
                let alone = live
                    .iter()
                    .all(|(other, at)| *other == epoch && *at != node);
                live.insert((epoch, node));
                Violation::unless(alone, ONE_EXECUTION)
            }
            Observation::Stopped { job, epoch, node } => {
                self.live.entry(job).or_default().remove(&(epoch, node));
                Ok(())
            }
            Observation::Outcome { job } => {
                let outcomes = self.outcomes.entry(job).or_default();
                *outcomes += 1;
                Violation::unless(*outcomes == 1, ONE_OUTCOME)
            }
        }
    }

    /// Everything has come to rest: every accepted job must have had its outcome.
    pub fn at_rest(&self) -> Result<(), Violation> {
        Violation::unless(
            self.outcomes.values().all(|outcomes| *outcomes == 1),
            ONE_OUTCOME,
        )
    }
}

//! What a coordinator keeps of a job.

use alloc::vec::Vec;

use super::Setback;
use crate::admission::Needs;
use crate::commit::{Config, Members, Permission};
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Outcome, Payload, Placement, Submitter};
use crate::schedule::Attempt;
use crate::shared::Shared;
use crate::time::{Interval, Span, Time};

/// When and where a job could run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Candidate {
    /// When the job would run.
    pub interval: Interval,
    /// The nodes that would run it, each once.
    pub nodes: Vec<NodeId>,
}

impl Candidate {
    /// Whether it names at least one node, none twice, and no more than `most`.
    pub(crate) fn is_sound(&self, most: usize) -> bool {
        let mut sorted = self.nodes.clone();
        sorted.sort_unstable();
        let distinct = sorted.is_sorted_by(|a, b| a < b);
        !sorted.is_empty() && sorted.len() <= most && distinct
    }
}

/// A job of a coordinator.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: JobId,
    pub(super) submitter: Submitter,
    pub(super) needs: Needs,
    pub(super) payload: Payload,
    /// The placements that are still to be tried, best last.
    pub(super) candidates: Vec<Candidate>,
    pub(super) spares: Vec<NodeId>,
    /// The attempt that is being voted on.
    pub(super) trial: Option<Trial>,
    /// The attempt that was decided on.
    pub(super) decision: Option<Decision>,
    /// Nodes that may still have something of an earlier attempt; each once.
    pub(super) old: Vec<Old>,
    /// The node on which an earlier attempt may have run, if the host does not know.
    pub(super) slipped: Option<NodeId>,
    /// When the nodes in `old` were first asked to let go.
    pub(super) clear_since: Time,
    /// When to ask the nodes in `old` again.
    pub(super) clear_at: Time,
    /// Whether the host was told that no node has the job any more.
    pub(super) is_cleared: bool,
}

/// An attempt that is being voted on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Trial {
    pub(super) epoch: Epoch,
    pub(super) interval: Interval,
    pub(super) voters: Vec<Voter>,
    /// When the voters were first asked.
    pub(super) began: Time,
    pub(super) resend: Time,
    /// How often the voters may be asked again.
    pub(super) left: u8,
    pub(super) purpose: Purpose,
}

impl Trial {
    /// Whether a node votes on this attempt.
    pub(super) fn is_asked(&self, node: NodeId, epoch: Epoch) -> bool {
        self.epoch == epoch && self.voters.iter().any(|voter| voter.node == node)
    }
}

/// What a trial is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Purpose {
    /// The job has no time yet.
    Place,
    /// The job has its time, and this placement is better.
    Improve,
    /// A spare stands in for a lost node.
    Replace { lost: NodeId },
}

/// A node that is asked to hold time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Voter {
    pub(super) node: NodeId,
    /// Until when the node holds its time at least, by this clock; `None` before it answers.
    pub(super) lease: Option<Time>,
}

/// An attempt that was decided on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Decision {
    pub(super) epoch: Epoch,
    pub(super) interval: Interval,
    pub(super) members: Vec<Member>,
    pub(super) stage: Stage,
    /// When the attempt needs attention next.
    pub(super) next: Time,
    /// Whether an earlier life decided on it, and this life has not permitted its start.
    pub(super) resumed: bool,
    /// The attempt that it took the place of, if this life knows.
    pub(super) swapped: Option<Epoch>,
}

/// How far an attempt is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Stage {
    /// Some members have not confirmed: `Commit` is resent from `since` to `until`.
    Committing { since: Time, until: Time },
    /// All members have committed.
    Standing,
    /// A member is lost, and a spare is being asked.
    Broken,
}

/// A node of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Member {
    pub(super) node: NodeId,
    pub(super) committed: bool,
    /// When its reservation ends: with the attempt's interval, or later if it was extended.
    pub(super) end: Time,
    /// Until when the node may run the job, by this clock, if it was ever permitted.
    pub(super) permitted: Option<Time>,
    pub(super) ended: Option<Outcome>,
    /// How many permissions in a row it has not answered.
    pub(super) unanswered: u8,
}

/// A node that may still have something of an earlier attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Old {
    pub(super) node: NodeId,
    /// The first of the attempts that are over.
    pub(super) since: Epoch,
    pub(super) through: Epoch,
    /// Until when the node may run the job, by this clock, if it was ever permitted.
    pub(super) permitted: Option<Time>,
    /// When the node has let go by itself, by any clock.
    pub(super) free_by: Time,
    /// Whether the host knows that the job may have run there.
    pub(super) told: bool,
}

impl Old {
    /// Whether the job may have run there without the knowledge of the host: the node never said that it let go, and
    /// cannot start it any more.
    pub(super) fn has_slipped(&self, now: Time, config: &Config) -> bool {
        !self.told
            && self
                .permitted
                .is_some_and(|until| config.passed(until) <= now)
    }
}

/// The part of a task that is on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Saved {
    submitter: Submitter,
    needs: Needs,
    payload: Payload,
    spares: Vec<NodeId>,
    decided: Option<Decided>,
    old: Vec<Old>,
    slipped: Option<NodeId>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Decided {
    epoch: Epoch,
    interval: Interval,
    members: Vec<Stander>,
}

/// The part of a member that is on disk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Stander {
    node: NodeId,
    end: Time,
    ended: Option<Outcome>,
}

impl Task {
    /// Adds nodes that can stand in for a lost one, best last; of too many, the last ones stay.
    pub(super) fn add_spares(&mut self, spares: &[NodeId], most: usize) {
        self.spares.retain(|known| !spares.contains(known));
        self.spares.extend_from_slice(spares);
        let over = self.spares.len().saturating_sub(most);
        self.spares.drain(..over);
    }

    pub(super) fn new(job: JobId, submitter: Submitter) -> Self {
        Self {
            job,
            submitter,
            needs: Needs::NOTHING,
            payload: Payload::EMPTY,
            candidates: Vec::new(),
            spares: Vec::new(),
            trial: None,
            decision: None,
            old: Vec::new(),
            slipped: None,
            clear_since: Time::ZERO,
            clear_at: Time::ZERO,
            is_cleared: false,
        }
    }

    /// The attempt that was decided on, if it is this one.
    pub(super) fn decision_mut(&mut self, epoch: Epoch) -> Option<&mut Decision> {
        self.decision
            .as_mut()
            .filter(|decision| decision.epoch == epoch)
    }

    /// Whether a node belongs to the attempt that was decided on.
    pub(super) fn is_member(&self, node: NodeId) -> bool {
        let mut members = self.decision.iter().flat_map(|decision| &decision.members);
        members.any(|member| member.node == node)
    }

    pub(super) fn attempt(&self, epoch: Epoch) -> Attempt {
        Attempt::new(self.job, epoch)
    }

    /// Where the job ran does not matter any more: it has its outcome.
    pub(super) fn forget_slipped(&mut self) {
        self.slipped = None;
        self.old.iter_mut().for_each(|old| old.told = true);
    }

    /// Whether nothing of the job is left.
    pub(super) fn is_over(&self) -> bool {
        let is_idle = self.trial.is_none() && self.decision.is_none();
        is_idle && self.old.is_empty() && self.slipped.is_none()
    }

    /// When the task needs attention next.
    pub(super) fn next_due(&self) -> Option<Time> {
        let trial = self.trial.as_ref().map(|trial| trial.resend);
        let decision = self.decision.as_ref().map(|decision| decision.next);
        let old = (!self.old.is_empty()).then_some(self.clear_at);
        [trial, decision, old].into_iter().flatten().min()
    }

    /// Adds a member of an attempt that is over to the nodes that have to let go.
    pub(super) fn retire(
        &mut self,
        member: &Member,
        decision: &Decision,
        told: bool,
        config: &Config,
    ) {
        let unstarted = decision.interval.start() + config.grace;
        let by_itself = member
            .permitted
            .map_or(unstarted, |until| until.max(unstarted));
        let gone = Old {
            node: member.node,
            since: decision.epoch,
            through: decision.epoch,
            permitted: member.permitted,
            free_by: config.passed(by_itself),
            told,
        };
        match self.old.iter_mut().find(|old| old.node == member.node) {
            Some(old) => {
                if old.told {
                    old.since = gone.since;
                }
                old.through = old.through.max(gone.through);
                old.permitted = old.permitted.max(gone.permitted);
                old.free_by = old.free_by.max(gone.free_by);
                old.told &= gone.told || gone.permitted.is_none();
            }
            None => self.old.push(gone),
        }
    }

    pub(super) fn record(&self) -> Saved {
        Saved {
            submitter: self.submitter,
            needs: self.needs.clone(),
            payload: self.payload.clone(),
            spares: self.spares.clone(),
            decided: self.decision.as_ref().map(|decision| Decided {
                epoch: decision.epoch,
                interval: decision.interval,
                members: decision
                    .members
                    .iter()
                    .map(|member| Stander {
                        node: member.node,
                        end: member.end,
                        ended: member.ended,
                    })
                    .collect(),
            }),
            old: self.old.clone(),
            slipped: self.slipped,
        }
    }

    pub(super) fn restored(job: JobId, saved: Saved) -> Self {
        let mut task = Self::new(job, saved.submitter);
        task.needs = saved.needs;
        task.payload = saved.payload;
        task.spares = saved.spares;
        task.old = saved.old;
        task.slipped = saved.slipped;
        task.decision = saved.decided.map(|decided| Decision {
            epoch: decided.epoch,
            interval: decided.interval,
            members: decided
                .members
                .iter()
                .map(|known| Member {
                    committed: known.ended.is_some(),
                    ended: known.ended,
                    ..Member::new(known.node, known.end)
                })
                .collect(),
            stage: Stage::Committing {
                since: Time::ZERO,
                until: Time::MAX,
            },
            next: Time::ZERO,
            resumed: true,
            swapped: None,
        });
        task
    }
}

impl Member {
    pub(super) fn new(node: NodeId, end: Time) -> Self {
        Self {
            node,
            committed: false,
            end,
            permitted: None,
            ended: None,
            unanswered: 0,
        }
    }

    /// Whether an answer of the node is missing: to the commit or to a permission.
    pub(super) fn is_silent(&self) -> bool {
        self.ended.is_none() && (!self.committed || self.unanswered > 0)
    }
}

impl Decision {
    /// The nodes of the attempt, as they are told.
    pub(super) fn roster(&self) -> Shared<Members> {
        Shared::new(self.members.iter().map(|member| member.node).collect())
    }

    pub(super) fn member_mut(&mut self, node: NodeId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.node == node)
    }

    /// When and where the attempt is to run.
    pub(super) fn placement(&self) -> Placement {
        Placement {
            attempt: self.epoch,
            start: self.interval.start(),
            end: Some(self.interval.end()),
            nodes: self.members.iter().map(|member| member.node).collect(),
        }
    }

    /// The members that have not confirmed the commit.
    pub(super) fn missing(&self) -> impl Iterator<Item = NodeId> + '_ {
        let missing = self.members.iter().filter(|member| !member.committed);
        missing.map(|member| member.node)
    }

    /// Whether all members have confirmed the commit.
    pub(super) fn is_committed(&self) -> bool {
        self.missing().next().is_none()
    }

    /// Of the members that have not ended, the one whose time ends first; of equals, the first.
    pub(super) fn next_to_end(&self) -> Option<&Member> {
        let open = self.members.iter().filter(|member| member.ended.is_none());
        open.min_by_key(|member| member.end)
    }

    /// When the next member must have ended or let go, and its message must have arrived.
    pub(super) fn closes(&self, config: &Config) -> Time {
        let end = self
            .next_to_end()
            .map_or(self.interval.end(), |member| member.end);
        end + config.max_skew + config.patience()
    }

    /// Without renewals, the attempt needs no attention before [`Self::closes`].
    pub(super) fn rest(&mut self, config: &Config) {
        if config.permission == Permission::UntilEnd
            && self.stage == Stage::Standing
            && !self.waits_for_permission()
        {
            self.next = self.closes(config);
        }
    }

    /// Whether all members have done the job.
    pub(super) fn is_done(&self) -> bool {
        let done = |member: &Member| member.ended == Some(Outcome::Done);
        self.members.iter().all(done)
    }

    /// Why the attempt has failed, if the job broke or overran on a node.
    pub(super) fn failed(&self) -> Option<Setback> {
        let ended = |member: &Member| Setback::after(member.ended?, member.node);
        self.members.iter().find_map(ended)
    }

    /// Whether the job may have started on a node, by any clock.
    pub(super) fn may_have_run(&self, now: Time, config: &Config) -> bool {
        let is_due = self.interval.start() <= now + config.max_skew;
        let mut members = self.members.iter();
        members.any(|member| member.ended.is_some() || is_due && member.permitted.is_some())
    }

    /// Whether all members have committed and this life has not permitted the start yet.
    pub(super) fn waits_for_permission(&self) -> bool {
        let permitted = |member: &Member| member.permitted.is_some();
        self.stage == Stage::Standing && (self.resumed || !self.members.iter().any(permitted))
    }

    /// From when on the start may be permitted.
    pub(super) fn opens(&self, config: &Config) -> Time {
        self.interval.start() - config.ahead()
    }

    /// Whether no member was permitted before all had committed. What an earlier life permitted is not known.
    pub(super) fn keeps_the_barrier(&self) -> bool {
        self.is_committed()
            || self.resumed
            || self.members.iter().all(|member| member.permitted.is_none())
    }

    /// Takes up an attempt from disk: sends `Commit` again. The earlier life may have permitted a start that is near.
    pub(super) fn resume(&mut self, now: Time, config: &Config) {
        let start = self.interval.start();
        let until = if start <= now {
            // Until then a member may run without a message from this coordinator.
            let ends = self.members.iter().map(|member| member.end);
            config.permitted(now, ends.max().unwrap_or(self.interval.end()))
        } else {
            // As long as it takes until a silent member counts as lost.
            let times = u64::from(config.retries).saturating_add(1);
            let silence = config.renewal().map_or(Span::MAX, |each| each.times(times));
            (now + silence).min(start + config.grace)
        };
        self.stage = Stage::Committing {
            since: now,
            until: until.max(now + config.patience()),
        };
        self.next = now;
        if self.opens(config) <= now {
            for member in &mut self.members {
                member.permitted = Some(config.permitted(now, member.end));
            }
        }
    }
}

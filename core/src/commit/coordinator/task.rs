//! What a coordinator keeps of a job.

use alloc::vec::Vec;

use crate::commit::{Config, Permission};
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Outcome, Submitter};
use crate::schedule::Attempt;
use crate::time::{Interval, Span, Time};

/// When and where a job could run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Candidate {
    /// When.
    pub interval: Interval,
    /// Where: each node once.
    pub nodes: Vec<NodeId>,
}

impl Candidate {
    /// Whether it names at least one node, none twice, and no more than so many.
    pub(crate) fn is_sound(&self, most: usize) -> bool {
        let mut sorted = self.nodes.clone();
        sorted.sort_unstable();
        let distinct = sorted.is_sorted_by(|a, b| a < b);
        !sorted.is_empty() && sorted.len() <= most && distinct
    }
}

/// A job that a coordinator sees to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: JobId,
    pub(super) submitter: Submitter,
    /// What is still to be tried, best last.
    pub(super) candidates: Vec<Candidate>,
    pub(super) spares: Vec<NodeId>,
    /// The attempt that is being voted on.
    pub(super) trial: Option<Trial>,
    /// The attempt that was decided on.
    pub(super) decision: Option<Decision>,
    /// Nodes that may still have something of an earlier attempt; each once.
    pub(super) old: Vec<Old>,
    /// When they were first asked to let go of it.
    pub(super) clear_since: Time,
    /// When to ask them again.
    pub(super) clear_at: Time,
    /// Whether it was told that nobody has it any more.
    pub(super) is_cleared: bool,
}

/// An attempt that is being voted on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Trial {
    pub(super) epoch: Epoch,
    pub(super) interval: Interval,
    pub(super) voters: Vec<Voter>,
    /// When the question was first asked.
    pub(super) began: Time,
    pub(super) resend: Time,
    /// How often it will be asked again.
    pub(super) left: u8,
    pub(super) purpose: Purpose,
}

/// What an attempt is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Purpose {
    /// The job has no time yet.
    Place,
    /// It would be better than what the job has.
    Improve,
    /// It does without a lost node.
    Replace { lost: NodeId },
}

/// A node that is asked to hold time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Voter {
    pub(super) node: NodeId,
    /// Until when it holds at least, by our clock; none before it answers.
    pub(super) lease: Option<Time>,
}

/// An attempt that was decided on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Decision {
    pub(super) epoch: Epoch,
    pub(super) interval: Interval,
    pub(super) members: Vec<Member>,
    pub(super) stage: Stage,
    /// When to do something about it.
    pub(super) next: Time,
    /// Whether it was decided on in an earlier life, and this one has not let anyone start.
    pub(super) resumed: bool,
}

/// How far an attempt is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Stage {
    /// Not everyone has confirmed; they are told again, from then until then.
    Committing { since: Time, until: Time },
    /// Everyone has.
    Standing,
    /// One of them is lost, and a spare is being asked.
    Broken,
}

/// A node of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Member {
    pub(super) node: NodeId,
    pub(super) committed: bool,
    /// When its reservation ends: with the attempt's interval, or later if it was extended.
    pub(super) end: Time,
    /// Until when it may run the job, by our clock, if it ever might.
    pub(super) permitted: Option<Time>,
    pub(super) ended: Option<Outcome>,
    /// How many permissions it has not answered.
    pub(super) unanswered: u8,
}

/// A node that may still have something of an earlier attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Old {
    pub(super) node: NodeId,
    pub(super) through: Epoch,
    /// Until when it may run the job, by our clock, if it ever might.
    pub(super) permitted: Option<Time>,
    /// When it has let go by itself.
    pub(super) free_by: Time,
}

/// What of a task is on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Saved {
    submitter: Submitter,
    spares: Vec<NodeId>,
    decided: Option<Decided>,
    old: Vec<Old>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Decided {
    epoch: Epoch,
    interval: Interval,
    members: Vec<Stander>,
}

/// What of a member is on disk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Stander {
    node: NodeId,
    end: Time,
    ended: Option<Outcome>,
}

impl Task {
    pub(super) fn new(job: JobId, submitter: Submitter) -> Self {
        Self {
            job,
            submitter,
            candidates: Vec::new(),
            spares: Vec::new(),
            trial: None,
            decision: None,
            old: Vec::new(),
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

    /// Whether nothing of it is left.
    pub(super) fn is_over(&self) -> bool {
        self.trial.is_none() && self.decision.is_none() && self.old.is_empty()
    }

    /// When something has to be done about it.
    pub(super) fn next_due(&self) -> Option<Time> {
        let trial = self.trial.as_ref().map(|trial| trial.resend);
        let decision = self.decision.as_ref().map(|decision| decision.next);
        let old = (!self.old.is_empty()).then_some(self.clear_at);
        [trial, decision, old].into_iter().flatten().min()
    }

    /// Moves a member of an attempt that is over to those that have to let go.
    pub(super) fn retire(&mut self, member: &Member, decision: &Decision, config: &Config) {
        let unstarted = decision.interval.start() + config.grace;
        let by_itself = member
            .permitted
            .map_or(unstarted, |until| until.max(unstarted));
        let gone = Old {
            node: member.node,
            through: decision.epoch,
            permitted: member.permitted,
            free_by: config.passed(by_itself),
        };
        match self.old.iter_mut().find(|old| old.node == member.node) {
            Some(old) => {
                old.through = old.through.max(gone.through);
                old.permitted = old.permitted.max(gone.permitted);
                old.free_by = old.free_by.max(gone.free_by);
            }
            None => self.old.push(gone),
        }
    }

    pub(super) fn record(&self) -> Saved {
        Saved {
            submitter: self.submitter,
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
        }
    }

    pub(super) fn restored(job: JobId, saved: Saved) -> Self {
        let mut task = Self::new(job, saved.submitter);
        task.spares = saved.spares;
        task.old = saved.old;
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

    /// Whether it cannot be counted on to answer.
    pub(super) fn is_silent(&self) -> bool {
        self.ended.is_none() && (!self.committed || self.unanswered > 0)
    }
}

impl Decision {
    pub(super) fn member_mut(&mut self, node: NodeId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.node == node)
    }

    /// Who has not confirmed the commit.
    pub(super) fn missing(&self) -> impl Iterator<Item = NodeId> + '_ {
        let missing = self.members.iter().filter(|member| !member.committed);
        missing.map(|member| member.node)
    }

    /// Whether everyone has confirmed the commit.
    pub(super) fn is_committed(&self) -> bool {
        self.missing().next().is_none()
    }

    /// Of the members that have not ended, the one whose time ends first; of equals, the first.
    pub(super) fn next_to_end(&self) -> Option<&Member> {
        let open = self.members.iter().filter(|member| member.ended.is_none());
        open.min_by_key(|member| member.end)
    }

    /// When the next member must have ended, or have let go, and word of it must have come.
    pub(super) fn closes(&self, config: &Config) -> Time {
        let end = self
            .next_to_end()
            .map_or(self.interval.end(), |member| member.end);
        end + config.max_skew + config.patience()
    }

    /// Without renewals there is nothing to do before then.
    pub(super) fn rest(&mut self, config: &Config) {
        if config.permission == Permission::UntilEnd
            && self.stage == Stage::Standing
            && !self.waits_for_permission()
        {
            self.next = self.closes(config);
        }
    }

    /// Whether everyone has done the job.
    pub(super) fn is_done(&self) -> bool {
        let done = |member: &Member| member.ended == Some(Outcome::Done);
        self.members.iter().all(done)
    }

    /// A node on which the job broke.
    pub(super) fn broken_on(&self) -> Option<NodeId> {
        let broke = |member: &&Member| member.ended == Some(Outcome::Broke);
        self.members.iter().find(broke).map(|member| member.node)
    }

    /// Whether everyone has committed and this life has let nobody start yet.
    pub(super) fn waits_for_permission(&self) -> bool {
        let permitted = |member: &Member| member.permitted.is_some();
        self.stage == Stage::Standing && (self.resumed || !self.members.iter().any(permitted))
    }

    /// From when on it may be permitted to start.
    pub(super) fn opens(&self, config: &Config) -> Time {
        self.interval.start() - config.ahead()
    }

    /// Whether nobody may start before everyone has committed. What an earlier life permitted is not known.
    pub(super) fn keeps_the_barrier(&self) -> bool {
        self.is_committed()
            || self.resumed
            || self.members.iter().all(|member| member.permitted.is_none())
    }

    /// Takes up an attempt from disk: everyone is told again. If its start is near, the earlier life may have permitted it.
    pub(super) fn resume(&mut self, now: Time, config: &Config) {
        let start = self.interval.start();
        let until = if start <= now {
            // Until then it may run without a word from us.
            let ends = self.members.iter().map(|member| member.end);
            config.permitted(now, ends.max().unwrap_or(self.interval.end()))
        } else {
            // As long as it takes to lose one that does not answer.
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

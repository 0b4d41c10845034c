//! Watches over an attempt that was decided on: until all members have committed, then until its start and its end.

use alloc::vec::Vec;

use super::task::{Candidate, Decision, Member, Purpose, Stage, Task};
use super::{Message, Notice, Setback, Work};
use crate::commit::Standing;
use crate::id::{Epoch, NodeId};
use crate::job::Outcome;
use crate::schedule::Attempt;
use crate::time::Time;

impl Work {
    pub(super) fn on_committed(&mut self, task: &mut Task, node: NodeId, epoch: Epoch) {
        let job = task.job;
        let Some(decision) = task.decision_mut(epoch) else {
            // The attempt is over.
            let through = epoch;
            self.send(node, Message::Release { job, through });
            return;
        };
        if let Some(member) = decision.member_mut(node) {
            member.committed = true;
            member.unanswered = 0;
            // A node that commits lets go of all earlier attempts. The one that is swapped for this one has not begun there;
            // of another one that was permitted, the node is still asked whether it had.
            let swapped = decision.swapped;
            task.old.retain(|old| {
                let may_have_begun =
                    old.permitted.is_some() && !old.told && swapped != Some(old.since);
                old.node != node || old.through >= epoch || may_have_begun
            });
        }
        self.stand_if_committed(task);
    }

    /// If all members have committed, tells so, releases earlier attempts, and permits the start when it is safe.
    fn stand_if_committed(&mut self, task: &mut Task) {
        let job = task.job;
        let committing =
            |decision: &&mut Decision| matches!(decision.stage, Stage::Committing { .. });
        let decision = task.decision.as_mut().filter(committing);
        if let Some(decision) = decision.filter(|decision| decision.is_committed()) {
            decision.stage = Stage::Standing;
            let placement = decision.placement();
            self.notify(Notice::Placed { job, placement });
            // Only now: until here, the earlier attempt was all the job had.
            self.release_old(task);
            self.permit_when_safe(task);
        }
    }

    /// Ends a job that all nodes have done.
    fn finish(&mut self, task: &mut Task) {
        let job = task.job;
        task.decision = None;
        task.candidates.clear();
        task.forget_slipped();
        if let Some(trial) = task.trial.take() {
            self.abort(task, &trial);
        }
        self.notify(Notice::Finished { job });
    }

    pub(super) fn on_expired(&mut self, task: &mut Task, node: NodeId, epoch: Epoch) {
        let member = |decision: &mut Decision| {
            decision
                .member_mut(node)
                .is_some_and(|member| member.ended.is_none())
        };
        if task.decision_mut(epoch).is_some_and(member) {
            self.fail_attempt(task, Setback::Expired { node });
        }
    }

    /// Lets the job start, or run on, if its time is near and no earlier attempt can still run.
    pub(super) fn permit_when_safe(&mut self, task: &mut Task) {
        let (now, config) = (self.now, self.config);
        let Some(decision) = task.decision.as_mut() else {
            return;
        };
        let waits = decision.waits_for_permission();
        if waits && now < decision.opens(&config) {
            self.look_after(task);
            return;
        }
        let permitted = task.old.iter().filter_map(|old| old.permitted);
        let lapses = permitted.map(|until| config.passed(until));
        match lapses.max().filter(|lapse| *lapse > now) {
            Some(lapse) if waits && !canary!(EarlierPermissionsIgnored) => {
                decision.next = lapse.min(decision.closes(&config));
            }
            _ => {
                self.note_slipped(task);
                match task.slipped {
                    Some(node) if waits => self.fail_attempt(task, Setback::Lost { node }),
                    _ => self.permit(task),
                }
            }
        }
    }

    /// Asks for signs of life long before the start, by permissions that permit nothing.
    fn look_after(&mut self, task: &mut Task) {
        let job = task.job;
        let Some(decision) = task.decision.as_mut() else {
            return;
        };
        let opens = decision.opens(&self.config);
        decision.next = opens;
        let Some(renewal) = self.config.renewal() else {
            return;
        };
        let (left, after) = (opens - self.now, self.now + renewal);
        // Two questions are at least a renewal apart: the answer to the first may be on its way.
        if left < renewal {
            return;
        }
        if opens - after >= renewal {
            decision.next = after;
        }
        let epoch = decision.epoch;
        let attempt = Attempt::new(job, epoch);
        let until = None;
        let open = |member: &&mut Member| member.ended.is_none();
        for member in decision.members.iter_mut().filter(open) {
            member.unanswered = member.unanswered.saturating_add(1);
            let permit = Message::Permit { attempt, until };
            self.outs.push(super::Out::Send(member.node, permit));
        }
    }

    pub(super) fn permit(&mut self, task: &mut Task) {
        let job = task.job;
        let Some(decision) = task.decision.as_mut() else {
            return;
        };
        decision.resumed = false;
        let epoch = decision.epoch;
        let attempt = Attempt::new(job, epoch);
        for member in decision
            .members
            .iter_mut()
            .filter(|member| member.ended.is_none())
        {
            let until = Some(self.config.permitted(self.now, member.end));
            member.permitted = member.permitted.max(until);
            member.unanswered = member.unanswered.saturating_add(1);
            self.outs.push(super::Out::Send(
                member.node,
                Message::Permit { attempt, until },
            ));
        }
        decision.next = match self.config.renewal() {
            Some(renewal) => self.now + renewal,
            None => decision.closes(&self.config),
        };
    }

    pub(super) fn on_query(&mut self, task: &mut Task, node: NodeId, epoch: Epoch) {
        let (job, now, config) = (task.job, self.now, self.config);
        let Some(decision) = task.decision_mut(epoch) else {
            // An unknown attempt was aborted, or is over.
            let through = epoch;
            self.send(node, Message::Release { job, through });
            return;
        };
        // No answer before all members have committed and this life has permitted the start.
        if decision.stage != Stage::Standing || decision.waits_for_permission() {
            return;
        }
        if let Some(member) = decision.member_mut(node) {
            let until = Some(config.permitted(now, member.end));
            member.permitted = member.permitted.max(until);
            let attempt = Attempt::new(job, epoch);
            self.send(node, Message::Permit { attempt, until });
        }
    }

    /// A node asks to run the job until `until`, beyond the agreed end. The time is free there.
    pub(super) fn on_extend(&mut self, task: &mut Task, node: NodeId, epoch: Epoch, until: Time) {
        let (now, config) = (self.now, self.config);
        let standing = |decision: &&mut Decision| {
            decision.stage == Stage::Standing && !decision.waits_for_permission()
        };
        if let Some(decision) = task.decision_mut(epoch).filter(standing) {
            let committed = decision.interval.end();
            let Some(member) = decision.member_mut(node) else {
                return;
            };
            // If the time is over by this clock, it may be over by the clock of the node, and word of that on its way.
            if member.ended.is_some() || member.end <= now {
                return;
            }
            if until > member.end {
                if config.extended(committed, member.end) != Some(until) {
                    return;
                }
                member.end = until;
                member.unanswered = 0;
                decision.rest(&config);
                // On disk before it is permitted, so that a later life knows until when the node may run.
                if !canary!(ExtensionInMemory) {
                    self.persist(task);
                }
            }
        }
        self.on_query(task, node, epoch);
    }

    pub(super) fn on_alive(
        &mut self,
        task: &mut Task,
        node: NodeId,
        epoch: Epoch,
        standing: Standing,
    ) {
        let Some(decision) = task.decision_mut(epoch) else {
            return;
        };
        let Some(member) = decision.member_mut(node) else {
            return;
        };
        member.unanswered = 0;
        let open = member.ended.is_none();
        if standing == Standing::Gone && open && decision.stage != Stage::Broken {
            self.lose(task, node);
        } else {
            self.decide_if_ready(task);
        }
    }

    /// Handles the loss of a node. If the attempt stood, and no trial is open, tries a spare; else fails the attempt.
    fn lose(&mut self, task: &mut Task, node: NodeId) {
        let lead = self.config.lead;
        let Some(decision) = task.decision.as_mut() else {
            return;
        };
        let stood = decision.stage == Stage::Standing || decision.resumed;
        if stood && task.trial.is_none() {
            decision.stage = Stage::Broken;
            // If no spare has replaced the node by then, the attempt is over.
            decision.next = decision.interval.start() - lead;
            self.replace(task, node);
        } else {
            self.fail_attempt(task, Setback::Lost { node });
        }
    }

    /// The trial with a spare has failed. Tries the next spare, unless the trial failed because of a surviving member.
    pub(super) fn replace_again(&mut self, task: &mut Task, lost: NodeId, setback: Setback) {
        let hopeless = match setback {
            // At this time the earlier attempt is in the way of any spare.
            Setback::Earlier { .. } => true,
            _ => setback.node().is_some_and(|node| task.is_member(node)),
        };
        if hopeless {
            self.fail_attempt(task, setback);
        } else {
            self.replace(task, lost);
        }
    }

    /// Tries the same time with a spare node in place of a lost one.
    fn replace(&mut self, task: &mut Task, lost: NodeId) {
        let Some(decision) = task.decision.as_ref() else {
            return;
        };
        let interval = decision.interval;
        let mut nodes: Vec<NodeId> = decision.members.iter().map(|member| member.node).collect();
        let in_time = interval.start() >= self.now + self.config.lead;
        task.spares.retain(|spare| !nodes.contains(spare));
        let place = nodes.iter_mut().find(|node| **node == lost);
        let spare = in_time.then(|| task.spares.pop()).flatten();
        match (place, spare) {
            (Some(place), Some(spare)) => {
                *place = spare;
                let candidate = Candidate { interval, nodes };
                self.try_candidate(task, &candidate, Purpose::Replace { lost });
            }
            _ => self.fail_attempt(task, Setback::Lost { node: lost }),
        }
    }

    pub(super) fn on_ended(
        &mut self,
        task: &mut Task,
        node: NodeId,
        epoch: Epoch,
        outcome: Outcome,
    ) {
        let job = task.job;
        if let Some(decision) = task.decision_mut(epoch)
            && let Some(member) = decision.member_mut(node)
        {
            let is_news = member.ended != Some(outcome);
            member.ended = Some(outcome);
            member.committed = true;
            let all = decision.is_done() || canary!(DoneWhenOneIs);
            if is_news {
                self.persist(task);
            }
            if let Some(setback) = Setback::after(outcome, node) {
                self.fail_attempt(task, setback);
                return;
            }
            if all {
                self.finish(task);
            } else {
                if let Some(decision) = task.decision.as_mut() {
                    decision.rest(&self.config);
                }
                self.stand_if_committed(task);
            }
        }
        // After this answer the node may forget the job.
        let through = epoch;
        self.send(node, Message::Release { job, through });
    }

    pub(super) fn attend_attempt(&mut self, task: &mut Task) {
        let Some(decision) = task.decision.as_ref() else {
            return;
        };
        let attempt = task.attempt(decision.epoch);
        let open = |decision: &Decision| {
            let open = decision.next_to_end().or(decision.members.first());
            open.map(|member| member.node)
        };
        match decision.stage {
            // An earlier life wrote the end down, and crashed before it told so.
            Stage::Committing { .. } if decision.is_done() => self.finish(task),
            Stage::Committing { since, until } => {
                if let Some(setback) = decision.failed() {
                    return self.fail_attempt(task, setback);
                }
                let missing: Vec<NodeId> = decision.missing().collect();
                match missing.first() {
                    // The node may have committed in an earlier life, so it counts as lost.
                    Some(&node) if until <= self.now && decision.resumed => self.lose(task, node),
                    Some(&node) if until <= self.now => {
                        self.fail_attempt(task, Setback::Silent { node });
                    }
                    _ => {
                        let members = decision.roster();
                        for node in missing {
                            let members = members.clone();
                            self.send(node, Message::Commit { attempt, members });
                        }
                        let again = self.again(since).min(until);
                        if let Some(decision) = task.decision.as_mut() {
                            decision.next = again;
                        }
                    }
                }
            }
            Stage::Standing => {
                let limit = self.config.retries;
                let is_silent =
                    |member: &&Member| member.ended.is_none() && member.unanswered > limit;
                let silent = decision
                    .members
                    .iter()
                    .find(is_silent)
                    .map(|member| member.node);
                let over = decision.closes(&self.config) <= self.now;
                match (silent, open(decision)) {
                    (Some(node), _) => self.lose(task, node),
                    // The reservation is over: a member that has not told of its end by now counts as lost.
                    (None, Some(node)) if over => self.fail_attempt(task, Setback::Lost { node }),
                    _ => self.permit_when_safe(task),
                }
            }
            Stage::Broken => {
                if let Some(node) = open(decision) {
                    self.fail_attempt(task, Setback::Lost { node });
                }
            }
        }
    }
}

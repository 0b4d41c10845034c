//! Frees what is left of attempts that are over. The job may run on a node until the node has let go, or must have.

use super::task::{Decision, Old, Task};
use super::{Message, Notice, Setback, Work};
use crate::id::{Epoch, NodeId};

impl Work {
    /// Gives up what is committed, and tries the next candidate.
    pub(super) fn fail_attempt(&mut self, task: &mut Task, setback: Setback) {
        self.trace(task, setback);
        if let Some(trial) = task.trial.take() {
            self.abort(task, &trial);
        }
        let may_have_run = |decision: &Decision| decision.may_have_run(self.now, &self.config);
        let slipped = task.slipped.take();
        let has_run = slipped.is_some() || task.decision.as_ref().is_some_and(may_have_run);
        task.old.iter_mut().for_each(|old| old.told |= has_run);
        self.retire_attempt(task, has_run);
        if has_run {
            // The host decides whether the job runs again.
            task.candidates.clear();
            let job = task.job;
            self.notify(Notice::Unplaced {
                job,
                setback,
                may_have_run: true,
            });
        } else {
            self.try_next(task, setback);
        }
    }

    /// Gives the job up: aborts its trial, frees its committed time, and drops its candidates.
    pub(super) fn give_up(&mut self, task: &mut Task) {
        task.candidates.clear();
        if let Some(trial) = task.trial.take() {
            self.abort(task, &trial);
        }
        self.retire_attempt(task, true);
        task.forget_slipped();
        // The host waits for `Cleared`, even if it was told so before.
        task.is_cleared = false;
        self.tell_if_cleared(task);
    }

    pub(super) fn retire_attempt(&mut self, task: &mut Task, told: bool) {
        let Some(decision) = task.decision.take() else {
            return;
        };
        for member in &decision.members {
            task.retire(member, &decision, told, &self.config);
        }
        // On disk before any node is told, so that a later life does not take the attempt up again.
        self.persist(task);
        self.release_old(task);
    }

    /// Asks all nodes that are left of earlier attempts to let go.
    pub(super) fn release_old(&mut self, task: &mut Task) {
        task.clear_since = self.now;
        self.release_again(task);
    }

    fn release_again(&mut self, task: &mut Task) {
        let (now, config) = (self.now, self.config);
        // Wake also when a permission ends or a node lets go by itself: a later attempt or the host may wait for that.
        let permitted = task.old.iter().filter_map(|old| old.permitted);
        let lapses = permitted.map(|until| config.passed(until));
        let ends = lapses.chain(task.old.iter().map(|old| old.free_by));
        let next = ends.filter(|end| *end > now).min();
        let again = self.again(task.clear_since);
        task.clear_at = next.map_or(again, |next| next.min(again));
        let job = task.job;
        for old in &task.old {
            let through = old.through;
            self.send(old.node, Message::Release { job, through });
        }
    }

    /// Repeats the request to nodes that have not answered. Nodes that must have let go by now are dropped.
    pub(super) fn clear_again(&mut self, task: &mut Task) {
        let now = self.now;
        let before = task.old.len();
        self.note_slipped(task);
        task.old.retain(|old| old.free_by > now);
        if task.old.len() < before {
            self.persist(task);
        }
        // While a later attempt is not committed everywhere, the earlier one is kept.
        let standing = task.decision.as_ref().is_none_or(Decision::is_committed);
        if standing {
            self.release_again(task);
        } else {
            task.clear_at = self.later();
        }
        self.permit_if_waiting(task);
        self.tell_if_cleared(task);
    }

    /// Notes that an earlier attempt may have run, if a node never let go before its permission had ended.
    pub(super) fn note_slipped(&self, task: &mut Task) {
        let slips = |old: &&mut Old| old.has_slipped(self.now, &self.config);
        for old in task.old.iter_mut().filter(slips) {
            old.told = true;
            task.slipped = Some(old.node);
        }
    }

    /// Tells that no node has the job, if the remaining nodes had time for all retries and cannot start it any more.
    fn tell_if_cleared(&mut self, task: &mut Task) {
        let (now, config) = (self.now, self.config);
        let idle = task.trial.is_none() && task.decision.is_none();
        let asked = now - task.clear_since >= config.patience();
        let can_start = |old: &Old| old.permitted.map(|until| config.passed(until)) > Some(now);
        if idle && asked && !task.is_cleared && !task.is_over() && !task.old.iter().any(can_start) {
            let job = task.job;
            task.is_cleared = true;
            self.notify(Notice::Cleared { job });
        }
    }

    pub(super) fn on_released(
        &mut self,
        task: &mut Task,
        node: NodeId,
        through: Epoch,
        began: Option<Epoch>,
    ) {
        let before = task.old.len();
        let is_free = |old: &Old| old.node == node && old.through <= through;
        // A node may have begun before the request arrived.
        let begun = |old: &Old| is_free(old) && !old.told && began >= Some(old.since);
        if task.old.iter().any(begun) {
            task.slipped = Some(node);
        }
        task.old.retain(|old| !is_free(old));
        if task.old.len() < before {
            self.persist(task);
            self.permit_if_waiting(task);
            self.decide_if_ready(task);
        }
    }

    fn permit_if_waiting(&mut self, task: &mut Task) {
        let waits = |decision: &Decision| {
            decision.waits_for_permission() && decision.opens(&self.config) <= self.now
        };
        if task.decision.as_ref().is_some_and(waits) {
            self.permit_when_safe(task);
        }
    }
}

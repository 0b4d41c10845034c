//! Asks nodes to hold time, and decides.

use super::task::{Candidate, Decision, Member, Purpose, Stage, Task, Trial, Voter};
use super::{Message, Notice, Refused, Setback, Work};
use crate::id::{Epoch, NodeId};
use crate::time::{Span, Time};

impl Work {
    /// Tries the next candidate that starts late enough and is without the culprit. If there is none, tells that the job
    /// has no time.
    pub(super) fn try_next(&mut self, task: &mut Task, setback: Setback) {
        let job = task.job;
        let (culprit, soonest) = (setback.culprit(), self.now + self.config.lead);
        task.candidates.retain(|candidate| {
            candidate.interval.start() >= soonest
                && culprit.is_none_or(|node| !candidate.nodes.contains(&node))
        });
        match task.candidates.pop() {
            Some(candidate) => self.try_candidate(task, &candidate, Purpose::Place),
            None => self.notify(Notice::Unplaced {
                job,
                setback,
                may_have_run: false,
            }),
        }
    }

    pub(super) fn try_candidate(
        &mut self,
        task: &mut Task,
        candidate: &Candidate,
        purpose: Purpose,
    ) {
        if canary!(ReleasedBeforeLocked) {
            self.retire_attempt(task, false);
        }
        let voters = candidate.nodes.iter();
        let mut trial = Trial {
            epoch: self.next_epoch(),
            interval: candidate.interval,
            voters: voters.map(|&node| Voter { node, lease: None }).collect(),
            began: self.now,
            resend: self.later(),
            left: self.config.retries,
            purpose,
        };
        trial.resend = trial.resend.min(self.closes(&trial));
        self.ask(task, &trial);
        task.trial = Some(trial);
    }

    /// Asks all voters that have not answered.
    fn ask(&mut self, task: &Task, trial: &Trial) {
        let message = Message::Prepare {
            attempt: task.attempt(trial.epoch),
            interval: trial.interval,
            lease: self.config.lease,
            submitter: task.submitter,
            needs: task.needs.clone(),
            payload: task.payload.clone(),
        };
        for voter in trial.voters.iter().filter(|voter| voter.lease.is_none()) {
            self.send(voter.node, message.clone());
        }
    }

    /// From when on a trial cannot be decided on any more: its leases would end before a commit arrives.
    fn closes(&self, trial: &Trial) -> Time {
        if canary!(DecidedWithoutLeases) {
            return Time::MAX;
        }
        // The lease of a voter that has not answered counts from the first question, too.
        let leases = trial.voters.iter().filter_map(|voter| voter.lease);
        let lease = leases.fold(trial.began + self.config.lease, Time::min);
        lease - self.config.max_delay.times(2)
    }

    /// Asks once more, or fails the trial.
    pub(super) fn ask_again(&mut self, task: &mut Task, mut trial: Trial) {
        let closes = self.closes(&trial);
        if let Some(left) = trial.left.checked_sub(1)
            && self.now < closes
        {
            trial.left = left;
            trial.resend = self.later().min(closes);
            self.ask(task, &trial);
            task.trial = Some(trial);
            return;
        }
        let silent = trial.voters.iter().filter(|voter| voter.lease.is_none());
        // A silent member of the attempt that was decided on comes first: without it no spare helps.
        let silent = silent.min_by_key(|voter| !task.is_member(voter.node));
        let setback = match (silent, self.in_the_way(task, &trial)) {
            (Some(voter), _) => Setback::Silent { node: voter.node },
            (None, Some(until)) => Setback::Earlier { until },
            (None, None) => Setback::Slow,
        };
        self.fail_trial(task, &trial, setback);
    }

    pub(super) fn on_prepared(&mut self, task: &mut Task, node: NodeId, epoch: Epoch, lease: Span) {
        let attempt = task.attempt(epoch);
        // All nodes have one configuration. A shorter lease would end the trial, and let others look silent.
        let is_shorter = lease < self.config.lease;
        let refuses = |trial: &mut Trial| is_shorter && trial.is_asked(node, epoch);
        if let Some(trial) = task.trial.take_if(refuses) {
            self.fail_trial(task, &trial, Setback::Expired { node });
            return;
        }
        let Some(trial) = task.trial.as_mut().filter(|trial| trial.epoch == epoch) else {
            // The trial is over. If it was not decided on, the hold is not needed.
            if task
                .decision
                .as_ref()
                .is_none_or(|decision| decision.epoch != epoch)
            {
                self.send(node, Message::Abort { attempt });
            }
            return;
        };
        let began = trial.began;
        if let Some(voter) = trial.voters.iter_mut().find(|voter| voter.node == node) {
            // The lease began no earlier than the first question, so it lasts at least until `began + lease`.
            let lease = began + lease;
            voter.lease = Some(voter.lease.map_or(lease, |known| known.min(lease)));
        }
        trial.resend = trial.resend.min(self.closes(trial));
        self.decide_if_ready(task);
    }

    /// Decides if all voters hold their time and no earlier attempt is in the way.
    pub(super) fn decide_if_ready(&mut self, task: &mut Task) {
        let ready = |trial: &Trial| {
            trial.voters.iter().all(|voter| voter.lease.is_some())
                && self.in_the_way(task, trial).is_none()
        };
        if task.trial.as_ref().is_some_and(ready)
            && let Some(trial) = task.trial.take()
        {
            self.decide(task, &trial);
        }
    }

    /// When earlier attempts have surely ended on the nodes that may not let go, if that is too late to permit this
    /// attempt in time.
    fn in_the_way(&self, task: &Task, trial: &Trial) -> Option<Time> {
        if canary!(EarlierPermissionsIgnored) {
            return None;
        }
        // A node that commits to this attempt lets go of earlier ones.
        let votes = |node| trial.voters.iter().any(|voter| voter.node == node);
        let old = task.old.iter().filter(|old| !votes(old.node));
        let members = task.decision.iter().flat_map(|decision| &decision.members);
        let silent = members.filter(|member| member.is_silent() && !votes(member.node));
        let permitted = old.filter_map(|old| old.permitted);
        let permitted = permitted.chain(silent.filter_map(|member| member.permitted));
        let lapses = permitted.map(|until| self.config.passed(until));
        // The permission takes time to arrive, and the node judges it by its own clock.
        let travels = self.config.max_delay + self.config.max_skew;
        let grace = self.config.grace - travels;
        let last = trial.interval.start() + grace.max(Span::from_micros(1));
        lapses.max().filter(|until| last <= *until)
    }

    /// All voters hold their time: decides to commit, if there is time for it.
    fn decide(&mut self, task: &mut Task, trial: &Trial) {
        let worst = self.now + self.config.max_delay.times(2);
        let outlives = |voter: &Voter| voter.lease.is_some_and(|lease| lease > worst);
        let leases = trial.voters.iter().all(outlives) || canary!(DecidedWithoutLeases);
        // The earlier attempt must not be about to start either: it would have to be taken back.
        let soonest = self.now + self.config.lead;
        let earlier = task
            .decision
            .as_ref()
            .map(|decision| decision.interval.start());
        let in_time =
            trial.interval.start() >= soonest && earlier.is_none_or(|start| start >= soonest);
        if !(leases && in_time) {
            self.fail_trial(task, trial, Setback::Slow);
            return;
        }
        // A member of the earlier attempt may run it until it commits to this one, or is released when this one stands.
        let earlier = task.decision.take();
        if let Some(earlier) = &earlier {
            task.clear_at = self.later();
            for member in &earlier.members {
                task.retire(member, earlier, false, &self.config);
            }
        }
        let end = trial.interval.end();
        let voters = trial.voters.iter();
        let decision = Decision {
            epoch: trial.epoch,
            interval: trial.interval,
            members: voters.map(|voter| Member::new(voter.node, end)).collect(),
            // A node that is silent for longer has lost its lease, or is lost. There may be time for another candidate.
            stage: Stage::Committing {
                since: self.now,
                until: (self.now + self.config.patience())
                    .min(trial.interval.start() + self.config.grace),
            },
            next: self.later(),
            resumed: false,
            swapped: earlier.map(|earlier| earlier.epoch),
        };
        let members = decision.roster();
        task.decision = Some(decision);
        // The commit point.
        if !canary!(DecisionInMemory) {
            self.persist(task);
        }
        let attempt = task.attempt(trial.epoch);
        for node in members.get().nodes() {
            let members = members.clone();
            self.send(*node, Message::Commit { attempt, members });
        }
        if canary!(BarrierSkipped) {
            self.permit(task);
        }
    }

    pub(super) fn on_refused(
        &mut self,
        task: &mut Task,
        node: NodeId,
        epoch: Epoch,
        mut setback: Setback,
    ) {
        if let Some(trial) = task.trial.take_if(|trial| trial.is_asked(node, epoch)) {
            let tolerated = self.config.lead + self.config.max_skew;
            let is_far = trial.interval.start() >= self.now + tolerated;
            if is_far
                && matches!(
                    setback,
                    Setback::Refused {
                        reason: Refused::TooLate,
                        ..
                    }
                )
            {
                setback = Setback::Clock { node };
            }
            self.fail_trial(task, &trial, setback);
        }
    }

    /// Frees what a trial holds, and goes on as its purpose says.
    fn fail_trial(&mut self, task: &mut Task, trial: &Trial, setback: Setback) {
        self.trace(task, setback);
        self.abort(task, trial);
        let job = task.job;
        match trial.purpose {
            Purpose::Place => self.try_next(task, setback),
            Purpose::Improve => {
                let setback = Some(setback);
                self.notify(Notice::Kept { job, setback });
            }
            Purpose::Replace { lost } => self.replace_again(task, lost, setback),
        }
    }

    /// Tells all voters that the trial has failed.
    pub(super) fn abort(&mut self, task: &Task, trial: &Trial) {
        let attempt = task.attempt(trial.epoch);
        if canary!(VotersNotTold) {
            return;
        }
        for voter in &trial.voters {
            self.send(voter.node, Message::Abort { attempt });
        }
    }
}

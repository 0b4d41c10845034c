//! A job that waits at its holder goes to another node.

use alloc::vec::Vec;

use super::super::message::{Answer, Message, Term};
use super::super::{Custody, TakenBack};
use super::{Progress, State};
use crate::id::{JobId, NodeId};
use crate::machine::Context;
use crate::trace::Trace;

impl Custody {
    /// An unreachable node takes no job: the jobs that were to go there are taken back.
    pub(in crate::custody) fn on_taker_unreachable(
        &mut self,
        node: NodeId,
        cx: &mut dyn Context<Self>,
    ) {
        let given = self
            .held
            .iter()
            .filter(|held| matches!(held.state, State::Giving { to, .. } if to == node));
        for job in given.map(|held| held.job.get().id).collect::<Vec<_>>() {
            self.take_back(job, cx);
        }
    }

    /// Gives a job that waits here to another node. The host has taken it out of its queue. The job does not start here
    /// before its home grants it again.
    pub(in crate::custody) fn give_away(
        &mut self,
        job: JobId,
        to: NodeId,
        carried: u32,
        cx: &mut dyn Context<Self>,
    ) {
        let (now, tries) = (cx.now(), self.tries());
        let Some(held) = self.held_mut(job).filter(|held| held.waits()) else {
            return;
        };
        held.tell_released(cx);
        held.carried = carried;
        held.state = State::Giving { to, tries };
        held.due = now;
        if !canary!(GivenInMemory) {
            Self::persist_progress(held, Progress::Given { to }, cx);
        }
        self.counts.moved = self.counts.moved.saturating_add(1);
        self.attend_held(job, cx);
    }

    pub(super) fn give(&mut self, job: JobId, to: NodeId, cx: &mut dyn Context<Self>) {
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let Some(term) = held.term.moved() else {
            self.let_go(job, cx);
            return;
        };
        let give = Message::Give {
            job: held.job.clone(),
            home: held.home,
            term,
            carried: held.carried,
            payload: held.payload.clone(),
        };
        cx.trace(Trace::Asks { job, peer: to });
        cx.send(to, give);
    }

    /// Handles the answer of a node to which this holder gave a job.
    pub(in crate::custody) fn on_taker_answer(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        answer: Answer,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let asked = matches!(held.state, State::Giving { to, .. } if to == from);
        if !asked || held.term.moved() != Some(term) {
            return;
        }
        match answer {
            Answer::Taken => {
                held.state = State::Given;
                let forget = cx.now() + self.config.lease + self.config.max_skew;
                self.wake_held(job, forget, cx);
            }
            Answer::NotTaken(why) => {
                let (peer, why) = (from, why.words());
                cx.trace(Trace::Refused { job, peer, why });
                self.take_back(job, cx);
            }
        }
    }

    /// No node took the job, as far as this holder knows. It claims the job under the very term under which it gave the
    /// job away: the home believes the first claim to a term.
    pub(super) fn take_back(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let claim = self.claim.next();
        let is_anew = self.taken_back == TakenBack::Anew && !canary!(TakenBackAsBefore);
        let Some(held) = self.held_mut(job) else {
            return;
        };
        let Some(term) = held.term.moved() else {
            self.let_go(job, cx);
            return;
        };
        held.term = term;
        if is_anew {
            held.claim = claim;
            // It has left the queue of a foreign site, and comes to its end.
            held.arrived = None;
        }
        held.lease = None;
        held.start = None;
        held.state = State::Claiming { tries: None };
        (held.since, held.due) = (now, now);
        Self::persist_progress(held, Progress::Here, cx);
        if is_anew {
            self.claim = claim;
        }
        self.attend_held(job, cx);
    }
}

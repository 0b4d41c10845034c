//! A home searches a node for a job, and gives it the job.

use alloc::vec::Vec;

use super::super::message::{Answer, Term};
use super::super::{Candidates, Custody, Notice};
use super::{Holding, Phase, Stage};
use crate::id::{JobId, NodeId};
use crate::job::{Failure, News, Refusal};
use crate::machine::Context;
use crate::shared::Shared;
use crate::time::Span;
use crate::trace::Trace;

impl Custody {
    /// Begins a search for a node that takes a job. If no search is left, the job fails.
    pub(super) fn seek(&mut self, job: JobId, attempt: u32, cx: &mut dyn Context<Self>) {
        let search = self.config.search;
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Some(left) = task.past.left.checked_sub(1) else {
            let failure = match task.past.told {
                Some(_) => Failure::NodeLost,
                None => Failure::Refused(task.why),
            };
            self.close(job, News::Failed(failure), cx);
            return;
        };
        task.past.left = left;
        task.phase = Phase::Seeking { attempt };
        let shared = task.job.clone();
        cx.trace(Trace::Searches { job });
        cx.notify(Notice::Seek {
            job: shared,
            attempt,
        });
        self.wake_task(job, cx.now() + search, cx);
    }

    /// These nodes may take a job, the best first: the answer to [`Notice::Seek`]. An empty list ends the search.
    pub(in crate::custody) fn found(
        &mut self,
        job: JobId,
        attempt: u32,
        candidates: Candidates,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let is_sought = task.phase == (Phase::Seeking { attempt });
        // Candidates may still come in the pause after a search.
        let rests = task.phase == (Phase::Pausing { attempt }) && !candidates.is_empty();
        if is_sought || rests {
            for &peer in &candidates {
                cx.trace(Trace::Offered { job, peer });
            }
            self.give_to_next(job, attempt, candidates, cx);
        }
    }

    /// An attempt that may have run has failed: the job is placed again if its policy allows that, or fails.
    pub(super) fn run_again(
        &mut self,
        job: JobId,
        attempt: u32,
        why: Failure,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let policy = task.job.get().retry;
        let again = policy.after(why);
        cx.trace(Trace::Failed {
            job,
            peer: None,
            why: why.words(),
        });
        match again.or(canary!(RunsAgainUnasked).then_some(policy)) {
            Some(retry) => {
                let mut less = *task.job.get();
                less.retry = retry;
                task.job = Shared::new(less);
                self.place_again(job, attempt, cx);
            }
            None => self.close(job, News::Failed(why), cx),
        }
    }

    /// The holder of a job is lost, or let it go: searches for another one.
    pub(super) fn place_again(&mut self, job: JobId, attempt: u32, cx: &mut dyn Context<Self>) {
        self.counts.placed_again = self.counts.placed_again.saturating_add(1);
        if let Some(task) = self.task_mut(job) {
            let past = task.past;
            task.persist(Stage::Open { attempt, past }, cx);
            self.seek(job, attempt, cx);
        }
    }

    /// Gives a job to the first candidate. If there is none, pauses before the next search.
    pub(super) fn give_to_next(
        &mut self,
        job: JobId,
        attempt: u32,
        mut candidates: Candidates,
        cx: &mut dyn Context<Self>,
    ) {
        let (tries, rounds, pause) = (self.tries(), self.config.rounds, self.config.pause);
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Some(to) = candidates.remove(0) else {
            task.phase = Phase::Pausing { attempt };
            let before = rounds
                .saturating_sub(task.past.left)
                .saturating_sub(1)
                .min(16);
            let wait = match task.past.left {
                0 => Span::ZERO,
                _ => pause.times(1_u64 << before),
            };
            self.wake_task(job, now + wait, cx);
            return;
        };
        let Some(attempt) = attempt.checked_add(1) else {
            self.close(job, News::Failed(Failure::NodeLost), cx);
            return;
        };
        let (term, past) = (task.term(attempt), task.past);
        task.phase = Phase::Giving {
            term,
            to,
            tries,
            others: candidates,
        };
        task.due = now;
        let holding = Holding::given(term, to);
        task.persist(Stage::Given { holding, past }, cx);
        self.attend_task(job, cx);
    }

    /// A candidate does not take a job: asks the next one.
    fn not_taken(
        &mut self,
        from: NodeId,
        job: JobId,
        refused: Term,
        (refusal, trace): (Refusal, Trace),
        cx: &mut dyn Context<Self>,
    ) {
        if let Some(task) = self.task_mut(job)
            && let Phase::Giving {
                term, to, others, ..
            } = &mut task.phase
            && (*to, *term) == (from, refused)
        {
            let (attempt, others) = (term.attempt, core::mem::take(others));
            task.why = refusal;
            cx.trace(trace);
            self.give_to_next(job, attempt, others, cx);
        }
    }

    /// An unreachable node takes nothing: asks the next candidate. The node may still have jobs that it took before.
    pub(in crate::custody) fn on_candidate_unreachable(
        &mut self,
        node: NodeId,
        cx: &mut dyn Context<Self>,
    ) {
        let waiting = self.tasks.iter().filter_map(|task| match task.phase {
            Phase::Giving { to, term, .. } if to == node => Some((task.job.get().id, term)),
            _ => None,
        });
        for (job, term) in waiting.collect::<Vec<_>>() {
            let (peer, why) = (Some(node), "it cannot be reached");
            let trace = Trace::Failed { job, peer, why };
            self.not_taken(node, job, term, (Refusal::NoAnswer, trace), cx);
        }
    }

    /// Handles the answer of a candidate. A candidate that takes the job reports to this home, so only a no is news.
    pub(in crate::custody) fn on_candidate_answer(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        answer: Answer,
        cx: &mut dyn Context<Self>,
    ) {
        if let Answer::NotTaken(why) = answer {
            let (peer, refusal, why) = (from, why.refusal(), why.words());
            let trace = Trace::Refused { job, peer, why };
            self.not_taken(from, job, term, (refusal, trace), cx);
        }
    }
}

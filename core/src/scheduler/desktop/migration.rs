//! Internode scheduling: a waiting job goes where it can start at once (P4 section IV.B; PROTOCOLS L1, L3, L5 to L8).

use alloc::vec::Vec;

use super::message::{Message, MoveTo};
use super::running::carry;
use super::status::Status;
use super::{Desktop, Direction, Shared};
use crate::custody::Command;
use crate::id::{JobId, NodeId};
use crate::machine::Context;
use crate::queue::Waiting;
use crate::resource::{Pool, Requirement};
use crate::sorted::SortedMap;
use crate::time::{Span, Time};

/// The most jobs that are offered at once, and the most that are promised.
const MOST: usize = 64;

/// The most neighbours for which a node remembers when it asked them.
const MOST_ASKED: usize = crate::overlay::can::MOST_NEIGHBOURS;

/// How long an offer or a promise lasts, and how long a node waits for the answer to a pull.
const STANDS: Span = Span::from_secs(5);

/// The offers, promises and pulls of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Migration {
    /// Waiting jobs that peers were asked to take, each until its offer ends.
    offered: Vec<(JobId, NodeId, MoveTo, Time)>,
    /// Jobs that this node has agreed to start.
    pub(super) promises: Vec<Promise>,
    /// The peer that was asked for a job and has not answered, and until when this node waits.
    pulling: Option<(NodeId, Time)>,
    /// When this node asked each neighbour for a job.
    asked: SortedMap<NodeId, Time>,
    /// Whether a job has ended here since the last [`Gather`](super::Gather).
    pub(super) freed: bool,
}

/// Room kept for a job that is to arrive.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Promise {
    pub(super) job: JobId,
    needs: Requirement,
    until: Time,
}

impl Migration {
    pub(super) fn is_sound(&self) -> bool {
        self.offered.len() <= MOST && self.promises.len() <= MOST && self.asked.len() <= MOST_ASKED
    }

    pub(super) const fn awaits_answers(&self) -> bool {
        !self.offered.is_empty() || !self.promises.is_empty() || self.pulling.is_some()
    }

    fn is_offered(&self, job: JobId) -> bool {
        self.offered.iter().any(|(offered, ..)| *offered == job)
    }

    fn forget(&mut self, now: Time) {
        self.offered.retain(|(.., until)| *until > now);
        self.promises.retain(|promise| promise.until > now);
        self.pulling
            .take_if(|(_, until)| *until <= now && !canary!(PullNotForgotten));
    }

    fn asked_at(&self, node: NodeId) -> Option<Time> {
        self.asked.get(&node).copied()
    }

    fn note_asked(&mut self, node: NodeId, at: Time) {
        if self.asked.len() >= MOST_ASKED && !self.asked.contains_key(&node) {
            self.asked.clear();
        }
        self.asked.insert(node, at);
    }
}

impl<const D: usize> Desktop<D> {
    /// What is free here and not promised to a job.
    fn room(&self) -> Pool {
        let mut pool = self.queue.pool().clone();
        for promise in &self.migration.promises {
            let _ = pool.take(&promise.needs);
        }
        pool
    }

    /// Whether a job from elsewhere could start here at once.
    pub(super) fn could_start(&self, job: &Waiting) -> bool {
        let mut room = self.queue.pool().clone();
        for promise in &self.migration.promises {
            if promise.job != job.job {
                let _ = room.take(&promise.needs);
            }
        }
        job.passed >= self.queue.head_passed() && room.fits(&job.requirement)
    }

    /// Whether a peer was asked to take this waiting job.
    pub(super) fn is_offered(&self, job: JobId) -> bool {
        self.migration.is_offered(job)
    }

    /// Gives up offers, promises and pulls whose time is over.
    pub(super) fn forget_questions(&mut self, now: Time) {
        self.migration.forget(now);
    }

    /// A round of internode scheduling.
    pub(super) fn migrate(&mut self, cx: &mut dyn Context<Self>) {
        match self.config.scheduling.internode {
            Some(Direction::Push) => self.push(cx),
            Some(Direction::Pull) => self.pull(cx),
            None => {}
        }
        if !self.duty.takes_jobs() {
            self.give_all_away(cx);
        }
    }

    /// Offers each waiting job, in order, to the neighbour that it fills best; at most one to each neighbour (L7).
    fn push(&mut self, cx: &mut dyn Context<Self>) {
        let mut targets: Vec<NodeId> = Vec::new();
        for job in self.queue.waiting().to_vec() {
            if self.migration.is_offered(job.job) {
                continue;
            }
            let others = self.known.iter().filter(|(id, _)| !targets.contains(id));
            let best = others
                .filter_map(|(id, status)| Some((self.fill(&job, status)?, id)))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            if let Some((_, to)) = best {
                targets.push(to);
                self.offer(job, to, MoveTo::Start, cx);
            }
        }
    }

    /// P4's formula (3): how well a job fills a node, by the node's speed. `None` if it could not start there at once.
    fn fill(&self, job: &Waiting, status: &Status) -> Option<f64> {
        let dimensions = self.dimensions();
        let fits = dimensions.matches(&status.free, &job.requirement);
        if !fits || job.passed < status.head_passed {
            return None;
        }
        let pool = Pool::with_free(dimensions.clone(), status.total, status.free).ok()?;
        let score = pool.score(&job.requirement)?.product();
        Some(score / f64::from(status.speed.as_millionths().get()))
    }

    /// Asks a peer to take a waiting job.
    pub(super) fn offer(
        &mut self,
        waiting: Waiting,
        to: NodeId,
        move_to: MoveTo,
        cx: &mut dyn Context<Self>,
    ) {
        if self.migration.offered.len() < MOST {
            let until = cx.now() + STANDS;
            self.migration
                .offered
                .push((waiting.job, to, move_to, until));
            cx.send(to, Message::Offer { waiting, move_to });
        }
    }

    /// Answers an offer, and promises room if the job is to start here.
    pub(super) fn on_offer(
        &mut self,
        from: NodeId,
        waiting: &Waiting,
        move_to: MoveTo,
        cx: &mut dyn Context<Self>,
    ) {
        self.migration.forget(cx.now());
        let has_room = self.duty.takes_jobs() && self.migration.promises.len() < MOST;
        let takes = has_room
            && !self.runs.has(waiting.job)
            && match move_to {
                MoveTo::Start => self.could_start(waiting),
                MoveTo::Wait => self.queue.pool().suits(&waiting.requirement),
            };
        if takes && move_to == MoveTo::Start {
            self.migration.promises.retain(|it| it.job != waiting.job);
            self.migration.promises.push(Promise {
                job: waiting.job,
                needs: waiting.requirement,
                until: cx.now() + STANDS,
            });
        }
        let (job, status) = (waiting.job, self.status());
        cx.send(from, Message::OfferAnswer { job, takes, status });
    }

    /// Hands an offered job over if the peer takes it.
    pub(super) fn on_offer_answer(
        &mut self,
        from: NodeId,
        job: JobId,
        takes: bool,
        cx: &mut dyn Context<Self>,
    ) {
        let offered = &mut self.migration.offered;
        let index = offered
            .iter()
            .position(|(id, to, ..)| (*id, *to) == (job, from));
        let Some(index) = index else { return };
        let (_, to, move_to, _) = offered.swap_remove(index);
        if takes {
            self.hand_over(job, to, move_to, cx);
        }
    }

    /// Gives a waiting job to another node.
    pub(super) fn hand_over(
        &mut self,
        job: JobId,
        to: NodeId,
        move_to: MoveTo,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(waiting) = self.queue.remove(job) else {
            return;
        };
        self.touch();
        let count = match move_to {
            MoveTo::Start => &mut self.counts.migrated,
            MoveTo::Wait => &mut self.counts.balanced,
        };
        *count = count.saturating_add(1);
        let dimensions = self.queue.pool().dimensions();
        self.known.expect(to, dimensions, &waiting.requirement);
        let carried = carry(&waiting, move_to);
        self.tell_runs(Command::GiveAway { job, to, carried }, cx);
        // The next job may be the head now.
        self.start_jobs(cx);
    }

    /// If cores are free after local scheduling, asks the neighbour with the longest queue for a job (L8).
    pub(super) fn pull(&mut self, cx: &mut dyn Context<Self>) {
        let is_wanted =
            self.config.scheduling.internode == Some(Direction::Pull) && self.duty.takes_jobs();
        if !is_wanted || self.migration.pulling.is_some() {
            return;
        }
        if self.room().free().value(self.cores) == 0 {
            return;
        }
        let recently = |id: NodeId| {
            let asked = self.migration.asked_at(id);
            asked.is_some_and(|at| cx.now() < at + self.config.round)
        };
        let longest = self
            .known
            .iter()
            .filter(|(id, status)| status.queue_len > 0 && !recently(*id))
            .max_by(|a, b| a.1.queue_len.cmp(&b.1.queue_len).then(b.0.cmp(&a.0)));
        if let Some((from, _)) = longest {
            self.migration.note_asked(from, cx.now());
            self.ask_for(from, MoveTo::Start, cx);
        } else if self.migration.freed && self.config.pull_hops > 0 {
            self.migration.freed = false;
            self.begin_gathering(cx);
        }
    }

    /// Asks a peer for a job.
    pub(super) fn ask_for(&mut self, node: NodeId, move_to: MoveTo, cx: &mut dyn Context<Self>) {
        self.migration.pulling = Some((node, cx.now() + STANDS));
        let status = self.status();
        cx.send(node, Message::Pull { move_to, status });
    }

    /// Whether this node waits for no answer to a pull.
    pub(super) const fn has_no_pending_pull(&self) -> bool {
        self.migration.pulling.is_none()
    }

    /// Gives the asker a waiting job, or rejects the pull.
    pub(super) fn on_pull(
        &mut self,
        from: NodeId,
        move_to: MoveTo,
        status: &Shared<Status>,
        cx: &mut dyn Context<Self>,
    ) {
        self.migration.forget(cx.now());
        self.hear_status(from, status.clone());
        let asker = status.get();
        let job = if !asker.is_possible(self.dimensions(), &self.config.most) {
            None
        } else if move_to == MoveTo::Start {
            self.job_for(asker)
        } else {
            self.best_to_balance(from, asker)
                .filter(|job| !self.migration.is_offered(*job))
        };
        match job {
            Some(job) => self.hand_over(job, from, move_to, cx),
            None => {
                let status = self.status();
                cx.send(from, Message::PullReject { status });
            }
        }
    }

    /// The waiting job that best fills what the asker has free.
    pub(super) fn job_for(&self, asker: &Status) -> Option<JobId> {
        let pool = Pool::with_free(self.dimensions().clone(), asker.total, asker.free).ok()?;
        let best = self.queue.best_for(&pool, asker.head_passed)?;
        Some(best.job).filter(|job| !self.migration.is_offered(*job))
    }

    /// The peer that was asked has no job to give: asks the next one.
    pub(super) fn on_pull_reject(&mut self, from: NodeId, cx: &mut dyn Context<Self>) {
        if self
            .migration
            .pulling
            .is_some_and(|(asked, _)| asked == from)
        {
            self.migration.pulling = None;
            self.pull(cx);
        }
    }

    /// A job has come from `from`. If that peer was asked for a job, this is its answer.
    pub(super) fn pull_answered(&mut self, from: NodeId) {
        if self
            .migration
            .pulling
            .is_some_and(|(asked, _)| asked == from)
        {
            self.migration.pulling = None;
        }
    }

    /// Waits no longer for answers of a peer that cannot be reached.
    pub(super) fn on_unreachable(&mut self, node: NodeId, cx: &mut dyn Context<Self>) {
        self.known.retain(|id| id != node);
        self.migration.offered.retain(|(_, to, ..)| *to != node);
        self.on_pull_reject(node, cx);
    }

    /// A leaver offers each waiting job to the least loaded neighbour that can run it.
    pub(super) fn give_all_away(&mut self, cx: &mut dyn Context<Self>) {
        for job in self.queue.waiting().to_vec() {
            if self.migration.is_offered(job.job) {
                continue;
            }
            let dimensions = self.dimensions();
            let able = self
                .known
                .iter()
                .filter(|(_, status)| dimensions.matches(&status.total, &job.requirement));
            let least = able.min_by(|a, b| {
                let load = |status: &Status| status.load(dimensions);
                load(a.1).total_cmp(&load(b.1)).then(a.0.cmp(&b.0))
            });
            if let Some((to, _)) = least {
                self.offer(job, to, MoveTo::Wait, cx);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_offers_promises_or_asked_peers_are_not_sound() {
        let node = |n: usize| NodeId::new(n as u64);
        let offer = |n: usize| (JobId::new(n as u64), node(0), MoveTo::Start, Time::ZERO);
        let promise = |n: usize| Promise {
            job: JobId::new(n as u64),
            needs: Requirement::any(),
            until: Time::ZERO,
        };
        let full = Migration {
            offered: (0..MOST).map(offer).collect(),
            promises: (0..MOST).map(promise).collect(),
            asked: (0..MOST_ASKED).map(|n| (node(n), Time::ZERO)).collect(),
            ..Migration::default()
        };
        assert!(full.is_sound());
        let spoiled = |spoil: fn(&mut Migration)| {
            let mut migration = full.clone();
            spoil(&mut migration);
            migration
        };
        let mut more = full.clone();
        more.asked.insert(node(MOST_ASKED), Time::ZERO);
        let mistakes = [
            spoiled(|it| it.offered.push(it.offered[0])),
            spoiled(|it| it.promises.push(it.promises[0].clone())),
            more,
        ];
        assert!(mistakes.iter().all(|it| !it.is_sound()), "{mistakes:?}");
    }
}

//! Internode scheduling: a waiting job goes where it can start at once (P4 section IV.B; PROTOCOLS L1, L3, L5 to L8).

use alloc::vec::Vec;

use super::message::{Message, MoveTo};
use super::running::carry;
use super::status::Status;
use super::{Desktop, Direction, Habit, Shared};
use crate::custody::{Candidates, Command};
use crate::id::{JobId, NodeId};
use crate::machine::Context;
use crate::queue::{Waiting, may_pass};
use crate::resource::{Pool, Requirement};
use crate::sorted::SortedMap;
use crate::time::{Span, Time};

/// The most jobs that are offered at once, and the most that are promised.
const MOST: usize = 64;

/// The most neighbours for which a node remembers that they had no job.
const MOST_BARRED: usize = crate::overlay::can::MOST_NEIGHBOURS;

/// The most jobs that a node gives to a peer that asks once.
const MOST_GIVEN: usize = 4;

/// The most waiting jobs for which a node remembers when it searched for a sooner start.
const MOST_SEARCHED: usize = 1024;

/// After how long a node searches again for a waiting job. Each next time takes twice as long, up to ten minutes.
const AGAIN: Span = Span::from_secs(60);
const LONGEST_GAP: Span = Span::from_secs(600);

/// How many searches for waiting jobs a node begins in a round. Peers that give it jobs cannot make them more.
const MOST_SEARCHES: u8 = 64;

/// How long an offer or a promise lasts, and how long a node waits for the answer to a pull.
const STANDS: Span = Span::from_secs(5);

/// The offers, promises and pulls of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Migration {
    /// Waiting jobs that peers were asked to take, each until its offer ends.
    offered: Vec<Offered>,
    /// Jobs that this node has agreed to start.
    pub(super) promises: Vec<Promise>,
    /// The peer that was asked for a job and has not answered, and until when this node waits.
    pulling: Option<(NodeId, MoveTo, Time)>,
    /// When each neighbour had no job to give. It is asked again after a round, or after news of it.
    barred: SortedMap<NodeId, Time>,
    pub(super) gathering: Gathering,
    /// When to search again for a sooner start of each waiting job, in the order of jobs.
    searched: Vec<Searched>,
    /// The number of the last such search, and how many there were in this round.
    searches: u32,
    searches_in_round: u8,
}

/// A waiting job that a peer was asked to take.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Offered {
    job: JobId,
    to: NodeId,
    move_to: MoveTo,
    until: Time,
    /// The nodes to ask if this peer does not take it.
    others: Candidates,
}

/// When a waiting job is searched for again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Searched {
    job: JobId,
    again: Time,
    gap: Span,
}

/// Whether a node sends a [`Gather`](super::Gather) once no neighbour is left to ask.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) enum Gathering {
    #[default]
    Done,
    /// A job has ended here, or one has come and left room, since the last one.
    Wanted,
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
        self.offered.len() <= MOST
            && self.promises.len() <= MOST
            && self.barred.len() <= MOST_BARRED
            && self.searched.len() <= MOST_SEARCHED
            && self.searched.is_sorted_by(|a, b| a.job < b.job)
    }

    pub(super) const fn awaits_answers(&self) -> bool {
        !self.offered.is_empty() || !self.promises.is_empty() || self.pulling.is_some()
    }

    fn is_offered(&self, job: JobId) -> bool {
        self.offered.iter().any(|offered| offered.job == job)
    }

    fn forget(&mut self, now: Time) {
        self.offered.retain(|offered| offered.until > now);
        self.promises.retain(|promise| promise.until > now);
        self.pulling
            .take_if(|(.., until)| *until <= now && !canary!(PullNotForgotten));
    }

    fn is_barred(&self, node: NodeId, now: Time, round: Span) -> bool {
        self.barred.get(&node).is_some_and(|at| now < *at + round)
    }

    fn bar(&mut self, node: NodeId, at: Time) {
        if self.barred.len() >= MOST_BARRED && !self.barred.contains_key(&node) {
            self.barred.clear();
        }
        self.barred.insert(node, at);
    }

    pub(super) const fn renew(&mut self) {
        self.searches_in_round = 0;
    }

    /// Forgets searches for jobs that wait here no more.
    pub(super) fn forget_searched(&mut self, waiting: &[Waiting]) {
        let mut ids: Vec<JobId> = waiting.iter().map(|job| job.job).collect();
        ids.sort_unstable();
        self.searched
            .retain(|searched| ids.binary_search(&searched.job).is_ok());
    }

    pub(super) fn is_search_due(&self, job: JobId, now: Time) -> bool {
        let index = self.searched.binary_search_by_key(&job, |it| it.job);
        let has_room = self.searched.len() < MOST_SEARCHED;
        self.searches_in_round < MOST_SEARCHES
            && index.map_or(has_room, |index| {
                self.searched.get(index).is_some_and(|it| it.again <= now)
            })
    }

    /// Notes a search for a sooner start, and numbers it.
    pub(super) fn note_search(&mut self, job: JobId, now: Time) -> u32 {
        match self.searched.binary_search_by_key(&job, |it| it.job) {
            Ok(index) => {
                if let Some(searched) = self.searched.get_mut(index) {
                    searched.gap = searched.gap.times(2).min(LONGEST_GAP);
                    searched.again = now + searched.gap;
                }
            }
            Err(index) if self.searched.len() < MOST_SEARCHED => {
                let searched = Searched {
                    job,
                    again: now + AGAIN,
                    gap: AGAIN,
                };
                self.searched.insert(index, searched);
            }
            Err(_) => {}
        }
        self.searches_in_round = self.searches_in_round.saturating_add(1);
        self.searches = self.searches.wrapping_add(1);
        self.searches
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
        may_pass(job.passed, self.queue.head_passed()) && room.fits(&job.requirement)
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
            if self.migration.offered.len() >= MOST {
                return;
            }
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
        if !fits || !may_pass(job.passed, status.head_passed) {
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
        self.offer_in_turn((waiting, to, Candidates::new()), move_to, cx);
    }

    /// Asks a peer to take a waiting job; if it does not, asks the others.
    pub(super) fn offer_in_turn(
        &mut self,
        (waiting, to, others): (Waiting, NodeId, Candidates),
        move_to: MoveTo,
        cx: &mut dyn Context<Self>,
    ) {
        if self.migration.offered.len() < MOST {
            self.migration.offered.push(Offered {
                job: waiting.job,
                to,
                move_to,
                until: cx.now() + STANDS,
                others,
            });
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
            .position(|offered| (offered.job, offered.to) == (job, from));
        let Some(index) = index else { return };
        let mut offered = offered.swap_remove(index);
        if takes {
            self.hand_over(job, from, offered.move_to, cx);
            return;
        }
        let waiting = self.queue.waiting().iter().find(|it| it.job == job);
        let next = offered.others.remove(0).filter(|next| *next != self.me);
        if let (Some(waiting), Some(next)) = (waiting.copied(), next) {
            self.offer_in_turn((waiting, next, offered.others), offered.move_to, cx);
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

    /// If cores are free after local scheduling, asks a neighbour for a job (L8): that with the longest queue, or with the
    /// job that came first, if one may fit. If there is none, asks further away.
    pub(super) fn pull(&mut self, cx: &mut dyn Context<Self>) {
        let is_wanted =
            self.config.scheduling.internode == Some(Direction::Pull) && self.duty.takes_jobs();
        if !is_wanted || self.migration.pulling.is_some() {
            return;
        }
        let room = self.room();
        if room.free().value(self.cores) == 0 {
            return;
        }
        let (now, round) = (cx.now(), self.config.round);
        let others = self.known.iter().filter(|(id, status)| {
            status.queue_len > 0 && !self.migration.is_barred(*id, now, round)
        });
        let donor = match self.config.has(Habit::Oldest) {
            false => others.max_by(|a, b| a.1.queue_len.cmp(&b.1.queue_len).then(b.0.cmp(&a.0))),
            true => {
                let (dimensions, passed) = (self.dimensions(), self.queue.head_passed());
                let oldest = |status: &Status| status.oldest.unwrap_or(Time::MAX);
                others
                    .filter(|(_, status)| {
                        status.head_passed >= passed && status.may_fit(dimensions, room.free())
                    })
                    .min_by_key(|(id, status)| (oldest(status), *id))
            }
        };
        if let Some((from, _)) = donor {
            self.ask_for(from, MoveTo::Start, cx);
        } else if self.migration.gathering == Gathering::Wanted && self.config.pull_hops > 0 {
            self.migration.gathering = Gathering::Done;
            self.begin_gathering(cx);
        }
    }

    /// Acts on the new status of a neighbour at once: pulls a job that waits there, or offers one that waits here.
    pub(super) fn on_news(&mut self, from: NodeId, cx: &mut dyn Context<Self>) {
        if !self.config.has(Habit::Act) {
            return;
        }
        self.migration.barred.remove(&from);
        match self.config.scheduling.internode {
            Some(Direction::Pull) => self.pull(cx),
            Some(Direction::Push) => {
                let Some(status) = self.known.shared(from).cloned() else {
                    return;
                };
                let job = self.job_for(status.get());
                let waiting = job.and_then(|job| {
                    let waiting = self.queue.waiting().iter();
                    waiting.copied().find(|it| it.job == job)
                });
                if let Some(waiting) = waiting {
                    self.offer(waiting, from, MoveTo::Start, cx);
                }
            }
            None => {}
        }
    }

    /// Asks a peer for a job.
    pub(super) fn ask_for(&mut self, node: NodeId, move_to: MoveTo, cx: &mut dyn Context<Self>) {
        self.migration.pulling = Some((node, move_to, cx.now() + STANDS));
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
        let given = if !asker.is_possible(self.dimensions(), &self.config.most) {
            0
        } else if move_to == MoveTo::Start {
            self.give_to_start(from, asker, cx)
        } else {
            let job = self
                .best_to_balance(from, asker)
                .filter(|job| !self.migration.is_offered(*job));
            if let Some(job) = job {
                self.hand_over(job, from, MoveTo::Wait, cx);
            }
            usize::from(job.is_some())
        };
        if given == 0 {
            let status = self.status();
            cx.send(from, Message::PullReject { status });
        }
    }

    /// Gives a peer the jobs that could start there at once, one after the other; says how many.
    pub(super) fn give_to_start(
        &mut self,
        to: NodeId,
        asker: &Status,
        cx: &mut dyn Context<Self>,
    ) -> usize {
        let most = match self.config.has(Habit::Several) {
            false => 1,
            true => MOST_GIVEN,
        };
        let mut asker = *asker;
        for given in 0..most {
            let job = self.job_for(&asker);
            let needs = job.and_then(|job| {
                let waiting = self.queue.waiting().iter().find(|it| it.job == job);
                waiting.map(|waiting| waiting.requirement)
            });
            let (Some(job), Some(needs)) = (job, needs) else {
                return given;
            };
            asker = asker.with_start(self.dimensions(), &needs);
            self.hand_over(job, to, MoveTo::Start, cx);
        }
        most
    }

    /// The waiting job that best fills what the asker has free; if nodes are prompt, the first one that fits.
    pub(super) fn job_for(&self, asker: &Status) -> Option<JobId> {
        if self.config.has(Habit::Oldest) {
            let first = self.queue.waiting().iter().find(|job| {
                may_pass(job.passed, asker.head_passed)
                    && self.dimensions().matches(&asker.free, &job.requirement)
                    && self.dimensions().matches(&asker.total, &job.requirement)
                    && !self.migration.is_offered(job.job)
            });
            return first.map(|job| job.job);
        }
        let pool = Pool::with_free(self.dimensions().clone(), asker.total, asker.free).ok()?;
        let best = self.queue.best_for(&pool, asker.head_passed)?;
        Some(best.job).filter(|job| !self.migration.is_offered(*job))
    }

    /// The peer that was asked has no job to give: asks the next one.
    pub(super) fn on_pull_reject(&mut self, from: NodeId, cx: &mut dyn Context<Self>) {
        let Some((_, move_to, _)) = self.migration.pulling.filter(|(asked, ..)| *asked == from)
        else {
            return;
        };
        self.migration.pulling = None;
        // It may have a job to start, if it only had none to balance queues.
        if move_to == MoveTo::Start {
            self.migration.bar(from, cx.now());
        }
        self.pull(cx);
    }

    /// A job has come from `from`. If that peer was asked for a job, this is its answer.
    pub(super) fn pull_answered(&mut self, from: NodeId) {
        self.migration.pulling.take_if(|(asked, ..)| *asked == from);
    }

    /// Waits no longer for answers of a peer that cannot be reached.
    pub(super) fn on_unreachable(&mut self, node: NodeId, cx: &mut dyn Context<Self>) {
        self.known.retain(|id| id != node);
        self.migration.offered.retain(|offered| offered.to != node);
        self.on_pull_reject(node, cx);
    }

    /// A node that takes no jobs offers each that waits to the least loaded neighbours that can run it, one after the
    /// other.
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
            let loads = able.map(|(node, status)| (status.load(dimensions), node));
            let mut loads: Vec<(f64, NodeId)> = loads.collect();
            loads.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut nodes = loads.into_iter().map(|(_, node)| node);
            if let Some(to) = nodes.next() {
                self.offer_in_turn((job, to, nodes.collect()), MoveTo::Wait, cx);
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
        let offer = |n: usize| Offered {
            job: JobId::new(n as u64),
            to: node(0),
            move_to: MoveTo::Start,
            until: Time::ZERO,
            others: Candidates::new(),
        };
        let searched = |n: usize| Searched {
            job: JobId::new(n as u64),
            again: Time::ZERO,
            gap: AGAIN,
        };
        let promise = |n: usize| Promise {
            job: JobId::new(n as u64),
            needs: Requirement::any(),
            until: Time::ZERO,
        };
        let full = Migration {
            offered: (0..MOST).map(offer).collect(),
            promises: (0..MOST).map(promise).collect(),
            barred: (0..MOST_BARRED).map(|n| (node(n), Time::ZERO)).collect(),
            searched: (0..MOST_SEARCHED).map(searched).collect(),
            ..Migration::default()
        };
        assert!(full.is_sound());
        let spoiled = |spoil: fn(&mut Migration)| {
            let mut migration = full.clone();
            spoil(&mut migration);
            migration
        };
        let mut more = full.clone();
        more.barred.insert(node(MOST_BARRED), Time::ZERO);
        let mistakes = [
            spoiled(|it| it.offered.push(it.offered[0].clone())),
            spoiled(|it| it.searched.swap(0, 1)),
            spoiled(|it| it.promises.push(it.promises[0].clone())),
            more,
        ];
        assert!(mistakes.iter().all(|it| !it.is_sound()), "{mistakes:?}");
    }
}

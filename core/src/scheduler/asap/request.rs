//! Getting a job that was submitted here a place (P1 figure 2): neighbours search, the best place that they find is
//! confirmed, and if that fails the next one, and then they search again.

use alloc::vec::Vec;

use super::message::{AskId, Message, Offer, Wanted};
use super::search::Question;
use super::{Asap, Bootstrap, Key, Record};
use crate::commit::coordinator::{self, Candidate, Setback};
use crate::commit::{self, AfterLoss, Policy};
use crate::id::{JobId, NodeId};
use crate::job::{Criterion, Demand, Failure, Job, News, Notice, Refusal};
use crate::machine::{Context, Event};
use crate::overlay::view::Links;
use crate::rng::Choose;
use crate::time::{Interval, Time};

/// A job that was submitted here and has no last word yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Request {
    pub(super) job: Job,
    pub(super) stage: Stage,
    phase: Phase,
    /// How often a place was searched for in this life.
    round: u32,
    /// How often one may still be searched for.
    left: u8,
    /// When to look for a better place than the one it has.
    improve_at: Time,
}

/// How far a job is, as far as it must not be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// Its submitter has been told nothing.
    Open,
    /// Its submitter was told that it starts then.
    Accepted {
        /// When.
        start: Time,
    },
    /// Its submitter does not want it any more.
    Cancelled,
    /// It has failed, and its submitter was told so, or would have been.
    Failed(Failure),
}

/// What is being done about it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Phase {
    /// Nothing until then.
    Resting { until: Time },
    /// Neighbours search.
    Searching {
        aim: Aim,
        awaited: Vec<NodeId>,
        /// The earliest start that was asked for.
        from: Time,
        offers: Vec<Offer>,
        /// The most nodes that somebody saw who found no place.
        seen: Option<u32>,
        until: Time,
    },
    /// The coordinator sees to it.
    Coordinated,
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Aim {
    /// The job has no place.
    Place,
    /// It has one, and another before that start would be better.
    Before(Time),
}

/// The most places that are tried after one search.
const MOST_OFFERS: usize = 8;

/// How many nodes are kept to stand in for lost ones.
const SPARES: usize = 8;

impl Request {
    pub(super) fn next_due(&self) -> Time {
        match self.phase {
            Phase::Resting { until } | Phase::Searching { until, .. } => until,
            Phase::Coordinated => self.improve_at,
        }
    }

    /// A request from disk, about which nothing is being done yet.
    pub(super) fn restored(job: Job, stage: Stage) -> Self {
        Self {
            job,
            stage,
            phase: Phase::Coordinated,
            round: 0,
            left: 0,
            improve_at: Time::MAX,
        }
    }

    fn count(&self) -> u32 {
        match self.job.demand {
            Demand::Nodes(count) | Demand::Cores(count) => count.get(),
        }
    }

    fn record(&self) -> Record {
        Record::Job(self.job, self.stage)
    }
}

/// Why a job is not taken, if it is not.
fn refusal(job: &Job, config: &super::Config) -> Option<Refusal> {
    if let Some((dimension, _)) = job.requirement.named().next() {
        return Some(Refusal::unknown(dimension));
    }
    match job.demand {
        Demand::Cores(_) => return Some(Refusal::UnsupportedDemand),
        Demand::Nodes(count) if count.get() > u32::from(config.commit.members) => {
            return Some(Refusal::TooLarge);
        }
        Demand::Nodes(_) => {}
    }
    if job.deadline.is_some() {
        return Some(Refusal::UnsupportedDeadline);
    }
    (job.criterion != Criterion::Soonest).then_some(Refusal::UnsupportedCriterion)
}

impl<const C: usize, const L: usize, P: Policy> Asap<C, L, P> {
    fn request_place(&self, job: JobId) -> Result<usize, usize> {
        self.requests
            .binary_search_by_key(&job, |request| request.job.id)
    }

    fn request_mut(&mut self, job: JobId) -> Option<&mut Request> {
        let place = self.request_place(job).ok()?;
        self.requests.get_mut(place)
    }

    pub(super) fn submit(&mut self, job: Job, cx: &mut impl Context<Self>) {
        let place = self.request_place(job.id);
        let room = self.requests.len() < usize::from(self.config.commit.tasks);
        let refused = if self.leaving {
            Some(Refusal::Leaving)
        } else if place.is_ok() {
            Some(Refusal::Known)
        } else if !room {
            Some(Refusal::Full)
        } else {
            refusal(&job, &self.config)
        };
        let place = match (refused, place) {
            (None, Err(place)) => place,
            (refused, _) => {
                let refused = refused.unwrap_or(Refusal::Known);
                let news = News::Failed(Failure::Refused(refused));
                cx.notify(Notice { job: job.id, news });
                return;
            }
        };
        let mut request = Request::restored(job, Stage::Open);
        request.left = self.config.rounds;
        cx.persist(Key::Job(job.id), request.record());
        self.requests.insert(place, request);
        self.search_again(job.id, cx);
    }

    /// Takes up jobs from disk. One that no place was decided on for, or that has lost its place, is searched a new one for,
    /// whatever its coordinator still has to clear up.
    pub(super) fn resume(&mut self, cx: &mut impl Context<Self>) {
        let open: Vec<(JobId, Stage)> = self
            .requests
            .iter()
            .map(|request| (request.job.id, request.stage))
            .collect();
        for (job, stage) in open {
            let coordinated = self.node.coordinator.jobs().any(|known| known == job);
            match stage {
                Stage::Failed(failure) => self.fail(job, failure, cx),
                Stage::Cancelled if coordinated => self.release(job, cx),
                Stage::Cancelled => self.close(job, News::Cancelled, cx),
                Stage::Open | Stage::Accepted { .. } => {
                    let rounds = self.config.rounds;
                    if let Some(request) = self.request_mut(job) {
                        request.left = rounds;
                    }
                    if !self.node.coordinator.is_placing(job) {
                        self.search_again(job, cx);
                    }
                }
            }
        }
    }

    /// Searches a place for a job, if it may.
    fn search_again(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let alone = self.overlay.view().is_empty();
        let waits = alone && self.bootstrap != Bootstrap::Alone;
        let until = cx.now() + self.config.overlay.period.times(2);
        let Some(request) = self.request_mut(job) else {
            return;
        };
        let Some(left) = request.left.checked_sub(1) else {
            let failure = match request.stage {
                Stage::Accepted { .. } => Failure::NodeLost,
                _ => Failure::Refused(Refusal::Full),
            };
            self.fail(job, failure, cx);
            return;
        };
        request.left = left;
        if waits && left > 0 {
            // Whoever has just come up knows nobody yet.
            request.phase = Phase::Resting { until };
            return;
        }
        self.ask_around(job, Aim::Place, cx);
    }

    /// Has a few neighbours search a place for a job, or searches itself if it has none.
    fn ask_around(&mut self, job: JobId, aim: Aim, cx: &mut impl Context<Self>) {
        let config = self.config;
        let now = cx.now();
        let mut asked: Links<C> = self
            .overlay
            .view()
            .sample(usize::from(config.forward), cx.rng());
        let alone = asked.is_empty();
        let me = self.me;
        let Some(request) = self.request_mut(job) else {
            return;
        };
        request.round = request.round.wrapping_add(1);
        let ask = AskId {
            job,
            round: request.round,
        };
        let wanted = Wanted {
            count: request.count(),
            from: config.earliest(now),
            length: request.job.estimate().round_up(config.slot),
        };
        let mut awaited: Vec<NodeId> = asked.iter().map(|link| link.id).collect();
        if alone {
            awaited.push(me);
        }
        request.phase = Phase::Searching {
            aim,
            awaited,
            from: wanted.from,
            offers: Vec::new(),
            seen: None,
            until: config.answers_by(now),
        };
        for link in asked.drain(..) {
            cx.send(link.id, Message::Search { ask, wanted });
        }
        if alone {
            let asker = me;
            self.search(Question { asker, ask, wanted }, cx);
        }
    }

    /// Looks for a better place than a job has, if there can be one.
    fn search_better(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let earliest = self.config.earliest(cx.now());
        let Some(request) = self.request_mut(job) else {
            return;
        };
        request.improve_at = Time::MAX;
        if let Stage::Accepted { start } = request.stage
            && start > earliest
        {
            self.ask_around(job, Aim::Before(start), cx);
        }
    }

    /// Looks for a better place after a while, unless none is ever looked for.
    fn improve_later(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let after = self.config.improve;
        let now = cx.now();
        if let Some(request) = self.request_mut(job) {
            request.improve_at = after.map_or(Time::MAX, |after| now + after);
        }
    }

    /// Somebody who searched has found a place, or none.
    pub(super) fn answered(
        &mut self,
        from: NodeId,
        ask: AskId,
        outcome: Result<Offer, u32>,
        cx: &mut impl Context<Self>,
    ) {
        let Some(request) = self.request_mut(ask.job) else {
            return;
        };
        let (count, round) = (request.count(), request.round);
        let Phase::Searching {
            awaited,
            from: earliest,
            offers,
            seen,
            ..
        } = &mut request.phase
        else {
            return;
        };
        let place = awaited.iter().position(|node| *node == from);
        let (Some(place), true) = (place, ask.round == round) else {
            return;
        };
        awaited.swap_remove(place);
        match outcome {
            // Whoever offers something else than was asked for has nothing to offer.
            Ok(offer) if offer.nodes.len() == count as usize && offer.start >= *earliest => {
                offers.push(offer);
            }
            Ok(_) => {}
            // Whoever saw nobody had no room to search, or knows nobody: that says nothing about the job.
            Err(0) => {}
            Err(found) => *seen = (*seen).max(Some(found)),
        }
        if awaited.is_empty() {
            self.choose(ask.job, cx);
        }
    }

    /// Has the best places confirmed, one after the other until one is: the earliest, then the nearest, then any
    /// (PROTOCOLS D12).
    fn choose(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let slot = self.config.slot;
        let most = usize::from(self.config.commit.members);
        let Some(request) = self.request_mut(job) else {
            return;
        };
        let Phase::Searching {
            aim,
            awaited,
            offers,
            seen,
            ..
        } = &mut request.phase
        else {
            return;
        };
        let everyone = awaited.is_empty();
        let (aim, mut offers, seen) = (*aim, core::mem::take(offers), *seen);
        let count = request.count();
        let (submitter, length) = (request.job.submitter, request.job.estimate().round_up(slot));
        cx.rng().shuffle(&mut offers);
        offers.sort_by_key(|offer| (offer.start, offer.hops));
        let mut candidates: Vec<Candidate> = offers
            .into_iter()
            .filter_map(|offer| {
                let interval = Interval::starting(offer.start, length).ok()?;
                let nodes = offer.nodes;
                Some(Candidate { interval, nodes })
            })
            .filter(|candidate| candidate.is_sound(most))
            .collect();
        candidates.truncate(MOST_OFFERS);
        if let Aim::Before(start) = aim {
            request.phase = Phase::Coordinated;
            let mut better = candidates.into_iter();
            match better.find(|candidate| candidate.interval.start() < start) {
                Some(candidate) => {
                    let improve = coordinator::Command::Improve { job, candidate };
                    self.coordinate(improve, cx);
                }
                None => self.improve_later(job, cx),
            }
            return;
        }
        if candidates.is_empty() {
            // If all who were asked say no, so would others.
            match seen {
                Some(seen) if everyone => {
                    let refusal = if seen < count {
                        Refusal::TooLarge
                    } else {
                        Refusal::Full
                    };
                    self.fail(job, Failure::Refused(refusal), cx);
                }
                _ => self.search_again(job, cx),
            }
            return;
        }
        let first = candidates.first().map(|best| best.nodes.as_slice());
        let mut spares: Vec<NodeId> = candidates
            .iter()
            .skip(1)
            .flat_map(|candidate| &candidate.nodes)
            .filter(|node| first.is_some_and(|first| !first.contains(node)))
            .take(SPARES)
            .copied()
            .collect();
        spares.sort_unstable();
        spares.dedup();
        request.phase = Phase::Coordinated;
        let place = coordinator::Command::Place {
            job,
            submitter,
            candidates,
            spares,
        };
        self.coordinate(place, cx);
    }

    fn coordinate(&mut self, command: coordinator::Command, cx: &mut impl Context<Self>) {
        let command = commit::Command::Coordinator(command);
        self.confirm(Event::Command(command), cx);
    }

    pub(super) fn cancel(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let Some(request) = self.request_mut(job) else {
            return;
        };
        if request.stage == Stage::Cancelled {
            return;
        }
        request.stage = Stage::Cancelled;
        cx.persist(Key::Job(job), request.record());
        if self.node.coordinator.jobs().any(|known| known == job) {
            self.release(job, cx);
        } else {
            self.close(job, News::Cancelled, cx);
        }
    }

    /// Has the nodes of a job let go of it; its last word comes when they have.
    fn release(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        if let Some(request) = self.request_mut(job) {
            request.phase = Phase::Coordinated;
        }
        self.coordinate(coordinator::Command::Release { job }, cx);
    }

    /// What the coordinator has to say, once it is done with what it does.
    pub(super) fn coordinated(&mut self, notice: coordinator::Notice, cx: &mut impl Context<Self>) {
        match notice {
            coordinator::Notice::Placed { holder, interval } => {
                self.placed(holder.job, interval.start(), cx);
            }
            coordinator::Notice::Unplaced { job, setback } => self.unplaced(job, setback, cx),
            coordinator::Notice::Cleared { job } => {
                let cancelled = |request: &mut Request| request.stage == Stage::Cancelled;
                if self.request_mut(job).is_some_and(cancelled) {
                    self.close(job, News::Cancelled, cx);
                }
            }
            coordinator::Notice::Kept { job } => self.improve_later(job, cx),
            // It was told where it happened.
            coordinator::Notice::Finished { .. } => {}
        }
    }

    fn placed(&mut self, job: JobId, start: Time, cx: &mut impl Context<Self>) {
        self.improve_later(job, cx);
        let rounds = self.config.rounds;
        let now = cx.now();
        let Some(request) = self.request_mut(job) else {
            return;
        };
        // What started and was lost has only the rounds that are left: it may be too long for its time, whatever that is.
        let started = matches!(request.stage, Stage::Accepted { start } if start <= now);
        let news = match request.stage {
            Stage::Open => News::Accepted { start },
            Stage::Accepted { start: told } if told != start => News::Moved { start },
            Stage::Accepted { .. } | Stage::Cancelled | Stage::Failed(_) => return,
        };
        request.stage = Stage::Accepted { start };
        if !started {
            request.left = rounds;
        }
        cx.persist(Key::Job(job), request.record());
        cx.notify(Notice { job, news });
    }

    fn unplaced(&mut self, job: JobId, setback: Setback, cx: &mut impl Context<Self>) {
        let after_loss = self.config.after_loss;
        let now = cx.now();
        let Some(request) = self.request_mut(job) else {
            return;
        };
        if request.stage == Stage::Cancelled {
            // It has its last word when nothing of it is left.
            return;
        }
        let started = |stage: Stage| matches!(stage, Stage::Accepted { start } if start <= now);
        let failure = match setback {
            Setback::Broke { .. } => Some(Failure::Broke),
            Setback::NotAuthorised => Some(Failure::Refused(Refusal::NotAuthorised)),
            Setback::Full => Some(Failure::Refused(Refusal::Full)),
            _ if after_loss == AfterLoss::GiveUp && started(request.stage) => {
                Some(Failure::NodeLost)
            }
            _ => None,
        };
        match failure {
            Some(failure) => self.fail(job, failure, cx),
            None => self.search_again(job, cx),
        }
    }

    /// The last word on a job that will not be done. It lasts before it is said, so that no other is said after a crash.
    fn fail(&mut self, job: JobId, failure: Failure, cx: &mut impl Context<Self>) {
        if let Some(request) = self.request_mut(job) {
            request.stage = Stage::Failed(failure);
            cx.persist(Key::Job(job), request.record());
        }
        self.close(job, News::Failed(failure), cx);
    }

    /// The last word on a job.
    fn close(&mut self, job: JobId, news: News, cx: &mut impl Context<Self>) {
        if let Ok(place) = self.request_place(job) {
            self.requests.remove(place);
            cx.notify(Notice { job, news });
            cx.forget(Key::Job(job));
        }
    }

    /// Goes on with what has waited long enough.
    pub(super) fn attend_requests(&mut self, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let due = self.requests.iter();
        let due: Vec<JobId> = due
            .filter(|request| request.next_due() <= now)
            .map(|request| request.job.id)
            .collect();
        for job in due {
            match self.request_mut(job).map(|request| &request.phase) {
                Some(Phase::Resting { .. }) => self.search_again(job, cx),
                // Those who have not answered are not waited for (PROTOCOLS D13).
                Some(Phase::Searching { .. }) => self.choose(job, cx),
                Some(Phase::Coordinated) => self.search_better(job, cx),
                None => {}
            }
        }
    }

    /// A node that may have been asked to search is not there.
    pub(super) fn stop_waiting_for(&mut self, node: NodeId, cx: &mut impl Context<Self>) {
        let mut complete = Vec::new();
        for request in &mut self.requests {
            if let Phase::Searching { awaited, .. } = &mut request.phase {
                let before = awaited.len();
                awaited.retain(|known| *known != node);
                if awaited.is_empty() && before > 0 {
                    complete.push(request.job.id);
                }
            }
        }
        for job in complete {
            self.choose(job, cx);
        }
    }
}

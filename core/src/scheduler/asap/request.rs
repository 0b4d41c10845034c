//! The submitter's side: gets a job its placement (P1 figure 2). Neighbours search, the best placement is confirmed; if
//! that fails, the next best is tried, and then neighbours search again.
//!
//! A job that cannot start at once first waits without a placement, and neighbours search again from time to time. Only
//! when its [`patience`](Config::patience) is over does it get the earliest placement, which then moves up.

use alloc::vec::Vec;

use super::message::{AskId, Message, Offer, Wanted};
use super::search::{Candidates, Question};
use super::{Asap, Bootstrap, Config};
use crate::admission::{Needs, Tally, Unsuited};
use crate::commit::coordinator::Setback;
use crate::commit::{Candidate, Policy, Refused};
use crate::id::{JobId, NodeId};
use crate::job::{Demand, Job, News, Notice, Refusal};
use crate::machine::{Context, Event};
use crate::overlay::view::Links;
use crate::rng::Choose;
use crate::scheduler::desk::{self, Stage};
use crate::scheduler::phase::{about, random_part};
use crate::time::{Interval, Time};
use crate::trace::Trace;

/// The search for a placement of a job that was submitted here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Request {
    pub(super) job: JobId,
    phase: Phase,
    /// The number of the last search for this job in this life.
    round: u32,
    /// When this node began to search for the job; a restart begins anew.
    since: Time,
    /// The start that the host was told to expect, while the job has no placement.
    expected: Option<Time>,
    /// When to search for a better placement.
    improve_at: Option<Time>,
    /// Nodes that were chosen and failed for another reason than being busy; placements avoid them.
    unwilling: Unwilling,
    /// The earliest start: an earlier attempt may still run until then.
    not_before: Time,
}

type Unwilling = heapless::Vec<NodeId, MOST_UNWILLING>;

/// How far the search for a placement is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Phase {
    /// Waits for the overlay, because this node has no neighbours yet.
    Resting { until: Time },
    /// Waits for nodes to become free, or for others that search; then neighbours search again.
    Waiting { until: Time },
    /// Neighbours search, or this node itself: if it has none, or for a better placement.
    Searching {
        aim: Aim,
        awaited: Vec<NodeId>,
        /// Whether a searcher was unreachable.
        has_missed: bool,
        /// The earliest start that was asked for.
        from: Time,
        offers: Vec<Offer>,
        /// What a search without a placement saw: the one with most candidates.
        seen: Option<Tally>,
        until: Time,
    },
    /// The coordinator confirms a placement, or the job has one.
    Coordinated,
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Aim {
    /// The job has no placement.
    Place,
    /// The job has a placement with this start; only an earlier one is of use.
    Before(Time),
}

/// The most placements that are tried after one search.
const MOST_OFFERS: usize = 8;

/// The most nodes that a job avoids at a time.
pub(super) const MOST_UNWILLING: usize = 8;

/// How many searches of a job other jobs may make vain before it pauses: once is chance.
const AT_ONCE: u32 = 1;

/// How often the longest pause before a search is doubled, at most.
const MOST_DOUBLED: u32 = 4;

/// The most spares of a job.
const SPARES: usize = 8;

/// How many neighbours search for a job that waits. One is enough: another one searches the next time.
const LATER_SEARCHERS: usize = 1;

impl Request {
    /// Notes why a placement failed. A culprit still looks free, so it is avoided; a node that has become busy shows that in
    /// its schedule.
    fn note(&mut self, setback: Option<Setback>) {
        if let Some(Setback::Earlier { until }) = setback {
            self.not_before = self.not_before.max(until);
        }
        let culprit = setback.and_then(|setback| setback.culprit());
        if let Some(node) = culprit.filter(|node| !self.unwilling.contains(node)) {
            if self.unwilling.is_full() {
                self.unwilling.remove(0);
            }
            self.unwilling.extend([node]);
        }
    }

    /// The earliest start for which a placement is searched now.
    fn earliest(&self, now: Time, config: &Config) -> Time {
        let lasts = self.not_before.round_up(config.slot);
        config.earliest(now).max(lasts)
    }

    /// Whether the job may still wait without a placement.
    fn is_patient(&self, now: Time, config: &Config) -> bool {
        now - self.since < config.patience
    }

    /// How many nodes a search asks for: the demand of the job, and one more for each avoided node.
    fn count(&self, job: &Job) -> u32 {
        count(job).saturating_add(self.unwilling.len() as u32)
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        match self.phase {
            Phase::Resting { until }
            | Phase::Waiting { until }
            | Phase::Searching { until, .. } => Some(until),
            Phase::Coordinated => self.improve_at,
        }
    }
}

/// How many nodes a job wants.
fn count(job: &Job) -> u32 {
    match job.demand {
        Demand::Nodes(count) | Demand::Cores(count) => count.get(),
    }
}

/// Why a job is refused for which too few nodes were seen.
fn too_few(seen: &Tally, count: u32) -> Refusal {
    match seen.why_fewer_than(count) {
        None => Refusal::TooLarge,
        Some(Unsuited::NotAdmitted) => Refusal::NotAccepted,
        Some(_) => Refusal::NoMatch,
    }
}

impl<const C: usize, const L: usize, P: Policy> Asap<C, L, P> {
    fn index_of(&self, job: JobId) -> Result<usize, usize> {
        self.requests
            .binary_search_by_key(&job, |request| request.job)
    }

    fn request_mut(&mut self, job: JobId) -> Option<&mut Request> {
        let index = self.index_of(job).ok()?;
        self.requests.get_mut(index)
    }

    /// The request for a job, a new one if there is none.
    fn request(&mut self, job: JobId, now: Time) -> Option<&mut Request> {
        let index = self.index_of(job).unwrap_or_else(|index| {
            let request = Request {
                job,
                phase: Phase::Coordinated,
                round: 0,
                since: now,
                expected: None,
                improve_at: None,
                unwilling: Unwilling::new(),
                not_before: Time::ZERO,
            };
            self.requests.insert(index, request);
            index
        });
        self.requests.get_mut(index)
    }

    /// Handles a notice of the desk.
    pub(super) fn on_desk_notice(&mut self, notice: &desk::Notice, cx: &mut dyn Context<Self>) {
        match *notice {
            desk::Notice::Search { job, left, setback } => {
                if let Some(request) = self.request(job, cx.now()) {
                    request.note(setback);
                }
                self.search_place(job, left, setback, cx);
            }
            desk::Notice::Placed { job, .. } => self.improve_later(job, cx),
            desk::Notice::Kept { job, setback } => {
                if let Some(request) = self.request_mut(job) {
                    request.note(setback);
                }
                self.improve_later(job, cx);
            }
            desk::Notice::Done { job } => self.requests.retain(|request| request.job != job),
            // `AsDesk` has passed these on to the host, or noted them.
            desk::Notice::Job(_) | desk::Notice::Changed => {}
        }
    }

    /// Other jobs were faster again to take the nodes that were found. Jobs that come together would take them from each
    /// other in each search, so each first waits for a random time, a longer one from search to search (PROTOCOLS D11).
    fn pause(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (now, timeout) = (cx.now(), self.config.timeout);
        let Some(request) = self.request(job, now) else {
            return;
        };
        let longest = timeout.times(1 << request.round.min(MOST_DOUBLED));
        request.phase = Phase::Waiting {
            until: now + random_part(longest, cx.rng()),
        };
    }

    /// Searches a placement for a job, or waits for the overlay first.
    fn search_place(
        &mut self,
        job: JobId,
        left: u8,
        setback: Option<Setback>,
        cx: &mut dyn Context<Self>,
    ) {
        let alone = self.overlay.view().is_empty();
        let waits = alone && self.bootstrap != Bootstrap::Alone;
        let cycles = self.config.overlay.period.times(2);
        let until = cx.now() + cycles.min(self.config.search_limit.times(2));
        let (now, config) = (cx.now(), self.config);
        let Some(request) = self.request(job, now) else {
            return;
        };
        // The placement that was to be improved is lost.
        request.improve_at = None;
        if waits && left > 0 {
            // A node that has just started has no neighbours yet.
            request.phase = Phase::Resting { until };
            return;
        }
        if left == 0 && request.round > 0 && request.is_patient(now, &config) {
            // Other jobs were faster each time.
            self.wait(job, cx);
            return;
        }
        match setback {
            Some(Setback::Refused {
                reason: Refused::Busy,
                ..
            }) if request.round > AT_ONCE => self.pause(job, cx),
            _ => self.ask_around(job, Aim::Place, cx),
        }
    }

    /// Reports to the desk that there is no placement. The desk asks for another search, or gives up with `refusal`.
    fn not_found(&mut self, job: JobId, refusal: Option<Refusal>, cx: &mut dyn Context<Self>) {
        if let Some(request) = self.request_mut(job) {
            request.phase = Phase::Coordinated;
        }
        self.order(desk::Command::NotFound { job, refusal }, cx);
    }

    fn order(&mut self, command: desk::Command, cx: &mut dyn Context<Self>) {
        self.at_desk(Event::Command(command), cx);
    }

    /// Lets a job wait without a placement, until neighbours search again. It gets all its rounds again.
    fn wait(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(until) = self.again_at(cx) else {
            return;
        };
        if let Some(request) = self.request_mut(job) {
            request.phase = Phase::Waiting { until };
        }
        self.order(desk::Command::Wait { job }, cx);
    }

    /// When a job that waits is searched for again.
    fn again_at(&self, cx: &mut dyn Context<Self>) -> Option<Time> {
        Some(cx.now() + about(self.config.improve?, cx.rng()))
    }

    /// Asks a few neighbours to search for a job. Without neighbours, or for a better placement, this node searches
    /// itself: it can ask the nodes that the job has, which are busy for others only.
    fn ask_around(&mut self, job: JobId, aim: Aim, cx: &mut dyn Context<Self>) {
        let (now, me, config) = (cx.now(), self.me, self.config);
        let Some(known) = self.desk.job(job).copied() else {
            return;
        };
        let waits = self
            .request_mut(job)
            .is_some_and(|request| request.round > 0 && request.is_patient(now, &config));
        let searchers = match aim {
            Aim::Before(_) => 0,
            Aim::Place if waits => LATER_SEARCHERS,
            Aim::Place => usize::from(config.forward),
        };
        // A node that was lost would not answer.
        let unwilling = self
            .request_mut(job)
            .map(|request| request.unwilling.clone());
        let unwilling = unwilling.unwrap_or_default();
        let sampled = match searchers {
            0 => 0,
            _ => searchers.saturating_add(unwilling.len()),
        };
        let mut asked: Links<C> = self.overlay.view().sample(sampled, cx.rng());
        asked.retain(|link| !unwilling.contains(&link.id));
        asked.truncate(searchers);
        let alone = asked.is_empty();
        let Some(request) = self.request_mut(job) else {
            return;
        };
        let wanted = Wanted {
            count: request.count(&known),
            from: request.earliest(now, &config),
            length: config.length(&known),
            organisation: known.submitter.organisation,
            needs: Needs::of(&known),
        };
        request.round = request.round.wrapping_add(1);
        let ask = AskId {
            job,
            round: request.round,
        };
        let mut awaited: Vec<NodeId> = asked.iter().map(|link| link.id).collect();
        if alone {
            awaited.push(me);
        }
        request.phase = Phase::Searching {
            aim,
            awaited,
            has_missed: false,
            from: wanted.from,
            offers: Vec::new(),
            seen: None,
            until: config.answers_by(now),
        };
        for link in &asked {
            cx.trace(Trace::Asks { job, peer: link.id });
            let wanted = wanted.clone();
            cx.send(link.id, Message::Search { ask, wanted });
        }
        if alone {
            let asker = me;
            self.search(Question { asker, ask, wanted }, cx);
        }
    }

    /// Searches for a better placement, if an earlier start is possible.
    fn search_better(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let config = self.config;
        let Some(request) = self.request_mut(job) else {
            return;
        };
        request.improve_at = None;
        let earliest = request.earliest(cx.now(), &config);
        if let Some(Stage::Accepted { start, .. }) = self.desk.stage(job)
            && start > earliest
        {
            self.ask_around(job, Aim::Before(start), cx);
        }
    }

    /// Plans a search for a better placement, if [`Config::improve`] is set.
    fn improve_later(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(at) = self.again_at(cx) else {
            return;
        };
        if let Some(request) = self.request(job, cx.now()) {
            request.improve_at = Some(at);
        }
    }

    /// A searcher answers with a placement, or with none.
    pub(super) fn on_search_answer(
        &mut self,
        from: NodeId,
        ask: AskId,
        outcome: Result<Offer, Candidates>,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(job) = self.desk.job(ask.job).copied() else {
            return;
        };
        let (now, config) = (cx.now(), self.config);
        let horizon = config.horizon;
        let Some(request) = self.request_mut(ask.job) else {
            return;
        };
        let count = request.count(&job);
        let round = request.round;
        let Phase::Searching {
            awaited,
            from: earliest,
            offers,
            seen,
            until,
            ..
        } = &mut request.phase
        else {
            return;
        };
        let index = awaited.iter().position(|node| *node == from);
        let (Some(index), true) = (index, ask.round == round) else {
            return;
        };
        awaited.swap_remove(index);
        match outcome {
            // An offer with another number of nodes or a start out of range counts as no offer.
            Ok(offer)
                if offer.nodes.len() == count as usize
                    && offer.start >= *earliest
                    && (offer.start - *earliest <= horizon || canary!(OfferBeyondTheHorizon)) =>
            {
                offers.push(offer);
                // No searcher is waited for until this offer could not be confirmed any more.
                let latest = config.confirmed_by(*earliest);
                if latest > now {
                    *until = latest.min(*until);
                }
                cx.trace(Trace::Offered {
                    job: ask.job,
                    peer: from,
                });
            }
            Ok(_) => cx.trace(Trace::Ignores {
                job: Some(ask.job),
                peer: Some(from),
                why: "the offer is not for what was asked",
            }),
            Err(found) => {
                *seen = (*seen).max(found);
                cx.trace(Trace::Refused {
                    job: ask.job,
                    peer: from,
                    why: "it finds no start at which enough nodes are free",
                });
            }
        }
        if awaited.is_empty() {
            self.choose(ask.job, cx);
        }
    }

    /// Has the offers confirmed, best first, until one is accepted: the earliest start, then the fewest hops, then at
    /// random (PROTOCOLS D12).
    fn choose(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let (now, config) = (cx.now(), self.config);
        let most = usize::from(config.commit.members);
        let Some((count, length)) = self
            .desk
            .job(job)
            .map(|job| (count(job), config.length(job)))
        else {
            return;
        };
        let Some(request) = self.request_mut(job) else {
            return;
        };
        let Phase::Searching {
            aim,
            awaited,
            has_missed,
            from,
            offers,
            seen,
            ..
        } = &mut request.phase
        else {
            return;
        };
        let all_answered = awaited.is_empty() && !*has_missed;
        let (aim, from, mut offers, seen) = (*aim, *from, core::mem::take(offers), *seen);
        request.phase = Phase::Coordinated;
        cx.rng().shuffle(&mut offers);
        offers.sort_by_key(|offer| (offer.start, offer.hops));
        let mut candidates: Vec<Candidate> = Vec::new();
        for offer in offers {
            let willing = |node: &NodeId| !request.unwilling.contains(node);
            let nodes = offer.nodes.into_iter().filter(willing);
            let nodes: Vec<NodeId> = nodes.take(count as usize).collect();
            // A liar may offer a node that the job avoids more than once, so that too few others are left.
            let is_enough = nodes.len() == count as usize;
            let in_time = offer.start >= now + config.commit.lead;
            if let Ok(interval) = Interval::starting(offer.start, length) {
                let candidate = Candidate { interval, nodes };
                // Two searchers may offer the same placement.
                let is_new = !candidates.contains(&candidate);
                if is_enough && in_time && is_new && candidate.is_sound(most) {
                    candidates.push(candidate);
                }
            }
        }
        candidates.truncate(MOST_OFFERS);
        if let Aim::Before(start) = aim {
            let mut better = candidates.into_iter();
            match better.find(|candidate| candidate.interval.start() < start) {
                Some(candidate) => {
                    let spares = Vec::new();
                    let improve = desk::Command::Improve {
                        job,
                        candidate,
                        spares,
                    };
                    self.order(improve, cx);
                }
                None => self.improve_later(job, cx),
            }
            return;
        }
        if request.is_patient(now, &config) {
            let earliest = candidates.first().map(|best| best.interval.start());
            candidates.retain(|candidate| candidate.interval.start() <= from);
            // One searcher that finds nothing does not mean that there is nothing.
            if candidates.is_empty() && (earliest.is_some() || request.round > 1) {
                // A grid may be too small for a job and the nodes that it avoids: the next search asks for fewer.
                request.unwilling.clear();
                self.expect(job, earliest, cx);
                self.wait(job, cx);
                return;
            }
        }
        if candidates.is_empty() {
            // If all searchers say no, others would too. But a search that avoided nodes is repeated with these nodes.
            let refusal = match seen {
                _ if !request.unwilling.is_empty() => {
                    request.unwilling.clear();
                    None
                }
                Some(seen) if all_answered && seen.suited < count => Some(too_few(&seen, count)),
                Some(_) if all_answered => Some(Refusal::NoStart),
                _ => None,
            };
            self.not_found(job, refusal, cx);
            return;
        }
        // The sooner an offer starts, the likelier its nodes are free at the start of the best one.
        let most = SPARES.min(most);
        let mut spares: Vec<NodeId> = Vec::new();
        let mut in_order = candidates.iter();
        let first = in_order.next().map_or(&[][..], |best| &best.nodes);
        for node in in_order.flat_map(|candidate| &candidate.nodes) {
            if spares.len() < most && !first.contains(node) && !spares.contains(node) {
                spares.push(*node);
            }
        }
        // The best is the last.
        spares.reverse();
        let place = desk::Command::Place {
            job,
            candidates,
            spares,
        };
        self.order(place, cx);
    }

    /// Tells the host when a job that waits is expected to start, if that is news.
    fn expect(&mut self, job: JobId, start: Option<Time>, cx: &mut dyn Context<Self>) {
        let Some(request) = self.request_mut(job) else {
            return;
        };
        if let Some(start) = start.filter(|start| request.expected != Some(*start)) {
            request.expected = Some(start);
            let news = News::Expected { start };
            cx.notify(Notice { job, news });
        }
    }

    /// Handles all requests whose deadline has passed.
    pub(super) fn attend_requests(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let due = self.requests.iter();
        let due: Vec<JobId> = due
            .filter(|request| request.next_due().is_some_and(|due| due <= now))
            .map(|request| request.job)
            .collect();
        for job in due {
            match self.request_mut(job).map(|request| &request.phase) {
                Some(Phase::Resting { .. }) => self.not_found(job, None, cx),
                Some(Phase::Waiting { .. }) => self.ask_around(job, Aim::Place, cx),
                // Late searchers are not waited for (PROTOCOLS D13).
                Some(Phase::Searching { .. }) => self.choose(job, cx),
                Some(Phase::Coordinated) => self.search_better(job, cx),
                None => {}
            }
        }
    }

    /// A node is unreachable: no request waits for its answer any longer.
    pub(super) fn stop_waiting_for(&mut self, node: NodeId, cx: &mut dyn Context<Self>) {
        let mut complete = Vec::new();
        for request in &mut self.requests {
            if let Phase::Searching {
                awaited,
                has_missed,
                ..
            } = &mut request.phase
            {
                let before = awaited.len();
                awaited.retain(|known| *known != node);
                *has_missed |= awaited.len() < before;
                if awaited.is_empty() && before > 0 {
                    complete.push(request.job);
                }
            }
        }
        for job in complete {
            self.choose(job, cx);
        }
    }
}

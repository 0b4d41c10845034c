//! Searches the best placement for a job that was submitted here, iteration by iteration (P2 sections 3.2, 3.3).

mod placement;

use alloc::vec::Vec;
use core::mem;

use super::catalogue::helper_for;
use super::explore::{Expedition, First, Step};
use super::message::Descriptors;
use super::{Catalogue, Config, Criteria, Exploration, Helper};
use crate::admission::{Tally, Unsuited};
use crate::commit::coordinator::Setback;
use crate::commit::{Candidate, Policy};
use crate::id::{JobId, NodeId};
use crate::job::{Criterion, Demand, Job, News, Notice, Refusal};
use crate::machine::Context;
use crate::rng::Choose;
use crate::scheduler::Bootstrap;
use crate::scheduler::desk;
use crate::scheduler::phase::about;
use crate::select::NoSelection;
use crate::time::{Interval, Time};
use placement::Placement;

/// The most nodes that a job avoids at a time.
const MOST_UNWILLING: usize = 32;

/// Adds a node to avoid; drops the oldest one if there are too many.
fn remember(nodes: &mut Vec<NodeId>, node: NodeId) {
    if nodes.contains(&node) {
        return;
    }
    if nodes.len() >= MOST_UNWILLING {
        nodes.remove(0);
    }
    nodes.push(node);
}

/// The search for placements of a job that was submitted here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Request {
    pub(super) job: JobId,
    /// The earliest start when the search began; objectives count waiting time from it.
    base: Time,
    /// When the search began: when the job came, or when this node restarted.
    since: Time,
    /// The start that the host was told to expect.
    expected: Option<Time>,
    /// How many iterations have begun, of those that it may have now.
    begun: u16,
    /// How many iterations have ended since the search began.
    ended: u16,
    /// The iterations that are under way.
    pub(super) expeditions: Vec<Expedition>,
    /// The first nodes of all iterations.
    tried: Vec<NodeId>,
    /// The placement that the job has.
    has: Option<Placement>,
    /// The placement that is being confirmed.
    trying: Option<Placement>,
    /// The best placement that was found since.
    better: Option<Placement>,
    /// Why no placement was found, by the iteration that came furthest.
    why: Option<NoSelection>,
    /// What the iteration saw that saw most nodes for the job.
    seen: Tally,
    /// Nodes that made a placement fail. They are selected again only if there is no placement without them.
    unwilling: Vec<NodeId>,
    /// The unwilling nodes that had committed before. They stay unwilling when the search begins anew.
    untrue: Vec<NodeId>,
    /// The earliest start: an earlier attempt may still run until then.
    not_before: Time,
    rest: Rest,
}

/// What a search waits for before it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rest {
    /// The search does not wait.
    None,
    /// It waits for the end of the pause between iterations.
    Pause { until: Time },
    /// It waits for a neighbour, because the view is empty.
    ForOthers { until: Time },
}

impl Rest {
    fn until(self) -> Option<Time> {
        match self {
            Self::None => None,
            Self::Pause { until } | Self::ForOthers { until } => Some(until),
        }
    }
}

/// How far the search for a job is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress<'a> {
    /// How many iterations have ended.
    pub iterations: u16,
    /// The cost of the job's placement, in the unit of its criterion; `None` without a placement, and until the nodes of
    /// a placement from before a restart, or with a spare, have told their profiles.
    pub cost: Option<f64>,
    /// The start of the job's placement.
    pub start: Option<Time>,
    /// The nodes of the job's placement.
    pub nodes: &'a [NodeId],
}

impl Request {
    pub(super) fn progress(&self) -> Progress<'_> {
        let has = self.has.as_ref();
        Progress {
            iterations: self.ended,
            cost: has.and_then(|place| place.cost).map(|cost| cost.0),
            start: has.map(|place| place.interval.start()),
            nodes: has.map_or(&[], |place| &place.nodes),
        }
    }

    fn new(job: JobId, base: Time, since: Time) -> Self {
        Self {
            job,
            base,
            since,
            expected: None,
            begun: 0,
            ended: 0,
            expeditions: Vec::new(),
            tried: Vec::new(),
            has: None,
            trying: None,
            better: None,
            why: None,
            seen: Tally::default(),
            unwilling: Vec::new(),
            untrue: Vec::new(),
            not_before: Time::ZERO,
            rest: Rest::None,
        }
    }

    /// Notes why a placement failed: because of a node, or because an earlier attempt may still run.
    fn note(&mut self, setback: Option<Setback>) {
        if let Some(Setback::Earlier { until }) = setback {
            self.not_before = self.not_before.max(until);
        }
        let node = setback.and_then(|setback| setback.node());
        if let Some(node) = node {
            remember(&mut self.unwilling, node);
        }
    }

    /// The earliest start of a placement that is found now.
    fn soonest(&self, now: Time, config: &Config) -> Time {
        let lasts = self.not_before.round_up(config.slot);
        config.earliest(now).max(lasts)
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        let expeditions = self.expeditions.iter().filter_map(Expedition::next_due);
        expeditions.chain(self.rest.until()).min()
    }

    pub(super) fn is_within(&self, parallel: usize, most: usize) -> bool {
        self.expeditions.len() <= parallel
            && self.expeditions.iter().all(|known| known.is_within(most))
    }
}

/// How many nodes a job wants.
pub(super) fn count(job: &Job) -> u32 {
    match job.demand {
        Demand::Nodes(count) | Demand::Cores(count) => count.get(),
    }
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Criteria<C, L, G, U, P>
{
    fn index_of(&self, job: JobId) -> Result<usize, usize> {
        self.requests
            .binary_search_by_key(&job, |request| request.job)
    }

    fn request(&self, job: JobId) -> Option<&Request> {
        self.requests.get(self.index_of(job).ok()?)
    }

    fn request_mut(&mut self, job: JobId) -> Option<&mut Request> {
        let index = self.index_of(job).ok()?;
        self.requests.get_mut(index)
    }

    /// Handles a notice of the desk.
    pub(super) fn on_desk_notice(&mut self, notice: &desk::Notice, cx: &mut dyn Context<Self>) {
        match *notice {
            desk::Notice::Search { job, left, setback } => {
                self.search(job, left, setback, cx);
            }
            desk::Notice::Placed { job, start } => self.on_placed(job, start, cx),
            desk::Notice::Kept { job, setback } => {
                if let Some(request) = self.request_mut(job) {
                    request.trying = None;
                    request.note(setback);
                    self.iterate(job, cx);
                }
            }
            desk::Notice::Done { job } => self.requests.retain(|request| request.job != job),
            // `AsDesk` has passed these on to the host, or noted them.
            desk::Notice::Job(_) | desk::Notice::Changed => {}
        }
    }

    /// A job has a placement: the one that was to be confirmed; one with a spare; or one from before a restart.
    fn on_placed(&mut self, job: JobId, start: Time, cx: &mut dyn Context<Self>) {
        let placed = self.placed(job);
        let is_there = |place: &Placement| {
            let same_nodes = |placed: &Placement| placed.nodes == place.nodes;
            place.interval.start() == start && placed.as_ref().is_none_or(same_nodes)
        };
        if let Some(request) = self.request_mut(job) {
            if let Some(known) = request.trying.take().filter(is_there) {
                request.has = Some(known);
            } else if !request.has.as_ref().is_some_and(is_there) {
                request.has = placed.or(request.has.take());
            }
            self.iterate(job, cx);
        } else if self.config.improve.is_some() && placed.is_some() {
            let now = cx.now();
            let index = self.requests.partition_point(|known| known.job < job);
            let mut request = Request::new(job, self.config.earliest(now), now);
            request.has = placed;
            self.requests.insert(index, request);
            self.wait(job, cx);
        }
    }

    /// The placement of a job as its coordinator knows it, without its cost.
    fn placed(&self, job: JobId) -> Option<Placement> {
        let placement = self.placement(job)?;
        let length = self.config.length(self.desk.job(job)?);
        Some(Placement {
            cost: None,
            interval: Interval::starting(placement.start, length).ok()?,
            nodes: placement.nodes,
            spares: Vec::new(),
            middle: None,
        })
    }

    /// Whether the view is empty though this node is not the only one.
    fn is_cut_off(&self) -> bool {
        self.overlay.view().is_empty() && self.bootstrap != Bootstrap::Alone
    }

    /// Begins or goes on to search for a job without a placement. `setback` says why the last placement failed.
    fn search(
        &mut self,
        job: JobId,
        left: u8,
        setback: Option<Setback>,
        cx: &mut dyn Context<Self>,
    ) {
        let now = cx.now();
        let base = self.config.earliest(now);
        if let Err(index) = self.index_of(job) {
            self.requests.insert(index, Request::new(job, base, now));
        }
        let is_patient = self.is_patient(job, now);
        let waits = self.is_cut_off() && left > 0;
        let until = cx.now() + self.config.overlay.period.times(2);
        let last = self.config.iterations.saturating_sub(1);
        let Some(request) = self.request_mut(job) else {
            return;
        };
        request.trying = None;
        if request.has.take().is_some() {
            // The job has lost its placement: the search begins anew.
            let expeditions = mem::take(&mut request.expeditions);
            let mut untrue = mem::take(&mut request.untrue);
            if let Some(node) = setback.and_then(|setback| setback.node()) {
                remember(&mut untrue, node);
            }
            *request = Request::new(job, base, request.since);
            request.expeditions = expeditions;
            request.unwilling.clone_from(&untrue);
            request.untrue = untrue;
        }
        request.note(setback);
        // At least one iteration is left: a placement that was refused now may be accepted later.
        request.begun = request.begun.min(last);
        if waits {
            // A node that has just started has no neighbours yet.
            request.rest = Rest::ForOthers { until };
            return;
        }
        if left == 0 && is_patient && setback.is_some() {
            // Other jobs were faster each time.
            self.wait(job, cx);
            return;
        }
        self.iterate(job, cx);
    }

    /// Whether a job waits without a placement if it cannot start at once: other criteria may be better off with a later
    /// start.
    fn is_patient(&self, job: JobId, now: Time) -> bool {
        let criterion = self.desk.job(job).map(|job| job.criterion);
        let waits =
            |request: &Request| request.has.is_none() && now - request.since < self.config.patience;
        criterion == Some(Criterion::Soonest) && self.request(job).is_some_and(waits)
    }

    /// Lets a job wait until another iteration. It gets all its rounds again.
    fn wait(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(period) = self.config.improve else {
            return;
        };
        let last = self.config.iterations.saturating_sub(1);
        let until = cx.now() + about(period, cx.rng());
        if let Some(request) = self.request_mut(job) {
            request.begun = last;
            request.rest = Rest::Pause { until };
            request.tried.clear();
            // What kept the job from a placement may be over then.
            request.why = None;
            request.unwilling.clone_from(&request.untrue);
            if request.has.is_none() {
                self.order(desk::Command::Wait { job }, cx);
            }
        }
    }

    /// Has the best placement confirmed, or begins iterations, as far as the limits allow.
    pub(super) fn iterate(&mut self, id: JobId, cx: &mut dyn Context<Self>) {
        let Some(job) = self.desk.job(id).copied() else {
            return;
        };
        let config = self.config;
        let now = cx.now();
        loop {
            let is_patient = self.is_patient(id, now);
            let Some(request) = self.request_mut(id) else {
                return;
            };
            if request.rest.until().is_some_and(|until| until <= now) {
                request.rest = Rest::None;
            }
            if request.trying.is_some() {
                return;
            }
            let has = request.has.as_ref();
            // A job that is about to start stays where it is (PROTOCOLS F6), and so does one that cannot do better.
            let is_best = |start: Time| {
                let soonest = job.criterion == Criterion::Soonest && config.improve.is_some();
                soonest && start <= request.soonest(now, &config)
            };
            let settled = has.is_some_and(|place| {
                let start = place.interval.start();
                start < now + config.lead || is_best(start)
            });
            if settled {
                request.expeditions.clear();
                request.better = None;
                request.rest = Rest::None;
                return;
            }
            let better = request.better.take();
            // While another placement was confirmed, its start may have come too near.
            let soonest = request.not_before.max(now + config.lead);
            let better = better.filter(|place| {
                place.beats(request.has.as_ref()) && place.interval.start() >= soonest
            });
            if let Some(place) = better {
                self.confirm(id, place, cx);
                return;
            }
            let under_way = request.expeditions.len();
            let may_begin = request.begun < config.iterations
                && under_way < usize::from(config.parallel)
                && request.rest == Rest::None;
            if !may_begin {
                let over = under_way == 0 && request.begun >= config.iterations;
                let can_wait = is_patient && request.expected.is_some();
                if over && (request.has.is_some() || can_wait) {
                    self.wait(id, cx);
                } else if over {
                    let refusal = request.why.map(|why| refusal(why, &request.seen, &job));
                    self.order(desk::Command::NotFound { job: id, refusal }, cx);
                }
                return;
            }
            request.begun = request.begun.saturating_add(1);
            let from = request.soonest(now, &config);
            let length = config.length(&job);
            let wanted = Interval::starting(from, length).ok();
            let wanted = wanted.filter(|_| config.breadth > 0);
            let avoided = request.unwilling.len();
            let first = self.first_node(&job, cx);
            let unknown = self.request(id).and_then(|request| request.has.as_ref());
            let unknown = unknown.filter(|place| place.cost.is_none());
            let own = unknown.map_or(Vec::new(), |place| place.nodes.clone());
            let step = self.set_out(&job, avoided, first, &own, wanted, cx);
            self.take_step(&job, step, cx);
        }
    }

    /// Where the next iteration begins. If the job wants near nodes: at the densest place where none has begun, and in the
    /// middle of the best placement, in turn. Others begin at a node of the view where none has begun, else at a link of a
    /// neighbour.
    fn first_node(&mut self, job: &Job, cx: &mut dyn Context<Self>) -> First {
        let me = self.me;
        let view: Vec<NodeId> = self.overlay.view().ids().to_vec();
        let is_near = self.config.dense > 0
            && self.config.exploration == Exploration::Proactive
            && helper_for(&self.catalogue, job.criterion) == Some(Helper::Proximity);
        let places = match is_near {
            true => self.dense_places(),
            false => Vec::new(),
        };
        let Some(request) = self.request_mut(job.id) else {
            return First::Node(me);
        };
        let under_way = request.expeditions.len();
        let turn = under_way.saturating_add(usize::from(request.ended));
        let best = request.has.as_ref().and_then(|place| place.middle);
        let tried = &mut request.tried;
        let mut good: Vec<NodeId> = match turn % 2 {
            0 => places.iter().map(|place| place.node).collect(),
            _ => best.filter(|_| is_near).into_iter().collect(),
        };
        good.retain(|node| !tried.contains(node));
        if let Some(first) = good.first() {
            tried.push(*first);
            return First::Good(*first);
        }
        let fresh = view.iter().copied().filter(|node| !tried.contains(node));
        let fresh: Vec<NodeId> = fresh.collect();
        if let Some(first) = cx.rng().pick(&fresh) {
            tried.push(*first);
            return First::Node(*first);
        }
        match cx.rng().pick(&view) {
            Some(guide) => First::KnownTo(*guide),
            None => First::Node(me),
        }
    }

    /// The densest place where no iteration of the job has begun.
    pub(super) fn next_place(&mut self, job: JobId) -> Option<NodeId> {
        let places = self.dense_places();
        let tried = &mut self.request_mut(job)?.tried;
        let mut places = places.iter().map(|place| place.node);
        let next = places.find(|node| !tried.contains(node))?;
        tried.push(next);
        Some(next)
    }

    /// A random link of the guide where no iteration of the job has begun; else the guide itself.
    pub(super) fn guided(
        &mut self,
        job: JobId,
        guide: NodeId,
        links: &Descriptors,
        cx: &mut dyn Context<Self>,
    ) -> NodeId {
        let Some(request) = self.request_mut(job) else {
            return guide;
        };
        let links = links.iter().map(|link| link.id);
        let fresh: Vec<NodeId> = links.filter(|node| !request.tried.contains(node)).collect();
        let first = cx.rng().pick(&fresh).copied().unwrap_or(guide);
        request.tried.push(first);
        first
    }

    /// Keeps an expedition that waits, or concludes one that is done.
    pub(super) fn take_step(&mut self, job: &Job, step: Step, cx: &mut dyn Context<Self>) {
        match step {
            Step::Waiting(expedition) => {
                if let Some(request) = self.request_mut(job.id) {
                    request.expeditions.push(expedition);
                }
            }
            Step::Done(expedition) => self.conclude(job, &expedition, cx),
        }
    }

    /// Selects a placement from the nodes that an iteration has found.
    fn conclude(&mut self, job: &Job, expedition: &Expedition, cx: &mut dyn Context<Self>) {
        let config = self.config;
        let now = cx.now();
        let is_patient = self.is_patient(job.id, now);
        // If a node did not answer, or the view is empty, the next iteration may find more nodes.
        let is_certain = !expedition.has_missed && !self.is_cut_off();
        let own_cost = self.cost_of_own(job, expedition);
        if let Some(request) = self.request_mut(job.id) {
            request.ended = request.ended.saturating_add(1);
            if let Some(place) = request.has.as_mut() {
                place.cost = place.cost.or(own_cost);
            }
        }
        let Some(placement) = self.select_place(job, expedition, cx) else {
            return;
        };
        let Some(request) = self.request_mut(job.id) else {
            return;
        };
        if !config.pause.is_zero() {
            let until = cx.now() + config.pause;
            request.rest = Rest::Pause { until };
        }
        match placement {
            Ok(placement)
                if is_patient && placement.interval.start() > request.soonest(now, &config) =>
            {
                request.begun = config.iterations;
                let start = placement.interval.start();
                if request.expected.replace(start) != Some(start) {
                    let news = News::Expected { start };
                    cx.notify(Notice { job: job.id, news });
                }
            }
            Ok(placement) => {
                if placement.beats(request.better.as_ref()) {
                    request.better = Some(placement);
                }
            }
            Err(NoSelection::TooFew { .. }) if !is_certain => {}
            Err(why) => {
                if why == NoSelection::NotANumber {
                    // Another iteration gives no cost either. The job keeps the placement that it has.
                    request.begun = config.iterations;
                }
                request.seen = request.seen.max(expedition.tally);
                if request.why.is_none_or(|known| reach(known) < reach(why)) {
                    request.why = Some(why);
                }
            }
        }
    }

    fn confirm(&mut self, job: JobId, place: Placement, cx: &mut dyn Context<Self>) {
        let candidate = Candidate {
            interval: place.interval,
            nodes: place.nodes.clone(),
        };
        let spares = place.spares.clone();
        let Some(request) = self.request_mut(job) else {
            return;
        };
        request.trying = Some(place);
        let command = if request.has.is_some() {
            desk::Command::Improve {
                job,
                candidate,
                spares,
            }
        } else {
            desk::Command::Place {
                job,
                candidates: Vec::from([candidate]),
                spares,
            }
        };
        self.order(command, cx);
    }

    /// Handles all requests whose deadline has passed.
    pub(super) fn attend_requests(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let due = self.requests.iter();
        let due: Vec<JobId> = due
            .filter(|request| request.next_due().is_some_and(|due| due <= now))
            .map(|request| request.job)
            .collect();
        let is_cut_off = self.is_cut_off();
        for job in due {
            if let Some(request) = self.request_mut(job)
                && let Rest::ForOthers { until } = request.rest
                && until <= now
                && is_cut_off
            {
                // The view is still empty: this counts as a round.
                request.rest = Rest::None;
                let refusal = None;
                self.order(desk::Command::NotFound { job, refusal }, cx);
                continue;
            }
            self.go_on_without(job, |expedition| expedition.stop_waiting(now), cx);
            self.iterate(job, cx);
        }
    }

    /// A node is unreachable: no expedition waits for it any longer.
    pub(super) fn give_up_on(&mut self, node: NodeId, cx: &mut dyn Context<Self>) {
        self.forget_place(node);
        let jobs: Vec<JobId> = self.requests.iter().map(|request| request.job).collect();
        for job in jobs {
            if self.go_on_without(job, |expedition| expedition.give_up_on(node), cx) {
                self.iterate(job, cx);
            }
        }
    }

    /// Continues the expeditions of a job for which `given_up` is true. Returns whether there are any. No new
    /// expedition begins before all of them have made their step.
    fn go_on_without(
        &mut self,
        id: JobId,
        given_up: impl FnMut(&mut Expedition) -> bool,
        cx: &mut dyn Context<Self>,
    ) -> bool {
        let (Some(job), Some(request)) = (self.desk.job(id).copied(), self.request_mut(id)) else {
            return false;
        };
        let given_up: Vec<Expedition> = request.expeditions.extract_if(.., given_up).collect();
        let any = !given_up.is_empty();
        for expedition in given_up {
            let step = self.go_on(&job, expedition, cx);
            self.take_step(&job, step, cx);
        }
        any
    }
}

/// How far an iteration without a placement came.
fn reach(why: NoSelection) -> u8 {
    match why {
        NoSelection::NotANumber => 3,
        NoSelection::NotAcceptable => 2,
        NoSelection::NoCommonStart => 1,
        _ => 0,
    }
}

/// The reason with which a job is refused if no placement was ever found.
fn refusal(why: NoSelection, seen: &Tally, job: &Job) -> Refusal {
    match why {
        NoSelection::TooFew { .. } => match seen.why_fewer_than(count(job)) {
            None => Refusal::TooLarge,
            Some(Unsuited::NotAdmitted) => Refusal::NotAccepted,
            Some(_) => Refusal::NoMatch,
        },
        NoSelection::NotANumber => Refusal::BrokenCriterion,
        NoSelection::NotAcceptable => Refusal::NotAcceptable,
        _ => Refusal::NoStart,
    }
}

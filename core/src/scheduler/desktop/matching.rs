//! Matchmaking: finds the owner of a job, and then its run node (PROTOCOLS 3.2).

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::message::{Errand, Merit, Merits, Message, MoveTo, Quest, Trail, Turn, Wanted};
use super::status::Status;
use super::{Config, Desktop, Habit, Residues, Shared, space};
use crate::custody::{Candidates, Command};
use crate::id::{JobId, NodeId};
use crate::job::Job;
use crate::machine::Context;
use crate::overlay::can::{Can, END, Hop, Load, Neighbour, Point, Side};
use crate::overlay::flood::{FloodId, Header, Reach, Seen, Sight};
use crate::queue::{Waiting, may_pass};
use crate::resource::Requirement;
use crate::rng::Choose;
use crate::time::Span;

/// The reach of a flooded search: all nodes.
const FLOOD: Reach = Reach {
    ttl: u8::MAX,
    fan_out: u8::MAX,
};

/// The longest that a message is expected to travel one hop.
const HOP: Span = Span::from_millis(500);

/// The memory of flooded searches.
pub(super) fn seen(config: &Config) -> Seen {
    Seen::covering(FLOOD, HOP, u32::from(config.searches))
}

impl<const D: usize> Desktop<D> {
    /// Asks for the owner of a job's point. The virtual coordinates are drawn each time, to avoid an owner that failed.
    pub(super) fn seek_owner(&mut self, job: &Job, attempt: u32, cx: &mut dyn Context<Self>) {
        let needs = self.needs(job);
        let virtual_dimensions = usize::from(self.config.can.virtual_dimensions);
        let (dimensions, most) = (self.dimensions(), &self.config.most);
        let point = space::point_for(dimensions, most, &needs, virtual_dimensions, cx.rng());
        let quest = Quest {
            asker: self.me,
            attempt,
            wanted: Wanted::Owner,
        };
        self.route(job.id, quest, point, self.config.hops, cx);
    }

    /// Sends a search for the owner of a point on, or answers it.
    pub(super) fn route(
        &mut self,
        job: JobId,
        quest: Quest,
        point: Point<D>,
        hops: u16,
        cx: &mut dyn Context<Self>,
    ) {
        let hops = hops.min(self.config.hops);
        match (self.can.next_hop(&point), hops.checked_sub(1)) {
            (Hop::To(to), Some(left)) if !self.relay.goes_round(job, quest, hops) => {
                let errand = Errand::Route {
                    job,
                    quest,
                    point,
                    hops: left,
                };
                self.run_errand(to, errand, cx);
            }
            (Hop::Here, _) => {
                let taken = self.config.hops.saturating_sub(hops);
                self.counts.route_hops = self.counts.route_hops.saturating_add(u64::from(taken));
                let owners = match self.duty.is_leaving() {
                    false => [self.me].into_iter().collect(),
                    // Any node can own a job.
                    true => self.can.neighbours().map(Neighbour::id).collect(),
                };
                self.answer(job, quest, owners, cx);
            }
            // The way is not known at present, so the asker tries again later.
            _ => self.answer(job, quest, Candidates::new(), cx),
        }
    }

    /// Sends the candidates to the asker.
    fn answer(
        &mut self,
        job: JobId,
        quest: Quest,
        candidates: Candidates,
        cx: &mut dyn Context<Self>,
    ) {
        if quest.asker == self.me {
            self.on_found(job, quest, candidates, cx);
        } else {
            let found = Message::Found {
                job,
                quest,
                candidates,
            };
            cx.send(quest.asker, found);
        }
    }

    /// A search of this node is answered; without candidates it found none.
    pub(super) fn on_found(
        &mut self,
        job: JobId,
        quest: Quest,
        candidates: Candidates,
        cx: &mut dyn Context<Self>,
    ) {
        if quest.asker != self.me {
            return;
        }
        let attempt = quest.attempt;
        match quest.wanted {
            Wanted::Owner => self.tell_owners(
                Command::Found {
                    job,
                    attempt,
                    candidates,
                },
                cx,
            ),
            Wanted::RunNode => self.tell_runs(
                Command::Found {
                    job,
                    attempt,
                    candidates,
                },
                cx,
            ),
            Wanted::Sooner => {
                let waiting = self.queue.waiting().iter().find(|it| it.job == job);
                if let (Some(waiting), Some(to)) = (waiting.copied(), candidates.first())
                    && *to != self.me
                    && !self.is_offered(job)
                {
                    let mut others = candidates;
                    let to = others.remove(0).unwrap_or(self.me);
                    self.offer_in_turn((waiting, to, others), MoveTo::Start, cx);
                }
            }
        }
    }

    /// Begins the search for a run node.
    pub(super) fn begin_hunt(
        &mut self,
        job: Shared<Job>,
        attempt: u32,
        cx: &mut dyn Context<Self>,
    ) {
        let quest = Quest {
            asker: self.me,
            attempt,
            wanted: Wanted::RunNode,
        };
        self.hunt(job, quest, self.new_trail(0), cx);
    }

    fn new_trail(&self, passed: u32) -> Trail<D> {
        Trail {
            best: Merits::default(),
            toward: None,
            passed,
            probes: self.config.probes,
            hops: self.config.hops,
        }
    }

    /// Searches for nodes that can start waiting jobs at once, for a few of these jobs in each round.
    pub(super) fn hunt_again(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let waiting = self.queue.waiting().to_vec();
        self.migration.forget_searched(&waiting);
        let due = |job: &&Waiting| self.migration.is_search_due(job.job, now);
        let due = waiting.iter().filter(due);
        let due: Vec<Waiting> = due
            .take(usize::from(self.config.searches_again))
            .copied()
            .collect();
        for job in due {
            self.hunt_sooner(job, cx);
        }
    }

    /// Searches for a node that can start a waiting job at once.
    pub(super) fn hunt_sooner(&mut self, job: Waiting, cx: &mut dyn Context<Self>) {
        if self.config.searches_again == 0 || self.is_offered(job.job) {
            return;
        }
        let Some(shared) = self.runs.job(job.job) else {
            return;
        };
        let attempt = self.migration.note_search(job.job, cx.now());
        let quest = Quest {
            asker: self.me,
            attempt,
            wanted: Wanted::Sooner,
        };
        let trail = self.new_trail(job.passed);
        self.hunt(shared, quest, trail, cx);
    }

    /// Rates the nodes known here for a job, and sends the search on or ends it.
    pub(super) fn hunt(
        &mut self,
        job: Shared<Job>,
        quest: Quest,
        mut trail: Trail<D>,
        cx: &mut dyn Context<Self>,
    ) {
        trail.hops = trail.hops.min(self.config.hops);
        trail.probes = trail.probes.min(self.config.probes);
        if self.relay.goes_round(job.get().id, quest, trail.hops) {
            self.conclude_hunt(&job, quest, &trail, cx);
            return;
        }
        let needs = self.needs(job.get());
        let before = match self.config.has(Habit::Compare) {
            // Only the last node and its neighbours are candidates, unless none of them can run the job.
            false => core::mem::take(&mut trail.best),
            true => Merits::default(),
        };
        self.see_candidates(job.get().id, &needs, &mut trail);
        if trail.best.best().is_none() {
            trail.best = before;
        }
        if let Some(to) = self.next_on_trail(&needs, &mut trail, quest.wanted, cx) {
            trail.hops = trail.hops.saturating_sub(1);
            self.run_errand(to, Errand::Hunt { job, quest, trail }, cx);
            return;
        }
        let found = trail.best.best();
        let is_at_once = found.is_some_and(|merit| merit.turn < Turn::Later);
        if self.config.residues == Residues::DualCan && !is_at_once {
            self.begin_forage(job, quest, trail, cx);
        } else {
            self.conclude_hunt(&job, quest, &trail, cx);
        }
    }

    /// A search is over: answers with the best candidates. Without any, a search for a run node is flooded.
    pub(super) fn conclude_hunt(
        &mut self,
        job: &Shared<Job>,
        quest: Quest,
        trail: &Trail<D>,
        cx: &mut dyn Context<Self>,
    ) {
        let found = trail.best.best().copied();
        let Some(found) = found else {
            if quest.wanted == Wanted::RunNode {
                // No candidate is known. A node that gets the flood and can run the job answers by itself.
                self.flood(job, quest, cx);
                self.answer(job.get().id, quest, Candidates::new(), cx);
            }
            return;
        };
        if quest.wanted == Wanted::Sooner && found.turn == Turn::Later {
            return;
        }
        self.counts.hunts = self.counts.hunts.saturating_add(1);
        let taken = u64::from(self.config.hops.saturating_sub(trail.hops));
        self.counts.hunt_hops = self.counts.hunt_hops.saturating_add(taken);
        // The new run node tells its status with its next heartbeat only. A node that is only offered a job may refuse.
        if quest.wanted == Wanted::RunNode {
            let needs = self.needs(job.get());
            let dimensions = self.queue.pool().dimensions();
            self.known.expect(found.node, dimensions, &needs);
            self.balloons.expect(found.node, dimensions, &needs);
            if let Some(space) = &mut self.residue_space {
                space.known.expect(found.node, dimensions, &needs);
            }
        }
        self.answer(job.get().id, quest, trail.best.nodes(), cx);
    }

    /// The next hop of a search; `None` ends it.
    fn next_on_trail(
        &self,
        needs: &Requirement,
        trail: &mut Trail<D>,
        wanted: Wanted,
        cx: &mut dyn Context<Self>,
    ) -> Option<NodeId> {
        let found = trail.best.best().copied();
        let is_settled = wanted == Wanted::Sooner || !self.config.has(Habit::Compare);
        if trail.hops == 0 || is_settled && found.is_some_and(|merit| merit.turn < Turn::Later) {
            return None;
        }
        loop {
            if let Some(point) = trail.toward {
                if let Hop::To(to) = self.can.next_hop(&point) {
                    return Some(to);
                }
                trail.toward = None;
            }
            let outwards = push_target(&self.can, &self.needed(needs), cx);
            let goes_on =
                outwards.filter(|(beyond, _)| found.is_none() || !self.stops(*beyond, cx));
            if let Some((_, to)) = goes_on {
                return Some(to);
            }
            // The end of the space, or a stop by chance: begins anew at a random point outwards of the job's.
            trail.probes = trail.probes.checked_sub(1)?;
            let mut point = self.needed(needs);
            for at in &mut point {
                *at = at.saturating_add(cx.rng().below(END.saturating_sub(*at)));
            }
            trail.toward = Some(Point::new(point));
        }
    }

    /// Rates this node, its neighbours and the balloons here for a job.
    fn see_candidates(&mut self, job: JobId, needs: &Requirement, trail: &mut Trail<D>) {
        let own = self.status();
        let own = (self.duty.takes_jobs()).then(|| (self.me, own.get()));
        // What a neighbour says itself is newer than its balloon.
        let balloons = self.balloons.statuses();
        let balloons = balloons.filter(|(node, _)| self.known.get(*node).is_none());
        let around = self.known.iter().chain(balloons);
        for (node, status) in around.chain(own) {
            if let Some(merit) = self.merit(node, status, (job, trail.passed), needs) {
                trail.best.see(merit);
            }
        }
    }

    pub(super) fn merit(
        &self,
        node: NodeId,
        status: &Status,
        (job, passed): (JobId, u32),
        needs: &Requirement,
    ) -> Option<Merit> {
        let dimensions = self.queue.pool().dimensions();
        if !dimensions.matches(&status.total, needs) {
            return None;
        }
        let fits = dimensions.matches(&status.free, needs);
        // Where other jobs wait, it starts at once only if it may pass them.
        let passes = self.config.scheduling.local && may_pass(passed, status.head_passed);
        let turn = if status.is_free() {
            Turn::Free
        } else if fits && (status.queue_len == 0 || passes) {
            Turn::Beside
        } else {
            Turn::Later
        };
        let speed = u64::from(status.speed.as_millionths().get());
        let is_fastest = self.config.has(Habit::Compare);
        let (turn, load) = match turn {
            // Of equally fast nodes the fullest, so that larger jobs find room at the others.
            Turn::Free | Turn::Beside if is_fastest => {
                let share = status.share_with(dimensions, needs).min(1 << 16);
                (Turn::Free, (1_u64 << 24).saturating_sub(share))
            }
            Turn::Free => (turn, u64::from(u32::MAX)),
            Turn::Beside | Turn::Later => (turn, status.share_with(dimensions, needs)),
        };
        // Multiplied first, so that the quotient still tells loads apart.
        let cost = load
            .saturating_mul(1 << 20)
            .checked_div(speed)
            .unwrap_or(u64::MAX);
        let lot = (node.get() ^ job.get()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32_u32;
        Some(Merit {
            turn,
            cost,
            lot: lot as u32,
            node,
        })
    }

    /// A requirement as coordinates; virtual ones are zero.
    pub(super) fn needed(&self, needs: &Requirement) -> [u32; D] {
        let mut needed = [0; D];
        for (at, (k, ..)) in needed.iter_mut().zip(self.dimensions().iter()) {
            *at = space::coordinate(needs.value(k).unwrap_or(0), self.config.most.value(k));
        }
        needed
    }

    /// Draws whether a search stops here, with so many nodes beyond.
    fn stops(&self, beyond: f64, cx: &mut dyn Context<Self>) -> bool {
        let factor = f64::from(self.config.stopping) / 100.0;
        let chance = 1.0 / libm::pow(1.0 + beyond, factor);
        f64::from(cx.rng().below(1 << 24)) < chance * f64::from(1_u32 << 24)
    }

    /// Floods a search to all nodes that might satisfy the requirement.
    fn flood(&mut self, job: &Shared<Job>, quest: Quest, cx: &mut dyn Context<Self>) {
        self.counts.floods = self.counts.floods.saturating_add(1);
        self.floods = self.floods.wrapping_add(1);
        let id = FloodId {
            origin: self.me,
            sequence: job.get().id.get(),
            kind: 0,
            round: self.floods,
        };
        self.seen.see(id, cx.now());
        self.spread(FLOOD.begin(id), job, quest, None, cx);
    }

    /// Passes a flood on to all neighbours whose zones [reach](reaches) the needed coordinates.
    fn spread(
        &mut self,
        header: Header,
        job: &Shared<Job>,
        quest: Quest,
        from: Option<NodeId>,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(header) = header.onward(FLOOD) else {
            return;
        };
        let needed = self.needed(&self.needs(job.get()));
        for peer in self.can.neighbours() {
            if Some(peer.id()) != from && reaches(peer, &needed) {
                let job = job.clone();
                cx.send(peer.id(), Message::Search { header, job, quest });
            }
        }
    }

    /// Answers a flooded search if this node can run the job, and else passes it on.
    pub(super) fn on_search(
        &mut self,
        from: NodeId,
        header: Header,
        job: &Shared<Job>,
        quest: Quest,
        cx: &mut dyn Context<Self>,
    ) {
        let sight = self.seen.see(header.id, cx.now());
        if sight == Sight::Again {
            return;
        }
        let needs = self.needs(job.get());
        if self.duty.takes_jobs() && self.queue.pool().suits(&needs) {
            let me = [self.me].into_iter().collect();
            self.answer(job.get().id, quest, me, cx);
        } else if sight == Sight::Unkept {
            self.counts.cut_off = self.counts.cut_off.saturating_add(1);
        } else {
            self.spread(header, job, quest, Some(from), cx);
        }
    }
}

/// The neighbour to push a job to, in the dimension with the least load beyond, and how many nodes are beyond.
pub(super) fn push_target<const D: usize>(
    can: &Can<D>,
    needed: &[u32; D],
    cx: &mut dyn Context<Desktop<D>>,
) -> Option<(f64, NodeId)> {
    let mut best: Option<(usize, Load)> = None;
    for k in 0..D {
        if !upper(can, k, needed).any(|_| true) {
            continue;
        }
        let beyond = can.load_beyond(k);
        let order = best.map_or(Ordering::Less, |(_, load)| less_loaded(&beyond, &load));
        if order == Ordering::Less || (order == Ordering::Equal && cx.rng().below(2) == 0) {
            best = Some((k, beyond));
        }
    }
    let (k, beyond) = best?;
    let load = |peer: &&Neighbour<D>| peer.load().plus(peer.load_beyond());
    let target = upper(can, k, needed)
        .min_by(|a, b| less_loaded(&load(a), &load(b)).then(a.id().cmp(&b.id())))?;
    let nodes = beyond.nodes as f64 / Load::ONE as f64;
    Some((nodes, target.id()))
}

/// The neighbours above in a dimension whose zones [reach](reaches) the needed coordinates.
fn upper<'a, const D: usize>(
    can: &'a Can<D>,
    dimension: usize,
    needed: &'a [u32; D],
) -> impl Iterator<Item = &'a Neighbour<D>> {
    can.neighbours().filter(move |peer| {
        let face = peer.face();
        let is_above = face.is_some_and(|face| {
            face.side == Side::Upper && usize::from(face.dimension) == dimension
        });
        is_above && reaches(peer, needed)
    })
}

/// Whether a neighbour's zone has points with at least the needed coordinates.
fn reaches<const D: usize>(peer: &Neighbour<D>, needed: &[u32; D]) -> bool {
    let mut stretches = peer.zone().stretches().iter().zip(needed);
    stretches.all(|(stretch, at)| stretch.to() > *at)
}

/// Compares by the share of cores in demand, then by the number of free nodes.
fn less_loaded(a: &Load, b: &Load) -> Ordering {
    let required = |load: &Load, other: &Load| {
        u128::from(load.required_cores).saturating_mul(u128::from(other.cores.max(1)))
    };
    required(a, b)
        .cmp(&required(b, a))
        .then(b.free.cmp(&a.free))
}

//! Matchmaking: from a job to its owner, and on to who runs it (PROTOCOLS 3.2).

use core::cmp::Ordering;

use super::message::{Message, Quest, Wanted};
use super::status::Status;
use super::{Config, Desktop, Shared, space};
use crate::custody::{Candidates, MOST_CANDIDATES};
use crate::id::{JobId, NodeId};
use crate::job::Job;
use crate::machine::Context;
use crate::overlay::can::{Hop, Load, Neighbour, Side};
use crate::overlay::flood::{FloodId, Header, Reach, Seen, Sight};
use crate::resource::Requirement;
use crate::rng::Choose;
use crate::time::Span;

/// How far a search among all nodes goes.
const FLOOD: Reach = Reach {
    ttl: u8::MAX,
    fan_out: u8::MAX,
};

/// The longest that a message is expected to travel one hop.
const HOP: Span = Span::from_millis(500);

/// What a node remembers of searches among all nodes.
pub(super) fn seen(config: &Config) -> Seen {
    Seen::covering(FLOOD, HOP, u32::from(config.searches))
}

/// How well a node would do for a job: less is better.
#[derive(Clone, Copy, Debug)]
struct Merit {
    /// Free, or could start it at once, or neither.
    class: u8,
    /// Of the same class, the less loaded and faster is better.
    cost: f64,
    /// Of equals each is as good, but not the same for all jobs.
    lot: u64,
    id: NodeId,
}

impl Merit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.class
            .cmp(&other.class)
            .then(self.cost.total_cmp(&other.cost))
            .then((self.lot, self.id).cmp(&(other.lot, other.id)))
    }
}

/// The best class: it is free.
const FREE: u8 = 0;
/// It could start the job at once, beside what it runs.
const STARTS: u8 = 1;
/// The job would wait.
const WAITS: u8 = 2;

impl<const D: usize> Desktop<D> {
    /// Asks for the owner of the point of a job. Another one each time, so that one who is not well does not have it again.
    pub(super) fn seek_owner(&mut self, job: &Job, attempt: u32, cx: &mut impl Context<Self>) {
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

    /// Sends a question to the owner of a point, or answers it.
    pub(super) fn route(
        &mut self,
        job: JobId,
        quest: Quest,
        point: crate::overlay::can::Point<D>,
        hops: u16,
        cx: &mut impl Context<Self>,
    ) {
        let hops = hops.min(self.config.hops);
        match (self.can.next_hop(&point), hops.checked_sub(1)) {
            (Hop::To(to), Some(left)) => {
                let message = Message::Route {
                    job,
                    quest,
                    point,
                    hops: left,
                };
                cx.send(to, message);
            }
            (Hop::Here, _) if !self.leaving => {
                let taken = self.config.hops.saturating_sub(hops);
                self.counts.route_hops = self.counts.route_hops.saturating_add(u64::from(taken));
                self.answer(job, quest, [self.me].into_iter().collect(), cx);
            }
            // Nobody knows the way at present, so whoever asks tries again later.
            _ => self.answer(job, quest, Candidates::new(), cx),
        }
    }

    /// Says who was found.
    fn answer(
        &mut self,
        job: JobId,
        quest: Quest,
        candidates: Candidates,
        cx: &mut impl Context<Self>,
    ) {
        if quest.asker == self.me {
            self.found(job, quest, candidates, cx);
        } else {
            let found = Message::Found {
                job,
                quest,
                candidates,
            };
            cx.send(quest.asker, found);
        }
    }

    /// Somebody was found, or nobody.
    pub(super) fn found(
        &mut self,
        job: JobId,
        quest: Quest,
        candidates: Candidates,
        cx: &mut impl Context<Self>,
    ) {
        if quest.asker != self.me {
            return;
        }
        let attempt = quest.attempt;
        match quest.wanted {
            Wanted::Owner => {
                self.in_owners(cx, |owners, cx| owners.found(job, attempt, candidates, cx));
            }
            Wanted::RunNode => {
                self.in_runs(cx, |runs, cx| runs.found(job, attempt, candidates, cx));
            }
        }
    }

    /// Looks for somebody who runs a job, here or further out.
    pub(super) fn hunt(
        &mut self,
        job: Shared<Job>,
        quest: Quest,
        hops: u16,
        cx: &mut impl Context<Self>,
    ) {
        let hops = hops.min(self.config.hops);
        let needs = self.needs(job.get());
        let candidates = self.candidates(job.get().id, &needs);
        let starts = candidates.first().is_some_and(|best| best.class < WAITS);
        let target = if starts {
            None
        } else {
            self.push_target(&needs, cx)
                .filter(|(beyond, _)| candidates.is_empty() || !self.stops(*beyond, cx))
        };
        if let (Some((_, to)), Some(left)) = (target, hops.checked_sub(1)) {
            let hops = left;
            cx.send(to, Message::Hunt { job, quest, hops });
            return;
        }
        if candidates.is_empty() {
            self.flood(&job, quest, cx);
            return;
        }
        self.counts.hunts = self.counts.hunts.saturating_add(1);
        let pushed = u64::from(self.config.hops.saturating_sub(hops));
        self.counts.pushes = self.counts.pushes.saturating_add(pushed);
        // Whoever gets it does not say so before its next heartbeat.
        if let Some(best) = candidates.first() {
            let dimensions = self.queue.pool().dimensions();
            self.known.expect(best.id, dimensions, &needs);
            self.balloons.expect(best.id, dimensions, &needs);
        }
        let candidates = candidates.iter().map(|merit| merit.id).collect();
        self.answer(job.get().id, quest, candidates, cx);
    }

    /// Who of this node, its neighbours, and those whose balloons are here could run a job: the best first.
    fn candidates(
        &mut self,
        job: JobId,
        needs: &Requirement,
    ) -> heapless::Vec<Merit, MOST_CANDIDATES> {
        let own = self.status();
        let own = (!self.leaving).then(|| (self.me, own.get()));
        let mut best: heapless::Vec<Merit, MOST_CANDIDATES> = heapless::Vec::new();
        let all = own.into_iter().chain(self.known.iter());
        for (id, status) in all.chain(self.balloons.statuses()) {
            let Some(merit) = self.merit(id, status, job, needs) else {
                continue;
            };
            if best.iter().any(|other| other.id == id) {
                continue;
            }
            if best.is_full() {
                match best.last() {
                    Some(last) if merit.cmp(last) == Ordering::Less => drop(best.pop()),
                    _ => continue,
                }
            }
            let _ = best.push(merit);
            best.sort_unstable_by(Merit::cmp);
        }
        best
    }

    fn merit(&self, id: NodeId, status: &Status, job: JobId, needs: &Requirement) -> Option<Merit> {
        let dimensions = self.queue.pool().dimensions();
        if !dimensions.matches(&status.total, needs) {
            return None;
        }
        let fits = dimensions.matches(&status.free, needs);
        // Behind others it starts only if it may pass them.
        let turn =
            status.queue_len == 0 || (self.config.scheduling.local && status.head_passed == 0);
        let class = if status.is_free() {
            FREE
        } else if fits && turn {
            STARTS
        } else {
            WAITS
        };
        let slowness = 1.0 / f64::from(status.speed.as_millionths().get());
        let required = status.required(self.cores) as f64;
        let cores = status.total.value(self.cores).max(1) as f64;
        let cost = match class {
            FREE => slowness,
            _ => required / cores * slowness,
        };
        let lot = (id.get() ^ job.get()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(Merit {
            class,
            cost,
            lot,
            id,
        })
    }

    /// Where to push a job: how many nodes are beyond along the dimension with the least load, and the neighbour there.
    fn push_target(
        &self,
        needs: &Requirement,
        cx: &mut impl Context<Self>,
    ) -> Option<(f64, NodeId)> {
        let needed = self.needed(needs);
        let mut best: Option<(usize, Load)> = None;
        for k in 0..D {
            if !self.upper(k, &needed).any(|_| true) {
                continue;
            }
            let beyond = self.can.load_beyond(k);
            let order = best.map_or(Ordering::Less, |(_, load)| less_loaded(&beyond, &load));
            if order == Ordering::Less || (order == Ordering::Equal && cx.rng().below(2) == 0) {
                best = Some((k, beyond));
            }
        }
        let (k, beyond) = best?;
        let load = |peer: &&Neighbour<D>| peer.load().plus(peer.load_beyond());
        let target = self
            .upper(k, &needed)
            .min_by(|a, b| less_loaded(&load(a), &load(b)).then(a.id().cmp(&b.id())))?;
        let nodes = beyond.nodes as f64 / Load::ONE as f64;
        Some((nodes, target.id()))
    }

    /// What a job needs, as coordinates.
    fn needed(&self, needs: &Requirement) -> [u32; D] {
        let mut needed = [0; D];
        for (at, (k, ..)) in needed.iter_mut().zip(self.dimensions().iter()) {
            *at = space::coordinate(needs.value(k).unwrap_or(0), self.config.most.value(k));
        }
        needed
    }

    /// The neighbours above in a dimension whose zones reach to where somebody could be who has what is needed.
    fn upper(&self, dimension: usize, needed: &[u32; D]) -> impl Iterator<Item = &Neighbour<D>> {
        self.can.neighbours().filter(move |peer| {
            let face = peer.face();
            let is_above = face.is_some_and(|face| {
                face.side == Side::Upper && usize::from(face.dimension) == dimension
            });
            is_above && reaches(peer, needed)
        })
    }

    /// Whether a job stops here, with so many nodes beyond.
    fn stops(&self, beyond: f64, cx: &mut impl Context<Self>) -> bool {
        let factor = f64::from(self.config.stopping) / 100.0;
        let chance = 1.0 / libm::pow(1.0 + beyond, factor);
        f64::from(cx.rng().below(1 << 24)) < chance * f64::from(1_u32 << 24)
    }

    /// Asks all who might have what a job needs.
    fn flood(&mut self, job: &Shared<Job>, quest: Quest, cx: &mut impl Context<Self>) {
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

    /// Passes a search on to all neighbours whose zones reach to where somebody could be who has what the job needs.
    fn spread(
        &mut self,
        header: Header,
        job: &Shared<Job>,
        quest: Quest,
        from: Option<NodeId>,
        cx: &mut impl Context<Self>,
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

    /// Somebody searches among all nodes for one who can run a job.
    pub(super) fn search(
        &mut self,
        from: NodeId,
        header: Header,
        job: &Shared<Job>,
        quest: Quest,
        cx: &mut impl Context<Self>,
    ) {
        if self.seen.see(header.id, cx.now()) != Sight::First {
            return;
        }
        let needs = self.needs(job.get());
        if !self.leaving && self.queue.pool().suits(&needs) {
            let me = [self.me].into_iter().collect();
            self.answer(job.get().id, quest, me, cx);
        } else {
            self.spread(header, job, quest, Some(from), cx);
        }
    }
}

/// Whether a neighbour's zone reaches to where somebody could be who has what is needed.
fn reaches<const D: usize>(peer: &Neighbour<D>, needed: &[u32; D]) -> bool {
    let mut stretches = peer.zone().stretches().iter().zip(needed);
    stretches.all(|(stretch, at)| stretch.to() > *at)
}

/// By how much of the cores is wanted, then by how many nodes are free.
fn less_loaded(a: &Load, b: &Load) -> Ordering {
    let required = |load: &Load, other: &Load| {
        u128::from(load.required_cores).saturating_mul(u128::from(other.cores.max(1)))
    };
    required(a, b)
        .cmp(&required(b, a))
        .then(b.free.cmp(&a.free))
}

//! Finds nodes for an iteration: from a first node along links, until there are enough (PROTOCOLS F1, F2).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::catalogue::helper_for;
use super::message::{Descriptor, Descriptors, LookId, Message, Through};
use super::request::count;
use super::{Catalogue, Config, Criteria, Exploration, Helper};
use crate::admission::{Needs, Tally, Unsuited};
use crate::commit::Policy;
use crate::id::{JobId, NodeId};
use crate::job::{Criterion, Job};
use crate::machine::Context;
use crate::profile::Profile;
use crate::schedule::{BusyTime, Snapshot};
use crate::time::{Interval, Time};
use crate::trace::Trace;

/// A search for nodes, for one iteration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Expedition {
    id: LookId,
    through: Through,
    order: Order,
    /// How many nodes are enough, of those that count.
    enough: usize,
    /// The most nodes that are found.
    room: usize,
    /// Nodes count if they are free in this interval; all nodes count if there is none.
    wanted: Option<Interval>,
    /// How many of the found nodes count.
    counted: usize,
    pub(super) found: Vec<Found>,
    /// All nodes that were named or asked, sorted.
    discovered: Vec<NodeId>,
    /// The nodes to ask, with their ranks; the next one is the last.
    frontier: Vec<((u64, u64), NodeId)>,
    asked: Vec<Asked>,
    /// How often it may still begin anew, at another dense place: zero when it has asked more than its first node.
    turns: u8,
    /// Whether it waits for its guide to name the first node.
    is_guided: bool,
    /// Nodes that have answered without being asked for random links. They are asked for them when no other node is
    /// left to ask and there are too few.
    guides: VecDeque<NodeId>,
    /// Whether guides have been asked.
    topping_up: bool,
    /// What the job needs of each node.
    needs: Needs,
    /// How many nodes could run the job, of those whose attributes are known, and how many could not.
    pub(super) tally: Tally,
    /// Nodes that cannot run the job. They are asked for links when no other node is left to ask.
    detours: VecDeque<NodeId>,
    /// Whether a node did not answer.
    pub(super) has_missed: bool,
}

/// A question that has no answer yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Asked {
    node: NodeId,
    through: Through,
    aim: Aim,
    /// Until when the answer is awaited.
    until: Time,
}

/// What a node is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Aim {
    /// Itself and its links.
    Candidate,
    /// Only its links: it is known already, or cannot run the job.
    Links,
}

/// In which order nodes are asked.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Order {
    /// In the order in which they were named.
    Breadth,
    /// The nearest to the first node, or to an ideal one, before others, by the distance of this helper.
    Nearest(Helper, Option<Profile>),
}

/// A node that answered and may run the job, with its profile and schedule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Found {
    pub(super) node: NodeId,
    pub(super) profile: Profile,
    pub(super) schedule: Snapshot,
}

/// Where an expedition begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// At this node, which is asked first.
    Node(NodeId),
    /// At this node, which is said to be in a dense place, or is in the middle of the best placement.
    Good(NodeId),
    /// At a random link of this guide.
    KnownTo(NodeId),
}

/// The result of a step.
pub(super) enum Step {
    /// Some nodes have not answered yet.
    Waiting(Expedition),
    /// There are enough nodes, or no more.
    Done(Expedition),
}

impl Expedition {
    /// When the first unanswered question times out.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.asked.iter().map(|asked| asked.until).min()
    }

    pub(super) fn is_within(&self, most: usize) -> bool {
        self.found.len() <= most && self.asked.len() <= most
    }

    fn begin_at(&mut self, first: NodeId) {
        if self.discover(first) {
            self.frontier.push(((0, 0), first));
        }
    }

    /// Begins anew at another node, when only its first one has answered. That answer is kept.
    fn turn_to(&mut self, first: NodeId) {
        self.turns = self.turns.saturating_sub(1);
        self.frontier.clear();
        self.discovered.clear();
        self.guides.clear();
        self.detours.clear();
        if let Order::Nearest(_, nearest_to) = &mut self.order {
            *nearest_to = None;
        }
        self.begin_at(first);
    }

    /// Has these nodes asked as well, before all others.
    fn include(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            if self.discover(*node) {
                self.frontier.push(((0, 0), *node));
            }
        }
    }

    fn discover(&mut self, node: NodeId) -> bool {
        let index = self.discovered.binary_search(&node);
        if let Err(index) = index {
            self.discovered.insert(index, node);
        }
        index.is_err()
    }

    /// Puts a named node on the frontier, if it is new and there is room. A node that cannot run the job goes behind it.
    fn hear_of<U: Catalogue>(
        &mut self,
        known: &Descriptor,
        judged: Result<(), Unsuited>,
        config: &Config,
        catalogue: &U,
    ) {
        // Nodes that were named but are never asked take room too, so the limit is larger than that of candidates.
        let most = usize::from(config.candidates).saturating_mul(8);
        if self.discovered.len() >= most || !self.discover(known.id) {
            return;
        }
        if judged.is_err() {
            self.tally.count(judged);
            self.detours.push_back(known.id);
            return;
        }
        let rank = match &self.order {
            Order::Nearest(helper, Some(first)) if !self.topping_up => {
                helper.rank(catalogue, first, &known.profile)
            }
            _ => (u64::MAX, self.discovered.len() as u64),
        };
        let index = self.frontier.partition_point(|(other, _)| *other > rank);
        self.frontier.insert(index, (rank, known.id));
    }

    /// Whether the next node is asked for links, or only for itself.
    fn links_needed(&self) -> bool {
        match self.order {
            Order::Breadth => {
                let unsuited = self.tally.unsuited() as usize;
                self.topping_up || self.discovered.len().saturating_sub(unsuited) < self.room
            }
            Order::Nearest(..) => true,
        }
    }

    /// Whether another node is to be asked.
    fn wants_more(&self) -> bool {
        let asked = self.asked.len();
        self.counted.saturating_add(asked) < self.enough
            && self.found.len().saturating_add(asked) < self.room
    }

    /// The next node to ask, for which links, and what for.
    fn next(&mut self) -> Option<(NodeId, Through, Aim)> {
        if let Some((_, node)) = self.frontier.pop() {
            let through = if self.links_needed() {
                self.through
            } else {
                Through::NoLink
            };
            return Some((node, through, Aim::Candidate));
        }
        if !self.asked.is_empty() {
            return None;
        }
        // These links are used up: nodes that have answered may have random links to others.
        if let Some(guide) = self.guides.pop_front() {
            self.topping_up = true;
            self.through = Through::Random;
            return Some((guide, Through::Random, Aim::Links));
        }
        let detour = self.detours.pop_front()?;
        Some((detour, self.through, Aim::Links))
    }

    /// Whether it waits for a node.
    fn waits_for(&self, node: NodeId) -> bool {
        self.asked.iter().any(|asked| asked.node == node)
    }

    /// Ends the question to a node. Returns for which links it was asked, and what for.
    fn answered(&mut self, node: NodeId) -> Option<(Through, Aim)> {
        let index = self.asked.iter().position(|asked| asked.node == node)?;
        let asked = self.asked.remove(index);
        Some((asked.through, asked.aim))
    }

    /// Gives up the questions that have timed out. Returns whether there were any.
    pub(super) fn stop_waiting(&mut self, now: Time) -> bool {
        self.miss(|asked| asked.until <= now && !canary!(SilenceWaitedFor))
    }

    /// Gives up the questions to a node. Returns whether there were any.
    pub(super) fn give_up_on(&mut self, node: NodeId) -> bool {
        self.miss(|asked| asked.node == node)
    }

    fn miss(&mut self, is_missed: impl Fn(&Asked) -> bool) -> bool {
        let before = self.asked.len();
        self.asked.retain(|asked| !is_missed(asked));
        let missed = self.asked.len() < before;
        self.has_missed |= missed;
        // While a guide is awaited, no other node is asked.
        self.is_guided &= !missed;
        missed
    }
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Criteria<C, L, G, U, P>
{
    /// Begins to search nodes for a job, which avoids some, at `first`. Asks the nodes `own` as well. If there is `wanted`,
    /// only nodes that are free then count.
    pub(super) fn set_out(
        &mut self,
        job: &Job,
        avoided: usize,
        first: First,
        own: &[NodeId],
        wanted: Option<Interval>,
        cx: &mut dyn Context<Self>,
    ) -> Step {
        self.last_look = self.last_look.wrapping_add(1);
        let count = count(job);
        let helper = match self.config.exploration {
            Exploration::Basic => None,
            Exploration::Proactive => helper_for(&self.catalogue, job.criterion),
        };
        let number = helper.and_then(|helper| Some((helper, self.config.number(helper)?)));
        let (through, order) = match number {
            None => (Through::Random, Order::Breadth),
            Some((Helper::Remoteness, number)) => (Through::Helper(number), Order::Breadth),
            Some((helper, number)) => {
                // Good nodes for an early start are those that are free when the job wants them, not those that are
                // free when the first node is.
                let early = wanted.filter(|_| helper == Helper::FirstFree);
                let ideal = early.map(|free| Profile {
                    free,
                    ..self.profile.clone()
                });
                (Through::Helper(number), Order::Nearest(helper, ideal))
            }
        };
        let enough = match job.criterion {
            // No set is better than the first one that can start at once, without nodes that the job avoids.
            Criterion::Soonest if wanted.is_some() => {
                let most = self.config.pool(count);
                most.min((count as usize).saturating_add(avoided))
            }
            _ => self.config.pool(count),
        };
        let mut expedition = Expedition {
            id: LookId(self.last_look),
            through,
            order,
            enough,
            room: self.config.room(count),
            wanted,
            counted: 0,
            found: Vec::new(),
            discovered: Vec::new(),
            frontier: Vec::new(),
            asked: Vec::new(),
            turns: 0,
            is_guided: false,
            guides: VecDeque::new(),
            topping_up: false,
            needs: Needs::of(job),
            tally: Tally::default(),
            detours: VecDeque::new(),
            has_missed: false,
        };
        expedition.include(own);
        match first {
            First::Node(first) => {
                expedition.begin_at(first);
                self.go_on(job, expedition, cx)
            }
            First::Good(first) => {
                expedition.turns = self.config.dense;
                expedition.begin_at(first);
                self.go_on(job, expedition, cx)
            }
            First::KnownTo(guide) => {
                expedition.is_guided = true;
                let (through, aim) = (Through::Random, Aim::Candidate);
                self.ask(job.id, &mut expedition, guide, (through, aim), cx);
                Step::Waiting(expedition)
            }
        }
    }

    fn ask(
        &self,
        job: JobId,
        expedition: &mut Expedition,
        node: NodeId,
        (through, aim): (Through, Aim),
        cx: &mut dyn Context<Self>,
    ) {
        let until = cx.now() + self.config.timeout;
        expedition.asked.push(Asked {
            node,
            through,
            aim,
            until,
        });
        let look = expedition.id;
        cx.trace(Trace::Asks { job, peer: node });
        cx.send(node, Message::Look { look, through });
    }

    /// Asks nodes, at most `width` at a time, until enough are found or none is left.
    pub(super) fn go_on(
        &mut self,
        job: &Job,
        mut expedition: Expedition,
        cx: &mut dyn Context<Self>,
    ) -> Step {
        let width = usize::from(self.config.width);
        while expedition.wants_more() && expedition.asked.len() < width {
            let Some((node, through, aim)) = expedition.next() else {
                break;
            };
            if node != self.me {
                self.ask(job.id, &mut expedition, node, (through, aim), cx);
            } else if self.desk.takes_jobs() {
                let (own, schedule, links) = self.look(through);
                let asked = (through, aim);
                self.note(job, &mut expedition, asked, own, schedule, &links);
            }
        }
        if expedition.asked.is_empty() {
            Step::Done(expedition)
        } else {
            Step::Waiting(expedition)
        }
    }

    /// This node's descriptor, schedule and links of this kind.
    fn look(&self, through: Through) -> (Descriptor, Snapshot, Descriptors) {
        let links = match through {
            Through::Random => {
                // The profile of a new neighbour may be unknown; then a default one is sent.
                let view = self.overlay.view().links();
                view.map(|link| self.known(link)).collect()
            }
            Through::Helper(number) => {
                let mut helpers = self.helpers.iter();
                let helper = helpers.find(|(known, _)| *known == number);
                let links = helper.map_or(&[][..], |(_, helper)| helper.view());
                links.iter().cloned().collect()
            }
            Through::NoLink => Descriptors::from_iter([]),
        };
        (self.descriptor(), self.schedule.clone(), links)
    }

    /// Answers a question about this node. A leaver does not answer.
    pub(super) fn on_look(
        &mut self,
        from: NodeId,
        look: LookId,
        through: Through,
        cx: &mut dyn Context<Self>,
    ) {
        if !self.desk.takes_jobs() {
            return;
        }
        let (own, schedule, links) = self.look(through);
        cx.send(
            from,
            Message::Seen {
                look,
                own,
                schedule,
                links,
            },
        );
    }

    /// Notes the answer of a node that was asked for these links.
    fn note(
        &self,
        job: &Job,
        expedition: &mut Expedition,
        (through, aim): (Through, Aim),
        own: Descriptor,
        schedule: Snapshot,
        links: &Descriptors,
    ) {
        if through != Through::Random {
            expedition.guides.push_back(own.id);
        }
        if let Order::Nearest(_, first @ None) = &mut expedition.order {
            *first = Some(own.profile.clone());
        }
        let known = expedition.found.iter().any(|found| found.node == own.id);
        let judged = self.judge(job, &expedition.needs, &own.profile);
        if !known && aim == Aim::Candidate {
            expedition.tally.count(judged);
        }
        if !known && judged.is_ok() && self.catalogue.admits(job, &own.profile) {
            if expedition
                .wanted
                .is_none_or(|wanted| schedule.is_free(wanted))
            {
                expedition.counted = expedition.counted.saturating_add(1);
            }
            expedition.found.push(Found {
                node: own.id,
                profile: own.profile,
                schedule,
            });
        }
        for link in links.iter().take(C) {
            // What is not known yet does not speak against a node.
            let judged = match link.version {
                0 => Ok(()),
                _ => self.judge(job, &expedition.needs, &link.profile),
            };
            expedition.hear_of(link, judged, &self.config, &self.catalogue);
        }
    }

    /// Whether a node with this profile can run a job, and admits it.
    fn judge(&self, job: &Job, needs: &Needs, profile: &Profile) -> Result<(), Unsuited> {
        let dimensions = self.desk.policy().dimensions();
        let organisation = job.submitter.organisation;
        let judged = profile.stated.suits(dimensions, organisation, needs);
        self.config.preselection.judge(judged)
    }

    /// A node has answered a question of an expedition.
    pub(super) fn on_seen(
        &mut self,
        from: NodeId,
        look: LookId,
        own: Descriptor,
        schedule: Snapshot,
        links: &Descriptors,
        cx: &mut dyn Context<Self>,
    ) {
        // A node can only answer for itself.
        let own = Descriptor { id: from, ..own };
        let Some((id, mut expedition, asked)) = self.take_expedition(look, from) else {
            return;
        };
        let Some(job) = self.desk.job(id).copied() else {
            return;
        };
        if expedition.is_guided {
            expedition.is_guided = false;
            let first = self.guided(id, from, links, cx);
            expedition.begin_at(first);
        } else {
            self.note(&job, &mut expedition, asked, own.clone(), schedule, links);
        }
        let is_near = Some(asked.0) == self.config.number(Helper::Proximity).map(Through::Helper);
        let is_refuted = is_near && self.is_refuted(&own, links.as_slice(), cx.now());
        if expedition.turns > 0 {
            // Only the first node has answered: the next one is asked after it.
            match is_refuted.then(|| self.next_place(id)).flatten() {
                Some(next) => expedition.turn_to(next),
                None => expedition.turns = 0,
            }
        }
        let step = self.go_on(&job, expedition, cx);
        self.take_step(&job, step, cx);
        self.iterate(id, cx);
    }

    /// Takes out the expedition that waits for an answer of this node, with the links that the node was asked for.
    fn take_expedition(
        &mut self,
        look: LookId,
        from: NodeId,
    ) -> Option<(JobId, Expedition, (Through, Aim))> {
        let waits = |known: &Expedition| known.id == look && known.waits_for(from);
        for request in &mut self.requests {
            if let Some(index) = request.expeditions.iter().position(waits) {
                let mut expedition = request.expeditions.remove(index);
                let asked = expedition.answered(from)?;
                return Some((request.job, expedition, asked));
            }
        }
        None
    }
}

//! Finding nodes for an iteration: from a first node along links, until there are enough (PROTOCOLS F1, F2).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::catalogue::helper_for;
use super::message::{Descriptor, Descriptors, LookId, Message, Through};
use super::{Catalogue, Config, Criteria, Exploration, Helper};
use crate::commit::Policy;
use crate::id::{JobId, NodeId};
use crate::job::Job;
use crate::machine::Context;
use crate::profile::Profile;
use crate::schedule::Snapshot;
use crate::time::Time;

/// Nodes that are being looked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Expedition {
    id: LookId,
    through: Through,
    order: Order,
    /// How many nodes are enough.
    enough: usize,
    pub(super) found: Vec<Found>,
    /// Everyone of whom it was heard, sorted.
    discovered: Vec<NodeId>,
    /// Whom to ask next, the best last.
    frontier: Vec<((u64, u64), NodeId)>,
    asked: Vec<Asked>,
    /// Whether it has yet to be told where to begin.
    is_guided: bool,
    /// Who has answered, but was not asked for random links: they may know others when the links of the helper are used up, or
    /// when too few of those who were heard of have answered.
    guides: VecDeque<NodeId>,
    /// Whether it has come to that.
    topping_up: bool,
    /// Whether somebody has not answered.
    pub(super) has_missed: bool,
}

/// Somebody who was asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Asked {
    node: NodeId,
    through: Through,
    /// Until when the answer is waited for.
    until: Time,
}

/// In which order nodes are asked.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Order {
    /// As they were heard of.
    Breadth,
    /// The nearest to the first one before others, in the sense of this helper.
    Nearest(Helper, Option<Profile>),
}

/// A node that was found, and when it is busy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Found {
    pub(super) node: NodeId,
    pub(super) profile: Profile,
    pub(super) schedule: Snapshot,
}

/// Where an expedition begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// At this node.
    Node(NodeId),
    /// At a node that this one knows at random.
    KnownTo(NodeId),
}

/// What comes of a step.
pub(super) enum Step {
    /// Somebody has yet to answer.
    Waiting(Expedition),
    /// There are enough nodes, or no more.
    Done(Expedition),
}

impl Expedition {
    /// Whom it waits for at the latest.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.asked.iter().map(|asked| asked.until).min()
    }

    pub(super) fn is_within(&self, most: usize) -> bool {
        self.found.len() <= most && self.asked.len() <= most
    }

    fn begin_at(&mut self, first: NodeId) {
        self.discover(first);
        self.frontier.push(((0, 0), first));
    }

    fn discover(&mut self, node: NodeId) -> bool {
        let index = self.discovered.binary_search(&node);
        if let Err(index) = index {
            self.discovered.insert(index, node);
        }
        index.is_err()
    }

    /// Hears of a node, if there is room to.
    fn hear_of<U: Catalogue>(&mut self, known: &Descriptor, config: &Config, catalogue: &U) {
        // Who was heard of and is too far to be asked in the end takes room, too.
        let most = usize::from(config.candidates).saturating_mul(8);
        if self.discovered.len() >= most || !self.discover(known.id) {
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

    /// Whether links are still needed, or only nodes themselves.
    fn links_needed(&self) -> bool {
        match self.order {
            Order::Breadth => self.topping_up || self.discovered.len() < self.enough,
            Order::Nearest(..) => true,
        }
    }

    fn under_way(&self) -> usize {
        self.found.len().saturating_add(self.asked.len())
    }

    /// Whom to ask next, and for which links.
    fn next(&mut self) -> Option<(NodeId, Through)> {
        if let Some((_, node)) = self.frontier.pop() {
            let through = if self.links_needed() {
                self.through
            } else {
                Through::Nobody
            };
            return Some((node, through));
        }
        if !self.asked.is_empty() {
            return None;
        }
        // Nobody is left on these links; those who have answered know others at random.
        let guide = self.guides.pop_front()?;
        self.topping_up = true;
        self.through = Through::Random;
        Some((guide, Through::Random))
    }

    /// Whether it waits for a node.
    fn waits_for(&self, node: NodeId) -> bool {
        self.asked.iter().any(|asked| asked.node == node)
    }

    /// A node has answered; for which links it was asked.
    fn answered(&mut self, node: NodeId) -> Option<Through> {
        let index = self.asked.iter().position(|asked| asked.node == node)?;
        Some(self.asked.remove(index).through)
    }

    /// Goes on without those whose time is over; whether there were any.
    pub(super) fn stop_waiting(&mut self, now: Time) -> bool {
        self.miss(|asked| asked.until <= now && !canary!(SilenceWaitedFor))
    }

    /// Goes on without a node; whether it was waited for.
    pub(super) fn give_up_on(&mut self, node: NodeId) -> bool {
        self.miss(|asked| asked.node == node)
    }

    fn miss(&mut self, is_missed: impl Fn(&Asked) -> bool) -> bool {
        let before = self.asked.len();
        self.asked.retain(|asked| !is_missed(asked));
        let missed = self.asked.len() < before;
        self.has_missed |= missed;
        missed
    }
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Criteria<C, L, G, U, P>
{
    /// Sets out for nodes for a job, from this one on.
    pub(super) fn set_out(
        &mut self,
        job: &Job,
        count: u32,
        first: First,
        cx: &mut dyn Context<Self>,
    ) -> Step {
        self.last_look = self.last_look.wrapping_add(1);
        let helper = match self.config.exploration {
            Exploration::Basic => None,
            Exploration::Proactive => helper_for(&self.catalogue, job.criterion),
        };
        let number = helper.and_then(|helper| Some((helper, self.config.number(helper)?)));
        let (through, order) = match number {
            None => (Through::Random, Order::Breadth),
            Some((Helper::Remoteness, number)) => (Through::Helper(number), Order::Breadth),
            Some((helper, number)) => (Through::Helper(number), Order::Nearest(helper, None)),
        };
        let mut expedition = Expedition {
            id: LookId(self.last_look),
            through,
            order,
            enough: self.config.pool(count),
            found: Vec::new(),
            discovered: Vec::new(),
            frontier: Vec::new(),
            asked: Vec::new(),
            is_guided: false,
            guides: VecDeque::new(),
            topping_up: false,
            has_missed: false,
        };
        match first {
            First::Node(first) => {
                expedition.begin_at(first);
                self.go_on(job, expedition, cx)
            }
            First::KnownTo(guide) => {
                expedition.is_guided = true;
                self.ask(&mut expedition, guide, Through::Random, cx);
                Step::Waiting(expedition)
            }
        }
    }

    fn ask(
        &self,
        expedition: &mut Expedition,
        node: NodeId,
        through: Through,
        cx: &mut dyn Context<Self>,
    ) {
        let until = cx.now() + self.config.timeout;
        expedition.asked.push(Asked {
            node,
            through,
            until,
        });
        let look = expedition.id;
        cx.send(node, Message::Look { look, through });
    }

    /// Asks whom it may until enough are found, or nobody is left.
    pub(super) fn go_on(
        &mut self,
        job: &Job,
        mut expedition: Expedition,
        cx: &mut dyn Context<Self>,
    ) -> Step {
        let width = usize::from(self.config.width);
        while expedition.under_way() < expedition.enough && expedition.asked.len() < width {
            let Some((node, through)) = expedition.next() else {
                break;
            };
            if node != self.me {
                self.ask(&mut expedition, node, through, cx);
            } else if !self.desk.is_leaving() {
                let (own, schedule, links) = self.look(through);
                self.note(job, &mut expedition, through, own, schedule, &links);
            }
        }
        if expedition.asked.is_empty() {
            Step::Done(expedition)
        } else {
            Step::Waiting(expedition)
        }
    }

    /// What a node says when it is asked.
    fn look(&self, through: Through) -> (Descriptor, Snapshot, Descriptors) {
        let links = match through {
            Through::Random => {
                // Of those who have just come into the view nothing may be known but who they are.
                let view = self.overlay.view().links();
                view.map(|link| self.known(link)).collect()
            }
            Through::Helper(number) => {
                let mut helpers = self.helpers.iter();
                let helper = helpers.find(|(known, _)| *known == number);
                let links = helper.map_or(&[][..], |(_, helper)| helper.view());
                links.iter().copied().collect()
            }
            Through::Nobody => Descriptors::from_iter([]),
        };
        (self.descriptor(), self.schedule.clone(), links)
    }

    /// Somebody asks. Who leaves has nothing to say.
    pub(super) fn answer(
        &mut self,
        from: NodeId,
        look: LookId,
        through: Through,
        cx: &mut dyn Context<Self>,
    ) {
        if self.desk.is_leaving() {
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

    /// Takes in what a node has said that was asked for these links.
    fn note(
        &self,
        job: &Job,
        expedition: &mut Expedition,
        through: Through,
        own: Descriptor,
        schedule: Snapshot,
        links: &Descriptors,
    ) {
        if through != Through::Random {
            expedition.guides.push_back(own.id);
        }
        if let Order::Nearest(_, first @ None) = &mut expedition.order {
            *first = Some(own.profile);
        }
        let known = expedition.found.iter().any(|found| found.node == own.id);
        if !known && self.catalogue.admits(job, &own.profile) {
            expedition.found.push(Found {
                node: own.id,
                profile: own.profile,
                schedule,
            });
        }
        for link in links.iter().take(C) {
            expedition.hear_of(link, &self.config, &self.catalogue);
        }
    }

    /// Somebody has answered.
    pub(super) fn seen(
        &mut self,
        from: NodeId,
        look: LookId,
        own: Descriptor,
        schedule: Snapshot,
        links: &Descriptors,
        cx: &mut dyn Context<Self>,
    ) {
        // Nobody speaks for another.
        let own = Descriptor { id: from, ..own };
        let Some((id, mut expedition, through)) = self.take_expedition(look, from) else {
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
            self.note(&job, &mut expedition, through, own, schedule, links);
        }
        let step = self.go_on(&job, expedition, cx);
        self.take_step(&job, step, cx);
        self.iterate(id, cx);
    }

    /// Takes out the expedition that waits for this node's answer, and for which links it was asked.
    fn take_expedition(
        &mut self,
        look: LookId,
        from: NodeId,
    ) -> Option<(JobId, Expedition, Through)> {
        let waits = |known: &Expedition| known.id == look && known.waits_for(from);
        for request in &mut self.requests {
            if let Some(index) = request.expeditions.iter().position(waits) {
                let mut expedition = request.expeditions.remove(index);
                let through = expedition.answered(from)?;
                return Some((request.job, expedition, through));
            }
        }
        None
    }
}

//! The searcher's side: finds a placement for the job of a submitter (P1 figure 3).
//!
//! The searcher looks at the schedules of its neighbours. If too few of them are free at the earliest start, it asks
//! them for their own neighbours, one after another, until enough nodes are free. If there are still too few, it puts
//! the job off to the earliest time at which enough of all candidates are free together.

use alloc::vec::Vec;
use core::mem;

use super::message::{AskId, Known, Message, Offer, Others, Reason, SearchId, Wanted};
use super::neighbours::Neighbour;
use super::request::MOST_UNWILLING;
use super::{Asap, Choice, Config, Exchange, Searcher};
use crate::admission::{Preselection, Tally};
use crate::commit::Policy;
use crate::id::NodeId;
use crate::machine::Context;
use crate::resource::Dimensions;
use crate::rng::Choose;
use crate::schedule::BusyTime;
use crate::schedule::common_slot::{BestFit, InOrder, earliest_common};
use crate::time::{Interval, Time};

/// What a submitter (the asker) wants.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Question {
    pub(super) asker: NodeId,
    pub(super) ask: AskId,
    pub(super) wanted: Wanted,
}

/// The placement that a job has while a better one is searched: its nodes count as free in this time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Held {
    interval: Interval,
    nodes: Vec<NodeId>,
}

/// A search that waits for answers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Search {
    id: SearchId,
    question: Question,
    /// When the search ends and answers with what it knows.
    limit: Time,
    /// In the order of discovery, each node once.
    candidates: Vec<Known>,
    /// Indices of the candidates that are free at the earliest start.
    free: Vec<u32>,
    /// All nodes whose attributes are known, and the searcher, sorted.
    seen: Vec<NodeId>,
    /// How many of the nodes are candidates, and how many cannot run the job.
    tally: Tally,
    /// What the job has already.
    held: Option<Held>,
    /// The largest distance of a candidate, in hops.
    hops: u8,
    /// The nodes to ask for their neighbours, the next one at the end.
    to_ask: Vec<NodeId>,
    /// The nodes to ask after `to_ask`: discovered, but not asked yet.
    next_ring: Vec<NodeId>,
    /// The nodes that were asked, and until when each answer is awaited.
    asked: Vec<(NodeId, Time)>,
}

/// Waits for the schedules of the neighbours (Pull).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pull {
    id: SearchId,
    awaited: Vec<NodeId>,
    until: Time,
    then: Then,
}

/// What follows a pull: a search of this node, or the answer to a searcher's `WhoElse`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Then {
    Search(Question),
    Answer { searcher: NodeId, search: SearchId },
}

impl Then {
    fn asker(&self) -> NodeId {
        match self {
            Self::Search(question) => question.asker,
            Self::Answer { searcher, .. } => *searcher,
        }
    }
}

/// By what a search judges nodes.
#[derive(Clone, Copy)]
struct Judge<'a> {
    dimensions: Option<&'a Dimensions>,
    preselection: Preselection,
}

impl Search {
    fn new(id: SearchId, question: Question, limit: Time) -> Self {
        Self {
            id,
            question,
            limit,
            candidates: Vec::new(),
            free: Vec::new(),
            seen: Vec::new(),
            tally: Tally::default(),
            held: None,
            hops: 1,
            to_ask: Vec::new(),
            next_ring: Vec::new(),
            asked: Vec::new(),
        }
    }

    pub(super) fn next_due(&self) -> Time {
        let answers = self.asked.iter().map(|(_, until)| *until);
        answers.fold(self.limit, Time::min)
    }

    pub(super) fn asker(&self) -> NodeId {
        self.question.asker
    }

    /// Marks a node as seen; false if it was seen before.
    fn discover(&mut self, node: NodeId) -> bool {
        let index = self.seen.binary_search(&node);
        if let Err(index) = index {
            self.seen.insert(index, node);
        }
        index.is_err()
    }

    /// Makes a node a candidate, if it can run the job.
    fn add(&mut self, mut known: Known, judge: Judge<'_>) {
        let Wanted {
            organisation,
            ref needs,
            ..
        } = self.question.wanted;
        let judged = known.stated.suits(judge.dimensions, organisation, needs);
        let judged = judge.preselection.judge(judged);
        self.tally.count(judged);
        if judged.is_err() {
            return;
        }
        if let Some(held) = &self.held
            && held.nodes.contains(&known.node)
        {
            known.schedule = known.schedule.without(held.interval);
        }
        let wanted = &self.question.wanted;
        let slot = Interval::starting(wanted.from, wanted.length);
        if slot.is_ok_and(|slot| known.is_free(slot)) {
            self.free.push(self.candidates.len() as u32);
        }
        self.candidates.push(known);
    }

    fn has_enough(&self) -> bool {
        self.candidates.len() >= self.question.wanted.count as usize
    }

    /// Whether there are `breadth` candidates for each wanted node, or enough candidates among many times as many nodes,
    /// or as many as a search may have.
    fn has_plenty(&self, config: &Config) -> bool {
        let plenty = u64::from(self.question.wanted.count).saturating_mul(config.breadth.into());
        let found = self.candidates.len() as u64;
        // Where few nodes can run the job, many would have to be asked for the last candidates.
        let seen = found.saturating_add(self.tally.unsuited().into());
        found >= plenty
            || self.has_enough() && seen >= plenty.saturating_mul(ENOUGH_SEEN)
            || self.is_full(config)
    }

    /// Whether the search takes no more nodes. Nodes that cannot run the job take less room than candidates, so the
    /// limit is larger for them.
    fn is_full(&self, config: &Config) -> bool {
        let most = u32::from(config.candidates);
        self.candidates.len() >= usize::from(config.candidates)
            || self.tally.unsuited() >= most.saturating_mul(MOST_UNSUITED)
    }

    fn has_enough_free(&self) -> bool {
        self.free.len() >= self.question.wanted.count as usize
    }

    /// The placement at the earliest start; enough candidates are free there.
    fn at_once(&self, choice: Choice) -> Option<Offer> {
        let wanted = &self.question.wanted;
        match choice {
            Choice::Nearest => {
                let first = self.free.iter().take(wanted.count as usize);
                Some(self.offer(wanted.from, first.copied()))
            }
            Choice::BestFit => self.earliest(choice),
        }
    }

    /// The earliest placement among all candidates (steps 5 to 8, without counting through the slots).
    fn earliest(&self, choice: Choice) -> Option<Offer> {
        let Wanted {
            count,
            from,
            length,
            ..
        } = self.question.wanted;
        let (start, chosen) = match choice {
            Choice::Nearest => earliest_common(&self.candidates, from, length, count, InOrder),
            Choice::BestFit => earliest_common(&self.candidates, from, length, count, BestFit),
        }
        .ok()?;
        Some(self.offer(start, chosen))
    }

    fn offer(&self, start: Time, chosen: impl IntoIterator<Item = u32>) -> Offer {
        let chosen = chosen.into_iter();
        let nodes = chosen.filter_map(|index| self.candidates.get(index as usize));
        Offer {
            start,
            hops: self.hops,
            nodes: nodes.map(|known| known.node).collect(),
        }
    }

    /// Whether to ask another node of this ring: all direct neighbours, as in the paper; later rings until plenty.
    fn goes_on(&self, config: &Config) -> bool {
        self.hops <= 2 || !self.has_plenty(config)
    }

    /// Whether the search goes on to the next ring: always after the first, later only without plenty of candidates
    /// (PROTOCOLS D1).
    fn widens(&self, config: &Config) -> bool {
        self.hops < config.max_hops
            && !self.next_ring.is_empty()
            && (self.hops == 1 || !self.has_plenty(config))
    }
}

/// How many nodes a failed search saw. `None` if that says nothing about the job: the node had no room to search, saw no
/// nodes, or lacks the schedule of a neighbour.
pub(super) type Candidates = Option<Tally>;

/// If a search has seen so many times as many nodes as it wants candidates, enough candidates will do.
const ENOUGH_SEEN: u64 = 4;

/// How many nodes that cannot run a job are seen in its search for each candidate that it may have.
const MOST_UNSUITED: u32 = 8;

impl<const C: usize, const L: usize, P: Policy> Asap<C, L, P> {
    fn judge(&self) -> Judge<'_> {
        Judge {
            dimensions: self.desk.policy().dimensions(),
            preselection: self.config.preselection,
        }
    }

    /// Begins a search, or declines it if there is no room.
    pub(super) fn search(&mut self, question: Question, cx: &mut dyn Context<Self>) {
        let most = usize::from(self.config.commit.members).saturating_add(MOST_UNWILLING);
        if question.wanted.count as usize > most || !self.may_serve(question.asker) {
            self.declined.searches = self.declined.searches.saturating_add(1);
            self.conclude(&question, Err(None), cx);
            return;
        }
        match self.config.exchange {
            Exchange::Pull => self.pull(Then::Search(question), cx),
            Exchange::Push { .. } | Exchange::Poll { .. } => self.look_around(question, cx),
        }
    }

    /// Whether there is room for another search of this asker. One asker gets at most half of the room.
    fn may_serve(&self, asker: NodeId) -> bool {
        let most = usize::from(self.config.searches);
        let searches = self.searches.iter().map(Search::asker);
        let askers = searches.chain(self.pulls.iter().map(|pull| pull.then.asker()));
        let all = self.searches.len().saturating_add(self.pulls.len());
        all < most && askers.filter(|known| *known == asker).count() < most.div_ceil(2)
    }

    fn next_search(&mut self) -> SearchId {
        self.last_search = self.last_search.wrapping_add(1);
        SearchId(self.last_search)
    }

    /// Asks all neighbours for their schedules before anything else (PROTOCOLS D9).
    fn pull(&mut self, then: Then, cx: &mut dyn Context<Self>) {
        self.look_at_view(cx);
        let id = self.next_search();
        let awaited: Vec<NodeId> = self.neighbours.iter().map(|known| known.id).collect();
        for &node in &awaited {
            cx.send(node, Message::Fetch(Reason::Search(id)));
        }
        let until = cx.now() + self.config.timeout;
        self.pulls.push(Pull {
            id,
            awaited,
            until,
            then,
        });
        self.end_pulls(cx);
    }

    /// A schedule arrived for a pull, or from the asker of a search.
    pub(super) fn on_schedule_for_search(
        &mut self,
        id: SearchId,
        known: Known,
        cx: &mut dyn Context<Self>,
    ) {
        self.on_pulled_schedule(known.node, id, cx);
        if let Some(mut search) = self.take_answered(known.node, id) {
            // A node that was asked for its neighbours is a candidate already.
            let is_new = |node| search.candidates.iter().all(|other| other.node != node);
            if is_new(known.node) {
                search.add(known, self.judge());
            }
            self.go_on(search, cx);
        }
    }

    /// A neighbour answered a pull.
    fn on_pulled_schedule(&mut self, from: NodeId, id: SearchId, cx: &mut dyn Context<Self>) {
        if let Some(pull) = self.pulls.iter_mut().find(|pull| pull.id == id) {
            pull.awaited.retain(|node| *node != from);
            if pull.awaited.is_empty() {
                self.end_pulls(cx);
            }
        }
    }

    /// Continues all pulls that are complete or out of time.
    fn end_pulls(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        while let Some(index) = self
            .pulls
            .iter()
            .position(|pull| pull.awaited.is_empty() || pull.until <= now)
        {
            match self.pulls.remove(index).then {
                Then::Search(question) => self.look_around(question, cx),
                Then::Answer { searcher, search } => self.name_others(searcher, search, cx),
            }
        }
    }

    /// When the first pull runs out of time.
    pub(super) fn pulls_due(&self) -> Option<Time> {
        self.pulls.iter().map(|pull| pull.until).min()
    }

    /// Steps 1 to 3: the neighbours, in random order.
    fn look_around(&mut self, question: Question, cx: &mut dyn Context<Self>) {
        let id = self.next_search();
        let limit = cx.now() + self.config.search_limit;
        let held = self.held_by(&question);
        let mut search = Search::new(id, question, limit);
        let judge = self.judge();
        search.discover(self.me);
        search.held = held;
        if self.config.searcher == Searcher::Included && self.desk.takes_jobs() {
            let own = Known {
                node: self.me,
                stated: self.stated().clone(),
                schedule: self.own.clone(),
            };
            search.add(own, judge);
        }
        let mut near: Vec<usize> = (0..self.neighbours.len()).collect();
        cx.rng().shuffle(&mut near);
        for known in near
            .into_iter()
            .filter_map(|near| self.neighbours.get(near))
        {
            search.next_ring.push(known.id);
            // If its schedule is missing, it is not marked as seen: another node may send that schedule.
            if let Some(known) = known.known() {
                search.discover(known.node);
                search.add(known, judge);
            }
        }
        self.ask_held(&mut search, cx);
        self.go_on(search, cx);
    }

    /// What the job of an own search has: its placement, if it has one.
    fn held_by(&self, question: &Question) -> Option<Held> {
        let own = question.asker == self.me;
        let placement = own.then(|| self.placement(question.ask.job)).flatten()?;
        Some(Held {
            interval: Interval::new(placement.start, placement.end?).ok()?,
            nodes: placement.nodes,
        })
    }

    /// Asks the nodes that the job has for their schedules: some become free before the others.
    fn ask_held(&self, search: &mut Search, cx: &mut dyn Context<Self>) {
        let until = cx.now() + self.config.timeout;
        let nodes = search.held.iter().flat_map(|held| held.nodes.clone());
        for node in nodes.collect::<Vec<_>>() {
            if search.discover(node) {
                search.asked.push((node, until));
                cx.send(node, Message::Fetch(Reason::Search(search.id)));
            }
        }
    }

    /// Step 4 and what follows: asks nodes for their neighbours until enough are free, and at last puts the job off.
    fn go_on(&mut self, mut search: Search, cx: &mut dyn Context<Self>) {
        if search.has_enough_free() {
            let offer = search.at_once(self.config.choice);
            self.conclude(&search.question, offer.ok_or(None), cx);
            return;
        }
        loop {
            while search.asked.len() < usize::from(self.config.width)
                && search.goes_on(&self.config)
                && let Some(node) = search.to_ask.pop()
            {
                let until = cx.now() + self.config.names_others_in();
                search.asked.push((node, until));
                cx.send(node, Message::WhoElse { search: search.id });
            }
            if !search.asked.is_empty() {
                self.searches.push(search);
                return;
            }
            if !search.widens(&self.config) {
                self.ask_asker(search, cx);
                return;
            }
            search.hops = search.hops.saturating_add(1);
            search.to_ask = mem::take(&mut search.next_ring);
            search.to_ask.reverse();
        }
    }

    /// If there are too few candidates, asks the asker for its schedule: in a small grid its own job may need it.
    fn ask_asker(&mut self, mut search: Search, cx: &mut dyn Context<Self>) {
        let asker = search.question.asker;
        if self.config.searcher == Searcher::Included
            && self.desk.takes_jobs()
            && !search.has_enough()
            && !search.is_full(&self.config)
            && search.discover(asker)
        {
            search.asked.push((asker, cx.now() + self.config.timeout));
            cx.send(asker, Message::Fetch(Reason::Search(search.id)));
            self.searches.push(search);
        } else {
            self.put_off(&search, cx);
        }
    }

    /// Steps 5 to 8: answers with the earliest placement among all candidates, if there are enough.
    fn put_off(&mut self, search: &Search, cx: &mut dyn Context<Self>) {
        let enough = search.has_enough();
        let offer = enough
            .then(|| search.earliest(self.config.choice))
            .flatten();
        // While the schedule of a neighbour is missing, too few candidates do not mean that the job is too large.
        let missing = |known: &Neighbour| search.seen.binary_search(&known.id).is_err();
        let seen = if !enough && self.neighbours.iter().any(missing) {
            None
        } else {
            Some(search.tally).filter(|seen| !seen.is_empty())
        };
        self.conclude(&search.question, offer.ok_or(seen), cx);
    }

    /// Sends the result of a search to its asker, which may be this node.
    fn conclude(
        &mut self,
        question: &Question,
        outcome: Result<Offer, Candidates>,
        cx: &mut dyn Context<Self>,
    ) {
        let Question { asker, ask, .. } = *question;
        if asker == self.me {
            self.on_search_answer(asker, ask, outcome, cx);
            return;
        }
        let answer = match outcome {
            Ok(offer) => Message::Found { ask, offer },
            Err(found) => Message::NotFound {
                ask,
                seen: found.unwrap_or_default(),
            },
        };
        cx.send(asker, answer);
    }

    /// A searcher asks for this node's neighbours. With Pull, their schedules are fetched first if there is room.
    pub(super) fn on_who_else(
        &mut self,
        from: NodeId,
        search: SearchId,
        cx: &mut dyn Context<Self>,
    ) {
        let searcher = from;
        let pulls = self.config.exchange == Exchange::Pull;
        if pulls && self.may_serve(from) {
            self.pull(Then::Answer { searcher, search }, cx);
        } else {
            self.declined.searches = self.declined.searches.saturating_add(u64::from(pulls));
            self.name_others(searcher, search, cx);
        }
    }

    fn name_others(&self, searcher: NodeId, search: SearchId, cx: &mut dyn Context<Self>) {
        let known: Others = self.others().collect();
        cx.send(searcher, Message::Others { search, known });
    }

    /// A node that was asked sent its neighbours: they become candidates.
    pub(super) fn on_others(
        &mut self,
        from: NodeId,
        id: SearchId,
        known: &Others,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(mut search) = self.take_answered(from, id) else {
            return;
        };
        let judge = self.judge();
        for known in known.iter().take(C) {
            if search.is_full(&self.config) {
                break;
            }
            if search.discover(known.node) {
                // The neighbours are all in the first ring already.
                if !self.is_neighbour(known.node) {
                    search.next_ring.push(known.node);
                }
                search.add(known.clone(), judge);
            }
        }
        self.go_on(search, cx);
    }

    /// Takes out the search that waits for an answer of this node, and marks it as answered.
    fn take_answered(&mut self, from: NodeId, id: SearchId) -> Option<Search> {
        let index = self.searches.iter().position(|search| search.id == id)?;
        let asked = &mut self.searches.get_mut(index)?.asked;
        let answer = asked.iter().position(|(node, _)| *node == from)?;
        asked.swap_remove(answer);
        Some(self.searches.remove(index))
    }

    /// Continues searches without the nodes that did not answer in time, and ends searches at their limit.
    pub(super) fn attend_searches(&mut self, cx: &mut dyn Context<Self>) {
        self.end_pulls(cx);
        let now = cx.now();
        while let Some(index) = self
            .searches
            .iter()
            .position(|search| search.next_due() <= now)
        {
            let mut search = self.searches.remove(index);
            if search.limit <= now {
                self.put_off(&search, cx);
            } else {
                search.asked.retain(|(_, until)| *until > now);
                self.go_on(search, cx);
            }
        }
    }

    /// A node is unreachable: no search and no pull waits for it any longer.
    pub(super) fn give_up_on(&mut self, node: NodeId, cx: &mut dyn Context<Self>) {
        for pull in &mut self.pulls {
            pull.awaited.retain(|awaited| *awaited != node);
        }
        for search in &mut self.searches {
            for (asked, until) in &mut search.asked {
                if *asked == node {
                    *until = cx.now();
                }
            }
        }
        self.attend_searches(cx);
    }
}

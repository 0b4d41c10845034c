//! Searching a place for somebody's job (P1 figure 3).
//!
//! Whoever is asked looks at the schedules of its neighbours. If too few of them are free at once, it asks them whom they
//! know, one after another, until enough are. If even then there are too few, the job is put off to the earliest time at
//! which enough of all candidates are free together.

use alloc::vec::Vec;
use core::mem;
use core::num::NonZeroU32;

use super::message::{AskId, Known, Message, Offer, Others, Reason, SearchId, Wanted};
use super::neighbours::Neighbour;
use super::{Asap, Choice, Config, Exchange, Searcher};
use crate::commit::Policy;
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;
use crate::schedule::common_slot::{BestFit, InOrder, earliest_common};
use crate::schedule::{BusyTime, Snapshot};
use crate::time::{Interval, Time};

/// For whom and for what a search is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Question {
    pub(super) asker: NodeId,
    pub(super) ask: AskId,
    pub(super) wanted: Wanted,
}

/// A search that waits for answers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Search {
    id: SearchId,
    question: Question,
    /// When it has to do with what it knows.
    limit: Time,
    /// In the order of discovery, each node once.
    candidates: Vec<Known>,
    /// Those of them that are free at once, by place.
    free: Vec<u32>,
    /// All candidates and the searcher, sorted.
    seen: Vec<NodeId>,
    /// How far the candidates are away, at most.
    hops: u8,
    /// Whom to ask next, the first last.
    to_ask: Vec<NodeId>,
    /// Who was discovered since, and could be asked after them.
    next_ring: Vec<NodeId>,
    /// Who was asked, and until when the answer is waited for.
    asked: Vec<(NodeId, Time)>,
}

/// The neighbours are being asked for their schedules.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pull {
    id: SearchId,
    awaited: Vec<NodeId>,
    until: Time,
    then: Then,
}

/// What their schedules are for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

impl Search {
    fn new(id: SearchId, question: Question, limit: Time) -> Self {
        Self {
            id,
            question,
            limit,
            candidates: Vec::new(),
            free: Vec::new(),
            seen: Vec::new(),
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

    /// Whether this node was not discovered before.
    fn discover(&mut self, node: NodeId) -> bool {
        let index = self.seen.binary_search(&node);
        if let Err(index) = index {
            self.seen.insert(index, node);
        }
        index.is_err()
    }

    fn add(&mut self, known: Known) {
        let wanted = self.question.wanted;
        let slot = Interval::starting(wanted.from, wanted.length);
        if slot.is_ok_and(|slot| known.is_free(slot)) {
            self.free.push(self.candidates.len() as u32);
        }
        self.candidates.push(known);
    }

    fn has_enough(&self) -> bool {
        self.candidates.len() >= self.question.wanted.count as usize
    }

    /// Whether there are so many candidates that the job need not wait for almost all of them.
    fn has_plenty(&self, config: &Config) -> bool {
        let plenty = u64::from(self.question.wanted.count).saturating_mul(config.breadth.into());
        self.candidates.len() as u64 >= plenty
            || self.candidates.len() >= usize::from(config.candidates)
    }

    fn has_enough_free(&self) -> bool {
        self.free.len() >= self.question.wanted.count as usize
    }

    /// The place at once, of the free ones that there are enough of.
    fn at_once(&self, choice: Choice) -> Option<Offer> {
        let wanted = self.question.wanted;
        match choice {
            Choice::Nearest => {
                let first = self.free.iter().take(wanted.count as usize);
                Some(self.offer(wanted.from, first.copied()))
            }
            Choice::BestFit => self.earliest(choice),
        }
    }

    /// The earliest place among all candidates (steps 5 to 8, without counting through the slots).
    fn earliest(&self, choice: Choice) -> Option<Offer> {
        let Wanted {
            count,
            from,
            length,
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

    /// Whether to ask another of this ring: all of the first, as in the paper, and of later ones as many as it takes.
    fn goes_on(&self, config: &Config) -> bool {
        self.hops <= 2 || !self.has_plenty(config)
    }

    /// Whether it can go on to those who were discovered last: to the second ring in any case, to later ones if there are
    /// too few candidates (PROTOCOLS D1).
    fn widens(&self, config: &Config) -> bool {
        self.hops < config.max_hops
            && !self.next_ring.is_empty()
            && (self.hops == 1 || !self.has_plenty(config))
    }
}

/// How many candidates a search without a place had, if that says something about the job: a node that has no room to search,
/// or knows no other, cannot tell.
pub(super) type Candidates = Option<NonZeroU32>;

impl<const C: usize, const L: usize, P: Policy> Asap<C, L, P> {
    /// Somebody wants a place.
    pub(super) fn search(&mut self, question: Question, cx: &mut dyn Context<Self>) {
        if !self.may_serve(question.asker) {
            self.declined.searches = self.declined.searches.saturating_add(1);
            self.conclude(&question, Err(None), cx);
            return;
        }
        match self.config.exchange {
            Exchange::Pull => self.pull(Then::Search(question), cx),
            Exchange::Push { .. } | Exchange::Poll { .. } => self.look_around(question, cx),
        }
    }

    /// Whether there is room for another search of this asker: nobody may have more than half of it.
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

    /// Asks all neighbours for their schedules first (PROTOCOLS D9).
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

    /// Somebody has told its schedule because of a search.
    pub(super) fn told_for_search(
        &mut self,
        from: NodeId,
        id: SearchId,
        schedule: Snapshot,
        cx: &mut dyn Context<Self>,
    ) {
        self.pulled(from, id, cx);
        if let Some(mut search) = self.take_answered(from, id) {
            search.add(Known {
                node: from,
                schedule,
            });
            self.go_on(search, cx);
        }
    }

    /// A neighbour has answered a pull.
    fn pulled(&mut self, from: NodeId, id: SearchId, cx: &mut dyn Context<Self>) {
        if let Some(pull) = self.pulls.iter_mut().find(|pull| pull.id == id) {
            pull.awaited.retain(|node| *node != from);
            if pull.awaited.is_empty() {
                self.end_pulls(cx);
            }
        }
    }

    /// Goes on with whatever need not wait any longer.
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

    /// When a pull is over at the latest.
    pub(super) fn pulls_due(&self) -> Option<Time> {
        self.pulls.iter().map(|pull| pull.until).min()
    }

    /// Steps 1 to 3: the neighbours, in random order.
    fn look_around(&mut self, question: Question, cx: &mut dyn Context<Self>) {
        let id = self.next_search();
        let limit = cx.now() + self.config.search_limit;
        let mut search = Search::new(id, question, limit);
        search.discover(self.me);
        if self.config.searcher == Searcher::Included && !self.desk.is_leaving() {
            search.add(Known {
                node: self.me,
                schedule: self.own.clone(),
            });
        }
        let mut near: Vec<usize> = (0..self.neighbours.len()).collect();
        cx.rng().shuffle(&mut near);
        for known in near
            .into_iter()
            .filter_map(|near| self.neighbours.get(near))
        {
            search.next_ring.push(known.id);
            // Others may know the schedule of one that has not told its own yet.
            if let Some(schedule) = &known.schedule {
                search.discover(known.id);
                search.add(Known {
                    node: known.id,
                    schedule: schedule.clone(),
                });
            }
        }
        self.go_on(search, cx);
    }

    /// Step 4 and what follows: asks whom others know until there is a place, and at last puts the job off.
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

    /// The asker may run its job too, and in a grid of few nobody else may know it: if it takes it, it is asked when it is busy.
    fn ask_asker(&mut self, mut search: Search, cx: &mut dyn Context<Self>) {
        let asker = search.question.asker;
        let most = usize::from(self.config.candidates);
        if self.config.searcher == Searcher::Included
            && !self.desk.is_leaving()
            && !search.has_enough()
            && search.candidates.len() < most
            && search.discover(asker)
        {
            search.asked.push((asker, cx.now() + self.config.timeout));
            cx.send(asker, Message::Fetch(Reason::Search(search.id)));
            self.searches.push(search);
        } else {
            self.put_off(&search, cx);
        }
    }

    /// Steps 5 to 8: the earliest place among all candidates, if they are enough.
    fn put_off(&mut self, search: &Search, cx: &mut dyn Context<Self>) {
        let enough = search.has_enough();
        let offer = enough
            .then(|| search.earliest(self.config.choice))
            .flatten();
        // While the schedule of a neighbour is missing, that there are too few says nothing about the job.
        let missing = |known: &Neighbour| search.seen.binary_search(&known.id).is_err();
        let seen = if !enough && self.neighbours.iter().any(missing) {
            None
        } else {
            NonZeroU32::new(search.candidates.len() as u32)
        };
        self.conclude(&search.question, offer.ok_or(seen), cx);
    }

    /// Tells whoever asked what came of it.
    fn conclude(
        &mut self,
        question: &Question,
        outcome: Result<Offer, Candidates>,
        cx: &mut dyn Context<Self>,
    ) {
        let Question { asker, ask, .. } = *question;
        if asker == self.me {
            self.answered(asker, ask, outcome, cx);
            return;
        }
        let answer = match outcome {
            Ok(offer) => Message::Found { ask, offer },
            Err(found) => Message::NotFound {
                ask,
                seen: found.map_or(0, NonZeroU32::get),
            },
        };
        cx.send(asker, answer);
    }

    /// Somebody who searches wants to know whom this node knows.
    pub(super) fn asked_for_others(
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

    /// Somebody who was asked has said whom it knows.
    pub(super) fn told_of_others(
        &mut self,
        from: NodeId,
        id: SearchId,
        known: &Others,
        cx: &mut dyn Context<Self>,
    ) {
        let Some(mut search) = self.take_answered(from, id) else {
            return;
        };
        let most = usize::from(self.config.candidates);
        for known in known.iter().take(C) {
            if search.candidates.len() >= most {
                break;
            }
            if search.discover(known.node) {
                // Neighbours are asked in any case.
                if !self.is_neighbour(known.node) {
                    search.next_ring.push(known.node);
                }
                search.add(known.clone());
            }
        }
        self.go_on(search, cx);
    }

    /// Takes out the search that waits for this node's answer.
    fn take_answered(&mut self, from: NodeId, id: SearchId) -> Option<Search> {
        let index = self.searches.iter().position(|search| search.id == id)?;
        let asked = &mut self.searches.get_mut(index)?.asked;
        let answer = asked.iter().position(|(node, _)| *node == from)?;
        asked.swap_remove(answer);
        Some(self.searches.remove(index))
    }

    /// Goes on without those who do not answer, and ends searches that take too long.
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

    /// A node is not there: nobody waits for it any longer.
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

//! Looking for nodes that are free now.

use std::collections::BTreeSet;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::Refusal;
use gridweave_core::machine::Context;
use gridweave_core::rng::Choose;
use gridweave_core::time::Span;

use super::task::{Phase, Search};
use super::worker::Work;
use super::{Flood, Message, SearchId};

impl Flood {
    /// A name for the next search.
    pub(super) fn next_search(&mut self, job: JobId) -> SearchId {
        self.searches = self.searches.wrapping_add(1);
        SearchId {
            origin: self.me,
            job,
            life: self.overlay.incarnation().unwrap_or_default(),
            number: self.searches,
        }
    }

    /// Begins a round of searches.
    pub(super) fn search(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if let Some(radius) = self.tasks.get(&job).map(|task| task.radius) {
            self.search_within(job, radius, cx);
        }
    }

    /// Asks this node and all within `radius` hops. For a job of one node, asks no peer if this node is free.
    fn search_within(&mut self, job: JobId, radius: u8, cx: &mut dyn Context<Self>) {
        let id = self.next_search(job);
        let Some(task) = self.tasks.get_mut(&job) else {
            return;
        };
        let began = cx.now();
        task.phase = Phase::Searching(Search {
            id,
            radius,
            began,
            offers: BTreeSet::new(),
            busy: BTreeSet::new(),
        });
        let alone = task.wanted == 1 && self.work == Work::Free;
        self.wait_until(job, began + self.config.answers, cx);
        self.answer(id, cx);
        if !alone {
            self.pass_on(self.me, id, radius, cx);
        }
    }

    /// A node offers itself. It is accepted if the search still needs nodes, and released at once if not.
    pub(super) fn hear_offer(&mut self, from: NodeId, id: SearchId, cx: &mut dyn Context<Self>) {
        let now = cx.now() + self.config.slack;
        match self
            .tasks
            .get_mut(&id.job)
            .map(|task| (task.wanted, &mut task.phase))
        {
            Some((wanted, Phase::Searching(search)))
                if search.id == id && now <= search.began + self.config.lease =>
            {
                search.busy.remove(&from);
                search.offers.insert(from);
                if search.offers.len() >= wanted {
                    self.begin_attempt(id.job, cx);
                }
            }
            // A duplicate offer of a node that is already a member.
            Some((_, Phase::Trying(attempt)))
                if attempt.search == id && attempt.parts.contains_key(&from) => {}
            _ => self.tell(from, Message::Release(id), cx),
        }
    }

    /// A node answers that it is not free.
    pub(super) fn hear_busy(&mut self, from: NodeId, id: SearchId) {
        if let Some(task) = self.tasks.get_mut(&id.job)
            && let Phase::Searching(search) = &mut task.phase
            && search.id == id
            && !search.offers.contains(&from)
            && search.busy.len() < Self::MOST_MEMBERS as usize
        {
            search.busy.insert(from);
        }
    }

    /// Too few nodes were free: searches further, or repeats the search after a pause, or gives the job up.
    pub(super) fn end_search(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        self.let_go(job, cx);
        let Some(task) = self.tasks.get_mut(&job) else {
            return;
        };
        let Phase::Searching(search) = &task.phase else {
            return;
        };
        let (id, radius) = (search.id, search.radius);
        let found = search.offers.len() + search.busy.len();
        let enough = found >= task.wanted;
        let plenty = found >= task.wanted.saturating_mul(usize::from(self.config.breadth));
        if !plenty && radius < self.config.max_radius {
            if !enough {
                // Within this radius there are too few nodes in all, so later rounds begin beyond it.
                task.radius = radius.saturating_add(1);
            }
            self.search_within(job, radius.saturating_add(1), cx);
            return;
        }
        task.too_few = if enough {
            0
        } else {
            task.too_few.saturating_add(1)
        };
        if task.too_few >= self.config.searches {
            self.give_up(id, Refusal::TooLarge, cx);
        } else if cx.now() - task.since >= self.config.patience {
            self.give_up(id, Refusal::Full, cx);
        } else {
            task.phase = Phase::Waiting;
            self.back_off(job, cx);
        }
    }

    /// Waits after a failed round, between half and all of a time that doubles with each round: so two jobs that claim
    /// nodes from each other do not clash again and again.
    fn back_off(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(task) = self.tasks.get_mut(&job) else {
            return;
        };
        let longest = self.config.max_retry.as_micros();
        let doubled = 1_u64
            .checked_shl(u32::from(task.rounds))
            .unwrap_or(u64::MAX);
        task.rounds = task.rounds.saturating_add(1);
        let retry = self.config.retry.times(doubled).as_micros();
        let half = Span::from_micros(retry.min(longest) / 2);
        let part = u64::from(cx.rng().below(1 << 10));
        let more = Span::from_micros((half.as_micros() / (1 << 10)).saturating_mul(part));
        self.wait_until(job, cx.now() + half + more, cx);
    }

    /// Releases all nodes that are claimed for the running search for this job.
    pub(super) fn let_go(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(task) = self.tasks.get(&job) else {
            return;
        };
        if let Phase::Searching(search) = &task.phase {
            let (id, offers) = (search.id, search.offers.clone());
            for node in offers {
                self.tell(node, Message::Release(id), cx);
            }
        }
    }
}

//! Running a job on nodes that are claimed for it: all of them, or none.

use crate::schedulers::told::placed;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Failure, News, Outcome, Refusal};
use gridweave_core::machine::Context;
use gridweave_core::shared::Shared;
use gridweave_core::sorted::SortedMap;

use super::task::{Attempt, Clearing, Part, Phase, Stage, Task, Then, Told};
use super::{Flood, Message, SearchId};

impl Flood {
    /// Enough nodes are claimed: writes their names to disk, and starts the job on them.
    pub(super) fn begin_attempt(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(task) = self.tasks.get_mut(&job) else {
            return;
        };
        let Phase::Searching(search) = &task.phase else {
            return;
        };
        let members: Vec<NodeId> = search.offers.iter().copied().collect();
        let (id, begin_by) = (search.id, search.began + self.config.lease);
        task.phase = Phase::Trying(Attempt {
            search: id,
            parts: members.iter().map(|node| (*node, Part::Claimed)).collect(),
            begin_by,
            until: now + self.config.permission,
        });
        (task.rounds, task.too_few) = (0, 0);
        let told = std::mem::replace(&mut task.told, Told::Accepted);
        let search = id;
        let nodes = members.to_vec();
        self.write_down(job, Stage::Trying { search, members }, cx);
        let placement = Shared::new(placed(id.attempt(), now, nodes));
        let news = match told {
            Told::Nothing => News::Accepted(placement),
            Told::Accepted => News::Moved(placement),
        };
        self.say(job, news, cx);
        self.order_start(job, cx);
    }

    fn attempt(&mut self, job: JobId) -> Option<(&Task, Attempt)> {
        let task = self.tasks.get(&job)?;
        match &task.phase {
            Phase::Trying(attempt) => Some((task, attempt.clone())),
            _ => None,
        }
    }

    /// Sends the order to start to each claimed node that has not yet confirmed that it runs the job.
    pub(super) fn order_start(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some((task, attempt)) = self.attempt(job) else {
            return;
        };
        let (wanted, until) = (Box::new(task.job), attempt.until);
        self.wait_until(job, cx.now() + self.config.answers, cx);
        for (node, part) in attempt.parts {
            if part == Part::Claimed {
                let (search, job) = (attempt.search, wanted.clone());
                self.tell(node, Message::Start { search, job, until }, cx);
            }
        }
    }

    /// Repeats unanswered orders to start, renews permissions, and abandons the attempt if a node is lost.
    pub(super) fn look_after(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some((_, attempt)) = self.attempt(job) else {
            return;
        };
        let silence = self.config.permission;
        let lost = attempt.parts.values().any(|part| match part {
            Part::Claimed => attempt.begin_by <= now,
            Part::Running { heard } => *heard + silence <= now,
            Part::Ended => false,
        });
        if lost {
            self.abandon(job, Then::Again, cx);
        } else if attempt.parts.values().any(|part| *part == Part::Claimed) {
            self.order_start(job, cx);
        } else {
            self.renew_all(job, cx);
        }
    }

    fn renew_all(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let until = cx.now() + self.config.permission;
        let Some(Phase::Trying(attempt)) = self.tasks.get_mut(&job).map(|task| &mut task.phase)
        else {
            return;
        };
        attempt.until = until;
        let (search, parts) = (attempt.search, attempt.parts.clone());
        self.wait_until(job, cx.now() + self.config.renewal(), cx);
        for (node, part) in parts {
            if part != Part::Ended {
                self.tell(node, Message::Renew { search, until }, cx);
            }
        }
    }

    /// The parts of an attempt that is under way.
    fn parts(&mut self, search: SearchId) -> Option<&mut SortedMap<NodeId, Part>> {
        match self.tasks.get_mut(&search.job).map(|task| &mut task.phase) {
            Some(Phase::Trying(attempt)) if attempt.search == search => Some(&mut attempt.parts),
            _ => None,
        }
    }

    /// A node says that it runs the job.
    pub(super) fn hear_running(
        &mut self,
        from: NodeId,
        search: SearchId,
        cx: &mut dyn Context<Self>,
    ) {
        let heard = cx.now();
        let Some(parts) = self.parts(search) else {
            return;
        };
        let Some(part) = parts.get_mut(&from).filter(|part| **part != Part::Ended) else {
            return;
        };
        let began = *part == Part::Claimed;
        *part = Part::Running { heard };
        if began && parts.values().all(|part| *part != Part::Claimed) {
            self.wait_until(search.job, heard + self.config.renewal(), cx);
        }
    }

    /// A node says that the job has ended there.
    pub(super) fn hear_ended(
        &mut self,
        from: NodeId,
        search: SearchId,
        outcome: Outcome,
        cx: &mut dyn Context<Self>,
    ) {
        self.confirm(from, search);
        let Some(parts) = self.parts(search) else {
            return;
        };
        let Some(part) = parts.get_mut(&from) else {
            return;
        };
        *part = Part::Ended;
        if outcome == Outcome::Broke {
            let broke = News::Failed(Failure::Broke);
            self.abandon(search.job, Then::Say(broke), cx);
        } else if parts.values().all(|part| *part == Part::Ended) {
            self.close(search, News::Finished, cx);
        }
    }

    /// A node says that it does not run the job and will not: with that the whole attempt has failed.
    pub(super) fn hear_gone(&mut self, from: NodeId, search: SearchId, cx: &mut dyn Context<Self>) {
        self.confirm(from, search);
        let part = self.parts(search).and_then(|parts| parts.remove(&from));
        match part {
            None => {}
            // The node reported the end earlier, and has forgotten it since.
            Some(Part::Ended) => {
                if let Some(parts) = self.parts(search) {
                    parts.insert(from, Part::Ended);
                }
            }
            Some(Part::Claimed | Part::Running { .. }) => {
                self.abandon(search.job, Then::Again, cx);
            }
        }
    }

    /// Ends an attempt on all its nodes. An unreachable one may run on until its permission ends, so the job waits.
    pub(super) fn abandon(&mut self, job: JobId, then: Then, cx: &mut dyn Context<Self>) {
        let Some((_, attempt)) = self.attempt(job) else {
            return;
        };
        let search = attempt.search;
        let running = attempt
            .parts
            .iter()
            .filter(|(_, part)| **part != Part::Ended);
        let clearing = Clearing {
            search,
            unconfirmed: running.map(|(node, _)| *node).collect(),
            until: attempt.until + self.config.slack,
            then: then.clone(),
        };
        if let Some(task) = self.tasks.get_mut(&job) {
            task.phase = Phase::Clearing(clearing);
        }
        self.write_down(job, Stage::Clearing { search, then }, cx);
        self.clear(job, cx);
    }

    /// Repeats the order to stop to unconfirmed nodes. Once all permissions have ended, does what `then` says.
    pub(super) fn clear(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(task) = self.tasks.get_mut(&job) else {
            return;
        };
        let Phase::Clearing(clearing) = &task.phase else {
            return;
        };
        let search = clearing.search;
        if now < clearing.until {
            let (until, unconfirmed) = (clearing.until, clearing.unconfirmed.clone());
            let again = if unconfirmed.is_empty() {
                until
            } else {
                until.min(now + self.config.retry)
            };
            self.wait_until(job, again, cx);
            for node in unconfirmed {
                self.tell(node, Message::Stop(search), cx);
            }
            return;
        }
        match clearing.then.clone() {
            Then::Say(news) => self.close(search, news, cx),
            Then::Again if now - task.since >= self.config.patience => {
                self.give_up(search, Refusal::Full, cx);
            }
            Then::Again => {
                task.phase = Phase::Waiting;
                self.write_down(job, Stage::Looking, cx);
                self.search(job, cx);
            }
        }
    }

    /// A node no longer runs what is being cleared.
    fn confirm(&mut self, from: NodeId, search: SearchId) {
        if let Some(task) = self.tasks.get_mut(&search.job)
            && let Phase::Clearing(clearing) = &mut task.phase
            && clearing.search == search
        {
            clearing.unconfirmed.remove(&from);
        }
    }
}

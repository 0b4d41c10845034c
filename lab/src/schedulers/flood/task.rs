//! A job that was submitted here, until its last word.

use std::collections::BTreeSet;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Criterion, Demand, Failure, Job, News, Refusal, Scope};
use gridweave_core::machine::Context;
use gridweave_core::resource::Requirement;
use gridweave_core::sorted::SortedMap;
use gridweave_core::time::Time;
use serde::Serialize;

use super::{Flood, Key, Membership, Record, SearchId, Timer};

/// What becomes of a job that was submitted here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Job,
    /// How many nodes it wants.
    pub(super) wanted: usize,
    /// When it came here.
    pub(super) since: Time,
    pub(super) told: Told,
    pub(super) phase: Phase,
    /// When something is to be done about it, if nothing comes in before.
    pub(super) due: Time,
    /// The radius with which the next round of searches begins.
    pub(super) radius: u8,
    /// How many rounds in a row found too few free nodes.
    pub(super) rounds: u8,
    /// How many of the last searches found too few nodes, busy ones included.
    pub(super) too_few: u8,
}

/// What the host knows of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Told {
    /// Nothing yet.
    Nothing,
    /// That it will run.
    Accepted,
}

/// Where a job is between its submission and its last word.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Phase {
    /// Until the next search.
    Waiting,
    /// A search is under way.
    Searching(Search),
    /// It was started on all of its nodes, as far as this node knows.
    Trying(Attempt),
    /// An attempt failed, and may go on somewhere until its permission ends.
    Clearing(Clearing),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Search {
    pub(super) id: SearchId,
    pub(super) radius: u8,
    pub(super) began: Time,
    /// Who is free, and claimed for it; fewer than wanted.
    pub(super) offers: BTreeSet<NodeId>,
    /// Who is there and not free.
    pub(super) busy: BTreeSet<NodeId>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Attempt {
    pub(super) search: SearchId,
    pub(super) parts: SortedMap<NodeId, Part>,
    /// Who has not begun by then will not: its claim has ended.
    pub(super) begin_by: Time,
    /// Until when nodes may run it.
    pub(super) until: Time,
}

/// A job on one of its nodes, as far as its origin knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Part {
    /// It is to begin.
    Claimed,
    /// It ran when this was last heard.
    Running { heard: Time },
    /// It ran to its end.
    Ended,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Clearing {
    pub(super) search: SearchId,
    /// Who has not said that it no longer runs.
    pub(super) unconfirmed: BTreeSet<NodeId>,
    /// When it runs nowhere any more.
    pub(super) until: Time,
    pub(super) then: Then,
}

/// What comes after a failed attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Then {
    /// Another one.
    Again,
    /// This last word.
    Say(News),
}

/// How far a job is, for a node that restarts.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Stage {
    /// It has no nodes.
    Looking,
    /// It was started on these.
    Trying {
        /// Under this name.
        search: SearchId,
        /// In the order of ids.
        members: Vec<NodeId>,
    },
    /// It may still run somewhere, and no longer counts.
    Clearing {
        /// Under this name.
        search: SearchId,
        /// What comes after that.
        then: Then,
    },
}

impl Flood {
    /// A job comes in: it is refused at once if it can never be placed, else written down and looked for.
    pub(super) fn submit(&mut self, job: Job, cx: &mut dyn Context<Self>) {
        match self.wanted(&job) {
            Err(refusal) => self.say(job.id, News::Failed(Failure::Refused(refusal)), cx),
            Ok(wanted) => {
                let task = Task::new(job, wanted, self.config.radius, cx.now());
                self.tasks.insert(job.id, task);
                self.write_down(job.id, Stage::Looking, cx);
                self.search(job.id, cx);
            }
        }
    }

    /// How many nodes a job wants, if it can be taken at all.
    fn wanted(&self, job: &Job) -> Result<usize, Refusal> {
        let Demand::Nodes(nodes) = job.demand else {
            return Err(Refusal::UnsupportedDemand);
        };
        if job.requirement != Requirement::any() {
            return Err(Refusal::UnsupportedDemand);
        }
        if job.deadline.is_some() {
            return Err(Refusal::UnsupportedDeadline);
        }
        if job.criterion != Criterion::Soonest {
            return Err(Refusal::UnsupportedCriterion);
        }
        if job.scope != Scope::Grid {
            return Err(Refusal::UnsupportedScope);
        }
        if nodes.get() > Self::MOST_MEMBERS {
            return Err(Refusal::TooLarge);
        }
        if self.tasks.contains_key(&job.id) {
            return Err(Refusal::Known);
        }
        if self.membership == Membership::Leaving {
            return Err(Refusal::Leaving);
        }
        if self.tasks.len() >= Self::MOST_TASKS {
            return Err(Refusal::Full);
        }
        Ok(nodes.get() as usize)
    }

    /// Keeps what a restart needs.
    pub(super) fn write_down(&mut self, job: JobId, stage: Stage, cx: &mut dyn Context<Self>) {
        if let Some(task) = self.tasks.get(&job) {
            let record = Record::Task {
                job: Box::new(task.job),
                since: task.since,
                told: task.told,
                stage,
            };
            cx.persist(Key::Task(job), record);
        }
    }

    /// The last word on a job that runs nowhere. It is on disk before it is said, so that a crash in between leads to its being
    /// said again, and not to the job being run again.
    pub(super) fn close(&mut self, id: SearchId, news: News, cx: &mut dyn Context<Self>) {
        let then = Then::Say(news);
        self.write_down(id.job, Stage::Clearing { search: id, then }, cx);
        self.tasks.remove(&id.job);
        cx.cancel(Timer::Task(id.job));
        self.say(id.job, news, cx);
        cx.forget(Key::Task(id.job));
    }

    /// The last word on a job that has found no nodes, or none again.
    pub(super) fn give_up(&mut self, id: SearchId, refusal: Refusal, cx: &mut dyn Context<Self>) {
        let told = self.tasks.get(&id.job).map(|task| task.told);
        let failure = match told {
            Some(Told::Accepted) => Failure::NodeLost,
            _ => Failure::Refused(refusal),
        };
        self.close(id, News::Failed(failure), cx);
    }

    /// Asks to be woken for a job, in place of any earlier time.
    pub(super) fn wait_until(&mut self, job: JobId, at: Time, cx: &mut dyn Context<Self>) {
        if let Some(task) = self.tasks.get_mut(&job) {
            task.due = at;
            cx.wake(at, Timer::Task(job));
        }
    }

    /// It is time to do something about a job.
    pub(super) fn act(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(task) = self.tasks.get(&job) else {
            return;
        };
        if cx.now() < task.due {
            cx.wake(task.due, Timer::Task(job));
            return;
        }
        match task.phase {
            Phase::Waiting => self.search(job, cx),
            Phase::Searching(_) => self.end_search(job, cx),
            Phase::Trying(_) => self.look_after(job, cx),
            Phase::Clearing(_) => self.clear(job, cx),
        }
    }

    /// The user no longer wants a job.
    pub(super) fn cancel(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        let Some(task) = self.tasks.get_mut(&job) else {
            return;
        };
        match &mut task.phase {
            Phase::Waiting => {
                let id = self.next_search(job);
                self.close(id, News::Cancelled, cx);
            }
            Phase::Searching(search) => {
                let id = search.id;
                self.let_go(job, cx);
                self.close(id, News::Cancelled, cx);
            }
            Phase::Trying(_) => self.abandon(job, Then::Say(News::Cancelled), cx),
            Phase::Clearing(clearing) => {
                // An earlier life may have said the last word that is on disk, and no other may follow it.
                if clearing.then == Then::Again {
                    clearing.then = Then::Say(News::Cancelled);
                    let (search, then) = (clearing.search, clearing.then);
                    self.write_down(job, Stage::Clearing { search, then }, cx);
                }
            }
        }
    }

    /// A job that was on disk. What it was doing goes on when the node starts.
    pub(super) fn restore(&mut self, job: Job, since: Time, told: Told, stage: Stage) {
        let Demand::Nodes(nodes) = job.demand else {
            return;
        };
        let mut task = Task::new(job, nodes.get() as usize, self.config.radius, since);
        task.told = told;
        task.phase = match stage {
            Stage::Looking => Phase::Waiting,
            Stage::Trying { search, members } => Phase::Trying(Attempt {
                search,
                parts: members.iter().map(|node| (*node, Part::Claimed)).collect(),
                begin_by: Time::ZERO,
                until: Time::ZERO,
            }),
            Stage::Clearing { search, then } => Phase::Clearing(Clearing {
                search,
                unconfirmed: BTreeSet::new(),
                until: Time::ZERO,
                then,
            }),
        };
        self.tasks.insert(job.id, task);
    }

    /// Goes on with what was on disk. Permissions that were given before the crash end before one that is given now.
    pub(super) fn resume(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let lapsed = now + self.config.permission + self.config.slack;
        let jobs: Vec<JobId> = self.tasks.keys().copied().collect();
        for job in jobs {
            match self.tasks.get_mut(&job).map(|task| &mut task.phase) {
                Some(Phase::Trying(attempt)) => {
                    attempt.begin_by = now + self.config.lease;
                    attempt.until = now + self.config.permission;
                    self.order_start(job, cx);
                }
                Some(Phase::Clearing(clearing)) => {
                    clearing.until = lapsed;
                    self.wait_until(job, lapsed, cx);
                }
                Some(Phase::Waiting | Phase::Searching(_)) => self.search(job, cx),
                None => {}
            }
        }
    }
}

impl Task {
    fn new(job: Job, wanted: usize, radius: u8, now: Time) -> Self {
        Self {
            job,
            wanted,
            since: now,
            told: Told::Nothing,
            phase: Phase::Waiting,
            due: now,
            radius,
            rounds: 0,
            too_few: 0,
        }
    }
}

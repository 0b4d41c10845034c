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

/// A job that was submitted here, and how far it has come.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Job,
    /// How many nodes the job needs.
    pub(super) wanted: usize,
    /// When it was submitted.
    pub(super) since: Time,
    pub(super) told: Told,
    pub(super) phase: Phase,
    /// When `act` does the next step, unless a message comes first.
    pub(super) due: Time,
    /// The radius with which the next round of searches begins.
    pub(super) radius: u8,
    /// How many rounds in a row found too few free nodes.
    pub(super) rounds: u8,
    /// How many of the last searches found too few nodes, busy ones included.
    pub(super) too_few: u8,
}

/// What the host was told of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Told {
    /// Nothing yet.
    Nothing,
    /// That the job will run.
    Accepted,
}

/// Where a job is between its submission and its last word.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Phase {
    /// It waits for the next search.
    Waiting,
    /// A search is under way.
    Searching(Search),
    /// It was started on all of its nodes, as far as this node knows.
    Trying(Attempt),
    /// An attempt failed. Some nodes may run on until their permissions end.
    Clearing(Clearing),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Search {
    pub(super) id: SearchId,
    pub(super) radius: u8,
    pub(super) began: Time,
    /// The free nodes, claimed for this search; fewer than wanted.
    pub(super) offers: BTreeSet<NodeId>,
    /// The nodes that answered that they are not free.
    pub(super) busy: BTreeSet<NodeId>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Attempt {
    pub(super) search: SearchId,
    pub(super) parts: SortedMap<NodeId, Part>,
    /// A node that has not begun by then will not begin: its claim has ended.
    pub(super) begin_by: Time,
    /// When the permission of all nodes ends.
    pub(super) until: Time,
}

/// A job on one of its nodes, as far as its origin knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Part {
    /// The node is ordered to begin, and has not confirmed it.
    Claimed,
    /// The node last confirmed at `heard` that it runs the job.
    Running { heard: Time },
    /// The node reported the end of the job.
    Ended,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Clearing {
    pub(super) search: SearchId,
    /// The nodes that may still run the job.
    pub(super) unconfirmed: BTreeSet<NodeId>,
    /// When no node runs the job any more, because all permissions have ended.
    pub(super) until: Time,
    pub(super) then: Then,
}

/// What comes after a failed attempt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Then {
    /// The job is tried again.
    Again,
    /// The job ends with this outcome.
    Say(News),
}

/// How far a job is, for a node that restarts.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Stage {
    /// No nodes are claimed for it.
    Looking,
    /// It was started on some nodes.
    Trying {
        /// The search that found them.
        search: SearchId,
        /// The nodes, in the order of ids.
        members: Vec<NodeId>,
    },
    /// The attempt failed, and some nodes may still run the job.
    Clearing {
        /// The search of that attempt.
        search: SearchId,
        /// What comes after the last permission has ended.
        then: Then,
    },
}

impl Flood {
    /// Refuses a job that can never be placed; else writes it down and begins to search.
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

    /// Writes down what a restart needs.
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

    /// Tells the outcome of a job that runs nowhere. It is on disk before it is told: after a crash in between, the
    /// outcome is told again, and the job does not run again.
    pub(super) fn close(&mut self, id: SearchId, news: News, cx: &mut dyn Context<Self>) {
        let then = Then::Say(news.clone());
        self.write_down(id.job, Stage::Clearing { search: id, then }, cx);
        self.tasks.remove(&id.job);
        cx.cancel(Timer::Task(id.job));
        self.say(id.job, news, cx);
        cx.forget(Key::Task(id.job));
    }

    /// Ends a job for which no nodes were found: refused if it never had any, else failed.
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

    /// Does the next step for a job, if it is due.
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

    /// The user cancels a job.
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
                // An earlier life may have told the outcome that is on disk, and no other may follow it.
                if clearing.then == Then::Again {
                    clearing.then = Then::Say(News::Cancelled);
                    let (search, then) = (clearing.search, clearing.then.clone());
                    self.write_down(job, Stage::Clearing { search, then }, cx);
                }
            }
        }
    }

    /// Restores a job from disk. `resume` goes on with it when the node starts.
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

    /// Goes on with the restored jobs. Permissions from before the crash end no later than one given now.
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

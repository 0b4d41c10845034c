//! The side that wants time on several nodes at once.
//!
//! The first thing that a [`Coordinator`] does about a placement is to ask all of its nodes for a hold:
//! ```
//! use gridweave_core::commit::coordinator::{Candidate, Command, Coordinator};
//! use gridweave_core::admission::Needs;
//! use gridweave_core::commit::{Config, Everyone, Message};
//! use gridweave_core::id::{JobId, NodeId};
//! use gridweave_core::job::{Payload, Submitter};
//! use gridweave_core::machine::{Effect, EffectQueue, Event};
//! use gridweave_core::time::{Interval, Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let mut coordinator = Coordinator::new(Config::DEFAULT.checked()?, Everyone);
//! let nodes = vec![NodeId::new(1), NodeId::new(2)];
//! let interval = Interval::starting(Time::from_secs(600), Span::from_secs(3600))?;
//! let place = Command::Place {
//!     job: JobId::new(7),
//!     submitter: Submitter::default(),
//!     needs: Needs::NOTHING,
//!     payload: Payload::EMPTY,
//!     candidates: vec![Candidate { interval, nodes: nodes.clone() }],
//!     spares: vec![],
//! };
//! let mut effects = EffectQueue::new();
//! for event in [Event::Start, Event::Command(place)] {
//!     effects.feed(&mut coordinator, event, Time::ZERO, &mut rng);
//! }
//! let asked: Vec<_> = effects.drain().filter_map(|effect| match effect {
//!     Effect::Send { to, message: Message::Prepare { interval: wanted, .. } } if wanted == interval => Some(to),
//!     _ => None,
//! }).collect();
//! assert_eq!(asked, nodes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! The example of [`commit`](super) goes on to the end of the vote.

use alloc::vec::Vec;

mod clearing;
mod setback;
mod standing;
mod task;
#[cfg(test)]
mod tests;
mod voting;

pub use setback::Setback;
pub use task::{Candidate, Saved};

use super::config::{Config, Everyone, Policy};
use super::message::{Message, Refused};
use crate::admission::Needs;
use crate::id::{Epoch, Incarnation, JobId, NodeId};
use crate::job::{Payload, Placement, Submitter};
use crate::machine::{Alarm, Context, Event, Machine, Violation};
use crate::time::{Span, Time};
use crate::trace::Trace;
use task::{Decision, Purpose, Stage, Task};

/// The coordinator of one node: it gets jobs their time on all of their nodes, or on none, and watches over them.
///
/// Most effects per event: for each task whose time has come, three for each of its nodes and four more.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Coordinator<P: Policy = Everyone> {
    config: Config,
    policy: P,
    life: Incarnation,
    /// How many attempts were made in this life.
    attempts: u32,
    /// Sorted by job.
    tasks: Vec<Task>,
    alarm: Alarm,
}

/// The one timer of a coordinator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Due;

/// What is asked of a coordinator.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Get a job its time: the first candidate whose nodes all hold it. If a node is lost before the start, a spare
    /// takes its place.
    Place {
        /// The job to place.
        job: JobId,
        /// The user and organisation that submitted it.
        submitter: Submitter,
        /// What it needs of each of its nodes, beside their time.
        needs: Needs,
        /// What the hosts that run it are told.
        payload: Payload,
        /// The placements to try, best first.
        candidates: Vec<Candidate>,
        /// Nodes that can stand in for a lost one, best last.
        spares: Vec<NodeId>,
    },
    /// Move a job to a better placement if all of its nodes hold their time; else the job keeps what it has. From the
    /// decision on it has only the better one: if a node is then silent, or its lease has ended, both are lost.
    Improve {
        /// The job to move.
        job: JobId,
        /// The better placement.
        candidate: Candidate,
        /// More nodes that can stand in for a lost one, best last.
        spares: Vec<NodeId>,
    },
    /// Give up a job's time; it stops if it runs.
    Release {
        /// The job to give up.
        job: JobId,
    },
}

/// What a coordinator tells its host.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Notice {
    /// The job has its time on all of its nodes.
    Placed {
        /// The job.
        job: JobId,
        /// When and where it will run.
        placement: Placement,
    },
    /// The better placement could not be had; the job keeps the one it has.
    Kept {
        /// The job that was to move.
        job: JobId,
        /// Why the better placement failed; `None` if it was not tried.
        setback: Option<Setback>,
    },
    /// The job has no time, and nothing more to try.
    Unplaced {
        /// The job without time.
        job: JobId,
        /// Why the last attempt failed.
        setback: Setback,
        /// Whether the attempt may have run. Then no other candidate was tried.
        may_have_run: bool,
    },
    /// All nodes have done the job.
    Finished {
        /// The job that is done.
        job: JobId,
    },
    /// No node has the job any more, as far as can be known: each has let go, or is silent and cannot start it any
    /// more. Silent nodes are still asked to let go. `Cleared` may be told again after a restart.
    Cleared {
        /// The job that no node has.
        job: JobId,
    },
}

/// The key of a coordinator's record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// The number of the latest life.
    Life,
    /// What was decided about a job.
    Task(JobId),
}

/// What a coordinator has on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// The latest life.
    Life(Incarnation),
    /// A job that is committed or being cleared up.
    Task(Saved),
}

/// The most candidates of a job at once.
const MOST_CANDIDATES: usize = 16;

/// No trial begins for a job while more than this many times [`Config::members`] nodes have to let go of it.
const MOST_OLD: usize = 4;

/// At this attempt number a new life begins: well before the last one, since one event may make several attempts.
const LAST_ATTEMPT: u32 = u32::MAX - 16;

/// An effect of work on a task.
enum Out {
    Send(NodeId, Message),
    Notify(Notice),
    Persist(Saved),
    Trace(Trace),
}

/// The context of work on one task: what the work needs beside the task, and its effects.
///
/// `voting` gets a job its time, `standing` watches over it, `clearing` frees what is left of earlier attempts.
struct Work {
    config: Config,
    life: Incarnation,
    attempts: u32,
    now: Time,
    jitter: Span,
    outs: Vec<Out>,
}

impl Work {
    fn send(&mut self, to: NodeId, message: Message) {
        self.outs.push(Out::Send(to, message));
    }

    fn notify(&mut self, notice: Notice) {
        self.outs.push(Out::Notify(notice));
    }

    fn trace(&mut self, task: &Task, setback: Setback) {
        self.outs.push(Out::Trace(setback.trace(task.job)));
    }

    fn persist(&mut self, task: &Task) {
        self.outs.push(Out::Persist(task.record()));
    }

    /// An attempt number that no earlier one of this coordinator has, in any of its lives.
    fn next_epoch(&mut self) -> Epoch {
        self.attempts = self.attempts.saturating_add(1);
        Epoch::new(u64::from(self.life.get()) << 32 | u64::from(self.attempts))
    }

    /// When to repeat what has just been asked.
    fn later(&self) -> Time {
        self.again(self.now)
    }

    /// When to repeat what was first asked at `since`.
    fn again(&self, since: Time) -> Time {
        self.now + self.config.again(self.now - since) + self.jitter
    }

    /// Does what is due for a task.
    fn attend(&mut self, task: &mut Task) {
        let now = self.now;
        if let Some(trial) = task.trial.take_if(|trial| trial.resend <= now) {
            self.ask_again(task, trial);
        }
        if task
            .decision
            .as_ref()
            .is_some_and(|decision| decision.next <= now)
        {
            self.attend_attempt(task);
        }
        if !task.old.is_empty() && task.clear_at <= now {
            self.clear_again(task);
        }
    }
}

impl<P: Policy> Coordinator<P> {
    /// A coordinator without jobs. All nodes need the same configuration; see [`Config::checked`].
    pub fn new(config: Config, policy: P) -> Self {
        Self {
            config,
            policy,
            life: Incarnation::new(0),
            attempts: 0,
            tasks: Vec::new(),
            alarm: Alarm::default(),
        }
    }

    /// The jobs that have their time, are being voted on, or are being cleared up.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.tasks.iter().map(|task| task.job)
    }

    /// Until when a node may run a job, by this clock and by all permissions of this life and of earlier ones. `None`
    /// if the node was never permitted, has ended the job, or has let go.
    pub fn may_run_until(&self, job: JobId, node: NodeId) -> Option<Time> {
        let task = self.tasks.get(self.index_of(job).ok()?)?;
        let decision = task.decision.iter().flat_map(|decision| &decision.members);
        let open = decision.filter(|member| member.node == node && member.ended.is_none());
        let old = task.old.iter().filter(|old| old.node == node);
        let permitted = open.filter_map(|member| member.permitted);
        permitted.chain(old.filter_map(|old| old.permitted)).max()
    }

    /// Whether a node has to do with a job, as far as is known here: it votes, is told to commit, or is to let go.
    pub fn involves(&self, job: JobId, node: NodeId) -> bool {
        let task = self
            .index_of(job)
            .ok()
            .and_then(|index| self.tasks.get(index));
        task.is_some_and(|task| {
            let mut voters = task.trial.iter().flat_map(|trial| &trial.voters);
            let mut members = task.decision.iter().flat_map(|decision| &decision.members);
            voters.any(|voter| voter.node == node)
                || members.any(|member| member.node == node)
                || task.old.iter().any(|old| old.node == node)
        })
    }

    /// When and where a job is to run, if all of its nodes have committed.
    pub fn placement(&self, job: JobId) -> Option<Placement> {
        let task = self.tasks.get(self.index_of(job).ok()?)?;
        let decision = task.decision.as_ref();
        let standing = decision.filter(|decision| decision.stage == Stage::Standing)?;
        Some(standing.placement())
    }

    /// Whether a job has its time or is being voted on. If not, there may still be earlier attempts to clear up.
    pub fn is_placing(&self, job: JobId) -> bool {
        let task = self
            .index_of(job)
            .ok()
            .and_then(|index| self.tasks.get(index));
        task.is_some_and(|task| task.trial.is_some() || task.decision.is_some())
    }

    fn index_of(&self, job: JobId) -> Result<usize, usize> {
        self.tasks.binary_search_by_key(&job, |task| task.job)
    }

    /// Works on a task, then keeps it, or forgets it if nothing of it is left. Returns false if there is no such task.
    fn with_task(
        &mut self,
        job: JobId,
        cx: &mut dyn Context<Self>,
        act: impl FnOnce(&mut Work, &mut Task),
    ) -> bool {
        let Ok(index) = self.index_of(job) else {
            return false;
        };
        if self.attempts >= LAST_ATTEMPT {
            // This life has no attempt numbers left: the next one begins, as after a crash.
            self.begin_life(cx);
        }
        let mut task = self.tasks.remove(index);
        let mut work = Work {
            config: self.config,
            life: self.life,
            attempts: self.attempts,
            now: cx.now(),
            jitter: self.config.draw_jitter(cx.rng()),
            outs: Vec::new(),
        };
        act(&mut work, &mut task);
        self.attempts = work.attempts;
        for out in work.outs {
            match out {
                Out::Send(peer, message) => {
                    if matches!(message, Message::Prepare { .. }) {
                        cx.trace(Trace::Asks { job, peer });
                    }
                    cx.send(peer, message);
                }
                Out::Notify(notice) => cx.notify(notice),
                Out::Persist(record) => cx.persist(Key::Task(job), Record::Task(record)),
                Out::Trace(trace) => cx.trace(trace),
            }
        }
        if task.is_over() {
            cx.forget(Key::Task(job));
            if !task.is_cleared {
                cx.notify(Notice::Cleared { job });
            }
        } else {
            self.tasks.insert(index, task);
        }
        true
    }

    /// Whether there is room for another job. If need be, forgets a job that no node can start any more: silent nodes
    /// let go by themselves. That a job may have run is not forgotten before its host knows.
    fn make_room(&mut self, cx: &mut dyn Context<Self>) -> bool {
        if self.tasks.len() < usize::from(self.config.tasks) {
            return true;
        }
        let is_done_with = |task: &Task| task.is_cleared && task.slipped.is_none();
        let Some(index) = self.tasks.iter().position(is_done_with) else {
            return false;
        };
        let task = self.tasks.remove(index);
        cx.forget(Key::Task(task.job));
        true
    }

    fn take(
        &mut self,
        job: JobId,
        (submitter, needs, payload): (Submitter, Needs, Payload),
        mut candidates: Vec<Candidate>,
        spares: Vec<NodeId>,
        cx: &mut dyn Context<Self>,
    ) {
        let most = usize::from(self.config.members);
        let sound = (1..=MOST_CANDIDATES).contains(&candidates.len())
            && spares.len() <= most
            && candidates.iter().all(|candidate| candidate.is_sound(most));
        let setback = if !self.policy.may_submit(&submitter) {
            Some(Setback::NotAuthorised)
        } else if !sound {
            Some(Setback::BadCandidate)
        } else if self.index_of(job).is_err() && !self.make_room(cx) {
            Some(Setback::Full)
        } else {
            None
        };
        if let Some(setback) = setback {
            cx.notify(Notice::Unplaced {
                job,
                setback,
                may_have_run: false,
            });
            return;
        }
        if let Err(index) = self.index_of(job) {
            self.tasks.insert(index, Task::new(job, submitter));
        }
        candidates.reverse();
        self.with_task(job, cx, |work, task| {
            // A job that has its time, or is being voted on, is not placed a second time. Nodes of earlier attempts
            // must not pile up.
            if task.decision.is_some()
                || task.trial.is_some()
                || task.old.len() > most.saturating_mul(MOST_OLD)
            {
                let setback = Setback::Full;
                work.notify(Notice::Unplaced {
                    job,
                    setback,
                    may_have_run: false,
                });
                return;
            }
            if let Some(node) = task.slipped.take() {
                let setback = Setback::Lost { node };
                work.persist(task);
                work.trace(task, setback);
                work.notify(Notice::Unplaced {
                    job,
                    setback,
                    may_have_run: true,
                });
                return;
            }
            task.submitter = submitter;
            task.needs = needs;
            task.payload = payload;
            task.spares = spares;
            task.candidates = candidates;
            task.is_cleared = false;
            work.try_next(task, Setback::Slow);
        });
    }

    fn improve(
        &mut self,
        job: JobId,
        candidate: &Candidate,
        spares: &[NodeId],
        cx: &mut dyn Context<Self>,
    ) {
        let most = usize::from(self.config.members);
        let known = self.with_task(job, cx, |work, task| {
            // A job that runs, or is about to start, is not moved.
            let soonest = work.now + work.config.lead;
            let movable = |decision: &Decision| {
                decision.stage == Stage::Standing && decision.interval.start() >= soonest
            };
            let possible = task.decision.as_ref().is_some_and(movable)
                && task.trial.is_none()
                && task.old.len() <= most.saturating_mul(MOST_OLD)
                && candidate.is_sound(most);
            if possible {
                task.add_spares(spares, most);
                work.try_candidate(task, candidate, Purpose::Improve);
            } else {
                let setback = None;
                work.notify(Notice::Kept { job, setback });
            }
        });
        if !known {
            let setback = None;
            cx.notify(Notice::Kept { job, setback });
        }
    }

    fn receive(&mut self, from: NodeId, message: &Message, cx: &mut dyn Context<Self>) {
        let (job, epoch) = (message.job(), message.epoch());
        let known = self.with_task(job, cx, |work, task| match *message {
            Message::Prepared { lease, .. } => work.on_prepared(task, from, epoch, lease),
            Message::Refused {
                reason, next_free, ..
            } => {
                let setback = Setback::Refused {
                    node: from,
                    reason,
                    next_free,
                };
                work.on_refused(task, from, epoch, setback);
            }
            Message::Committed { .. } => work.on_committed(task, from, epoch),
            Message::Expired { .. } => work.on_expired(task, from, epoch),
            Message::Alive { standing, .. } => work.on_alive(task, from, epoch, standing),
            Message::Query { .. } => work.on_query(task, from, epoch),
            Message::Extend { until, .. } => work.on_extend(task, from, epoch, until),
            Message::Released { through, began, .. } => {
                work.on_released(task, from, through, began);
            }
            Message::Ended { outcome, .. } => work.on_ended(task, from, epoch, outcome),
            // For participants.
            Message::Prepare { .. }
            | Message::Commit { .. }
            | Message::Abort { .. }
            | Message::Permit { .. }
            | Message::Release { .. } => {}
        });
        if known {
            return;
        }
        // Nodes confirm a release after the job is over.
        if !matches!(message, Message::Released { .. }) {
            cx.trace(Trace::unknown(job, Some(from)));
        }
        // An attempt at an unknown job was aborted, or is over.
        match *message {
            Message::Prepared { attempt, .. } => cx.send(from, Message::Abort { attempt }),
            Message::Committed { .. }
            | Message::Query { .. }
            | Message::Extend { .. }
            | Message::Ended { .. } => {
                let through = epoch;
                cx.send(from, Message::Release { job, through });
            }
            _ => {}
        }
    }

    /// Begins a life, so that new attempts get numbers that no earlier attempt had.
    fn begin_life(&mut self, cx: &mut dyn Context<Self>) {
        self.life = self.life.next();
        self.attempts = 0;
        cx.persist(Key::Life, Record::Life(self.life));
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        self.begin_life(cx);
        let now = cx.now();
        // The earlier life wrote down that nothing is left, and crashed before it deleted the record.
        self.tasks.retain(|task| {
            if task.is_over() {
                let job = task.job;
                cx.forget(Key::Task(job));
                cx.notify(Notice::Cleared { job });
            }
            !task.is_over()
        });
        for task in &mut self.tasks {
            task.clear_since = now;
            task.clear_at = now;
            if let Some(decision) = task.decision.as_mut() {
                decision.resume(now, &self.config);
            }
        }
        // A job that all nodes have done is told first: the earlier life may have told it, and this must not change.
        let done = |task: &&Task| task.decision.as_ref().is_some_and(Decision::is_done);
        let done: Vec<JobId> = self
            .tasks
            .iter()
            .filter(done)
            .map(|task| task.job)
            .collect();
        for job in done {
            self.with_task(job, cx, Work::attend);
        }
    }

    fn restore(&mut self, key: Key, record: Record) {
        match (key, record) {
            (Key::Life, Record::Life(life)) => self.life = life,
            (Key::Task(job), Record::Task(saved)) => {
                if let Err(index) = self.index_of(job) {
                    self.tasks.insert(index, Task::restored(job, saved));
                }
            }
            // No such pair was ever written.
            _ => {}
        }
    }

    fn attend_all(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let due = self
            .tasks
            .iter()
            .filter(|task| task.next_due().is_some_and(|due| due <= now));
        let due: Vec<JobId> = due.map(|task| task.job).collect();
        for job in due {
            self.with_task(job, cx, Work::attend);
        }
    }

    fn arm(&mut self, cx: &mut dyn Context<Self>) {
        let due = self.tasks.iter().filter_map(Task::next_due);
        self.alarm.set(due, Due, cx);
    }

    fn step(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Restored(key, record) => {
                self.restore(key, record);
                return;
            }
            Event::Start => self.start(cx),
            Event::Message { from, message } => self.receive(from, &message, cx),
            Event::Timer(Due) => {
                self.alarm.rang();
                self.attend_all(cx);
            }
            Event::Command(Command::Place {
                job,
                submitter,
                needs,
                payload,
                candidates,
                spares,
            }) => self.take(job, (submitter, needs, payload), candidates, spares, cx),
            Event::Command(Command::Improve {
                job,
                candidate,
                spares,
            }) => {
                self.improve(job, &candidate, &spares, cx);
            }
            Event::Command(Command::Release { job }) => {
                self.with_task(job, cx, Work::give_up);
            }
            // A lost node is noticed by its silence.
            Event::Unreachable { .. } => {}
        }
        self.arm(cx);
    }
}

impl<P: Policy> Machine for Coordinator<P> {
    type Message = Message;
    type Timer = Due;
    type Command = Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        step!(self, event, cx, Self::step);
    }

    fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.tasks.is_sorted_by(|a, b| a.job < b.job),
            "a job has one task",
        )?;
        Violation::unless(
            self.tasks.len() <= usize::from(self.config.tasks),
            "a coordinator sees to no more jobs than it may",
        )?;
        let attempts = || self.tasks.iter().filter_map(|task| task.decision.as_ref());
        Violation::unless(
            attempts().all(Decision::keeps_the_barrier),
            "no node may start before all have committed",
        )
    }
}

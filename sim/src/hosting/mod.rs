//! Runs the jobs of machines that schedule them, and checks every job.
//!
//! A [`Grid`] is a simulation of any scheduler: its commands and notices are those of [`gridweave_core::job`]. A
//! [`Host`] runs a job on a node from the moment that the node's machine says `Started`. It tells the machine `Ended`
//! when the run time is over, and reports all of this to a [`Watch`]. The caller submits jobs, as [`replay()`] does.
//!
//! A [`Watch`] trusts no machine. Its [`Terms`] say which [`Invariant`]s must hold.
//!
//! ```
//! use gridweave_core::id::{Epoch, NodeId};
//! use gridweave_core::time::{Span, Time};
//! use gridweave_sim::hosting::{Asks, Invariant, Rooms, Terms, Watch, Wish};
//!
//! let terms = Terms { grace: None, lingers: Span::ZERO, calm: Time::MAX, kept: Invariant::ALL.into() };
//! let mut watch = Watch::new(terms, Rooms::Whole);
//! let node = NodeId::new(0);
//! for job in 0..2 {
//!     watch.add(Wish { nodes: 1, takes: None, reruns: 0, asks: Asks::default() });
//!     watch.submitted(job, node);
//! }
//! assert!(watch.started(Time::ZERO, node, 0, Epoch::new(1)));
//! assert_eq!(watch.breach(), None);
//!
//! // The node runs one job at a time, and the first one has not ended.
//! assert!(!watch.started(Time::from_secs(1), node, 1, Epoch::new(1)));
//! assert_eq!(watch.breach().map(|breach| breach.invariant), Some(Invariant::Room));
//! ```

mod grounds;
mod invariant;
mod replay;
mod watch;

pub use grounds::{Asks, Grounds};
pub use invariant::{Breach, Invariant};
pub use replay::{Fate, Faults, Jobs, Life, Look, Moment, Replay, Replayed, replay};
#[cfg(test)]
mod tests;

pub use watch::{Ran, Rooms, Terms, Watch, Wish, Word};

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Notice, Outcome, Survival};
use gridweave_core::machine::Machine;
use gridweave_core::time::{Span, Time};
use gridweave_core::trace::Tally;

use crate::engine::{Broken, Happening, Simulated, Simulation, Traffic};
use crate::event_queue::EventQueue;
use crate::network::Network;

/// Something that happened to a machine that schedules jobs.
pub type Happened = Happening<Command, Notice>;

/// A simulation of machines that schedule jobs, whichever they are.
pub trait Grid: Any {
    /// When the next event is due.
    fn next_at(&self) -> Option<Time>;
    /// Handles the next event.
    fn step(&mut self);
    /// Gives a command to a node at a time.
    fn command(&mut self, at: Time, node: NodeId, command: Command);
    /// Gives a command to a node at a time, before anything else that is due then.
    fn command_first(&mut self, at: Time, node: NodeId, command: Command);
    /// Handles everything that is due by a time.
    fn run_until(&mut self, until: Time);
    /// Lets a node go down at a time.
    fn crash(&mut self, at: Time, node: NodeId);
    /// Lets a node go down after `effects` more effects, counted from a time.
    fn crash_after(&mut self, at: Time, node: NodeId, effects: u32);
    /// Lets a node come up again at a time.
    fn restart(&mut self, at: Time, node: NodeId);
    /// What a node is told when it comes up next: what outlived its earlier life.
    fn survive(&mut self, node: NodeId, commands: Vec<Command>);
    /// Has every step of a job told, and the reasons of all jobs counted.
    fn explain(&mut self, job: JobId);
    /// How often which reason was given, since a job is explained.
    fn reasons(&self) -> Tally;
    /// Takes out what happened since this was last asked, in order.
    fn take_happenings(&mut self, into: &mut Vec<Happened>);
    /// Whether a node is up.
    fn is_up(&self, node: NodeId) -> bool;
    /// Whether a node is down for good.
    fn is_gone(&self, node: NodeId) -> bool;
    /// How many nodes there are, down ones included.
    fn nodes(&self) -> u64;
    /// How many events machines have handled.
    fn events(&self) -> u64;
    /// The invariants of machines that did not hold.
    fn broken(&self) -> &[Broken];
    /// The network between the nodes.
    fn network(&self) -> &Network;
    /// What was sent.
    fn traffic(&self) -> &Traffic;
    /// The digest of all that has happened.
    fn digest(&self) -> String;
    /// The simulation itself, for a caller that knows its type.
    fn as_any(&self) -> &dyn Any;
}

impl<M: Simulated + Machine<Command = Command, Notice = Notice>> Grid for Simulation<M> {
    fn next_at(&self) -> Option<Time> {
        self.next_at()
    }
    fn step(&mut self) {
        self.step();
    }
    fn command(&mut self, at: Time, node: NodeId, command: Command) {
        self.command(at, node, command);
    }
    fn command_first(&mut self, at: Time, node: NodeId, command: Command) {
        self.command_first(at, node, command);
    }
    fn run_until(&mut self, until: Time) {
        self.run_until(until);
    }
    fn crash(&mut self, at: Time, node: NodeId) {
        self.crash(at, node);
    }
    fn crash_after(&mut self, at: Time, node: NodeId, effects: u32) {
        self.crash_after(at, node, effects);
    }
    fn restart(&mut self, at: Time, node: NodeId) {
        self.restart(at, node);
    }
    fn survive(&mut self, node: NodeId, commands: Vec<Command>) {
        self.survive(node, commands);
    }
    fn explain(&mut self, job: JobId) {
        self.explain(job);
    }
    fn reasons(&self) -> Tally {
        self.reasons()
    }
    fn take_happenings(&mut self, into: &mut Vec<Happened>) {
        into.extend(self.happenings());
    }
    fn is_up(&self, node: NodeId) -> bool {
        self.machine(node).is_some()
    }
    fn is_gone(&self, node: NodeId) -> bool {
        self.is_gone(node)
    }
    fn nodes(&self) -> u64 {
        self.len() as u64
    }
    fn events(&self) -> u64 {
        self.events()
    }
    fn broken(&self) -> &[Broken] {
        self.broken()
    }
    fn network(&self) -> &Network {
        self.network()
    }
    fn traffic(&self) -> &Traffic {
        self.traffic()
    }
    fn digest(&self) -> String {
        self.digest()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A job on a node, to be ended unless it is stopped before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Execution {
    job: usize,
    node: NodeId,
    attempt: Epoch,
    since: Time,
    /// When the host ends it, whatever its machine does.
    limit: Time,
    outcome: Outcome,
}

/// A node whose machine is down while its jobs go on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Alone {
    /// How far the clock of the node is ahead.
    ahead: Span,
    /// The executions that its machine does not know to be over, and how those ended that are.
    left: Vec<(Execution, Option<Outcome>)>,
}

/// Runs jobs on the nodes of a grid, and watches them. Job `n` is the `n`th job that was added to the watch, from 0.
pub struct Host<'a, G: Grid + ?Sized> {
    /// The nodes.
    pub grid: &'a mut G,
    /// What is known of the jobs.
    pub watch: Watch,
    /// The present time.
    pub now: Time,
    executions: EventQueue<u32>,
    slots: Vec<Execution>,
    free: Vec<u32>,
    alone: BTreeMap<NodeId, Alone>,
    /// When executions on these nodes reach their limits.
    limits: BTreeSet<(Time, NodeId)>,
    /// The execution that ended last, and when.
    last_end: Option<(Time, Execution)>,
}

impl<'a, G: Grid + ?Sized> Host<'a, G> {
    /// A host on which nothing runs yet.
    pub fn new(grid: &'a mut G, watch: Watch) -> Self {
        Self {
            grid,
            watch,
            now: Time::ZERO,
            executions: EventQueue::new(),
            slots: Vec::new(),
            free: Vec::new(),
            alone: BTreeMap::new(),
            limits: BTreeSet::new(),
            last_end: None,
        }
    }

    /// When the next execution is over.
    pub fn next_end(&self) -> Option<Time> {
        let limit = self.limits.first().map(|(at, _)| *at);
        [self.executions.next_at(), limit]
            .into_iter()
            .flatten()
            .min()
    }

    /// Begins a job on a node; it runs for `takes` unless it is stopped. If the machine of the node goes down, it runs
    /// until `limit` at the latest. False if the start breaks an invariant.
    pub fn begin(
        &mut self,
        at: Time,
        node: NodeId,
        job: usize,
        (attempt, limit): (Epoch, Time),
        (takes, outcome): (Span, Outcome),
    ) -> bool {
        if !self.watch.started(at, node, job, attempt) {
            return false;
        }
        let execution = Execution {
            job,
            node,
            attempt,
            since: at,
            limit,
            outcome,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(execution);
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize] = execution;
        self.executions.push(at + takes, slot);
        true
    }

    /// An attempt that runs on a node may run until `limit`.
    pub fn extend(&mut self, at: Time, node: NodeId, job: usize, attempt: Epoch, limit: Time) {
        if let Some(slot) = self.slot_of(node, job, attempt) {
            self.expect_a_lease(at, self.slots[slot]);
            self.slots[slot].limit = limit;
        }
    }

    /// A node ends this attempt before its end; whether it ran.
    pub fn stopped(&mut self, at: Time, node: NodeId, job: usize, attempt: Epoch) -> bool {
        if let Some(slot) = self.slot_of(node, job, attempt) {
            self.expect_a_lease(at, self.slots[slot]);
        }
        self.watch.stopped(at, node, job, attempt)
    }

    /// Where this attempt is, if it runs.
    fn slot_of(&self, node: NodeId, job: usize, attempt: Epoch) -> Option<usize> {
        let which = (node, job, attempt);
        self.slots.iter().position(|it| {
            (it.node, it.job, it.attempt) == which && self.watch.runs(node, job, attempt, it.since)
        })
    }

    /// An execution goes on up to now: its machine was up, so it had to have a lease.
    fn expect_a_lease(&mut self, at: Time, execution: Execution) {
        let Execution {
            job, node, limit, ..
        } = execution;
        if at > limit && !self.alone.contains_key(&node) {
            let what = format!("job {job} runs until {at:?}, and was to be ended at {limit:?}");
            self.watch.object(Invariant::Leased, at, Some(node), what);
        }
    }

    /// The machine of a node went down, and its jobs go on, each until its limit. `ahead` is how far the clock of the
    /// node is ahead. How many jobs go on.
    pub fn outlive(&mut self, at: Time, node: NodeId, ahead: Span) -> usize {
        self.watch.lost_its_machine(at, node);
        let runs = |it: &&Execution| {
            it.node == node && self.watch.runs(node, it.job, it.attempt, it.since)
        };
        let running = self.slots.iter().filter(runs);
        let mut left: Vec<_> = running.map(|it| (*it, None)).collect();
        left.sort_by_key(|(it, _)| (it.job, it.attempt));
        left.dedup();
        let count = left.len();
        self.limits
            .extend(left.iter().map(|(it, _)| (it.limit, node)));
        // The machine may have gone down before it could note this end.
        if let Some((ended, it)) = self.last_end.filter(|(_, it)| it.node == node)
            && ended == at
        {
            left.push((it, Some(it.outcome)));
        }
        // A machine that went down again while it started has not noted all that it was told.
        let earlier = self.alone.remove(&node).unwrap_or_default().left;
        left.extend(earlier.into_iter().filter(|(_, ended)| ended.is_some()));
        self.alone.insert(node, Alone { ahead, left });
        self.name_survivors(node);
        count
    }

    /// Tells the grid what a machine is to be told when it comes up.
    fn name_survivors(&mut self, node: NodeId) {
        let Some(Alone { ahead, left }) = self.alone.get(&node) else {
            return;
        };
        let survived = |(it, ended): &(Execution, Option<Outcome>)| Command::Survived {
            job: JobId::new(it.job as u64),
            attempt: it.attempt,
            survival: match ended {
                Some(outcome) => Survival::Ended(*outcome),
                None => Survival::Runs {
                    until: it.limit + *ahead,
                },
            },
        };
        let commands = left.iter().map(survived).collect();
        self.grid.survive(node, commands);
    }

    /// The machine of a node is up, and was told what outlived its earlier life.
    pub fn joined(&mut self, node: NodeId) {
        self.alone.remove(&node);
    }

    /// Ends the executions on a node whose machine is down and whose limit has come. Whether there were any.
    fn end_at_limit(&mut self, at: Time, node: NodeId) -> bool {
        let Some(alone) = self.alone.get_mut(&node) else {
            return false;
        };
        let is_over =
            |(it, ended): &(Execution, Option<Outcome>)| ended.is_none() && it.limit <= at;
        let left = std::mem::take(&mut alone.left);
        let (over, left): (Vec<_>, Vec<_>) = left.into_iter().partition(is_over);
        alone.left = left;
        for (it, _) in &over {
            self.watch.stopped(at, node, it.job, it.attempt);
        }
        self.name_survivors(node);
        !over.is_empty()
    }

    /// Ends the next execution, and tells the machine before any other event. False if it was stopped before.
    pub fn end_next(&mut self) -> bool {
        if let Some((limit, node)) = self.limits.first().copied()
            && self.executions.next_at().is_none_or(|end| limit < end)
        {
            self.limits.pop_first();
            return self.end_at_limit(limit, node);
        }
        let Some((at, slot)) = self.executions.pop() else {
            return false;
        };
        self.free.push(slot);
        let execution = self.slots[slot as usize];
        let Execution {
            job,
            node,
            attempt,
            since,
            outcome,
            ..
        } = execution;
        // Another attempt at the job may run on the same node by now.
        if !self.watch.runs(node, job, attempt, since) {
            return false;
        }
        self.expect_a_lease(at, execution);
        let broke = outcome == Outcome::Broke;
        self.watch.ended(at, node, job, attempt, broke);
        if let Some(alone) = self.alone.get_mut(&node) {
            let ended = alone.left.iter_mut();
            for (_, ended) in ended.filter(|(it, _)| (it.job, it.attempt) == (job, attempt)) {
                *ended = Some(outcome);
            }
            self.name_survivors(node);
            return true;
        }
        self.last_end = Some((at, execution));
        let job = JobId::new(job as u64);
        let ended = Command::Ended {
            job,
            attempt,
            outcome,
        };
        self.grid.command_first(at, node, ended);
        true
    }
}

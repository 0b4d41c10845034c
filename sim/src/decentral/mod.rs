//! Replays a workload through a scheduler that is one machine per node.
//!
//! [`simulate`] is the host that all decentralised schedulers share. It submits each job to a node drawn at random, runs a
//! job on a node from the moment that its machine says `Started`, tells the machine `Ended` when the run time is over, and
//! notes what becomes of the job. It also watches, and trusts no machine: a node that runs more than it has room for, a job
//! that runs on more nodes than it asked for or again after its end was told, one that is said to be done and is not, and
//! one that nobody answers for any more are violations.
//!
//! [`random`] is the smallest scheduler of this kind, and the floor that others have to beat; [`flood`] searches for free nodes and keeps no
//! schedules.

pub mod flood;
pub mod random;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId, OrganisationId, UserId};
use gridweave_core::job::{
    Command, Criterion, Demand, Failure, Job, News, Notice, Outcome as JobEnd, Submitter,
};
use gridweave_core::resource::Speed;
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::engine::{Happening, Protocol, Simulation};
use crate::event_queue::EventQueue;
use crate::grid::{Grid, Room};
use crate::monitor::{Monitor, Progress};
use crate::outcome::{Estimates, Outcome};
use crate::picture::Picture;
use crate::run::{Faults, Placement, Run};
use crate::workload::Workload;

/// The most pictures of a run.
const MOST_PICTURES: usize = 1000;

/// What the host needs to know besides the machines.
#[derive(Clone, Copy, Debug)]
pub struct Hosting<'a> {
    /// The nodes.
    pub grid: &'a Grid,
    /// The jobs.
    pub workload: &'a Workload,
    /// What machines are told about run times.
    pub estimates: Estimates,
    /// What all jobs ask for.
    pub criterion: Criterion,
    /// Decides where jobs are submitted.
    pub seed: u64,
    /// How often to take down how nodes look, if they are in a space.
    pub pictures: Option<Span>,
    /// For how long nothing may happen to any job before the rest is given up as lost.
    pub patience: Span,
    /// When it ends at the latest; what would happen then or later does not.
    pub until: Time,
}

/// Where a job is in its life, as its host sees it.
#[derive(Clone, Debug, Default)]
struct Tracked {
    /// Where it was submitted.
    submitted_to: Option<NodeId>,
    /// When it was interrupted, if it has not run since.
    interrupted: Option<Time>,
    /// Where it runs.
    running: Vec<Running>,
    attempt: Attempt,
    outcome: Option<Outcome>,
    /// What the outcome was told with, unless no machine had to tell it.
    last_word: Option<LastWord>,
}

/// The last word on a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LastWord {
    /// Who said it.
    node: NodeId,
    news: News,
    /// How often that node had gone down before.
    downs: u32,
}

/// A job on one of its nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Running {
    node: NodeId,
    since: Time,
    /// The number of the attempt that it is a part of.
    attempt: u32,
}

/// The present attempt to run a job. It dies with any of its parts; what is left of it then no longer counts.
#[derive(Clone, Debug, Default)]
struct Attempt {
    number: u32,
    /// Where it ran to its end.
    ended: Vec<NodeId>,
    /// When the last of its nodes began.
    start: Option<Time>,
    /// When the last of its nodes ended.
    end: Option<Time>,
}

impl Attempt {
    /// The one after this, of which nothing has happened yet.
    fn next(&self) -> Self {
        Self {
            number: self.number.wrapping_add(1),
            ..Self::default()
        }
    }
}

/// A job on a node, to be ended at a time unless it was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Execution {
    job: usize,
    node: NodeId,
    started: Time,
}

struct Host<'a, P: Protocol> {
    hosting: Hosting<'a>,
    simulation: Simulation<P>,
    tracked: Vec<Tracked>,
    /// What runs, by when it ends.
    executions: EventQueue<u32>,
    slots: Vec<Execution>,
    free: Vec<u32>,
    /// Which jobs run on each node.
    jobs_on: Vec<Vec<usize>>,
    /// All nodes that have come up, whether they still are or not.
    joined: Vec<NodeId>,
    /// How often each node went down, those that never did perhaps left out.
    downs: Vec<u32>,
    /// What is free of nodes that are shared.
    room: Option<Room<'a>>,
    /// Jobs that wait for any node to come up, to be submitted there: none is up while there are such.
    parked: Vec<usize>,
    /// Jobs that are due to be submitted, in order.
    next: usize,
    now: Time,
    rng: Xoshiro256PlusPlus,
    done: u64,
    live: u64,
    violations: u64,
    faults: Faults,
    last_news: Time,
    pictures: Vec<Picture>,
}

/// Replays the workload through the machines of this simulation until every job has its outcome.
///
/// If the monitor is told to stop or the time is over, what has no outcome yet is [`Outcome::Unfinished`] or [`Outcome::NotSubmitted`].
pub fn simulate<P>(simulation: Simulation<P>, hosting: Hosting<'_>, monitor: &Monitor) -> Run
where
    P: Protocol<Command = Command, Notice = Notice>,
{
    let jobs = hosting.workload.jobs.len();
    let mut host = Host {
        hosting,
        tracked: vec![Tracked::default(); jobs],
        executions: EventQueue::new(),
        slots: Vec::new(),
        free: Vec::new(),
        jobs_on: vec![Vec::new(); simulation.len()],
        joined: Vec::new(),
        downs: Vec::new(),
        room: match hosting.grid {
            Grid::Uniform(_) => None,
            Grid::Mixed(mixed) => Some(Room::new(mixed)),
        },
        parked: Vec::new(),
        next: 0,
        now: Time::ZERO,
        rng: Xoshiro256PlusPlus::seed_from_u64(hosting.seed),
        done: 0,
        live: 0,
        violations: 0,
        faults: Faults::default(),
        last_news: Time::ZERO,
        pictures: Vec::new(),
        simulation,
    };
    let stopped = host.run(monitor);
    host.finish(stopped)
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopped {
    /// Every job has its outcome.
    Done,
    /// Someone asked, or the time was over.
    OnRequest,
    /// Nothing happens any more.
    Stalled,
}

impl<P> Host<'_, P>
where
    P: Protocol<Command = Command, Notice = Notice>,
{
    fn run(&mut self, monitor: &Monitor) -> Stopped {
        let mut steps = 0_u64;
        loop {
            if self.done == self.tracked.len() as u64 {
                return Stopped::Done;
            }
            steps += 1;
            if steps.is_multiple_of(Monitor::EVERY) {
                monitor.report(Progress {
                    now: self.now,
                    jobs: self.done,
                    events: self.simulation.events(),
                });
                if monitor.stopped() {
                    return Stopped::OnRequest;
                }
            }
            let submission = self.hosting.workload.jobs.get(self.next).map(|job| job.at);
            let ending = self.executions.next_at();
            let event = self.simulation.next_at();
            let earliest = [submission, ending, event].into_iter().flatten().min();
            let Some(now) = earliest else {
                return Stopped::Stalled;
            };
            if now >= self.hosting.until {
                self.now = self.hosting.until;
                return Stopped::OnRequest;
            }
            let idle = self.live == 0 && submission.is_none();
            if idle && now - self.last_news > self.hosting.patience {
                return Stopped::Stalled;
            }
            self.draw(now);
            self.now = now;
            // Jobs that end come first, so that one that ends together with its reservation has ended; then what is under way,
            // then submissions of the same instant.
            if ending == Some(now) {
                self.end_next(now);
                self.look();
            } else if event == Some(now) {
                self.simulation.step();
                self.look();
            } else {
                self.last_news = now;
                self.submit(self.next, now);
                self.next += 1;
            }
        }
    }

    /// Takes down how nodes look, at each moment before this one at which that is due.
    fn draw(&mut self, now: Time) {
        let Some(every) = self.hosting.pictures else {
            return;
        };
        loop {
            let due = Time::ZERO + every.times(self.pictures.len() as u64);
            if due > now || self.pictures.len() >= MOST_PICTURES {
                return;
            }
            let nodes = (0..self.simulation.len() as u64).map(NodeId::new);
            let drawn = nodes.filter_map(|node| self.simulation.machine(node)?.drawn());
            self.pictures.push(Picture {
                at: due.as_micros() as f64 / 1e6,
                nodes: drawn.collect(),
            });
        }
    }

    fn submit(&mut self, index: usize, now: Time) {
        let node = self.rng.pick(&self.joined).copied().unwrap_or_default();
        let Some(job) = self.job(index) else {
            self.close(index, Outcome::Rejected);
            return;
        };
        self.give(now, node, job);
    }

    /// Submits a job to a node.
    fn give(&mut self, at: Time, node: NodeId, job: Job) {
        self.tracked[job.id.get() as usize].submitted_to = Some(node);
        self.simulation.command(at, node, Command::Submit(job));
    }

    /// A job came to a node that is down: it goes to one that is up a second later, or when there is one.
    fn submit_elsewhere(&mut self, job: Job, now: Time) {
        self.tracked[job.id.get() as usize].submitted_to = None;
        match self.some_node_that_is_up() {
            Some(node) => {
                let later = now + Span::from_secs(1);
                self.give(later, node, job);
            }
            None => self.parked.push(job.id.get() as usize),
        }
    }

    /// The next node from one drawn at random that is up.
    fn some_node_that_is_up(&mut self) -> Option<NodeId> {
        if !self.parked.is_empty() {
            // None was up when the first of them came, and none has come up since.
            return None;
        }
        let drawn = self.rng.index(self.joined.len());
        let (before, from_drawn) = self.joined.split_at_checked(drawn)?;
        let mut from_drawn = from_drawn.iter().chain(before).copied();
        from_drawn.find(|node| self.simulation.machine(*node).is_some())
    }

    /// A node is up, so those that wait for one can be submitted.
    fn submit_parked(&mut self, node: NodeId, now: Time) {
        for index in std::mem::take(&mut self.parked) {
            if let Some(job) = self.job(index) {
                self.last_news = now;
                self.give(now, node, job);
            }
        }
    }

    /// The job as machines get it: its name is its place in the workload, since numbers in traces may repeat.
    fn job(&self, index: usize) -> Option<Job> {
        let workload = self.hosting.workload;
        let submission = &workload.jobs[index];
        let demand = match self.hosting.grid {
            Grid::Mixed(mixed) => {
                let share = mixed.shares().and_then(|shares| {
                    let taken = workload.requirement(index).value(shares)?;
                    NonZeroU32::new(u32::try_from(taken).ok()?)
                });
                Demand::Cores(share.unwrap_or(NonZeroU32::MIN))
            }
            Grid::Uniform(_) => Demand::Nodes(NonZeroU32::new(submission.processors)?),
        };
        let duration = self
            .hosting
            .estimates
            .apply(submission.run_time, submission.requested_time);
        let mut job = Job::new(JobId::new(index as u64), demand, duration.estimate).ok()?;
        job.submitter = Submitter {
            user: UserId::new(submission.user),
            organisation: OrganisationId::new(submission.group),
        };
        job.submitted = submission.at;
        job.criterion = self.hosting.criterion;
        job.deadline = workload.deadlines.get(index).copied();
        if let Some(requirement) = workload.requirements.get(index) {
            job.requirement = *requirement;
        }
        Some(job)
    }

    /// Acts on what the machines said.
    fn look(&mut self) {
        let happenings: Vec<Happening<P>> = self.simulation.happenings().collect();
        for happening in happenings {
            match happening {
                Happening::Notice { at, node, notice } => self.hear(at, node, notice),
                Happening::Unheard { at, command, .. } => {
                    // Nobody is there to be told of an end.
                    if let Command::Submit(job) = command {
                        self.submit_elsewhere(job, at);
                    }
                }
                Happening::Crashed { node, .. } => {
                    self.faults.crashes += 1;
                    let number = node.get() as usize;
                    if number >= self.downs.len() {
                        self.downs.resize(number + 1, 0);
                    }
                    self.downs[number] += 1;
                    let jobs = self.jobs_on.get(number).cloned();
                    for job in jobs.unwrap_or_default() {
                        self.interrupt(job, node);
                    }
                }
                Happening::Started { at, node } => {
                    self.faults.starts += u64::from(at > Time::ZERO);
                    if self.downs_of(node) == 0 {
                        self.joined.push(node);
                    }
                    self.submit_parked(node, at);
                }
            }
        }
    }

    /// How often a node went down.
    fn downs_of(&self, node: NodeId) -> u32 {
        self.downs.get(node.get() as usize).copied().unwrap_or(0)
    }

    fn hear(&mut self, at: Time, node: NodeId, notice: Notice) {
        let index = notice.job.get() as usize;
        // Nobody knows of a job that has not been submitted.
        if index >= self.next {
            self.violations += 1;
            return;
        }
        self.last_news = at;
        match notice.news {
            News::Started => self.begin(index, node, at),
            News::Stopped => self.interrupt(index, node),
            News::Orphaned => self.faults.orphaned += 1,
            News::Accepted { .. } | News::Moved { .. } => {}
            News::Finished | News::Failed(_) | News::Cancelled => {
                self.hear_last_word(index, node, notice.news);
            }
        }
    }

    /// A machine says what became of a job in the end. One last word is promised; but a node that went down since it said it
    /// may not remember that it did, and say the same again.
    fn hear_last_word(&mut self, index: usize, node: NodeId, news: News) {
        let downs = self.downs_of(node);
        match self.tracked[index].last_word {
            Some(said) if (said.node, said.news) == (node, news) && said.downs < downs => return,
            _ => {}
        }
        let is_new = self.tracked[index].outcome.is_none();
        match news {
            News::Finished => self.finished(index),
            News::Failed(Failure::Refused(_)) => self.close(index, Outcome::Rejected),
            _ => self.close(index, Outcome::Failed),
        }
        let tracked = &mut self.tracked[index];
        if is_new && tracked.outcome.is_some() {
            tracked.last_word = Some(LastWord { node, news, downs });
        }
    }

    /// A machine says that a job is done: believed if it ran to its end on all of its nodes and runs nowhere any more.
    fn finished(&mut self, index: usize) {
        let job = &self.hosting.workload.jobs[index];
        let wanted = job.processors as usize;
        let Tracked {
            running, attempt, ..
        } = &mut self.tracked[index];
        let everywhere = attempt.ended.len() >= wanted;
        // Before those there may be some that ended while another part of theirs never began.
        let surplus = attempt.ended.len().saturating_sub(wanted);
        attempt.ended.drain(..surplus);
        let (true, true, Some(start), Some(end)) =
            (everywhere, running.is_empty(), attempt.start, attempt.end)
        else {
            self.violations += 1;
            return;
        };
        let duration = self
            .hosting
            .estimates
            .apply(job.run_time, job.requested_time);
        let ending = duration.ending;
        self.close(index, Outcome::Ran { start, end, ending });
    }

    /// A job no longer runs on a node, before its end, if it did: with that the whole attempt is dead.
    fn interrupt(&mut self, index: usize, node: NodeId) {
        let Some(part) = self.forget(index, node) else {
            return;
        };
        self.faults.interrupted += 1;
        self.tracked[index].interrupted.get_or_insert(self.now);
        let attempt = &mut self.tracked[index].attempt;
        if part.attempt == attempt.number {
            *attempt = attempt.next();
        }
    }

    /// Takes a job off a node, if it runs there.
    fn forget(&mut self, index: usize, node: NodeId) -> Option<Running> {
        let running = &mut self.tracked[index].running;
        let place = running.iter().position(|part| part.node == node)?;
        let part = running.swap_remove(place);
        let number = node.get() as usize;
        self.jobs_on[number].retain(|job| *job != index);
        if let Some(room) = &mut self.room {
            room.give_back(number, &self.hosting.workload.requirement(index));
        }
        self.live -= 1;
        Some(part)
    }

    fn close(&mut self, index: usize, outcome: Outcome) {
        let tracked = &mut self.tracked[index];
        if tracked.outcome.is_some() {
            // One last word is promised.
            self.violations += 1;
            return;
        }
        tracked.outcome = Some(outcome);
        self.done += 1;
    }

    fn begin(&mut self, index: usize, node: NodeId, now: Time) {
        if !self.may_begin(index, node) {
            self.violations += 1;
            return;
        }
        let number = node.get() as usize;
        if let Some(room) = &mut self.room {
            room.take(number, &self.hosting.workload.requirement(index));
        }
        // Nodes may have joined since.
        if number >= self.jobs_on.len() {
            self.jobs_on.resize(number + 1, Vec::new());
        }
        self.jobs_on[number].push(index);
        self.live += 1;
        let submission = &self.hosting.workload.jobs[index];
        let tracked = &mut self.tracked[index];
        if tracked.attempt.ended.len() >= submission.processors as usize {
            // It ran to its end, but its submitter does not know; that it is tried again is no fault.
            tracked.attempt = tracked.attempt.next();
        }
        if let Some(since) = tracked.interrupted.take() {
            let seconds = (now - since).as_secs();
            self.faults.recovered += 1;
            self.faults.recovery_seconds += seconds;
            let longest = &mut self.faults.longest_recovery_seconds;
            *longest = seconds.max(*longest);
        }
        tracked.attempt.start = Some(now);
        tracked.running.push(Running {
            node,
            since: now,
            attempt: tracked.attempt.number,
        });
        let speed = match self.hosting.grid {
            Grid::Uniform(_) => Speed::BASELINE,
            Grid::Mixed(mixed) => mixed
                .nodes
                .get(node.get() as usize)
                .map_or(Speed::BASELINE, |profile| profile.speed),
        };
        let takes = self.hosting.estimates.run_time_on(submission, speed);
        let execution = Execution {
            job: index,
            node,
            started: now,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(execution);
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize] = execution;
        self.executions.push(now + takes, slot);
    }

    /// Whether a job has no outcome yet and fewer nodes than it asked for, and the node has room for it.
    fn may_begin(&self, index: usize, node: NodeId) -> bool {
        let workload = self.hosting.workload;
        let tracked = &self.tracked[index];
        let number = node.get() as usize;
        let room = match &self.room {
            Some(room) => {
                let twice = tracked.running.iter().any(|part| part.node == node);
                !twice && room.fits(number, &workload.requirement(index))
            }
            // Nodes are taken whole.
            None => self.jobs_on.get(number).is_none_or(Vec::is_empty),
        };
        let wanted = workload.jobs[index].processors as usize;
        tracked.outcome.is_none() && tracked.running.len() < wanted && room
    }

    /// Ends the execution that is due, unless it was stopped or its node went down.
    fn end_next(&mut self, now: Time) {
        let Some((_, slot)) = self.executions.pop() else {
            return;
        };
        self.free.push(slot);
        let Execution { job, node, started } = self.slots[slot as usize];
        // It may have been stopped, and another attempt at the job may run on the same node by now.
        let running = &self.tracked[job].running;
        if !running
            .iter()
            .any(|part| (part.node, part.since) == (node, started))
        {
            return;
        }
        let part = self.forget(job, node);
        let attempt = &mut self.tracked[job].attempt;
        if part.is_some_and(|part| part.attempt == attempt.number) {
            attempt.ended.push(node);
            attempt.end = Some(now);
        }
        self.last_news = now;
        let ended = Command::Ended {
            job: JobId::new(job as u64),
            outcome: JobEnd::Done,
        };
        self.simulation.command_first(now, node, ended);
    }

    /// By how many others each node is known that is up; nothing if nodes keep no links.
    fn in_degrees(&self) -> Vec<u32> {
        let nodes = || (0..self.simulation.len() as u64).map(NodeId::new);
        let mut known_by = vec![0_u32; self.simulation.len()];
        let mut linked = false;
        for node in nodes() {
            let machine = self.simulation.machine(node);
            for other in machine.map(Protocol::neighbours).unwrap_or_default() {
                if let Some(count) = known_by.get_mut(other.get() as usize) {
                    *count += 1;
                    linked = true;
                }
            }
        }
        let up = nodes().filter(|node| self.simulation.machine(*node).is_some());
        let known_by = up.map(|node| known_by[node.get() as usize]);
        if linked {
            known_by.collect()
        } else {
            Vec::new()
        }
    }

    fn finish(mut self, stopped: Stopped) -> Run {
        let mut outcomes = Vec::with_capacity(self.tracked.len());
        let mut nodes = Vec::with_capacity(self.tracked.len());
        for (index, tracked) in self.tracked.iter().enumerate() {
            let submitted_to = tracked.submitted_to;
            let gone = submitted_to.is_some_and(|node| self.simulation.is_gone(node));
            let outcome = tracked.outcome.unwrap_or(match stopped {
                _ if gone => Outcome::Orphaned,
                Stopped::Stalled => Outcome::Lost,
                Stopped::Done | Stopped::OnRequest if index >= self.next => Outcome::NotSubmitted,
                Stopped::Done | Stopped::OnRequest => Outcome::Unfinished {
                    start: tracked
                        .attempt
                        .start
                        .filter(|_| !tracked.running.is_empty()),
                },
            });
            self.violations += u64::from(outcome == Outcome::Lost);
            let running = tracked.running.iter().map(|part| &part.node);
            let on = tracked.attempt.ended.iter().chain(running);
            nodes.push(on.map(|node| node.get() as u32).collect());
            outcomes.push(outcome);
        }
        let traffic = self.simulation.traffic().clone();
        let in_degrees = self.in_degrees();
        Run {
            outcomes,
            placement: Placement::Assigned(nodes),
            faults: Faults {
                undelivered: traffic.to_nobody(),
                network: self.simulation.network().mishaps(),
                ..self.faults
            },
            traffic,
            stopped: (stopped == Stopped::OnRequest).then_some(self.now),
            ended: self.now,
            pictures: self.pictures,
            in_degrees,
            violations: self.violations + self.simulation.broken().len() as u64,
            events: self.simulation.events(),
            digest: self.simulation.digest(),
        }
    }
}

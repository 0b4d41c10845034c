//! Replays a workload through a scheduler that is one machine per node.
//!
//! [`simulate`] is the host that all decentralised schedulers share. It submits each job to a node drawn at random, runs a
//! job on a node from the moment that its machine says `Started`, tells the machine `Ended` when the run time is over, and
//! notes what becomes of the job. It also watches: a job that runs on more nodes than it asked for, or that nobody
//! answers for any more, is a violation.
//!
//! [`random`] is the smallest scheduler of this kind, and the floor that others have to beat.

pub mod random;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId, OrganisationId, UserId};
use gridweave_core::job::{
    Command, Demand, Failure, Job, News, Notice, Outcome as JobEnd, Submitter,
};
use gridweave_core::resource::Speed;
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::engine::{Happening, Protocol, Simulation};
use crate::event_queue::EventQueue;
use crate::grid::Grid;
use crate::monitor::{Monitor, Progress};
use crate::outcome::{Estimates, Outcome};
use crate::run::{Faults, Placement, Run};
use crate::workload::Workload;

/// What the host needs to know besides the machines.
#[derive(Clone, Copy, Debug)]
pub struct Hosting<'a> {
    /// The nodes.
    pub grid: &'a Grid,
    /// The jobs.
    pub workload: &'a Workload,
    /// What machines are told about run times.
    pub estimates: Estimates,
    /// Decides where jobs are submitted.
    pub seed: u64,
    /// For how long nothing may happen to any job before the rest is given up as lost.
    pub patience: Span,
}

/// Where a job is in its life, as its host sees it.
#[derive(Clone, Debug, Default)]
struct Tracked {
    /// Where it was submitted; nowhere yet before that.
    submitted_to: Option<NodeId>,
    /// Where it runs, since when.
    running: Vec<(NodeId, Time)>,
    /// Where it ran to its end, in this attempt.
    ended: Vec<NodeId>,
    /// When the last of its nodes began.
    start: Option<Time>,
    /// When the last of its nodes ended.
    end: Option<Time>,
    outcome: Option<Outcome>,
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
    /// Jobs that are due to be submitted, in order.
    next: usize,
    rng: Xoshiro256PlusPlus,
    done: u64,
    live: u64,
    violations: u64,
    faults: Faults,
    last_news: Time,
}

/// Replays the workload through the machines of this simulation until every job has its outcome.
///
/// If the monitor is told to stop, what has no outcome yet is [`Outcome::Unfinished`].
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
        next: 0,
        rng: Xoshiro256PlusPlus::seed_from_u64(hosting.seed),
        done: 0,
        live: 0,
        violations: 0,
        faults: Faults::default(),
        last_news: Time::ZERO,
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
    /// Someone asked.
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
                    now: self.simulation.now(),
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
            let idle = self.live == 0 && submission.is_none();
            if idle && now - self.last_news > self.hosting.patience {
                return Stopped::Stalled;
            }
            // What is under way comes first, then ends, then submissions of the same instant.
            if event == Some(now) {
                self.simulation.step();
                self.look();
            } else if ending == Some(now) {
                self.end_next(now);
            } else {
                self.last_news = now;
                self.submit(self.next, now);
                self.next += 1;
            }
        }
    }

    fn submit(&mut self, index: usize, now: Time) {
        let node = NodeId::new(u64::from(self.rng.below(self.simulation.len() as u32)));
        let Some(job) = self.job(index) else {
            self.close(index, Outcome::Rejected);
            return;
        };
        self.tracked[index].submitted_to = Some(node);
        self.simulation.command(now, node, Command::Submit(job));
    }

    /// The job as machines get it: its name is its place in the workload, since numbers in traces may repeat.
    fn job(&self, index: usize) -> Option<Job> {
        let workload = self.hosting.workload;
        let submission = &workload.jobs[index];
        let demand = Demand::Nodes(NonZeroU32::new(submission.processors)?);
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
                    // Whoever submits goes to another node; nobody is there to be told of an end.
                    if let Command::Submit(job) = command {
                        self.submit(job.id.get() as usize, at + Span::from_secs(1));
                    }
                }
                Happening::Crashed { node, .. } => {
                    self.faults.crashes += 1;
                    let jobs = self.jobs_on.get_mut(node.get() as usize);
                    for job in jobs.map(std::mem::take).unwrap_or_default() {
                        self.tracked[job]
                            .running
                            .retain(|(place, _)| *place != node);
                        self.live -= 1;
                    }
                }
                Happening::Started { at, .. } => self.faults.starts += u64::from(at > Time::ZERO),
            }
        }
    }

    fn hear(&mut self, at: Time, node: NodeId, notice: Notice) {
        let index = notice.job.get() as usize;
        if index >= self.tracked.len() {
            self.violations += 1;
            return;
        }
        self.last_news = at;
        match notice.news {
            News::Started => self.begin(index, node, at),
            News::Stopped => {
                self.forget(index, node);
                self.tracked[index].ended.clear();
            }
            News::Accepted { .. } | News::Moved { .. } => {}
            News::Finished => match (self.tracked[index].start, self.tracked[index].end) {
                (Some(start), Some(end)) => {
                    let job = &self.hosting.workload.jobs[index];
                    let ending = self
                        .hosting
                        .estimates
                        .apply(job.run_time, job.requested_time)
                        .ending;
                    self.close(index, Outcome::Ran { start, end, ending });
                }
                // It cannot be done if it did not run.
                _ => self.violations += 1,
            },
            News::Failed(Failure::Refused(_)) => self.close(index, Outcome::Rejected),
            News::Failed(_) | News::Cancelled => self.close(index, Outcome::Failed),
        }
    }

    /// Takes a job off a node, if it runs there, and says since when it did.
    fn forget(&mut self, index: usize, node: NodeId) -> Option<Time> {
        let running = &mut self.tracked[index].running;
        let place = running.iter().position(|(place, _)| *place == node)?;
        let (_, started) = running.swap_remove(place);
        self.jobs_on[node.get() as usize].retain(|job| *job != index);
        self.live -= 1;
        Some(started)
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
        let submission = &self.hosting.workload.jobs[index];
        let tracked = &mut self.tracked[index];
        let twice = tracked.running.iter().any(|(place, _)| *place == node);
        if twice || tracked.running.len() >= submission.processors as usize {
            // At most one execution of a job is alive.
            self.violations += 1;
            return;
        }
        if tracked.running.is_empty() && tracked.ended.len() >= submission.processors as usize {
            tracked.ended.clear();
        }
        tracked.running.push((node, now));
        tracked.start = Some(now);
        // Nodes may have joined since.
        let number = node.get() as usize;
        if number >= self.jobs_on.len() {
            self.jobs_on.resize(number + 1, Vec::new());
        }
        self.jobs_on[number].push(index);
        self.live += 1;
        let speed = match self.hosting.grid {
            Grid::Uniform(_) => Speed::BASELINE,
            Grid::Mixed(mixed) => mixed
                .nodes
                .get(node.get() as usize)
                .map_or(Speed::BASELINE, |profile| profile.speed),
        };
        let duration = self
            .hosting
            .estimates
            .apply(submission.run_time, submission.requested_time);
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
        self.executions
            .push(now + speed.duration_of(duration.actual), slot);
    }

    /// Ends the execution that is due, unless it was stopped or its node went down.
    fn end_next(&mut self, now: Time) {
        let Some((_, slot)) = self.executions.pop() else {
            return;
        };
        self.free.push(slot);
        let Execution { job, node, started } = self.slots[slot as usize];
        // Another attempt at the job may run on the same node by now.
        if !self.tracked[job].running.contains(&(node, started)) {
            return;
        }
        self.forget(job, node);
        self.tracked[job].ended.push(node);
        self.tracked[job].end = Some(now);
        self.last_news = now;
        let ended = Command::Ended {
            job: JobId::new(job as u64),
            outcome: JobEnd::Done,
        };
        self.simulation.command(now, node, ended);
    }

    fn finish(mut self, stopped: Stopped) -> Run {
        let mut outcomes = Vec::with_capacity(self.tracked.len());
        let mut nodes = Vec::with_capacity(self.tracked.len());
        for tracked in &self.tracked {
            let outcome = tracked.outcome.unwrap_or(match stopped {
                Stopped::Stalled => Outcome::Lost,
                Stopped::Done | Stopped::OnRequest => Outcome::Unfinished {
                    start: tracked.start.filter(|_| !tracked.running.is_empty()),
                },
            });
            self.violations += u64::from(outcome == Outcome::Lost);
            let running = tracked.running.iter().map(|(node, _)| node);
            let on = tracked.ended.iter().chain(running);
            nodes.push(on.map(|node| node.get() as u32).collect());
            outcomes.push(outcome);
        }
        let traffic = self.simulation.traffic().clone();
        Run {
            outcomes,
            placement: Placement::Assigned(nodes),
            faults: Faults {
                undelivered: traffic.to_nobody(),
                network: self.simulation.network().mishaps(),
                ..self.faults
            },
            traffic,
            violations: self.violations + self.simulation.broken().len() as u64,
            events: self.simulation.events(),
            digest: self.simulation.digest(),
        }
    }
}

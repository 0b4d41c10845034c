//! Virtual time for one scheduler: feeds it arrivals and ends, and records the outcomes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gridweave_core::job::Refusal;
use gridweave_core::time::{Span, Time};

use super::Run;
use super::journal::{Journal, Kind};
use super::observer::Observer;
use super::task::{Admission, Tasks};
use crate::outcome::Outcome;
use crate::workload::Workload;
use gridweave_sim::monitor::{Monitor, Progress};

/// A running job. The order is that of ends; jobs that end at one instant go by their index in the workload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Running {
    /// When it really ends. Schedulers do not look at this.
    end: Time,
    /// Its index in the workload.
    pub(super) job: u32,
    /// How many processors it has.
    pub(super) size: u32,
    /// When it ends by its estimate.
    pub(super) expected: Time,
}

/// A scheduler. At each instant it hears of all ends, then of all arrivals, and then decides once.
pub(super) trait Policy {
    /// A job has ended.
    fn end(&mut self, now: Time, ended: &Running);
    /// A job has come. An idle grid could run it.
    fn arrive(&mut self, job: u32);
    /// Starts the jobs that should start now.
    fn pass(&mut self, now: Time, floor: &mut Floor<'_, impl Observer>);
    /// When it wants a pass even if no job arrives or ends.
    fn wakes_at(&mut self) -> Option<Time> {
        None
    }
    /// The node on which each job ran; empty if all nodes are alike.
    fn nodes(self) -> Vec<Option<u32>>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

/// The running jobs, and the record of what happened.
pub(super) struct Floor<'a, O> {
    workload: &'a Workload,
    tasks: &'a Tasks,
    now: Time,
    running: BinaryHeap<Reverse<Running>>,
    outcomes: Vec<Outcome>,
    promised: Vec<Option<Time>>,
    journal: Journal,
    observer: &'a mut O,
}

impl<O: Observer> Floor<'_, O> {
    /// Starts a job on as many processors as it asked for.
    pub(super) fn start(&mut self, job: u32) {
        self.begin(job, None, self.tasks.of(job).actual);
    }

    /// Starts a job on this node, on which it takes so long.
    pub(super) fn start_on(&mut self, job: u32, node: u32, takes: Span) {
        self.begin(job, Some(node), takes);
    }

    /// Tells the observer when a job is planned to start.
    pub(super) fn promise(&mut self, job: u32, start: Time) {
        self.promised[job as usize].get_or_insert(start);
        self.observer.promised(self.now, job as usize, start);
    }

    fn begin(&mut self, job: u32, node: Option<u32>, takes: Span) {
        let task = self.tasks.of(job);
        let (start, end) = (self.now, self.now + takes);
        self.running.push(Reverse(Running {
            end,
            job,
            size: task.size,
            expected: start + task.estimate,
        }));
        self.outcomes[job as usize] = Outcome::Ran {
            start,
            end,
            ending: task.ending,
        };
        self.promised[job as usize].get_or_insert(start);
        self.record(Kind::Start, node, job);
        self.observer.started(start, job as usize);
    }

    fn record(&mut self, kind: Kind, node: Option<u32>, job: u32) {
        let number = self.workload.jobs[job as usize].number;
        self.journal.add(self.now, kind, node, number);
    }

    /// The next job that has ended by now.
    fn ended(&mut self) -> Option<Running> {
        let Reverse(next) = self.running.peek()?;
        if next.end > self.now {
            return None;
        }
        let Reverse(ended) = self.running.pop()?;
        self.record(Kind::End, None, ended.job);
        self.observer.ended(self.now, ended.job as usize);
        Some(ended)
    }

    fn finish(mut self, nodes: Vec<Option<u32>>, stopped: Option<Time>) -> Run {
        for Reverse(running) in self.running {
            if let Outcome::Ran { start, .. } = self.outcomes[running.job as usize] {
                self.outcomes[running.job as usize] = Outcome::Unfinished { start: Some(start) };
            }
        }
        Run {
            outcomes: self.outcomes,
            promised: self.promised,
            nodes,
            stopped,
            events: self.journal.events(),
            digest: self.journal.digest(),
        }
    }
}

/// Replays a workload: at each instant all ends, then all arrivals in the order of the workload, then one pass.
pub(super) fn drive<P: Policy>(
    mut policy: P,
    workload: &Workload,
    tasks: &Tasks,
    monitor: &Monitor,
    observer: &mut impl Observer,
) -> Run {
    let mut floor = Floor {
        workload,
        tasks,
        now: Time::ZERO,
        running: BinaryHeap::new(),
        outcomes: vec![Outcome::NotSubmitted; workload.jobs.len()],
        promised: vec![None; workload.jobs.len()],
        journal: Journal::new(),
        observer,
    };
    let mut arrivals = (0_u32..).zip(&workload.jobs).peekable();
    let mut done = 0;
    let mut next_report = 0;
    let mut stopped = None;
    loop {
        let arrival = arrivals.peek().map(|(_, job)| job.at);
        let end = floor.running.peek().map(|Reverse(running)| running.end);
        let next = [arrival, end, policy.wakes_at()]
            .into_iter()
            .flatten()
            .min();
        if floor.journal.events() >= next_report {
            next_report = floor.journal.events() + Monitor::EVERY;
            monitor.report(Progress {
                now: floor.now,
                jobs: done,
                events: floor.journal.events(),
            });
            if monitor.stopped() {
                stopped = next.map(|_| floor.now);
                break;
            }
        }
        let Some(next) = next else { break };
        // A workload is sorted by time. In an unsorted one, a late entry arrives when it is read.
        floor.now = next.max(floor.now);
        let now = floor.now;
        while let Some(ended) = floor.ended() {
            done += 1;
            policy.end(now, &ended);
        }
        while let Some((job, _)) = arrivals.next_if(|(_, job)| job.at <= now) {
            floor.record(Kind::Arrival, None, job);
            match tasks.of(job).admission {
                Admission::Taken => {
                    floor.outcomes[job as usize] = Outcome::Unfinished { start: None };
                    floor.observer.arrived(now, job as usize);
                    policy.arrive(job);
                }
                Admission::Rejected => {
                    done += 1;
                    floor.outcomes[job as usize] = Outcome::Rejected(Refusal::TooLarge);
                }
            }
        }
        policy.pass(now, &mut floor);
        floor.observer.passed(now);
    }
    monitor.report(Progress {
        now: floor.now,
        jobs: done,
        events: floor.journal.events(),
    });
    floor.finish(policy.nodes(), stopped)
}

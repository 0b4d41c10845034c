//! What the examples of schedulers have in common: a grid in one process, on a virtual clock.
//!
//! An agent has one [`Host`]. It waits for its socket and the next timer, sends messages over the network, and writes
//! records to disk before it goes on. Here all hosts are in one list, and messages take no time.

#![allow(unreachable_pub)]

use std::collections::VecDeque;

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, News, Notice, Outcome};
use gridweave_core::machine::{Effect, Event, Host, Machine, TimerQueue};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Nodes, numbered as they start, and the programs that they run.
pub(crate) struct Grid<M: Machine> {
    hosts: Vec<Host<M>>,
    /// Messages on their way, and to which node.
    inbox: VecDeque<(usize, Event<M>)>,
    /// When programs are done: on which node, and for which attempt at which job.
    programs: TimerQueue<(usize, JobId, Epoch)>,
    /// How long a program runs.
    runs: Span,
    pub(crate) now: Time,
    pub(crate) rng: Xoshiro256PlusPlus,
}

impl<M: Machine<Command = Command, Notice = Notice>> Grid<M> {
    /// A grid without nodes, whose programs run for `runs`.
    pub(crate) fn new(runs: Span) -> Self {
        Self {
            hosts: Vec::new(),
            inbox: VecDeque::new(),
            programs: TimerQueue::new(),
            runs,
            now: Time::ZERO,
            rng: Xoshiro256PlusPlus::seed_from_u64(1),
        }
    }

    /// The next node comes up.
    pub(crate) fn start(&mut self, machine: M) {
        let mut host = Host::new();
        host.start(machine, self.now, &mut self.rng);
        self.hosts.push(host);
    }

    /// A user or a program tells a node something.
    pub(crate) fn tell(&mut self, node: usize, command: Command) {
        self.hosts[node].handle(Event::Command(command), self.now, &mut self.rng);
    }

    /// Runs the grid up to a time, or until a node has news.
    pub(crate) fn news(&mut self, before: Time) -> Option<(usize, Notice)> {
        loop {
            for node in 0..self.hosts.len() {
                // In order: a record is durable before the next effect.
                while let Some(effect) = self.hosts[node].execute() {
                    match effect {
                        Effect::Send { to, message } => {
                            let from = NodeId::new(node as u64);
                            let heard = Event::Message { from, message };
                            self.inbox.push_back((to.get() as usize, heard));
                        }
                        Effect::Notify(notice) => {
                            self.run_program(node, &notice);
                            return Some((node, notice));
                        }
                        // The host has set the timer or kept the record; an agent writes records to a folder of files.
                        _ => {}
                    }
                }
            }
            if let Some((node, event)) = self.inbox.pop_front() {
                self.hosts[node].handle(event, self.now, &mut self.rng);
                continue;
            }
            let timers = self.hosts.iter().map(Host::next_at).zip(0..);
            let timer = timers.filter_map(|(at, node)| Some((at?, node))).min();
            let done = self.programs.next_at();
            let next = [timer.map(|(at, _)| at), done].into_iter().flatten().min();
            let Some(next) = next.filter(|at| *at < before) else {
                self.now = before;
                return None;
            };
            self.now = next;
            // A program that ends with its reservation has ended: ends come before timers.
            if let Some((_, (node, job, attempt))) = self.programs.pop_due(next) {
                let outcome = Outcome::Done;
                let ended = Command::Ended {
                    job,
                    attempt,
                    outcome,
                };
                self.tell(node, ended);
            } else if let Some((_, node)) = timer {
                let host: &mut Host<M> = &mut self.hosts[node];
                host.fire(next, &mut self.rng);
            }
        }
    }

    /// Starts or stops the program of a job, as its node says.
    fn run_program(&mut self, node: usize, Notice { job, news }: &Notice) {
        match news {
            News::Started { attempt, .. } => {
                let end = self.now + self.runs;
                self.programs.wake(end, (node, *job, *attempt));
            }
            News::Stopped { attempt } => self.programs.cancel((node, *job, *attempt)),
            _ => {}
        }
    }

    /// What a node knows.
    #[allow(dead_code, reason = "not every example looks")]
    pub(crate) fn machine(&self, node: usize) -> Option<&M> {
        self.hosts[node].machine()
    }
}

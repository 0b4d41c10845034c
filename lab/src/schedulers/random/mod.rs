//! The baseline that knows nothing: each job goes to a random node, and waits its turn there.
//!
//! No node asks how long a queue is, so a scheduler that asks its neighbours must do better. It also shows on a page
//! what a scheduler is made of. It takes only jobs of one node. Duplicate messages do no harm, but it does not handle
//! lost ones or crashes.

use std::collections::{BTreeSet, VecDeque};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Refusal, Survival};
use gridweave_core::machine::{Context, Event, Machine, Never, Violation};
use gridweave_core::queue::{LocalScheduler, Policy, QueueError, SiteQueue};
use gridweave_core::resource::Speed;
use gridweave_core::rng::Choose;
use gridweave_core::time::Time;
use gridweave_core::wire::{Bounded, Framed, Kind, Protocol};
use gridweave_sim::monitor::Monitor;
use serde::{Deserialize, Serialize};

use super::side::Side;
use super::told::assigned;
use crate::experiment::error::InputError;
use crate::experiment::nodes::Nodes;
use crate::experiment::prepare::Prepared;
use crate::run::Run;

/// One node: it knows how many nodes there are, and has a queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Random {
    nodes: u32,
    queue: SiteQueue,
    /// The submitter of each job in the queue, in the order of arrival.
    submitters: Vec<(JobId, NodeId)>,
    /// Jobs that were submitted here and have no outcome.
    open: BTreeSet<JobId>,
    /// The last jobs that ended here, to recognise duplicates of their messages.
    ended: VecDeque<JobId>,
}

/// What nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Run this job.
    Assign(Box<Job>),
    /// Your job is done.
    Done(JobId),
    /// There is no room for your job.
    Full(JobId),
}

impl Random {
    /// The most jobs that a node holds.
    const ROOM: usize = 1 << 20;

    /// How many jobs that ended here are remembered.
    const REMEMBERED: usize = 256;

    /// A node of a grid with so many nodes.
    pub(crate) fn new(nodes: u32) -> Self {
        Self {
            nodes,
            queue: SiteQueue::new(Policy::FirstCome, Speed::BASELINE, Self::ROOM),
            submitters: Vec::new(),
            open: BTreeSet::new(),
            ended: VecDeque::new(),
        }
    }

    fn submit(&mut self, job: Job, cx: &mut dyn Context<Self>) {
        if job.demand != Demand::Nodes(core::num::NonZeroU32::MIN) {
            let refusal = Failure::Refused(Refusal::UnsupportedDemand);
            cx.notify(Notice {
                job: job.id,
                news: News::Failed(refusal),
            });
            return;
        }
        self.open.insert(job.id);
        let to = NodeId::new(u64::from(cx.rng().below(self.nodes)));
        cx.send(to, Message::Assign(Box::new(job)));
    }

    fn take(&mut self, job: &Job, from: NodeId, cx: &mut dyn Context<Self>) {
        if self.ended.contains(&job.id) {
            return;
        }
        match self.queue.push(cx.now(), job.into()) {
            Ok(()) => {
                self.submitters.push((job.id, from));
                self.start_next(cx);
            }
            Err(QueueError::Known) => {}
            Err(_) => cx.send(from, Message::Full(job.id)),
        }
    }

    fn end(&mut self, job: JobId, cx: &mut dyn Context<Self>) {
        if self.queue.finish(cx.now(), job).is_err() {
            return;
        }
        if self.ended.len() == Self::REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back(job);
        let index = self.submitters.iter().position(|(held, _)| *held == job);
        if let Some(index) = index {
            let (_, submitter) = self.submitters.remove(index);
            cx.send(submitter, Message::Done(job));
        }
        self.start_next(cx);
    }

    /// Tells the outcome of a job that was submitted here, but only once.
    fn close(&mut self, job: JobId, news: News, cx: &mut dyn Context<Self>) {
        if self.open.remove(&job) {
            cx.notify(Notice { job, news });
        }
    }

    fn start_next(&mut self, cx: &mut dyn Context<Self>) {
        if let Some(job) = self.queue.start_next(cx.now()) {
            // A job is given to one node only, once, and runs for as long as it takes.
            let (attempt, until) = (Epoch::new(1), Time::MAX);
            let assignment = assigned(attempt, cx.now());
            let news = News::Started {
                attempt,
                until,
                assignment,
            };
            cx.notify(Notice { job, news });
        }
    }
}

impl Machine for Random {
    type Message = Message;
    type Timer = Never;
    type Command = Command;
    type Notice = Notice;
    type Key = Never;
    type Record = Never;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Command(Command::Submit { job, .. }) => self.submit(job, cx),
            // What ran in an earlier life is forgotten.
            Event::Command(Command::Survived {
                job,
                attempt,
                survival,
            }) => {
                if matches!(survival, Survival::Runs { .. }) {
                    let news = News::Stopped { attempt };
                    cx.notify(Notice { job, news });
                }
            }
            Event::Command(Command::Ended { job, .. }) => self.end(job, cx),
            Event::Message { from, message } => match message {
                Message::Assign(job) => self.take(&job, from, cx),
                Message::Done(job) => self.close(job, News::Finished, cx),
                Message::Full(job) => {
                    let refused = News::Failed(Failure::Refused(Refusal::Full));
                    self.close(job, refused, cx);
                }
            },
            Event::Command(
                Command::Cancel(_)
                | Command::Leave
                | Command::Drain
                | Command::Resume
                | Command::Meet(_)
                | Command::Site(_),
            )
            | Event::Start
            | Event::Unreachable { .. } => {}
            Event::Timer(never) => match never {},
            Event::Restored(never, _) => match never {},
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.queue.check()?;
        let held = self.queue.waiting().len() + self.queue.running().len();
        Violation::unless(
            held == self.submitters.len(),
            "every job that is here has a submitter",
        )
    }
}

impl Framed for Message {
    const PROTOCOL: Protocol = Protocol::new(128);
    const KINDS: &'static [Kind] = &[
        Kind::new("Assign", Job::MOST_BYTES),
        Kind::new("Done", JobId::MOST_BYTES),
        Kind::new("Full", JobId::MOST_BYTES),
    ];

    fn kind(&self) -> &'static str {
        match self {
            Self::Assign(_) => "Assign",
            Self::Done(_) => "Done",
            Self::Full(_) => "Full",
        }
    }
}

/// What the lab knows of `random`.
pub(crate) struct RandomSide;

impl Side for RandomSide {
    fn places_gangs(&self) -> bool {
        false
    }

    fn check(&self, prepared: &Prepared) -> Result<(), InputError> {
        prepared.check_nodes(self.places_requirements(), size_of::<Random>())
    }

    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<Run, InputError> {
        let nodes = u32::try_from(prepared.grid.len()).unwrap_or(u32::MAX);
        prepared.simulate_nodes(Nodes::built_by(move |_| Random::new(nodes)), monitor)
    }
}

//! ARiA: sites with schedulers of their own bid for jobs, and for jobs that wait elsewhere (P3; PROTOCOLS 4.4, A1 to A25).
//!
//! Where a job is submitted, a REQUEST is flooded over the overlay. Each site that could run the job answers with an ACCEPT and what it
//! would cost there: the time until it is done, or its lateness if it has a deadline. The job is ASSIGNed to the cheapest. While it waits
//! there, its site floods an INFORM from time to time, and whoever would have it done sooner gets it.
//!
//! ```text
//!  initiator                        a site                          another site
//!  REQUEST ────── flooded ────────▶ matches
//!          ◀─────────────── ACCEPT  (cost)
//!  ASSIGN ─────────────────────────▶ writes it down
//!          ◀─────────────── NOTIFY  (term)
//!  Granted ────────────────────────▶ queues it ── INFORM ─ flooded ─▶ would have it done sooner
//!                                    still so?  ◀─────────── ACCEPT
//!                                    out of the queue ─── ASSIGN ──▶ writes it down
//!                                    forgets it  ◀────── ASSIGN_ACK
//!          ◀──────────────────────────────────────────────── NOTIFY  (next term)
//!  Granted ───────────────────────────────────────────────────────▶ queues it, runs it
//!          ◀──────────────────────────────────────────────── NOTIFY  (done)
//! ```
//!
//! # Rules
//! - A job's initiator alone decides who has it. It grants the job for a lease, which its site asks to be renewed; without a lease a site
//!   queues nothing, starts nothing, and stops what runs. So a job that is given again, after its lease is over, never runs twice at
//!   once, whatever was lost (PROTOCOLS A16).
//! - Each time that a job is given away has a [`Term`]. The initiator believes the site that it gave the job to, and whoever that one gave
//!   it to; of two that claim the same term, the first.
//! - A site that gives a job away takes it out of its queue, writes that down, and only then offers it. If nobody takes it, the site claims
//!   it anew, under the same term as whoever it offered it to.
//! - A site that has lost the initiator of a job lets go of the job when its lease is over, and says so ([`News::Orphaned`]): the initiator
//!   may have given it to another. If the initiator is gone for good, the job is lost with it.
//! - A job that nobody offers to run is asked for [`Config::rounds`] times, and then fails. One that is lost with its site is placed anew.
//! - A node that leaves takes no job, gives away what waits (where jobs are moved at all), does what runs, and stays in the overlay until all
//!   of that is done.
//!
//! A node that lies can have jobs that it does not run, or not let others have theirs: nothing here authenticates anyone.
//!
//! The scheduler of a site is whatever implements [`LocalScheduler`]; [`crate::queue::SiteQueue`] does.

mod assignee;
mod config;
mod initiator;
pub mod links;
mod message;
mod offers;
mod relay;
mod rescheduling;
mod site;
#[cfg(test)]
mod tests;

pub use assignee::Place;
pub use config::{Config, ConfigError, Forward, Overlay, Rescheduling, Taking};
pub use initiator::Stage;
pub use message::{Answer, Ending, Message, Ruling, Standing, Term};
pub use offers::MOST_OFFERS;
pub use site::{MOST_ORGANISATIONS, Membership, Serves, Site};

use alloc::vec::Vec;

use crate::id::{JobId, NodeId};
#[cfg(doc)]
use crate::job::News;
use crate::job::{self, Job, Notice};
use crate::machine::{Context, Embed, Event, Machine, Violation};
use crate::overlay::flood::Seen;
use crate::queue::{Cost, LocalScheduler};
use crate::scheduler::Bootstrap;
use crate::shared::Shared;
use crate::time::Time;
use assignee::Held;
use initiator::Task;
use links::Links;
use offers::Offer;
use relay::Kind;

/// A node of the grid: a site with a scheduler of its own, where jobs can be submitted.
///
/// Most effects per event, beside those of the overlay: one for each neighbour that a flood goes to, and five for each job that starts or
/// is advertised.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Aria<S: LocalScheduler> {
    me: NodeId,
    config: Config,
    bootstrap: Bootstrap,
    links: Links,
    site: Site<S>,
    seen: Seen,
    /// The number of its last flood.
    floods: u32,
    /// In the order of jobs.
    tasks: Vec<Task>,
    /// In the order of jobs.
    held: Vec<Held>,
    advertise_at: Time,
    leaving: bool,
    counts: Counts,
    /// What it says to itself while it handles an event.
    post: Vec<Message>,
}

/// What happened to jobs at a node in this life.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counts {
    /// How often a job of its own was placed anew because whoever had it was lost.
    pub placed_again: u64,
    /// How often it let go of a job that nobody answered for.
    pub orphaned: u64,
    /// How often it gave a job away that waited here.
    pub moved: u64,
}

/// What a node is woken with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// By the overlay.
    Overlay(links::Timer),
    /// Something is to be done about a job that was submitted here.
    Task(JobId),
    /// Something is to be done about a job that is at this site.
    Held(JobId),
    /// It is time to advertise.
    Advertise,
    /// The site's scheduler may start something.
    Local,
}

/// The name of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// Of the overlay.
    Overlay(links::Key),
    /// A job that was submitted here.
    Task(JobId),
    /// A job that is at this site.
    Held(JobId),
}

/// What a node must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// Of the overlay.
    Overlay(links::Record),
    /// A job that was submitted here, and how far it is.
    Task(Shared<Job>, Stage),
    /// A job that is at this site.
    Held {
        /// The job.
        job: Shared<Job>,
        /// Who answers for it.
        initiator: NodeId,
        /// Under what it is here.
        term: Term,
        /// How far it is.
        place: Place,
    },
}

/// The overlay as a part of a node.
#[derive(Default)]
struct AsLinks {
    alone: bool,
}

impl<S: LocalScheduler> Embed<Links, Aria<S>> for AsLinks {
    fn message(&mut self, message: links::Message) -> Message {
        Message::Overlay(message)
    }
    fn timer(&mut self, timer: links::Timer) -> Timer {
        Timer::Overlay(timer)
    }
    fn key(&mut self, key: links::Key) -> Key {
        Key::Overlay(key)
    }
    fn record(&mut self, record: links::Record) -> Record {
        Record::Overlay(record)
    }
    fn notice(&mut self, _: links::Alone, _: &mut impl Context<Aria<S>>) {
        self.alone = true;
    }
}

impl<S: LocalScheduler> Aria<S> {
    /// A node without jobs. The configuration is that of all nodes.
    pub fn new(
        me: NodeId,
        config: Config,
        bootstrap: Bootstrap,
        site: Site<S>,
    ) -> Result<Self, ConfigError> {
        let config = config.checked()?;
        let farthest = if config.request.ttl >= config.inform.ttl {
            config.request
        } else {
            config.inform
        };
        Ok(Self {
            me,
            config,
            bootstrap,
            links: Links::new(me, config.overlay)?,
            site,
            seen: Seen::covering(farthest, config.max_delay, u32::from(config.floods)),
            floods: 0,
            tasks: Vec::new(),
            held: Vec::new(),
            advertise_at: Time::MAX,
            leaving: false,
            counts: Counts::default(),
            post: Vec::new(),
        })
    }

    /// Which node this is.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// Its links.
    pub const fn links(&self) -> &Links {
        &self.links
    }

    /// What it has, and its own scheduler.
    pub const fn site(&self) -> &Site<S> {
        &self.site
    }

    /// The jobs that were submitted here and have no last word yet.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.tasks.iter().map(|task| task.job.get().id)
    }

    /// The jobs that are at this site, or were and nobody knows it yet.
    pub fn held(&self) -> impl Iterator<Item = JobId> + '_ {
        self.held.iter().map(|held| held.job.get().id)
    }

    /// Where a job that was submitted here is, if it was granted to somebody.
    pub fn holder(&self, job: JobId) -> Option<NodeId> {
        let place = self.task_place(job).ok()?;
        self.tasks.get(place)?.holder()
    }

    /// Until when this site may have a job, if its initiator has said so.
    pub fn lease(&self, job: JobId) -> Option<Time> {
        let place = self.held_place(job).ok()?;
        self.held.get(place)?.granted()
    }

    /// What happened to jobs here in this life.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Says something to a node, which may be this one.
    fn say(&mut self, to: NodeId, message: Message, cx: &mut impl Context<Self>) {
        if to == self.me {
            self.post.push(message);
        } else {
            cx.send(to, message);
        }
    }

    fn overlay(&mut self, event: Event<Links>, cx: &mut impl Context<Self>) {
        let mut embed = AsLinks::default();
        self.links.handle(event, &mut cx.lift(&mut embed));
        if embed.alone
            && let Bootstrap::Join(introducer) = self.bootstrap
        {
            let join = Event::Command(links::Command::Join(introducer));
            self.links.handle(join, &mut cx.lift(&mut embed));
        }
    }

    fn start(&mut self, cx: &mut impl Context<Self>) {
        // In milliseconds, so that no flood has the name of one in an earlier life: nobody would listen.
        self.floods = (cx.now().as_micros() / 1000) as u32;
        self.overlay(Event::Start, cx);
        let met: Vec<links::Command> = links::commands(&self.bootstrap).collect();
        for command in met {
            self.overlay(Event::Command(command), cx);
        }
        let jobs: Vec<JobId> = self.jobs().collect();
        for job in jobs {
            self.resume_task(job, cx);
        }
        let held: Vec<JobId> = self.held().collect();
        for job in held {
            self.resume_held(job, cx);
        }
        self.begin_advertising(cx);
        self.start_jobs(cx);
    }

    fn receive(&mut self, from: NodeId, message: Message, cx: &mut impl Context<Self>) {
        match message {
            Message::Overlay(message) => self.overlay(Event::Message { from, message }, cx),
            Message::Request { header, job } => {
                self.hear_flood(from, Kind::Request, header, &job, Cost::MAX, cx);
            }
            Message::Inform { header, job, cost } => {
                self.hear_flood(from, Kind::Inform, header, &job, cost, cx);
            }
            Message::Accept { flood, cost } => {
                let offer = Offer { cost, node: from };
                if flood.origin != self.me {
                    return;
                }
                if flood.kind == Kind::Request.number() {
                    self.offered(flood, offer);
                } else {
                    self.better_offer(flood, offer, cx);
                }
            }
            Message::Assign {
                job,
                initiator,
                term,
            } => self.assigned(from, job, initiator, term, cx),
            Message::AssignAck { job, term, answer } => {
                // Who takes a job that its initiator gives away tells the initiator so itself.
                if answer == Answer::NotTaken {
                    self.not_taken(from, job, term, cx);
                }
                self.taker_answered(from, job, term, answer, cx);
            }
            Message::Notify {
                job,
                term,
                standing,
            } => self.notified(from, job, term, standing, cx),
            Message::Verdict { job, term, ruling } => self.ruled(from, job, term, ruling, cx),
        }
    }

    fn obey(&mut self, command: &job::Command, cx: &mut impl Context<Self>) {
        match *command {
            job::Command::Submit(job) => self.submit(job, cx),
            job::Command::Cancel(job) => self.cancel(job, cx),
            job::Command::Ended { job, outcome } => self.ended_here(job, outcome, cx),
            job::Command::Leave => {
                self.leaving = true;
                self.advertise_at = cx.now();
                self.advertise(cx);
            }
        }
    }

    fn restore(&mut self, key: Key, record: Record, cx: &mut impl Context<Self>) {
        match (key, record) {
            (Key::Overlay(key), Record::Overlay(record)) => {
                self.overlay(Event::Restored(key, record), cx);
            }
            (Key::Task(id), Record::Task(job, stage)) if id == job.get().id => {
                if let Err(place) = self.task_place(id) {
                    self.tasks.insert(place, Task::restored(job, stage));
                }
            }
            (
                Key::Held(id),
                Record::Held {
                    job,
                    initiator,
                    term,
                    place,
                },
            ) if id == job.get().id => self.restore_held(job, initiator, term, place),
            // No such pair was ever written.
            _ => {}
        }
    }

    /// A node that leaves is gone from the overlay once nobody needs it any more.
    fn depart(&mut self, cx: &mut impl Context<Self>) {
        if self.leaving && self.tasks.is_empty() && self.held.is_empty() {
            self.overlay(Event::Command(links::Command::Leave), cx);
        }
    }
}

impl<S: LocalScheduler> Machine for Aria<S> {
    type Message = Message;
    type Timer = Timer;
    type Command = job::Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut impl Context<Self>) {
        match event {
            Event::Restored(key, record) => {
                self.restore(key, record, cx);
                return;
            }
            Event::Start => self.start(cx),
            Event::Message { from, message } => self.receive(from, message, cx),
            Event::Unreachable { to } => {
                self.overlay(Event::Unreachable { to }, cx);
                self.assignee_unreachable(to, cx);
                self.taker_unreachable(to, cx);
            }
            Event::Timer(Timer::Overlay(timer)) => self.overlay(Event::Timer(timer), cx),
            Event::Timer(Timer::Task(job)) => self.attend_task(job, cx),
            Event::Timer(Timer::Held(job)) => self.attend_held(job, cx),
            Event::Timer(Timer::Advertise) => self.advertise(cx),
            Event::Timer(Timer::Local) => self.start_jobs(cx),
            Event::Command(command) => self.obey(&command, cx),
        }
        // What it says to itself needs no network. Each answer leads to at most one more, until both roles agree.
        let mut next = 0;
        while let Some(message) = self.post.get(next).cloned() {
            self.receive(self.me, message, cx);
            next = next.saturating_add(1);
        }
        self.post.clear();
        self.depart(cx);
    }

    fn check(&self) -> Result<(), Violation> {
        self.links.check()?;
        self.site.local.check()?;
        Violation::unless(
            self.tasks
                .is_sorted_by(|a, b| a.job.get().id < b.job.get().id)
                && self.tasks.len() <= usize::from(self.config.tasks),
            "a node has no more jobs than it may, each once",
        )?;
        Violation::unless(
            self.held
                .is_sorted_by(|a, b| a.job.get().id < b.job.get().id)
                && self.held.len() <= usize::from(self.config.held),
            "a site has no more jobs than it may, each once",
        )?;
        Violation::unless(
            self.tasks.iter().all(Task::is_sound) && self.held.iter().all(Held::is_sound),
            "offers are in the order of costs",
        )?;
        Violation::unless(
            self.post.is_empty() && self.seen.len() <= usize::from(self.config.floods),
            "nothing is left over from an event, and no more floods are remembered than may be",
        )
    }
}

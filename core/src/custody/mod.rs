//! Custody: who has a job, so that none is lost and none runs twice (PROTOCOLS A16).
//!
//! A job has a *home*, the node that answers for it, and at any time at most one *holder*, the node that has it, runs it, or gives it away.
//! The home alone decides who that is. It grants the job for a lease, which the holder asks to be renewed; without a lease a holder starts
//! nothing, and stops what runs. So a job that is given again, after its lease is over, never runs twice at a time.
//!
//! ```text
//!  home                         a holder                        another
//!  Give ──────────────────────▶ writes it down
//!       ◀────────────── Report  (claims the term)
//!  Granted ───────────────────▶ queues it ─────── Give ───────▶ writes it down
//!                               remembers that  ◀────── Answer  (taken)
//!       ◀────────────────────────────────────────────── Report  (claims the next term)
//!  Granted ───────────────────────────────────────────────────▶ queues it, runs it
//!       ◀────────────────────────────────────────────── Report  (ended)
//!  Over ──────────────────────────────────────────────────────▶ forgets it
//! ```
//!
//! # Rules
//! - Each time that a job is given away is a new [`Term`]. Whoever has it gives it away under the very next term, and to one node only until
//!   that has failed. Of those who claim a term, the first who does has the job, for everyone and for ever.
//! - What is decided is written down before it is said.
//! - Each time that a node takes a job has a number, its [`Claim`]. A node that let a job go and is given it again by an old message claims
//!   it under another number, and does not get it: what it was granted before, and what it said, was about another time.
//! - A holder that hears nothing from the home until its lease is over lets the job go: [`News::Orphaned`]. A home that hears nothing from
//!   the holder waits until the lease, and the most that two clocks can differ, is over, and then searches for another.
//! - A home may have a home of its own: it then grants nothing beyond what it was itself granted ([`Command::Bound`]), and what it says is
//!   newer than what any home said before it ([`Tenure`]).
//! - A node may be the home and the holder of a job. What one role would say to the other takes effect within the same event, and is not sent.
//!
//! Whom to ask is not decided here: [`Notice::Seek`] asks for candidates, [`Command::Found`] names them. Nor is whether a job is taken:
//! [`Notice::Offered`] asks, [`Command::Take`] answers. Nor is when it runs: a holder is told [`Notice::Queue`], and says [`Command::Start`]
//! and [`Command::Ended`].
//!
//! What a home says is believed, and so is what a holder says: nothing here authenticates anyone.

mod config;
mod holder;
mod home;
mod message;
#[cfg(test)]
mod tests;

pub use config::{Config, ConfigError};
pub use holder::{Gift, Progress, Taking};
pub use home::{Holding, Past, Stage};
pub use message::{Answer, Claim, Ending, Message, Ruling, Standing, Tenure, Term};

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use holder::Held;
use home::Task;

use crate::id::{JobId, NodeId};
use crate::job::{self, Job, News};
use crate::machine::{Context, Effect, Event, Machine, Violation};
use crate::rand_core::Rng;
use crate::shared::Shared;
use crate::time::Time;

/// The most nodes that are named at once as ones who may take a job.
pub const MOST_CANDIDATES: usize = 4;

/// Some nodes that may take a job, the best first.
pub type Candidates = heapless::Vec<NodeId, MOST_CANDIDATES, u8>;

/// All that a node answers for, and all that it has.
///
/// Most effects per event: eight for each job that it is about. That is one, but for the start and for a node that cannot be reached.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Custody {
    me: NodeId,
    config: Config,
    /// In the order of jobs.
    tasks: Vec<Task>,
    /// In the order of jobs.
    held: Vec<Held>,
    counts: Counts,
    /// That of the last job that it took.
    claim: Claim,
}

/// What happened to jobs at a node in this life.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counts {
    /// How often a job that it answers for was placed anew because whoever had it was lost.
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
    /// Something is to be done about a job that this node answers for.
    Task(JobId),
    /// Something is to be done about a job that this node has.
    Held(JobId),
}

/// The name of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A job that this node answers for.
    Task(JobId),
    /// A job that this node has.
    Held(JobId),
}

/// What a node must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A job that this node answers for, since when, and how far it is.
    Task(Shared<Job>, Tenure, Stage),
    /// A job that this node has.
    Held {
        /// The job.
        job: Shared<Job>,
        /// Who answers for it.
        home: NodeId,
        /// Under what it is here.
        term: Term,
        /// Which of the times it is that this node has it.
        claim: Claim,
        /// What its last holder wanted this one to know.
        carried: u32,
        /// When it came here.
        arrived: Time,
        /// How far it is.
        progress: Progress,
    },
}

/// What a node's host asks of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Answer for this job from now on, and search for a node that takes it. Nothing happens if that is refused ([`Custody::refusal`]). A job
    /// is kept only once in a tenure, on all nodes together.
    Keep {
        /// The job.
        job: Shared<Job>,
        /// Since when this node answers for it.
        tenure: Tenure,
        /// Until when this node may answer for it, if a home of its own has said so.
        until: Option<Time>,
    },
    /// This node may answer for a job until then, and grants nothing beyond that. Without [`Config::bounded`] it may for ever, and otherwise not
    /// at all until it is told.
    Bound {
        /// The job.
        job: JobId,
        /// Until when.
        until: Time,
    },
    /// These nodes may take a job: the answer to [`Notice::Seek`]. None ends the search.
    Found {
        /// The job.
        job: JobId,
        /// As in the notice.
        attempt: u32,
        /// The best first.
        candidates: Candidates,
    },
    /// A job that this node answers for is not wanted any more.
    Cancel(JobId),
    /// With [`Config::bounded`]: the home of this home knows the last word on a job, or it is on disk that it must be told. Until then it is told
    /// anew after a crash.
    PassedOn(JobId),
    /// Whether this node takes a job: the answer to [`Notice::Offered`].
    Take {
        /// As in the notice.
        gift: Gift,
        /// Whether.
        taking: Taking,
    },
    /// A job that is here is expected to start then. Its home is told at once, if it was not told before.
    Expect {
        /// The job.
        job: JobId,
        /// When.
        start: Time,
    },
    /// A job that waits here is to start now. It is told that it starts ([`News::Started`]), or is to be dropped ([`Notice::Drop`]).
    Start(JobId),
    /// A job that was here has ended, and is no longer with the host. That may be known after a crash, before its home has said again that it may
    /// be here.
    Ended {
        /// The job.
        job: JobId,
        /// How it ended.
        ending: Ending,
    },
    /// A job that waits here, and that the host has taken out of its queue, goes to another node. It is not started again here before its home
    /// says so.
    GiveAway {
        /// The job.
        job: JobId,
        /// Where it goes.
        to: NodeId,
        /// What its next holder is to know.
        carried: u32,
    },
}

/// What a node's host is told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Notice {
    /// News of a job, where this node answers for it or has it.
    Tell(job::Notice),
    /// Does this node take this job? The host answers with [`Command::Take`].
    Offered(Gift),
    /// Which nodes may take this job? The host answers with [`Command::Found`].
    Seek {
        /// The job.
        job: Shared<Job>,
        /// How often it was given away before.
        attempt: u32,
    },
    /// This job is here to wait and run, until then, if it still is ([`Custody::is_here`]).
    Queue {
        /// The job.
        job: Shared<Job>,
        /// Under what it is here.
        term: Term,
        /// What its last holder wanted this one to know.
        carried: u32,
        /// When it was first here to wait: now, unless it was to go elsewhere since, or this node has restarted.
        arrived: Time,
        /// Until when, unless more is granted.
        until: Time,
    },
    /// This job, which waits or runs here, may stay longer.
    Extended {
        /// Which.
        job: JobId,
        /// Until when.
        until: Time,
    },
    /// This job, which waits or runs here or did so before a crash, is over, or was never to be here, unless it has come back
    /// ([`Custody::is_here`]).
    Drop(JobId),
}

impl Custody {
    /// A node without jobs.
    pub fn new(me: NodeId, config: Config) -> Result<Self, ConfigError> {
        Ok(Self {
            me,
            config: config.checked()?,
            tasks: Vec::new(),
            held: Vec::new(),
            counts: Counts::default(),
            claim: Claim::NONE,
        })
    }

    /// The jobs that this node answers for.
    pub fn tasks(&self) -> impl Iterator<Item = JobId> + '_ {
        self.tasks.iter().map(|task| task.job.get().id)
    }

    /// The jobs that this node has, or had and its home does not know that yet.
    pub fn held(&self) -> impl Iterator<Item = JobId> + '_ {
        self.held.iter().map(|held| held.job.get().id)
    }

    /// Whether this node answers for a job.
    pub fn answers_for(&self, job: JobId) -> bool {
        self.task_index(job).is_ok()
    }

    /// Whether this node has a job, or had.
    pub fn has(&self, job: JobId) -> bool {
        self.held_index(job).is_ok()
    }

    /// Who has a job that this node answers for, if it was granted to somebody.
    pub fn holder(&self, job: JobId) -> Option<NodeId> {
        let index = self.task_index(job).ok()?;
        self.tasks.get(index)?.holder()
    }

    /// Until when this node may have a job, if its home has said so.
    pub fn lease(&self, job: JobId) -> Option<Time> {
        let index = self.held_index(job).ok()?;
        self.held.get(index)?.lease
    }

    /// A job that this node has.
    pub fn job(&self, job: JobId) -> Option<Shared<Job>> {
        let index = self.held_index(job).ok()?;
        self.held.get(index).map(|held| held.job.clone())
    }

    /// The jobs that wait here and may be given away.
    pub fn waiting(&self) -> impl Iterator<Item = &Job> + '_ {
        let waiting = self.held.iter().filter(|held| held.waits());
        waiting.map(|held| held.job.get())
    }

    /// Whether a job is here for the host to queue or run. A host that acts on a notice a little later asks, because what it did meanwhile may
    /// have changed that.
    pub fn is_here(&self, job: JobId) -> bool {
        let index = self.held_index(job).ok();
        let held = index.and_then(|index| self.held.get(index));
        held.is_some_and(Held::is_with_host)
    }

    /// The jobs that this node has taken, and whose homes have not said yet that they may be here.
    pub fn not_granted(&self) -> impl Iterator<Item = JobId> + '_ {
        let claimed = self.held.iter().filter(|held| held.is_claimed());
        claimed.map(|held| held.job.get().id)
    }

    /// Whether it answers for nothing and has nothing.
    pub const fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.held.is_empty()
    }

    /// What happened to jobs here in this life.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    fn on_message(&mut self, from: NodeId, message: Message, cx: &mut dyn Context<Self>) {
        match message {
            Message::Give {
                job,
                home,
                term,
                carried,
            } => {
                let gift = Gift {
                    job,
                    carried,
                    from,
                    home,
                    term,
                };
                self.on_gift(gift, cx);
            }
            Message::Answer { job, term, answer } => {
                self.candidate_answered(from, job, term, answer, cx);
                self.taker_answered(from, job, term, answer, cx);
            }
            Message::Report {
                job,
                term,
                claim,
                standing,
            } => self.reported(job, Holding::new(term, from, claim), standing, cx),
            Message::Verdict {
                job,
                term,
                claim,
                ruling,
            } => self.ruled(from, job, (term, claim), ruling, cx),
        }
    }

    fn obey(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        match command {
            Command::Keep { job, tenure, until } => self.keep(job, tenure, until, cx),
            Command::Bound { job, until } => self.bound(job, until),
            Command::Found {
                job,
                attempt,
                candidates,
            } => self.found(job, attempt, candidates, cx),
            Command::Cancel(job) => self.cancel(job, cx),
            Command::PassedOn(job) => self.passed_on(job, cx),
            Command::Take { gift, taking } => self.on_taking(&gift, taking, cx),
            Command::Expect { job, start } => self.expect(job, start, cx),
            Command::Start(job) => self.start(job, cx),
            Command::Ended { job, ending } => self.ended(job, ending, cx),
            Command::GiveAway { job, to, carried } => self.give_away(job, to, carried, cx),
        }
    }

    fn tell(job: JobId, news: News, cx: &mut dyn Context<Self>) {
        cx.notify(Notice::Tell(job::Notice { job, news }));
    }

    /// How often something is said without an answer.
    const fn tries(&self) -> u8 {
        self.config.retries.saturating_add(1)
    }

    fn react(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.resume(cx),
            Event::Message { from, message } => self.on_message(from, message, cx),
            Event::Unreachable { to } => {
                self.candidate_unreachable(to, cx);
                self.taker_unreachable(to, cx);
            }
            Event::Timer(Timer::Task(job)) => self.attend_task(job, cx),
            Event::Timer(Timer::Held(job)) => self.attend_held(job, cx),
            Event::Command(command) => self.obey(command, cx),
            Event::Restored(Key::Task(id), Record::Task(job, tenure, stage))
                if id == job.get().id =>
            {
                self.restore_task(job, tenure, stage);
            }
            Event::Restored(Key::Held(id), record) => self.restore_held(id, record),
            // No such pair was ever written.
            Event::Restored(..) => {}
        }
    }

    fn resume(&mut self, cx: &mut dyn Context<Self>) {
        self.claim = self.claim.max(Claim::before(cx.now()));
        for job in self.tasks().collect::<Vec<_>>() {
            self.resume_task(job, cx);
        }
        for job in self.held().collect::<Vec<_>>() {
            self.resume_held(job, cx);
        }
    }
}

impl Machine for Custody {
    type Message = Message;
    type Timer = Timer;
    type Command = Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        let mut inside = Inside {
            me: self.me,
            cx,
            to_self: VecDeque::new(),
        };
        self.react(event, &mut inside);
        // Each leads to at most one more, an answer.
        while let Some(message) = inside.to_self.pop_front() {
            self.on_message(self.me, message, &mut inside);
        }
    }

    fn check(&self) -> Result<(), Violation> {
        let in_order = |a: &Shared<Job>, b: &Shared<Job>| a.get().id < b.get().id;
        Violation::unless(
            self.tasks.is_sorted_by(|a, b| in_order(&a.job, &b.job))
                && self.tasks.len() <= self.config.tasks as usize,
            "a node answers for no more jobs than it may, each once",
        )?;
        Violation::unless(
            self.held.is_sorted_by(|a, b| in_order(&a.job, &b.job))
                && self.held.len() <= self.config.held as usize,
            "a node has no more jobs than it may, each once",
        )
    }
}

/// The context of one event, in which this node's two roles talk to each other: what is sent to the node itself is not an effect.
struct Inside<'a> {
    me: NodeId,
    cx: &'a mut dyn Context<Custody>,
    to_self: VecDeque<Message>,
}

impl Context<Custody> for Inside<'_> {
    fn now(&self) -> Time {
        self.cx.now()
    }

    fn rng(&mut self) -> &mut dyn Rng {
        self.cx.rng()
    }

    fn push(&mut self, effect: Effect<Custody>) {
        match effect {
            Effect::Send { to, message } if to == self.me => self.to_self.push_back(message),
            effect => self.cx.push(effect),
        }
    }
}

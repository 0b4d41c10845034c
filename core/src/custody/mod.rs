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
//! - A home may have a home of its own: it then grants nothing beyond what it was itself granted ([`Custody::bound`]), and what it says is
//!   newer than what any home said before it ([`Tenure`]).
//!
//! Whom to ask is not decided here: [`Notice::Seek`] asks for candidates, [`Custody::found`] names them. Nor is when a job runs: a holder is told
//! [`Notice::Queue`], and says [`Custody::start`] and [`Custody::ended`].
//!
//! What a home says is believed, and so is what a holder says: nothing here authenticates anyone.

mod config;
mod holder;
mod home;
mod message;
#[cfg(test)]
mod tests;

pub use config::{Config, ConfigError};
pub use holder::{Place, Taking};
pub use home::{Holding, Past, Stage};
pub use message::{Answer, Claim, Ending, Message, Ruling, Standing, Tenure, Term};

use alloc::vec::Vec;

use holder::Held;
use home::Task;

use crate::id::{JobId, NodeId};
use crate::job::{self, Job, News};
use crate::machine::{Context, Event, Machine, Never, Violation};
use crate::shared::Shared;
use crate::time::Time;

/// The most nodes that are named at once as ones who may take a job.
pub const MOST_CANDIDATES: usize = 4;

/// Some nodes that may take a job, the best first.
pub type Candidates = heapless::Vec<NodeId, MOST_CANDIDATES, u8>;

/// All that a node answers for, and all that it has.
///
/// What it says to itself is not sent: a parent takes it with [`Custody::to_self`], after each event, and hands it back.
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
    /// What it says to itself, the last first.
    post: Vec<Message>,
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
        place: Place,
    },
}

/// What a node's host is told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Notice {
    /// News of a job, where this node answers for it or has it.
    Tell(job::Notice),
    /// Who may take this job? See [`Custody::found`].
    Seek {
        /// The job.
        job: Shared<Job>,
        /// How often it was given away before.
        attempt: u32,
    },
    /// This job is here to wait and run, until then.
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
    /// This job, which waits or runs here or did so before a crash, is over, or was never to be here.
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
            post: Vec::new(),
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
        self.task_place(job).is_ok()
    }

    /// Whether this node has a job, or had.
    pub fn has(&self, job: JobId) -> bool {
        self.held_place(job).is_ok()
    }

    /// Who has a job that this node answers for, if it was granted to somebody.
    pub fn holder(&self, job: JobId) -> Option<NodeId> {
        let place = self.task_place(job).ok()?;
        self.tasks.get(place)?.holder()
    }

    /// Until when this node may have a job, if its home has said so.
    pub fn lease(&self, job: JobId) -> Option<Time> {
        let place = self.held_place(job).ok()?;
        self.held.get(place)?.granted()
    }

    /// A job that this node has.
    pub fn job(&self, job: JobId) -> Option<Shared<Job>> {
        let place = self.held_place(job).ok()?;
        self.held.get(place).map(|held| held.job.clone())
    }

    /// The jobs that wait here and may be given away.
    pub fn waiting(&self) -> impl Iterator<Item = &Job> + '_ {
        let waiting = self.held.iter().filter(|held| held.waits());
        waiting.map(|held| held.job.get())
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

    /// The next of what this node says to itself, to be handed back to it.
    pub fn to_self(&mut self) -> Option<Message> {
        self.post.pop()
    }

    /// A message comes, for a parent that looks first at the job that it may give ([`Message::gift`]), and takes that or not.
    pub fn hear(
        &mut self,
        from: NodeId,
        message: Message,
        taking: Taking,
        cx: &mut impl Context<Self>,
    ) {
        match message {
            Message::Give {
                job,
                home,
                term,
                carried,
            } => self.given(from, (job, home, term, carried), taking, cx),
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

    fn say(&mut self, to: NodeId, message: Message, cx: &mut impl Context<Self>) {
        if to == self.me {
            self.post.insert(0, message);
        } else {
            cx.send(to, message);
        }
    }

    fn tell(job: JobId, news: News, cx: &mut impl Context<Self>) {
        cx.notify(Notice::Tell(job::Notice { job, news }));
    }

    /// How often something is said without an answer.
    const fn tries(&self) -> u8 {
        self.config.retries.saturating_add(1)
    }

    fn resume(&mut self, cx: &mut impl Context<Self>) {
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
    type Command = Never;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut impl Context<Self>) {
        match event {
            Event::Start => self.resume(cx),
            Event::Message { from, message } => {
                self.hear(from, message, Taking::Takes { start: None }, cx);
            }
            Event::Unreachable { to } => {
                self.candidate_unreachable(to, cx);
                self.taker_unreachable(to, cx);
            }
            Event::Timer(Timer::Task(job)) => self.attend_task(job, cx),
            Event::Timer(Timer::Held(job)) => self.attend_held(job, cx),
            Event::Command(never) => match never {},
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

//! Custody: no job is lost, and none runs on two nodes at once (PROTOCOLS A16).
//!
//! A job has a *home*, the node that answers for it, and at any time at most one *holder*, the node that has it. The
//! home alone decides which node that is. It grants the job for a lease, which the holder renews. Without a lease a
//! holder starts nothing and stops what runs. So a job that is given again after its lease never runs twice at a time.
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
//! - Each time a job is given away, it gets a new [`Term`]. A holder gives it to one node, under the very next term; if
//!   that fails, the holder claims this term itself. Of several claims to a term, the first at the home counts.
//! - Every decision is written down before it is told.
//! - Each time a node takes a job, its [`Claim`] has a new number. If an old message gives a job back to a node that
//!   let it go, its claim differs from the one that was granted, and the node does not get the job.
//! - A holder that hears nothing from the home until its lease is over lets the job go: [`News::Orphaned`]. A home that
//!   hears nothing from the holder waits until the lease is over by any clock, and then searches for another holder.
//! - A home may have a home of its own. Then it grants nothing beyond its own lease ([`Command::Bound`]), and its
//!   messages are newer than those of all earlier homes of the job ([`Tenure`]).
//! - A node may be home and holder of a job. Messages between the two roles take effect within the event: none is sent.
//!
//! The host decides the rest. Which nodes to ask: [`Notice::Seek`] asks for candidates, [`Command::Found`] names them.
//! Whether to take a job: [`Notice::Offered`] asks, [`Command::Take`] answers. When to run it: a holder is told
//! [`Notice::Queue`], and says [`Command::Start`] and [`Command::Ended`].
//!
//! Homes and holders believe each other: nothing here authenticates a node.
//!
//! # Example
//! A node that is the home of a job, and takes the job itself.
//! ```
//! use core::num::NonZeroU32;
//! use gridweave_core::custody::{Candidates, Command, Config, Custody, Notice, Taking, Tenure};
//! use gridweave_core::id::{JobId, NodeId};
//! use gridweave_core::job::{Demand, Job, Payload};
//! use gridweave_core::machine::{Effect, EffectQueue, Event};
//! use gridweave_core::shared::Shared;
//! use gridweave_core::time::{Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let me = NodeId::new(1);
//! let mut custody = Custody::new(me, Config::DEFAULT)?;
//! let job = Job::new(JobId::new(7), Demand::Nodes(NonZeroU32::MIN), Span::from_secs(600))?;
//! let (payload, tenure) = (Payload::EMPTY, Tenure::ONLY);
//! let keep = Command::Keep { job: Shared::new(job), payload, tenure, until: None };
//! let (mut effects, mut commands, mut queued) = (EffectQueue::new(), vec![keep], false);
//! while let Some(command) = commands.pop() {
//!     effects.feed(&mut custody, Event::Command(command), Time::ZERO, &mut rng);
//!     for effect in effects.drain() {
//!         match effect {
//!             Effect::Notify(Notice::Seek { job, attempt }) => {
//!                 let candidates = Candidates::from_iter([me]);
//!                 commands.push(Command::Found { job: job.get().id, attempt, candidates });
//!             }
//!             Effect::Notify(Notice::Offered(gift)) => {
//!                 commands.push(Command::Take { gift, taking: Taking::Takes { start: None } });
//!             }
//!             Effect::Notify(Notice::Queue { .. }) => queued = true,
//!             _ => {}
//!         }
//!     }
//! }
//! assert!(queued && custody.holder(job.id) == Some(me));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod holder;
mod home;
mod message;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use holder::{Gift, Progress, Taking};
pub use home::{Holding, Past, Stage};
pub use message::{Answer, Claim, Ending, Message, Place, Refused, Ruling, Standing, Tenure, Term};

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use holder::Held;
use home::Task;

use crate::config::ConfigError;
use crate::few::Few;
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{self, Job, News, Payload, Placement, Survival};
use crate::machine::{Context, Effect, Event, Machine, Violation};
use crate::rand_core::Rng;
use crate::shared::Shared;
use crate::time::Time;
use crate::trace::Trace;

/// The most candidates that the host may name at once.
pub const MOST_CANDIDATES: usize = 4;

/// Nodes that may take a job, the best first.
pub type Candidates = Few<NodeId, MOST_CANDIDATES>;

/// The custody machine of one node: the jobs that it answers for as a home, and the jobs that it has as a holder.
///
/// Most effects per event: eight for each job of the event. That is one job, except at the start and on
/// [`Event::Unreachable`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Custody {
    me: NodeId,
    config: Config,
    /// Sorted by job.
    tasks: Vec<Task>,
    /// Sorted by job.
    held: Vec<Held>,
    counts: Counts,
    /// The claim of the last job that this node took.
    claim: Claim,
    taken_back: TakenBack,
}

/// The claim of a job that comes back from a failed move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum TakenBack {
    /// It keeps its claim.
    AsBefore,
    /// It gets a new one.
    Anew,
}

/// Counters of a node for this life.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// How often a job of this home was placed again because its holder was lost or let it go.
    pub placed_again: u64,
    /// How often this node let a job go because its home did not answer.
    pub orphaned: u64,
    /// How often this node began to give away a job that waited here ([`Command::GiveAway`]), whether or not the other
    /// node then took it.
    pub moved: u64,
}

/// The timers of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// A job that this node answers for needs attention.
    Task(JobId),
    /// A job that this node has needs attention.
    Held(JobId),
}

/// The key of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A job that this node answers for.
    Task(JobId),
    /// A job that this node has.
    Held(JobId),
}

/// What a node has on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A job that this node answers for.
    Task {
        /// The job.
        job: Shared<Job>,
        /// What the host that runs it is told.
        payload: Payload,
        /// The tenure of this node as its home.
        tenure: Tenure,
        /// How far it is.
        stage: Stage,
    },
    /// A job that this node has.
    Held {
        /// The job.
        job: Shared<Job>,
        /// The node that answers for it.
        home: NodeId,
        /// The term under which this node has it.
        term: Term,
        /// The claim under which this node took it.
        claim: Claim,
        /// The number that its last holder passed on to this one.
        carried: u32,
        /// What the host is told when it runs the job.
        payload: Payload,
        /// When it first waited here, or came here.
        arrived: Time,
        /// How far it is.
        progress: Progress,
    },
}

/// What a node's host asks of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Answer for this job from now on, and search for a node that takes it. Nothing happens if [`Custody::refusal`]
    /// has a reason. In one tenure a job must be kept only once, on all nodes together.
    Keep {
        /// The job to answer for.
        job: Shared<Job>,
        /// What the host that runs it is told.
        payload: Payload,
        /// The tenure of this node as the home of the job.
        tenure: Tenure,
        /// Until when this node may answer for the job, if a home of its own has said so.
        until: Option<Time>,
    },
    /// This node may answer for a job until `until`, and grants nothing beyond that. If it was never told an end, it
    /// may answer for ever, or not at all with [`Config::bounded`].
    Bound {
        /// The job that this node answers for.
        job: JobId,
        /// Until when this node may answer for it.
        until: Time,
    },
    /// These nodes may take a job: the answer to [`Notice::Seek`]. An empty list ends the search.
    Found {
        /// The job from the notice.
        job: JobId,
        /// The attempt from the notice.
        attempt: u32,
        /// The nodes to ask, the best first.
        candidates: Candidates,
    },
    /// A job that this node answers for is not wanted any more.
    Cancel(JobId),
    /// With [`Config::bounded`]: the home of this home knows the outcome of a job, or it is on disk that it must be
    /// told. Until this command comes, the outcome is told again after each crash.
    PassedOn(JobId),
    /// Whether this node takes a job: the answer to [`Notice::Offered`].
    Take {
        /// The gift from the notice.
        gift: Gift,
        /// Whether this node takes the job.
        taking: Taking,
    },
    /// A job that is here is expected to start at `start`. Its home is told at once if no start was known before, or if
    /// the job is to run elsewhere than said before.
    Expect {
        /// The job that is here.
        job: JobId,
        /// The expected start.
        start: Time,
        /// Where it is to run, if this node does not run it itself.
        at: Option<Place>,
    },
    /// A job that waits here is to start now. The answer is that it starts ([`News::Started`]), or [`Notice::Drop`].
    Start(JobId),
    /// Between the records of an earlier life and `Start`: what became of an attempt that this node had started. If the
    /// attempt goes on, the answer is [`Notice::Resumed`]; if it must not, [`News::Stopped`].
    Survived {
        /// The job.
        job: JobId,
        /// The attempt that ran.
        attempt: Epoch,
        /// What became of it.
        survival: Survival,
    },
    /// The host has no room any more for a job that goes on: the answer to [`Notice::Resumed`].
    NotResumed(JobId),
    /// A job that was here has ended, and the host does not have it any more. After a crash the host may say so before
    /// the home has granted the job again.
    Ended {
        /// The job that has ended.
        job: JobId,
        /// How it ended.
        ending: Ending,
    },
    /// Give a job that waits here to another node. The host has taken it out of its queue. The job does not start here
    /// before its home grants it again.
    GiveAway {
        /// The job that waits here.
        job: JobId,
        /// The node that is asked to take it.
        to: NodeId,
        /// A number that is passed on to the next holder.
        carried: u32,
    },
}

/// What a node's host is told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Notice {
    /// News of a job that this node answers for or has.
    Tell(job::Notice),
    /// Does this node take this job? The host answers with [`Command::Take`].
    Offered(Gift),
    /// Which nodes may take this job? The host answers with [`Command::Found`].
    Seek {
        /// The job that needs a holder.
        job: Shared<Job>,
        /// How often its home gave it away before.
        attempt: u32,
    },
    /// Queue this job and run it, until `until` at the latest, if it is still here ([`Custody::is_here`]).
    Queue {
        /// The job that was granted.
        job: Shared<Job>,
        /// The term under which this node has it.
        term: Term,
        /// The number that its last holder passed on to this one.
        carried: u32,
        /// What the host that runs the job is told.
        payload: Payload,
        /// When it first waited here: now, unless it came back from a failed move, or this node has restarted.
        arrived: Time,
        /// When its lease ends, unless it is extended.
        until: Time,
    },
    /// The lease of this job, which waits or runs here, is extended.
    Extended {
        /// The job that may stay longer.
        job: JobId,
        /// The new end of its lease.
        until: Time,
    },
    /// This job still runs here after a restart. A host that has no room for it says [`Command::NotResumed`].
    Resumed {
        /// The job that runs.
        job: Shared<Job>,
        /// When it started.
        started: Time,
    },
    /// Drop this job, which waits or runs here or did so before a crash: it must not be here any more. A host that acts
    /// later checks that the job has not come back ([`Custody::is_here`]).
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
            taken_back: TakenBack::AsBefore,
        })
    }

    /// The same node, where a job that comes back from a failed move gets a new claim, and so a new attempt. A host
    /// needs that if it has told others the number of an attempt before the start: they may still speak of the old one.
    #[must_use]
    pub const fn renewing_claims(mut self) -> Self {
        self.taken_back = TakenBack::Anew;
        self
    }

    /// The jobs that this node answers for.
    pub fn tasks(&self) -> impl Iterator<Item = JobId> + '_ {
        self.tasks.iter().map(|task| task.job.get().id)
    }

    /// The jobs that this node has, or had before and still remembers.
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

    /// The node that has a job of this home, as far as this home knows.
    pub fn holder(&self, job: JobId) -> Option<NodeId> {
        let index = self.task_index(job).ok()?;
        self.tasks.get(index)?.holder()
    }

    /// When and where a job of this home is to run, as its host was told last.
    pub fn placement(&self, job: JobId) -> Option<Placement> {
        let index = self.task_index(job).ok()?;
        self.tasks.get(index)?.placement()
    }

    /// Until when this node may have a job, if its home has granted it.
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

    /// Whether a job is here for the host to queue or run. A host that acts on a notice later checks this first,
    /// because its other commands may have changed it.
    pub fn is_here(&self, job: JobId) -> bool {
        let index = self.held_index(job).ok();
        let held = index.and_then(|index| self.held.get(index));
        held.is_some_and(Held::is_with_host)
    }

    /// The jobs that this node has taken and that their homes have not granted yet.
    pub fn not_granted(&self) -> impl Iterator<Item = JobId> + '_ {
        let claimed = self.held.iter().filter(|held| held.is_claimed());
        claimed.map(|held| held.job.get().id)
    }

    /// Whether this node answers for no job and has none.
    pub const fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.held.is_empty()
    }

    /// The counters of this life.
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
                payload,
            } => {
                let gift = Gift {
                    job,
                    carried,
                    payload,
                    from,
                    home,
                    term,
                };
                self.on_gift(gift, cx);
            }
            Message::Answer { job, term, answer } => {
                self.on_candidate_answer(from, job, term, answer, cx);
                self.on_taker_answer(from, job, term, answer, cx);
            }
            Message::Report {
                job,
                term,
                claim,
                standing,
            } => self.on_report(job, Holding::new(term, from, claim), standing, cx),
            Message::Verdict {
                job,
                term,
                claim,
                ruling,
            } => self.on_verdict(from, job, (term, claim), ruling, cx),
        }
    }

    fn obey(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        match command {
            Command::Keep {
                job,
                payload,
                tenure,
                until,
            } => self.keep(job, payload, tenure, until, cx),
            Command::Bound { job, until } => self.bound(job, until),
            Command::Found {
                job,
                attempt,
                candidates,
            } => self.found(job, attempt, candidates, cx),
            Command::Cancel(job) => self.cancel(job, cx),
            Command::PassedOn(job) => self.passed_on(job, cx),
            Command::Take { gift, taking } => self.on_taking(&gift, taking, cx),
            Command::Expect { job, start, at } => self.expect(job, start, at, cx),
            Command::Start(job) => self.start(job, cx),
            Command::Survived {
                job,
                attempt,
                survival,
            } => self.survived(job, attempt, survival, cx),
            Command::NotResumed(job) => self.not_resumed(job, cx),
            Command::Ended { job, ending } => self.ended(job, ending, cx),
            Command::GiveAway { job, to, carried } => self.give_away(job, to, carried, cx),
        }
    }

    fn tell(job: JobId, news: News, cx: &mut dyn Context<Self>) {
        cx.notify(Notice::Tell(job::Notice { job, news }));
    }

    /// How often a message is sent if no answer comes.
    const fn tries(&self) -> u8 {
        self.config.retries.saturating_add(1)
    }

    fn react(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.resume(cx),
            Event::Message { from, message } => self.on_message(from, message, cx),
            Event::Unreachable { to } => {
                self.on_candidate_unreachable(to, cx);
                self.on_taker_unreachable(to, cx);
            }
            Event::Timer(Timer::Task(job)) => self.attend_task(job, cx),
            Event::Timer(Timer::Held(job)) => self.attend_held(job, cx),
            Event::Command(command) => self.obey(command, cx),
            Event::Restored(Key::Task(id), record) => self.restore_task(id, record),
            Event::Restored(Key::Held(id), record) => self.restore_held(id, record),
        }
    }

    fn step(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        let mut inside = Inside {
            me: self.me,
            cx,
            to_self: VecDeque::new(),
        };
        self.react(event, &mut inside);
        // Each message leads to at most one more: its answer.
        while let Some(message) = inside.to_self.pop_front() {
            self.on_message(self.me, message, &mut inside);
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
        step!(self, event, cx, Self::step);
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

/// The context of one event, with messages between this node's two roles: a message to itself is not an effect.
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

    fn trace(&mut self, trace: Trace) {
        self.cx.trace(trace);
    }
}

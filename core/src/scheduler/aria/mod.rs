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
//!                                    remembers that ◀─── ASSIGN_ACK
//!          ◀──────────────────────────────────────────────── NOTIFY  (next term)
//!  Granted ───────────────────────────────────────────────────────▶ queues it, runs it
//!          ◀──────────────────────────────────────────────── NOTIFY  (done)
//! ```
//!
//! # Rules
//! - Who has a job is decided by [`custody`], so that none is lost and none runs twice (PROTOCOLS A16). A job's home is its initiator, its
//!   holder a site. ASSIGN is [`Give`](custody::Message::Give), ASSIGN_ACK an [`Answer`](custody::Message::Answer), NOTIFY a
//!   [`Report`](custody::Message::Report).
//! - Without a lease a site queues nothing, starts nothing, and stops what runs. One that has lost the initiator of a job lets go of the job
//!   when its lease is over, and says so ([`News::Orphaned`]): the initiator may have given it to another. If the initiator is gone for
//!   good, the job is lost with it.
//! - A site that gives a job away takes it out of its queue, writes that down, and only then sends it.
//! - A job that nobody offers to run is asked for [`Config::rounds`] times, and then fails. One that is lost with its site is placed anew.
//! - A node that leaves takes no job, gives away what waits (where jobs are moved at all), does what runs, and stays in the overlay until all
//!   of that is done.
//!
//! A node that lies can have jobs that it does not run, or not let others have theirs: nothing here authenticates anyone.
//!
//! The scheduler of a site is whatever implements [`LocalScheduler`]; [`crate::queue::SiteQueue`] does. `examples/aria.rs` has another one.

mod config;
mod holding;
pub mod links;
mod message;
mod offers;
mod relay;
mod rescheduling;
mod running;
mod search;
mod site;
#[cfg(test)]
mod tests;

pub use config::{Config, ConfigError, Forward, Overlay, Rescheduling, Taking};
pub use message::Message;
pub use offers::MOST_OFFERS;
pub use site::{MOST_ORGANISATIONS, Membership, Serves, Site};

use alloc::vec::Vec;

use crate::custody::{self, Custody};
use crate::id::{JobId, NodeId};
#[cfg(doc)]
use crate::job::News;
use crate::job::{self, Notice};
use crate::machine::{Context, Embed, Event, Machine, Violation};
use crate::overlay::flood::Seen;
use crate::queue::{Cost, LocalScheduler};
use crate::scheduler::Bootstrap;
use crate::time::Time;
use links::Links;
use offers::{Offer, Questions};
use relay::Kind;
use rescheduling::Advert;
use search::Search;

/// A node of the grid: a site with a scheduler of its own, where jobs can be submitted.
///
/// Most effects per event, beside those of the overlay and of custody: two for each neighbour that a flood goes to, and two for each job
/// that starts, is searched a site for or is advertised.
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
    /// How many floods it did not pass on.
    cut_off: u64,
    /// Who has the jobs that were submitted here, and which jobs this site has.
    custody: Custody,
    /// The jobs that were submitted here and that offers are collected for.
    searches: Questions<Search>,
    /// The jobs that wait here and that others are asked a better price for.
    adverts: Questions<Advert>,
    advertise_at: Time,
    leaving: bool,
}

/// What a node is woken with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// By the overlay.
    Overlay(links::Timer),
    /// About who has a job.
    Custody(custody::Timer),
    /// The offers for a job that was submitted here are in.
    Search(JobId),
    /// The offers for a job that waits here are in.
    Advert(JobId),
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
    /// A job that was submitted here, or that is at this site.
    Custody(custody::Key),
}

/// What a node must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// Of the overlay.
    Overlay(links::Record),
    /// About a job that was submitted here, or that is at this site.
    Custody(custody::Record),
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
    fn notice(&mut self, _: links::Alone, _: &mut dyn Context<Aria<S>>) {
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
        Ok(Self {
            me,
            config,
            bootstrap,
            links: Links::new(me, config.overlay)?,
            site,
            seen: Seen::covering(
                config.farthest(),
                config.max_delay,
                u32::from(config.floods),
            ),
            floods: 0,
            cut_off: 0,
            custody: Custody::new(me, config.custody()).map_err(ConfigError::Custody)?,
            searches: Questions::none(),
            adverts: Questions::none(),
            advertise_at: Time::MAX,
            leaving: false,
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
        self.custody.tasks()
    }

    /// The jobs that are at this site, or were and nobody knows it yet.
    pub fn held(&self) -> impl Iterator<Item = JobId> + '_ {
        self.custody.held()
    }

    /// Whether this node has asked others about a job and still collects their answers.
    pub const fn awaits_answers(&self) -> bool {
        self.searches.len() > 0 || self.adverts.len() > 0
    }

    /// Where a job that was submitted here is, if it was granted to somebody.
    pub fn holder(&self, job: JobId) -> Option<NodeId> {
        self.custody.holder(job)
    }

    /// Until when this site may have a job, if its initiator has said so.
    pub fn lease(&self, job: JobId) -> Option<Time> {
        self.custody.lease(job)
    }

    /// What happened to jobs here in this life.
    pub const fn counts(&self) -> custody::Counts {
        self.custody.counts()
    }

    /// How often a flood came by in this life that was not passed on, because there was no room to remember it.
    pub const fn cut_off(&self) -> u64 {
        self.cut_off
    }

    fn overlay(&mut self, event: Event<Links>, cx: &mut dyn Context<Self>) {
        let mut embed = AsLinks::default();
        self.links.handle(event, &mut cx.lift(&mut embed));
        if embed.alone
            && let Some(introducer) = self.bootstrap.introducer(cx.rng())
        {
            let join = Event::Command(links::Command::Join(introducer));
            self.links.handle(join, &mut cx.lift(&mut embed));
        }
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        // In milliseconds, so that no flood has the name of one in an earlier life: nobody would listen.
        self.floods = (cx.now().as_micros() / 1000) as u32;
        self.overlay(Event::Start, cx);
        let met: Vec<links::Command> = links::commands(&self.bootstrap).collect();
        for command in met {
            self.overlay(Event::Command(command), cx);
        }
        self.in_custody(Event::Start, cx);
        self.begin_advertising(cx);
        self.start_jobs(cx);
    }

    fn receive(&mut self, from: NodeId, message: Message, cx: &mut dyn Context<Self>) {
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
                    self.searches.hear(flood, offer);
                } else {
                    self.better_offer(flood, offer, cx);
                }
            }
            Message::Custody(message) => self.in_custody(Event::Message { from, message }, cx),
        }
    }

    fn obey(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        match *command {
            job::Command::Submit(job) => self.submit(job, cx),
            job::Command::Cancel(job) => self.tell_custody(custody::Command::Cancel(job), cx),
            job::Command::Ended { job, outcome } => self.ended_here(job, outcome, cx),
            job::Command::Leave => {
                self.leaving = true;
                self.advertise_at = cx.now();
                self.advertise(cx);
            }
        }
    }

    fn restore(&mut self, key: Key, record: Record, cx: &mut dyn Context<Self>) {
        match (key, record) {
            (Key::Overlay(key), Record::Overlay(record)) => {
                self.overlay(Event::Restored(key, record), cx);
            }
            (Key::Custody(key), Record::Custody(record)) => {
                self.in_custody(Event::Restored(key, record), cx);
            }
            // No such pair was ever written.
            _ => {}
        }
    }

    /// A node that leaves is gone from the overlay once nobody needs it any more.
    fn depart(&mut self, cx: &mut dyn Context<Self>) {
        if self.leaving && self.custody.is_empty() {
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

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Restored(key, record) => {
                self.restore(key, record, cx);
                return;
            }
            Event::Start => self.start(cx),
            Event::Message { from, message } => self.receive(from, message, cx),
            Event::Unreachable { to } => {
                self.overlay(Event::Unreachable { to }, cx);
                self.in_custody(Event::Unreachable { to }, cx);
            }
            Event::Timer(Timer::Overlay(timer)) => self.overlay(Event::Timer(timer), cx),
            Event::Timer(Timer::Custody(timer)) => self.in_custody(Event::Timer(timer), cx),
            Event::Timer(Timer::Search(job)) => self.close_search(job, cx),
            Event::Timer(Timer::Advert(job)) => self.close_advert(job, cx),
            Event::Timer(Timer::Advertise) => self.advertise(cx),
            Event::Timer(Timer::Local) => self.start_jobs(cx),
            Event::Command(command) => self.obey(&command, cx),
        }
        self.depart(cx);
    }

    fn check(&self) -> Result<(), Violation> {
        self.links.check()?;
        self.site.local.check()?;
        self.custody.check()?;
        Violation::unless(
            self.searches.len() <= usize::from(self.config.tasks)
                && self.adverts.len() <= usize::from(self.config.held),
            "a node asks about no more jobs than it may have",
        )?;
        Violation::unless(
            self.searches.is_sound() && self.adverts.is_sound(),
            "each job is asked about once, and offers are in the order of costs",
        )?;
        Violation::unless(
            self.seen.len() <= usize::from(self.config.floods),
            "no more floods are remembered than may be",
        )
    }
}

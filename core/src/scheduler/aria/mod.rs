//! ARiA: sites with local schedulers bid for new jobs, and for jobs that wait elsewhere (P3; PROTOCOLS 4.4, A1 to A25).
//!
//! The submitter of a job (P3: initiator) floods a REQUEST over the overlay. Each site that could run the job answers
//! with an ACCEPT and its cost there: the time until it is done, or its lateness if it has a deadline. The job is
//! ASSIGNed to the cheapest site. While it waits there, that site floods an INFORM periodically; a site that would
//! finish the job sooner gets it.
//!
//! ```text
//!  submitter                        a site                          another site
//!  REQUEST ────── flooded ────────▶ matches
//!          ◀─────────────── ACCEPT  (cost)
//!  ASSIGN ─────────────────────────▶ persists it
//!          ◀─────────────── NOTIFY  (term)
//!  Granted ────────────────────────▶ queues it ── INFORM ─ flooded ─▶ would finish it sooner
//!                                    still so?  ◀─────────── ACCEPT
//!                                    out of the queue ─── ASSIGN ──▶ persists it
//!                                    remembers that ◀─── ASSIGN_ACK
//!          ◀──────────────────────────────────────────────── NOTIFY  (next term)
//!  Granted ───────────────────────────────────────────────────────▶ queues it, runs it
//!          ◀──────────────────────────────────────────────── NOTIFY  (done)
//! ```
//!
//! # Rules
//! - [`custody`] decides which site has a job, so that no job is lost and none runs twice (PROTOCOLS A16). The home of
//!   a job is its submitter, its holder a site. ASSIGN is [`Give`](custody::Message::Give), ASSIGN_ACK an
//!   [`Answer`](custody::Message::Answer), NOTIFY a [`Report`](custody::Message::Report).
//! - Without a lease a site does not queue or start a job, and stops it if it runs. If a site hears nothing from the
//!   home of a job, it drops the job when the lease ends, and tells its host ([`News::Orphaned`]): the home may have
//!   given the job to another site. If the home is gone for good, the job is lost.
//! - A site that gives a job away takes it out of its queue, persists that, and only then sends it.
//! - After [`Config::rounds`] floods without an offer a job fails. A job that is lost with its site is placed anew.
//! - A job whose scope is [`Here`](job::Scope::Here) runs at its submitter or not at all: it is not flooded, not
//!   advertised, and no other site takes it.
//! - A leaver takes no jobs, gives away waiting jobs (if jobs are moved at all), finishes running jobs, and stays in
//!   the overlay until all of that is done.
//!
//! # Foreign sites
//! A site may belong to a batch system that this node does not own, such as Slurm. Then [`Site::local`] is a mirror
//! ([`SiteQueue::mirroring`](crate::queue::SiteQueue::mirroring)): the node forecasts with it, and starts nothing.
//!
//! The node tells its host what to do there:
//! - [`News::Queue`]: the host queues the attempt under a name with job and attempt ([`Aria::job`] has the job).
//!   If it did so before, it looks the attempt up by that name, and reports how it is.
//! - [`News::Withdraw`]: the host takes the attempt out of the queue if it has not started, and reports
//!   [`Seen::Vanished`](job::Seen::Vanished) or [`Seen::Started`](job::Seen::Started).
//! - [`News::Started`], [`News::Extended`]: the attempt may start and run until that time, and no longer, even while
//!   the node is down. The host sees to that.
//! - [`News::Stopped`]: the host ends the attempt, whether it waits or runs.
//!
//! The host reports what it sees with [`job::Command::Site`]:
//! - A job starts when the site says so. It moves only after the site has withdrawn it; if it has started, it stays.
//! - A withdrawal takes seconds, and cannot be undone: the job would come to the end of the queue. So a site that sticks to
//!   its offers ([`Gifts::AsOffered`]) counts places that it has offered until they are surely not taken, and takes a job
//!   that has left a foreign queue also if other jobs came meanwhile.
//! - A job that vanished is placed again by its home, under a new attempt. What is said of an older attempt changes
//!   nothing.
//! - While the site does not answer, the node offers nothing and gives nothing away; leases are still renewed.
//! - After a restart, the host first says which attempts run or have ended ([`job::Command::Survived`]). If the site
//!   does not answer, it says that an attempt runs which had started. After `Start` it reports all that is there, then
//!   [`Reachable`](job::SiteReport::Reachable).
//!
//! A liar can take jobs and not run them, or keep jobs from other sites: messages are not authenticated here.
//!
//! # Example
//! The local scheduler of a site is a [`LocalScheduler`]: [`SiteQueue`](crate::queue::SiteQueue), or one of your own,
//! as in `examples/aria.rs`.
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::queue::{Policy, SiteQueue};
//! use gridweave_core::resource::{Dimensions, Kind, Speed};
//! use gridweave_core::scheduler::Bootstrap;
//! use gridweave_core::scheduler::aria::{Aria, Config, Membership, Site};
//!
//! let dimensions = Dimensions::new(&[("memory", Kind::Level)])?;
//! let site = Site {
//!     capability: dimensions.capability(&[64])?,
//!     dimensions,
//!     membership: Membership::default(),
//!     local: SiteQueue::new(Policy::ShortestFirst, Speed::BASELINE, 100),
//! };
//! let node = Aria::new(NodeId::new(1), Config::DEFAULT, Bootstrap::Join(NodeId::new(2).into()), site)?;
//! assert_eq!(node.jobs().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod foreign;
mod holding;
pub mod links;
mod message;
mod offers;
mod promises;
mod promising;
mod relay;
mod rescheduling;
mod running;
mod search;
mod site;
#[cfg(test)]
mod tests;

pub use config::{Adverts, Config, Forward, Gifts, Overlay, Rescheduling, Taking};
pub use message::Message;
pub use offers::MOST_OFFERS;
pub use promises::MOST_PROMISES;
pub use site::{MOST_ORGANISATIONS, Membership, Serves, Site};

use alloc::vec::Vec;

use super::duty::Duty;
use crate::config::ConfigError;
use crate::custody::{self, Custody};
use crate::id::{Epoch, JobId, NodeId};
#[cfg(doc)]
use crate::job::News;
use crate::job::{self, Job, Notice, Placement};
use crate::machine::{Context, Embed, Event, Machine, Violation};
use crate::overlay::flood::Seen;
use crate::queue::{Cost, LocalScheduler};
use crate::scheduler::Bootstrap;
use crate::shared::Shared;
use crate::time::Time;
use foreign::Foreign;
use links::Links;
use offers::{Offer, Questions};
use promises::Promises;
use promising::Past;
use relay::Kind;
use rescheduling::Advert;
use search::Search;

/// A node of the grid: a site with a scheduler of its own, where jobs can be submitted.
///
/// Most effects per event, beside those of the overlay and of custody: two for each neighbour that a flood goes to, and
/// two for each job that starts, is searched for or is advertised.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Aria<S: LocalScheduler> {
    me: NodeId,
    config: Config,
    bootstrap: Bootstrap,
    links: Links,
    site: Site<S>,
    seen: Seen,
    /// The number of this node's last flood.
    floods: u32,
    /// How many floods this node did not pass on because it had no room to remember them.
    cut_off: u64,
    /// The jobs that were submitted here, with their holders, and the jobs that this site holds.
    custody: Custody,
    /// Jobs that were submitted here and collect offers.
    searches: Questions<Search>,
    /// Jobs that wait here and are advertised to other sites.
    adverts: Questions<Advert>,
    /// The last adverts of jobs that wait here.
    past: Past,
    /// What this site offered lately.
    promises: Promises,
    /// What is known of the site, if it is foreign.
    foreign: Foreign,
    advertise_at: Time,
    duty: Duty,
}

/// Why a node is woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// A timer of the overlay.
    Overlay(links::Timer),
    /// A timer of custody.
    Custody(custody::Timer),
    /// The window for offers for a job that was submitted here is over.
    Search(JobId),
    /// The window for offers for a job that waits here is over.
    Advert(JobId),
    /// The period between adverts is over.
    Advertise,
    /// The site's scheduler may be able to start a job.
    Local,
}

/// The key of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A key of the overlay.
    Overlay(links::Key),
    /// The key of a job that was submitted here, or that this site holds.
    Custody(custody::Key),
    /// That the node drains.
    Draining,
}

/// What a node keeps on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A record of the overlay.
    Overlay(links::Record),
    /// The record of a job that was submitted here, or that this site holds.
    Custody(custody::Record),
    /// The node drains.
    Draining,
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
    /// A node without jobs. All nodes of a grid have the same configuration.
    pub fn new(
        me: NodeId,
        config: Config,
        bootstrap: Bootstrap,
        site: Site<S>,
    ) -> Result<Self, ConfigError> {
        let config = config.checked()?;
        bootstrap.check(me)?;
        let custody = Custody::new(me, config.custody())?;
        let custody = match site.local.is_mirror() {
            true => custody.renewing_claims(),
            false => custody,
        };
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
            custody,
            searches: Questions::none(),
            adverts: Questions::none(),
            past: Past::none(),
            promises: Promises::none(),
            foreign: Foreign::new(),
            advertise_at: Time::MAX,
            duty: Duty::Working,
        })
    }

    /// The id of this node.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// The overlay with this node's links.
    pub const fn links(&self) -> &Links {
        &self.links
    }

    /// The capabilities and the local scheduler of this node.
    pub const fn site(&self) -> &Site<S> {
        &self.site
    }

    /// The jobs that were submitted here and have no outcome yet.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.custody.tasks()
    }

    /// Whether this node drains, and has nothing left to run or to answer for. A foreign site takes a while to stop what it
    /// was told to, and only its host sees when it has.
    pub fn is_drained(&self) -> bool {
        self.duty == Duty::Draining && self.custody.is_empty()
    }

    /// When and where a job that was submitted here is to run, if it has a place.
    pub fn placement(&self, job: JobId) -> Option<Placement> {
        self.custody.placement(job)
    }

    /// The jobs that this site holds, or held and whose homes do not know the end yet.
    pub fn held(&self) -> impl Iterator<Item = JobId> + '_ {
        self.custody.held()
    }

    /// Whether this node collects offers for a job.
    pub const fn awaits_answers(&self) -> bool {
        self.searches.len() > 0 || self.adverts.len() > 0
    }

    /// The holder of a job that was submitted here, if it was granted to a site.
    pub fn holder(&self, job: JobId) -> Option<NodeId> {
        self.custody.holder(job)
    }

    /// A job that this site holds, or held and whose home does not know the end yet.
    pub fn job(&self, job: JobId) -> Option<Shared<Job>> {
        self.custody.job(job)
    }

    /// The attempt at a job that runs here, if one does.
    pub fn attempt(&self, job: JobId) -> Option<Epoch> {
        self.custody.running(job)
    }

    /// Until when this site may have a job, if its home has granted it.
    pub fn lease(&self, job: JobId) -> Option<Time> {
        self.custody.lease(job)
    }

    /// Counters of custody at this node, in this life.
    pub const fn counts(&self) -> custody::Counts {
        self.custody.counts()
    }

    /// How many floods this node did not pass on in this life, because it had no room to remember them.
    pub const fn cut_off(&self) -> u64 {
        self.cut_off
    }

    fn overlay(&mut self, event: Event<Links>, cx: &mut dyn Context<Self>) {
        let mut embed = AsLinks::default();
        self.links.handle(event, &mut cx.lift(&mut embed));
        if embed.alone {
            for approach in self.bootstrap.approaches_again(cx.rng()) {
                self.links
                    .handle(Event::Command(approach.into()), &mut cx.lift(&mut embed));
            }
        }
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        // The clock in milliseconds: peers ignore a flood with the name of one from an earlier life.
        self.floods = (cx.now().as_micros() / 1000) as u32;
        self.overlay(Event::Start, cx);
        let met = self.bootstrap.approaches().map(links::Command::from);
        let met: Vec<_> = met.filter(|it| it.peer() != Some(self.me)).collect();
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
                self.on_flood(from, Kind::Request, header, &job, Cost::MAX, cx);
            }
            Message::Inform { header, job, cost } => {
                self.on_flood(from, Kind::Inform, header, &job, cost, cx);
            }
            Message::Accept { flood, cost } => {
                let offer = Offer { cost, node: from };
                if flood.origin != self.me {
                    return;
                }
                if flood.kind == Kind::Request.number() {
                    self.searches.hear(flood, offer);
                } else {
                    self.on_advert_offer(flood, offer, cx);
                }
            }
            Message::Custody(message) => self.in_custody(Event::Message { from, message }, cx),
        }
    }

    fn obey(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        match *command {
            job::Command::Submit { job, ref payload } => self.submit(job, payload.clone(), cx),
            job::Command::Cancel(job) => self.tell_custody(custody::Command::Cancel(job), cx),
            job::Command::Ended {
                job,
                attempt,
                outcome,
            } => self.on_ended(job, attempt, outcome, cx),
            job::Command::Survived {
                job,
                attempt,
                survival,
            } if self.is_foreign() && self.custody.attempt(job) == Some(attempt) => {
                self.on_survived_at_site(job, attempt, survival, cx);
            }
            job::Command::Survived {
                job,
                attempt,
                survival,
            } => {
                let survived = custody::Command::Survived {
                    job,
                    attempt,
                    survival,
                };
                self.tell_custody(survived, cx);
            }
            job::Command::Leave | job::Command::Drain | job::Command::Resume => {
                self.change_duty(command, cx);
            }
            job::Command::Meet(introducer) => {
                if introducer != self.me {
                    self.overlay(Event::Command(links::Command::Join(introducer)), cx);
                }
            }
            job::Command::Site(report) => self.on_site_report(report, cx),
        }
    }

    /// A node that takes no jobs any more offers those that wait here to others.
    fn change_duty(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        let draining = (Key::Draining, Record::Draining);
        let changed = self.duty.obey(command, draining, cx);
        if changed && !self.duty.takes_jobs() {
            self.advertise_at = cx.now();
            self.advertise(cx);
        }
    }

    fn restore(&mut self, key: Key, record: Record, cx: &mut dyn Context<Self>) {
        match (key, record) {
            (Key::Draining, Record::Draining) => self.duty = Duty::Draining,
            (Key::Overlay(key), Record::Overlay(record)) => {
                self.overlay(Event::Restored(key, record), cx);
            }
            (Key::Custody(key), Record::Custody(record)) => {
                self.in_custody(Event::Restored(key, record), cx);
            }
            // A key and a record of different parts are never written together.
            _ => {}
        }
    }

    /// A leaver leaves the overlay when it holds no job and is the home of none.
    fn depart(&mut self, cx: &mut dyn Context<Self>) {
        if self.duty.is_leaving() && self.custody.is_empty() {
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
            self.past.is_sound() && self.past.len() <= usize::from(self.config.held),
            "a site remembers the adverts of no more jobs than it may hold",
        )?;
        Violation::unless(
            self.promises.is_sound(),
            "a site remembers one offer for each job, and no more than it may",
        )?;
        Violation::unless(
            self.foreign_is_sound(),
            "what is at a foreign site is held here, under that attempt",
        )?;
        Violation::unless(
            self.seen.len() <= usize::from(self.config.floods),
            "no more floods are remembered than may be",
        )
    }
}

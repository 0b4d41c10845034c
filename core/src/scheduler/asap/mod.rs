//! DGS_ASAP: several nodes at once, as soon as possible, without anyone who knows them all (P1, PROTOCOLS D1 to D23).
//!
//! Every node keeps its own schedule, a few random links to others, and their schedules as it last heard of them. A job may
//! be submitted anywhere. The node that gets it asks a few of its neighbours to search; each looks for enough nodes that are
//! free at once, among its neighbours, then among theirs; if there are none, for the earliest time at which enough are free
//! together. The best place that comes back is confirmed with a two-phase commit, for others may want the same.
//!
//! ```text
//!  submitter              searchers                neighbours             the nodes chosen
//!   Search ──────────────▶ look at the schedules
//!                          that they have ready
//!                          WhoElse ───────────────▶ whom they know,
//!                                  ◀─────── Others  and when those are busy
//!          ◀─── Found      the earliest place
//!   the earliest of all
//!   Commit: Prepare … ───────────────────────────────────────────────────▶ hold, commit, run
//!                                                     ◀──────── Schedule  (Push: to all who have subscribed)
//! ```
//!
//! # Rules
//! - A node's links are those of [`cyclon`], always changing or frozen ([`Links`]). Schedules are pushed, pulled or polled
//!   ([`Exchange`]). What is sent is what is committed, by slots.
//! - If a place cannot be had any more, the next best is tried, then neighbours search anew, up to [`Config::rounds`] times.
//!   So too for a job that has lost a node. One that is lost again and again after its start, as one that never ends in its
//!   time is, fails when its rounds are used up.
//! - Time is given in whole slots. A job that ends early frees the rest; one that runs longer is cut or extended, as
//!   [`commit::Config`] says.
//! - Who looks free and would not take a job, or does not answer, is done without where others are found.
//! - A job that is cancelled has its last word when none of its nodes has anything of it.
//! - A node that is to leave takes nothing new, does what it has, and is gone from all views after a while. If a job that was
//!   submitted there loses its place then, only the node itself is left to search.
//! - A job that has its place keeps it, unless better ones are looked for from time to time ([`Config::improve`]).
//! - What a node was told to run, what it decided and what was submitted to it survives a crash. Its last word on a job may
//!   then come twice, but never another one.
//!
//! What it refuses by name: jobs that ask for cores instead of nodes, for properties of nodes, for a deadline or for another
//! criterion. Who lies can make a search worse and a job wait, or fail if all others that were asked have no room to search. It cannot
//! take another's time or make memory grow.
//!
//! # Example
//! `examples/asap.rs` is a small grid in one process, `examples/udp` one of several processes that talk over UDP.

mod config;
mod message;
mod neighbours;
mod request;
mod search;
#[cfg(test)]
mod tests;

pub use config::{Choice, Config, ConfigError, Exchange, Links, Searcher};
pub use message::{AskId, Known, Message, Offer, Others, Reason, SearchId, Wanted};

use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::commit::{self, Everyone, Policy};
use crate::id::{JobId, NodeId};
use crate::job::{self, Criterion, Notice, Refusal};
use crate::machine::{Alarm, Context, Embed, Event, Machine, Violation};
use crate::overlay::cyclon::{self, Cyclon};
use crate::schedule::Snapshot;
pub use crate::scheduler::Bootstrap;
use crate::scheduler::desk::{self, Desk};
use crate::time::Time;
use neighbours::{Neighbour, Subscriber};
use request::Request;
use search::{Pull, Question, Search};

/// A node of the grid, with at most `C` links, of which it exchanges at most `L` at once.
///
/// `C` is at least `view` of [`Config::overlay`], and `L` at least its `shuffle`: `Asap<20, 8>` is enough for [`Config::DEFAULT`].
/// All nodes of a grid have the same `L`. A node with a larger one understands those with a smaller one, but they refuse what it
/// sends once that has more links than they have room for.
///
/// Most effects per event, beside those of the overlay and the commit: one for each subscriber, `3 C` if all of the view
/// changes, `C` and four for each search or request whose time has come.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asap<const C: usize, const L: usize, P: Policy = Everyone> {
    me: NodeId,
    config: Config,
    bootstrap: Bootstrap,
    overlay: Cyclon<C, L>,
    desk: Desk<P>,
    /// What others are told of this node's schedule.
    own: Snapshot,
    /// One for each link, or for each link that there was when schedules were last pulled, in the order of ids.
    neighbours: Vec<Neighbour>,
    /// In the order of ids.
    subscribers: Vec<Subscriber>,
    /// When subscriptions are renewed, or neighbours polled.
    beat_at: Option<Time>,
    /// In the order of jobs.
    requests: Vec<Request>,
    searches: Vec<Search>,
    pulls: Vec<Pull>,
    last_search: u32,
    declined: Declined,
    alarm: Alarm,
}

/// How often a node said no because it had no room.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Declined {
    /// To searches, or to gather schedules for one.
    pub searches: u64,
    /// To be told of changes.
    pub subscriptions: u64,
}

/// What a node is woken with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// By the overlay.
    Overlay(cyclon::Timer),
    /// By the desk.
    Desk(commit::Timer),
    /// Something has waited long enough.
    Due,
}

/// The name of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// Of the overlay.
    Overlay(cyclon::Key),
    /// Of the desk.
    Desk(desk::Key),
}

/// What a node must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// Of the overlay.
    Overlay(cyclon::Record),
    /// Of the desk.
    Desk(desk::Record),
}

/// The overlay as a part of a node.
#[derive(Default)]
struct AsOverlay {
    alone: bool,
}

impl<const C: usize, const L: usize, P: Policy> Embed<Cyclon<C, L>, Asap<C, L, P>> for AsOverlay {
    fn message(&mut self, message: cyclon::Message<L>) -> Message<L> {
        Message::Overlay(message)
    }
    fn timer(&mut self, timer: cyclon::Timer) -> Timer {
        Timer::Overlay(timer)
    }
    fn key(&mut self, key: cyclon::Key) -> Key {
        Key::Overlay(key)
    }
    fn record(&mut self, record: cyclon::Record) -> Record {
        Record::Overlay(record)
    }
    fn notice(&mut self, notice: cyclon::Notice, _: &mut dyn Context<Asap<C, L, P>>) {
        self.alone |= notice == cyclon::Notice::Alone;
    }
}

/// The desk as a part of a node.
#[derive(Default)]
struct AsDesk {
    /// What it wants, to be seen to when it is done.
    heard: Vec<desk::Notice>,
    changed: bool,
}

impl<const C: usize, const L: usize, P: Policy> Embed<Desk<P>, Asap<C, L, P>> for AsDesk {
    fn message(&mut self, message: commit::Message) -> Message<L> {
        Message::Commit(message)
    }
    fn timer(&mut self, timer: commit::Timer) -> Timer {
        Timer::Desk(timer)
    }
    fn key(&mut self, key: desk::Key) -> Key {
        Key::Desk(key)
    }
    fn record(&mut self, record: desk::Record) -> Record {
        Record::Desk(record)
    }
    fn notice(&mut self, notice: desk::Notice, cx: &mut dyn Context<Asap<C, L, P>>) {
        match notice {
            desk::Notice::Job(notice) => cx.notify(notice),
            desk::Notice::Changed => self.changed = true,
            notice => self.heard.push(notice),
        }
    }
}

impl<const C: usize, const L: usize, P: Policy> Asap<C, L, P> {
    /// A node without jobs. The configuration is that of all nodes.
    pub fn new(
        me: NodeId,
        config: Config,
        bootstrap: Bootstrap,
        policy: P,
    ) -> Result<Self, ConfigError> {
        let config = config.checked()?;
        if config.links == Links::Static && matches!(bootstrap, Bootstrap::Join(_)) {
            return Err(ConfigError::StaticJoin);
        }
        Ok(Self {
            me,
            config,
            bootstrap,
            overlay: Cyclon::new(me, config.overlay).map_err(ConfigError::Overlay)?,
            desk: Desk::new(config.desk(), policy),
            own: Snapshot::empty(0),
            neighbours: Vec::new(),
            subscribers: Vec::new(),
            beat_at: None,
            requests: Vec::new(),
            searches: Vec::new(),
            pulls: Vec::new(),
            last_search: 0,
            declined: Declined::default(),
            alarm: Alarm::default(),
        })
    }

    /// Its links.
    pub const fn overlay(&self) -> &Cyclon<C, L> {
        &self.overlay
    }

    /// Its schedule, and what it has in common with others.
    pub const fn commitments(&self) -> &commit::Node<P> {
        self.desk.commitments()
    }

    /// The jobs that were submitted here and have no last word yet.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.desk.jobs().map(|job| job.id)
    }

    /// How often it said no because it had no room.
    pub const fn declined(&self) -> Declined {
        self.declined
    }

    fn gossip(&mut self, event: Event<Cyclon<C, L>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsOverlay::default();
        self.overlay.handle(event, &mut cx.lift(&mut embed));
        if embed.alone
            && let Some(introducer) = self.bootstrap.introducer(cx.rng())
        {
            let join = cyclon::Command::Join { introducer };
            self.overlay
                .handle(Event::Command(join), &mut cx.lift(&mut embed));
        }
        self.view_changed(cx);
    }

    /// Lets the desk handle something, and sees to what it wants.
    fn at_desk(&mut self, event: Event<Desk<P>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsDesk::default();
        self.desk.handle(event, &mut cx.lift(&mut embed));
        if embed.changed {
            self.tell_changes(cx);
        }
        for notice in embed.heard {
            self.attend_desk(notice, cx);
        }
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        self.overlay
            .handle(Event::Start, &mut cx.lift(AsOverlay::default()));
        // What was told in an earlier life is older than all that is told in this one.
        let life = self.overlay.incarnation().unwrap_or_default();
        self.own = Snapshot::empty(u64::from(life.get()) << 32);
        let met: Vec<cyclon::Command> = self.bootstrap.commands().collect();
        let freeze = (self.config.links == Links::Static).then_some(cyclon::Command::Freeze);
        for command in met.into_iter().chain(freeze) {
            let mut child = cx.lift(AsOverlay::default());
            self.overlay.handle(Event::Command(command), &mut child);
        }
        self.view_changed(cx);
        self.beat_at = self.config.beat().map(|period| cx.now() + period);
        let mut embed = AsDesk::default();
        self.desk.handle(Event::Start, &mut cx.lift(&mut embed));
        self.tell_changes(cx);
        for notice in embed.heard {
            self.attend_desk(notice, cx);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message<L>, cx: &mut dyn Context<Self>) {
        match message {
            Message::Overlay(message) => self.gossip(Event::Message { from, message }, cx),
            Message::Commit(message) => self.at_desk(Event::Message { from, message }, cx),
            Message::Search { ask, wanted } => {
                let asker = from;
                self.search(Question { asker, ask, wanted }, cx);
            }
            Message::Found { ask, offer } => self.answered(from, ask, Ok(offer), cx),
            Message::NotFound { ask, seen } => {
                self.answered(from, ask, Err(NonZeroU32::new(seen)), cx);
            }
            Message::WhoElse { search } => self.asked_for_others(from, search, cx),
            Message::Others { search, known } => self.told_of_others(from, search, &known, cx),
            Message::Fetch(reason) => self.tell(from, reason, cx),
            Message::Schedule { reason, schedule } => {
                self.learn(from, schedule.clone());
                if let Reason::Search(id) = reason {
                    self.told_for_search(from, id, schedule, cx);
                }
            }
            Message::Subscribe { known } => self.subscribe(from, known, cx),
            Message::Unsubscribe => self.unsubscribe(from),
        }
    }

    fn obey(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        let order = match *command {
            job::Command::Submit(job) => {
                let known = job.criterion == Criterion::Soonest;
                let refused = (!known).then_some(Refusal::UnsupportedCriterion);
                desk::Command::Submit { job, refused }
            }
            job::Command::Cancel(job) => desk::Command::Cancel(job),
            job::Command::Ended { job, outcome } => desk::Command::Ended { job, outcome },
            job::Command::Leave => desk::Command::Leave,
        };
        self.at_desk(Event::Command(order), cx);
        if *command == job::Command::Leave {
            self.tell_changes(cx);
            self.gossip(Event::Command(cyclon::Command::Leave), cx);
        }
    }

    fn attend(&mut self, cx: &mut dyn Context<Self>) {
        if self.beat_at.is_some_and(|at| at <= cx.now()) {
            self.beat(cx);
        }
        self.ask_for_missing(cx);
        self.attend_searches(cx);
        self.attend_requests(cx);
    }

    fn arm(&mut self, cx: &mut dyn Context<Self>) {
        let requests = self.requests.iter().filter_map(Request::next_due);
        let searches = self.searches.iter().map(Search::next_due);
        let other = [self.beat_at, self.missing_at(), self.pulls_due()];
        let due = requests.chain(searches).chain(other.into_iter().flatten());
        self.alarm.set(due, Timer::Due, cx);
    }

    fn restore(&mut self, key: Key, record: Record, cx: &mut dyn Context<Self>) {
        match (key, record) {
            (Key::Overlay(key), Record::Overlay(record)) => {
                let mut child = cx.lift(AsOverlay::default());
                self.overlay
                    .handle(Event::Restored(key, record), &mut child);
            }
            (Key::Desk(key), Record::Desk(record)) => {
                self.at_desk(Event::Restored(key, record), cx);
            }
            // No such pair was ever written.
            _ => {}
        }
    }
}

impl<const C: usize, const L: usize, P: Policy> Machine for Asap<C, L, P> {
    type Message = Message<L>;
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
                self.gossip(Event::Unreachable { to }, cx);
                self.unsubscribe(to);
                self.give_up_on(to, cx);
                self.stop_waiting_for(to, cx);
            }
            Event::Timer(Timer::Overlay(timer)) => self.gossip(Event::Timer(timer), cx),
            Event::Timer(Timer::Desk(timer)) => self.at_desk(Event::Timer(timer), cx),
            Event::Timer(Timer::Due) => {
                self.alarm.rang();
                self.attend(cx);
            }
            Event::Command(command) => self.obey(&command, cx),
        }
        self.arm(cx);
    }

    fn check(&self) -> Result<(), Violation> {
        self.overlay.check()?;
        self.desk.check()?;
        let (view, known) = (self.overlay.view(), &self.neighbours);
        let pulls = self.config.exchange == Exchange::Pull;
        Violation::unless(
            known.is_sorted_by(|a, b| a.id < b.id) && known.len() <= usize::from(view.limit()),
            "schedules are known of no more nodes than a view may have, each once",
        )?;
        Violation::unless(
            pulls || view.ids().iter().eq(known.iter().map(|known| &known.id)),
            "what is known of schedules is known of those in the view",
        )?;
        Violation::unless(
            self.subscribers.is_sorted_by(|a, b| a.id < b.id)
                && self.subscribers.len() <= usize::from(self.config.subscribers),
            "a node has no more subscribers than it may, each once",
        )?;
        Violation::unless(
            self.searches.len().saturating_add(self.pulls.len())
                <= usize::from(self.config.searches),
            "a node searches for no more than it may at once",
        )?;
        Violation::unless(
            self.requests.is_sorted_by(|a, b| a.job < b.job)
                && self
                    .requests
                    .iter()
                    .all(|request| self.desk.job(request.job).is_some()),
            "what is searched for is a job that was submitted here, each once",
        )
    }
}

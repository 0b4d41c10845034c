//! DGS_ASAP: gangs of nodes, as soon as possible, without a node that knows all others (P1, PROTOCOLS D1 to D23).
//!
//! Every node keeps its own schedule, a few random links to peers, and the peers' schedules as it last heard of them. A
//! job may be submitted at any node. The submitter asks a few of its neighbours to search. Each searcher looks for
//! enough nodes that are free at the earliest start: first among its neighbours, then among theirs. If there are too
//! few, it looks for the earliest time at which enough nodes are free together. The submitter confirms the best
//! placement with a two-phase commit, because other jobs may want the same time.
//!
//! A job that cannot start at once gets no placement at first: the submitter tells its host when to expect it, and has
//! neighbours search again from time to time. The start that is known is only as good as the estimates of the jobs that
//! run, and most of these end early.
//!
//! ```text
//!  submitter              searchers                neighbours             the nodes chosen
//!   Search ──────────────▶ look at the schedules
//!                          that they have ready
//!                          WhoElse ───────────────▶ their neighbours,
//!                                  ◀─────── Others  with schedules
//!          ◀─── Found      the earliest placement
//!   the earliest of all
//!   Commit: Prepare … ───────────────────────────────────────────────────▶ hold, commit, run
//!                                                     ◀──────── Schedule  (Push: to all subscribers)
//! ```
//!
//! # Rules
//! - A node's links are those of [`cyclon`], always changing or frozen ([`Links`]). Schedules are pushed, pulled or
//!   polled ([`Exchange`]). A sent schedule has committed time only, no holds.
//! - If a placement is refused, the next best is tried, then neighbours search anew, up to [`Config::rounds`] times.
//!   The same happens when a job loses a node. A job that is lost again and again after its start, for example because
//!   it never ends in its time, fails when its rounds are used up.
//! - Time is given in whole slots. A job that ends early frees the rest; one that runs longer is cut or extended, as
//!   [`commit::Config`] says.
//! - If a node looks free but refuses a job or does not answer, the next search avoids it while it finds enough others.
//! - The outcome of a cancelled job is told when none of its nodes has a hold or a reservation for it any more.
//! - A leaver takes no new jobs, goes on with the jobs it has, and disappears from all views after a while. If a job
//!   that was submitted there loses its placement then, only the leaver itself is left to search.
//! - A job that cannot start at once is searched for again every [`Config::improve`]. After [`Config::patience`] it gets
//!   the earliest placement, and its submitter goes on to search for an earlier one (PROTOCOLS D24).
//! - Reservations, decisions and submitted jobs of a node survive a crash. The outcome of a job may then be told twice,
//!   but never two different outcomes.
//!
//! A search passes over nodes that lack what a job requires or do not admit its organisation: nodes tell their
//! [`Attributes`](crate::admission::Attributes) with their schedules. A node judges for itself before it holds time. If
//! too few nodes suit a job, it is refused with that reason.
//!
//! Jobs that ask for cores instead of nodes, for a deadline or for another criterion are refused with that reason. A
//! liar can make a search worse and a job wait, or fail if its other searchers have no
//! room to search. It cannot take time that others have reserved, or make memory grow.
//!
//! # Example
//! A job that this scheduler cannot place is refused with the reason. The example of [`scheduler`](super) runs one that
//! it can. `examples/asap.rs` is a small grid in one process, `examples/udp` one of several processes that talk over
//! UDP, and `examples/processes` one that runs real programs.
//! ```
//! use core::num::NonZeroU32;
//! use gridweave_core::commit::Everyone;
//! use gridweave_core::id::{JobId, NodeId};
//! use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Refusal};
//! use gridweave_core::machine::{Effect, EffectQueue, Event};
//! use gridweave_core::scheduler::asap::{Asap, Bootstrap, Config};
//! use gridweave_core::time::{Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! // At most 20 links, of which 8 are exchanged at once.
//! let mut node = Asap::<20, 8>::new(NodeId::new(1), Config::DEFAULT, Bootstrap::Alone, Everyone)?;
//! let cores = Demand::Cores(NonZeroU32::MIN);
//! let job = Job::new(JobId::new(7), cores, Span::from_secs(600))?;
//! let mut effects = EffectQueue::new();
//! for event in [Event::Start, Event::Command(Command::submit(job))] {
//!     effects.feed(&mut node, event, Time::ZERO, &mut rng);
//! }
//! let news = News::Failed(Failure::Refused(Refusal::UnsupportedDemand));
//! let refused = Effect::Notify(Notice { job: job.id, news });
//! assert!(effects.drain().any(|effect| effect == refused));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod message;
mod neighbours;
mod request;
mod search;
#[cfg(test)]
mod tests;

pub use config::{Choice, Config, Exchange, Links, Searcher};
pub use message::{AskId, Known, Message, Offer, Others, Reason, SearchId, Wanted};

use crate::commit::{self, Everyone, Policy};
use crate::config::{Bound, ConfigError, Value};
use crate::id::{JobId, NodeId};
use crate::job::{self, Criterion, Notice, Placement, Refusal};
use crate::machine::{Alarm, Context, Embed, Event, Machine, Violation};
use crate::overlay::cyclon::{self, Cyclon};
use crate::schedule::Snapshot;
pub use crate::scheduler::Bootstrap;
use crate::scheduler::desk::{self, Desk};
use crate::time::Time;
use alloc::vec::Vec;
use neighbours::{Neighbour, Subscriber};
use request::Request;
use search::{Pull, Question, Search};

/// A node of the grid, with at most `C` links, of which it exchanges at most `L` at once.
///
/// `C` is at least the [`view`](cyclon::Config::view) of [`Config::overlay`], and `L` at least its
/// [`shuffle`](cyclon::Config::shuffle): `Asap<20, 8>` is enough for [`Config::DEFAULT`]. All nodes of a grid have the
/// same `L`. A node decodes shorter lists of links than its own `L`, but not longer ones.
///
/// Most effects per event, beside those of the overlay and the commit: one for each subscriber, `3 C` if all of the
/// view changes, `C` and four for each search or request whose time has come, and one for each node of a job that it
/// tries to move up.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asap<const C: usize, const L: usize, P: Policy = Everyone> {
    me: NodeId,
    config: Config,
    bootstrap: Bootstrap,
    overlay: Cyclon<C, L>,
    desk: Desk<P>,
    /// This node's schedule as it is told to peers.
    own: Snapshot,
    /// One for each link of the view, in the order of ids; with Pull, of the view at the last pull.
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

/// How often a node declined because it had no room.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Declined {
    /// Searches, and schedules to be pulled for the search of a peer.
    pub searches: u64,
    /// Subscriptions.
    pub subscriptions: u64,
}

/// Why a node is woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// A timer of the overlay.
    Overlay(cyclon::Timer),
    /// A timer of the desk.
    Desk(commit::Timer),
    /// A deadline of a search, a request or a subscription has passed.
    Due,
}

/// The key of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A key of the overlay.
    Overlay(cyclon::Key),
    /// A key of the desk.
    Desk(desk::Key),
}

/// What a node keeps on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A record of the overlay.
    Overlay(cyclon::Record),
    /// A record of the desk.
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
    /// Notices of the desk, handled after the desk has returned.
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
    /// A node without jobs. All nodes of a grid have the same configuration.
    pub fn new(
        me: NodeId,
        config: Config,
        bootstrap: Bootstrap,
        policy: P,
    ) -> Result<Self, ConfigError> {
        let config = config.checked::<C, L>()?.settled();
        bootstrap.check(me)?;
        if config.links == Links::Static && matches!(bootstrap, Bootstrap::Join(_)) {
            return Err(ConfigError::new(
                "bootstrap",
                Value::Word("Join"),
                Bound::Only(Value::Word("Alone or Meet")),
                "links is Static: no node can join an overlay that is laid out by hand",
            ));
        }
        Ok(Self {
            me,
            config,
            bootstrap,
            overlay: Cyclon::new(me, config.overlay)?,
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

    /// The overlay with this node's links.
    pub const fn overlay(&self) -> &Cyclon<C, L> {
        &self.overlay
    }

    /// This node as a participant, with its schedule, and as a coordinator.
    pub const fn commitments(&self) -> &commit::Node<P> {
        self.desk.commitments()
    }

    /// The jobs that were submitted here and have no outcome yet.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.desk.jobs().map(|job| job.id)
    }

    /// Whether this node drains, and has nothing left to run or to answer for.
    pub fn is_drained(&self) -> bool {
        self.desk.is_drained()
    }

    /// When and where a job that was submitted here is to run, if it has a place.
    pub fn placement(&self, job: JobId) -> Option<Placement> {
        self.desk.commitments().coordinator.placement(job)
    }

    /// How often this node declined because it had no room.
    pub const fn declined(&self) -> Declined {
        self.declined
    }

    fn gossip(&mut self, event: Event<Cyclon<C, L>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsOverlay::default();
        self.overlay.handle(event, &mut cx.lift(&mut embed));
        if embed.alone {
            for approach in self.bootstrap.approaches_again(cx.rng()) {
                self.overlay
                    .handle(Event::Command(approach.into()), &mut cx.lift(&mut embed));
            }
        }
        self.view_changed(cx);
    }

    /// Lets the desk handle an event, then handles its notices.
    fn at_desk(&mut self, event: Event<Desk<P>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsDesk::default();
        self.desk.handle(event, &mut cx.lift(&mut embed));
        if embed.changed {
            self.tell_changes(cx);
        }
        for notice in embed.heard {
            self.on_desk_notice(&notice, cx);
        }
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        self.overlay
            .handle(Event::Start, &mut cx.lift(AsOverlay::default()));
        // All versions of this life are higher than those of earlier lives.
        let life = self.overlay.incarnation().unwrap_or_default();
        self.own = Snapshot::empty(u64::from(life.get()) << 32);
        let met: Vec<cyclon::Command> = self.bootstrap.approaches().map(Into::into).collect();
        let freeze = (self.config.links == Links::Static).then_some(cyclon::Command::Freeze);
        for command in met.into_iter().chain(freeze) {
            let mut child = cx.lift(AsOverlay::default());
            self.overlay.handle(Event::Command(command), &mut child);
        }
        self.view_changed(cx);
        self.beat_at = self.first_beat(cx);
        let mut embed = AsDesk::default();
        self.desk.handle(Event::Start, &mut cx.lift(&mut embed));
        self.tell_changes(cx);
        for notice in embed.heard {
            self.on_desk_notice(&notice, cx);
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
            Message::Found { ask, offer } => self.on_search_answer(from, ask, Ok(offer), cx),
            Message::NotFound { ask, seen } => {
                let seen = Some(seen).filter(|seen| !seen.is_empty());
                self.on_search_answer(from, ask, Err(seen), cx);
            }
            Message::WhoElse { search } => self.on_who_else(from, search, cx),
            Message::Others { search, known } => self.on_others(from, search, &known, cx),
            Message::Fetch(reason) => self.tell(from, reason, cx),
            Message::Schedule {
                reason,
                stated,
                schedule,
            } => {
                self.learn(from, stated.clone(), schedule.clone());
                if let Reason::Search(id) = reason {
                    let known = Known {
                        node: from,
                        stated,
                        schedule,
                    };
                    self.on_schedule_for_search(id, known, cx);
                }
            }
            Message::Subscribe { known } => self.on_subscribe(from, known, cx),
            Message::Unsubscribe => self.unsubscribe(from),
        }
    }

    fn obey(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        let refused = match command {
            job::Command::Submit { job, .. } if job.criterion != Criterion::Soonest => {
                Some(Refusal::UnsupportedCriterion)
            }
            job::Command::Submit { job, .. } if job.estimate() > self.config.horizon => {
                Some(Refusal::TooLong)
            }
            _ => None,
        };
        if let Some(order) = desk::Command::from_host(command, refused) {
            self.at_desk(Event::Command(order), cx);
        }
        if matches!(command, job::Command::Drain | job::Command::Resume) {
            self.tell_changes(cx);
        }
        match *command {
            job::Command::Leave => {
                self.tell_changes(cx);
                self.gossip(Event::Command(cyclon::Command::Leave), cx);
            }
            job::Command::Meet(introducer) => {
                self.gossip(Event::Command(cyclon::Command::Join { introducer }), cx);
                // In a grid of a few nodes no walk may lead to a link.
                self.gossip(Event::Command(cyclon::Command::Meet(introducer)), cx);
            }
            _ => {}
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
            // A key and a record of different parts are never written together.
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

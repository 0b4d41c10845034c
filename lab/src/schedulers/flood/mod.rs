//! A scheduler that keeps no schedules, in the manner of Zorilla. It floods a search for nodes; a job starts at once on
//! those that are free, or waits and searches again.
//!
//! The idea is from Drost, van Nieuwpoort and Bal, "Simple locality-aware co-allocation in peer-to-peer supercomputing"
//! (2006). P1 compares itself with it. This is a baseline after that idea, not a copy of that system.
//!
//! ```text
//!  origin                                        nodes within the radius
//!   Submit ──▶ Search ─────────────────────────▶ pass it on, and answer once
//!              enough are free? ◀───────── Offer    (claimed for the origin while a lease lasts, or Busy)
//!              writes them down
//! Accepted ◀── Start ──────────────────────────▶ Started ──▶ the host runs the job, under a permission
//!              Renew, three times in its span ──▶
//!              ◀──────────────────────── Running
//! Finished ◀── all ended? ◀─────────────── Ended ◀── Ended
//! ```
//! If too few nodes are free, all are released, and the next search goes a hop further. Once that is no use, the search
//! is repeated after a pause, longer each time.
//!
//! # Rules
//! - A node is free, claimed or busy. It runs one job at a time, and only a job that its claim is for.
//! - A job starts only when enough nodes are claimed for it. If one of them does not begin, is lost, or says that it no
//!   longer runs the job, all are stopped, and the job is tried again.
//! - A job runs under a permission that its origin renews. After a failed attempt, nothing is tried before the last
//!   permission has ended. By then no node runs the job, if clocks differ by no more than
//!   [`slack`](FloodConfig::slack).
//! - If two searches each claim half of the nodes they need, both fail, release them, and wait for a random time.
//! - If [`searches`](FloodConfig::searches) searches of the largest radius find too few nodes, busy ones included, the
//!   job is [too large](Refusal::TooLarge). If enough exist but are busy, it is searched for until
//!   [`patience`](FloodConfig::patience) is over. This is not fair: a large job starves while small ones take each node
//!   that comes free.
//! - Jobs submitted here are on disk until their outcome. A running job is not, since it dies with its node.
//! - State that peers can make grow has a cap. A liar can waste searches; it can start only jobs that a claim is for.
//!
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_lab::schedulers::flood::{Flood, FloodConfig};
//!
//! let [me, peer] = [NodeId::new(0), NodeId::new(1)];
//! let node = Flood::new(me, FloodConfig::default(), [peer])?;
//! assert_eq!(node.runs(), None);
//!
//! let none = FloodConfig { degree: 0, ..FloodConfig::default() };
//! assert!(Flood::new(me, none, [peer]).is_err_and(|error| error.contains("degree")));
//! # Ok::<(), String>(())
//! ```

mod attempt;
pub(crate) mod config;
mod message;
mod relay;
mod search;
mod task;
#[cfg(test)]
mod tests;
mod worker;

pub use config::{FloodConfig, OverlayMode};
pub use message::{Message, SearchId};
pub use task::{Stage, Then, Told};

use std::collections::VecDeque;

use gridweave_core::id::{JobId, NodeId};
#[cfg(doc)]
use gridweave_core::job::Refusal;
use gridweave_core::job::{Command, Job, News, Notice, Survival};
use gridweave_core::machine::{Context, Embed, Event, Machine, Violation};
use gridweave_core::overlay::cyclon::{self, Cyclon};
use gridweave_core::sorted::SortedMap;
use gridweave_core::time::Time;
use serde::Serialize;

use super::asap::config::{MOST_LINKS as LINKS, MOST_SHUFFLED as SHUFFLED};
use super::side::Side;
use crate::experiment::error::InputError;
use crate::experiment::nodes::{Nodes, stream};
use crate::experiment::prepare::Prepared;
use crate::overlay::warmed_up;
use crate::run::Run;
use gridweave_sim::monitor::Monitor;
use relay::Seen;
use task::{Phase, Task};
use worker::{Endings, Work};

type Overlay = Cyclon<LINKS, SHUFFLED>;

/// One node: it answers searches, runs jobs, and places those that were submitted to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Flood {
    me: NodeId,
    config: FloodConfig,
    overlay: Overlay,
    /// The peers that the node knows at the start.
    neighbours: Box<[NodeId]>,
    membership: Membership,
    seen: Seen,
    work: Work,
    endings: Endings,
    /// Jobs that were submitted here and have no outcome.
    tasks: SortedMap<JobId, Task>,
    /// How many searches this life has begun.
    searches: u32,
    /// Messages of the node to itself; empty between two events.
    to_myself: VecDeque<Message>,
}

/// Whether a node takes jobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Membership {
    In,
    /// It takes no new jobs, and goes on with those that it has.
    Leaving,
}

/// The timers of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Timer {
    /// The end of a lease or of a permission at this node.
    Work,
    /// The next step for a job that was submitted here.
    Task(JobId),
    /// A timer of the overlay.
    Overlay(cyclon::Timer),
}

/// The keys of a node's records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Key {
    /// A job that was submitted here.
    Task(JobId),
    /// A record of the overlay.
    Overlay(cyclon::Key),
}

/// What a node writes to disk, to have it after a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Record {
    /// A job that was submitted here.
    Task {
        /// The job.
        job: Box<Job>,
        /// When it was submitted.
        since: Time,
        /// What the host was told of it.
        told: Told,
        /// How far it has come.
        stage: Stage,
    },
    /// A record of the overlay.
    Overlay(cyclon::Record),
}

/// The overlay inside its node.
struct AsOverlay;

impl Embed<Overlay, Flood> for AsOverlay {
    fn message(&mut self, message: cyclon::Message<SHUFFLED>) -> Message {
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
    fn notice(&mut self, _: cyclon::Notice, _: &mut dyn Context<Flood>) {}
}

impl Flood {
    /// The most nodes of a job, and the most busy ones that a search counts.
    pub const MOST_MEMBERS: u32 = 1 << 16;

    /// The most jobs that a node sees to at once.
    pub const MOST_TASKS: usize = 1 << 16;

    /// A node that knows these peers at the start, and keeps as many links as the configuration says. A configuration
    /// that cannot work is refused; the error names the key.
    pub fn new(
        me: NodeId,
        config: FloodConfig,
        neighbours: impl IntoIterator<Item = NodeId>,
    ) -> Result<Self, String> {
        let config = config.sound()?;
        let overlay = Overlay::new(me, config.overlay()).map_err(|error| error.to_string())?;
        Ok(Self {
            me,
            config,
            overlay,
            neighbours: neighbours.into_iter().take(LINKS).collect(),
            membership: Membership::In,
            seen: Seen::default(),
            work: Work::Free,
            endings: Endings::default(),
            tasks: SortedMap::new(),
            searches: 0,
            to_myself: VecDeque::new(),
        })
    }

    /// The peers to which this node has links.
    pub fn neighbours(&self) -> &[NodeId] {
        self.overlay.view().ids()
    }

    /// The job that runs here, if any.
    pub fn runs(&self) -> Option<JobId> {
        match self.work {
            Work::Running { search, .. } => Some(search.job),
            Work::Free | Work::Claimed { .. } => None,
        }
    }

    fn feed_overlay(&mut self, event: Event<Overlay>, cx: &mut dyn Context<Self>) {
        self.overlay.handle(event, &mut cx.lift(AsOverlay));
    }

    fn begin(&mut self, cx: &mut dyn Context<Self>) {
        self.feed_overlay(Event::Start, cx);
        for peer in self.neighbours.clone() {
            self.feed_overlay(Event::Command(cyclon::Command::Meet(peer)), cx);
        }
        if self.config.overlay == OverlayMode::Static {
            self.feed_overlay(Event::Command(cyclon::Command::Freeze), cx);
        }
        self.resume(cx);
    }

    /// Sends a message. A message to this node itself is handled after the current one, and not sent.
    fn tell(&mut self, to: NodeId, message: Message, cx: &mut dyn Context<Self>) {
        if to == self.me {
            self.to_myself.push_back(message);
        } else {
            cx.send(to, message);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, cx: &mut dyn Context<Self>) {
        if !message.may_go(from, self.me) {
            return;
        }
        match message {
            Message::Search { search, ttl } => self.hear_search(from, search, ttl, cx),
            Message::Offer(search) => self.hear_offer(from, search, cx),
            Message::Busy(search) => self.hear_busy(from, search),
            Message::Release(search) => self.release(search, cx),
            Message::Start { search, until, .. } => self.start(search, until, cx),
            Message::Renew { search, until } => self.renew(search, until, cx),
            Message::Stop(search) => self.stop(search, cx),
            Message::Running(search) => self.hear_running(from, search, cx),
            Message::Ended { search, outcome } => self.hear_ended(from, search, outcome, cx),
            Message::Gone(search) => self.hear_gone(from, search, cx),
            Message::Overlay(message) => self.feed_overlay(Event::Message { from, message }, cx),
        }
    }
}

impl Machine for Flood {
    type Message = Message;
    type Timer = Timer;
    type Command = Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.begin(cx),
            Event::Message { from, message } => self.receive(from, message, cx),
            Event::Unreachable { to } => self.feed_overlay(Event::Unreachable { to }, cx),
            Event::Timer(Timer::Work) => self.lapse(cx),
            Event::Timer(Timer::Task(job)) => self.act(job, cx),
            Event::Timer(Timer::Overlay(timer)) => self.feed_overlay(Event::Timer(timer), cx),
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
            Event::Command(Command::Cancel(job)) => self.cancel(job, cx),
            Event::Command(Command::Ended {
                job,
                attempt,
                outcome,
            }) => self.end(job, attempt, outcome, cx),
            Event::Command(Command::Leave) => self.membership = Membership::Leaving,
            Event::Command(Command::Meet(introducer)) => {
                self.feed_overlay(Event::Command(cyclon::Command::Join { introducer }), cx);
            }
            Event::Command(Command::Site(_) | Command::Drain | Command::Resume) => {}
            Event::Restored(Key::Overlay(key), Record::Overlay(record)) => {
                self.feed_overlay(Event::Restored(key, record), cx);
            }
            Event::Restored(
                Key::Task(_),
                Record::Task {
                    job,
                    since,
                    told,
                    stage,
                },
            ) => self.restore(*job, since, told, stage),
            Event::Restored(..) => {}
        }
        while let Some(message) = self.to_myself.pop_front() {
            self.receive(self.me, message, cx);
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.overlay.check()?;
        Violation::unless(
            self.to_myself.is_empty(),
            "what a node has to say to itself is said before the event is over",
        )?;
        Violation::unless(
            self.seen.len() <= Seen::MOST
                && self.endings.len() <= Endings::MOST
                && self.tasks.len() <= Self::MOST_TASKS,
            "what a node remembers has a limit",
        )?;
        for task in self.tasks.values() {
            match &task.phase {
                Phase::Searching(search) => Violation::unless(
                    search.offers.len() < task.wanted,
                    "a search that found enough is over",
                )?,
                Phase::Trying(attempt) => Violation::unless(
                    attempt.parts.len() == task.wanted,
                    "a job starts on as many nodes as it wants",
                )?,
                Phase::Waiting | Phase::Clearing(_) => {}
            }
        }
        Ok(())
    }
}

/// How many cycles an overlay has behind it when nodes begin.
const WARM_UP: u32 = 50;

/// What the lab knows of `flood`.
pub(crate) struct FloodSide;

impl Side for FloodSide {
    fn places_gangs(&self) -> bool {
        true
    }

    fn check(&self, prepared: &Prepared) -> Result<(), InputError> {
        prepared.check_nodes(self.places_requirements(), size_of::<Flood>())
    }

    fn simulate(&self, prepared: &Prepared, monitor: &Monitor) -> Result<Run, InputError> {
        let config = prepared.config.rules.flood;
        let nodes = prepared.grid.len() + prepared.joining().count();
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let seed = stream(prepared.config.seed, 4);
        let views = warmed_up(nodes, config.degree, config.shuffle, WARM_UP, seed);
        let build = move |me: NodeId| {
            let view = views.get(me.get() as usize).into_iter().flatten();
            let peers = view.map(|peer| NodeId::new(u64::from(*peer)));
            Flood::new(me, config, peers).expect("configurations are checked when they are read")
        };
        let nodes = Nodes::built_by(build).linked(|node| node.neighbours().to_vec());
        prepared.simulate_nodes(nodes, monitor)
    }
}

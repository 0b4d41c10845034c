//! Co-allocation by the user's own cost function, without a node that knows all others (P2, PROTOCOLS F0 to F14).
//!
//! A job asks for a gang of nodes and names a criterion: close to each other, soon, far apart, near some data, or
//! anything that its [`Catalogue`] knows. The submitter finds more nodes than are wanted, selects the best set of them
//! ([`select`](crate::select)), and has it confirmed. Then it repeats this from another node, and moves the job to each
//! better set that it finds, until the job is about to start.
//!
//! ```text
//!  submitter                     found nodes                          the nodes selected
//!   from a random node on:
//!   Look ──────────────────────▶ schedule and links
//!        ◀──────────────── Seen
//!   … until there are alpha·J
//!   selects J of them
//!   Commit: Prepare … ──────────────────────────────────────────────▶ hold, commit
//!   again from another node; if J others are better:
//!   Commit: Prepare … ──────────────────────────────────────────────▶ hold, commit; the old set is released
//! ```
//!
//! Random links ([`cyclon`]) lead to any node. *Helper overlays* ([`vicinity`]) link nodes that are likely to be good
//! together, so that a search along them from a random node soon finds a good set. There is one for each [`Helper`] in
//! [`Config::helpers`], and each has its own traffic. The [`Profile`] of a node is sent with the links of both kinds.
//!
//! # Rules
//! - An iteration begins at a node of the view where no iteration has begun; when there is none, at a node further away
//!   (PROTOCOLS F7). Along random links it goes breadth first (F1). Along the links of a helper it always asks the node
//!   nearest to the first one (F2), for the earliest start the one that is free soonest, but along [`Helper::Remoteness`] breadth first: far from a far node may be near.
//! - For a job that wants near nodes, iterations begin in turn at the densest place that this node has heard of, where
//!   none of the job has begun, and in the middle of the best placement ([`Config::dense`]). If the links of a place are not as near and as idle as
//!   was said, the iteration begins at the next one. In the paper none does.
//! - An iteration ends when it has found alpha·J nodes that are free for the job at once (J for the earliest start), or
//!   [`Config::breadth`] for each wanted one. In the paper ([`Config::PAPER`]) busy nodes count as well.
//! - A job that wants the earliest start and cannot start at once waits without a placement, and an iteration follows every
//!   [`Config::improve`]. When its [`patience`](Config::patience) is over, it gets the best placement. Placements of all
//!   jobs that wait would keep each other from moving up when jobs end before their estimates.
//! - A set's start is the earliest at which all of it is free, no later than [`Config::horizon`] (F3). A set that costs
//!   the same is better if it starts earlier (F4).
//! - The new set is held before the old one is released, and may have nodes and time in common with it. If the new set
//!   is refused, the job keeps the old one (F5).
//! - A job is not moved any more when less than [`Config::lead`] is left before its start.
//! - Leavers, crashes and cancellations are handled by the [`desk`].
//! - An iteration passes over nodes that lack what the job requires or do not admit its organisation, as their profiles
//!   say. It asks them for links only if no others are left to ask. A node judges for itself before it holds time.
//!
//! Jobs that ask for cores, for a deadline, or for an unknown criterion are refused with that reason; so are jobs for which there are too few nodes, no common time, or no set that the criterion accepts, and
//! criteria that give no cost. A liar may be selected and then refuse, which costs a round; after that the job avoids
//! it if it can. A liar cannot take time that others have reserved, or make memory grow.
//!
//! # Example
//! A catalogue with one objective beside the standard ones: the price, which nodes tell in their profiles.
//! `examples/criteria.rs` is a small grid with it.
//! ```
//! use gridweave_core::commit::Everyone;
//! use gridweave_core::id::NodeId;
//! use gridweave_core::profile::{Coordinate, Profile};
//! use gridweave_core::scheduler::Bootstrap;
//! use gridweave_core::scheduler::criteria::{Config, Criteria, OneMore};
//! use gridweave_core::select::{Objective, Set};
//!
//! #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
//! struct Cheapest;
//!
//! impl Objective for Cheapest {
//!     fn cost(&self, set: &Set<'_>) -> f64 {
//!         set.profiles().map(|node| f64::from(node.note)).sum()
//!     }
//! }
//!
//! // A job asks for it with `Criterion::Custom(0)`.
//! let catalogue = OneMore { objective: Cheapest, helper: None };
//! let profile = Profile { note: 20, ..Profile::at(Coordinate::at([0, 0, 0])) };
//! let (id, alone) = (NodeId::new(1), Bootstrap::Alone);
//! let node = Criteria::<20, 8, 10, _>::new(id, Config::DEFAULT, alone, profile, catalogue, Everyone)?;
//! assert_eq!(node.profile().note, 20);
//! # Ok::<(), gridweave_core::config::ConfigError>(())
//! ```

mod catalogue;
mod config;
mod dense;
mod explore;
mod message;
mod profiles;
mod request;
#[cfg(test)]
mod tests;

pub use crate::shared::Shared;
pub use catalogue::{Catalogue, Helper, Nearness, OneMore, OnlyStandard};
pub use config::{Config, Coordinates, Exploration};
pub use message::{Descriptor, Descriptors, LookId, Message, Through};

use alloc::vec::Vec;

use crate::commit::{self, Everyone, Policy};
use crate::config::ConfigError;
use crate::id::{JobId, NodeId};
use crate::job::{self, Notice, Placement, Refusal};
use crate::machine::{Alarm, Context, Embed, Event, Machine, Never, Violation};
use crate::overlay::cyclon::{self, Cyclon};
use crate::overlay::vicinity::{self, Vicinity};
use crate::overlay::vivaldi::Vivaldi;
use crate::profile::Profile;
use crate::schedule::Snapshot;
use crate::scheduler::Bootstrap;
use crate::scheduler::desk::{self, Desk};
use crate::time::Time;
use catalogue::with_objective;
use profiles::AsOverlay;
pub use request::Progress;
use request::Request;

/// A node of the grid, with at most `C` links in each overlay, of which it exchanges at most `L` random ones and `G` of
/// a helper at once.
///
/// `C` is at least the [`view`](cyclon::Config::view) of [`Config::overlay`] and the [`links`](vicinity::Config::links)
/// of
/// [`Config::helper`]. `L` is at least the [`shuffle`](cyclon::Config::shuffle) of the first, and `G` the
/// [`gossip`](vicinity::Config::gossip) of the second: `Criteria<20, 8, 10>` is enough for [`Config::DEFAULT`]. All
/// nodes of a grid have the same `L` and `G`: a node cannot decode longer lists of links than its own `L` and `G`
/// allow.
///
/// Most effects per event, beside those of the overlays and the desk: one for each question of each job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Criteria<
    const C: usize,
    const L: usize,
    const G: usize,
    U: Catalogue = OnlyStandard,
    P: Policy = Everyone,
> {
    me: NodeId,
    config: Config,
    catalogue: U,
    bootstrap: Bootstrap,
    overlay: Cyclon<C, L>,
    helpers: Vec<(u8, HelperOverlay<C, G, U>)>,
    desk: Desk<P>,
    /// This node's profile as it is told to peers. The version of `schedule` is also that of the profile.
    profile: Profile,
    schedule: Snapshot,
    vivaldi: Option<Vivaldi>,
    /// The last exchange of random links that this node began, and when.
    shuffled: Option<(cyclon::ExchangeId, Time)>,
    /// What is known of the neighbours in the view, in the order of ids.
    random: Vec<Descriptor>,
    /// The densest places that this node has heard of, densest first.
    dense: Vec<dense::Place>,
    /// In the order of jobs.
    requests: Vec<Request>,
    last_look: u32,
    alarm: Alarm,
}

/// A helper overlay of a node.
pub type HelperOverlay<const C: usize, const G: usize, U> = Vicinity<Profile, Nearness<U>, C, G, C>;

/// Why a node is woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// A timer of the random overlay.
    Overlay(cyclon::Timer),
    /// A timer of the helper overlay with this number.
    Helper(u8, vicinity::Timer),
    /// A timer of the desk.
    Desk(commit::Timer),
    /// A deadline of a search has passed.
    Due,
}

/// The key of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A key of the random overlay.
    Overlay(cyclon::Key),
    /// A key of the desk.
    Desk(desk::Key),
}

/// What a node keeps on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A record of the random overlay.
    Overlay(cyclon::Record),
    /// A record of the desk.
    Desk(desk::Record),
}

/// A helper overlay as a part of a node.
struct AsHelper(u8);

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Embed<HelperOverlay<C, G, U>, Criteria<C, L, G, U, P>> for AsHelper
{
    fn message(&mut self, message: vicinity::Message<Profile, G>) -> Message<L, G> {
        Message::Helper {
            number: self.0,
            message: Shared::new(message),
        }
    }
    fn timer(&mut self, timer: vicinity::Timer) -> Timer {
        Timer::Helper(self.0, timer)
    }
    fn key(&mut self, key: Never) -> Key {
        match key {}
    }
    fn record(&mut self, record: Never) -> Record {
        match record {}
    }
    fn notice(&mut self, notice: Never, _: &mut dyn Context<Criteria<C, L, G, U, P>>) {
        match notice {}
    }
}

/// The desk as a part of a node.
#[derive(Default)]
struct AsDesk {
    /// Notices of the desk, handled after the desk has returned.
    heard: Vec<desk::Notice>,
    changed: bool,
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Embed<Desk<P>, Criteria<C, L, G, U, P>> for AsDesk
{
    fn message(&mut self, message: commit::Message) -> Message<L, G> {
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
    fn notice(&mut self, notice: desk::Notice, cx: &mut dyn Context<Criteria<C, L, G, U, P>>) {
        match notice {
            desk::Notice::Job(notice) => cx.notify(notice),
            desk::Notice::Changed => self.changed = true,
            notice => self.heard.push(notice),
        }
    }
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Criteria<C, L, G, U, P>
{
    /// A node without jobs, with this profile. All nodes of a grid have the same configuration. The node itself updates
    /// the free time in its profile, and its coordinate if [`Config::coordinates`] says so. What it has and whose jobs it
    /// admits comes from its policy.
    pub fn new(
        me: NodeId,
        config: Config,
        bootstrap: Bootstrap,
        mut profile: Profile,
        catalogue: U,
        policy: P,
    ) -> Result<Self, ConfigError> {
        let config = config.checked::<C, L, G>()?.settled();
        bootstrap.check(me)?;
        profile.stated = policy.stated().clone();
        let vivaldi = match config.coordinates {
            Coordinates::Given => None,
            Coordinates::Learned(config) => Some(Vivaldi::new(config)),
        };
        let mut helpers = Vec::new();
        for (number, helper) in (0..).zip(config.helpers) {
            let Some(helper) = helper else { continue };
            let catalogue = catalogue.clone();
            let nearness = Nearness { helper, catalogue };
            let overlay = Vicinity::new(me, config.helper, nearness, profile.clone(), 0);
            helpers.push((number, overlay?));
        }
        Ok(Self {
            me,
            config,
            catalogue,
            bootstrap,
            overlay: Cyclon::new(me, config.overlay)?,
            helpers,
            desk: Desk::new(config.desk(), policy),
            profile,
            schedule: Snapshot::empty(0),
            vivaldi,
            shuffled: None,
            random: Vec::new(),
            dense: Vec::new(),
            requests: Vec::new(),
            last_look: 0,
            alarm: Alarm::default(),
        })
    }

    /// The random overlay with this node's links.
    pub const fn overlay(&self) -> &Cyclon<C, L> {
        &self.overlay
    }

    /// The helper overlays of this node, with their numbers.
    pub fn helpers(&self) -> impl Iterator<Item = (u8, &HelperOverlay<C, G, U>)> + '_ {
        self.helpers
            .iter()
            .map(|(number, overlay)| (*number, overlay))
    }

    /// The profile that this node tells its peers.
    pub const fn profile(&self) -> &Profile {
        &self.profile
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

    /// How far the search is for a job that was submitted here.
    pub fn progress(&self, job: JobId) -> Option<Progress<'_>> {
        let request = self.requests.iter().find(|request| request.job == job)?;
        Some(request.progress())
    }

    /// Lets the desk handle an event, then handles its notices.
    fn at_desk(&mut self, event: Event<Desk<P>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsDesk::default();
        self.desk.handle(event, &mut cx.lift(&mut embed));
        if embed.changed {
            self.tell_schedule(cx);
        }
        for notice in embed.heard {
            self.on_desk_notice(&notice, cx);
        }
    }

    fn order(&mut self, command: desk::Command, cx: &mut dyn Context<Self>) {
        self.at_desk(Event::Command(command), cx);
    }

    /// Lets one helper overlay handle an event.
    fn help(
        &mut self,
        number: u8,
        event: Event<HelperOverlay<C, G, U>>,
        cx: &mut dyn Context<Self>,
    ) {
        let mut helpers = self.helpers.iter_mut();
        if let Some((_, helper)) = helpers.find(|(known, _)| *known == number) {
            helper.handle(event, &mut cx.lift(AsHelper(number)));
        }
    }

    /// Lets all helper overlays handle an event.
    fn help_all(&mut self, event: &Event<HelperOverlay<C, G, U>>, cx: &mut dyn Context<Self>) {
        for (number, helper) in &mut self.helpers {
            helper.handle(event.clone(), &mut cx.lift(AsHelper(*number)));
        }
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        self.shuffle(Event::Start, cx);
        // All versions of this life are higher than those of earlier lives.
        let life = self.overlay.incarnation().unwrap_or_default();
        self.schedule = Snapshot::empty(u64::from(life.get()) << 32);
        self.help_all(&Event::Start, cx);
        let commands: Vec<cyclon::Command> = self.bootstrap.approaches().map(Into::into).collect();
        for command in commands {
            self.shuffle(Event::Command(command), cx);
        }
        let mut embed = AsDesk::default();
        self.desk.handle(Event::Start, &mut cx.lift(&mut embed));
        self.tell_schedule(cx);
        for notice in embed.heard {
            self.on_desk_notice(&notice, cx);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message<L, G>, cx: &mut dyn Context<Self>) {
        match message {
            Message::Overlay { message, about } => {
                self.on_overlay_message(from, message, &about, cx);
            }
            Message::Helper { number, message } => {
                let message = message.take();
                self.help(number, Event::Message { from, message }, cx);
            }
            Message::Commit(message) => self.at_desk(Event::Message { from, message }, cx),
            Message::Look { look, through } => self.on_look(from, look, through, cx),
            Message::Seen {
                look,
                own,
                schedule,
                links,
            } => self.on_seen(from, look, own, schedule, &links, cx),
        }
    }

    fn obey(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        let refused = match command {
            job::Command::Submit { job, .. } if job.estimate() > self.config.horizon => {
                Some(Refusal::TooLong)
            }
            job::Command::Submit { job, .. } => {
                let known = with_objective(&self.catalogue, job.criterion, |_| ());
                known.is_none().then_some(Refusal::UnsupportedCriterion)
            }
            _ => None,
        };
        if let Some(order) = desk::Command::from_host(command, refused) {
            self.order(order, cx);
        }
        match *command {
            job::Command::Leave => {
                self.shuffle(Event::Command(cyclon::Command::Leave), cx);
                self.help_all(&Event::Command(vicinity::Command::Leave), cx);
            }
            job::Command::Meet(introducer) => {
                self.shuffle(Event::Command(cyclon::Command::Join { introducer }), cx);
                // In a grid of a few nodes no walk may lead to a link.
                self.shuffle(Event::Command(cyclon::Command::Meet(introducer)), cx);
            }
            _ => {}
        }
    }

    fn arm(&mut self, cx: &mut dyn Context<Self>) {
        let due = self.requests.iter().filter_map(Request::next_due);
        self.alarm.set(due, Timer::Due, cx);
    }

    fn restore(&mut self, key: Key, record: Record, cx: &mut dyn Context<Self>) {
        match (key, record) {
            (Key::Overlay(key), Record::Overlay(record)) => {
                let mut child = cx.lift(AsOverlay::quiet(self.me, &self.profile));
                self.overlay
                    .handle(Event::Restored(key, record), &mut child);
            }
            (Key::Desk(key), Record::Desk(record)) => {
                let mut child = cx.lift(AsDesk::default());
                self.desk.handle(Event::Restored(key, record), &mut child);
            }
            // A key and a record of different parts are never written together.
            _ => {}
        }
    }
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy> Machine
    for Criteria<C, L, G, U, P>
{
    type Message = Message<L, G>;
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
                self.shuffle(Event::Unreachable { to }, cx);
                self.help_all(&Event::Unreachable { to }, cx);
                self.give_up_on(to, cx);
            }
            Event::Timer(Timer::Overlay(timer)) => {
                // Time has passed: the first free window may be over.
                self.tell_profile(cx);
                self.shuffle(Event::Timer(timer), cx);
            }
            Event::Timer(Timer::Helper(number, timer)) => {
                self.help(number, Event::Timer(timer), cx);
            }
            Event::Timer(Timer::Desk(timer)) => self.at_desk(Event::Timer(timer), cx),
            Event::Timer(Timer::Due) => {
                self.alarm.rang();
                self.attend_requests(cx);
            }
            Event::Command(command) => self.obey(&command, cx),
        }
        self.arm(cx);
    }

    fn check(&self) -> Result<(), Violation> {
        self.overlay.check()?;
        for (_, helper) in &self.helpers {
            helper.check()?;
        }
        self.desk.check()?;
        Violation::unless(
            self.random.is_sorted_by(|a, b| a.id < b.id)
                && self
                    .random
                    .iter()
                    .all(|known| self.overlay.view().contains(known.id)),
            "profiles are kept of those in the view, each once",
        )?;
        Violation::unless(
            self.requests.is_sorted_by(|a, b| a.job < b.job)
                && self
                    .requests
                    .iter()
                    .all(|request| self.desk.job(request.job).is_some()),
            "what is searched for is a job that was submitted here, each once",
        )?;
        Violation::unless(
            self.dense.len() <= Self::most_dense(&self.config)
                && self.dense.iter().all(|place| place.node != self.me),
            "no more dense places are remembered than may be, and none of the node's own",
        )?;
        let (parallel, most) = (self.config.parallel, self.config.candidates);
        Violation::unless(
            self.requests
                .iter()
                .all(|request| request.is_within(usize::from(parallel), usize::from(most))),
            "no more iterations are under way than may be, and none finds more nodes than it may",
        )
    }
}

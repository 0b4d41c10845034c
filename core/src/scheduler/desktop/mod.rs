//! Desktop grids: finds a node for each job in a space of capabilities (P4; PROTOCOLS 3.2, 3.3, 5, L1 to L19).
//!
//! Each node is a point of a [CAN](crate::overlay::can): one coordinate for each capability, and random virtual ones.
//! A job is at the point of its requirement, so the nodes that can run it lie outwards of that point. The submitter
//! asks for the owner of the point. The owner pushes a search outwards, towards less load, until it finds a run node.
//!
//! ```text
//!  submitter                 owner of its point                run node                  another node
//!  Route ──── hop by hop ──▶ has the point
//!        ◀──────────── Found
//!  Give ───────────────────▶ ◀── custody ──▶
//!                            Hunt ──── pushed outwards ──▶ …
//!                                  ◀───────────────── Found
//!                            Give ───────────────────────────▶ ◀── custody ──▶
//!                                                             queues it
//!                                                             ◀───────────────── Pull   has free cores
//!                                                             Give ────────────────────▶ starts it
//! ```
//!
//! # Rules
//! - Each job has two [`custody`] relations. The submitter answers for it to the user; the owner answers for it to the
//!   submitter. If the run node is lost, the owner searches for another. If the owner is lost, the submitter searches
//!   for another. An owner grants nothing beyond what it was granted, so the two never contradict each other.
//! - Matchmaking: each node on a search's way rates itself, its neighbours and the balloons that it keeps. With
//!   [`Style::Literal`] the search ends with the first node that can start the job at once. Otherwise, once it has a
//!   candidate, it may stop by chance, more likely if few nodes are beyond. If it does not stop, it is pushed on along
//!   the dimension with the least load beyond. If it ends without a candidate, one flood asks all nodes that might fit.
//! - Local scheduling, internode scheduling and queue balancing follow the paper, see [`Scheduling`]. A waiting job may
//!   pass others, here or at another node, only if it was passed at least as often as the head there (L1, L3).
//! - Heartbeats carry a node's status to its neighbours. A node that runs something and has cores left may also have a
//!   balloon at the owner of the point of what is left, or be a member of a second CAN at that point: see
//!   [`Residues`] (PROTOCOLS 3.3).
//!
//! # Limits
//! A job runs on one node. Deadlines and criteria other than the soonest start are refused, and so are categories as
//! dimensions: nothing lies outwards of a category. A job counts as cancelled when its owner knows; it may run a moment
//! longer. Run times are not known, so the start that is told is the instant at which the run node queued the job.
//!
//! # Example
//! The first node of a grid has the whole space. `examples/desktop.rs` is a small grid in one process.
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::machine::{EffectQueue, Event};
//! use gridweave_core::overlay::can::Hop;
//! use gridweave_core::resource::{Dimensions, Kind, Speed};
//! use gridweave_core::scheduler::desktop::{Bootstrap, Config, Desktop, Equipment};
//! use gridweave_core::time::Time;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)])?;
//! let config = Config::new(dimensions.capability(&[64, 256])?);
//! let equipment = Equipment {
//!     cores: dimensions.named("cores").expect("it was just named"),
//!     capability: dimensions.capability(&[8, 32])?,
//!     speed: Speed::BASELINE,
//!     dimensions,
//! };
//! // Two dimensions of the grid, and a virtual one that tells equal nodes apart.
//! let anywhere = Desktop::<3>::point_of(&config, &equipment, &mut rng);
//! let mut node = Desktop::<3>::new(NodeId::new(1), config, Bootstrap::Alone, equipment, &mut rng)?;
//! EffectQueue::new().feed(&mut node, Event::Start, Time::ZERO, &mut rng);
//! assert_eq!(node.can().next_hop(&anywhere), Hop::Here);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod balancing;
mod balloons;
mod config;
mod dual_can;
mod foraging;
mod gathering;
mod matching;
mod membership;
mod message;
mod migration;
mod ownership;
mod relay;
mod rendezvous;
mod running;
mod space;
mod status;
#[cfg(test)]
mod tests;

pub use config::{Config, Direction, Habit, Residues, Scheduling, Style};
pub use message::{
    Errand, Gather, Members, Merit, Merits, Message, MoveTo, Quest, Stand, Trail, Turn, Wanted, Way,
};
pub use status::Status;

use alloc::boxed::Box;
use alloc::vec::Vec;

use balloons::Balloons;
use dual_can::ResidueSpace;
use migration::{Migration, Promise};
use relay::Relay;
use status::{Known, Telling};

use super::duty::Duty;
use crate::config::ConfigError;
use crate::custody::{self, Custody, Tenure};
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{
    self, Criterion, Demand, Failure, Job, News, Notice, Payload, Placement, Refusal, Scope,
};
use crate::machine::{Context, Event, Machine, Violation};
use crate::overlay::can::{self, Can, Grant};
use crate::overlay::flood::Seen;
use crate::queue::BackfillQueue;
use crate::resource::{Capability, Dimension, Dimensions, Pool, Requirement, Speed};
use crate::rng::Choose;
use crate::scheduler::Introducers;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// The hardware of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Equipment {
    /// The amounts and levels of the grid, the same on all nodes.
    pub dimensions: Dimensions,
    /// The dimension that counts cores.
    pub cores: Dimension,
    /// The node's value in each dimension.
    pub capability: Capability,
    /// The node's speed.
    pub speed: Speed,
}

/// How a node gets into the overlay.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Bootstrap<const D: usize> {
    /// The node founds the overlay.
    Alone,
    /// The node joins through one of these introducers.
    Join(Introducers),
    /// The node starts with this point and zone: for hosts that lay out an overlay by hand, see [`can::Layout`].
    Placed(can::Point<D>, Shared<Grant<D>>),
}

/// A node of the grid: a desktop with several cores, where jobs can be submitted.
///
/// Most effects per event, besides those of the overlay and of custody: one for each neighbour, or one for each of at
/// most 256 unacknowledged errands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Desktop<const D: usize> {
    me: NodeId,
    config: Config,
    bootstrap: Bootstrap<D>,
    cores: Dimension,
    speed: Speed,
    can: Can<D>,
    /// Between submitters and owners.
    owners: Custody,
    /// Between owners and run nodes.
    runs: Custody,
    queue: BackfillQueue,
    known: Known,
    balloons: Balloons<D>,
    /// Only with [`Residues::DualCan`].
    residue_space: Option<Box<ResidueSpace<D>>>,
    migration: Migration,
    relay: Relay<D>,
    seen: Seen,
    /// The number of its last flood.
    floods: u32,
    /// How many requests to join got no answer since this node last joined.
    unanswered: u8,
    /// A cache, empty after the queue has changed.
    status: Option<Shared<Status>>,
    /// A cache for the overlay, emptied together with `status`.
    load: Option<can::Load>,
    telling: Telling,
    round: u32,
    /// When the next round begins, once rounds have begun.
    round_at: Option<Time>,
    duty: Duty,
    counts: Counts,
}

/// What happened at a node in this life.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// How often it became the owner of a job.
    pub owned: u64,
    /// The total hops of the searches for an owner that it answered.
    pub route_hops: u64,
    /// How many searches for a run node ended here with a candidate.
    pub hunts: u64,
    /// The total hops of those searches.
    pub hunt_hops: u64,
    /// How many searches it flooded.
    pub floods: u64,
    /// How many floods it did not pass on, because it remembered as many others as it can.
    pub cut_off: u64,
    /// How often it took a job out of its queue to give it to a node that could start it at once, as far as was known.
    /// It counts even if that node then does not take the job; if the job comes back and is given again, it counts
    /// again.
    pub migrated: u64,
    /// How often it took a job out of its queue to let it wait at another node, to balance queues or because it leaves.
    /// It counts like [`migrated`](Self::migrated), whether or not the other node takes the job.
    pub balanced: u64,
    /// How often a job was passed that waited here, at most.
    pub most_passed: u32,
    /// How many jobs waited here at once, at most.
    pub most_waiting: u32,
}

/// Why a node is woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// A timer of the overlay.
    Overlay(can::Timer),
    /// A timer for a job that was submitted here, or that this node owns.
    Owners(custody::Timer),
    /// A timer for a job that this node owns, or runs.
    Runs(custody::Timer),
    /// The round of this number begins: the node looks at its waiting jobs.
    Round(u32),
    /// An errand that is not acknowledged may be due to be sent again.
    Resend,
    /// A timer of the second space.
    Residue(can::Timer),
    /// The node may tell its neighbours that its status has changed.
    News,
    /// The node checks its membership: it asks to get into the second space, or registers as its anchor.
    Rendezvous,
}

/// The name of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A record of the overlay.
    Overlay(can::Key),
    /// A job that was submitted here, or that this node owns.
    Owners(custody::Key),
    /// A job that this node owns, or runs.
    Runs(custody::Key),
    /// A record of the second space.
    Residue(can::Key),
    /// That the node drains.
    Draining,
}

/// What a node must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A record of the overlay.
    Overlay(can::Record),
    /// A job that was submitted here, or that this node owns.
    Owners(custody::Record),
    /// A job that this node owns, or runs.
    Runs(custody::Record),
    /// A record of the second space.
    Residue(can::Record),
    /// The node drains.
    Draining,
}

impl<const D: usize> Desktop<D> {
    /// A node without jobs. All nodes need the same configuration. Unless it is [placed](Bootstrap::Placed), the node
    /// draws its virtual coordinates from the generator.
    pub fn new(
        me: NodeId,
        config: Config,
        bootstrap: Bootstrap<D>,
        equipment: Equipment,
        rng: &mut (impl rand_core::Rng + ?Sized),
    ) -> Result<Self, ConfigError> {
        let config = config.checked::<D>()?;
        equipment.check::<D>(&config)?;
        if let Bootstrap::Join(introducers) = &bootstrap {
            introducers.check(me)?;
        }
        let Equipment {
            dimensions,
            cores,
            capability,
            speed,
        } = equipment;
        let virtual_dimensions = usize::from(config.can.virtual_dimensions);
        let point = match &bootstrap {
            Bootstrap::Placed(point, _) => *point,
            Bootstrap::Alone | Bootstrap::Join(_) => space::point_of(
                &dimensions,
                &config.most,
                &capability,
                virtual_dimensions,
                rng,
            ),
        };
        let residue_space = match config.residues {
            Residues::Neighbours | Residues::Balloons => None,
            Residues::DualCan => {
                let space = ResidueSpace::new(me, point, config.second_space());
                Some(Box::new(space?))
            }
        };
        let pool = Pool::new(dimensions, capability);
        Ok(Self {
            me,
            bootstrap,
            cores,
            speed,
            can: Can::new(me, point, config.can)?,
            owners: Custody::new(me, config.owners)?,
            runs: Custody::new(me, config.runs)?,
            queue: BackfillQueue::new(pool, config.queue as usize).with_passing(config.passing),
            known: Known::default(),
            balloons: Balloons::default(),
            residue_space,
            migration: Migration::default(),
            relay: Relay::default(),
            seen: matching::seen(&config),
            floods: 0,
            unanswered: 0,
            status: None,
            load: None,
            telling: Telling::default(),
            round: 0,
            round_at: None,
            duty: Duty::Working,
            counts: Counts::default(),
            config,
        })
    }

    /// The point of a node with this equipment, for a host that lays out an overlay by hand.
    pub fn point_of(
        config: &Config,
        equipment: &Equipment,
        rng: &mut (impl rand_core::Rng + ?Sized),
    ) -> can::Point<D> {
        let virtual_dimensions = usize::from(config.can.virtual_dimensions);
        space::point_of(
            &equipment.dimensions,
            &config.most,
            &equipment.capability,
            virtual_dimensions,
            rng,
        )
    }

    /// This node's id.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// Its part of the overlay.
    pub const fn can(&self) -> &Can<D> {
        &self.can
    }

    /// The status of a peer, as far as this node knows it.
    pub fn status_of(&self, node: NodeId) -> Option<&Status> {
        self.known.shared(node).map(Shared::get)
    }

    /// A job that waits or runs here, or did and whose owner does not know the end yet.
    pub fn job(&self, job: JobId) -> Option<Shared<Job>> {
        self.runs.job(job)
    }

    /// The attempt at a job that runs here, if one does.
    pub fn attempt(&self, job: JobId) -> Option<Epoch> {
        self.runs.running(job)
    }

    /// The jobs that wait or run here.
    pub const fn queue(&self) -> &BackfillQueue {
        &self.queue
    }

    /// The jobs that were submitted here and have no outcome yet.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        self.owners.tasks()
    }

    /// Whether this node drains, and has nothing left to run. It may still own jobs that run elsewhere.
    pub fn is_drained(&self) -> bool {
        self.duty == Duty::Draining && self.runs.held().next().is_none()
    }

    /// When and where a job that was submitted here is to run, if it has a place.
    pub fn placement(&self, job: JobId) -> Option<Placement> {
        self.owners.placement(job)
    }

    /// The jobs that this node owns.
    pub fn owned(&self) -> impl Iterator<Item = JobId> + '_ {
        self.runs.tasks()
    }

    /// The jobs that submitters gave to this node, each until its submitter knows that this node has it no more.
    pub fn entrusted(&self) -> impl Iterator<Item = JobId> + '_ {
        self.owners.held()
    }

    /// The jobs that owners gave to this node to run, each until its owner knows that this node has it no more.
    pub fn held(&self) -> impl Iterator<Item = JobId> + '_ {
        self.runs.held()
    }

    /// Whether this node waits for the answer to an offer or a pull, or keeps room for a promised job.
    pub const fn awaits_answers(&self) -> bool {
        self.migration.awaits_answers()
    }

    /// The balloons that this node keeps: the node and the point of each.
    pub fn balloons(&self) -> impl Iterator<Item = (NodeId, &can::Point<D>)> + '_ {
        self.balloons.iter()
    }

    /// Its part of the second space, in the Dual-CAN model; with a zone while it is a member.
    pub fn residue_can(&self) -> Option<&Can<D>> {
        self.residue_space.as_ref().map(|space| space.can())
    }

    /// What happened here in this life.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// What happened to the jobs that this node owned or ran, in this life.
    pub const fn custody_counts(&self) -> custody::Counts {
        self.runs.counts()
    }

    /// What happened to the jobs that were submitted here or that this node owned, in this life.
    pub const fn owner_counts(&self) -> custody::Counts {
        self.owners.counts()
    }

    fn dimensions(&self) -> &Dimensions {
        self.queue.pool().dimensions()
    }

    /// What a job takes of a node: what it names, and at least one core.
    fn needs(&self, job: &Job) -> Requirement {
        let named = job.requirement.value(self.cores).unwrap_or(1).max(1);
        let cores = match job.demand {
            Demand::Cores(count) => named.max(u64::from(count.get())),
            Demand::Nodes(_) => named,
        };
        job.requirement.with(self.cores, cores)
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        // From the clock: peers would ignore a flood that has the number of one from an earlier life.
        self.floods = (cx.now().as_micros() / 1000) as u32;
        self.relay.begin(cx.now());
        self.balloons.begin(cx.now());
        self.tell_load(cx);
        self.overlay(Event::Start, cx);
        self.get_into_overlay(cx);
        self.start_custodies(cx);
        self.begin_rounds(cx);
    }

    /// Rounds begin at a random point of the first one, so that nodes that start together do not act together.
    fn begin_rounds(&mut self, cx: &mut dyn Context<Self>) {
        let part = u64::from(cx.rng().below(1 << 16)).saturating_add(1);
        let wait = self.config.round.as_micros().saturating_mul(part) >> 16_u32;
        self.wait_for_round(Span::from_micros(wait), cx);
    }

    fn wait_for_round(&mut self, wait: Span, cx: &mut dyn Context<Self>) {
        let at = cx.now() + wait;
        self.round_at = Some(at);
        cx.wake(at, Timer::Round(self.round));
    }

    fn on_round(&mut self, round: u32, cx: &mut dyn Context<Self>) {
        let Some(at) = self.round_at.filter(|_| round == self.round) else {
            return;
        };
        if cx.now() < at {
            cx.wake(at, Timer::Round(round));
            return;
        }
        self.round = round.wrapping_add(1);
        self.wait_for_round(self.config.round, cx);
        self.relay.enters.renew();
        self.relay.balloons.renew();
        self.telling.renew();
        self.migration.renew();
        self.ask_first_peers_at_times(cx);
        self.forget_strangers();
        self.refresh_balloon(cx);
        self.forget_questions(cx.now());
        if self.config.scheduling.balancing == Some(Direction::Pull) {
            // A node asks one peer at a time. The pull to balance comes first, once in a round; after its answer the
            // node pulls jobs that could start here.
            self.balance(cx);
            self.migrate(cx);
        } else {
            self.migrate(cx);
            self.balance(cx);
        }
        if self.config.scheduling.internode.is_some() {
            self.hunt_again(cx);
        }
    }

    /// Forgets the status of peers that are no longer neighbours.
    fn forget_strangers(&mut self) {
        let ids: Vec<NodeId> = self.can.neighbours().map(can::Neighbour::id).collect();
        self.known.retain(|id| ids.binary_search(&id).is_ok());
    }

    fn submit(&mut self, job: Job, payload: Payload, cx: &mut dyn Context<Self>) {
        let refused = self.refusal(&job);
        if let Some(refusal) = refused.or_else(|| self.owners.refusal(job.id)) {
            let news = News::Failed(Failure::Refused(refusal));
            return cx.notify(Notice { job: job.id, news });
        }
        let (job, tenure) = (Shared::new(job), Tenure::ONLY);
        let keep = custody::Command::Keep {
            job,
            payload,
            tenure,
            until: None,
        };
        self.tell_owners(keep, cx);
    }

    /// Why a job is not taken here, if that can be seen from the job alone.
    fn refusal(&self, job: &Job) -> Option<Refusal> {
        // First: after any other refusal, a host that submits a job again after a crash may submit it elsewhere, too.
        if self.owners.answers_for(job.id) {
            return Some(Refusal::Known);
        }
        if let Some(refusal) = self.duty.refusal() {
            return Some(refusal);
        }
        if let Some(dimension) = self.dimensions().unknown_in(&job.requirement) {
            return Some(Refusal::unknown(dimension));
        }
        if job.deadline.is_some() {
            return Some(Refusal::UnsupportedDeadline);
        }
        if job.criterion != Criterion::Soonest {
            return Some(Refusal::UnsupportedCriterion);
        }
        if job.scope != Scope::Grid {
            return Some(Refusal::UnsupportedScope);
        }
        if matches!(job.demand, Demand::Nodes(count) if count.get() > 1) {
            return Some(Refusal::UnsupportedDemand);
        }
        let needs = self.needs(job);
        let mut named = needs.named();
        let beyond = named.any(|(k, amount)| amount > self.config.most.value(k));
        beyond.then_some(Refusal::TooLarge)
    }

    fn on_message(&mut self, from: NodeId, message: Message<D>, cx: &mut dyn Context<Self>) {
        match message {
            Message::Overlay { message, status } => {
                let is_news = status.is_some_and(|status| self.hear_status(from, status));
                self.overlay(Event::Message { from, message }, cx);
                if is_news {
                    self.on_news(from, cx);
                }
            }
            Message::Owners(message) => self.in_owners(Event::Message { from, message }, cx),
            Message::Runs(message) => {
                if matches!(message, custody::Message::Give { .. }) {
                    self.pull_answered(from);
                }
                self.in_runs(Event::Message { from, message }, cx);
            }
            Message::Errand { number, errand } => {
                if self.is_new_errand(from, number, cx) {
                    match errand {
                        Errand::Route {
                            job,
                            quest,
                            point,
                            hops,
                        } => self.route(job, quest, point, hops, cx),
                        Errand::Hunt { job, quest, trail } => self.hunt(job, quest, trail, cx),
                        Errand::Gather(gather) => self.on_gather(from, gather, cx),
                        // The node asks again.
                        Errand::Enter { .. } if self.would_return_to(from) => {}
                        Errand::Enter { node, stand, hops } => self.enter(node, stand, hops, cx),
                        Errand::Forage {
                            job,
                            quest,
                            trail,
                            way: Way::Rendezvous,
                            ..
                        } if self.would_return_to(from) => {
                            self.conclude_hunt(&job, quest, &trail, cx);
                        }
                        Errand::Forage {
                            job,
                            quest,
                            trail,
                            way,
                            steps,
                        } => self.forage((job, quest, trail), way, steps, cx),
                    }
                }
            }
            Message::Acknowledged(number) => self.on_acknowledged(from, number),
            Message::Search { header, job, quest } => self.on_search(from, header, &job, quest, cx),
            Message::Found {
                job,
                quest,
                candidates,
            } => self.on_found(job, quest, candidates, cx),
            Message::Offer { waiting, move_to } => self.on_offer(from, &waiting, move_to, cx),
            Message::OfferAnswer { job, takes, status } => {
                self.hear_status(from, status);
                self.on_offer_answer(from, job, takes, cx);
            }
            Message::Pull { move_to, status } => self.on_pull(from, move_to, &status, cx),
            Message::PullReject { status } => {
                self.hear_status(from, status);
                self.on_pull_reject(from, cx);
            }
            Message::Inflate {
                node,
                version,
                status,
                point,
                hops,
            } => self.inflate(from, (node, version, status), point, hops, cx),
            Message::Deflate {
                node,
                version,
                point,
                hops,
            } => self.deflate(from, (node, version), point, hops, cx),
            Message::Residue { message, status } => {
                self.on_residue(from, message, status, cx);
            }
            Message::ResidueChanged { status } => self.hear_residue(from, status),
            Message::Members(members) => self.on_members(members, cx),
        }
    }

    fn on_command(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        match *command {
            job::Command::Submit { job, ref payload } => self.submit(job, payload.clone(), cx),
            job::Command::Cancel(job) => self.tell_owners(custody::Command::Cancel(job), cx),
            job::Command::Ended {
                job,
                attempt,
                outcome,
            } => self.on_ended(job, attempt, outcome, cx),
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
                self.tell_runs(survived, cx);
            }
            job::Command::Leave | job::Command::Drain | job::Command::Resume => {
                self.change_duty(command, cx);
            }
            job::Command::Meet(introducer) => {
                self.overlay(Event::Command(can::Command::Join { introducer }), cx);
            }
            // A desktop has no foreign site.
            job::Command::Site(_) => {}
        }
    }

    fn restore(&mut self, key: Key, record: Record, cx: &mut dyn Context<Self>) {
        match (key, record) {
            (Key::Overlay(key), Record::Overlay(record)) => {
                self.overlay(Event::Restored(key, record), cx);
            }
            (Key::Owners(key), Record::Owners(record)) => {
                self.in_owners(Event::Restored(key, record), cx);
            }
            (Key::Runs(key), Record::Runs(record)) => {
                self.in_runs(Event::Restored(key, record), cx);
            }
            (Key::Draining, Record::Draining) => self.duty = Duty::Draining,
            (Key::Residue(key), Record::Residue(record)) => {
                if let Some(space) = &mut self.residue_space {
                    space.restore(key, &record);
                }
            }
            // No such pair was ever written.
            _ => {}
        }
    }

    /// A node that takes no jobs any more gives those that wait here to others.
    fn change_duty(&mut self, command: &job::Command, cx: &mut dyn Context<Self>) {
        let draining = (Key::Draining, Record::Draining);
        if !self.duty.obey(command, draining, cx) {
            return;
        }
        self.touch();
        if !self.duty.takes_jobs() {
            self.give_all_away(cx);
        }
    }

    /// What follows from any event.
    fn finish(&mut self, cx: &mut dyn Context<Self>) {
        self.tell_load(cx);
        self.tell_news(cx);
        self.settle_residue(cx);
        // A leaver leaves the overlay once it answers for no job and has none.
        if self.duty.is_leaving() && self.owners.is_empty() && self.runs.is_empty() {
            self.overlay(Event::Command(can::Command::Leave), cx);
        }
    }
}

impl<const D: usize> Machine for Desktop<D> {
    type Message = Message<D>;
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
            Event::Message { from, message } => self.on_message(from, message, cx),
            Event::Unreachable { to } => {
                self.overlay(Event::Unreachable { to }, cx);
                self.on_residue_unreachable(to, cx);
                self.in_owners(Event::Unreachable { to }, cx);
                self.in_runs(Event::Unreachable { to }, cx);
                self.on_unreachable(to, cx);
            }
            Event::Timer(Timer::Overlay(timer)) => self.overlay(Event::Timer(timer), cx),
            Event::Timer(Timer::Owners(timer)) => self.in_owners(Event::Timer(timer), cx),
            Event::Timer(Timer::Runs(timer)) => self.in_runs(Event::Timer(timer), cx),
            Event::Timer(Timer::Round(round)) => self.on_round(round, cx),
            Event::Timer(Timer::Resend) => self.resend(cx),
            Event::Timer(Timer::Residue(timer)) => self.in_residue_space(Event::Timer(timer), cx),
            Event::Timer(Timer::News) => self.telling.woken(),
            Event::Timer(Timer::Rendezvous) => self.on_rendezvous_timer(cx),
            Event::Command(command) => self.on_command(&command, cx),
        }
        self.finish(cx);
    }

    fn check(&self) -> Result<(), Violation> {
        self.can.check()?;
        self.owners.check()?;
        self.runs.check()?;
        self.queue.check()?;
        if let Some(space) = &self.residue_space {
            space.check()?;
        }
        Violation::unless(
            self.known.is_in_order() && self.known.len() <= can::MOST_NEIGHBOURS,
            "a node knows no more of others than of neighbours, each once",
        )?;
        Violation::unless(
            self.balloons.is_sound() && self.migration.is_sound() && self.relay.is_sound(),
            "a node remembers no more of others than it may",
        )?;
        Violation::unless(
            self.seen.len() <= usize::from(self.config.searches),
            "no more searches are remembered than may be",
        )
    }
}

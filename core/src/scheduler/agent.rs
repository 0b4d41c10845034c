//! The four schedulers with the constants and rules of `gridweave-node`, and how an agent builds a node of each.
//!
//! Agents form one grid only if their nodes are of one type: the room for links, the policy and the dimensions are the
//! same everywhere. A host that takes them from here, in whatever language its programs are, can talk to
//! `gridweave-node`. A host with a grid of its own can build its nodes as it likes, and needs nothing of this.
//!
//! ```
//! use core::num::NonZeroU32;
//! use gridweave_core::admission::Admission;
//! use gridweave_core::id::{NodeId, OrganisationId};
//! use gridweave_core::scheduler::agent::{AsapNode, Distance, Scheduler, Setup, Times};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let setup = Setup {
//!     me: NodeId::new(1),
//!     introducers: None,
//!     organisation: OrganisationId::new(0),
//!     admission: Admission::All,
//!     distance: Distance::Lan,
//!     times: Times::default(),
//!     cores: NonZeroU32::new(8).unwrap(),
//!     memory: 32,
//!     accelerators: 0,
//!     most: [64, 1024, 8],
//!     mirror: None,
//! };
//! let node = AsapNode::build(&setup, &mut rng)?;
//! assert_eq!(node.neighbours(), 0);
//! # Ok::<(), gridweave_core::config::ConfigError>(())
//! ```

use core::num::NonZeroU32;

use crate::admission::{Admission, Attributes, Stated};
use crate::commit::{self, Permission, Selective};
use crate::config::{Bound, ConfigError, Value};
use crate::custody;
use crate::id::{JobId, NodeId, OrganisationId};
use crate::job::{Command, Demand, Job, Notice, Submitter};
use crate::machine::Machine;
use crate::mentions::Mentions;
use crate::overlay::{cyclon, vicinity};
use crate::profile::Profile;
use crate::queue::{Policy as QueuePolicy, SiteQueue};
use crate::resource::{Capability, Dimensions, Kind, Requirement, Speed};
use crate::scheduler::aria::{Aria, Membership, Serves, Site};
use crate::scheduler::asap::Asap;
use crate::scheduler::criteria::{Criteria, OnlyStandard};
use crate::scheduler::desktop::{self, Desktop, Equipment};
use crate::scheduler::{Bootstrap, Introducers, aria, asap, criteria};
use crate::shared::Shared;
use crate::time::Span;
use crate::wire::{Framed, Kind as MessageKind, Stored};
use rand_core::Rng;

/// How far the nodes of a grid are from each other.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// A local network.
    #[default]
    Lan,
    /// A wide-area network.
    Wan,
}

impl Distance {
    fn pick<C>(self, lan: C, wan: C) -> C {
        match self {
            Self::Lan => lan,
            Self::Wan => wan,
        }
    }
}

/// Times of the protocols. Those that are `None` are the network's: `Config::LAN` and `Config::WAN` of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Times {
    /// Jobs start at multiples of this, and get multiples of it.
    pub slot: Option<Span>,
    /// From a search to the start of a job.
    pub lead: Option<Span>,
    /// From the commit of a job to its start.
    pub commit_lead: Option<Span>,
    /// How much longer a job may run than it says.
    pub margin: Option<Span>,
    /// The longest that a job runs on without a word of the node where it was submitted, and the longest until it goes on
    /// elsewhere when its own node is lost.
    pub lease: Option<Span>,
    /// How long a node may be silent before it counts as lost, if that is sooner than the lease says.
    pub silence: Option<Span>,
    /// The largest difference of two clocks.
    pub max_skew: Option<Span>,
    /// How often a waiting job is searched for again; for `aria`, how often a site advertises jobs that wait.
    pub improve: Option<Span>,
    /// For `aria`: by how much sooner a waiting job must be done at another site to move there.
    pub gain: Option<Span>,
}

/// A site of a batch system that the node does not own, such as a partition of Slurm: the node mirrors its queue, see
/// [`aria`](crate::scheduler::aria#foreign-sites).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mirror {
    /// All its processors; [`Setup::cores`] are those of its largest computer.
    pub processors: NonZeroU32,
    /// Whether short jobs may pass the head of its queue.
    pub backfills: bool,
    /// The longest that a job may run there.
    pub longest: Option<Span>,
    /// The most jobs that are mirrored, those of its own users included.
    pub most: usize,
}

/// What a node is built from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its id.
    pub me: NodeId,
    /// Through which nodes it joins; it is the first without any.
    pub introducers: Option<Introducers>,
    /// The organisation of the node itself.
    pub organisation: OrganisationId,
    /// Whose jobs run here.
    pub admission: Admission,
    /// How far the nodes are from each other.
    pub distance: Distance,
    /// Times that differ from those of the network.
    pub times: Times,
    /// Its cores.
    pub cores: NonZeroU32,
    /// Its gigabytes of memory.
    pub memory: u64,
    /// Its accelerators.
    pub accelerators: u64,
    /// The most of these three that any node of the grid has.
    pub most: [u64; 3],
    /// For `aria`: the batch system that the node stands before, if it does not run its jobs itself.
    pub mirror: Option<Mirror>,
}

/// A scheduler that an agent can run.
pub trait Scheduler: Machine<Command = Command, Notice = Notice> + Sized
where
    Self::Message: Framed + Mentions,
    Self::Record: Stored<Key = Self::Key>,
{
    /// Its name in settings and stores.
    const NAME: &'static str;

    /// Builds a node.
    fn build(setup: &Setup, rng: &mut dyn Rng) -> Result<Self, ConfigError>;

    /// For which submitter a message asks for time, if it does. With `aria` and `desktop` none does: jobs go from holder to
    /// holder, also between organisations, and any of them may speak for a job.
    fn asks_for(_: &Self::Message) -> Option<Submitter> {
        None
    }

    /// Whether the node drains, and has nothing left to run.
    fn is_drained(&self) -> bool;

    /// What a user asks for, as this scheduler wants it: whole nodes, or so many cores of one.
    fn demand(nodes: NonZeroU32, _cores: Option<NonZeroU32>) -> Demand {
        Demand::Nodes(nodes)
    }

    /// The cores that each node of a job must have at least.
    fn cores(cores: Option<NonZeroU32>) -> Option<NonZeroU32> {
        cores
    }

    /// How many neighbours it has.
    fn neighbours(&self) -> usize;

    /// Whether a job was submitted here and has no outcome yet.
    fn has(&self, job: JobId) -> bool;

    /// A job that this node has, if its time is not bounded by its place in a schedule.
    fn held(&self, _: JobId) -> Option<Shared<Job>> {
        None
    }

    /// Adds what a job needs.
    fn complete(job: &mut Job, cores: Option<NonZeroU32>, memory: u64, accelerators: u64) {
        job.requirement = requirement(Self::cores(cores), memory, accelerators);
    }

    /// The most bytes of a message.
    fn most_bytes() -> usize {
        MessageKind::largest(Self::Message::KINDS).saturating_add(crate::wire::HEADER)
    }
}

/// `asap` as agents run it.
pub type AsapNode = Asap<20, 8, Selective>;

/// `criteria` as agents run it.
pub type CriteriaNode = Criteria<20, 8, 10, OnlyStandard, Selective>;

/// `aria` as agents run it, in front of a queue of its own.
pub type AriaNode = Aria<SiteQueue>;

/// `desktop` as agents run it: cores, memory, accelerators, and a virtual dimension.
pub type DesktopNode = Desktop<4>;

/// How many renewals in a row a runner may leave unanswered. A permission to run lasts for half a lease and is renewed
/// three times in it. So a runner that was lost is sent the last permission within half a lease, and after a whole one
/// its program has ended, and the job goes on elsewhere.
const RENEWALS: u8 = 2;

/// For how long a node is told the schedule of another one. It asks again three times in it.
const SUBSCRIPTION: Span = Span::from_secs(120);

/// The lease of a grid without one.
const LEASE: Span = Span::from_secs(120);

/// The most jobs that wait in the queue of an `aria` node.
const QUEUE: usize = 1024;

fn bootstrap(setup: &Setup) -> Bootstrap {
    setup.introducers.map_or(Bootstrap::Alone, Bootstrap::Join)
}

fn commit(config: commit::Config, times: &Times) -> commit::Config {
    let lease = match (times.lease, config.permission) {
        (Some(lease), _) | (None, Permission::Renewed(lease)) => lease,
        (None, Permission::UntilEnd) => LEASE,
    };
    let permission = Permission::Renewed(Span::from_micros(lease.as_micros() / 2));
    let once = (config.retry + config.jitter).as_micros();
    let silence = times.silence.map(Span::as_micros);
    let asked = silence.and_then(|silence| silence.checked_div(once));
    let asked = asked.and_then(|asked| u8::try_from(asked).ok());
    commit::Config {
        retries: asked.unwrap_or(RENEWALS).clamp(1, RENEWALS),
        lead: times.commit_lead.unwrap_or(config.lead),
        max_skew: times.max_skew.unwrap_or(config.max_skew),
        permission,
        ..config
    }
}

/// Agents exchange links as seldom as those of a wide-area network, and few: a link that comes costs three messages, and
/// an idle computer should not notice its agent. A lost neighbour is asked in vain for longer, by searches that wait a
/// timeout for it.
fn overlay(config: cyclon::Config) -> cyclon::Config {
    cyclon::Config {
        shuffle: 3,
        period: cyclon::Config::WAN.period,
        remember: cyclon::Config::WAN.remember,
        ..config
    }
}

fn prepares(message: &commit::Message) -> Option<Submitter> {
    match message {
        commit::Message::Prepare { submitter, .. } => Some(*submitter),
        _ => None,
    }
}

impl Scheduler for AsapNode {
    const NAME: &'static str = "asap";

    fn build(setup: &Setup, _: &mut dyn Rng) -> Result<Self, ConfigError> {
        let config = setup.distance.pick(asap::Config::LAN, asap::Config::WAN);
        let times = &setup.times;
        let config = asap::Config {
            overlay: overlay(config.overlay),
            exchange: asap::Exchange::Push {
                lease: SUBSCRIPTION,
            },
            slot: times.slot.unwrap_or(config.slot),
            lead: times.lead.unwrap_or(config.lead),
            margin: times.margin.unwrap_or(config.margin),
            improve: times.improve.or(config.improve),
            commit: commit(config.commit, times),
            ..config
        };
        Self::new(setup.me, config, bootstrap(setup), selective(setup))
    }

    fn asks_for(message: &Self::Message) -> Option<Submitter> {
        match message {
            asap::Message::Commit(message) => prepares(message),
            _ => None,
        }
    }

    fn is_drained(&self) -> bool {
        self.is_drained()
    }

    fn has(&self, job: JobId) -> bool {
        self.jobs().any(|known| known == job)
    }

    fn neighbours(&self) -> usize {
        self.overlay().view().len()
    }
}

impl Scheduler for CriteriaNode {
    const NAME: &'static str = "criteria";

    fn build(setup: &Setup, _: &mut dyn Rng) -> Result<Self, ConfigError> {
        let config = setup
            .distance
            .pick(criteria::Config::LAN, criteria::Config::WAN);
        let times = &setup.times;
        let config = criteria::Config {
            overlay: overlay(config.overlay),
            helper: vicinity::Config {
                period: vicinity::Config::WAN.period,
                ..config.helper
            },
            slot: times.slot.unwrap_or(config.slot),
            lead: times.lead.unwrap_or(config.lead),
            margin: times.margin.unwrap_or(config.margin),
            improve: times.improve.or(config.improve),
            coordinates: criteria::Coordinates::Learned(Default::default()),
            commit: commit(config.commit, times),
            ..config
        };
        let (profile, rules) = (Profile::default(), selective(setup));
        let (me, join) = (setup.me, bootstrap(setup));
        Self::new(me, config, join, profile, OnlyStandard, rules)
    }

    fn asks_for(message: &Self::Message) -> Option<Submitter> {
        match message {
            criteria::Message::Commit(message) => prepares(message),
            _ => None,
        }
    }

    fn is_drained(&self) -> bool {
        self.is_drained()
    }

    fn has(&self, job: JobId) -> bool {
        self.jobs().any(|known| known == job)
    }

    fn neighbours(&self) -> usize {
        self.overlay().view().len()
    }
}

impl Scheduler for AriaNode {
    const NAME: &'static str = "aria";

    fn build(setup: &Setup, _: &mut dyn Rng) -> Result<Self, ConfigError> {
        let config = setup.distance.pick(aria::Config::LAN, aria::Config::WAN);
        let rescheduling = config.rescheduling.map(|rescheduling| aria::Rescheduling {
            period: setup.times.improve.unwrap_or(rescheduling.period),
            threshold: setup.times.gain.unwrap_or(rescheduling.threshold),
            ..rescheduling
        });
        let config = aria::Config {
            rescheduling,
            lease: setup.times.lease.unwrap_or(config.lease),
            max_skew: setup.times.max_skew.unwrap_or(config.max_skew),
            ..config
        };
        let serves = match &setup.admission {
            Admission::All => Serves::AllUsers,
            Admission::Own => Serves::Members,
            Admission::Only(these) => Serves::Only(Shared::new(these.clone())),
            Admission::Except(these) => Serves::Except(Shared::new(these.clone())),
        };
        let queue = |most| SiteQueue::new(QueuePolicy::FirstCome, Speed::BASELINE, most);
        let local = match &setup.mirror {
            None => queue(QUEUE).with_processors(setup.cores).backfilling(),
            Some(mirror) => {
                let seen = queue(mirror.most)
                    .with_processors(mirror.processors)
                    .up_to(mirror.longest.unwrap_or(Span::MAX))
                    .mirroring();
                if mirror.backfills {
                    seen.backfilling()
                } else {
                    seen
                }
            }
        };
        let (dimensions, capability) = equipment(setup);
        let site = Site {
            dimensions,
            capability,
            membership: Membership {
                organisations: [setup.organisation].into_iter().collect(),
                serves,
            },
            local,
        };
        Self::new(setup.me, config, bootstrap(setup), site)
    }

    fn is_drained(&self) -> bool {
        self.is_drained()
    }

    fn has(&self, job: JobId) -> bool {
        self.jobs().any(|known| known == job)
    }

    fn held(&self, job: JobId) -> Option<Shared<Job>> {
        self.job(job)
    }

    fn demand(_: NonZeroU32, cores: Option<NonZeroU32>) -> Demand {
        Demand::Cores(cores.unwrap_or(NonZeroU32::MIN))
    }

    fn neighbours(&self) -> usize {
        self.links().neighbours().len()
    }
}

impl Scheduler for DesktopNode {
    const NAME: &'static str = "desktop";

    fn build(setup: &Setup, mut rng: &mut dyn Rng) -> Result<Self, ConfigError> {
        if setup.admission != Admission::All {
            let (some, all) = (Value::Word("a choice"), Bound::Only(Value::Word("all")));
            let reason = "a desktop runs jobs of all organisations";
            return Err(ConfigError::new("admission", some, all, reason));
        }
        let (dimensions, capability) = equipment(setup);
        let most = dimensions.capability(&setup.most);
        let most = most.unwrap_or_else(|_| Capability::none());
        let config = setup
            .distance
            .pick(desktop::Config::lan(most), desktop::Config::wan(most));
        let lease = setup.times.lease.unwrap_or(config.owners.lease);
        let max_skew = setup.times.max_skew.unwrap_or(config.owners.max_skew);
        let config = desktop::Config {
            owners: custody::Config {
                lease,
                max_skew,
                ..config.owners
            },
            runs: custody::Config {
                lease: Span::from_micros(lease.as_micros() / 2),
                max_skew,
                ..config.runs
            },
            ..config
        };
        let (alone, join) = (desktop::Bootstrap::Alone, desktop::Bootstrap::Join);
        let join = setup.introducers.map_or(alone, join);
        let cores = dimensions.iter().next().map(|(first, ..)| first);
        let equipment = Equipment {
            cores: cores.unwrap_or_else(|| unreachable!("there are three dimensions")),
            dimensions,
            capability,
            speed: Speed::BASELINE,
        };
        Self::new(setup.me, config, join, equipment, &mut rng)
    }

    fn is_drained(&self) -> bool {
        self.is_drained()
    }

    fn has(&self, job: JobId) -> bool {
        self.jobs().any(|known| known == job)
    }

    fn held(&self, job: JobId) -> Option<Shared<Job>> {
        self.job(job)
    }

    fn demand(_: NonZeroU32, _: Option<NonZeroU32>) -> Demand {
        Demand::Nodes(NonZeroU32::MIN)
    }

    fn cores(cores: Option<NonZeroU32>) -> Option<NonZeroU32> {
        cores.or(Some(NonZeroU32::MIN))
    }

    fn neighbours(&self) -> usize {
        self.can().neighbours().count()
    }
}

/// What a node has, and whose jobs it runs, as it tells its peers.
fn selective(setup: &Setup) -> Selective {
    let (dimensions, capability) = equipment(setup);
    let stated = Stated::new(Attributes {
        organisation: setup.organisation,
        admission: setup.admission.clone(),
        capability,
    });
    let dimensions = Shared::new(dimensions);
    Selective { dimensions, stated }
}

/// The dimensions of every grid of agents: cores, gigabytes of memory, accelerators.
fn dimensions() -> Dimensions {
    let three = [
        ("cores", Kind::Amount),
        ("memory", Kind::Amount),
        ("accelerators", Kind::Amount),
    ];
    Dimensions::new(&three).unwrap_or_else(|_| unreachable!("three names that differ"))
}

fn equipment(setup: &Setup) -> (Dimensions, Capability) {
    let dimensions = dimensions();
    let cores = u64::from(setup.cores.get());
    let has = [cores, setup.memory, setup.accelerators];
    let capability = dimensions.capability(&has);
    let capability = capability.unwrap_or_else(|_| Capability::none());
    (dimensions, capability)
}

fn requirement(cores: Option<NonZeroU32>, memory: u64, accelerators: u64) -> Requirement {
    let cores = cores.map_or(0, |cores| u64::from(cores.get()));
    let needs = [cores, memory, accelerators];
    let named = dimensions();
    let needed = named.iter().zip(needs).filter(|(_, needed)| *needed > 0);
    needed.fold(Requirement::any(), |all, ((dimension, ..), needed)| {
        all.with(dimension, needed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Organisations;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;
    use std::string::ToString;

    fn setup(admission: Admission) -> Setup {
        Setup {
            me: NodeId::new(1),
            introducers: None,
            organisation: OrganisationId::new(5),
            admission,
            distance: Distance::Lan,
            times: Times::default(),
            cores: NonZeroU32::MIN,
            memory: 1,
            accelerators: 0,
            most: [1; 3],
            mirror: None,
        }
    }

    #[test]
    fn every_scheduler_keeps_to_an_admission_or_refuses_it() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let seven = Organisations::new([OrganisationId::new(7)]).unwrap();
        let others = [
            (Admission::Own, Serves::Members),
            (
                Admission::Only(seven.clone()),
                Serves::Only(Shared::new(seven.clone())),
            ),
            (
                Admission::Except(seven.clone()),
                Serves::Except(Shared::new(seven)),
            ),
        ];
        let all = setup(Admission::All);
        let site = AriaNode::build(&all, &mut rng).unwrap();
        assert_eq!(site.site().membership.serves, Serves::AllUsers);
        assert!(DesktopNode::build(&all, &mut rng).is_ok());
        for (admission, serves) in others {
            let setup = setup(admission);
            let site = AriaNode::build(&setup, &mut rng).unwrap();
            let membership = &site.site().membership;
            assert_eq!(membership.serves, serves);
            // A site is no member of the organisations that it serves.
            assert_eq!(membership.organisations.as_slice(), [setup.organisation]);
            let error = DesktopNode::build(&setup, &mut rng).unwrap_err();
            assert_eq!(
                error.to_string(),
                "admission is a choice; only all, a desktop runs jobs of all organisations"
            );
        }
    }
}

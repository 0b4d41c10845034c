//! P2: On the Feasibility of Decentralized Grid Scheduling.
//!
//! The paper's figure follows one job on a grid whose nodes have the coordinates of real ones. It shows the cost of the
//! job's nodes after each iteration, beside that of a centralised reference that knows all nodes. Here this is an
//! emulation, as the paper calls it, on a network without delay. The same is done for two criteria that the paper only
//! mentions. Other parts measure the cost of helper overlays, how well coordinates can be learned, and whether a helper
//! overlay of first free windows helps jobs that want the earliest start.

mod busy;
mod emulation;
mod fig1;
mod latency;
mod policies;
mod reference;
mod replacement;
mod soonest;
mod spread;
mod traffic;
pub(crate) mod vivaldi;
mod windows;

use crate::config::network::{read_plane, read_round_trips};
use std::sync::Arc;

use gridweave_core::id::NodeId;
use gridweave_core::profile::Profile;
use gridweave_core::rng::Choose;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::conditions::{Conditioned, Contender, condition};
use super::{Cell, Options, Paper, Rules, Size, generated, p1};
use crate::config::Config;
use crate::experiment::InputError;
use crate::schedulers::Scheduler;
use crate::schedulers::criteria::CriteriaConfig;
use crate::schedulers::criteria::profile;
use gridweave_sim::network::{Plane, RoundTrips};

/// The paper.
pub(crate) const PAPER: Paper<Setup> = Paper {
    key: "p2",
    title: "On the Feasibility of Decentralized Grid Scheduling",
    about: include_str!("about.md"),
    facts: |setup| generated(setup.size),
    parts: &[
        fig1::FIG1,
        busy::BUSY,
        soonest::SOONEST,
        spread::SPREAD,
        traffic::TRAFFIC,
        latency::LATENCY,
        windows::WINDOWS,
        replacement::REPLACEMENT,
        policies::POLICIES,
        condition::<Setup, 0>(),
        condition::<Setup, 1>(),
        condition::<Setup, 2>(),
        condition::<Setup, 3>(),
    ],
};

/// The setup that all parts share.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// How large the simulations are.
    pub size: Size,
    /// The points of nodes from a file, if one was given.
    points: Option<Plane>,
    round_trips: Option<Arc<RoundTrips>>,
    /// The configuration that runs of a trace begin with.
    pub base: Config,
}

/// A grid and a job: the number of nodes of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Setting {
    nodes: u32,
    job: u32,
}

impl Setting {
    /// The first cells of its row.
    fn cells(self) -> Vec<Cell> {
        vec![u64::from(self.nodes).into(), u64::from(self.job).into()]
    }
}

impl Conditioned for Setup {
    const CONTENDERS: &'static [Contender] = &[Contender(
        "criteria, the earliest start, by default",
        "criteria",
        Rules::Ours,
        |config| config.scheduler = Scheduler::Criteria,
    )];

    fn size(&self) -> Size {
        self.size
    }

    fn seed(&self) -> u64 {
        self.base.seed
    }
}

impl Setup {
    /// Reads the files that these options name.
    pub(crate) fn new(options: &Options) -> Result<Self, InputError> {
        let points = options.coordinates.as_deref().map(read_plane);
        let round_trips = options.round_trips.as_deref().map(read_round_trips);
        Ok(Self {
            size: options.size,
            points: points.transpose()?,
            round_trips: round_trips.transpose()?.map(Arc::new),
            base: p1::Setup::new(options)?.base,
        })
    }

    /// The grids and jobs of the paper, or small ones.
    fn settings(&self) -> [Setting; 4] {
        let sizes = match self.size {
            Size::Full => [(800, 64), (800, 128), (10_000, 64), (10_000, 128)],
            Size::Quick => [(150, 8), (150, 16), (400, 8), (400, 16)],
        };
        sizes.map(|(nodes, job)| Setting { nodes, job })
    }

    /// The profiles of so many nodes, at points drawn from the file or generated. If there are more nodes than points,
    /// some points are used twice.
    fn profiles(&self, nodes: u32, seed: u64) -> Result<Vec<Profile>, InputError> {
        let Some(points) = &self.points else {
            let sites = CriteriaConfig::default().places;
            let made_up = sites.points(nodes, seed)?;
            return Ok((0..nodes)
                .map(|node| profile(made_up.point(node)))
                .collect());
        };
        let mut drawn: Vec<u32> = (0..u32::try_from(points.len()).unwrap_or(u32::MAX)).collect();
        Xoshiro256PlusPlus::seed_from_u64(seed).shuffle(&mut drawn);
        let drawn = drawn.iter().cycle().take(nodes as usize);
        Ok(drawn.map(|&point| profile(points.point(point))).collect())
    }

    /// A warning if the figures cannot be compared with the paper.
    fn caveat(&self) -> Option<&'static str> {
        (self.size == Size::Quick).then_some(
            "quick: small grids and jobs, so that only the form of this table means anything",
        )
    }

    /// A note on where the points come from.
    fn whereabouts(&self) -> String {
        match &self.points {
            Some(points) => format!(
                "nodes are at points drawn from the {} of the file, others for each seed",
                points.len()
            ),
            None => {
                "nodes are around 50 sites that are made up; --coordinates takes real points".into()
            }
        }
    }
}

/// The id of the node with this index.
fn id(node: u32) -> NodeId {
    NodeId::new(u64::from(node))
}

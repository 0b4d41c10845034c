//! P2: On the Feasibility of Decentralized Grid Scheduling.
//!
//! The paper's figure follows one job on a grid whose nodes have the coordinates of real ones: what its nodes cost after each
//! iteration, beside what someone who knows all nodes would find. Here this is an emulation, as the paper calls it, on
//! a network without delay. The same is done for two criteria that the paper only mentions. Other parts measure what the helper
//! overlays cost, how well coordinates can be learned, and whether a helper overlay of first free windows is of any use to jobs
//! that just want to start.

mod emulation;
mod fig1;
mod latency;
mod reference;
mod soonest;
mod spread;
mod traffic;
pub mod vivaldi;
mod windows;

use crate::config::network::{read_plane, read_round_trips};
use std::path::PathBuf;
use std::sync::Arc;

use gridweave_core::id::NodeId;
use gridweave_core::profile::Profile;
use gridweave_core::rng::Choose;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Making, Paper, Part, Size, p1};
use crate::config::Config;
use crate::experiment::InputError;
use crate::schedulers::criteria::CriteriaConfig;
use crate::schedulers::criteria::profile;
use gridweave_sim::network::{Plane, RoundTrips};

/// The paper.
pub const PAPER: Paper<Setup> = Paper {
    key: "p2",
    title: "On the Feasibility of Decentralized Grid Scheduling",
    parts: &[
        Part {
            name: "fig1",
            title: fig1::TITLE,
            making: Making::Study {
                cases: emulation::cases,
                measure: fig1::measure,
                report: fig1::report,
            },
        },
        Part {
            name: "soonest",
            title: soonest::TITLE,
            making: Making::Study {
                cases: soonest::cases,
                measure: soonest::measure,
                report: soonest::report,
            },
        },
        Part {
            name: "spread",
            title: spread::TITLE,
            making: Making::Study {
                cases: emulation::cases,
                measure: spread::measure,
                report: spread::report,
            },
        },
        Part {
            name: "traffic",
            title: traffic::TITLE,
            making: Making::Study {
                cases: traffic::cases,
                measure: traffic::measure,
                report: traffic::report,
            },
        },
        Part {
            name: "latency",
            title: latency::TITLE,
            making: Making::Study {
                cases: latency::cases,
                measure: latency::measure,
                report: latency::report,
            },
        },
        Part {
            name: "windows",
            title: windows::TITLE,
            making: Making::Runs {
                plan: windows::plan,
                report: windows::report,
            },
        },
    ],
};

/// What a user may choose.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// How much is simulated.
    pub size: Size,
    /// Points in the plane for nodes; sites that are made up, if left out.
    pub coordinates: Option<PathBuf>,
    /// Measured round trips from which coordinates are learned; those between the points, if left out.
    pub round_trips: Option<PathBuf>,
    /// The trace on which helpers are measured against `asap`; the generator that fits P1's, if left out.
    pub trace: Option<PathBuf>,
    /// How many nodes replay the trace; P1's 5000, or what the trace says, if left out.
    pub nodes: Option<u32>,
    /// The first seed.
    pub seed: u64,
}

/// What all parts have in common.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How much is simulated.
    pub size: Size,
    /// What is known of the points of nodes.
    points: Option<Plane>,
    round_trips: Option<Arc<RoundTrips>>,
    /// What runs on the trace begin with.
    pub base: Config,
}

/// A grid and a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Setting {
    nodes: u32,
    job: u32,
}

impl Setup {
    /// Looks at the files that these options name.
    pub fn new(options: &Options) -> Result<Self, InputError> {
        let points = match &options.coordinates {
            Some(file) => Some(read_plane(file)?),
            None => None,
        };
        let round_trips = match &options.round_trips {
            Some(file) => Some(Arc::new(read_round_trips(file)?)),
            None => None,
        };
        let base = p1::Setup::new(&p1::Options {
            size: options.size,
            trace: options.trace.clone(),
            nodes: options.nodes,
            seed: options.seed,
        })?
        .base;
        Ok(Self {
            size: options.size,
            points,
            round_trips,
            base,
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

    /// Where so many nodes are under a seed: at points drawn from the file, or made up. A grid with more nodes than there are
    /// points uses some twice.
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

    /// Says so if figures are not worth a comparison.
    fn caveat(&self) -> Option<String> {
        (self.size == Size::Quick).then(|| {
            "quick: small grids and jobs, so that only the form of this table means anything"
                .to_owned()
        })
    }

    /// Says where nodes are.
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

/// The node of this number.
fn id(node: u32) -> NodeId {
    NodeId::new(u64::from(node))
}

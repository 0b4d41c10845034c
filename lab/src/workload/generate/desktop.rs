//! P4, section V.A: desktop computers with several cores, and jobs that may say what they require.

use core::num::NonZeroU32;

use gridweave_core::resource::{
    Capability, Dimension, DimensionError, Dimensions, Kind, Requirement, Speed,
};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use rand_distr::{Distribution, Exp1};

use super::draw::{self, LONGEST, Stream};
use super::{GenerateError, Infeasible, require, require_count, require_mixed};
use crate::config::setting::{section, words};
use crate::grid::{Grid, Mixed, Profile};
use crate::workload::{Submission, Workload};

/// The percentage of nodes or jobs at each level, from the lowest. P4 gives no numbers; with these, the default
/// workload requests about four fifths of what the cores can do, depending on the seed.
const SKEW: [(u64, u32); LEVELS] = [(0, 40), (1, 30), (2, 20), (3, 10)];
const LEVELS: usize = 4;

/// Speeds, in thousandths of the canonical node's.
const SPEEDS: [u64; LEVELS] = [500, 1000, 1500, 2000];
/// Memory, in gigabytes.
const MEMORIES: [u64; LEVELS] = [1, 2, 4, 8];
/// Disk, in gigabytes.
const DISKS: [u64; LEVELS] = [50, 100, 200, 400];
/// Cores, as in P4.
const CORES: [u64; LEVELS] = [1, 2, 4, 8];

section! {
    /// The parameters of P4's workloads.
    ///
    /// Nodes have the level `speed`, in thousandths, and the amounts `memory`, `disk` and `cores`. A job that does not
    /// say how many cores it requires takes one; of other resources it then takes nothing. Run times are those on a
    /// node of speed 1. Jobs do not tell them to schedulers (PROTOCOLS L18), so there are no requested times.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Desktop {
        /// How many nodes there are.
        pub nodes: u32 = 1000,
        /// How many jobs are submitted.
        pub jobs: u32 = 5000,
        /// How nodes differ.
        pub node_variety: Variety = Variety::Clustered,
        /// How jobs differ.
        pub job_variety: Variety = Variety::Clustered,
        /// How many kinds of nodes, and of jobs, there are if clustered. P4 says "a small number".
        pub clusters: u32 = 20,
        /// The probability that a job states a requirement, for each resource; P4 varies it from 0.2 to 0.8.
        pub constraint_ratio: f64 = 0.5,
        /// The mean of the exponentially distributed time between submissions (PROTOCOLS L14).
        pub mean_gap: Span = Span::from_secs(3),
        /// The mean run time; run times are uniform from half of it to one and a half.
        pub mean_run_time: Span = Span::from_secs(3600),
        /// What happens to jobs that no node can run.
        pub infeasible: Infeasible = Infeasible::Redraw,
        /// The load if a job came every two seconds, as a part of what all cores can do; all nodes are as much faster
        /// or slower as makes it so. Kinds of jobs are drawn until the nodes that can run a kind are not busier than all
        /// others. If left out, load and kinds are what they happen to be.
        pub load: Option<f64> = None,
    }
}

words! {
    /// How nodes, or jobs, differ.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Variety {
        /// There are few kinds, with many of each.
        #[default]
        Clustered = "clustered",
        /// Each has its own values.
        Mixed = "mixed",
    }
}

/// The dimensions by name, so that no index is written twice.
struct Places {
    dimensions: Dimensions,
    speed: Dimension,
    memory: Dimension,
    disk: Dimension,
    cores: Dimension,
}

impl Places {
    fn new() -> Result<Self, DimensionError> {
        let dimensions = Dimensions::new(&[
            ("speed", Kind::Level),
            ("memory", Kind::Amount),
            ("disk", Kind::Amount),
            ("cores", Kind::Amount),
        ])?;
        let named = |name| dimensions.named(name).ok_or(DimensionError::BadName);
        Ok(Self {
            speed: named("speed")?,
            memory: named("memory")?,
            disk: named("disk")?,
            cores: named("cores")?,
            dimensions,
        })
    }
}

/// The value of each resource, for a node or a job.
#[derive(Clone, Copy)]
struct Values {
    speed: u64,
    memory: u64,
    disk: u64,
    cores: u64,
}

impl Values {
    fn draw(rng: &mut Stream) -> Self {
        Self {
            speed: at_level(&SPEEDS, draw::weighted(rng, &SKEW)),
            memory: at_level(&MEMORIES, draw::weighted(rng, &SKEW)),
            disk: at_level(&DISKS, draw::weighted(rng, &SKEW)),
            cores: at_level(&CORES, draw::weighted(rng, &SKEW)),
        }
    }

    fn profile(self, places: &Places) -> Profile {
        let millionths = u32::try_from(self.speed.saturating_mul(1000)).ok();
        let millionths = millionths.and_then(NonZeroU32::new);
        Profile {
            capability: Capability::none()
                .with(places.speed, self.speed)
                .with(places.memory, self.memory)
                .with(places.disk, self.disk)
                .with(places.cores, self.cores),
            speed: millionths.map_or(Speed::BASELINE, Speed::from_millionths),
        }
    }
}

fn at_level(values: &[u64; LEVELS], level: u64) -> u64 {
    let index = usize::try_from(level).unwrap_or(LEVELS);
    values.get(index).copied().unwrap_or_default()
}

/// How nodes or jobs are drawn: each anew, or from a few kinds.
enum Source {
    Each,
    Kinds(Vec<Values>),
}

impl Source {
    fn new(variety: Variety, clusters: u32, rng: &mut Stream) -> Self {
        match variety {
            Variety::Mixed => Self::Each,
            Variety::Clustered => Self::Kinds(deal(clusters, rng)),
        }
    }

    fn draw(&self, rng: &mut Stream) -> Values {
        match self {
            Self::Each => Values::draw(rng),
            Self::Kinds(kinds) => {
                let picked = rng.pick(kinds).copied();
                picked.unwrap_or_else(|| Values::draw(rng))
            }
        }
    }
}

/// Draws so many kinds. Each resource is dealt to them in the proportions of the skew, in a random order: with so few
/// independent draws, the capacity of grids would differ far more between seeds.
fn deal(clusters: u32, rng: &mut Stream) -> Vec<Values> {
    let mut hand = |values| {
        let mut hand: Vec<u64> = (0..clusters)
            .map(|position| at_level(values, quantile(position, clusters)))
            .collect();
        rng.shuffle(&mut hand);
        hand.into_iter()
    };
    let (speeds, memories) = (hand(&SPEEDS), hand(&MEMORIES));
    let (disks, cores) = (hand(&DISKS), hand(&CORES));
    let hands = speeds.zip(memories).zip(disks).zip(cores);
    hands
        .map(|(((speed, memory), disk), cores)| Values {
            speed,
            memory,
            disk,
            cores,
        })
        .collect()
}

/// The level of a position: the middle of its part of the skewed distribution.
fn quantile(position: u32, count: u32) -> u64 {
    let middle = (2 * u64::from(position) + 1) * 100;
    let mut below = 0;
    for (level, percent) in SKEW {
        below += u64::from(percent);
        if middle < 2 * u64::from(count) * below {
            return level;
        }
    }
    LEVELS as u64 - 1
}

/// How much busier than all nodes those may be that can run certain jobs, and how often kinds are drawn for that.
const TIGHT: f64 = 1.03;
const MOST_DRAWS: u32 = 400;

/// The kinds of nodes, each with the work that its cores do in a second.
struct NodeKinds<'a> {
    dimensions: &'a Dimensions,
    kinds: Vec<(Capability, f64)>,
    all: f64,
}

impl<'a> NodeKinds<'a> {
    fn of(nodes: &[Profile], places: &'a Places) -> Self {
        let mut kinds: Vec<(Capability, f64)> = Vec::new();
        for node in nodes {
            let work = node.work_rate(places.cores);
            match kinds
                .iter_mut()
                .find(|(known, _)| *known == node.capability)
            {
                Some((_, all)) => *all += work,
                None => kinds.push((node.capability, work)),
            }
        }
        let all = kinds.iter().map(|(_, work)| work).sum();
        Self {
            dimensions: &places.dimensions,
            kinds,
            all,
        }
    }

    /// How much busier than all nodes those are that can run certain jobs, at most: for each requirement, the share of
    /// the work that requires as much or more, divided by the share of the nodes that meet it.
    fn tightness(&self, source: &Source, ratio: f64, places: &Places) -> f64 {
        let Source::Kinds(kinds) = source else {
            return 0.0;
        };
        let mut jobs: Vec<([u64; 4], f64)> = Vec::new();
        let mut total = 0.0;
        for kind in kinds {
            let values = [kind.speed, kind.memory, kind.disk, kind.cores];
            // Each resource is named or not, independently; what is not named is zero, but one core.
            for named in 0..16_u32 {
                let is_named = |place: usize| named >> place & 1 == 1;
                let required = |place: usize| match (is_named(place), place) {
                    (true, _) => values[place],
                    (false, 3) => 1,
                    (false, _) => 0,
                };
                let required = [0, 1, 2, 3].map(required);
                if self.able(required, places) > 0.0 {
                    let count = named.count_ones() as i32;
                    let chance = ratio.powi(count) * (1.0 - ratio).powi(4 - count);
                    let work = chance * required[3] as f64;
                    total += work;
                    jobs.push((required, work));
                }
            }
        }
        let at_least = |one: [u64; 4], other: [u64; 4]| (0..4).all(|at| one[at] >= other[at]);
        let tight = jobs
            .iter()
            .filter(|(_, work)| *work > 0.0)
            .map(|(least, _)| {
                let work: f64 = jobs
                    .iter()
                    .filter(|(required, _)| at_least(*required, *least))
                    .map(|(_, work)| work)
                    .sum();
                (work / total) / (self.able(*least, places) / self.all)
            });
        tight.fold(0.0, f64::max)
    }

    /// The work in a second of all nodes that meet a requirement.
    fn able(&self, [speed, memory, disk, cores]: [u64; 4], places: &Places) -> f64 {
        let requirement = Requirement::any()
            .with(places.speed, speed)
            .with(places.memory, memory)
            .with(places.disk, disk)
            .with(places.cores, cores);
        let able = self
            .kinds
            .iter()
            .filter(|(capability, _)| self.dimensions.matches(capability, &requirement));
        able.map(|(_, work)| work).sum()
    }
}

/// The time between jobs for which [`Desktop::load`] holds.
const LOADED_GAP: Span = Span::from_secs(2);

/// Makes all nodes as much faster or slower as gives this load with a job every two seconds. What jobs require of nodes
/// stays as it is.
fn fit(nodes: &mut [Profile], workload: &Workload, load: f64, cores: Dimension) {
    let work: f64 = workload
        .jobs
        .iter()
        .zip(&workload.requirements)
        .map(|(job, required)| {
            let taken = required.value(cores).unwrap_or(1) as f64;
            taken * draw::seconds(job.run_time)
        })
        .sum();
    let offered = work / workload.jobs.len().max(1) as f64 / draw::seconds(LOADED_GAP);
    let room: f64 = nodes.iter().map(|node| node.work_rate(cores)).sum();
    let factor = offered / (load * room);
    for node in nodes {
        let speed = f64::from(node.speed.as_millionths().get());
        let millionths = (speed * factor).round() as u32;
        if let Some(millionths) = NonZeroU32::new(millionths) {
            node.speed = Speed::from_millionths(millionths);
        }
    }
}

impl Desktop {
    /// Generates the jobs and the grid for this seed.
    pub fn generate(&self, seed: u64) -> Result<(Workload, Grid), GenerateError> {
        self.check()?;
        let places = Places::new().expect("four dimensions with different names are dimensions");
        let (mut node_stream, mut job_stream) = draw::streams(seed);
        let mut nodes = self.draw_nodes(&places, &mut node_stream);
        let workload = self.draw_jobs(&places, &nodes, &mut job_stream)?;
        if let Some(load) = self.load {
            fit(&mut nodes, &workload, load, places.cores);
        }
        let grid = Grid::Mixed(Mixed {
            dimensions: places.dimensions,
            nodes,
        });
        Ok((workload, grid))
    }

    fn check(&self) -> Result<(), GenerateError> {
        require_mixed(self.nodes, "nodes")?;
        require_count(self.jobs, "jobs")?;
        require_count(self.clusters, "clusters")?;
        let ratio = (0.0..=1.0).contains(&self.constraint_ratio);
        require(ratio, "constraint_ratio", "from 0 to 1")?;
        let load = self.load.is_none_or(|load| (0.01..=100.0).contains(&load));
        require(load, "load", "from 0.01 to 100")?;
        let run_time = Span::from_millis(2)..=LONGEST;
        require(
            run_time.contains(&self.mean_run_time),
            "mean_run_time",
            "from 2 milliseconds to 49 days",
        )?;
        require(self.mean_gap <= LONGEST, "mean_gap", "at most 49 days")
    }

    fn draw_nodes(&self, places: &Places, rng: &mut Stream) -> Vec<Profile> {
        let source = Source::new(self.node_variety, self.clusters, rng);
        let nodes = 0..self.nodes;
        nodes.map(|_| source.draw(rng).profile(places)).collect()
    }

    fn draw_jobs(
        &self,
        places: &Places,
        nodes: &[Profile],
        rng: &mut Stream,
    ) -> Result<Workload, GenerateError> {
        let source = self.draw_kinds(places, nodes, rng);
        let mut workload = Workload {
            name: "desktop".to_owned(),
            ..Workload::default()
        };
        let shortest = Span::from_micros(self.mean_run_time.as_micros() / 2);
        let mut at = Time::ZERO;
        for number in 1..=u64::from(self.jobs) {
            let requirement = self
                .infeasible
                .redraw(number, &places.dimensions, nodes, || {
                    self.constrain(places, source.draw(rng), rng)
                })?;
            workload.requirements.push(requirement);
            let run_time = draw::uniform(rng, shortest, shortest + self.mean_run_time);
            workload.jobs.push(Submission::new(number, at, run_time, 1));
            let gaps: f64 = Exp1.sample(rng);
            at += draw::rounded(gaps * draw::seconds(self.mean_gap));
        }
        Ok(workload)
    }

    /// The kinds of jobs. Those that need a certain load are drawn until no set of jobs is offered less than its share
    /// of the nodes; after so many draws the best is taken.
    fn draw_kinds(&self, places: &Places, nodes: &[Profile], rng: &mut Stream) -> Source {
        let mut best = Source::new(self.job_variety, self.clusters, rng);
        if self.load.is_none() {
            return best;
        }
        let kinds = NodeKinds::of(nodes, places);
        let mut least = kinds.tightness(&best, self.constraint_ratio, places);
        for _ in 0..MOST_DRAWS {
            if least <= TIGHT {
                break;
            }
            let source = Source::new(self.job_variety, self.clusters, rng);
            let tightness = kinds.tightness(&source, self.constraint_ratio, places);
            if tightness < least {
                (best, least) = (source, tightness);
            }
        }
        best
    }

    /// Decides for each resource, independently, whether the job states a requirement.
    fn constrain(&self, places: &Places, values: Values, rng: &mut Stream) -> Requirement {
        let resources = [
            (places.speed, values.speed),
            (places.memory, values.memory),
            (places.disk, values.disk),
            (places.cores, values.cores),
        ];
        let one_core = Requirement::any().with(places.cores, 1);
        resources
            .into_iter()
            .fold(one_core, |requirement, (dimension, value)| {
                if draw::happens(rng, self.constraint_ratio) {
                    requirement.with(dimension, value)
                } else {
                    requirement
                }
            })
    }
}

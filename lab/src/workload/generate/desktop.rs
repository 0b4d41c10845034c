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
/// Cores of nodes, as in P4.
const CORES: [u64; LEVELS] = [1, 2, 4, 8];
/// Cores of jobs in a steady workload. Jobs that need eight cores, or many that need four, starve under a scan of the
/// whole queue: a node never has so many free at once while smaller jobs take each, so waits would grow for as long as
/// jobs come.
const FEW_CORES: [u64; LEVELS] = [1, 1, 2, 4];

section! {
    /// The parameters of P4's workloads.
    ///
    /// Nodes have the level `speed`, in thousandths, and the amounts `memory`, `disk` and `cores`. A job that does not
    /// say how many cores it requires takes one; of other resources it then takes nothing. Run times are those on a
    /// node of speed 1. Jobs do not tell them to schedulers (PROTOCOLS L18), so there are no requested times.
    ///
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Desktop {
        /// How many nodes there are.
        pub nodes: u32 = 1000,
        /// How many jobs are submitted.
        pub jobs: u32 = 25_000,
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
        /// How jobs are drawn.
        pub draw: Drawing = Drawing::Steady,
        /// In a steady workload: the load if a job came every two seconds, as a part of what all cores can do. All nodes
        /// are as much faster or slower as makes it so.
        pub load: f64 = 0.925,
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

words! {
    /// How jobs are drawn.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Drawing {
        /// So that waits are the same at all times. There are equally many nodes of each kind, and kinds of jobs swap
        /// resources until the nodes that can run a kind are not busier than all others, in cores, memory or disk. Nodes
        /// have twice the memory and disk of their level. Jobs need at most four cores; any speed will do for those that
        /// need more than one. Each hundred jobs have the same mixture of kinds and of run times, and the first 2,500
        /// jobs come again and again, with the same gaps.
        #[default]
        Steady = "steady",
        /// Each by itself. Load and kinds are what they happen to be.
        Independent = "independent",
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

    /// The requirement of a job of this kind.
    fn requirement(&self, [speed, memory, disk, cores]: Required) -> Requirement {
        let resources = [
            (self.speed, speed),
            (self.memory, memory),
            (self.disk, disk),
            (self.cores, cores),
        ];
        let named = resources.into_iter().filter(|(_, value)| *value > 0);
        named.fold(Requirement::any(), |requirement, (dimension, value)| {
            requirement.with(dimension, value)
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

    /// A job of two or four cores in a steady workload runs on nodes of any speed: a scan of the whole queue keeps the
    /// fast ones full of smaller jobs.
    fn anywhere_if_wide(self) -> Self {
        match self.cores {
            0 | 1 => self,
            _ => Self {
                speed: SPEEDS[0],
                ..self
            },
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
            Variety::Clustered => Self::Kinds(deal(clusters, &CORES, rng)),
        }
    }

    /// Kinds of jobs for a steady workload.
    fn of_narrow_jobs(variety: Variety, clusters: u32, rng: &mut Stream) -> Self {
        match variety {
            Variety::Mixed => Self::Each,
            Variety::Clustered => Self::Kinds(deal(clusters, &FEW_CORES, rng)),
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
fn deal(clusters: u32, cores: &[u64; LEVELS], rng: &mut Stream) -> Vec<Values> {
    let mut hand = |values| {
        let mut hand: Vec<u64> = (0..clusters)
            .map(|position| at_level(values, quantile(position, clusters)))
            .collect();
        rng.shuffle(&mut hand);
        hand.into_iter()
    };
    let (speeds, memories) = (hand(&SPEEDS), hand(&MEMORIES));
    let (disks, cores) = (hand(&DISKS), hand(cores));
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

/// How much busier than all nodes those may be that can run certain jobs, and how many swaps are tried for that.
const TIGHT: f64 = 1.001;
const MOST_SWAPS: u32 = 2000;

/// The part of a node that jobs can use if they do not fit together without rest: jobs of several cores, and jobs that
/// need memory or disk.
const USABLE: f64 = 0.8;

/// How many jobs in a row have the same mixture of kinds and of run times.
const BLOCK: usize = 100;

/// After how many jobs the same jobs come again.
pub(crate) const CYCLE: usize = 2500;

/// What a kind of job requires: speed, memory, disk and cores. Zero is not named.
type Required = [u64; 4];

/// A job, and the time until the next.
struct Drawn {
    requirement: Requirement,
    run_time: Span,
    gap: Span,
}

/// What jobs can require, each with its part of all jobs.
struct JobKinds(Vec<(Required, f64)>);

impl JobKinds {
    /// Each resource of a kind is named or not, independently. What no node can run is left out, unless it is kept.
    fn of(kinds: &[Values], ratio: f64, nodes: &NodeKinds, infeasible: Infeasible) -> Self {
        let mut all: Vec<(Required, f64)> = Vec::new();
        for kind in kinds {
            let kind = kind.anywhere_if_wide();
            let values = [kind.speed, kind.memory, kind.disk, kind.cores];
            for named in 0..16_u32 {
                let required = |place: usize| match (named >> place & 1 == 1, place) {
                    (true, _) => values[place],
                    // A job that does not name cores takes one.
                    (false, 3) => 1,
                    (false, _) => 0,
                };
                let required = [0, 1, 2, 3].map(required);
                if infeasible == Infeasible::Keep || nodes.able(required).next().is_some() {
                    let count = named.count_ones() as i32;
                    all.push((required, ratio.powi(count) * (1.0 - ratio).powi(4 - count)));
                }
            }
        }
        all.sort_by_key(|kind| kind.0);
        all.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let total: f64 = all.iter().map(|(_, part)| part).sum();
        for (_, part) in &mut all {
            *part /= total;
        }
        Self(all)
    }

    /// So many jobs in the proportions of their kinds, in a random order.
    fn block(&self, rng: &mut Stream) -> Vec<Required> {
        let first = f64::from(draw::millionths(rng)) / 1e6;
        let mut jobs = Vec::with_capacity(BLOCK);
        let mut below = 0.0;
        for (required, part) in &self.0 {
            below += part * BLOCK as f64;
            while jobs.len() < BLOCK && jobs.len() as f64 + first < below {
                jobs.push(*required);
            }
        }
        // Rounding may leave out the last.
        if let Some((last, _)) = self.0.last() {
            jobs.resize(BLOCK, *last);
        }
        rng.shuffle(&mut jobs);
        jobs
    }
}

/// The kinds of nodes, each with how fast all its nodes are together.
struct NodeKinds {
    kinds: Vec<(Required, f64)>,
}

impl NodeKinds {
    fn of(nodes: &[Profile], places: &Places) -> Self {
        let mut kinds: Vec<(Required, f64)> = Vec::new();
        for node in nodes {
            let value = |place| node.capability.value(place);
            let has = [places.speed, places.memory, places.disk, places.cores].map(value);
            let speed = f64::from(node.speed.as_millionths().get());
            match kinds.iter_mut().find(|(known, _)| *known == has) {
                Some((_, all)) => *all += speed,
                None => kinds.push((has, speed)),
            }
        }
        Self { kinds }
    }

    /// The nodes that can run what requires this.
    fn able(&self, least: Required) -> impl Iterator<Item = &(Required, f64)> {
        let kinds = self.kinds.iter();
        kinds.filter(move |(has, _)| is_at_least(*has, least))
    }

    /// How much busier than all nodes those are that can run certain jobs, at most: for each requirement and each
    /// amount, what jobs that require as much or more take of it, by what the nodes that meet it have.
    fn tightness(&self, jobs: &JobKinds) -> f64 {
        const CORES: usize = 3;
        let room: f64 = self
            .kinds
            .iter()
            .map(|(has, speed)| has[CORES] as f64 * speed)
            .sum();
        let work: f64 = jobs
            .0
            .iter()
            .map(|(required, part)| required[CORES] as f64 * part)
            .sum();
        let mut tightest: f64 = 0.0;
        for (least, _) in &jobs.0 {
            for amount in [1, 2, CORES] {
                let unit = least[amount];
                if unit == 0 {
                    continue;
                }
                let wanted = jobs
                    .0
                    .iter()
                    .filter(|(required, _)| is_at_least(*required, *least));
                let wanted: f64 = wanted
                    .map(|(required, part)| required[amount] as f64 * part)
                    .sum();
                // As many jobs as fit whole.
                let whole = |has: &Required| (has[amount] / unit * unit) as f64;
                let able: f64 = self
                    .able(*least)
                    .map(|(has, speed)| whole(has) * speed)
                    .sum();
                let is_fine = amount == CORES && unit == 1;
                let able = if is_fine { able } else { USABLE * able };
                if able == 0.0 {
                    // No node can run it, or no whole job fits.
                    continue;
                }
                tightest = tightest.max(wanted / work / (able / room));
            }
        }
        tightest
    }
}

fn is_at_least(one: Required, other: Required) -> bool {
    (0..4).all(|at| one[at] >= other[at])
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
        if self.draw == Drawing::Steady {
            fit(&mut nodes, &workload, self.load, places.cores);
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
        let load = (0.01..=100.0).contains(&self.load);
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
        let drawn = nodes.map(|number| match (&source, self.draw) {
            (Source::Kinds(kinds), Drawing::Steady) => kinds[number as usize % kinds.len()],
            _ => source.draw(rng),
        });
        // Cores would idle beside jobs that take all memory of a node.
        let times = match self.draw {
            Drawing::Steady => 2,
            Drawing::Independent => 1,
        };
        let drawn = drawn.map(|values| Values {
            memory: times * values.memory,
            disk: times * values.disk,
            ..values
        });
        drawn.map(|values| values.profile(places)).collect()
    }

    fn draw_jobs(
        &self,
        places: &Places,
        nodes: &[Profile],
        rng: &mut Stream,
    ) -> Result<Workload, GenerateError> {
        let (jobs, cycle) = match self.draw {
            Drawing::Steady => (self.draw_steadily(places, nodes, rng)?, CYCLE),
            Drawing::Independent => (self.draw_each(places, nodes, rng)?, usize::MAX),
        };
        let mut workload = Workload {
            name: "desktop".to_owned(),
            ..Workload::default()
        };
        let mut at = Time::ZERO;
        let numbers = 1..=u64::from(self.jobs);
        for (number, drawn) in numbers.zip(jobs.iter().take(cycle).cycle()) {
            workload.requirements.push(drawn.requirement);
            let job = Submission::new(number, at, drawn.run_time, 1);
            workload.jobs.push(job);
            at += drawn.gap;
        }
        Ok(workload)
    }

    /// A time between two submissions.
    fn gap(&self, rng: &mut Stream) -> Span {
        let gaps: f64 = Exp1.sample(rng);
        draw::rounded(gaps * draw::seconds(self.mean_gap))
    }

    /// The jobs of a workload in which each is drawn by itself.
    fn draw_each(
        &self,
        places: &Places,
        nodes: &[Profile],
        rng: &mut Stream,
    ) -> Result<Vec<Drawn>, GenerateError> {
        let source = Source::new(self.job_variety, self.clusters, rng);
        let shortest = Span::from_micros(self.mean_run_time.as_micros() / 2);
        let jobs = 1..=u64::from(self.jobs);
        let drawn = jobs.map(|number| {
            let draw = || self.constrain(places, source.draw(rng), rng);
            let requirement = self
                .infeasible
                .redraw(number, &places.dimensions, nodes, draw)?;
            Ok(Drawn {
                requirement,
                run_time: draw::uniform(rng, shortest, shortest + self.mean_run_time),
                gap: self.gap(rng),
            })
        });
        drawn.collect()
    }

    /// The jobs of one cycle of a steady workload. Run times are stratified, and so are kinds of jobs, if there are any.
    fn draw_steadily(
        &self,
        places: &Places,
        nodes: &[Profile],
        rng: &mut Stream,
    ) -> Result<Vec<Drawn>, GenerateError> {
        let kinds = self.draw_kinds(&NodeKinds::of(nodes, places), rng);
        let shortest = self.mean_run_time.as_micros() / 2;
        let mut jobs = Vec::new();
        while jobs.len() < CYCLE.min(self.jobs as usize) {
            let required: Vec<Requirement> = match &kinds {
                Some(kinds) => {
                    let block = kinds.block(rng).into_iter();
                    block.map(|required| places.requirement(required)).collect()
                }
                None => {
                    let block = 0..BLOCK as u64;
                    let drawn = block.map(|turn| {
                        let mut draw = || {
                            let mut values = Values::draw(rng);
                            values.cores = at_level(&FEW_CORES, draw::weighted(rng, &SKEW));
                            self.constrain(places, values.anywhere_if_wide(), rng)
                        };
                        let number = jobs.len() as u64 + turn;
                        self.infeasible
                            .redraw(number, &places.dimensions, nodes, &mut draw)
                    });
                    drawn.collect::<Result<_, _>>()?
                }
            };
            let step = self.mean_run_time.as_micros() / BLOCK as u64;
            let mut run_times: Vec<Span> = (0..BLOCK as u64)
                .map(|turn| {
                    let low = Span::from_micros(shortest + turn * step);
                    draw::uniform(rng, low, low + Span::from_micros(step))
                })
                .collect();
            rng.shuffle(&mut run_times);
            let pairs = required.into_iter().zip(run_times);
            jobs.extend(pairs.map(|(requirement, run_time)| Drawn {
                requirement,
                run_time,
                gap: self.gap(rng),
            }));
        }
        Ok(jobs)
    }

    /// The kinds of jobs. Two kinds swap a resource, again and again, as long as that leaves the nodes that can run certain
    /// jobs no busier, until they are no busier than all nodes.
    fn draw_kinds(&self, nodes: &NodeKinds, rng: &mut Stream) -> Option<JobKinds> {
        let source = Source::of_narrow_jobs(self.job_variety, self.clusters, rng);
        let Source::Kinds(mut kinds) = source else {
            return None;
        };
        let jobs_of = |kinds: &[Values]| {
            let jobs = JobKinds::of(kinds, self.constraint_ratio, nodes, self.infeasible);
            let tightness = nodes.tightness(&jobs);
            (jobs, tightness)
        };
        let (mut best, mut least) = jobs_of(&kinds);
        for _ in 0..MOST_SWAPS {
            if least <= TIGHT {
                break;
            }
            let (one, other) = (rng.index(kinds.len()), rng.index(kinds.len()));
            let mut swapped = kinds.clone();
            let (a, b) = (kinds[one], kinds[other]);
            match rng.below(4) {
                0 => (swapped[one].speed, swapped[other].speed) = (b.speed, a.speed),
                1 => (swapped[one].memory, swapped[other].memory) = (b.memory, a.memory),
                2 => (swapped[one].disk, swapped[other].disk) = (b.disk, a.disk),
                _ => (swapped[one].cores, swapped[other].cores) = (b.cores, a.cores),
            }
            let (jobs, tightness) = jobs_of(&swapped);
            if tightness <= least {
                (kinds, best, least) = (swapped, jobs, tightness);
            }
        }
        Some(best)
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

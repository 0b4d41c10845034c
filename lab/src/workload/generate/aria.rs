//! P3, section IV: jobs for nodes that differ in architecture, system, memory, disk and speed.

use core::num::NonZeroU32;

use gridweave_core::resource::{
    Capability, Dimension, DimensionError, Dimensions, Kind, Requirement, Speed,
};
use gridweave_core::time::{Span, Time};
use rand_distr::{Distribution, Normal};

use super::draw::{self, LONGEST, Stream};
use super::{GenerateError, Infeasible, MOST_REDRAWS, require, require_count, require_mixed};
use crate::config::setting::{section, words};
use crate::grid::{Grid, Mixed, Profile};
use crate::workload::{Submission, Workload};

/// The shares of AMD64, POWER, IA-64, SPARC, MIPS and NEC, in tenths of a percent (P3 IV-B, after its TOP500).
const ARCHITECTURES: [(u64, u32); 6] = [(0, 872), (1, 110), (2, 12), (3, 2), (4, 2), (5, 2)];

/// The shares of LINUX, SOLARIS, UNIX, WINDOWS and BSD, in tenths of a percent (P3 IV-B).
const SYSTEMS: [(u64, u32); 5] = [(0, 886), (1, 58), (2, 44), (3, 10), (4, 2)];

/// Gigabytes of memory, and independently of disk; all are equally likely (P3 IV-B).
const GIGABYTES: [(u64, u32); 5] = [(1, 1), (2, 1), (4, 1), (8, 1), (16, 1)];

section! {
    /// The parameters of P3's workloads. The defaults are those of its scenario *Mixed*.
    ///
    /// Other scenarios: *LowLoad* and *HighLoad* have an interval of 20 and 5 seconds; *Deadline* and *DeadlineH* have
    /// `deadline_slack` 3 and 1 (PROTOCOLS A5); *Precise* and *Accuracy25* have an accuracy of 0 and 0.25;
    /// *AccuracyBad* has [`Drift::Late`].
    ///
    /// Nodes have the categories `architecture` and `system`, the amounts `memory` and `disk` in gigabytes, and the
    /// amount `slots`. Each node has one slot and each job takes one, so a node runs one job at a time.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Aria {
        /// How many nodes there are.
        pub nodes: u32 = 500,
        /// How many jobs are submitted.
        pub jobs: u32 = 1000,
        /// When the first job is submitted.
        pub start: Span = Span::from_secs(20 * 60),
        /// The time between two submissions.
        pub interval: Span = Span::from_secs(10),
        /// The mean of the normal distribution of estimated run times (ERT), before it is bounded.
        pub mean: Span = Span::from_secs(150 * 60),
        /// The standard deviation of that distribution.
        pub deviation: Span = Span::from_secs(75 * 60),
        /// The shortest estimate; what is drawn below it is drawn again (PROTOCOLS A6).
        pub shortest: Span = Span::from_secs(60 * 60),
        /// The longest estimate; what is drawn above it is drawn again.
        pub longest: Span = Span::from_secs(240 * 60),
        /// What becomes of an estimate that is drawn beyond these bounds.
        pub beyond: Beyond = Beyond::Redraw,
        /// The largest error of estimates, as a part of the estimate: P3's epsilon, from 0 to 0.5.
        pub accuracy: f64 = 0.1,
        /// On which side of the estimate actual run times are.
        pub drift: Drift = Drift::Balanced,
        /// The time from estimated end to deadline, in draws from the distribution of estimates; 0 for no deadlines.
        pub deadline_slack: u32 = 0,
        /// What happens to jobs that no node can run.
        pub infeasible: Infeasible = Infeasible::Redraw,
    }
}

words! {
    /// What becomes of an estimate beyond its bounds (PROTOCOLS A6).
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Beyond {
        /// It is drawn again.
        #[default]
        Redraw = "redraw",
        /// It is moved to the bound.
        Clamp = "clamp",
    }
}

words! {
    /// On which side of the estimate actual run times are.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Drift {
        /// On both sides, evenly.
        #[default]
        Balanced = "balanced",
        /// Always above it (P3's *AccuracyBad*).
        Late = "late",
    }
}

/// How long a job of this generator runs at this speed, as P3 defines it: its estimate scales with the speed, its drift
/// does not (PROTOCOLS A19). Scaling [`Submission::run_time`] instead makes the drift smaller on faster nodes.
pub fn actual_run_time(job: &Submission, speed: Speed) -> Span {
    let estimate = job.requested_time.unwrap_or(job.run_time);
    let (later, earlier) = (job.run_time - estimate, estimate - job.run_time);
    let scaled = speed.duration_of(estimate) + later - earlier;
    scaled.max(Span::from_micros(1))
}

/// The dimensions by name, so that no index is written twice.
struct Places {
    dimensions: Dimensions,
    architecture: Dimension,
    system: Dimension,
    memory: Dimension,
    disk: Dimension,
    slots: Dimension,
}

/// The properties that are drawn in the same way for nodes and for jobs (P3 IV-D).
struct Drawn {
    architecture: u64,
    system: u64,
    memory: u64,
    disk: u64,
}

impl Drawn {
    fn draw(rng: &mut Stream) -> Self {
        Self {
            architecture: draw::weighted(rng, &ARCHITECTURES),
            system: draw::weighted(rng, &SYSTEMS),
            memory: draw::weighted(rng, &GIGABYTES),
            disk: draw::weighted(rng, &GIGABYTES),
        }
    }

    fn capability(&self, places: &Places) -> Capability {
        Capability::none()
            .with(places.architecture, self.architecture)
            .with(places.system, self.system)
            .with(places.memory, self.memory)
            .with(places.disk, self.disk)
            .with(places.slots, 1)
    }

    fn requirement(&self, places: &Places) -> Requirement {
        Requirement::any()
            .with(places.architecture, self.architecture)
            .with(places.system, self.system)
            .with(places.memory, self.memory)
            .with(places.disk, self.disk)
            .with(places.slots, 1)
    }
}

impl Places {
    fn new() -> Result<Self, DimensionError> {
        let dimensions = Dimensions::new(&[
            ("architecture", Kind::Category),
            ("system", Kind::Category),
            ("memory", Kind::Amount),
            ("disk", Kind::Amount),
            ("slots", Kind::Amount),
        ])?;
        let named = |name| dimensions.named(name).ok_or(DimensionError::BadName);
        Ok(Self {
            architecture: named("architecture")?,
            system: named("system")?,
            memory: named("memory")?,
            disk: named("disk")?,
            slots: named("slots")?,
            dimensions,
        })
    }
}

impl Aria {
    /// Generates the jobs and the grid for this seed.
    pub fn generate(&self, seed: u64) -> Result<(Workload, Grid), GenerateError> {
        self.check()?;
        let places = Places::new().expect("five dimensions with different names are dimensions");
        let (mut node_stream, mut job_stream) = draw::streams(seed);
        let nodes = self.draw_nodes(&places, &mut node_stream);
        let workload = self.draw_jobs(&places, &nodes, &mut job_stream)?;
        let grid = Grid::Mixed(Mixed {
            dimensions: places.dimensions,
            nodes,
        });
        Ok((workload, grid))
    }

    fn check(&self) -> Result<(), GenerateError> {
        require_mixed(self.nodes, "nodes")?;
        require_count(self.jobs, "jobs")?;
        let accurate = (0.0..=0.5).contains(&self.accuracy);
        require(accurate, "accuracy", "from 0 to 0.5")?;
        let positive = self.shortest >= Span::from_millis(1);
        require(positive, "shortest", "a millisecond or more")?;
        let ordered = self.shortest <= self.mean && self.mean <= self.longest;
        require(ordered, "mean", "between shortest and longest")?;
        require(self.longest <= LONGEST, "longest", "at most 49 days")?;
        // Otherwise hardly any draw is within the bounds.
        let width = (self.longest - self.shortest).times(1_000);
        require(
            self.deviation <= width,
            "deviation",
            "at most 1000 times the distance of the bounds",
        )
    }

    fn draw_nodes(&self, places: &Places, rng: &mut Stream) -> Vec<Profile> {
        let nodes = 0..self.nodes;
        nodes
            .map(|_| Profile {
                capability: Drawn::draw(rng).capability(places),
                speed: draw_speed(rng),
            })
            .collect()
    }

    fn draw_jobs(
        &self,
        places: &Places,
        nodes: &[Profile],
        rng: &mut Stream,
    ) -> Result<Workload, GenerateError> {
        let mut workload = Workload {
            name: "aria".to_owned(),
            ..Workload::default()
        };
        let mut at = Time::ZERO + self.start;
        for number in 1..=u64::from(self.jobs) {
            let requirement = self
                .infeasible
                .redraw(number, &places.dimensions, nodes, || {
                    Drawn::draw(rng).requirement(places)
                })?;
            let estimate = self.draw_estimate(rng);
            workload.jobs.push(Submission {
                requested_time: Some(estimate),
                ..Submission::new(number, at, self.draw_actual(estimate, rng), 1)
            });
            workload.requirements.push(requirement);
            if self.deadline_slack > 0 {
                let slack = self
                    .draw_estimate(rng)
                    .times(u64::from(self.deadline_slack));
                workload.deadlines.push(at + estimate + slack);
            }
            at += self.interval;
        }
        Ok(workload)
    }

    fn draw_estimate(&self, rng: &mut Stream) -> Span {
        let (mean, deviation) = (draw::seconds(self.mean), draw::seconds(self.deviation));
        let normal = Normal::new(mean, deviation).expect("a span in seconds is finite");
        if self.beyond == Beyond::Clamp {
            return draw::rounded(normal.sample(rng)).clamp(self.shortest, self.longest);
        }
        let within = (0..MOST_REDRAWS)
            .map(|_| draw::rounded(normal.sample(rng)))
            .find(|estimate| (self.shortest..=self.longest).contains(estimate));
        // Bounds less than a millisecond apart may contain no draw at all.
        within.unwrap_or(self.mean)
    }

    /// ERT plus P3's drift, U[-1, 1] * ERT * epsilon.
    fn draw_actual(&self, estimate: Span, rng: &mut Stream) -> Span {
        let side = f64::from(draw::millionths(rng)) / 500_000.0 - 1.0;
        let part = draw::rounded(draw::seconds(estimate) * self.accuracy * side.abs());
        let actual = if side < 0.0 && self.drift == Drift::Balanced {
            estimate - part
        } else {
            estimate + part
        };
        actual.max(Span::from_millis(1))
    }
}

/// A speed, uniform from 1 to 2 (PROTOCOLS A7).
fn draw_speed(rng: &mut Stream) -> Speed {
    let above = draw::millionths(rng);
    let millionths = NonZeroU32::MIN
        .saturating_add(999_999)
        .saturating_add(above);
    Speed::from_millionths(millionths)
}

//! Parallel jobs with the load that P1 reports for its trace, which must not be redistributed.

use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};

use super::draw::{self, Stream};
use super::{GenerateError, require, require_count};
use crate::config::setting::section;
use crate::grid::Grid;
use crate::workload::{Submission, Workload};

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// How many of a thousand jobs need from `2^k` to `2^(k + 1) - 1` nodes.
const NODES: [(u64, u32); 9] = [
    (0, 446),
    (1, 180),
    (2, 140),
    (3, 100),
    (4, 70),
    (5, 35),
    (6, 16),
    (7, 11),
    (8, 2),
];

/// How many of a thousand jobs run from `2^k` to `2^(k + 1) - 1` seconds, before run times are scaled.
const RUN_TIMES: [(u64, u32); 14] = [
    (3, 30),
    (4, 40),
    (5, 50),
    (6, 70),
    (7, 80),
    (8, 90),
    (9, 100),
    (10, 110),
    (11, 110),
    (12, 110),
    (13, 95),
    (14, 70),
    (15, 35),
    (16, 10),
];

/// Submissions in each hour of a day, in percent of their mean.
const HOURS: [u64; 24] = [
    60, 60, 60, 60, 60, 60, 60, 60, 100, 100, 145, 145, 145, 145, 145, 145, 145, 145, 100, 100,
    100, 100, 80, 80,
];

/// Submissions on each day of a week from Monday, in percent of their mean.
const WEEKDAYS: [u64; 7] = [110, 110, 110, 110, 110, 75, 75];

section! {
    /// The parameters of a synthetic workload with the published properties of P1's trace. It is not that trace.
    ///
    /// | P1 says | here |
    /// |---|---|
    /// | 2.7 months | `days` is 82; a month is 30.4 days |
    /// | 5000 nodes | `nodes` |
    /// | mean requested utilisation of 28 % | run times are scaled so that `load` is met over all days |
    /// | below 60 % until month 2.2, above 100 % at the end | `calm_load` for `calm_days`, then a rise to about 157 % |
    /// | no job above 420 nodes | `largest` |
    /// | 1.5 % of jobs fail where 110 nodes can be found | about 1.5 % of jobs need more than 110 nodes |
    ///
    /// P1 says nothing else. The 90,000 jobs, sizes and run times spread over powers of two, and more submissions by
    /// day and on weekdays follow common logs. There are no users, sites and requested times.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Grid5000Like {
        /// How many nodes the grid has, and the load is for.
        pub nodes: u32 = 5000,
        /// How many jobs are submitted.
        pub jobs: u32 = 90_000,
        /// The number of days, from a Monday at midnight.
        pub days: u32 = 82,
        /// The mean load; 1 is the full capacity.
        pub load: f64 = 0.28,
        /// The number of calm days at the beginning.
        pub calm_days: u32 = 67,
        /// The load on calm days.
        pub calm_load: f64 = 0.15,
        /// The most nodes that a job needs.
        pub largest: u32 = 420,
    }
}

impl Grid5000Like {
    /// Generates the jobs and the grid for this seed.
    pub fn generate(&self, seed: u64) -> Result<(Workload, Grid), GenerateError> {
        self.check()?;
        let (_, mut rng) = draw::streams(seed);
        let times = self.draw_times(&mut rng);
        let mut jobs: Vec<Submission> = times
            .into_iter()
            .zip(1..)
            .map(|(at, number)| self.draw_job(number, at, &mut rng))
            .collect();
        self.scale_run_times(&mut jobs);
        let workload = Workload {
            name: "grid5000-like".to_owned(),
            jobs,
            ..Workload::default()
        };
        Ok((workload, Grid::Uniform(self.nodes)))
    }

    fn check(&self) -> Result<(), GenerateError> {
        require_count(self.nodes, "nodes")?;
        require_count(self.jobs, "jobs")?;
        require((1..=3650).contains(&self.days), "days", "from 1 to 3650")?;
        require(self.calm_days < self.days, "calm_days", "fewer than days")?;
        let load = (1e-6..=100.0).contains(&self.load);
        require(load, "load", "from 0.000001 to 100")?;
        let calm = (0.0..=self.load).contains(&self.calm_load);
        require(calm, "calm_load", "from 0 to load")?;
        let largest = (1..=self.nodes).contains(&self.largest);
        require(largest, "largest", "from 1 to nodes")
    }

    /// Submit times in order, drawn by the load over the day, the week and the whole time.
    fn draw_times(&self, rng: &mut Stream) -> Vec<Time> {
        let mut until: Vec<u32> = Vec::new();
        let mut total = 0_u32;
        for hour in 0..u64::from(self.days) * 24 {
            total = total.saturating_add(self.weight(hour));
            until.push(total);
        }
        let mut draw = || {
            let drawn = rng.below(total);
            let hour = until.partition_point(|&until| until <= drawn) as u64;
            let second = u64::from(rng.below(HOUR as u32));
            Time::from_secs(hour * HOUR + second)
        };
        let mut times: Vec<Time> = (0..self.jobs).map(|_| draw()).collect();
        times.sort_unstable();
        times
    }

    /// The weight of an hour: at most 16 per thousandth of the peak, so that ten years of hours add up within 32 bits.
    fn weight(&self, hour: u64) -> u32 {
        let daily = HOURS.get((hour % 24) as usize).copied().unwrap_or(100);
        let weekday = (hour / 24) % 7;
        let weekly = WEEKDAYS.get(weekday as usize).copied().unwrap_or(100);
        let peak = self.load_at(f64::from(self.days)).max(self.calm_load);
        let thousandths = (self.load_at(hour as f64 / 24.0) / peak * 1e3 + 0.5) as u64;
        u32::try_from(thousandths * daily * weekly / 1_000).unwrap_or(u32::MAX)
    }

    /// The load on a day: constant on calm days, then rising so that the mean over all days is right.
    fn load_at(&self, day: f64) -> f64 {
        let (days, calm_days) = (f64::from(self.days), f64::from(self.calm_days));
        let busy_days = days - calm_days;
        let busy_load = (self.load * days - self.calm_load * calm_days) / busy_days;
        let slope = 2.0 * (busy_load - self.calm_load) / busy_days;
        self.calm_load + slope * (day - calm_days).max(0.0)
    }

    fn draw_job(&self, number: u64, at: Time, rng: &mut Stream) -> Submission {
        let nodes = draw_octave(&NODES, rng);
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let run_time = Span::from_secs(draw_octave(&RUN_TIMES, rng));
        Submission::new(number, at, run_time, nodes.min(self.largest))
    }

    /// Scales run times, in whole seconds, so that all jobs together make the load.
    fn scale_run_times(&self, jobs: &mut [Submission]) {
        let available = u128::from(self.nodes) * u128::from(u64::from(self.days) * DAY);
        let wanted = available * (self.load * 1e6 + 0.5) as u128 / 1_000_000;
        let work =
            |job: &Submission| u128::from(job.processors) * u128::from(job.run_time.as_secs());
        let drawn = jobs.iter().map(work).sum::<u128>().max(1);
        for job in jobs {
            let scaled = (u128::from(job.run_time.as_secs()) * wanted + drawn / 2) / drawn;
            let scaled = u64::try_from(scaled).unwrap_or(u64::MAX);
            job.run_time = Span::from_secs(scaled.max(1));
        }
    }
}

/// A power of two, drawn by weight. Half of the draws are the power itself, as users request; the others are between it
/// and the next.
fn draw_octave(weights: &[(u64, u32)], rng: &mut Stream) -> u64 {
    let power = 1_u32 << draw::weighted(rng, weights);
    if rng.below(2) == 0 {
        return u64::from(power);
    }
    u64::from(power.saturating_add(rng.below(power)))
}

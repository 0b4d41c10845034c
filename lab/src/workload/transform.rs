//! Cuts, scales and compresses a workload.

use core::num::{NonZeroU32, NonZeroUsize};

use gridweave_core::time::{Span, Time};

use super::{Submission, WorkUnit, Workload};
use crate::lasting::Lasting;
use crate::outcome::Estimates;

/// The most jobs that splitting may produce, some hundred megabytes; Curie's 295,540 would become 184 million.
pub const MOST_JOBS: u64 = 5_000_000;

/// Changes to a workload. Every change is optional; they are applied in the order of the fields.
///
/// The target load comes after all changes that leave jobs out, so that it is the load of what is replayed. Rounding to
/// slots comes after it and raises the load a little. Splitting comes last and changes neither work nor times, so that
/// whole jobs and their parts are the same jobs. All arithmetic is on whole numbers.
///
/// ```
/// use gridweave_lab::outcome::Estimates;
/// use gridweave_lab::workload::{TargetLoad, Transform, WorkUnit, bundled};
///
/// let transform = Transform {
///     load: Some(TargetLoad { capacity: 2004, load: 0.95, by: Estimates::Exact, unit: WorkUnit::Processor }),
///     ..Transform::default()
/// };
/// let compressed = transform.apply(bundled().workload)?.workload;
/// let load = compressed.load(2004, Estimates::Exact).ratio();
/// assert!(load.is_some_and(|load| (load - 0.95).abs() < 1e-6));
/// # Ok::<(), gridweave_lab::workload::TransformError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Transform {
    /// Only jobs submitted in this window.
    pub window: Option<Window>,
    /// Whole nodes instead of processors: each job takes as many nodes of so many cores as it needs, rounded up.
    pub cores_per_node: Option<NonZeroU32>,
    /// The largest job.
    pub cap: Option<Cap>,
    /// Only the first so many jobs.
    pub first: Option<NonZeroUsize>,
    /// The factor for submit times, counted from time zero; exact to the billionth.
    pub stretch: Option<f64>,
    /// Submit times are scaled so that this is the load.
    pub load: Option<TargetLoad>,
    /// Run times and requested times are rounded up to multiples of this (PROTOCOLS D5).
    pub slot: Option<Span>,
    /// How jobs that need several processors change.
    pub parallel: Parallel,
}

/// An interval of submit times, `[from, until)`; its start becomes time zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The start, after time zero.
    pub from: Span,
    /// The end, after time zero; a job submitted at the end is outside.
    pub until: Span,
}

/// The largest size of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cap {
    /// The limit in nodes, or in processors if these were not turned into nodes.
    pub nodes: NonZeroU32,
    /// What happens to larger jobs.
    pub above: AboveCap,
}

/// What happens to jobs above the cap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AboveCap {
    /// They are left out, and counted.
    #[default]
    Drop,
    /// They are cut to the cap, and counted; their run time stays, so they do less work.
    Clamp,
}

/// How jobs that need several processors change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Parallel {
    /// They stay as they are.
    #[default]
    Keep,
    /// Each becomes as many serial jobs, with the same submit time and run time. All jobs are then numbered anew from 1
    /// in the order of submission; the parts of a job follow each other.
    Split,
}

/// The load to which submit times are scaled (PROTOCOLS D19).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TargetLoad {
    /// The capacity of the grid: the number of nodes, or of other units.
    pub capacity: u64,
    /// The load, exact to the millionth. 1 is the full capacity at baseline speed; faster nodes have less to do.
    pub load: f64,
    /// Which time of a job counts.
    pub by: Estimates,
    /// The unit of work.
    pub unit: WorkUnit,
}

/// A transformed workload, and what was changed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Transformed {
    /// The jobs that are left.
    pub workload: Workload,
    /// The number of each job, or of the job it is a part of, before jobs were numbered anew; empty if they were not.
    pub original: Vec<u64>,
    /// How many jobs were submitted outside the window.
    pub outside_window: u64,
    /// How many jobs above the cap were left out.
    pub dropped: u64,
    /// How many jobs above the cap were cut to it.
    pub clamped: u64,
    /// How many jobs were left out after the first so many.
    pub beyond_first: u64,
}

/// Why a workload cannot be changed in this way.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// The workload has no jobs.
    #[error("the workload has no jobs; give one that has some")]
    NoJobs,
    /// No job was submitted in the window.
    #[error(
        "no job was submitted from {} {}; the last came at {}: choose another window", Lasting(*from), end_of(*until), Lasting(*last - Time::ZERO)
    )]
    EmptyWindow {
        /// The start of the window.
        from: Span,
        /// Its end.
        until: Span,
        /// The last submission of the whole workload.
        last: Time,
    },
    /// Every job is larger than the cap.
    #[error("every job needs more than {nodes} nodes, the most that is allowed; raise max_nodes")]
    AllAboveCap {
        /// The cap.
        nodes: NonZeroU32,
    },
    /// Splitting would make more jobs than memory should hold.
    #[error(
        "splitting makes {jobs} serial jobs, more than {MOST_JOBS}; take a shorter window or whole nodes first"
    )]
    TooManyParts {
        /// How many jobs it would make.
        jobs: u64,
    },
    /// The target load is out of range, or there are no nodes.
    #[error(
        "a load of {load:?} on {capacity} nodes cannot be; give at least one node and a load from 0.000001 to 1000"
    )]
    BadLoad {
        /// The target load.
        load: f64,
        /// The number of nodes.
        capacity: u64,
    },
    /// The factor for submit times is out of range.
    #[error(
        "submit times cannot become {factor} times as long; give a factor from 0.000001 to 1000000"
    )]
    BadStretch {
        /// The factor.
        factor: f64,
    },
    /// All jobs were submitted at once, so the load cannot be scaled.
    #[error(
        "all jobs were submitted at the same time, so their load cannot be changed; leave the load out"
    )]
    NoSpan,
}

/// The end of a window in words; an open window goes on.
fn end_of(until: Span) -> String {
    if until == Span::MAX {
        "on".into()
    } else {
        format!("until {}", Lasting(until))
    }
}

impl Transform {
    /// Applies the changes.
    pub fn apply(&self, workload: Workload) -> Result<Transformed, TransformError> {
        if workload.jobs.is_empty() {
            return Err(TransformError::NoJobs);
        }
        let mut done = Transformed {
            workload,
            ..Transformed::default()
        };
        if let Some(window) = self.window {
            window.cut(&mut done)?;
        }
        if let Some(cores) = self.cores_per_node {
            for job in &mut done.workload.jobs {
                job.processors = job.processors.div_ceil(cores.get());
                let per_node = u64::from(cores.get());
                job.memory = job.memory.map(|each| each.saturating_mul(per_node));
            }
        }
        if let Some(cap) = self.cap {
            cap.enforce(&mut done)?;
        }
        if let Some(first) = self.first {
            keep_first(&mut done, first);
        }
        if let Some(factor) = self.stretch {
            stretch_by(&mut done.workload, factor)?;
        }
        if let Some(target) = self.load {
            target.reach(&mut done.workload)?;
        }
        if let Some(slot) = self.slot {
            round_up(&mut done.workload, slot);
        }
        if self.parallel == Parallel::Split {
            split(&mut done)?;
        }
        Ok(done)
    }
}

impl Window {
    fn cut(self, done: &mut Transformed) -> Result<(), TransformError> {
        let (from, until) = (Time::ZERO + self.from, Time::ZERO + self.until);
        let last = done.workload.jobs.last().map_or(Time::ZERO, |job| job.at);
        done.outside_window = retain(&mut done.workload, |job| from <= job.at && job.at < until);
        if done.workload.jobs.is_empty() {
            return Err(TransformError::EmptyWindow {
                from: self.from,
                until: self.until,
                last,
            });
        }
        for job in &mut done.workload.jobs {
            job.at = job.at - self.from;
        }
        for deadline in &mut done.workload.deadlines {
            *deadline = *deadline - self.from;
        }
        Ok(())
    }
}

impl Cap {
    fn enforce(self, done: &mut Transformed) -> Result<(), TransformError> {
        let nodes = self.nodes.get();
        match self.above {
            AboveCap::Drop => {
                done.dropped = retain(&mut done.workload, |job| job.processors <= nodes);
            }
            AboveCap::Clamp => {
                let jobs = done.workload.jobs.iter_mut();
                for job in jobs.filter(|job| job.processors > nodes) {
                    job.processors = nodes;
                    done.clamped += 1;
                }
            }
        }
        if done.workload.jobs.is_empty() {
            return Err(TransformError::AllAboveCap { nodes: self.nodes });
        }
        Ok(())
    }
}

/// Keeps the jobs that fit, with their requirements and deadlines, and returns how many did not.
fn retain(workload: &mut Workload, fits: impl Fn(&Submission) -> bool) -> u64 {
    let kept: Vec<bool> = workload.jobs.iter().map(fits).collect();
    only(&kept, &mut workload.jobs);
    only(&kept, &mut workload.requirements);
    only(&kept, &mut workload.deadlines);
    kept.iter().filter(|&&kept| !kept).count() as u64
}

fn only<T>(kept: &[bool], items: &mut Vec<T>) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or(false));
}

fn split(done: &mut Transformed) -> Result<(), TransformError> {
    let whole = &done.workload;
    let sizes = whole.jobs.iter().map(|job| u64::from(job.processors));
    let parts = sizes.fold(0, u64::saturating_add);
    if parts > MOST_JOBS {
        return Err(TransformError::TooManyParts { jobs: parts });
    }
    done.original = repeated(whole, whole.jobs.iter().map(|job| job.number));
    let requirements = repeated(whole, whole.requirements.iter().copied());
    let deadlines = repeated(whole, whole.deadlines.iter().copied());
    let mut jobs = repeated(whole, whole.jobs.iter().copied());
    for (job, number) in jobs.iter_mut().zip(1..) {
        job.processors = 1;
        job.number = number;
    }
    done.workload.jobs = jobs;
    done.workload.requirements = requirements;
    done.workload.deadlines = deadlines;
    Ok(())
}

/// Repeats each item once for each processor of its job.
fn repeated<T: Clone>(whole: &Workload, items: impl Iterator<Item = T>) -> Vec<T> {
    let pairs = items.zip(&whole.jobs);
    pairs
        .flat_map(|(item, job)| core::iter::repeat_n(item, job.processors as usize))
        .collect()
}

fn keep_first(done: &mut Transformed, first: NonZeroUsize) {
    let (first, workload) = (first.get(), &mut done.workload);
    done.beyond_first = workload.jobs.len().saturating_sub(first) as u64;
    workload.jobs.truncate(first);
    workload.requirements.truncate(first);
    workload.deadlines.truncate(first);
}

impl TargetLoad {
    fn reach(self, workload: &mut Workload) -> Result<(), TransformError> {
        let bad = TransformError::BadLoad {
            load: self.load,
            capacity: self.capacity,
        };
        // This comparison also refuses NaN.
        if self.capacity == 0 || !(1e-6..=1e3).contains(&self.load) {
            return Err(bad);
        }
        let millionths = (self.load * 1e6 + 0.5) as u128;
        let span = workload.span();
        if span.is_zero() {
            return Err(TransformError::NoSpan);
        }
        // The load is work divided by capacity. So the target load gives the span, and all submit times scale alike.
        let work = workload
            .work_in(self.unit, self.by)
            .saturating_mul(1_000_000);
        let scaled = work / (u128::from(self.capacity) * millionths);
        let scaled = Span::from_micros(u64::try_from(scaled).unwrap_or(u64::MAX));
        stretch(workload, span, scaled);
        Ok(())
    }
}

/// Multiplies all submit times by this factor.
fn stretch_by(workload: &mut Workload, factor: f64) -> Result<(), TransformError> {
    // This comparison also refuses NaN.
    if !(1e-6..=1e6).contains(&factor) {
        return Err(TransformError::BadStretch { factor });
    }
    let billionths = (factor * 1e9 + 0.5) as u128;
    move_submissions(workload, |at| {
        let micros = u128::from(at.as_micros()) * billionths / 1_000_000_000;
        Time::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    });
    Ok(())
}

/// Moves submissions so that they span `scaled` instead of `span`. The first one stays.
fn stretch(workload: &mut Workload, span: Span, scaled: Span) {
    let first = workload.jobs.first().map_or(Time::ZERO, |job| job.at);
    move_submissions(workload, |at| {
        let since = u128::from((at - first).as_micros());
        let micros = since * u128::from(scaled.as_micros()) / u128::from(span.as_micros());
        first + Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    });
}

/// Rounds run times and requested times up to whole slots. Jobs come when they come.
fn round_up(workload: &mut Workload, slot: Span) {
    for job in &mut workload.jobs {
        job.run_time = job.run_time.round_up(slot);
        job.requested_time = job.requested_time.map(|time| time.round_up(slot));
    }
}

/// Moves each submission without a change of order; the time to its deadline stays the same.
fn move_submissions(workload: &mut Workload, moved: impl Fn(Time) -> Time) {
    let mut deadlines = workload.deadlines.iter_mut();
    for job in &mut workload.jobs {
        let at = moved(job.at);
        if let Some(deadline) = deadlines.next() {
            *deadline = at + (*deadline - job.at);
        }
        job.at = at;
    }
}

//! `Schedule` of the core, and the search for a common slot.

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::schedule::common_slot::{self, BestFit, CommonSlot, InOrder, Seeded};
use gridweave_core::schedule::{Attempt, Reservation, Schedule as Core};
use gridweave_core::time::{Interval, Time};
use numpy::ndarray::Array2;
use numpy::{AllowTypeChange, PyArray1, PyArray2, PyArrayLike2, ToPyArray};
use pyo3::prelude::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::failure::Failure;
use crate::times::{count, in_row, interval, length, seconds, time, view};

/// The reservations of one node, which never overlap.
///
/// Times and lengths are seconds. A job has a number; another attempt at the same job may hold time that overlaps its
/// older reservation, and takes its place when it is committed.
///
/// >>> from gridweave import Schedule
/// >>> node = Schedule()
/// >>> node.reserve(1, start=0, length=600)
/// >>> node.earliest_fit(3600)
/// 600.0
/// >>> node.hold(2, start=600, length=60, lease=5)
/// >>> node.expire(now=5)
/// 1
/// >>> node.busy()
/// array([[  0., 600.]])
///
/// `Schedule(busy)` begins with reservations, a row of start and end each; their jobs are the numbers of the rows.
#[pyclass(module = "gridweave")]
pub(crate) struct Schedule(Core<Vec<Reservation>>);

/// Rows of starts and ends.
type Windows<'py> = PyArrayLike2<'py, f64, AllowTypeChange>;

fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::Value(error.to_string())
}

fn attempt(job: u64, attempt: u64) -> Attempt {
    Attempt::new(JobId::new(job), Epoch::new(attempt))
}

/// The intervals of rows of starts and ends.
fn intervals(windows: &Windows<'_>) -> Result<Vec<Interval>, Failure> {
    let rows = view(windows)?;
    if rows.ncols() != 2 && rows.nrows() != 0 {
        return Err(Failure::Value(format!(
            "busy has {} columns; give two, start and end",
            rows.ncols()
        )));
    }
    let rows = rows.outer_iter().enumerate().map(|(row, window)| {
        let (start, end) = (time("start", window[0]), time("end", window[1]));
        let interval = start.and_then(|start| Interval::new(start, end?).map_err(refused));
        interval.map_err(in_row(row))
    });
    rows.collect()
}

#[pymethods]
impl Schedule {
    #[new]
    #[pyo3(signature = (busy=None, limit=None))]
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn new(busy: Option<Windows<'_>>, limit: Option<usize>) -> Result<Self, Failure> {
        let busy = busy
            .as_ref()
            .map(intervals)
            .transpose()?
            .unwrap_or_default();
        let limit = limit.unwrap_or(Core::<Vec<Reservation>>::DEFAULT_LIMIT.max(busy.len()));
        let mut schedule = Core::with_limit(limit);
        for (row, interval) in busy.into_iter().enumerate() {
            let reserved = schedule.reserve(attempt(row as u64, 0), interval);
            reserved.map_err(|error| in_row(row)(Failure::Value(describe(error).into())))?;
        }
        Ok(Self(schedule))
    }

    /// How many reservations stand.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<Schedule of {} reservations>", self.0.len())
    }

    /// Reserves time for good.
    #[pyo3(signature = (job, start, length, attempt=0))]
    fn reserve(&mut self, job: u64, start: f64, length: f64, attempt: u64) -> Result<(), Failure> {
        let attempt = self::attempt(job, attempt);
        let reserved = self.0.reserve(attempt, interval(start, length)?);
        reserved.map_err(|error| Failure::Value(describe(error).into()))
    }

    /// Holds time until `lease`, to be committed before.
    #[pyo3(signature = (job, start, length, lease, attempt=0))]
    fn hold(
        &mut self,
        job: u64,
        start: f64,
        length: f64,
        lease: f64,
        attempt: u64,
    ) -> Result<(), Failure> {
        let (attempt, lease) = (self::attempt(job, attempt), time("lease", lease)?);
        let held = self.0.hold(attempt, interval(start, length)?, lease);
        held.map_err(|error| Failure::Value(describe(error).into()))
    }

    /// Makes a hold firm, and drops the job's older reservation.
    #[pyo3(signature = (job, attempt=0))]
    fn commit(&mut self, job: u64, attempt: u64) -> Result<(), Failure> {
        let committed = self.0.commit(self::attempt(job, attempt));
        committed.map_err(|_| {
            Failure::Value(format!(
                "job {job} holds no time in this attempt; hold it first"
            ))
        })
    }

    /// Gives time back, and says whether there was any.
    #[pyo3(signature = (job, attempt=0))]
    fn release(&mut self, job: u64, attempt: u64) -> bool {
        self.0.release(self::attempt(job, attempt)).is_some()
    }

    /// Drops the holds whose lease has ended by `now`, and says how many.
    fn expire(&mut self, now: f64) -> Result<usize, Failure> {
        Ok(self.0.expire(time("now", now)?))
    }

    /// Drops the reservations that are over by `now`, and says how many.
    fn prune(&mut self, now: f64) -> Result<usize, Failure> {
        Ok(self.0.prune(time("now", now)?))
    }

    /// Whether no reservation overlaps this interval.
    fn is_free(&self, start: f64, length: f64) -> Result<bool, Failure> {
        Ok(self.0.is_free(interval(start, length)?))
    }

    /// The earliest time, not before `after`, from which the node is free for `length` seconds.
    #[pyo3(signature = (length, after=0.0))]
    fn earliest_fit(&self, length: f64, after: f64) -> Result<f64, Failure> {
        let fit = self
            .0
            .earliest_fit(time("after", after)?, crate::times::length(length)?);
        Ok(seconds(fit.map_err(refused)?.start()))
    }

    /// When the node is busy from `after` on: a row of start and end for each window.
    #[pyo3(signature = (after=0.0))]
    fn busy<'py>(&self, py: Python<'py>, after: f64) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let windows = self.0.busy_windows(time("after", after)?);
        let flat = windows.flat_map(|window| [seconds(window.start()), seconds(window.end())]);
        let flat: Vec<f64> = flat.collect();
        let rows = Array2::from_shape_vec((flat.len() / 2, 2), flat);
        let rows = rows.map_err(|error| Failure::Defect(error.to_string()))?;
        Ok(rows.to_pyarray(py))
    }
}

/// Why time was not reserved.
fn describe(error: gridweave_core::schedule::ReserveError) -> &'static str {
    use gridweave_core::schedule::ReserveError as Why;
    match error {
        Why::Taken => "another job has some of that time; ask earliest_fit",
        Why::Stale => "a newer attempt at the job is known here; give a higher attempt",
        Why::OtherInterval => "this attempt has reserved other time; give a higher attempt",
        Why::Full => "there is no room for another reservation; give a higher limit",
        _ => "the time is not reserved",
    }
}

/// When a node of a search is busy: a schedule, or rows of starts and ends.
fn windows_of(node: &Bound<'_, PyAny>) -> Result<Vec<Interval>, Failure> {
    if let Ok(schedule) = node.cast::<Schedule>() {
        return Ok(schedule.borrow().0.busy_windows(Time::ZERO).collect());
    }
    if let Ok(windows) = node.extract::<Windows<'_>>() {
        return intervals(&windows);
    }
    match node.len() {
        Ok(0) => Ok(Vec::new()),
        _ => Err(Failure::value(
            "is neither a schedule nor rows of start and end; give one of them",
        )),
    }
}

/// When enough of many nodes are free together, and which of them.
///
/// The nodes are schedules, or arrays with a row of start and end for each window in which a node is busy, sorted. They
/// are read once; later changes of a schedule do not count.
///
/// >>> from gridweave import CommonSearch
/// >>> search = CommonSearch([[[0, 60], [90, 200]], [[0, 30]], [[0, 70], [85, 200]]])
/// >>> search.earliest(count=2, length=10)
/// (60.0, array([0, 1]))
/// >>> search.earliest(2, 10, after=70, pick="best-fit")
/// (70.0, array([2, 0]))
#[pyclass(module = "gridweave")]
pub(crate) struct CommonSearch {
    nodes: Vec<Vec<Interval>>,
    search: common_slot::CommonSearch,
}

#[pymethods]
impl CommonSearch {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn new(nodes: Vec<Bound<'_, PyAny>>) -> Result<Self, Failure> {
        let nodes = nodes.iter().enumerate().map(|(index, node)| {
            let named = |failure: Failure| failure.within(&format!("node {index}"));
            let windows = windows_of(node).map_err(named)?;
            let mut pairs = windows.windows(2).enumerate();
            match pairs.find(|(_, pair)| pair[0].end() > pair[1].start()) {
                None => Ok(windows),
                Some((row, _)) => Err(named(Failure::Value(format!(
                    "row {} begins before the row above it ends; sort the windows, and join those that overlap",
                    row + 1
                )))),
            }
        });
        Ok(Self {
            nodes: nodes.collect::<Result<_, _>>()?,
            search: common_slot::CommonSearch::default(),
        })
    }

    /// How many nodes there are.
    fn __len__(&self) -> usize {
        self.nodes.len()
    }

    fn __repr__(&self) -> String {
        format!("<CommonSearch of {} nodes>", self.nodes.len())
    }

    /// The earliest time, not before `after`, when `count` nodes are free for `length` seconds, and which of them to
    /// take: the first ones (`"in-order"`), those that lose the least idle time (`"best-fit"`), or any (`"random"`, by
    /// `seed`).
    #[pyo3(signature = (count, length, after=0.0, pick="in-order", seed=0))]
    fn earliest<'py>(
        &mut self,
        py: Python<'py>,
        count: f64,
        length: f64,
        after: f64,
        pick: &str,
        seed: u64,
    ) -> Result<(f64, Bound<'py, PyArray1<i64>>), Failure> {
        let (wanted, from) = (self::count(count)?, time("after", after)?);
        let lasting = self::length(length)?;
        let (nodes, search) = (self.nodes.as_slice(), &mut self.search);
        let found = match pick {
            "in-order" => search.earliest(nodes, from, lasting, wanted, InOrder),
            "best-fit" => search.earliest(nodes, from, lasting, wanted, BestFit),
            "random" => {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                search.earliest(nodes, from, lasting, wanted, Seeded(&mut rng))
            }
            _ => {
                return Err(Failure::Value(format!(
                    "pick is '{pick}'; give 'in-order', 'best-fit' or 'random'"
                )));
            }
        };
        let CommonSlot { start, chosen } = found.map_err(refused)?;
        let chosen = chosen.iter().map(|&index| i64::from(index)).collect();
        Ok((seconds(start), PyArray1::from_vec(py, chosen)))
    }
}

//! `Availability` of the core.

use gridweave_core::schedule::availability::{self as core, Booking, FitError};
use gridweave_core::time::Interval;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::times::{Each, Reals, count, in_row, interval, length, rows, seconds, time};

/// How many processors of a machine are free over time: what backfilling schedulers plan with.
///
/// Times and lengths are seconds, exact to the microsecond. Methods that end in `s` or `_all`, and `place`, take arrays:
/// one call for many jobs.
///
/// >>> from gridweave import Availability
/// >>> machine = Availability(8)
/// >>> machine.reserve(0, 3600, 8)
/// >>> machine.earliest_fit(4, 600)
/// 3600.0
/// >>> machine.place(counts=[4, 4, 2], lengths=[600, 60, 60])
/// array([3600., 3600., 3660.])
/// >>> machine.free_at(3700)
/// 2
/// >>> times, free = machine.steps()
/// >>> times, free
/// (array([   0., 3660., 3720., 4200.]), array([0, 2, 4, 8], dtype=uint32))
#[pyclass(module = "gridweave", eq)]
#[derive(PartialEq)]
pub(crate) struct Availability(core::Availability);

fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::Value(error.to_string())
}

impl Availability {
    /// The earliest start of a job, and the time that it takes.
    fn fit(&mut self, size: f64, lasting: f64, after: f64) -> Result<Interval, Failure> {
        let (from, size, lasting) = (time("after", after)?, count(size)?, length(lasting)?);
        let start = self.0.earliest_fit(from, size, lasting);
        let start = start.map_err(|error| match error {
            FitError::MoreThanProcessors => Failure::Value(format!(
                "a job of {size} processors never fits on a machine of {}",
                self.0.processors()
            )),
            other => refused(other),
        })?;
        Interval::starting(start, lasting).map_err(refused)
    }

    fn take(&mut self, interval: Interval, size: f64) -> Result<(Interval, u32), Failure> {
        let size = count(size)?;
        self.0.reserve(interval, size).map_err(refused)?;
        Ok((interval, size))
    }

    /// Takes processors for each row, or for none of them if one is refused.
    fn take_all(
        &mut self,
        rows: impl Iterator<Item = [f64; 3]>,
        take: impl Fn(&mut Self, [f64; 3]) -> Result<(Interval, u32), Failure>,
    ) -> Result<Vec<(Interval, u32)>, Failure> {
        let mut taken = Vec::new();
        for (row, numbers) in rows.enumerate() {
            match take(self, numbers) {
                Ok(interval) => taken.push(interval),
                Err(failure) => {
                    self.undo(&taken);
                    return Err(in_row(row)(failure));
                }
            }
        }
        Ok(taken)
    }

    /// Gives back what was just taken, the last first.
    fn undo(&mut self, taken: &[(Interval, u32)]) {
        for (interval, size) in taken.iter().rev() {
            // What was reserved can be released, and the steps become what they were.
            let _ = self.0.release(*interval, *size);
        }
    }
}

#[pymethods]
impl Availability {
    #[new]
    #[pyo3(signature = (processors, limit=None))]
    fn new(processors: f64, limit: Option<usize>) -> Result<Self, Failure> {
        let limit = limit.unwrap_or(core::Availability::DEFAULT_LIMIT);
        let made = core::Availability::with_limit(count(processors)?, limit);
        Ok(Self(made.map_err(refused)?))
    }

    /// How many processors the machine has.
    #[getter]
    fn processors(&self) -> u32 {
        self.0.processors()
    }

    /// Where the first step begins; nothing is known of the time before.
    #[getter]
    fn origin(&self) -> f64 {
        seconds(self.0.origin())
    }

    /// The most steps there may be.
    #[getter]
    fn limit(&self) -> usize {
        self.0.limit()
    }

    /// How many steps there are.
    fn __len__(&self) -> usize {
        self.0.step_count()
    }

    fn __repr__(&self) -> String {
        let (processors, steps) = (self.0.processors(), self.0.step_count());
        format!("<Availability of {processors} processors in {steps} steps>")
    }

    /// A copy that changes by itself.
    fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    /// How many processors are free at that time; none before the origin.
    fn free_at(&self, at: f64) -> Result<u32, Failure> {
        Ok(self.0.free_at(time("at", at)?))
    }

    /// How many processors are free throughout an interval; none if it begins before the origin.
    #[pyo3(signature = (start, length))]
    fn least_free(&self, start: f64, length: f64) -> Result<u32, Failure> {
        Ok(self.0.least_free(interval(start, length)?))
    }

    /// The steps in order: their times, and how many processors are free from each until the next.
    fn steps<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>) {
        let (times, free) = self.0.steps().map(|(at, free)| (seconds(at), free)).unzip();
        (PyArray1::from_vec(py, times), PyArray1::from_vec(py, free))
    }

    /// The earliest time, not before `after`, from which `count` processors are free for `length` seconds.
    #[pyo3(signature = (count, length, after=0.0))]
    fn earliest_fit(&mut self, count: f64, length: f64, after: f64) -> Result<f64, Failure> {
        Ok(seconds(self.fit(count, length, after)?.start()))
    }

    /// The earliest fit of each of many jobs, as if it were alone. `after` is a time, or one for each job.
    #[pyo3(signature = (counts, lengths, after=Each::Same(0.0)))]
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn earliest_fits<'py>(
        &mut self,
        py: Python<'py>,
        counts: Reals<'py>,
        lengths: Each<'py>,
        after: Each<'py>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let starts = rows(&counts, &lengths, &after)?.enumerate();
        let starts = starts.map(|(row, [size, lasting, from])| {
            let fit = self.fit(size, lasting, from).map_err(in_row(row))?;
            Ok(seconds(fit.start()))
        });
        Ok(PyArray1::from_vec(
            py,
            starts.collect::<Result<_, Failure>>()?,
        ))
    }

    /// Gives each of many jobs, one after the other, its earliest fit, reserves that, and returns the starts: the plan of
    /// conservative backfilling. If a job is refused, nothing has changed.
    #[pyo3(signature = (counts, lengths, after=Each::Same(0.0)))]
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn place<'py>(
        &mut self,
        py: Python<'py>,
        counts: Reals<'py>,
        lengths: Each<'py>,
        after: Each<'py>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let jobs = rows(&counts, &lengths, &after)?;
        let taken = self.take_all(jobs, |own, [size, lasting, from]| {
            let interval = own.fit(size, lasting, from)?;
            own.take(interval, size)
        })?;
        let starts = taken.iter().map(|(interval, _)| seconds(interval.start()));
        Ok(PyArray1::from_vec(py, starts.collect()))
    }

    /// Takes `count` processors for `length` seconds from `start` on.
    #[pyo3(signature = (start, length, count))]
    fn reserve(&mut self, start: f64, length: f64, count: f64) -> Result<(), Failure> {
        self.take(interval(start, length)?, count)?;
        Ok(())
    }

    /// Takes processors for many jobs, for all of them or for none.
    #[pyo3(signature = (starts, lengths, counts))]
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn reserve_all(
        &mut self,
        starts: Reals<'_>,
        lengths: Each<'_>,
        counts: Each<'_>,
    ) -> Result<(), Failure> {
        let jobs = rows(&starts, &lengths, &counts)?;
        self.take_all(jobs, |own, [start, lasting, size]| {
            own.take(interval(start, lasting)?, size)
        })?;
        Ok(())
    }

    /// Gives `count` processors back for `length` seconds from `start` on, for a job that has ended early or gives up its
    /// place.
    #[pyo3(signature = (start, length, count))]
    fn release(&mut self, start: f64, length: f64, count: f64) -> Result<(), Failure> {
        let size = crate::times::count(count)?;
        self.0
            .release(interval(start, length)?, size)
            .map_err(refused)
    }

    /// Moves bookings, in this order, to the earliest times at or after `now` at which they fit after others have ended
    /// early, and returns their starts. None moves later.
    #[pyo3(signature = (now, starts, lengths, counts))]
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn compress<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        starts: Reals<'py>,
        lengths: Each<'py>,
        counts: Each<'py>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let bookings = rows(&starts, &lengths, &counts)?.enumerate();
        let bookings = bookings.map(|(row, [start, lasting, size])| {
            Ok(Booking {
                interval: interval(start, lasting).map_err(in_row(row))?,
                count: count(size).map_err(in_row(row))?,
            })
        });
        let mut bookings: Vec<Booking> = bookings.collect::<Result<_, Failure>>()?;
        self.0.compress(time("now", now)?, &mut bookings);
        let starts = bookings
            .iter()
            .map(|booking| seconds(booking.interval.start()));
        Ok(PyArray1::from_vec(py, starts.collect()))
    }

    /// Forgets everything before `now`, which becomes the origin.
    fn advance(&mut self, now: f64) -> Result<(), Failure> {
        self.0.advance(time("now", now)?);
        Ok(())
    }
}

//! Seconds of Python as times of the core, and arrays of them.

use gridweave_core::time::{Interval, Span, Time};
use numpy::ndarray::{ArrayView, Dimension};
use numpy::{AllowTypeChange, PyArrayLike, PyArrayLike1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::jobs::micros;

/// Numbers in anything that NumPy takes for an array.
pub(crate) type Reals<'py> = PyArrayLike1<'py, f64, AllowTypeChange>;

/// The numbers of an array, read where NumPy has them.
pub(crate) fn view<'a, D: Dimension>(
    array: &'a PyArrayLike<'_, f64, D, AllowTypeChange>,
) -> Result<ArrayView<'a, f64, D>, Failure> {
    readable(array.is_aligned())?;
    Ok(array.as_array())
}

/// Refuses numbers that are not where the processor expects some: their distance is no whole number of places either.
pub(crate) fn readable(is_aligned: bool) -> Result<(), Failure> {
    match is_aligned {
        true => Ok(()),
        false => Err(Failure::value(
            "the array is a column of packed records, whose numbers are not aligned; copy it with numpy.array",
        )),
    }
}

pub(crate) fn time(name: &str, seconds: f64) -> Result<Time, Failure> {
    let micros = micros(seconds);
    micros.map(Time::from_micros).ok_or_else(|| {
        Failure::Value(format!(
            "{name} is {seconds}, which is no time; give seconds from 0 on"
        ))
    })
}

pub(crate) fn length(seconds: f64) -> Result<Span, Failure> {
    let micros = micros(seconds).filter(|micros| *micros > 0);
    micros
        .map(Span::from_micros)
        .ok_or_else(|| Failure::Value(format!("length is {seconds}; give seconds above 0")))
}

pub(crate) fn interval(start: f64, seconds: f64) -> Result<Interval, Failure> {
    let interval = Interval::starting(time("start", start)?, length(seconds)?);
    interval.map_err(|error| Failure::Value(error.to_string()))
}

/// A number of processors or nodes.
pub(crate) fn count(number: f64) -> Result<u32, Failure> {
    let is_count = number >= 1.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0;
    match is_count {
        true => Ok(number as u32),
        false => Err(Failure::Value(format!(
            "count is {number}; give a whole number from 1 on"
        ))),
    }
}

pub(crate) fn seconds(time: Time) -> f64 {
    time.as_micros() as f64 / 1e6
}

/// The same number for each row, or one for each.
#[derive(FromPyObject)]
pub(crate) enum Each<'py> {
    Same(f64),
    Rows(Reals<'py>),
}

impl Each<'_> {
    /// The number for this row; `None` if there is none.
    fn at(&self, row: usize) -> Option<f64> {
        match self {
            Self::Same(number) => Some(*number),
            Self::Rows(rows) => rows.as_array().get(row).copied(),
        }
    }

    fn suits(&self, rows: usize) -> Result<bool, Failure> {
        match self {
            Self::Same(_) => Ok(true),
            Self::Rows(array) => Ok(view(array)?.len() == rows),
        }
    }
}

/// The rows of three columns. Columns of different lengths are refused.
pub(crate) fn rows(
    first: &Reals<'_>,
    second: &Each<'_>,
    third: &Each<'_>,
) -> Result<impl Iterator<Item = [f64; 3]>, Failure> {
    let first = view(first)?;
    if !second.suits(first.len())? || !third.suits(first.len())? {
        return Err(Failure::value(
            "the arrays have different lengths; give one value for each row",
        ));
    }
    let rows = first.into_iter().enumerate();
    Ok(rows.map_while(|(row, number)| Some([*number, second.at(row)?, third.at(row)?])))
}

/// An error about a row of arrays.
pub(crate) fn in_row(row: usize) -> impl Fn(Failure) -> Failure {
    move |failure| failure.within(&format!("row {row}"))
}

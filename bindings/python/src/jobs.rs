//! Columns of numbers as jobs.

use std::sync::{Mutex, PoisonError};

use gridweave_core::time::{Span, Time};
use gridweave_lab::workload::{Submission, Workload};
use numpy::ndarray::ArrayView1;
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::times::readable;

/// A column: whole numbers or reals, read where NumPy has them.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Real(PyReadonlyArray1<'py, f64>),
}

/// The numbers of a column.
#[derive(Clone, Copy)]
enum Numbers<'a> {
    Whole(ArrayView1<'a, i64>),
    Real(ArrayView1<'a, f64>),
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Whole(array) => array.len(),
            Self::Real(array) => array.len(),
        }
    }

    fn is_aligned(&self) -> bool {
        match self {
            Self::Whole(array) => array.is_aligned(),
            Self::Real(array) => array.is_aligned(),
        }
    }

    fn numbers(&self) -> Numbers<'_> {
        match self {
            Self::Whole(array) => Numbers::Whole(array.as_array()),
            Self::Real(array) => Numbers::Real(array.as_array()),
        }
    }
}

/// 2^53: larger reals are not exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Seconds as whole microseconds; `None` if they are below zero, no number, or beyond what is exact.
pub(crate) fn micros(seconds: f64) -> Option<u64> {
    let micros = (seconds * 1e6).round();
    (0.0..EXACT).contains(&micros).then_some(micros as u64)
}

impl Numbers<'_> {
    /// The number at this index as microseconds, if it is one.
    fn micros(self, index: usize) -> Option<u64> {
        match self {
            Self::Whole(array) => u64::try_from(array[index]).ok()?.checked_mul(1_000_000),
            Self::Real(array) => micros(array[index]),
        }
    }

    /// The whole number at this index, if it is one.
    fn whole(self, index: usize) -> Option<u64> {
        match self {
            Self::Whole(array) => u64::try_from(array[index]).ok(),
            Self::Real(array) => {
                let number = array[index];
                let is_whole = (0.0..EXACT).contains(&number) && number.fract() == 0.0;
                is_whole.then_some(number as u64)
            }
        }
    }

    fn small(self, index: usize) -> Option<u32> {
        u32::try_from(self.whole(index)?).ok()
    }

    /// The number as Python shows it.
    fn shown(self, index: usize) -> String {
        match self {
            Self::Whole(array) => array[index].to_string(),
            Self::Real(array) => array[index].to_string(),
        }
    }

    fn wrong(self, name: &str, index: usize, what: &str) -> Failure {
        Failure::Value(format!(
            "{name}: row {index} is {}, which is no {what}; correct the row, or leave it out",
            self.shown(index)
        ))
    }
}

/// The jobs of a data frame, until a run takes them.
#[pyclass(frozen, module = "gridweave._gridweave")]
pub(crate) struct Jobs(Mutex<Option<Workload>>);

impl Jobs {
    /// The jobs; they can be taken once.
    pub(crate) fn take(&self) -> Result<Workload, Failure> {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.take()
            .ok_or_else(|| Failure::Defect("these jobs were taken before".into()))
    }
}

#[pymethods]
impl Jobs {
    #[new]
    #[pyo3(signature = (name, submit, run, nodes, requested=None, job=None, user=None, group=None, site=None, memory=None))]
    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "so that NumPy's arrays are borrowed"
    )]
    fn new(
        py: Python<'_>,
        name: &str,
        submit: Column<'_>,
        run: Column<'_>,
        nodes: Column<'_>,
        requested: Option<Column<'_>>,
        job: Option<Column<'_>>,
        user: Option<Column<'_>>,
        group: Option<Column<'_>>,
        site: Option<Column<'_>>,
        memory: Option<Column<'_>>,
    ) -> Result<Self, Failure> {
        let rows = submit.len();
        let others = [&requested, &job, &user, &group, &site, &memory];
        let lengths = others.iter().filter_map(|it| it.as_ref().map(Column::len));
        if lengths
            .chain([run.len(), nodes.len()])
            .any(|length| length != rows)
        {
            return Err(Failure::value(format!(
                "{name}: columns have different lengths, and submit has {rows}; give columns of one table"
            )));
        }
        let all = others.iter().filter_map(|column| column.as_ref());
        for column in all.chain([&submit, &run, &nodes]) {
            readable(column.is_aligned())?;
        }
        let (submit, run, nodes) = (submit.numbers(), run.numbers(), nodes.numbers());
        let [requested, job, user, group, site, memory] =
            others.map(|column| column.as_ref().map(Column::numbers));
        // Numbers below zero, and what is no number, stand for what is not known.
        let known = |column: Option<Numbers<'_>>, row: usize| column?.small(row);
        let mut jobs = Vec::with_capacity(rows);
        for row in 0..rows {
            let at = submit.micros(row);
            let at = at.ok_or_else(|| submit.wrong("submit", row, "time in seconds from 0 on"))?;
            let length = run.micros(row).filter(|length| *length > 0);
            let length =
                length.ok_or_else(|| run.wrong("run", row, "run time in seconds above 0"))?;
            let size = nodes.small(row).filter(|size| *size > 0);
            let size = size.ok_or_else(|| nodes.wrong("nodes", row, "number of nodes above 0"))?;
            let number = match job {
                None => row as u64,
                Some(job) => job
                    .whole(row)
                    .ok_or_else(|| job.wrong("job", row, "whole number from 0 on"))?,
            };
            jobs.push(Submission {
                requested_time: requested
                    .and_then(|it| it.micros(row))
                    .map(Span::from_micros),
                user: known(user, row).unwrap_or(0),
                group: known(group, row).unwrap_or(0),
                site: known(site, row),
                memory: memory.and_then(|it| it.whole(row)),
                ..Submission::new(
                    number,
                    Time::from_micros(at),
                    Span::from_micros(length),
                    size,
                )
            });
        }
        let workload = py.detach(|| Workload::given(name, jobs));
        let workload = workload.map_err(|error| Failure::Value(format!("{name}: {error}")))?;
        Ok(Self(Mutex::new(Some(workload))))
    }
}

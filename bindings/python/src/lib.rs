//! The compiled half of the Python package `gridweave`: experiments of the lab, and searches of the core on arrays.
//!
//! What users call is in `python/gridweave`. Simulations run on threads of their own ([`threads`]), without the GIL, while
//! the thread that called waits for signals. Columns of results are made in Rust and given to NumPy as they are.

mod availability;
mod failure;
mod jobs;
mod request;
mod run;
mod schedule;
mod threads;
mod times;

use pyo3::prelude::*;

#[pymodule]
mod _gridweave {
    use gridweave_lab::results::{Estimate, FinalState};
    use gridweave_lab::schedulers::Scheduler;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::availability::Availability;
    #[pymodule_export]
    use crate::jobs::Jobs;
    #[pymodule_export]
    use crate::run::{Run, command, compare, jobs_info, joined, run, sweep, trace_info};
    #[pymodule_export]
    use crate::schedule::{CommonSearch, Schedule};

    /// The mean of some values, and the half-width of its 95 % confidence interval.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn mean_and_interval(values: Vec<f64>) -> (f64, f64) {
        let Estimate { mean, ci95 } = Estimate::of(&values);
        (mean, ci95)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let names = Scheduler::ALL.iter().map(|it| it.name());
        module.add("SCHEDULERS", names.collect::<Vec<_>>())?;
        module.add(
            "FINAL_STATES",
            FinalState::ALL.map(FinalState::name).to_vec(),
        )?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}

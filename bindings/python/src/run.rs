//! Runs, comparisons and sweeps.

use std::path::PathBuf;

use gridweave_lab::config::Config;
use gridweave_lab::experiment::{
    Prepared, Requested, Results, Sweep, Waits, join, prepare, prepare_given, tables,
    wait_difference, wait_ratio,
};
use gridweave_lab::program::{Caller, call, write_run};
use gridweave_lab::results::{FinalState, JobRow, Row, Summary, allocations};
use gridweave_lab::schedulers::Scheduler;
use gridweave_lab::workload::{Info, Origin, Workload, read};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyList;
use toml::{Table, Value};

use crate::failure::Failure;
use crate::jobs::Jobs;
use crate::request::Request;
use crate::threads::{self, Task, Turn, Watch, on_thread, on_threads};

/// A finished run, with its jobs.
#[pyclass(frozen, module = "gridweave._gridweave")]
pub(crate) struct Run {
    prepared: Prepared,
    results: Results,
}

impl Run {
    fn make(prepared: Prepared, turn: &Turn) -> Result<Self, Failure> {
        let results = prepared.execute(&turn.monitor)?;
        Ok(Self { prepared, results })
    }

    /// A column with a value for each job, made without the GIL and given to NumPy as it is.
    fn column<'py, T: Element>(
        &self,
        py: Python<'py>,
        of: impl Fn(&JobRow) -> T + Sync,
    ) -> Bound<'py, PyAny> {
        let column = py.detach(|| {
            let facts = self.prepared.facts();
            let rows = 0..self.prepared.workload.jobs.len();
            let rows = rows.map(|index| JobRow::of(&facts, &self.results.run, index));
            rows.map(|row| of(&row)).collect::<Vec<T>>()
        });
        PyArray1::from_vec(py, column).into_any()
    }

    fn waits(&self) -> Waits {
        Waits::of(&self.prepared.workload, &self.results.run)
    }
}

fn seconds(span: Option<gridweave_core::time::Span>) -> f64 {
    span.map_or(f64::NAN, |span| span.as_micros() as f64 / 1e6)
}

fn moment(time: Option<gridweave_core::time::Time>) -> f64 {
    seconds(time.map(|time| time - gridweave_core::time::Time::ZERO))
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::Defect(error.to_string()))
}

#[pymethods]
impl Run {
    /// The content of `summary.json`.
    fn summary(&self) -> Result<String, Failure> {
        json(&self.results.summary)
    }

    /// The content of `engine.json`.
    fn cost(&self) -> Result<String, Failure> {
        json(&self.results.cost)
    }

    /// The content of `config.toml`.
    fn config(&self) -> Result<String, Failure> {
        Ok(self.prepared.config.to_toml()?)
    }

    /// Notes about the workload.
    fn notes(&self) -> Vec<String> {
        self.prepared.notes.clone()
    }

    fn __len__(&self) -> usize {
        self.prepared.workload.jobs.len()
    }

    /// A column of `jobs.csv`; of `final_state` the indices into `FINAL_STATES`.
    fn job_column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        Ok(match name {
            "job_id" => self.column(py, |row| row.number),
            "submission_time" => self.column(py, |row| moment(Some(row.submitted))),
            "requested_number_of_resources" => self.column(py, |row| row.size),
            "requested_time" => self.column(py, |row| seconds(Some(row.requested))),
            "success" => self.column(py, |row| row.state == FinalState::Completed),
            "final_state" => self.column(py, |row| row.state as u8),
            "starting_time" => self.column(py, |row| moment(row.start)),
            "execution_time" => self.column(py, |row| seconds(row.execution())),
            "finish_time" => self.column(py, |row| moment(row.end)),
            "waiting_time" => self.column(py, |row| seconds(row.wait())),
            "turnaround_time" => self.column(py, |row| seconds(row.turnaround())),
            "stretch" => self.column(py, |row| row.stretch().unwrap_or(f64::NAN)),
            "allocated_resources" => {
                let sets = py.detach(|| {
                    let nodes = u32::try_from(self.prepared.facts().nodes()).unwrap_or(u32::MAX);
                    let sets = allocations(&self.results.run, &self.prepared.workload, nodes);
                    sets.iter().map(ToString::to_string).collect::<Vec<_>>()
                });
                PyList::new(py, sets)?.into_any()
            }
            _ => return Err(Failure::Value(format!("there is no column '{name}'")).into()),
        })
    }

    /// A column of `series.csv`.
    fn series_column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        fn column<'py, T: Element>(
            py: Python<'py>,
            rows: &[Row],
            of: impl Fn(&Row) -> T,
        ) -> Bound<'py, PyAny> {
            PyArray1::from_vec(py, rows.iter().map(of).collect()).into_any()
        }
        let rows = self.results.series.as_slice();
        Ok(match name {
            "time" => column(py, rows, |row| row.time),
            "requested_utilization" => column(py, rows, |row| row.requested_utilization),
            "effective_utilization" => column(py, rows, |row| row.effective_utilization),
            "queue_length" => column(py, rows, |row| row.queue_length),
            "idle_nodes" => column(py, rows, |row| row.idle_nodes),
            "messages" => column(py, rows, |row| row.messages),
            _ => return Err(Failure::Value(format!("there is no column '{name}'")).into()),
        })
    }

    /// Writes the files that `gridweave run --out` writes.
    #[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
    fn write(&self, py: Python<'_>, out: PathBuf) -> Result<(), Failure> {
        py.detach(|| write_run(&self.prepared, &self.results, &out))?;
        Ok(())
    }

    /// The total wait divided by that of another run, over the jobs that both ran.
    fn wait_ratio(&self, other: &Self) -> Option<f64> {
        wait_ratio(&self.waits(), &other.waits())
    }

    /// By how many seconds jobs waited longer than in another run, on average over the jobs that both ran.
    fn wait_difference(&self, other: &Self) -> Option<f64> {
        wait_difference(&self.waits(), &other.waits())
    }
}

/// The jobs that the caller brings, if any.
fn brought(jobs: Option<&Jobs>) -> Result<Option<Workload>, Failure> {
    jobs.map(Jobs::take).transpose()
}

fn prepared(config: &Config, jobs: Option<Workload>) -> Result<Prepared, Failure> {
    Ok(match jobs {
        Some(jobs) => prepare_given(config, jobs)?,
        None => prepare(config)?,
    })
}

/// Replays a workload under one scheduler.
#[pyfunction]
#[pyo3(signature = (request, jobs=None, progress=None))]
pub(crate) fn run(
    py: Python<'_>,
    request: &str,
    jobs: Option<&Jobs>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Run> {
    let jobs = brought(jobs)?;
    let config = Request::parse(request)?.config(jobs.is_some())?;
    let prepared = on_thread(py, Watch::default(), move |_| {
        let prepared = prepared(&config, jobs)?;
        prepared.check()?;
        Ok(prepared)
    })?;
    let watch = Watch {
        callback: progress,
        jobs: Some(prepared.workload.jobs.len() as u64),
    };
    on_thread(py, watch, move |turn| Run::make(prepared, turn))
}

/// A table of a comparison: its name, its title, the scheduler that others are compared with, and the runs of each
/// scheduler.
type Compared = (String, String, String, Vec<(String, Vec<Run>)>);

/// Replays a workload under several schedulers.
#[pyfunction]
#[pyo3(signature = (request, jobs=None, schedulers=vec![], requested=false, runs=1, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
#[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
pub(crate) fn compare(
    py: Python<'_>,
    request: &str,
    jobs: Option<&Jobs>,
    schedulers: Vec<String>,
    requested: bool,
    runs: u32,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Compared>> {
    let named = schedulers.iter().map(|name| name.parse::<Scheduler>());
    let chosen = named.collect::<Result<Vec<_>, _>>();
    let chosen = chosen.map_err(|error| Failure::Value(error.to_string()))?;
    let jobs = brought(jobs)?;
    let is_given = jobs.is_some();
    let config = Request::parse(request)?.config(is_given)?;
    let requested = match requested {
        true => Requested::Too,
        false => Requested::No,
    };
    let tables = on_thread(py, Watch::default(), move |_| {
        Ok(tables(&prepared(&config, jobs)?, &chosen, requested)?)
    })?;
    let mut tasks: Vec<Task<Run>> = Vec::new();
    let mut all = 0;
    for table in &tables {
        if is_given && runs > 1 && table.prepared.draws_jobs() {
            return Err(Failure::value(
                "grid.kinds or workload.organisations draw what jobs are like anew for each seed, and these jobs are given; give runs=1 and a seed",
            )
            .into());
        }
        for scheduler in &table.schedulers {
            for number in 0..u64::from(runs) {
                let prepared = table.prepared.under(*scheduler);
                all += prepared.workload.jobs.len() as u64;
                tasks.push(Box::new(move |turn: &Turn| {
                    let seed = prepared.config.seed.saturating_add(number);
                    Run::make(prepared.seeded(seed)?, turn)
                }));
            }
        }
    }
    let watch = Watch {
        callback: progress,
        jobs: Some(all),
    };
    let mut made = on_threads(py, watch, threads::count(threads), tasks)?.into_iter();
    let compared = tables.into_iter().map(|table| {
        let reference = table.reference().name().to_owned();
        let rows = table.schedulers.iter().map(|scheduler| {
            let own = made.by_ref().take(runs as usize).collect();
            (scheduler.name().to_owned(), own)
        });
        let rows = rows.collect();
        (table.name.to_owned(), table.title, reference, rows)
    });
    Ok(compared.collect())
}

/// A run of a sweep: its name, its varied keys with their values, its summary, and the run if it is kept.
type Swept = (String, Vec<(String, String)>, String, Option<Run>);

/// Makes all runs of a sweep: those of a file, or every combination of the values of `vary`, as JSON.
#[pyfunction]
#[pyo3(signature = (request, vary, jobs=None, keep=false, threads=None, progress=None))]
pub(crate) fn sweep(
    py: Python<'_>,
    request: &str,
    vary: &str,
    jobs: Option<&Jobs>,
    keep: bool,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Swept>> {
    let jobs = brought(jobs)?.map(std::sync::Arc::new);
    let base = Request::parse(request)?.config(jobs.is_some())?;
    let vary: Table = serde_json::from_str(vary)
        .map_err(|error| Failure::value(format!("vary: {error}; give lists of values")))?;
    let base: Table = base
        .to_toml()
        .map_err(Failure::from)?
        .parse()
        .map_err(|_| Failure::Defect("a configuration does not read back".into()))?;
    let file = Table::from_iter([
        ("base".to_owned(), Value::Table(base)),
        ("vary".to_owned(), Value::Table(vary)),
    ]);
    let points = Sweep::parse(&file.to_string())
        .map_err(Failure::from)?
        .points;
    let names: Vec<_> = points
        .iter()
        .map(|point| (point.name.clone(), point.values.clone()))
        .collect();
    let tasks = points.into_iter().map(|point| {
        let jobs = jobs.clone();
        let task: Task<(String, Option<Run>)> = Box::new(move |turn: &Turn| {
            let named = |failure: Failure| failure.within(&point.name);
            let jobs = jobs.map(std::sync::Arc::unwrap_or_clone);
            let prepared = prepared(&point.config, jobs).map_err(named)?;
            let run = Run::make(prepared, turn).map_err(named)?;
            Ok((run.summary()?, keep.then_some(run)))
        });
        task
    });
    let tasks = tasks.collect();
    let watch = Watch {
        callback: progress,
        jobs: None,
    };
    let made = on_threads(py, watch, threads::count(threads), tasks)?;
    let rows = names.into_iter().zip(made);
    Ok(rows
        .map(|((name, values), (summary, run))| (name, values, summary, run))
        .collect())
}

/// What `summary.json` has of several runs: means with confidence intervals.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "as Python gives it")]
pub(crate) fn joined(py: Python<'_>, runs: Vec<Py<Run>>) -> Result<String, Failure> {
    let runs: Vec<_> = runs.iter().map(|run| run.bind(py).get()).collect();
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.results.summary).collect();
    let wanted = u32::try_from(summaries.len()).unwrap_or(u32::MAX);
    let joined = join(&summaries, wanted);
    json(&joined.map_err(|error| Failure::Defect(error.to_string()))?)
}

/// What is in a trace, as JSON.
#[pyfunction]
#[pyo3(signature = (file, nodes=None))]
pub(crate) fn trace_info(py: Python<'_>, file: PathBuf, nodes: Option<u32>) -> PyResult<String> {
    on_thread(py, Watch::default(), move |_| {
        let trace = read(&file, Origin::FirstJob)?;
        json(&Info::of(&trace, nodes.or(trace.header.max_procs())))
    })
}

/// The same of the jobs of a data frame.
#[pyfunction]
#[pyo3(signature = (jobs, nodes=None))]
pub(crate) fn jobs_info(py: Python<'_>, jobs: &Jobs, nodes: Option<u32>) -> PyResult<String> {
    let jobs = jobs.take()?;
    Ok(py.detach(|| json(&Info::of_workload(&jobs, nodes)))?)
}

/// Calls a command of the program, and returns what it prints with `--json`.
#[pyfunction]
#[pyo3(signature = (arguments, program, progress=None))]
pub(crate) fn command(
    py: Python<'_>,
    arguments: Vec<String>,
    program: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let watch = Watch {
        callback: progress,
        jobs: None,
    };
    on_thread(py, watch, move |turn| {
        let caller = Caller {
            stop: turn.stop.clone(),
            progress: turn.monitor.clone(),
            program,
        };
        json(&call(arguments, caller)?)
    })
}

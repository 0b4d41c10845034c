//! Simulates a prepared experiment, and summarises it.

use std::io::Write;
use std::path::Path;

use gridweave_core::time::Time;
use gridweave_sim::monitor::Monitor;

use super::error::InputError;
use super::prepare::Prepared;
use crate::grid::Grid;
use crate::results::{
    Cost, Draft, Facts, FolderError, MOST_ROWS, Meter, Organisation, Row, Summary, series,
    write_jobs, write_json,
};
use crate::run::Run;

/// The results of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// The simulated run.
    pub run: Run,
    /// The run over time.
    pub series: Vec<Row>,
    /// Summary statistics.
    pub summary: Summary,
    /// The time and memory that the simulation took.
    pub cost: Cost,
}

impl Prepared {
    /// Refuses an experiment that cannot be simulated; [`Prepared::execute`] begins with this.
    pub fn check(&self) -> Result<(), InputError> {
        let window = self.config.report.window;
        let last = self.workload.jobs.last().map_or(Time::ZERO, |job| job.at);
        if last.as_micros() / window.as_micros().max(1) >= MOST_ROWS {
            return Err(InputError::ShortWindow { window });
        }
        let side = self.config.scheduler.side();
        if !self.config.grid.kinds.is_empty() && !side.places_by_kind() {
            return Err(InputError::EqualNodes(self.config.scheduler));
        }
        side.check(self)
    }

    /// What the summary needs to know of the experiment.
    pub fn facts(&self) -> Facts<'_> {
        let is_central = self.config.scheduler.side().is_central();
        Facts {
            scheduler: self.config.scheduler.name(),
            seed: self.config.seed,
            workload: &self.workload,
            skipped: self.skipped,
            grid: &self.grid,
            joining: match *self.grid {
                Grid::Uniform(_) if !is_central => self.joining_later().count() as u64,
                _ => 0,
            },
            estimates: match is_central {
                true => self.config.workload.estimates.for_central(),
                false => self.config.workload.estimates,
            },
        }
    }

    /// Runs the simulation. If the monitor is told to stop, the results are partial, and say so.
    pub fn execute(&self, monitor: &Monitor) -> Result<Results, InputError> {
        self.check()?;
        let meter = Meter::start();
        let run = self.config.scheduler.side().simulate(self, monitor)?;
        let cost = meter.stop(run.events);
        Ok(self.results(run, cost))
    }

    /// The results of a run of this experiment.
    pub(crate) fn results(&self, run: Run, cost: Cost) -> Results {
        let series = series(&self.facts(), &run, self.config.report.window);
        self.results_over_time(run, series, cost)
    }

    /// The same with what is known of each window already.
    pub(crate) fn results_over_time(&self, run: Run, series: Vec<Row>, cost: Cost) -> Results {
        let facts = self.facts();
        let threshold = self.config.report.slowdown_threshold;
        let mut summary = Summary::new(&facts, &run, &series, threshold);
        if !self.config.grid.kinds.is_empty() || self.config.workload.organisations.is_some() {
            summary.organisations = Organisation::all(&self.workload, &run);
        }
        Results {
            run,
            series,
            summary,
            cost,
        }
    }
}

impl Results {
    /// Writes all files of the run into a draft, below `place`.
    pub fn write(
        &self,
        prepared: &Prepared,
        draft: &Draft,
        place: &Path,
    ) -> Result<(), FolderError> {
        draft.write(place.join("config.toml"), |file| {
            let text = prepared.config.to_toml().map_err(std::io::Error::other)?;
            file.write_all(text.as_bytes())
        })?;
        draft.write(place.join("jobs.csv"), |file| {
            write_jobs(&prepared.facts(), &self.run, file)
        })?;
        draft.write(place.join("series.csv"), |file| {
            let mut csv = csv::Writer::from_writer(file);
            for row in &self.series {
                csv.serialize(row)?;
            }
            csv.flush()
        })?;
        if !self.run.pictures.is_empty() {
            draft.write(place.join("zones.json"), |file| {
                write_json(&self.run.pictures, file)
            })?;
        }
        draft.write(place.join("summary.json"), |file| {
            write_json(&self.summary, file)
        })?;
        draft.write(place.join("engine.json"), |file| {
            write_json(&self.cost, file)
        })
    }
}

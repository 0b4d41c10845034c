//! Makes the runs and the measurements of a paper's parts.

use std::collections::BTreeMap;

use anyhow::bail;

use super::super::options::Reproduction;
use super::super::progress::{Goal, Watched};
use super::super::session::Session;
use crate::config::Config;
use crate::experiment::{InputError, Prepared, jobs_of, prepare};
use crate::reproduce::kept::{Kept, Study};
use crate::reproduce::page;
use crate::reproduce::seeds::BySeed;
use crate::reproduce::{Finished, Measured, Options, Planned, Report, Reproducible, Sample};

/// A part of a paper with its results.
pub(super) struct Shown {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The names of its runs.
    pub(super) runs: Vec<String>,
    pub(super) report: Report,
    /// The figures of its runs under each seed.
    pub(super) by_seed: BySeed,
    /// The digest of its runs, measurements and tables.
    pub(super) digest: String,
}

/// The parts to be made, with the runs that they need.
pub(super) struct Plan<'a> {
    pub(super) paper: &'a dyn Reproducible,
    parts: Vec<usize>,
    plans: Vec<Vec<Planned>>,
}

/// All runs and measurements of some parts.
pub(super) struct Made {
    /// The name of each run, in the order of their first use.
    names: Vec<String>,
    /// The runs of the first name, one for each seed, then those of the second, and so on.
    finished: Vec<Finished>,
    seeds: usize,
    /// What each part has measured.
    studies: Vec<Vec<Measured>>,
}

/// The seeds of a reproduction.
pub(super) fn seeds(choice: &Reproduction) -> impl Iterator<Item = u64> + use<> {
    let first = choice.seed;
    (0..u64::from(choice.runs)).map(move |number| first + number)
}

impl<'a> Plan<'a> {
    /// Plans the parts with these names, or all.
    pub(super) fn new(paper: &'a dyn Reproducible, only: &[String]) -> anyhow::Result<Self> {
        let parts = chosen(paper, only)?;
        let plans = parts
            .iter()
            .map(|part| paper.plan(*part))
            .collect::<Result<Vec<Vec<Planned>>, InputError>>()?;
        for (part, plan) in parts.iter().zip(&plans) {
            let (name, _) = paper.parts()[*part];
            let empty = plan.is_empty() && paper.cases(*part).is_empty();
            if empty && only.iter().any(|only| only == name) {
                bail!(
                    "--only {name}: there is nothing to make it of; give a trace with --trace, or a longer one"
                );
            }
        }
        Ok(Self {
            paper,
            parts,
            plans,
        })
    }

    /// The parts for which there is something to make.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let parts = self.paper.parts();
        let made = self.parts.iter().zip(&self.plans);
        made.filter(|(part, plan)| !plan.is_empty() || !self.paper.cases(**part).is_empty())
            .map(|(part, _)| parts[*part].0)
            .collect()
    }

    /// The runs, each once.
    fn distinct(&self) -> Vec<&Planned> {
        let mut distinct: Vec<&Planned> = Vec::new();
        for planned in self.plans.iter().flatten() {
            if !distinct.iter().any(|known| known.name == planned.name) {
                distinct.push(planned);
            }
        }
        distinct
    }

    /// Reads or generates all jobs, so that what cannot be used is reported before anything is written.
    pub(super) fn tasks(&self, choice: &Reproduction) -> anyhow::Result<Vec<Prepared>> {
        tasks(&self.distinct(), choice)
    }

    /// Makes all runs and measurements, on all cores; `None` after a Ctrl-C. From here to publishing, the first one
    /// only asks runs to stop.
    pub(super) fn make(
        &self,
        session: &Session,
        choice: &Reproduction,
        options: &Options,
        kept: &Kept,
        tasks: Vec<Prepared>,
    ) -> anyhow::Result<Option<Made>> {
        let finished = make(session, kept, tasks)?;
        let studies = self.study(session, choice, options, kept)?;
        let (Some(finished), Some(studies)) = (finished, studies) else {
            return Ok(None);
        };
        let names = self.distinct().into_iter();
        Ok(Some(Made {
            names: names.map(|planned| planned.name.clone()).collect(),
            finished,
            seeds: choice.runs as usize,
            studies,
        }))
    }

    /// The parts with their results, behind their figures under earlier seeds.
    pub(super) fn shown(&self, made: &Made, mut earlier: BTreeMap<String, BySeed>) -> Vec<Shown> {
        let made_runs = made.by_name();
        let parts = self.parts.iter().zip(&self.plans).zip(&made.studies);
        let shown = parts.map(|((part, plan), measured)| {
            let (name, title) = self.paper.parts()[*part];
            let by_seed = earlier.remove(name).unwrap_or_default();
            let names = || plan.iter().map(|planned| planned.name.as_str());
            let own: Vec<Sample<'_>> = names()
                .map(|name| Sample::new(name, made_runs[name], &by_seed))
                .collect();
            let report = self.paper.report(*part, &own, measured);
            let runs: Vec<&Finished> = names().flat_map(|name| made_runs[name]).collect();
            Shown {
                name,
                title,
                runs: names().map(str::to_owned).collect(),
                digest: page::digest(&runs, measured, &report),
                report,
                by_seed,
            }
        });
        shown.collect()
    }

    /// Makes all studies of these parts on all cores, under all seeds; `None` if the user pressed Ctrl-C. For a part
    /// without a study, nothing is measured.
    fn study(
        &self,
        session: &Session,
        choice: &Reproduction,
        options: &Options,
        kept: &Kept,
    ) -> anyhow::Result<Option<Vec<Vec<Measured>>>> {
        let mut all = Vec::new();
        let mut tasks = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let cases = self.paper.cases(*part);
            for case in 0..cases.len() {
                tasks.extend(seeds(choice).map(|seed| (number, case, seed)));
            }
            let measured = cases.into_iter().map(|name| Measured {
                name,
                runs: Vec::new(),
            });
            all.push(measured.collect::<Vec<Measured>>());
        }
        if tasks.is_empty() || session.stopped() {
            return Ok(Some(all).filter(|_| !session.stopped()));
        }
        session.interrupt.begin();
        let watched = Watched::new(session, tasks.len(), Goal::Runs);
        let made = watched.each(tasks, |(number, case, seed), monitor| {
            let part = self.parts[number];
            let study = Study {
                paper: self.paper.key(),
                part: self.paper.parts()[part].0,
                case: &all[number][case].name,
                seed,
                options,
            };
            let figures = match kept.figures(&study) {
                Some(figures) => Ok(figures),
                None if session.stopped() => Ok(Vec::new()),
                None => {
                    let figures = self.paper.measure(part, case, seed, monitor)?;
                    if !session.stopped() {
                        kept.keep_figures(&study, &figures);
                    }
                    Ok(figures)
                }
            };
            figures.map(|figures: Vec<f64>| (number, case, figures))
        });
        let made = made.into_iter().collect::<Result<Vec<_>, InputError>>()?;
        for (number, case, figures) in made {
            all[number][case].runs.push(figures);
        }
        Ok(Some(all).filter(|_| !session.stopped()))
    }
}

impl Made {
    /// The runs of each name under all seeds.
    fn by_name(&self) -> BTreeMap<&str, &[Finished]> {
        let runs = self.finished.chunks(self.seeds);
        let names = self.names.iter().map(String::as_str);
        names.zip(runs).collect()
    }

    /// All runs by name.
    pub(super) fn runs(&self) -> Vec<(&str, &Finished)> {
        let all = self.by_name().into_iter();
        all.flat_map(|(name, runs)| runs.iter().map(move |run| (name, run)))
            .collect()
    }
}

/// The indices of the parts with these names; all parts if there are no names.
fn chosen(paper: &dyn Reproducible, only: &[String]) -> anyhow::Result<Vec<usize>> {
    let parts = paper.parts();
    for name in only {
        if !parts.iter().any(|(part, _)| part == name) {
            let known: Vec<&str> = parts.iter().map(|(part, _)| *part).collect();
            bail!(
                "--only {name}: {} has no such part; choose from {}",
                paper.key(),
                known.join(", ")
            );
        }
    }
    let wanted = |part: &usize| only.is_empty() || only.iter().any(|name| name == parts[*part].0);
    Ok((0..parts.len()).filter(wanted).collect())
}

/// All runs under all seeds: those of the first name, one per seed, then those of the second, and so on. Each workload
/// is read or generated once.
fn tasks(distinct: &[&Planned], choice: &Reproduction) -> anyhow::Result<Vec<Prepared>> {
    let mut workloads: Vec<(Config, Prepared)> = Vec::new();
    let mut tasks = Vec::new();
    for planned in distinct {
        for seed in seeds(choice) {
            let mut config = planned.config.clone();
            config.seed = seed;
            let jobs = jobs_of(&config);
            let known = workloads.iter().find(|(known, _)| *known == jobs);
            let prepared = match known {
                Some((_, prepared)) => prepared.clone(),
                None => {
                    let prepared = prepare(&config)?;
                    workloads.push((jobs, prepared.clone()));
                    prepared
                }
            };
            // Fills in what the workload decides.
            config.workload.trace = prepared.config.workload.trace.clone();
            config.workload.trace_digest = prepared.config.workload.trace_digest.clone();
            config.grid.nodes = prepared.config.grid.nodes;
            let task = Prepared { config, ..prepared };
            task.check()?;
            tasks.push(task);
        }
    }
    Ok(tasks)
}

/// Makes all runs on all cores, except those that are kept; `None` after a Ctrl-C.
fn make(
    session: &Session,
    kept: &Kept,
    tasks: Vec<Prepared>,
) -> anyhow::Result<Option<Vec<Finished>>> {
    session.interrupt.begin();
    let jobs = tasks.iter().map(|task| task.workload.jobs.len() as u64);
    let watched = Watched::new(session, tasks.len(), Goal::Jobs(jobs.sum()));
    let made = watched.each(tasks, |prepared, monitor| {
        if let Some(results) = kept.run(&prepared) {
            return Ok(Some(Finished::of(prepared, results)));
        }
        if session.stopped() {
            return Ok(None);
        }
        let results = prepared.execute(monitor)?;
        if !session.stopped() {
            kept.keep_run(&prepared, &results);
        }
        Ok(Some(Finished::of(prepared, results)))
    });
    let made = made
        .into_iter()
        .collect::<Result<Option<Vec<Finished>>, InputError>>()?;
    Ok(made.filter(|_| !session.stopped()))
}

//! Prepares the jobs and nodes of a configuration.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;

use gridweave_core::id::JobId;
use gridweave_core::time::Span;

use super::error::InputError;
use crate::config::{Config, Shape, SiteSizes, Source};
use crate::grid::Grid;
use crate::kinds::{organise, require};
use crate::outcome::Estimates;
use crate::schedulers::name::Scheduler;
use crate::workload::generate::GenerateError;
use crate::workload::{
    AboveCap, Cap, Format, Header, Oddities, Origin, Parallel, Skipped, TargetLoad, Trace,
    Transform, Window, WorkUnit, Workload, bundled, read_with_digest,
};

/// Jobs and nodes, ready to be simulated. Cheap to clone.
#[derive(Clone, PartialEq, Debug)]
pub struct Prepared {
    /// The configuration with all defaults filled in.
    pub config: Config,
    /// The jobs.
    pub workload: Arc<Workload>,
    /// The nodes.
    pub grid: Arc<Grid>,
    /// How many records were left out because they cannot run, of the whole source even if only a part of it is used.
    pub skipped: u64,
    /// Notes for the user about the workload: acknowledgements, and what was left out.
    pub notes: Vec<String>,
    /// The job whose life is told, by its index.
    pub explained: Option<JobId>,
}

/// Reads or generates the jobs and nodes of a configuration.
pub fn prepare(config: &Config) -> Result<Prepared, InputError> {
    let mut prepared = Prepared::begin(config)?;
    match config.workload.source {
        Source::Bundled => prepared.take_trace(bundled())?,
        Source::Trace => {
            let file = config.workload.trace.as_deref().unwrap_or(Path::new(""));
            let (trace, digest) = read_with_digest(file, Origin::FirstJob)?;
            prepared.pin_trace(file, digest)?;
            prepared.take_trace(trace)?;
        }
        Source::Aria => {
            prepared.take_generated(config.workload.aria.generate(config.seed))?;
        }
        Source::Desktop => {
            prepared.take_generated(config.workload.desktop.generate(config.seed))?;
        }
        Source::Grid5000Like => {
            prepared.take_generated(config.workload.grid5000_like.generate(config.seed))?;
        }
    }
    prepared.transform()?;
    Ok(prepared)
}

/// The same for jobs that the caller brings, which are transformed as those of a trace are.
///
/// The prepared configuration names them like a trace, by their name and their digest. It cannot be prepared again
/// without them.
pub fn prepare_given(config: &Config, jobs: Workload) -> Result<Prepared, InputError> {
    if config.workload.source != Source::Bundled {
        return Err(InputError::TwoWorkloads { name: jobs.name });
    }
    let mut prepared = Prepared::begin(config)?;
    let pinned = &mut prepared.config.workload;
    pinned.source = Source::Trace;
    pinned.trace = Some(jobs.name.clone().into());
    pinned.trace_digest = Some(jobs.digest());
    prepared.take_trace(Trace {
        workload: jobs,
        format: Format::Swf,
        header: Header::default(),
        offset: Span::ZERO,
        skipped: Skipped::default(),
        oddities: Oddities::default(),
    })?;
    prepared.transform()?;
    Ok(prepared)
}

fn draws_jobs(Config { grid, workload, .. }: &Config) -> bool {
    // Which jobs require what, and which organisation they are of, may be drawn.
    workload.source.is_generated() || !grid.kinds.is_empty() || workload.organisations.is_some()
}

/// The part of a configuration that decides jobs and nodes: two that have it in common are prepared alike.
pub(crate) fn jobs_of(config: &Config) -> Config {
    let mut jobs = Config {
        grid: config.grid.clone(),
        workload: config.workload.clone(),
        ..Config::default()
    };
    jobs.workload.estimates = Config::default().workload.estimates;
    jobs.rules.desktop.join_every = config.rules.desktop.join_every;
    if draws_jobs(config) {
        jobs.seed = config.seed;
    }
    jobs
}

impl Prepared {
    fn begin(config: &Config) -> Result<Self, InputError> {
        Ok(Self {
            config: config.clone().checked()?.with_absolute_files(),
            workload: Arc::default(),
            grid: Arc::new(Grid::Uniform(1)),
            skipped: 0,
            notes: Vec::new(),
            explained: None,
        })
    }

    /// The same jobs and nodes under another scheduler.
    #[must_use]
    pub fn under(&self, scheduler: Scheduler) -> Self {
        let mut other = self.clone();
        other.config.scheduler = scheduler;
        other
    }

    /// The same with another seed; generated jobs are made anew.
    pub fn seeded(&self, seed: u64) -> Result<Self, InputError> {
        let mut config = self.config.clone();
        config.seed = seed;
        if self.draws_jobs() && seed != self.config.seed {
            return prepare(&config);
        }
        Ok(Self {
            config,
            ..self.clone()
        })
    }

    /// Whether the jobs depend on the seed.
    pub fn draws_jobs(&self) -> bool {
        draws_jobs(&self.config)
    }

    /// The same with each job split into serial ones, as with `workload.shape = "serial"`.
    pub fn serial(&self) -> Result<Self, InputError> {
        let mut other = self.clone();
        other.config.workload.shape = Shape::Serial;
        let split = Transform {
            parallel: Parallel::Split,
            ..Transform::default()
        };
        other.apply(&split)?;
        Ok(other)
    }

    /// Stores the digest of the trace, or refuses the trace if another digest is already stored.
    fn pin_trace(&mut self, file: &Path, found: String) -> Result<(), InputError> {
        match &self.config.workload.trace_digest {
            Some(wanted) if *wanted != found => Err(InputError::OtherTrace {
                file: file.into(),
                found,
                wanted: wanted.clone(),
            }),
            _ => {
                self.config.workload.trace_digest = Some(found);
                Ok(())
            }
        }
    }

    fn take_trace(&mut self, trace: Trace) -> Result<(), InputError> {
        let cores = self.config.grid.cores_per_node;
        let nodes = self
            .config
            .grid
            .nodes
            .or_else(|| trace.header.max_procs().map(|procs| procs.div_ceil(cores)))
            .filter(|&nodes| nodes > 0)
            .ok_or_else(|| InputError::NoNodes {
                name: trace.workload.name.clone(),
            })?;
        self.config.grid.nodes = Some(nodes);
        self.grid = Arc::new(match self.config.grid.sites {
            None => Grid::Uniform(nodes),
            Some(sites) => {
                let made = match self.config.grid.site_sizes {
                    SiteSizes::Equal => Grid::sites(sites, nodes),
                    SiteSizes::Peaks => {
                        let peaks = trace.workload.site_peaks();
                        if peaks.len() != sites as usize {
                            return Err(InputError::OtherSites {
                                name: trace.workload.name,
                                sites,
                                found: peaks.len(),
                            });
                        }
                        Grid::weighted_sites(&peaks, nodes)
                    }
                };
                made.ok_or(InputError::TooManySites { sites, nodes })?
            }
        });
        self.skipped = trace.skipped.total();
        if self.skipped > 0 {
            let config = &self.config.workload;
            let is_cut = config.from.is_some() || config.until.is_some() || config.first.is_some();
            let whole = if is_cut { ", the whole file" } else { "" };
            let name = &trace.workload.name;
            self.notes.push(format!("{name}{whole}: {}", trace.skipped));
        }
        let thanks: Vec<&str> = trace.header.acknowledge().collect();
        if !thanks.is_empty() {
            let thanks = thanks.join(", ");
            self.notes
                .push(format!("{}: thanks to {thanks}", trace.workload.name));
        }
        self.workload = Arc::new(trace.workload);
        Ok(())
    }

    fn take_generated(
        &mut self,
        made: Result<(Workload, Grid), GenerateError>,
    ) -> Result<(), InputError> {
        let name = self.config.workload.source.key();
        let grid = &self.config.grid;
        if grid.nodes.is_some() || grid.cores_per_node != 1 || grid.sites.is_some() {
            return Err(InputError::OwnNodes { name });
        }
        let (workload, grid) = made.map_err(|error| InputError::Generate { name, error })?;
        if !self.config.grid.kinds.is_empty() && matches!(grid, Grid::Mixed(_)) {
            return Err(InputError::OwnNodes { name });
        }
        (self.workload, self.grid) = (Arc::new(workload), Arc::new(grid));
        Ok(())
    }

    fn transform(&mut self) -> Result<(), InputError> {
        let config = &self.config.workload;
        let window = (config.from.is_some() || config.until.is_some()).then(|| Window {
            from: config.from.unwrap_or_default(),
            until: config.until.unwrap_or(Span::MAX),
        });
        let cap = config.max_nodes.and_then(NonZeroU32::new);
        let transform = Transform {
            window,
            cores_per_node: NonZeroU32::new(self.config.grid.cores_per_node)
                .filter(|cores| cores.get() > 1),
            cap: cap.map(|nodes| Cap {
                nodes,
                above: AboveCap::Drop,
            }),
            parallel: match config.shape {
                Shape::Gangs => Parallel::Keep,
                Shape::Serial => Parallel::Split,
            },
            first: config.first.and_then(NonZeroUsize::new),
            stretch: config.stretch,
            load: config.load.map(|load| TargetLoad {
                capacity: self.grid.capacity(),
                load,
                by: Estimates::Exact,
                // Jobs are put into sites only later.
                unit: match self.config.grid.sites {
                    Some(_) => WorkUnit::Processor,
                    None => self.facts().unit(),
                },
            }),
            slot: config.slot,
        };
        self.apply(&transform)?;
        let mut workload = Arc::unwrap_or_clone(std::mem::take(&mut self.workload));
        organise(&mut workload, &self.config);
        require(&mut workload, &self.config);
        self.workload = Arc::new(workload);
        self.wait_for_nodes();
        Ok(())
    }

    /// If nodes join one by one, all jobs are delayed until after the last join.
    fn wait_for_nodes(&mut self) {
        if let Some(every) = self.config.rules.desktop.join_every {
            let all = every.times(self.grid.len() as u64 + 1);
            let mut workload = Arc::unwrap_or_clone(std::mem::take(&mut self.workload));
            for job in &mut workload.jobs {
                job.at += all;
            }
            for deadline in &mut workload.deadlines {
                *deadline += all;
            }
            self.workload = Arc::new(workload);
        }
    }

    fn apply(&mut self, transform: &Transform) -> Result<(), InputError> {
        let workload = Arc::unwrap_or_clone(std::mem::take(&mut self.workload));
        let name = workload.name.clone();
        let transformed = transform
            .apply(workload)
            .map_err(|error| InputError::Transform {
                name: name.clone(),
                error,
            })?;
        if transformed.dropped > 0 {
            self.skipped += transformed.dropped;
            self.notes.push(format!(
                "{name}: left out {} jobs above workload.max_nodes",
                transformed.dropped
            ));
        }
        let mut workload = transformed.workload;
        if let (Grid::Mixed(sites), Some(_)) = (&*self.grid, self.config.grid.sites)
            && let Some(slots) = sites.shares()
        {
            workload.put_into_sites(slots);
        }
        self.workload = Arc::new(workload);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(settings: &str) -> Prepared {
        prepare(&Config::parse(settings).unwrap()).unwrap()
    }

    #[test]
    fn what_is_reported_of_estimates_is_what_the_scheduler_was_told() {
        let settings = "scheduler = 'central-easy'\n[workload]\nfirst = 5\nestimates = ";
        for (told, central) in [
            ("'kill'", Estimates::Kill),
            ("'extend'", Estimates::Extend),
            ("'exact'", Estimates::Exact),
            ("'overrun'", Estimates::Extend),
        ] {
            let prepared = prepared(&format!("{settings}{told}"));
            assert_eq!(prepared.facts().estimates, central);
            let other = prepared.under(Scheduler::Random);
            assert_eq!(other.facts().estimates, other.config.workload.estimates);
        }
    }

    #[test]
    fn given_jobs_are_replayed_like_a_trace_and_named_by_their_digest() {
        let bundled = bundled().workload;
        let config = Config::parse("[workload]\nuntil = '1d'").unwrap();
        let read = prepare(&config).unwrap();
        let config = config.with("grid.nodes=2004").unwrap();
        let given = Workload::given("mine", bundled.jobs.clone()).unwrap();
        let mut brought = prepare_given(&config, given).unwrap();
        assert_eq!(
            (&brought.workload.jobs, &brought.grid),
            (&read.workload.jobs, &read.grid)
        );
        let digest = brought.config.workload.trace_digest.take();
        assert!(digest.is_some_and(|digest| !digest.is_empty()));

        let none = prepare_given(&Config::default(), bundled.clone()).unwrap_err();
        assert!(
            none.to_string()
                .contains("does not say how many processors"),
            "{none}"
        );
        let two = Config::parse("[workload]\nsource = 'aria'").unwrap();
        let two = prepare_given(&two, bundled).unwrap_err();
        assert!(two.to_string().contains("workload.source"), "{two}");
    }

    #[test]
    fn jobs_and_their_deadlines_wait_for_nodes_that_join() {
        let settings = "scheduler = 'desktop'\n[workload]\nsource = 'aria'\n\
            aria = { nodes = 9, jobs = 20, deadline_slack = 3 }\n";
        let before = prepared(settings).workload;
        let after = prepared(&format!("{settings}[desktop]\njoin_every = '10s'\n")).workload;
        // Nine joins, and one more interval.
        let later = Span::from_secs(100);
        assert_eq!(before.deadlines.len(), 20);
        let moved = before.deadlines.iter().map(|deadline| *deadline + later);
        assert!(moved.eq(after.deadlines.iter().copied()));
        let moved = before.jobs.iter().map(|job| job.at + later);
        assert!(moved.eq(after.jobs.iter().map(|job| job.at)));
    }
}

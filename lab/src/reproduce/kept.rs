//! Finished runs, kept in a folder so that none is made twice.
//!
//! A run is found again by the digests of the code that decides it and of its configuration, with the content of the
//! files that it names. So a reproduction that was interrupted goes on where it stopped, also after a change of what
//! only plans runs or shows them, and a run of other code is never taken for one of this. Figures of studies, which have
//! no configuration, are those of one build. What cannot be read or written is made again: keeping is a convenience, and
//! no result depends on it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gridweave_core::time::Time;
use gridweave_sim::engine::Traffic;
use gridweave_sim::history::History;
use gridweave_sim::hosting;
use gridweave_sim::network::Mishaps;
use serde::{Deserialize, Serialize};

use super::Options;
use crate::config::{Config, DelayConfig};
use crate::experiment::{Prepared, Results};
use crate::outcome::Outcome;
use crate::results::{Cost, DraftFile, Row};
use crate::run::{Faults, Placement, Run};

/// The folders with the runs of this code, and with the figures of this build.
#[derive(Debug)]
pub(crate) struct Kept {
    runs: PathBuf,
    figures: PathBuf,
}

/// What is kept of a run: all but the nodes of each job, and pictures.
#[derive(Serialize, Deserialize)]
struct Record {
    outcomes: Vec<Outcome>,
    promised: Vec<Option<Time>>,
    traffic: Traffic,
    faults: (hosting::Faults, u64, Mishaps),
    stopped: Option<Time>,
    ended: Time,
    in_degrees: Vec<u32>,
    counts: BTreeMap<String, u64>,
    violations: u64,
    events: u64,
    digest: String,
    /// Which nodes were idle cannot be told without the nodes of each job.
    series: Vec<Row>,
    /// Processor time, elapsed time, events per second, and memory.
    cost: (Option<f64>, f64, f64, Option<u64>),
}

impl Kept {
    /// Names the code that decides runs, without what plans and shows them (`build.rs`); empty if that cannot be told.
    pub(crate) const CODE: &str = env!("GRIDWEAVE_SOURCES");

    /// What is kept in `folder`, which is made when the first run is. The build is known by the file with its program.
    pub(crate) fn open(folder: &Path, program: &Path) -> io::Result<Self> {
        let mut history = History::new();
        history.bytes(&fs::read(program)?);
        let figures = folder.join(history.digest());
        let runs = match Self::CODE.is_empty() {
            true => figures.clone(),
            false => folder.join(Self::CODE),
        };
        Ok(Self { runs, figures })
    }

    /// The results of this experiment, if they were kept.
    pub(crate) fn run(&self, prepared: &Prepared) -> Option<Results> {
        let record: Record = read(&self.runs, &run_key(&prepared.config)?)?;
        let (jobs, undelivered, network) = record.faults;
        let (cpu_s, wall_s, events_per_s, peak_rss_bytes) = record.cost;
        let run = Run {
            outcomes: record.outcomes,
            promised: record.promised,
            placement: Placement::Interchangeable,
            traffic: record.traffic,
            faults: Faults {
                jobs,
                undelivered,
                network,
            },
            stopped: record.stopped,
            ended: record.ended,
            pictures: Vec::new(),
            in_degrees: record.in_degrees,
            counts: record.counts,
            violations: record.violations,
            life: None,
            events: record.events,
            digest: record.digest,
        };
        let cost = Cost {
            cpu_s,
            wall_s,
            events_per_s,
            peak_rss_bytes,
            version: env!("CARGO_PKG_VERSION"),
        };
        let fits = run.outcomes.len() == prepared.workload.jobs.len();
        fits.then(|| prepared.results_over_time(run, record.series, cost))
    }

    /// Keeps the results of an experiment.
    pub(crate) fn keep_run(&self, prepared: &Prepared, results: &Results) {
        let (run, cost) = (&results.run, &results.cost);
        let Some(key) = run_key(&prepared.config) else {
            return;
        };
        let record = Record {
            outcomes: run.outcomes.clone(),
            promised: run.promised.clone(),
            traffic: run.traffic.clone(),
            faults: (run.faults.jobs, run.faults.undelivered, run.faults.network),
            stopped: run.stopped,
            ended: run.ended,
            in_degrees: run.in_degrees.clone(),
            counts: run.counts.clone(),
            violations: run.violations,
            events: run.events,
            digest: run.digest.clone(),
            series: results.series.clone(),
            cost: (
                cost.cpu_s,
                cost.wall_s,
                cost.events_per_s,
                cost.peak_rss_bytes,
            ),
        };
        write(&self.runs, &key, &record);
    }

    /// The figures of a case of a study under a seed, if they were kept.
    pub(crate) fn figures(&self, study: &Study<'_>) -> Option<Vec<f64>> {
        read(&self.figures, &study.key()?)
    }

    /// Keeps the figures of a case of a study.
    pub(crate) fn keep_figures(&self, study: &Study<'_>, figures: &[f64]) {
        if let Some(key) = study.key() {
            write(&self.figures, &key, &figures);
        }
    }
}

fn read<T: for<'a> Deserialize<'a>>(folder: &Path, key: &str) -> Option<T> {
    let bytes = fs::read(folder.join(key)).ok()?;
    let (record, rest) = postcard::take_from_bytes(&bytes).ok()?;
    // A file that goes on is not what was written.
    rest.is_empty().then_some(record)
}

fn write<T: Serialize>(folder: &Path, key: &str, record: &T) {
    let write = || -> io::Result<()> {
        let bytes = postcard::to_allocvec(record).map_err(io::Error::other)?;
        fs::create_dir_all(folder)?;
        let file = DraftFile::new(&folder.join(key))?;
        file.write(|to| to.write_all(&bytes))?;
        file.publish()
    };
    // A run that cannot be kept is made again the next time.
    let _ = write();
}

/// A case of a study under a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Study<'a> {
    /// The paper.
    pub paper: &'a str,
    /// The part of the paper.
    pub part: &'a str,
    /// The name of the case.
    pub case: &'a str,
    /// The seed.
    pub seed: u64,
    /// The choices of the user.
    pub options: &'a Options,
}

impl Study<'_> {
    fn key(&self) -> Option<String> {
        let Options {
            size,
            trace,
            nodes,
            coordinates,
            round_trips,
            seed: _,
        } = self.options;
        let mut history = History::new();
        let choices = format!("{size:?} {nodes:?} {}", self.seed);
        for text in [self.paper, self.part, self.case, &choices] {
            history.bytes(text.as_bytes());
        }
        for file in [trace, coordinates, round_trips] {
            let content = file.as_ref().map(fs::read).transpose().ok()?;
            history.bytes(&content.unwrap_or_default());
        }
        Some(format!("figures-{}", history.digest()))
    }
}

/// The name of the file of a run; `None` if a file of its configuration cannot be read.
fn run_key(config: &Config) -> Option<String> {
    let mut history = History::new();
    if let DelayConfig::Matrix { file } | DelayConfig::Coordinates { file } = &config.network.delay
    {
        history.bytes(&fs::read(file).ok()?);
    }
    // The digest of a trace identifies it; its path does not matter.
    let mut config = config.clone();
    config.workload.trace = None;
    history.bytes(config.to_toml().ok()?.as_bytes());
    Some(format!("run-{}", history.digest()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::prepare;
    use gridweave_sim::monitor::Monitor;

    fn kept() -> (tempfile::TempDir, Kept) {
        let folder = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        let kept = Kept::open(folder.path(), &program).unwrap();
        (folder, kept)
    }

    fn prepared(scheduler: &str) -> Prepared {
        // Under `desktop` several jobs share a node.
        let workload = match scheduler {
            "desktop" => {
                "source = 'desktop'\n[workload.desktop]\nnodes = 20\njobs = 100\nload = 40"
            }
            _ => "until = '6h'",
        };
        let text = format!("scheduler = '{scheduler}'\n[workload]\n{workload}");
        prepare(&Config::parse(&text).unwrap()).unwrap()
    }

    #[test]
    fn a_kept_run_has_the_results_of_the_run_itself() {
        let (_folder, kept) = kept();
        for scheduler in ["central-easy", "asap", "desktop"] {
            let prepared = prepared(scheduler);
            assert_eq!(kept.run(&prepared), None);
            let results = prepared.execute(&Monitor::default()).unwrap();
            kept.keep_run(&prepared, &results);
            let again = kept.run(&prepared).unwrap();
            assert_eq!(again.summary, results.summary);
            assert_eq!(again.series, results.series);
            assert_eq!(again.cost, results.cost);
            assert_eq!(again.run.outcomes, results.run.outcomes);
            let sent = |results: &Results| results.run.traffic.of_per_window(&["Schedule"]);
            assert_eq!(sent(&again), sent(&results));
        }
    }

    #[test]
    fn another_configuration_or_a_damaged_file_is_no_kept_run() {
        let (_folder, kept) = kept();
        let prepared = prepared("central-easy");
        let results = prepared.execute(&Monitor::default()).unwrap();
        kept.keep_run(&prepared, &results);
        let mut other = prepared.clone();
        other.config.seed = 1;
        assert_eq!(kept.run(&other), None);
        let file = kept.runs.join(run_key(&prepared.config).unwrap());
        let whole = fs::read(&file).unwrap();
        for damaged in [&whole[..whole.len() / 2], &[&whole[..], &[0]].concat(), &[]] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(kept.run(&prepared), None);
        }
    }

    #[test]
    fn figures_are_those_of_one_case_under_one_seed() {
        let (_folder, kept) = kept();
        let options = Options::quick(1);
        let study = Study {
            paper: "p2",
            part: "fig1",
            case: "basic",
            seed: 1,
            options: &options,
        };
        kept.keep_figures(&study, &[1.5, 2.5]);
        assert_eq!(kept.figures(&study), Some(vec![1.5, 2.5]));
        assert_eq!(kept.figures(&Study { seed: 2, ..study }), None);
        assert_eq!(
            kept.figures(&Study {
                case: "other",
                ..study
            }),
            None
        );
    }
}

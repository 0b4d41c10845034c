//! The command line.

use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::config::{Config, Source};
use crate::lasting::Lasting;
use crate::outcome::Estimates;
use crate::reproduce::{p1, p2, p3, p4};
use crate::schedulers::Scheduler;
use crate::torture::Fault;
use crate::workload::{AboveCap, Cap, Parallel, TargetLoad, Transform, Window, WorkUnit};
use gridweave_core::time::Span;

/// The command line.
#[derive(Parser, Clone, Debug)]
#[command(
    name = "gridweave",
    version,
    about = "Grid scheduling without a centre, replayed on real workloads",
    long_about = "Grid scheduling without a centre, replayed on real workloads.\n\n\
        Without a command it compares all schedulers on a bundled week of a real cluster, prints its tables and writes a folder of \
        results. Everything is simulated: a run is a function of its configuration and seed, and can be repeated bit for bit.",
    after_help = EXAMPLES,
)]
pub struct Cli {
    #[command(subcommand)]
    pub(super) action: Option<Action>,
    #[command(flatten)]
    pub(super) output: Output,
}

const EXAMPLES: &str = "\
Examples:
  gridweave
  gridweave run --scheduler central-easy --trace KTH-SP2.swf.gz --nodes 100 --set workload.estimates=kill
  gridweave compare --schedulers central-easy,central-conservative --trace log.swf --set workload.load=0.9
  gridweave run --workload desktop --scheduler central-greedy --runs 10
  gridweave run --config gridweave-out/gangs/central-easy/config.toml --out again
  gridweave reproduce all --quick
  gridweave reproduce p2 --only fig1 --runs 5
  gridweave reproduce p3 --runs 10
  gridweave torture --seeds 0..1000
  gridweave trace info log.swf.gz

Exit status: 0 done, 1 an invariant broke or a job was lost, 2 bad usage or input, 130 interrupted.";

/// How the program prints.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Output {
    /// Print results as JSON on stdout
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Show no progress bar; there is none anyway if stdout or stderr is no terminal
    #[arg(long, global = true)]
    pub(super) no_progress: bool,
    /// Say nothing but errors, and results if --json is given
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
}

#[derive(Subcommand, Clone, Debug)]
pub(super) enum Action {
    /// Replay a workload under one scheduler
    #[command(after_help = RUN_HELP)]
    Run {
        /// The scheduler [default: that of the configuration, else central-easy]
        #[arg(long, value_name = "NAME")]
        scheduler: Option<Scheduler>,
        /// Print the life of a job, by its job_id in jobs.csv: which nodes were asked, which refused and why, and which
        /// attempt ran where
        #[arg(long, value_name = "JOB")]
        explain: Option<u64>,
        #[command(flatten)]
        setup: Setup,
    },
    /// Replay a workload under several schedulers, one row each
    #[command(after_help = COMPARE_HELP)]
    Compare {
        /// The schedulers [default: all that can run the workload]
        #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
        schedulers: Vec<Scheduler>,
        /// Run gangs also with the times that users requested, and print both waits side by side
        #[arg(long)]
        requested: bool,
        #[command(flatten)]
        setup: Setup,
    },
    /// Run every combination of the values in a file
    #[command(after_help = SWEEP_HELP)]
    Sweep {
        /// What to run
        #[arg(value_name = "FILE.toml")]
        file: PathBuf,
        /// Where results go, a folder per run; runs that are finished there are not repeated
        #[arg(long, value_name = "DIR", default_value = "gridweave-sweep")]
        out: PathBuf,
        /// Measure time and memory: each run in its own process, one after the other
        #[arg(long)]
        costs: bool,
    },
    /// Make the tables and figures of a paper, published beside measured
    #[command(after_help = reproduce_help())]
    Reproduce {
        /// Which paper, or all one after the other
        #[arg(value_parser = ["p1", "p2", "p3", "p4", "all"], required_unless_present_any = ["stale", "records"])]
        paper: Option<String>,
        #[command(flatten)]
        choice: Reproduction,
    },
    /// Run schedulers under all kinds of faults, and look for broken invariants
    #[command(after_help = super::faults::table())]
    Torture(Torture),
    /// Look at, convert or generate a trace
    #[command(subcommand)]
    Trace(TraceAction),
    /// Check a configuration or a sweep without running it
    Validate {
        /// What to check
        #[arg(value_name = "FILE.toml")]
        file: PathBuf,
    },
    /// Print a script that completes commands in a shell
    Completions {
        /// For which shell
        shell: Shell,
    },
}

const RUN_HELP: &str = "\
Schedulers: central-fcfs, central-easy, central-conservative, central-greedy, central-sjf, central-bounded, asap, criteria, aria, desktop, random, flood.

Files in the output folder:
  jobs.csv      one row per job, in Batsim's columns
  summary.json  waits, slowdowns, utilisation, messages, digest
  series.csv    utilisation, queue, idle nodes and messages over time
  report.html   all of it to look at: charts, a Gantt chart, the configuration; opens in any browser
  config.toml   everything the run depends on; --config with it repeats the run
  zones.json    with report.zones, the zones of desktop over time
  engine.json   time and memory, the only file that differs between two runs of one seed

Keys for --set are those of config.toml, such as:
  workload.estimates=kill|extend|exact|overrun
                                         what schedulers are told about run times
  workload.load=0.95                     submit times scaled to this load
  workload.slot=60s                      run times rounded up to whole slots
  workload.from=1d workload.until=8d     a part of the trace
  workload.shape=serial                  parallel jobs split into serial ones
  grid.cores_per_node=8                  whole nodes instead of processors
  grid.sites=170                         nodes put into sites, a job inside one (aria, desktop, central-greedy)
  network.delay={kind='constant',delay='50ms'}
  report.check_every=1                   machines checked after every event, not every 64th

Example:
  gridweave run --scheduler central-conservative --trace log.swf.gz --set workload.first=10000 --out result";

const COMPARE_HELP: &str = "\
There are two tables if jobs are parallel: gangs, with jobs as they are, and serial, with each parallel job split into \
serial ones on the same nodes, for schedulers that place one node at a time. The last column compares the waiting time \
with that under central-easy (or the first scheduler named), over the jobs that both ran.

Example:
  gridweave compare --schedulers central-fcfs,central-easy --trace log.swf.gz --runs 5";

const SWEEP_HELP: &str = "\
A sweep has a configuration under [base] and lists of values under [vary]:
  [base]
  scheduler = 'central-easy'
  [vary]
  'workload.estimates' = ['kill', 'extend', 'exact']
  'grid.nodes' = [100, 128]
The six runs go into six folders, a table of them into table.csv, and charts of them into report.html.

Keys with a comma between them change together, and the first of them names the runs:
  'workload.desktop.nodes, workload.desktop.jobs' = [[100, 500], [200, 1000]]

How time and memory grow with nodes, with exponents:
  gridweave sweep benches/scale.toml --costs";

const REPRODUCE_HELP: &str = "\
Files in the output folder:
  PAPER.json   all numbers, published and measured, and the digests of all runs
  PAPER/*.csv  a table or the data of a figure each
  PAPER/*.txt  the tables as they are printed
  PAPER/runs/  the configuration of each run; gridweave run --config with one repeats it
  report.html  all of it to look at, published beside measured
  config.toml  what all runs begin with
  engine.json  how long each run took

Examples:
  gridweave reproduce p1 --quick
  gridweave reproduce p1 --only fig4,table3 --trace log.swf.gz --nodes 5000 --runs 3
  gridweave reproduce p3 --runs 10 --page docs/results/p3.md
  gridweave reproduce --stale docs/results
  gridweave reproduce --records docs/results/records --into README.md,docs/results/performance.md";

/// The parts of all papers, and what else a user of `reproduce` wants to know.
fn reproduce_help() -> String {
    let parts = [
        ("p1", p1::PAPER.part_names()),
        ("p2", p2::PAPER.part_names()),
        ("p3", p3::PAPER.part_names()),
        ("p4", p4::PAPER.part_names()),
    ];
    let parts = parts.map(|(paper, names)| format!("Parts of {paper}: {}\n", names.join(", ")));
    format!("{}\n{REPRODUCE_HELP}", parts.concat())
}

/// What to make of a paper, and from which inputs.
#[derive(Args, Clone, Debug)]
pub(super) struct Reproduction {
    /// A small grid and few jobs: shows that everything works, in a minute or two
    #[arg(long)]
    pub(super) quick: bool,
    /// Only these parts [default: all]
    #[arg(long, value_name = "PART,PART", value_delimiter = ',')]
    pub(super) only: Vec<String>,
    /// Replay this file: SWF or GWF, also compressed with gzip [default: jobs generated after the paper]
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// How many nodes replay it [default: 5000 as in P1, or what the trace says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) nodes: Option<u32>,
    /// For p2 and p3: points of nodes, 'x y' in milliseconds per line, or OverSim's XML [default: made up around sites]
    #[arg(long, value_name = "FILE")]
    pub(super) coordinates: Option<PathBuf>,
    /// For p2 and p3: a square of round trips in milliseconds, for delays or to learn points [default: by points]
    #[arg(long, value_name = "FILE")]
    pub(super) round_trips: Option<PathBuf>,
    /// The seed of everything random
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub(super) seed: u64,
    /// How many seeds to run, from --seed on; figures are means with 95 % confidence intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) runs: u32,
    /// Where results go, replacing earlier ones; with all, a folder per paper [default: gridweave-reproduce-PAPER]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Also write a page of results in Markdown; the parts that are not made now stay as they are in it
    #[arg(long, value_name = "FILE", conflicts_with = "stale")]
    pub(super) page: Option<PathBuf>,
    /// Also write the page of each paper into this folder: p1.md and so on
    #[arg(long, value_name = "DIR", conflicts_with_all = ["page", "stale"])]
    pub(super) pages: Option<PathBuf>,
    /// Make only the seeds that the parts of the page lack, and add them, if the others were made by the same code
    #[arg(long, requires = "page")]
    pub(super) add: bool,
    /// Make nothing, but list and mark the parts of the pages in this folder whose code has changed since
    #[arg(long, value_name = "DIR")]
    pub(super) stale: Option<PathBuf>,
    /// Make nothing, but put the records of benches and campaigns in this folder into the places of --into
    #[arg(long, value_name = "DIR", requires = "into", conflicts_with_all = ["stale", "page", "pages"])]
    pub(super) records: Option<PathBuf>,
    /// The pages with places for records, each between two markers with the name of its record
    #[arg(
        long,
        value_name = "FILE,FILE",
        value_delimiter = ',',
        requires = "records"
    )]
    pub(super) into: Vec<PathBuf>,
    /// Where finished runs are kept, so that none is made twice; delete it whenever you like
    #[arg(long, value_name = "DIR", default_value = "gridweave-kept")]
    pub(super) kept: PathBuf,
}

impl Reproduction {
    /// The quick run of all parts under seed 0, by which a page tells whether the code has changed.
    pub(super) fn quick() -> Self {
        Self {
            quick: true,
            only: Vec::new(),
            trace: None,
            nodes: None,
            coordinates: None,
            round_trips: None,
            seed: 0,
            runs: 1,
            out: None,
            page: None,
            pages: None,
            add: false,
            stale: None,
            records: None,
            into: Vec::new(),
            kept: PathBuf::new(),
        }
    }
}

/// Which adversarial runs to make.
#[derive(Args, Clone, Debug)]
pub(super) struct Torture {
    /// The scheduler: asap, criteria, aria or desktop [default: each seed picks one]
    #[arg(long, value_name = "NAME", value_parser = tortured)]
    pub(super) scheduler: Option<Scheduler>,
    /// The range of seeds, without its end [default: 0..1000]
    #[arg(long, value_name = "A..B", value_parser = seeds, conflicts_with = "seed")]
    pub(super) seeds: Option<Range<u64>>,
    /// One seed
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = any_seed)]
    pub(super) seed: Option<u64>,
    /// Faults to leave out, although the seed picks them
    #[arg(long, value_name = "FAULT,FAULT", value_delimiter = ',')]
    pub(super) without: Vec<Fault>,
    /// How many nodes there are at the beginning [default: the seed picks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(super) nodes: Option<u32>,
    /// How many jobs come [default: the seed picks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) jobs: Option<u32>,
    /// For how many seconds things go wrong [default: the seed picks]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) chaos: Option<u32>,
    /// Make the records of all events of an instant durable at once
    #[arg(long)]
    pub(super) group_commit: bool,
    /// Print what happens, line by line
    #[arg(long, requires = "seed")]
    pub(super) trace: bool,
    /// As --trace, with the messages that maintain overlays
    #[arg(long, requires = "seed")]
    pub(super) gossip: bool,
}

/// A seed that a configuration can hold.
fn seed(text: &str) -> Result<u64, String> {
    whole(text, Config::LARGEST_SEED)
}

/// A seed of a run that has no configuration.
fn any_seed(text: &str) -> Result<u64, String> {
    whole(text, u64::MAX)
}

/// A number of nodes.
fn count(text: &str) -> Result<u32, String> {
    let most = u64::from(u32::MAX);
    whole(text, most).and_then(|number| u32::try_from(number).map_err(|error| error.to_string()))
}

/// A number of nodes that is not zero.
fn some(text: &str) -> Result<u32, String> {
    let number = count(text)?;
    (number > 0)
        .then_some(number)
        .ok_or_else(|| "there must be at least one".into())
}

fn whole(text: &str, most: u64) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number <= most);
    number.ok_or_else(|| format!("it is not a whole number from 0 to {most}"))
}

/// A range of seeds, as in `0..1000`.
/// A scheduler that torture can run. The error lists only those, unlike that of [`Scheduler`] itself.
fn tortured(text: &str) -> Result<Scheduler, String> {
    let named = Scheduler::tortured().find(|scheduler| scheduler.name() == text);
    named.ok_or_else(|| {
        let wrong = match Scheduler::named(text) {
            Some(other) => format!("{other} cannot be tortured"),
            None => format!("there is no scheduler '{text}'"),
        };
        let names: Vec<&str> = Scheduler::tortured().map(Scheduler::name).collect();
        format!("{wrong}; choose one of {}", names.join(", "))
    })
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let wrong = || format!("'{text}' is no range of seeds; write 0..1000");
    let (first, end) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    Ok(number(first)?..number(end)?)
}

/// Options for what to run.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Setup {
    /// Replay this file: SWF or GWF, also compressed with gzip
    #[arg(long, value_name = "FILE", conflicts_with = "workload")]
    trace: Option<PathBuf>,
    /// Replay this workload
    #[arg(long, value_name = "NAME", value_parser = Source::NAMES)]
    workload: Option<String>,
    /// How many nodes there are [default: what the trace says]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    nodes: Option<u32>,
    /// The seed of everything random [default: 0]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = seed)]
    seed: Option<u64>,
    /// Begin with this configuration, such as the config.toml of an earlier run
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Set one key of the configuration; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How many seeds to run, from the first on; results are means with 95 % confidence intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,
    /// Where results go; an earlier result is replaced [default: gridweave-out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Setup {
    /// The configuration from these options: first the file, then options, then `--set`.
    pub(super) fn config(&self) -> anyhow::Result<Config> {
        let mut config = match &self.config {
            Some(file) => Config::read_file(file)?,
            None => Config::default(),
        };
        if self.trace.is_some() || self.workload.is_some() {
            // The configuration had the nodes of another workload.
            config.grid.nodes = None;
        }
        if let Some(trace) = &self.trace {
            config.workload.source = Source::Trace;
            config.workload.trace = Some(trace.clone());
            config.workload.trace_digest = None;
        }
        if let Some(name) = &self.workload {
            config.workload.trace = None;
            config.workload.trace_digest = None;
            config = config.with(&format!("workload.source={name}"))?;
        }
        if let Some(nodes) = self.nodes {
            let source = config.workload.source;
            let key = if source.is_generated() {
                format!("workload.{}.nodes", source.key())
            } else {
                "grid.nodes".into()
            };
            config = config
                .set(&key, toml::Value::Integer(i64::from(nodes)))
                .with_context(|| format!("--nodes {nodes}"))?;
        }
        if let Some(seed) = self.seed {
            config.seed = seed;
        }
        for setting in &self.set {
            config = config
                .with(setting)
                .with_context(|| format!("--set {setting}"))?;
        }
        let last = config.seed.saturating_add(u64::from(self.runs() - 1));
        if last > Config::LARGEST_SEED {
            bail!("--runs goes beyond the largest seed; give a smaller --seed");
        }
        Ok(config.checked()?)
    }

    /// The seeds of all runs.
    pub(super) fn seeds(&self, config: &Config) -> impl Iterator<Item = u64> + use<> {
        let first = config.seed;
        (0..u64::from(self.runs())).map(move |number| first.saturating_add(number))
    }

    pub(super) fn runs(&self) -> u32 {
        self.runs.unwrap_or(1)
    }

    pub(super) fn out(&self) -> PathBuf {
        self.out
            .clone()
            .unwrap_or_else(|| PathBuf::from("gridweave-out"))
    }
}

#[derive(Subcommand, Clone, Debug)]
pub(super) enum TraceAction {
    /// Say what is in a trace
    Info {
        /// The trace
        file: PathBuf,
        /// How many nodes the load is for [default: what the trace says]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = some)]
        nodes: Option<u32>,
    },
    /// Write a trace as SWF, whole or cut and scaled
    #[command(
        after_help = "Example:\n  gridweave trace convert grid5000.gwf first-week.swf.gz --until 7d"
    )]
    Convert {
        /// The trace
        file: PathBuf,
        /// The file to write, compressed if it ends in .gz
        to: PathBuf,
        #[command(flatten)]
        cut: Cut,
    },
    /// Generate a workload and write it as SWF
    #[command(
        after_help = "Example:\n  gridweave trace generate grid5000-like like.swf.gz --seed 3"
    )]
    Generate {
        /// The workload to generate
        #[arg(value_parser = ["aria", "desktop", "grid5000-like"])]
        name: String,
        /// The file to write, compressed if it ends in .gz
        to: PathBuf,
        /// The seed of everything random
        #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
        seed: u64,
        /// Set one key of the configuration, such as workload.aria.jobs=100
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
}

/// How a trace is cut and scaled.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Only jobs submitted so long after the first, or later
    #[arg(long, value_name = "TIME")]
    from: Option<Lasting>,
    /// Only jobs submitted less than so long after the first
    #[arg(long, value_name = "TIME")]
    until: Option<Lasting>,
    /// Only the first so many jobs
    #[arg(long, value_name = "N")]
    first: Option<NonZeroUsize>,
    /// Only jobs of at most so many nodes
    #[arg(long, value_name = "N")]
    max_nodes: Option<NonZeroU32>,
    /// Count nodes of so many processors; jobs take whole nodes
    #[arg(long, value_name = "N")]
    cores_per_node: Option<NonZeroU32>,
    /// Split parallel jobs into serial ones
    #[arg(long)]
    serial: bool,
    /// Scale submit times to this load
    #[arg(long, value_name = "LOAD", allow_negative_numbers = true)]
    load: Option<f64>,
    /// How many nodes the load is for [default: what the trace says]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = some)]
    nodes: Option<u32>,
}

impl Cut {
    /// The transform for these options, for a trace with so many processors.
    pub(super) fn transform(&self, processors: Option<u32>) -> anyhow::Result<Transform> {
        let nodes = self.nodes.or_else(|| {
            let cores = self.cores_per_node.map_or(1, NonZeroU32::get);
            processors.map(|processors| processors.div_ceil(cores))
        });
        let load = match (self.load, nodes) {
            (Some(load), Some(nodes)) => Some(TargetLoad {
                capacity: nodes.into(),
                load,
                by: Estimates::Exact,
                unit: WorkUnit::Processor,
            }),
            (Some(_), None) => {
                bail!("the trace does not say how many processors there are; give --nodes")
            }
            (None, _) => None,
        };
        let window = (self.from.is_some() || self.until.is_some()).then(|| Window {
            from: self.from.unwrap_or_default().0,
            until: self.until.map_or(Span::MAX, |until| until.0),
        });
        Ok(Transform {
            window,
            cores_per_node: self.cores_per_node,
            cap: self.max_nodes.map(|nodes| Cap {
                nodes,
                above: AboveCap::Drop,
            }),
            parallel: if self.serial {
                Parallel::Split
            } else {
                Parallel::Keep
            },
            first: self.first,
            stretch: None,
            load,
            slot: None,
        })
    }
}

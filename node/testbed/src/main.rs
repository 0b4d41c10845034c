//! A test bed for `gridweave-node`: computers in namespaces of this machine, faults and jobs by a seed, and a checker that
//! judges from outside what became of jobs.
//!
//! It needs root, network namespaces and TUN devices; without them it prints SKIPPED. It ends by itself, and removes the
//! processes, namespaces and disks that it made.

mod bed;
mod campaign;
mod checker;
mod control;
mod hostile;
mod hub;
mod job;
mod report;
mod scenario;
mod seed;
mod stranger;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Parser, Subcommand};

use bed::{Bed, NoBed, Plan};
use campaign::{Campaign, Extent};
use checker::Limits;

/// Times for agents of one busy machine: a job starts within some seconds, and a lost node is given up after some.
const TIMES: &str = "slot = '100ms'\nlead = '2s'\ncommit_lead = '1s'\nmargin = '500ms'\nimprove = '1s'\n\
                     lease = '8s'\nmax_skew = '400ms'\n";

/// Runs agents on computers of its own making, breaks them, and judges from outside what became of jobs.
#[derive(Parser)]
#[command(name = "gridweave-testbed", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    order: Order,
}

#[derive(Args)]
struct Making {
    /// The agent's program
    #[arg(long, default_value = "target/debug/gridweave-node")]
    program: PathBuf,
    /// Another build of it, by which agents are replaced
    #[arg(long)]
    other: Option<PathBuf>,
    /// The folder for all files of the bed, which must not be there
    #[arg(long)]
    folder: PathBuf,
    /// What is chosen at random is chosen by this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The table "times" of the grid, in place of the bed's own
    #[arg(long)]
    times: Option<String>,
    /// A mistake that all agents make: only with a program that was built with --cfg canary
    #[arg(long)]
    canary: Option<String>,
}

#[derive(Subcommand)]
enum Order {
    /// Rounds of chaos and calm, and a judgement after each
    Campaign {
        #[command(flatten)]
        making: Making,
        /// How many computers
        #[arg(long, default_value_t = 8)]
        agents: usize,
        /// The scheduler of the grid
        #[arg(long, default_value = "asap")]
        scheduler: String,
        /// How long, in minutes
        #[arg(long, default_value_t = 60.0)]
        minutes: f64,
        /// At least so many faults; it goes on for a quarter longer, if there were fewer
        #[arg(long, default_value_t = 1000)]
        faults: u64,
        /// The mean pause between faults, in seconds
        #[arg(long, default_value_t = 2.0)]
        pause: f64,
        /// Seconds of chaos in a round
        #[arg(long, default_value_t = 120.0)]
        round: f64,
    },
    /// Scenes with an exact end: kills, lease, partition, upgrade, strangers
    Scenario {
        #[command(flatten)]
        making: Making,
        /// Which scenes; all, if none is named
        #[arg(long, value_parser = scenario::SCENES)]
        only: Vec<String>,
    },
    /// Strangers of all kinds, and what they cost the agent that refuses them
    Hostile {
        #[command(flatten)]
        making: Making,
        /// How many strangers of each kind
        #[arg(long, default_value_t = 50)]
        visits: usize,
        /// How many handshakes that never end
        #[arg(long, default_value_t = 10_000)]
        handshakes: usize,
    },
    /// Judge the folder of a campaign once more
    Check {
        /// The folder
        folder: PathBuf,
        /// Nodes run several jobs at once, as with aria and desktop
        #[arg(long)]
        shared: bool,
    },
    /// The program of the bed's jobs
    #[command(hide = true)]
    Job {
        #[arg(long)]
        seconds: f64,
        #[arg(long)]
        connected: bool,
    },
    /// A peer that must be refused
    #[command(hide = true)]
    Stranger {
        kind: String,
        #[arg(long)]
        at: SocketAddr,
        #[arg(long)]
        node: String,
        #[arg(long)]
        victim: String,
        #[arg(long)]
        grid: PathBuf,
        #[arg(long, default_value_t = 100)]
        handshakes: usize,
    },
}

/// Microseconds since 1970.
fn micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(0)
}

/// What a command says in the end.
enum Done {
    /// Everything is as it must be.
    Held,
    Broken,
    /// This machine does not allow it.
    Skipped(String),
}

impl Making {
    fn bed(&self, agents: usize, scheduler: &str) -> Result<Bed, NoBed> {
        let other = self.other.as_ref().unwrap_or(&self.program);
        let plan = Plan {
            program: self.program.canonicalize()?,
            other: other.canonicalize()?,
            agents,
            scheduler: scheduler.to_owned(),
            times: self.times.as_deref().unwrap_or(TIMES).to_owned(),
            seed: self.seed,
            canary: self.canary.clone(),
        };
        Bed::new(&self.folder, plan)
    }
}

fn run(order: Order) -> io::Result<Done> {
    match order {
        Order::Campaign {
            making,
            agents,
            scheduler,
            minutes,
            faults,
            pause,
            round,
        } => {
            let mut bed = match making.bed(agents.clamp(1, 200), &scheduler) {
                Ok(bed) => bed,
                Err(NoBed::Skipped(why)) => return Ok(Done::Skipped(why)),
                Err(NoBed::Failed(error)) => return Err(error),
            };
            let stop = Arc::new(AtomicBool::new(false));
            let told = stop.clone();
            ctrlc::set_handler(move || told.store(true, Relaxed)).map_err(io::Error::other)?;
            let extent = Extent {
                length: Duration::from_secs_f64(minutes * 60.0),
                faults,
                pause,
                round: Duration::from_secs_f64(round),
                exclusive: matches!(scheduler.as_str(), "asap" | "criteria"),
                most_ranks: agents.clamp(1, 5),
            };
            let outcome = Campaign::new(&mut bed, extent, making.seed, stop)?.run()?;
            let title = format!("{agents} agents with {scheduler}, seed {}", making.seed);
            report::tell(&bed.folder, &outcome, bed.hub.traffic(), &title)?;
            Ok(match outcome.verdict.violations.is_empty() {
                true => Done::Held,
                false => Done::Broken,
            })
        }
        Order::Scenario { making, only } => {
            let mut bed = match making.bed(3, "asap") {
                Ok(bed) => bed,
                Err(NoBed::Skipped(why)) => return Ok(Done::Skipped(why)),
                Err(NoBed::Failed(error)) => return Err(error),
            };
            let all = scenario::SCENES.map(str::to_owned);
            let scenes = if only.is_empty() { &all[..] } else { &only };
            let rows = scenario::play(&mut bed, scenes)?;
            Ok(match scenario::tell(&rows)? {
                true => Done::Held,
                false => Done::Broken,
            })
        }
        Order::Hostile {
            making,
            visits,
            handshakes,
        } => {
            let mut bed = match making.bed(2, "asap") {
                Ok(bed) => bed,
                Err(NoBed::Skipped(why)) => return Ok(Done::Skipped(why)),
                Err(NoBed::Failed(error)) => return Err(error),
            };
            Ok(match hostile::run(&mut bed, visits, handshakes)? {
                true => Done::Held,
                false => Done::Broken,
            })
        }
        Order::Check { folder, shared } => {
            let verdict = checker::judge(&folder, Limits::of(!shared))?;
            for (rule, case) in &verdict.violations {
                println!("VIOLATION: {rule}: {case}");
            }
            for (what, count) in &verdict.counts {
                println!("{what}: {count}");
            }
            Ok(match verdict.violations.is_empty() {
                true => Done::Held,
                false => Done::Broken,
            })
        }
        Order::Job { seconds, connected } => job::run(seconds, connected).map(|()| Done::Held),
        Order::Stranger {
            kind,
            at,
            node,
            victim,
            grid,
            handshakes,
        } => {
            let target = stranger::Target {
                at,
                node: &node,
                victim: &victim,
                grid: &grid,
                handshakes,
            };
            println!("{}", stranger::visit(&kind, &target)?);
            Ok(Done::Held)
        }
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().order) {
        Ok(Done::Held) => ExitCode::SUCCESS,
        Ok(Done::Broken) => ExitCode::FAILURE,
        Ok(Done::Skipped(why)) => {
            println!("SKIPPED: {why}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

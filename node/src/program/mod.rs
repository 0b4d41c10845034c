//! The command line.

/// Prints a line. If no program reads any more, as behind `head`, this one ends.
macro_rules! tell {
    ($($text:tt)*) => {
        if writeln!(std::io::stdout(), $($text)*).is_err() {
            std::process::exit(0);
        }
    };
}

mod ask;
mod batch;
mod demo;
mod grid;
mod run;

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gridweave_core::scheduler::agent::Distance;

use crate::control::Again;
use crate::executor::{begin_at_site, enter, poke, supervise};
use crate::settings::Scheduler;
use crate::store::Store;

/// Where the folder of a node is, if neither `--folder` nor `GRIDWEAVE_NODE` says so.
const FOLDER: &str = "/var/lib/gridweave";

/// A grid of real computers: an agent on each runs jobs for all.
///
/// To begin: `init` makes a grid, `invite` makes a folder for each computer, `run` starts the agent there, and `submit`
/// runs a job. `demo` shows all of it on this computer in ten seconds.
#[derive(Parser)]
#[command(name = "gridweave-node", version, max_term_width = 100)]
struct Arguments {
    /// The folder of the node; else that in GRIDWEAVE_NODE, else /var/lib/gridweave
    #[arg(long, global = true)]
    folder: Option<PathBuf>,
    /// Print answers as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    order: Order,
}

#[derive(Subcommand)]
enum Order {
    /// Make a grid: its authority, in a new folder that never leaves the administrator's computer
    Init(Init),
    /// Make a folder for a new node: its certificate, its key and its settings
    Invite(Invite),
    /// Run the agent of this computer, until it gets a signal
    Run,
    /// Look at a node's settings, certificate and store without starting anything
    Check,
    /// Run a job on the grid
    Submit(Submit),
    /// List the jobs that were submitted at this node
    Jobs {
        /// Also those that have ended
        #[arg(long)]
        all: bool,
    },
    /// Show how the node is, or one job
    Status {
        /// The id of a job, as j7
        job: Option<String>,
    },
    /// Stop a job, wherever it waits or runs
    Cancel {
        /// The id of the job, as j7
        job: String,
    },
    /// Take no new jobs, also after a restart, until `resume`; what runs goes on
    Drain {
        /// Return when nothing runs here any more
        #[arg(long)]
        wait: bool,
    },
    /// Take jobs again
    Resume,
    /// List the nodes with which this one is connected
    Peers,
    /// Print what happens to jobs, until interrupted
    Events,
    /// Sum the time that each user had on this node
    Usage,
    /// Print all figures, as Prometheus reads them
    Figures,
    /// Show a grid of five agents on this computer, of which one is killed and comes back
    Demo {
        /// Keep the folder of the grid
        #[arg(long)]
        keep: bool,
    },
    /// Print a script that completes words on the command line
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Have the agent look at its Slurm queue soon: for EpilogSlurmctld
    Poke,
}

#[derive(clap::Args)]
struct Init {
    /// The new folder
    grid: PathBuf,
    /// What people call the grid: a-z, 0-9 and -
    #[arg(long, default_value = "grid")]
    name: String,
    /// How jobs find nodes
    #[arg(long, value_enum, default_value = "asap")]
    scheduler: SchedulerName,
    /// How far nodes are from each other
    #[arg(long, value_enum, default_value = "lan")]
    distance: DistanceName,
    /// For how many days the authority is valid
    #[arg(long, default_value_t = 3650)]
    days: u32,
}

#[derive(clap::Args)]
struct Invite {
    /// The folder of the grid
    grid: PathBuf,
    /// What people call the node: a-z, 0-9 and -
    name: String,
    /// The new folder, to be copied to the node's computer
    #[arg(long)]
    output: PathBuf,
    /// The organisation that the node belongs to, a number
    #[arg(long, default_value_t = 1)]
    organisation: u32,
    /// Where the node listens; with port 0 the kernel chooses
    #[arg(long, default_value = "0.0.0.0:4850")]
    listen: std::net::SocketAddr,
    /// Where others reach it, as HOST:PORT: it then introduces nodes that are invited later
    #[arg(long)]
    address: Option<String>,
    /// A node through which it joins, as n7@HOST:PORT; else those that were invited with an address
    #[arg(long)]
    introducer: Vec<String>,
    /// For how many days the certificate is valid
    #[arg(long, default_value_t = 365, allow_negative_numbers = true)]
    days: i64,
}

#[derive(clap::Args)]
struct Submit {
    /// A batch script with #SBATCH lines, as for sbatch; options here come before those in it
    #[arg(long)]
    batch: Option<PathBuf>,
    /// For how long it may run, as 90s, 10m, 2h or 1d
    #[arg(long, required_unless_present = "batch")]
    time: Option<String>,
    /// How many nodes it wants at once (asap, criteria)
    #[arg(long, default_value_t = 1)]
    nodes: u32,
    /// How many cores it gets (aria, desktop), or each of its nodes has (asap, criteria)
    #[arg(long)]
    cores: Option<u32>,
    /// How many gigabytes of memory each of its nodes has for it
    #[arg(long)]
    memory: Option<u64>,
    /// How many accelerators each of its nodes has for it
    #[arg(long)]
    accelerators: Option<u64>,
    /// How many such jobs, at most 1000; each finds its index in GRIDWEAVE_INDEX
    #[arg(long, default_value_t = 1)]
    count: u32,
    /// When it may run again
    #[arg(long, value_enum, default_value = "never")]
    again: AgainName,
    /// How often it may run again
    #[arg(long, default_value_t = 1)]
    times: u8,
    /// A variable of its environment, as NAME=VALUE
    #[arg(long = "env")]
    environment: Vec<String>,
    /// The folder where it runs, on the nodes; else a new one
    #[arg(long)]
    workdir: Option<String>,
    /// Where its output goes, on the nodes; %j is the job, %r the rank
    #[arg(long)]
    output: Option<String>,
    /// Where its error output goes, on the nodes
    #[arg(long)]
    error: Option<String>,
    /// The most bytes of memory that it may use
    #[arg(long)]
    limit_memory: Option<u64>,
    /// The most open files of a process
    #[arg(long)]
    limit_files: Option<u64>,
    /// The most processes, where nodes use cgroups
    #[arg(long)]
    limit_processes: Option<u64>,
    /// Return when it has ended: 0 if it is done, else 1; with --count, all of them
    #[arg(long)]
    wait: bool,
    /// The program and its arguments; with --batch the arguments of the script
    #[arg(last = true, required_unless_present = "batch")]
    program: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SchedulerName {
    /// Whole nodes, several at once, as soon as possible
    Asap,
    /// Whole nodes, several at once, near each other or soon
    Criteria,
    /// Cores of one node, each with a queue of its own
    Aria,
    /// Cores of one desktop that has what the job needs
    Desktop,
}

#[derive(Clone, Copy, ValueEnum)]
enum DistanceName {
    /// A local network
    Lan,
    /// A wide-area network
    Wan,
}

#[derive(Clone, Copy, ValueEnum)]
enum AgainName {
    /// It runs once
    Never,
    /// After a node was lost
    Lost,
    /// Also after it broke, or ran for too long
    Always,
}

impl From<SchedulerName> for Scheduler {
    fn from(name: SchedulerName) -> Self {
        match name {
            SchedulerName::Asap => Self::Asap,
            SchedulerName::Criteria => Self::Criteria,
            SchedulerName::Aria => Self::Aria,
            SchedulerName::Desktop => Self::Desktop,
        }
    }
}

impl From<DistanceName> for Distance {
    fn from(name: DistanceName) -> Self {
        match name {
            DistanceName::Lan => Self::Lan,
            DistanceName::Wan => Self::Wan,
        }
    }
}

impl From<AgainName> for Again {
    fn from(name: AgainName) -> Self {
        match name {
            AgainName::Never => Self::Never,
            AgainName::Lost => Self::Lost,
            AgainName::Always => Self::Always,
        }
    }
}

/// How a command ends that does not succeed.
enum Failure {
    /// What the user gave cannot be used: exit 2.
    Input(String),
    /// It did not work: exit 1.
    Other(String),
    /// It is told already: exit 1.
    Told,
}

fn input(error: impl Display) -> Failure {
    Failure::Input(error.to_string())
}

fn other(error: impl Display) -> Failure {
    Failure::Other(error.to_string())
}

type Done = Result<(), Failure>;

/// Runs the program of an attempt, if an agent or a supervisor calls this one for that. There are two such calls for each
/// job, so they come before all that costs time.
fn inner() -> Option<Failure> {
    let mut words = std::env::args_os().skip(1);
    let name = words.next()?;
    let attempt = PathBuf::from(words.next()?);
    match (name.to_str()?, words.next(), words.next()) {
        ("supervise", None, None) => match supervise(&attempt) {
            Ok(_) => std::process::exit(0),
            Err(error) => Some(other(error)),
        },
        ("begin-at-site", None, None) => match begin_at_site(&attempt) {
            Ok(code) => std::process::exit(i32::from(code)),
            Err(error) => Some(other(format!("{}: {error}", attempt.display()))),
        },
        ("enter", Some(supervisor), None) => {
            let supervisor = supervisor.to_str()?.parse().ok()?;
            Some(other(enter(&attempt, supervisor)))
        }
        _ => None,
    }
}

/// Does what the command line says.
pub fn main() -> ExitCode {
    if let Some(Failure::Other(why)) = inner() {
        eprintln!("error: {}", one_line(&why));
        return ExitCode::FAILURE;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return complain("error: name a command: see gridweave-node --help");
        }
        Err(error) if error.use_stderr() => return complain(&error.to_string()),
        // Help, or the version.
        Err(help) => help.exit(),
    };
    match obey(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(why)) => complain(&format!("error: {why}")),
        Err(Failure::Other(why)) => {
            eprintln!("error: {}", one_line(&why));
            ExitCode::FAILURE
        }
        Err(Failure::Told) => ExitCode::FAILURE,
    }
}

/// One line, and what is wrong with the input.
fn complain(why: &str) -> ExitCode {
    // The library explains in lines of its own; the first paragraph has the reason.
    let reason = why.split("\n\n").next().unwrap_or_default();
    eprintln!("{}", one_line(reason));
    ExitCode::from(2)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn obey(arguments: Arguments) -> Done {
    let named = arguments.folder;
    let folder = named.or_else(|| std::env::var_os("GRIDWEAVE_NODE").map(PathBuf::from));
    let folder = folder.unwrap_or_else(|| PathBuf::from(FOLDER));
    let asker = ask::Asker {
        folder: &folder,
        json: arguments.json,
    };
    match arguments.order {
        Order::Init(order) => grid::init(&order),
        Order::Invite(order) => grid::invite(&order),
        Order::Run => run::run(&folder),
        Order::Check => check(&folder),
        Order::Submit(order) => asker.submit(order),
        Order::Jobs { all } => asker.jobs(all),
        Order::Status { job: None } => asker.status(),
        Order::Status { job: Some(job) } => asker.job(job),
        Order::Cancel { job } => asker.cancel(job),
        Order::Drain { wait } => asker.drain(wait),
        Order::Resume => asker.resume(),
        Order::Peers => asker.peers(),
        Order::Events => asker.events(),
        Order::Usage => asker.usage(),
        Order::Figures => asker.figures(),
        Order::Demo { keep } => demo::demo(keep),
        Order::Completions { shell } => {
            let mut command = Arguments::command();
            clap_complete::generate(
                shell,
                &mut command,
                "gridweave-node",
                &mut std::io::stdout(),
            );
            Ok(())
        }
        Order::Poke => poke(&folder).map_err(|error| {
            other(format!(
                "no agent before Slurm in {}: {error}",
                folder.display()
            ))
        }),
    }
}

/// Looks at a node without starting it.
fn check(folder: &std::path::Path) -> Done {
    let node = run::read(folder)?;
    let identity = &node.credentials.identity;
    tell!("{:<16} {}", "name", identity.name);
    tell!("{:<16} {}", "organisation", identity.organisation.get());
    run::check_settings(&node)?;
    let file = folder.join(run::STORE);
    if !file.exists() {
        tell!("{:<16} there is none: the node was never started", "store");
        return Ok(());
    }
    for (what, value) in Store::check(&file).map_err(other)? {
        tell!("{what:<16} {value}");
    }
    Ok(())
}

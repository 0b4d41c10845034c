//! The `gridweave` program: its command line and what its commands do.

mod compare;
mod interrupt;
mod options;
mod own_process;
mod progress;
mod reproduce;
mod run;
mod session;
mod sweep;
mod table;
mod torture;
mod trace;
mod validate;

pub use options::Cli;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use options::{Action, Setup, TraceAction};
use session::Session;
use sweep::Runs;

/// How the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// As it should.
    Done,
    /// An invariant broke or a job was lost.
    Broken,
    /// Someone pressed Ctrl-C.
    Interrupted,
}

/// What the program does, from its arguments to its exit status.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misunderstood(&error),
    };
    let session = Session::new(&cli.output);
    let result = match &cli.action {
        None => compare::compare(&session, &Setup::default(), &[]),
        Some(Action::Run { scheduler, setup }) => run::run(&session, *scheduler, setup),
        Some(Action::Compare { schedulers, setup }) => {
            compare::compare(&session, setup, schedulers)
        }
        Some(Action::Sweep { file, out, costs }) => {
            let runs = if *costs { Runs::Apart } else { Runs::Together };
            sweep::sweep(&session, file, out, runs)
        }
        Some(Action::Reproduce { paper, choice }) => reproduce::paper(&session, paper, choice),
        Some(Action::Torture(options)) => torture::torture(&session, options),
        Some(Action::Trace(TraceAction::Info { file, nodes })) => {
            trace::info(&session, file, *nodes)
        }
        Some(Action::Trace(TraceAction::Convert { file, to, cut })) => {
            trace::convert(&session, file, to, cut)
        }
        Some(Action::Trace(TraceAction::Generate {
            name,
            to,
            seed,
            set,
        })) => trace::generate(&session, name, to, *seed, set),
        Some(Action::Validate { file }) => validate::validate(&session, file),
        Some(Action::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "gridweave", &mut script);
            let written = session::Stdout.write_all(&script);
            written.map(|()| Ending::Done).map_err(Into::into)
        }
    };
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Broken) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(error) => {
            // One line, whatever the cause has to say.
            let text = format!("{error:#}").replace(['\n', '\r'], " ");
            session::complain(&format!("gridweave: {text}"));
            ExitCode::from(2)
        }
    }
}

/// What the command line gives rise to if there is nothing to do: help as it is, and mistakes in one line.
fn misunderstood(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    // The mistake comes first, then hints and usage.
    let mistake = text.lines().take_while(|line| !line.trim().is_empty());
    let mistake: Vec<&str> = mistake.map(str::trim).collect();
    let mistake = mistake.join(" ");
    let mistake = mistake.strip_prefix("error: ").unwrap_or(&mistake);
    session::complain(&format!("gridweave: {mistake}; see gridweave --help"));
    ExitCode::from(2)
}

//! The `gridweave` program: its command line and what its commands do.

mod compare;
mod options;
mod progress;
mod run;
mod session;
mod sweep;
mod table;
mod trace;
mod validate;

pub use options::Cli;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use options::{Action, Setup, TraceAction};
use session::Session;

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
    let cli = Cli::parse();
    let session = Session::new(&cli.output);
    let result = match &cli.action {
        None => compare::compare(&session, &Setup::default(), &[]),
        Some(Action::Run { scheduler, setup }) => run::run(&session, *scheduler, setup),
        Some(Action::Compare { schedulers, setup }) => {
            compare::compare(&session, setup, schedulers)
        }
        Some(Action::Sweep { file, out }) => sweep::sweep(&session, file, out),
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
            let mut command = Cli::command();
            clap_complete::generate(*shell, &mut command, "gridweave", &mut session::Stdout);
            Ok(Ending::Done)
        }
    };
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Broken) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(error) => {
            // One line, whatever the cause has to say.
            let text = format!("{error:#}").replace(['\n', '\r'], " ");
            eprintln!("gridweave: {text}");
            ExitCode::from(2)
        }
    }
}

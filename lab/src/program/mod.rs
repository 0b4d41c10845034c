//! The `gridweave` program: its command line and what its commands do.
//!
//! [`main()`] is the whole program. [`Cli`] is its command line, for a caller that wants to check one.
//!
//! ```
//! use clap::Parser;
//! use gridweave_lab::program::Cli;
//!
//! assert!(Cli::try_parse_from(["gridweave", "run", "--scheduler", "asap", "--nodes", "100"]).is_ok());
//! let error = Cli::try_parse_from(["gridweave", "run", "--scheduler", "asp"]).unwrap_err();
//! assert!(error.to_string().contains("there is no scheduler 'asp'"));
//! ```

mod compare;
mod execute;
mod faults;
mod hints;
mod interrupt;
mod options;
mod own_process;
mod plain;
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

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use options::{Action, Setup, TraceAction};
use session::Session;
use sweep::Runs;

/// How the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// All is well.
    Done,
    /// An invariant broke or a job was lost.
    Broken,
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// Runs the program, from its arguments to its exit status.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misunderstood(&error),
    };
    let session = Session::new(&cli.output);
    let result = match &cli.action {
        None => compare::compare(&session, &Setup::default(), &[], true),
        Some(Action::Run {
            scheduler,
            explain,
            setup,
        }) => run::run(&session, *scheduler, *explain, setup),
        Some(Action::Compare {
            schedulers,
            requested,
            setup,
        }) => compare::compare(&session, setup, schedulers, *requested),
        Some(Action::Sweep { file, out, costs }) => {
            let runs = if *costs { Runs::Apart } else { Runs::Together };
            sweep::sweep(&session, file, out, runs)
        }
        Some(Action::Reproduce { paper, choice }) => {
            reproduce::reproduce(&session, paper.as_deref(), choice)
        }
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
            let written = written.and_then(|()| session::Stdout.flush());
            written
                .map(|()| Ending::Done)
                .map_err(|error| unsaid(&error))
        }
    };
    session.interrupt.settle();
    let result = match session.lost() {
        Some(error) if result.is_ok() => Err(unsaid(&error)),
        _ => result,
    };
    match result {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Broken) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(error) => {
            session::complain(&format!("gridweave: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// The error that standard output could not be written.
fn unsaid(error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("standard output: cannot be written ({error}); check where it goes")
}

/// Prints help as it is, or a mistake on the command line in one line.
fn misunderstood(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // If the reader of the output is gone, that is no error.
        let printed = error.print().and_then(|()| session::Stdout.flush());
        return match printed {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                session::complain(&format!("gridweave: {:#}", unsaid(&error)));
                ExitCode::from(2)
            }
            _ => ExitCode::SUCCESS,
        };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        session::complain(
            "gridweave: trace needs a command: info, convert or generate; see gridweave --help",
        );
        return ExitCode::from(2);
    }
    let text = error.to_string();
    // The mistake comes first, then hints and usage. Arguments in it may contain empty lines.
    let ends = ["\n\n  tip:", "\n\nUsage:", "\n\nFor more information"];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    let mistake = text.get(..end.unwrap_or(text.len())).unwrap_or(&text);
    let mistake = mistake.strip_prefix("error: ").unwrap_or(mistake);
    let meant = similar(error).map_or(String::new(), |word| format!("; perhaps {word} is meant"));
    session::complain(&format!(
        "gridweave: {mistake}{meant}; see gridweave --help"
    ));
    ExitCode::from(2)
}

/// The command or option that the user may have misspelt.
fn similar(error: &clap::Error) -> Option<&str> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg];
    match kinds.iter().find_map(|kind| error.get(*kind))? {
        ContextValue::String(word) => Some(word),
        // The most similar one is the last.
        ContextValue::Strings(words) => words.last().map(String::as_str),
        _ => None,
    }
}

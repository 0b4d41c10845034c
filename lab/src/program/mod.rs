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

pub use execute::write_run;
pub use options::Cli;
pub use session::Caller;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use serde_json::Value;

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
    let result = perform(&session, &cli);
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

/// Runs a command inside another program, with arguments as on the command line, and returns what `--json` prints.
///
/// Nothing is printed but broken invariants, on standard error. The caller sees how far the runs are, and can stop them;
/// a command that is stopped is an error, and so is one that has nothing to return.
pub fn call<I: Into<OsString>>(
    arguments: impl IntoIterator<Item = I>,
    caller: Caller,
) -> anyhow::Result<Value> {
    let name = OsString::from("gridweave");
    let arguments = arguments.into_iter().map(Into::into);
    let cli = Cli::try_parse_from(std::iter::once(name).chain(arguments));
    let cli = cli.map_err(|error| anyhow::anyhow!("{}", mistake(&error)))?;
    let session = Session::called_by(caller);
    match perform(&session, &cli)? {
        Ending::Interrupted => anyhow::bail!("stopped before all runs were made"),
        Ending::Done | Ending::Broken => {}
    }
    let told = session.told();
    told.ok_or_else(|| anyhow::anyhow!("this command returns nothing; call another one"))
}

/// Does what the command line says.
fn perform(session: &Session, cli: &Cli) -> anyhow::Result<Ending> {
    match &cli.action {
        None => compare::compare(session, &Setup::default(), &[], true),
        Some(Action::Run {
            scheduler,
            explain,
            setup,
        }) => run::run(session, *scheduler, *explain, setup),
        Some(Action::Compare {
            schedulers,
            requested,
            setup,
        }) => compare::compare(session, setup, schedulers, *requested),
        Some(Action::Sweep { file, out, costs }) => {
            let runs = if *costs { Runs::Apart } else { Runs::Together };
            sweep::sweep(session, file, out, runs)
        }
        Some(Action::Reproduce { paper, choice }) => {
            reproduce::reproduce(session, paper.as_deref(), choice)
        }
        Some(Action::Torture(options)) => torture::torture(session, options),
        Some(Action::Trace(TraceAction::Info { file, nodes })) => {
            trace::info(session, file, *nodes)
        }
        Some(Action::Trace(TraceAction::Convert { file, to, cut })) => {
            trace::convert(session, file, to, cut)
        }
        Some(Action::Trace(TraceAction::Generate {
            name,
            to,
            seed,
            set,
        })) => trace::generate(session, name, to, *seed, set),
        Some(Action::Validate { file }) => validate::validate(session, file),
        Some(Action::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "gridweave", &mut script);
            let written = session::Stdout.write_all(&script);
            let written = written.and_then(|()| session::Stdout.flush());
            written
                .map(|()| Ending::Done)
                .map_err(|error| unsaid(&error))
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
    session::complain(&format!(
        "gridweave: {}; see gridweave --help",
        mistake(error)
    ));
    ExitCode::from(2)
}

/// A mistake on the command line, in one line.
fn mistake(error: &clap::Error) -> String {
    let text = error.to_string();
    // The mistake comes first, then hints and usage. Arguments in it may contain empty lines.
    let ends = ["\n\n  tip:", "\n\nUsage:", "\n\nFor more information"];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    let mistake = text.get(..end.unwrap_or(text.len())).unwrap_or(&text);
    let mistake = mistake.strip_prefix("error: ").unwrap_or(mistake);
    let meant = similar(error).map_or(String::new(), |word| format!("; perhaps {word} is meant"));
    format!("{mistake}{meant}")
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use gridweave_sim::monitor::Monitor;

    use super::{Caller, call};

    fn caller(stop: bool) -> Caller {
        Caller {
            stop: Arc::new(AtomicBool::new(stop)),
            progress: Arc::new(Monitor::default()),
            program: std::env::current_exe().unwrap(),
        }
    }

    #[test]
    fn a_program_that_calls_a_command_gets_its_json_its_mistakes_and_a_way_to_stop_it() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("out");
        let run = |extra: &str, stop| {
            let arguments = ["run", "--set", "workload.until=1h", extra, "--out"];
            let arguments = arguments.iter().map(std::ffi::OsString::from);
            call(arguments.chain([out.clone().into()]), caller(stop))
        };
        let stopped = run("--seed=7", true).unwrap_err();
        assert!(stopped.to_string().contains("stopped"), "{stopped}");
        assert!(!out.exists());
        let summary = run("--seed=7", false).unwrap();
        assert_eq!(
            (&summary["scheduler"], &summary["seed"]),
            (&"central-easy".into(), &7.into())
        );
        assert!(out.join("summary.json").is_file());
        let mistake = run("--sed=7", false).unwrap_err().to_string();
        assert!(
            mistake.contains("--sed") && mistake.lines().count() == 1,
            "{mistake}"
        );
    }
}

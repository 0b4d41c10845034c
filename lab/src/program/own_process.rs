//! Makes a run in its own process, so that its time and memory can be measured.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::session::Session;

/// How the process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Run {
    /// It wrote its results.
    Made,
    /// The user pressed Ctrl-C before its end.
    Stopped,
}

/// Calls `gridweave run` with a configuration, and waits until its results are in a folder.
pub(super) fn run(session: &Session, config: &Path, to: &Path) -> anyhow::Result<Run> {
    let program = env::current_exe().context("the program does not find itself")?;
    let mut command = Command::new(&program);
    command.args(["run", "--quiet", "--config"]).arg(config);
    command.arg("--out").arg(to);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped());
    let started = session.interrupt.start(&mut command);
    started.with_context(|| format!("{}: cannot be started", program.display()))?;
    let Some(status) = wait(session)? else {
        return Ok(Run::Stopped);
    };
    match status.code() {
        // A run that broke an invariant has results too, and they say so.
        Some(0 | 1) => return Ok(Run::Made),
        // Ctrl-C in a terminal reaches both processes; the child was first.
        Some(130) => return Ok(Run::Stopped),
        _ => {}
    }
    let mut complaint = String::new();
    let errors = session.interrupt.process(|process| process.stderr.take());
    if let Some(mut errors) = errors.flatten() {
        // If its message cannot be read, the exit status is reported.
        let _ = errors.read_to_string(&mut complaint);
    }
    match complaint.trim().strip_prefix("gridweave: ") {
        Some(complaint) => bail!("{complaint}"),
        None => bail!("its process ended with {status}; there may be too little memory for it"),
    }
}

/// The exit status of the process; `None` if the user pressed Ctrl-C before.
fn wait(session: &Session) -> anyhow::Result<Option<ExitStatus>> {
    loop {
        let ended = session.interrupt.process(Child::try_wait);
        if session.stopped() {
            session.interrupt.end_process();
            return Ok(None);
        }
        if let Some(status) = ended.transpose()?.flatten() {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

//! A run in a process of its own, so that its time and memory are those of nothing else.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::session::Session;

/// What became of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Run {
    /// Its results are there.
    Made,
    /// Someone pressed Ctrl-C before its end.
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
        // One that broke an invariant has results too, which say so.
        Some(0 | 1) => return Ok(Run::Made),
        // Ctrl-C in a terminal is heard by both, and it was first.
        Some(130) => return Ok(Run::Stopped),
        _ => {}
    }
    let mut complaint = String::new();
    let errors = session.interrupt.process(|process| process.stderr.take());
    if let Some(mut errors) = errors.flatten() {
        // Without its words the status has to do.
        let _ = errors.read_to_string(&mut complaint);
    }
    match complaint.trim().strip_prefix("gridweave: ") {
        Some(complaint) => bail!("{complaint}"),
        None => bail!("its process ended with {status}; there may be too little memory for it"),
    }
}

/// How the process ended, unless this one was asked to end before.
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

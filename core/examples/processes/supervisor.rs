//! Between an agent and the program of an attempt: a process that ends the program in time, whatever becomes of the
//! agent.
//!
//! Agent and supervisor talk through files in a folder of the attempt: the agent writes `until`, the supervisor `pid`
//! and `outcome`.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::job::{Outcome, Survival};
use gridweave_core::time::Time;

use super::{Result, TICK};

/// What a supervisor does: it runs the program until that ends by itself or its time is over.
pub(super) fn run(folder: &Path, program: &str) -> Result<()> {
    write(&folder.join("pid"), &std::process::id().to_string())?;
    let outcome = folder.join("outcome");
    // It is too late to begin: the job may run elsewhere by now.
    if until(folder) <= clock() {
        return write(&outcome, "overran");
    }
    let mut command = Command::new("sh");
    let mut program = command.args(["-c", program]).process_group(0).spawn()?;
    loop {
        if let Some(status) = program.try_wait()? {
            return write(&outcome, if status.success() { "done" } else { "broke" });
        }
        let left = until(folder) - clock();
        if left.is_zero() {
            // The program and all that it has started are one group.
            kill("KILL", &format!("-{}", program.id()));
            program.wait()?;
            return write(&outcome, "overran");
        }
        std::thread::sleep(Duration::from(left).min(TICK));
    }
}

/// An attempt that was started here, in this life of the agent or in an earlier one.
pub(super) struct Attempt {
    pub(super) job: JobId,
    pub(super) number: Epoch,
    folder: PathBuf,
}

impl Attempt {
    pub(super) fn new(attempts: &Path, job: JobId, number: Epoch) -> Self {
        let folder = attempts.join(format!("{}-{}", job.get(), number.get()));
        Self {
            job,
            number,
            folder,
        }
    }

    /// All attempts that have a folder.
    pub(super) fn all(attempts: &Path) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for folder in fs::read_dir(attempts)? {
            let name = folder?.file_name().into_string().unwrap_or_default();
            let (job, number) = name.split_once('-').ok_or("a strange folder")?;
            let (job, number) = (JobId::new(job.parse()?), Epoch::new(number.parse()?));
            all.push(Self::new(attempts, job, number));
        }
        Ok(all)
    }

    /// Starts a supervisor with this program.
    pub(super) fn begin(
        &self,
        program: &str,
        environment: [(&str, String); 4],
        until: Time,
    ) -> Result<()> {
        fs::create_dir(&self.folder)?;
        self.may_run(until)?;
        // In a group of its own it does not get the signals that a terminal sends to the agent, and its output does not
        // go through a pipe of the agent. The agent does not wait for it: a later life of the agent could not.
        Command::new(std::env::current_exe()?)
            .arg("supervisor")
            .arg(&self.folder)
            .arg(program)
            .envs(environment)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(())
    }

    /// Tells the supervisor, if there is one, when to end the program.
    pub(super) fn may_run(&self, until: Time) -> Result<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        write(&self.folder.join("until"), &until.as_micros().to_string())
    }

    /// How it ended, if it has.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        match &*fs::read_to_string(self.folder.join("outcome")).ok()? {
            "done" => Some(Outcome::Done),
            "overran" => Some(Outcome::Overran),
            _ => Some(Outcome::Broke),
        }
    }

    /// What became of it while the agent was down; `None` if it does not run and has no outcome.
    pub(super) fn survival(&self) -> Option<Survival> {
        // The look at the process comes first: the supervisor may write the outcome, and end, at any time. Without
        // `pid` it may be about to begin. A real agent compares the start time, too: numbers of processes are used
        // again.
        let pid = fs::read_to_string(self.folder.join("pid"));
        let runs = pid.map_or(true, |pid| kill("0", &pid));
        let until = until(&self.folder);
        let ended = self.outcome().map(Survival::Ended);
        ended.or(runs.then_some(Survival::Runs { until }))
    }

    pub(super) fn forget(&self) -> Result<()> {
        Ok(fs::remove_dir_all(&self.folder)?)
    }
}

/// The time of the grid: microseconds since 1970.
pub(super) fn clock() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Time::from_micros(since.unwrap_or_default().as_micros() as u64)
}

/// Until when a program may run: no longer, if that cannot be read.
fn until(folder: &Path) -> Time {
    let text = fs::read_to_string(folder.join("until")).unwrap_or_default();
    Time::from_micros(text.parse().unwrap_or(0))
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str) -> Result<()> {
    let draft = path.with_extension("draft");
    let mut file = File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(fs::rename(draft, path)?)
}

/// Sends a signal with the shell's `kill`, and returns whether the process was there.
fn kill(signal: &str, process: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("kill -s {signal} -- {process}")]);
    let status = shell.stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

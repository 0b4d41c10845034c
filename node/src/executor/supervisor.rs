use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gridweave_core::job::Outcome;
use gridweave_core::time::Time;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};

use super::cgroup::Cgroup;
use super::folder::{Folder, Kind, Order, Verdict};
use super::liveness::{Process, own_children};
use crate::clock::wall;

/// How an attempt ended that was begun too late, in words.
pub(super) const LATE: &str = "it was too late to begin";

/// How an attempt ended that had run for as long as it might, in words.
const OVER: &str = "its time was over";

/// How an attempt ended whose supervisor was told to end, in words.
pub(super) const ENDED: &str = "its supervisor was ended";

/// How often the clock is compared with the end, in case that it was set.
const TICK: Duration = Duration::from_secs(1);

/// How far apart the signals come that a batch system sends to the processes of a job.
const TOGETHER: Duration = Duration::from_millis(200);

/// How long the agent may take to note an outcome, until it is written through to the disk.
const NOTING: Duration = Duration::from_millis(500);

/// Runs the program of the attempt in this folder until it ends by itself or its time is over, and writes how it ended.
///
/// It is a process of its own, and outlives the agent. When it returns, no process of the attempt is left: it gets the
/// orphans among them as its children.
pub fn supervise(folder: &Path) -> io::Result<Outcome> {
    // A session of its own: signals of the agent's terminal do not come here. It has one already if started by hand.
    let _ = setsid();
    prctl::set_child_subreaper(true)?;
    let mut signals = SigSet::empty();
    for signal in [
        Signal::SIGCHLD,
        Signal::SIGUSR1,
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
    ] {
        signals.add(signal);
    }
    signals.thread_block()?;
    let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    let folder = Folder::new(folder);
    let own = Process::of(std::process::id() as i32);
    folder.write_supervisor(&own.ok_or_else(|| io::Error::other("/proc is not there"))?)?;
    let order = folder.order()?;
    let name = folder.path().file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let supervisor = Supervisor {
        began: wall(order.clock_offset),
        folder,
        order,
        name,
        signals,
    };
    supervisor.run()
}

/// Has the supervisor in this folder end its program and itself, if it is there.
pub fn end_supervisor(folder: &Path) {
    let process = Folder::new(folder).supervisor();
    if let Some(pid) = process.and_then(|process| process.pid()) {
        // It may end by itself in between.
        let _ = kill(pid, Signal::SIGTERM);
    }
}

struct Supervisor {
    folder: Folder,
    order: Order,
    /// That of the attempt's folder.
    name: String,
    signals: SignalFd,
    began: Time,
}

impl Supervisor {
    fn now(&self) -> Time {
        wall(self.order.clock_offset)
    }

    fn run(&self) -> io::Result<Outcome> {
        // It is too late to begin: the job may run elsewhere by now.
        if self.folder.until() <= self.now() {
            return self.tell(Kind::Overran, LATE.to_owned());
        }
        let limits = &self.order.program.limits;
        let cgroup = match &self.order.cgroup {
            None => None,
            Some(parent) => match Cgroup::make(parent, &self.name, limits) {
                Ok(cgroup) => Some(cgroup),
                Err(error) => {
                    let how = format!("no cgroup below {}: {error}", parent.display());
                    return self.tell(Kind::Broke, how);
                }
            },
        };
        let program = Command::new(std::env::current_exe()?)
            .arg("enter")
            .arg(self.folder.path())
            .arg(std::process::id().to_string())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let (kind, how) = match program {
            Err(error) => (Kind::Broke, format!("it cannot be started: {error}")),
            Ok(program) => {
                let pid = Pid::from_raw(program.id() as i32);
                let end = self.watch(pid);
                // All that it has started ends with it.
                self.kill_all(pid, cgroup.as_ref());
                end?
            }
        };
        if let Some(cgroup) = cgroup {
            cgroup.remove();
        }
        self.tell(kind, how)
    }

    /// Waits until the program ends, or has to.
    fn watch(&self, program: Pid) -> io::Result<(Kind, String)> {
        let longest = self
            .order
            .longest
            .map_or(Duration::MAX, Duration::from_micros);
        let begun = Instant::now();
        let mut until = self.folder.until();
        let mut deadline = self.deadline(until);
        loop {
            if let Some(end) = reap(program)? {
                return Ok(match end.0 == Kind::Broke && self.is_ended_too()? {
                    true => (Kind::Broke, ENDED.to_owned()),
                    false => end,
                });
            }
            let is_due = Instant::now() >= deadline;
            if self.now() >= until || is_due {
                // It may have been extended in the meantime. If not, a clock that was set back does not give it more.
                let before = std::mem::replace(&mut until, self.folder.until());
                deadline = self.deadline(until);
                if self.now() >= until || (is_due && until == before) {
                    let how = match until {
                        Time::ZERO => "it was stopped",
                        _ => OVER,
                    };
                    return Ok((Kind::Overran, how.to_owned()));
                }
            }
            let rest = longest.saturating_sub(begun.elapsed());
            if rest.is_zero() {
                return Ok((Kind::Overran, OVER.to_owned()));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let left = left.min(rest).min(TICK);
            let milliseconds = u16::try_from(left.as_millis()).unwrap_or(1000);
            let mut files = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
            match poll(
                &mut files,
                PollTimeout::from(milliseconds.saturating_add(1)),
            ) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            if self.is_far()
                && let Some(told) = self.folder.told_until()
            {
                until = told;
                deadline = self.deadline(until);
            }
            while let Some(signal) = self.signals.read_signal()? {
                match Signal::try_from(signal.ssi_signo as i32) {
                    // The agent has written another time.
                    Ok(Signal::SIGUSR1) => {
                        until = self.folder.until();
                        deadline = self.deadline(until);
                    }
                    Ok(Signal::SIGCHLD | Signal::SIGHUP) | Err(_) => {}
                    Ok(_) => return Ok((Kind::Broke, ENDED.to_owned())),
                }
            }
        }
    }

    /// Whether the agent is on another computer: then a batch system, and not the agent, sends signals.
    fn is_far(&self) -> bool {
        self.order.socket.as_os_str().is_empty()
    }

    /// Whether this process is told to end, too: a batch system signals all processes of a job, and the program may be
    /// gone first. Then it did not break, it was ended.
    fn is_ended_too(&self) -> io::Result<bool> {
        if !self.is_far() {
            return Ok(false);
        }
        let until = Instant::now() + TOGETHER;
        while Instant::now() < until {
            while let Some(signal) = self.signals.read_signal()? {
                if let Ok(Signal::SIGTERM | Signal::SIGINT) = (signal.ssi_signo as i32).try_into() {
                    return Ok(true);
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(false)
    }

    /// The same end by a clock that is never set.
    fn deadline(&self, until: Time) -> Instant {
        let left = Duration::from(until - self.now());
        let now = Instant::now();
        // A year is longer than any program waits here without a look at the file.
        now + left.min(Duration::from_secs(365 * 86_400))
    }

    /// Tells the user why the program ended, where the user looks for its errors. Not if the program runs as another
    /// user than this process: that user chose the name of the file.
    fn note(&self, how: &str) {
        if self.order.user.is_none()
            && let Ok(mut file) = File::options()
                .append(true)
                .create(true)
                .open(&self.order.error)
        {
            // It is for people only.
            let _ = writeln!(file, "gridweave-node: {how}");
        }
    }

    /// Returns when no process of the attempt is left.
    fn kill_all(&self, program: Pid, cgroup: Option<&Cgroup>) {
        loop {
            loop {
                match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                    Ok(WaitStatus::StillAlive) => break,
                    Ok(_) => {}
                    Err(Errno::EINTR) => {}
                    // There are no children any more.
                    Err(_) => return,
                }
            }
            if let Some(cgroup) = cgroup {
                cgroup.kill();
            }
            // Those that are gone already cannot be killed.
            let _ = killpg(program, Signal::SIGKILL);
            for child in own_children() {
                let _ = kill(child, Signal::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn tell(&self, outcome: Kind, how: String) -> io::Result<Outcome> {
        if outcome == Kind::Overran || !how.starts_with("exit status") {
            self.note(&how);
        }
        self.folder.write_verdict(&Verdict {
            outcome,
            how,
            began: self.began.as_micros(),
            ended: self.now().as_micros(),
        })?;
        let told = UnixDatagram::unbound()
            .and_then(|socket| socket.send_to(self.name.as_bytes(), &self.order.socket));
        let until = Instant::now() + NOTING;
        // Writing it through takes longer than most short jobs, and the agent does so with several at once.
        let mut pause = Duration::from_millis(2);
        while told.is_ok() && Instant::now() < until {
            if self.folder.is_gone() {
                return Ok(outcome.into());
            }
            std::thread::sleep(pause);
            pause = pause.saturating_mul(2);
        }
        // The agent is down, and finds the file later.
        match self.folder.sync_verdict() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(outcome.into()),
            synced => synced.map(|()| outcome.into()),
        }
    }
}

/// Collects children that have ended; says how, if the program is among them.
fn reap(program: Pid) -> io::Result<Option<(Kind, String)>> {
    let mut end = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, 0)) if pid == program => {
                end = Some((Kind::Done, "exit status 0".to_owned()));
            }
            Ok(WaitStatus::Exited(pid, status)) if pid == program => {
                end = Some((Kind::Broke, format!("exit status {status}")));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == program => {
                end = Some((Kind::Broke, format!("killed by {}", signal.as_str())));
            }
            Ok(WaitStatus::StillAlive) => return Ok(end),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(Errno::ECHILD) if end.is_some() => return Ok(end),
            Err(error) => return Err(error.into()),
        }
    }
}

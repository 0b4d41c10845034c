use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use gridweave_core::job::Outcome;
use gridweave_core::time::{Span, Time};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{User, chown, geteuid};
use tracing::{debug, warn};

use super::cgroup::Cgroup;
use super::folder::{Folder, Order};
use super::{AttemptId, Ended, Executor, ExecutorError, Start, Survivor};
use crate::clock::wall;
use crate::settings::Jobs;

/// How long a supervisor may take to say which process it is.
const GRACE: Duration = Duration::from_secs(2);

/// Where and as what programs run.
#[derive(Clone, Debug)]
pub struct Site {
    /// The folder of the node.
    pub folder: PathBuf,
    /// The program of this agent, which is that of supervisors, too.
    pub program: PathBuf,
    /// What the administrator says.
    pub jobs: Jobs,
    /// The offset of the clock, in microseconds.
    pub clock_offset: i64,
}

/// Runs each attempt as a process under a supervisor.
pub struct Processes {
    site: Site,
    /// Has a folder for each attempt that the agent has not forgotten.
    attempts: PathBuf,
    known: BTreeMap<AttemptId, Known>,
    /// Called when an attempt may have ended.
    on_end: Arc<dyn Fn() + Send + Sync>,
}

struct Known {
    folder: Folder,
    supervisor: Supervisor,
    begun: Instant,
    is_told: bool,
}

enum Supervisor {
    /// It was started in this life of the agent, by a thread that waits for its end and then says so, or why it was not
    /// started. On a busy computer a start takes long.
    Own(Receiver<io::Result<()>>),
    /// It was started in an earlier life.
    Found,
}

impl Processes {
    /// Runs programs at this site; `on_end` is called, in a thread of its own, when an attempt may have ended.
    pub fn new(
        site: Site,
        on_end: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, ExecutorError> {
        site.check_user()?;
        let attempts = site.make_folders()?;
        let on_end: Arc<dyn Fn() + Send + Sync> = Arc::new(on_end);
        listen(&socket_of(&site.folder), on_end.clone())?;
        Ok(Self {
            site,
            attempts,
            known: BTreeMap::new(),
            on_end,
        })
    }

    /// Nothing of this attempt may run: its supervisor has died, or never began.
    fn end_remains(&self, attempt: AttemptId, folder: &Folder) {
        // A supervisor that is about to begin finds that it is too late.
        let _ = folder.write_until(Time::ZERO);
        if let Some(parent) = &self.site.jobs.cgroup {
            let cgroup = Cgroup::of(Path::new(parent), &attempt.to_string());
            cgroup.kill();
            cgroup.remove();
        }
    }
}

impl Site {
    /// Refuses to run jobs as a user that the administrator has not allowed.
    pub(super) fn check_user(&self) -> Result<(), ExecutorError> {
        match &self.jobs.user {
            Some(name) => {
                let found = User::from_name(name).ok().flatten();
                let user = found.ok_or_else(|| ExecutorError::NoUser(name.clone()))?;
                if user.uid.is_root() && !self.jobs.allow_root {
                    return Err(ExecutorError::Root);
                }
                if !geteuid().is_root() && user.uid != geteuid() {
                    return Err(ExecutorError::NotRoot);
                }
            }
            None if geteuid().is_root() && !self.jobs.allow_root => {
                return Err(ExecutorError::Root);
            }
            None => warn!("jobs run as the user of this agent, and can speak for this node"),
        }
        Ok(())
    }

    /// Makes its folders, and returns that of attempts.
    pub(super) fn make_folders(&self) -> Result<PathBuf, ExecutorError> {
        let attempts = self.attempts();
        // Programs go through the second one to their own folders.
        for (folder, mode) in [(&attempts, 0o700), (&self.outputs(), 0o711)] {
            make(folder, mode)?;
        }
        Ok(attempts)
    }

    /// Has a folder for each attempt that the agent has not forgotten.
    pub(super) fn attempts(&self) -> PathBuf {
        self.folder.join("attempts")
    }

    /// Has a folder for each attempt, with its output.
    pub(super) fn outputs(&self) -> PathBuf {
        self.folder.join("jobs")
    }

    /// What its supervisor is told; makes the folder of its output.
    pub(super) fn order(&self, start: &Start) -> Result<Order, ExecutorError> {
        let own = self.outputs().join(start.attempt.to_string());
        make(&own, 0o700)?;
        if let Some(name) = &self.jobs.user
            && let Ok(Some(user)) = User::from_name(name)
        {
            let failed = ExecutorError::system(own.display());
            chown(&own, Some(user.uid), Some(user.gid)).map_err(|error| failed(error.into()))?;
        }
        let (job, rank) = (start.attempt.job.get().to_string(), start.rank.to_string());
        let fill = |name: &str| name.replace("%j", &job).replace("%r", &rank);
        let program = &start.program;
        let folder = program.folder.as_deref();
        let folder = folder.map_or_else(|| own.clone(), |folder| own.join(fill(folder)));
        let file = |named: &Option<String>, otherwise: &str| {
            // An absolute name replaces the folder.
            named
                .as_deref()
                .map_or_else(|| own.join(otherwise), |named| folder.join(fill(named)))
        };
        let (output, error) = (
            file(&program.output, "stdout"),
            file(&program.error, "stderr"),
        );
        let mut environment = BTreeMap::new();
        for name in ["PATH", "HOME", "LANG", "LC_ALL", "TZ"] {
            if let Ok(value) = std::env::var(name) {
                environment.insert(name.to_owned(), value);
            }
        }
        environment.extend(program.environment.clone());
        for (name, value) in [
            ("GRIDWEAVE_JOB", job.clone()),
            ("GRIDWEAVE_ATTEMPT", start.attempt.number.get().to_string()),
            ("GRIDWEAVE_RANK", rank.clone()),
            ("GRIDWEAVE_NODES", start.nodes.join(" ")),
            ("GRIDWEAVE_ADDRESSES", start.addresses.join(" ")),
        ] {
            environment.insert(name.to_owned(), value);
        }
        Ok(Order {
            program: program.clone(),
            environment,
            folder,
            output,
            error,
            user: self.jobs.user.clone().filter(|_| geteuid().is_root()),
            cgroup: self.jobs.cgroup.as_ref().map(PathBuf::from),
            socket: socket_of(&self.folder),
            longest: start.longest.map(Span::as_micros),
            clock_offset: self.clock_offset,
            submitter: (
                start.submitter.user.get(),
                start.submitter.organisation.get(),
            ),
        })
    }
}

/// Makes a folder, if there is none, with these permissions.
pub(super) fn make(folder: &Path, mode: u32) -> Result<(), ExecutorError> {
    let failed = ExecutorError::system(folder.display());
    let made = fs::create_dir_all(folder);
    let mode = fs::Permissions::from_mode(mode);
    made.and_then(|()| fs::set_permissions(folder, mode))
        .map_err(failed)
}

fn socket_of(folder: &Path) -> PathBuf {
    folder.join("ended.socket")
}

/// Hears supervisors that have written an outcome.
fn listen(socket: &Path, on_end: Arc<dyn Fn() + Send + Sync>) -> Result<(), ExecutorError> {
    let failed = || ExecutorError::system(socket.display());
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed()(error)),
        _ => {}
    }
    let heard = UnixDatagram::bind(socket).map_err(failed())?;
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(socket, mode).map_err(failed())?;
    let thread = std::thread::Builder::new().name("ends".to_owned());
    let listening = move || {
        let mut room = [0; 64];
        while heard.recv(&mut room).is_ok() {
            on_end();
        }
    };
    thread
        .stack_size(64 << 10)
        .spawn(listening)
        .map_err(failed())?;
    Ok(())
}

impl Executor for Processes {
    fn begin(&mut self, start: &Start) -> Result<(), ExecutorError> {
        let order = self.site.order(start)?;
        let path = self.attempts.join(start.attempt.to_string());
        let folder = Folder::new(&path);
        let failed = || ExecutorError::system(path.display());
        fs::create_dir(&path).map_err(failed())?;
        folder.write_order(&order).map_err(failed())?;
        folder.write_until(start.until).map_err(failed())?;
        let mut command = Command::new(&self.site.program);
        command
            .arg("supervise")
            .arg(&path)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (result, ended) = channel();
        let (on_end, of_thread) = (self.on_end.clone(), folder.clone());
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        let spawned = thread.spawn(move || {
            let outcome = command.spawn().and_then(|mut child| child.wait());
            // The attempt may be forgotten by now.
            let _ = result.send(outcome.map(|_| ()));
            if !of_thread.is_gone() && of_thread.ended().is_none() {
                on_end();
            }
        });
        if let Err(error) = spawned {
            // Nothing runs, so nothing of it is kept.
            let _ = fs::remove_dir_all(&path);
            return Err(ExecutorError::system("a thread")(error));
        }
        let known = Known {
            folder,
            supervisor: Supervisor::Own(ended),
            begun: Instant::now(),
            is_told: false,
        };
        self.known.insert(start.attempt, known);
        Ok(())
    }

    fn extend(&mut self, attempt: AttemptId, until: Time) {
        let Some(known) = self.known.get(&attempt) else {
            return;
        };
        if let Err(error) = known.folder.write_until(until) {
            // It ends at the time that it was told before, which is safe.
            warn!("{attempt} cannot be told its time: {error}");
        }
        if let Some(pid) = known.folder.supervisor().and_then(|process| process.pid()) {
            // It has ended in the meantime, or looks at the file when it begins.
            let _ = kill(pid, Signal::SIGUSR1);
        }
    }

    fn survivors(&mut self) -> Result<Vec<(AttemptId, Survivor)>, ExecutorError> {
        let mut found = Vec::new();
        let failed = || ExecutorError::system(self.attempts.display());
        for entry in fs::read_dir(&self.attempts).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match AttemptId::from_name(&name) {
                Some(attempt) => found.push((attempt, Folder::new(&path))),
                None => warn!("{} is no attempt, and is left alone", path.display()),
            }
        }
        found.sort_unstable_by_key(|(attempt, _)| *attempt);
        let begun = Instant::now();
        // Supervisors that were started a moment before the agent died have not said yet which process they are.
        while begun.elapsed() < GRACE
            && found.iter().any(|(_, folder)| {
                folder.supervisor().is_none() && folder.until() > wall(self.site.clock_offset)
            })
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut survivors = Vec::new();
        for (attempt, folder) in found {
            // The look at the process comes first: it may write the outcome, and end, at any time.
            let lives = folder.supervisor().is_some_and(|process| process.lives())
                || canary!("dead-child-adopted");
            let survivor = match folder.ended() {
                Some(ended) => Survivor::Ended(ended),
                None if lives => Survivor::Runs {
                    until: folder.until(),
                },
                None => {
                    self.end_remains(attempt, &folder);
                    Survivor::Lost
                }
            };
            let known = Known {
                folder,
                supervisor: Supervisor::Found,
                begun,
                is_told: !matches!(survivor, Survivor::Runs { .. }),
            };
            self.known.insert(attempt, known);
            survivors.push((attempt, survivor));
        }
        Ok(survivors)
    }

    fn look(&mut self) -> Vec<(AttemptId, Ended)> {
        let now = wall(self.site.clock_offset);
        let mut ended = Vec::new();
        let mut lost = Vec::new();
        for (attempt, known) in &mut self.known {
            if known.is_told {
                continue;
            }
            let mut failed = None;
            let lives = match (&known.supervisor, known.folder.supervisor()) {
                (Supervisor::Own(ended), _) => match ended.try_recv() {
                    Err(TryRecvError::Empty) => true,
                    outcome => {
                        failed = outcome.ok().and_then(Result::err);
                        false
                    }
                },
                (Supervisor::Found, Some(process)) => {
                    process.lives() || canary!("dead-child-adopted")
                }
                (Supervisor::Found, None) => known.begun.elapsed() < GRACE,
            };
            if let Some(end) = known.folder.ended() {
                ended.push((*attempt, end));
            } else if !lives {
                let how = failed.map(|error| format!("its supervisor cannot be started: {error}"));
                lost.push((*attempt, how));
            } else {
                continue;
            }
            known.is_told = true;
        }
        for (attempt, how) in lost {
            let Some(known) = self.known.get(&attempt) else {
                continue;
            };
            self.end_remains(attempt, &known.folder);
            let end = Ended {
                outcome: Outcome::Broke,
                submitter: known.folder.submitter(),
                began: now,
                ended: now,
                how: how.unwrap_or_else(|| "its supervisor died".to_owned()),
            };
            ended.push((attempt, end));
        }
        ended
    }

    fn forget(&mut self, attempt: AttemptId) {
        let Some(known) = self.known.remove(&attempt) else {
            return;
        };
        let path = known.folder.path();
        debug!("{attempt} is forgotten");
        if let Err(error) = fs::remove_dir_all(path) {
            warn!("{} cannot be removed: {error}", path.display());
        }
    }

    fn running(&self) -> usize {
        self.known.values().filter(|known| !known.is_told).count()
    }
}

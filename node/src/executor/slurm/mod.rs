//! A site that Slurm schedules: attempts are batch jobs there, and the site's own users have theirs beside them.
//!
//! Slurm's answers are not taken for more than they are. An acknowledged job may be gone after a crash of the controller,
//! and its id given to another one; a command that got no answer may be carried out later. So:
//!
//! - The order of an attempt is on the disk before it is submitted. It is submitted under a name, and found again by
//!   that name; no id is kept.
//! - A file in its folder decides whether it begins ([`fate`]): it begins once, and never after it was taken back.
//! - What was submitted and is not listed afterwards is submitted again. If the site ended it, or it was lost three
//!   times, it is taken back.
//! - A site that does not answer is silent, not empty: nothing is concluded from it, and all commands but one poll in
//!   each interval wait.
//! - A waiting attempt is held first, then taken back, then cancelled.
//!
//! The driver's thread only reads and writes files here; a thread of its own, the worker, calls Slurm.

mod begin;
mod command;
mod fate;
mod habits;
mod listing;
mod mirror;
mod script;
mod shape;
#[cfg(test)]
mod tests;
mod worker;

pub use begin::begin_at_site;
pub use listing::limit;
pub use shape::Shape;
use shape::Unfit;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gridweave_core::id::NodeId;
use gridweave_core::job::{Outcome, Seen, SiteReport};
use gridweave_core::time::{Span, Time};
use serde_json::{Value, json};
use tracing::{debug, warn};

use self::command::{Commands, NoAnswer};
use self::fate::Fate;
use self::worker::Worker;
use super::folder::{Folder, Outlives, write};
use super::process::make;
use super::supervisor::{ENDED, LATE};
use super::{AttemptId, Ended, Executor, ExecutorError, Needs, Site, Start, Survivor};
use crate::observe::Metrics;
use crate::settings::{Length, Slurm as Settings};

/// How often the queue is asked for, and how long a command may take.
const INTERVAL: Span = Span::from_secs(10);
const TIMEOUT: Span = Span::from_secs(5);

/// What was learned of the partition at the last start, in the folder of the node.
const SHAPE: &str = "slurm.site";

/// What an executor is made of.
pub struct Plan<'a> {
    /// The folder of the node.
    pub folder: &'a Path,
    /// Where and as what programs run.
    pub site: Site,
    /// What the administrator says.
    pub settings: Settings,
    /// The partition.
    pub shape: Shape,
    /// This node.
    pub node: NodeId,
    /// Counts polls and forecasts.
    pub metrics: Arc<Metrics>,
}

/// Has a Slurm cluster run each attempt.
pub struct Slurm {
    site: Site,
    shape: Shape,
    shared: Arc<Shared>,
    /// Until it is started.
    worker: Option<Worker>,
}

/// What the driver's thread and the worker share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    known: BTreeMap<AttemptId, Known>,
    /// What the driver has not heard yet.
    reports: Vec<SiteReport>,
    contact: Contact,
    /// How many jobs the site had at the last poll.
    listed: usize,
    /// A job has ended there.
    is_poked: bool,
    is_over: bool,
}

/// Whether the site takes jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Contact {
    /// It was not asked yet.
    Unknown,
    Open,
    /// It does not answer, or refuses jobs, and why.
    Closed(String),
}

struct Known {
    folder: Folder,
    /// What `sbatch` is told; an earlier life may have left a folder without it.
    needs: Option<Needs>,
    stage: Stage,
    wish: Wish,
    told: Told,
    /// Whether it is to be cancelled at the site.
    cancels: bool,
    /// The driver does not need it any more.
    is_forgotten: bool,
    /// How often it was submitted in this life.
    tries: u8,
    /// The latest time until when it may run that was told.
    until: Time,
    /// It has begun, and the last poll did not list it.
    is_missed: bool,
}

/// How far an attempt is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// It is not at the site.
    New,
    /// It may be at the site: it was submitted, or seen there, by this moment.
    There(Instant),
    /// It has begun.
    Begun,
    /// It will not begin. It may still be in the queue, as of this moment.
    Withdrawn(Instant),
}

/// What the node wants of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wish {
    Run,
    Withdraw,
    Stop,
}

/// What the driver was told last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Told {
    Nothing,
    Queued,
    Started,
    /// That it has ended, or is gone.
    Over,
}

fn io_error(what: &Path) -> impl FnOnce(io::Error) -> ExecutorError {
    ExecutorError::system(what.display())
}

fn length(given: Option<Length>, otherwise: Span) -> Duration {
    given.map_or(otherwise, |Length(span)| span).into()
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn report(&mut self, AttemptId { job, number }: AttemptId, seen: Seen) {
        let attempt = number;
        self.reports
            .push(SiteReport::Attempt { job, attempt, seen });
    }

    /// Says once that an attempt is gone; if it had begun, that was said before.
    fn report_gone(&mut self, attempt: AttemptId) {
        if let Some(known) = self.known.get_mut(&attempt)
            && known.told != Told::Over
        {
            known.told = Told::Over;
            self.report(attempt, Seen::Vanished);
        }
    }

    fn take_out(&mut self, attempt: AttemptId) {
        if let Some(known) = self.known.remove(&attempt) {
            let path = known.folder.path();
            debug!("{attempt} is forgotten");
            if let Err(error) = fs::remove_dir_all(path) {
                warn!("{} cannot be removed: {error}", path.display());
            }
        }
    }
}

impl Known {
    fn fate(&self) -> Option<Fate> {
        Fate::of(self.folder.path()).ok().flatten()
    }

    fn set_until(&mut self, until: Time) {
        // If its computer is lost, nothing but the end of its time tells that it does not run there.
        if self.is_missed && until > self.until {
            return;
        }
        self.until = self.until.max(until);
        if let Err(error) = self.folder.write_until(until) {
            // It ends at the time that it was told before, which is safe.
            warn!(
                "{} cannot be written: {error}",
                self.folder.path().display()
            );
        }
    }
}

impl Slurm {
    /// Asks Slurm what the partition is. If it does not answer, or no computer is up, the last answer counts.
    pub fn shape(settings: &Settings, folder: &Path) -> Result<Shape, ExecutorError> {
        let commands = commands(settings);
        let kept = folder.join(SHAPE);
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        let ask = || {
            let config = commands.call("scontrol", &words(&["show", "config"]))?;
            let partitions = commands.call("scontrol", &words(&["-o", "show", "partition"]))?;
            let line = match &settings.partition {
                Some(name) => vec![format!("--partition={name}")],
                None => Vec::new(),
            };
            let more = words(&["--noheader", "--Node", "--format=%c|%m|%G|%t"]);
            let nodes = commands.call("sinfo", &[more, line].concat())?;
            Ok((config, partitions, nodes))
        };
        let why = match ask() {
            Ok((config, partitions, nodes)) => {
                let wanted = settings.partition.as_deref();
                match Shape::read(wanted, &config, &partitions, &nodes) {
                    Ok(shape) => {
                        let text = serde_json::to_vec(&shape).unwrap_or_default();
                        write(&kept, &text, Outlives::Computer).map_err(io_error(&kept))?;
                        return Ok(shape);
                    }
                    Err(Unfit::Refused(why)) => return Err(ExecutorError::Slurm(why)),
                    Err(Unfit::Down(why)) => why,
                }
            }
            Err(NoAnswer::Refused(why)) => return Err(ExecutorError::Slurm(why)),
            Err(NoAnswer::Silent(why)) => format!("Slurm does not answer: {why}"),
        };
        let text = fs::read(&kept).unwrap_or_default();
        serde_json::from_slice(&text)
            .inspect(|_| warn!("{why}; the partition is taken to be as it was"))
            .map_err(|_| ExecutorError::Slurm(why.clone()))
    }

    /// Stands before the cluster; `on_news` is called when there is something to look at.
    pub fn new(
        plan: Plan<'_>,
        on_news: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, ExecutorError> {
        let mut site = plan.site;
        site.check_user()?;
        if let Some(folder) = &plan.settings.folder {
            site.folder = PathBuf::from(folder);
            make(&site.folder, 0o711)?;
            let found = site.folder.canonicalize();
            site.folder = found.map_err(io_error(&site.folder))?;
        }
        if let Some(program) = &plan.settings.program {
            site.program = PathBuf::from(program);
        }
        site.make_folders()?;
        for remark in &plan.shape.remarks {
            warn!("Slurm: {remark}");
        }
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                known: BTreeMap::new(),
                reports: Vec::new(),
                contact: Contact::Unknown,
                listed: 0,
                is_poked: false,
                is_over: false,
            }),
            changed: Condvar::new(),
        });
        listen(&socket_of(plan.folder), shared.clone())?;
        let worker = Worker::new(
            shared.clone(),
            commands(&plan.settings),
            length(plan.settings.interval, INTERVAL),
            worker::About {
                node: plan.node,
                shape: plan.shape.clone(),
                settings: plan.settings,
                metrics: plan.metrics,
                clock_offset: site.clock_offset,
            },
            Box::new(on_news),
        )?;
        Ok(Self {
            site,
            shape: plan.shape,
            shared,
            worker: Some(worker),
        })
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

fn commands(settings: &Settings) -> Commands {
    Commands {
        folder: settings.commands.as_ref().map(PathBuf::from),
        conf: settings.conf.clone(),
        timeout: length(settings.timeout, TIMEOUT),
    }
}

fn socket_of(folder: &Path) -> PathBuf {
    folder.join("slurm.socket")
}

/// Has the agent of this folder look at its queue soon. For `EpilogSlurmctld`; any user may ask for it.
pub fn poke(folder: &Path) -> io::Result<()> {
    UnixDatagram::unbound()?.send_to(b"look", socket_of(folder))?;
    Ok(())
}

/// Hears pokes.
fn listen(socket: &Path, shared: Arc<Shared>) -> Result<(), ExecutorError> {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(io_error(socket)(error));
        }
        _ => {}
    }
    let heard = UnixDatagram::bind(socket).map_err(io_error(socket))?;
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(socket, mode).map_err(io_error(socket))?;
    let thread = std::thread::Builder::new().name("pokes".to_owned());
    let listening = move || {
        let mut room = [0; 16];
        while heard.recv(&mut room).is_ok() {
            let mut state = shared.lock();
            if state.is_over {
                return;
            }
            state.is_poked = true;
            shared.changed.notify_all();
        }
    };
    let spawned = thread.stack_size(64 << 10).spawn(listening);
    spawned.map_err(io_error(socket))?;
    Ok(())
}

impl Executor for Slurm {
    /// The site has begun it, and it may go on.
    fn begin(&mut self, start: &Start) -> Result<(), ExecutorError> {
        self.extend(start.attempt, start.until);
        Ok(())
    }

    fn extend(&mut self, attempt: AttemptId, until: Time) {
        let mut state = self.shared.lock();
        let Some(known) = state.known.get_mut(&attempt) else {
            return;
        };
        known.set_until(until);
        if until == Time::ZERO {
            known.wish = Wish::Stop;
            known.cancels |= known.stage == Stage::Begun;
            self.shared.changed.notify_all();
        }
    }

    fn queue(&mut self, start: &Start, needs: &Needs) -> Result<(), ExecutorError> {
        let attempt = start.attempt;
        let mut state = self.shared.lock();
        if let Some(known) = state.known.get_mut(&attempt) {
            // It is told how it is.
            known.wish = Wish::Run;
            known.set_until(start.until);
            known.told = Told::Nothing;
            if matches!(known.stage, Stage::Withdrawn(_)) {
                state.report_gone(attempt);
            }
            self.shared.changed.notify_all();
            return Ok(());
        }
        drop(state);
        let mut order = self.site.order(start)?;
        // Its computer is another one, where the agent has no socket.
        order.socket = PathBuf::new();
        let path = self.site.attempts().join(attempt.to_string());
        make(&path, 0o700)?;
        let folder = Folder::new(&path);
        let text = serde_json::to_vec(needs).unwrap_or_default();
        let script = script::script(&self.site.program, &path);
        folder
            .write_order(&order)
            .and_then(|()| folder.write_until(start.until))
            .and_then(|()| write(&path.join("script"), script.as_bytes(), Outlives::Process))
            .and_then(|()| write(&path.join("needs"), &text, Outlives::Process))
            .map_err(io_error(&path))?;
        let known = Known {
            folder,
            needs: Some(*needs),
            stage: Stage::New,
            wish: Wish::Run,
            told: Told::Queued,
            cancels: false,
            is_forgotten: false,
            tries: 0,
            until: start.until,
            is_missed: false,
        };
        self.shared.lock().known.insert(attempt, known);
        self.shared.changed.notify_all();
        Ok(())
    }

    fn withdraw(&mut self, attempt: AttemptId) {
        let mut state = self.shared.lock();
        let Some(known) = state.known.get_mut(&attempt) else {
            // Its folder was lost: it cannot begin any more.
            return state.report(attempt, Seen::Vanished);
        };
        known.wish = Wish::Withdraw;
        if matches!(known.stage, Stage::Withdrawn(_)) {
            known.told = Told::Nothing;
            state.report_gone(attempt);
        }
        self.shared.changed.notify_all();
    }

    fn survivors(&mut self) -> Result<Vec<(AttemptId, Survivor)>, ExecutorError> {
        let mut survivors = Vec::new();
        let attempts = self.site.attempts();
        let mut state = self.shared.lock();
        for entry in fs::read_dir(&attempts).map_err(io_error(&attempts))? {
            let path = entry.map_err(io_error(&attempts))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(attempt) = AttemptId::from_name(&name) else {
                warn!("{} is no attempt, and is left alone", path.display());
                continue;
            };
            let folder = Folder::new(&path);
            let fate = Fate::of(&path).map_err(io_error(&path))?;
            let needs = fs::read(path.join("needs")).unwrap_or_default();
            let until = folder.until();
            let mut known = Known {
                needs: serde_json::from_slice(&needs).ok(),
                // An earlier life may have submitted it.
                stage: Stage::There(Instant::now()),
                wish: Wish::Run,
                told: Told::Nothing,
                cancels: false,
                is_forgotten: false,
                tries: 0,
                until,
                is_missed: false,
                folder,
            };
            match fate {
                Some(Fate::Begun(_)) => {
                    known.stage = Stage::Begun;
                    match known.folder.ended() {
                        Some(ended) if ended.how == LATE => {}
                        Some(ended) if ended.how != ENDED => {
                            known.told = Told::Over;
                            survivors.push((attempt, Survivor::Ended(ended)));
                        }
                        // If it does not run any more, that is seen later.
                        _ => {
                            known.told = Told::Started;
                            survivors.push((attempt, Survivor::Runs { until }));
                        }
                    }
                }
                Some(Fate::Withdrawn) => {
                    known.stage = Stage::Withdrawn(Instant::now());
                    known.cancels = true;
                }
                None => {}
            }
            state.known.insert(attempt, known);
        }
        // If its home does not know yet that an attempt was taken back, it is told again.
        let withdrawn = state.known.iter();
        let withdrawn = withdrawn.filter(|(_, known)| matches!(known.stage, Stage::Withdrawn(_)));
        let withdrawn: Vec<AttemptId> = withdrawn.map(|(attempt, _)| *attempt).collect();
        for attempt in withdrawn {
            state.report_gone(attempt);
        }
        drop(state);
        survivors.sort_unstable_by_key(|(attempt, _)| *attempt);
        // Before this, all that is in the queue would look left over.
        if let Some(worker) = self.worker.take() {
            let thread = std::thread::Builder::new().name("slurm".to_owned());
            let failed = ExecutorError::system("a thread");
            thread.spawn(move || worker.run()).map_err(failed)?;
        }
        Ok(survivors)
    }

    fn look(&mut self) -> Vec<(AttemptId, Ended)> {
        let mut state = self.shared.lock();
        let mut ended = Vec::new();
        let mut reports = Vec::new();
        for (attempt, known) in &mut state.known {
            if known.told == Told::Over {
                continue;
            }
            if matches!(known.stage, Stage::New | Stage::There(_))
                && known.fate().and_then(Fate::begun).is_some()
            {
                known.stage = Stage::Begun;
            }
            if known.stage != Stage::Begun {
                continue;
            }
            let end = known.folder.ended();
            let is_late = end.as_ref().is_some_and(|end| end.how == LATE);
            if known.told < Told::Started && !is_late {
                let at = known.fate().and_then(Fate::begun).unwrap_or(Time::ZERO);
                known.told = Told::Started;
                reports.push((*attempt, Seen::Started { at }));
            }
            let Some(mut end) = end else {
                continue;
            };
            known.told = Told::Over;
            if !is_cut_short(&end) {
                ended.push((*attempt, end));
            } else if known
                .needs
                .is_some_and(|needs| end.began + needs.length <= end.ended)
            {
                // Slurm has ended it at its time limit.
                end.outcome = Outcome::Overran;
                ended.push((*attempt, end));
            } else {
                // The site has ended it.
                reports.push((*attempt, Seen::Vanished));
            }
        }
        for (attempt, seen) in reports {
            state.report(attempt, seen);
        }
        ended
    }

    fn reports(&mut self) -> Vec<SiteReport> {
        std::mem::take(&mut self.shared.lock().reports)
    }

    fn forget(&mut self, attempt: AttemptId) {
        let mut state = self.shared.lock();
        let Some(known) = state.known.get_mut(&attempt) else {
            return;
        };
        known.is_forgotten = true;
        if !matches!(known.stage, Stage::Withdrawn(_)) {
            state.take_out(attempt);
        }
        self.shared.changed.notify_all();
    }

    fn running(&self) -> usize {
        let state = self.shared.lock();
        let goes_on = |known: &&Known| known.told != Told::Over;
        state.known.values().filter(goes_on).count()
    }

    fn site(&self) -> Option<Value> {
        let state = self.shared.lock();
        let contact = match &state.contact {
            Contact::Unknown => "not asked yet",
            Contact::Open => "open",
            Contact::Closed(why) => why,
        };
        Some(json!({
            "slurm": self.shape.version,
            "partition": self.shape.partition,
            "processors": self.shape.processors,
            "contact": contact,
            "jobs": state.listed,
            "attempts": state.known.len(),
        }))
    }
}

/// Whether it ended because its site ended it, or because it began too late: not by itself.
fn is_cut_short(ended: &Ended) -> bool {
    ended.how == ENDED || ended.how == LATE
}

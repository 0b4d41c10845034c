//! The thread that calls Slurm: one poll in each interval, and what the node wants in between.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridweave_core::id::NodeId;
use gridweave_core::job::{Seen, SiteReport};
use nix::unistd::{User, geteuid};
use tracing::{debug, info, warn};

use super::command::{Commands, NoAnswer};
use super::fate::{Decided, Fate};
use super::listing::{self, Hold, Listed, State as Stands};
use super::mirror::{Forecasts, Mirror, Started};
use super::shape::Shape;
use super::{Contact, Known, Shared, Stage, State, Told, Wish, script};
use crate::clock::wall;
use crate::executor::{AttemptId, ExecutorError, Needs};
use crate::observe::Metrics;
use crate::settings::Slurm as Settings;

/// How often an attempt is submitted again after the site lost it.
const TRIES: u8 = 3;

/// For how long a site that refuses jobs is offered none.
const CLOSED: Duration = Duration::from_secs(60);

/// Pokes come no more often than this part of an interval.
const POKES: u32 = 5;

/// The most attempts that are submitted at a time.
const AT_ONCE: usize = 8;

/// How many intervals a poll waits for attempts that are to be submitted or withdrawn.
const LATE: u32 = 3;

/// What the worker knows.
pub(super) struct About {
    pub(super) node: NodeId,
    pub(super) shape: Shape,
    pub(super) settings: Settings,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock_offset: i64,
}

pub(super) struct Worker {
    shared: Arc<Shared>,
    commands: Commands,
    interval: Duration,
    about: About,
    /// The user that submits.
    user: String,
    on_news: Box<dyn Fn() + Send + Sync>,
    mirror: Mirror,
    forecasts: Forecasts,
    /// Whether the last command got an answer.
    answers: bool,
    closed: Option<(Instant, String)>,
}

/// What is to be done for an attempt.
enum Task {
    Submit(Vec<AttemptId>),
    Withdraw(AttemptId),
    Cancel(AttemptId),
}

/// What a poll shows that has to be done.
#[derive(PartialEq, Eq, Debug)]
enum Finding {
    /// It is held, and should run.
    Held(AttemptId),
    /// It is there although it must not begin.
    Left(String),
    /// It is there twice: this one is too many.
    Twice { id: String, name: String },
    /// It was submitted, and is not there.
    Missing(AttemptId),
}

impl Worker {
    pub(super) fn new(
        shared: Arc<Shared>,
        commands: Commands,
        interval: Duration,
        about: About,
        on_news: Box<dyn Fn() + Send + Sync>,
    ) -> Result<Self, ExecutorError> {
        let user = User::from_uid(geteuid()).ok().flatten();
        let user = user.ok_or_else(|| {
            ExecutorError::Slurm(
                "the user of the agent has no name, and Slurm needs one".to_owned(),
            )
        })?;
        Ok(Self {
            shared,
            commands,
            interval,
            about,
            user: user.name,
            on_news,
            mirror: Mirror::default(),
            forecasts: Forecasts::default(),
            answers: false,
            closed: None,
        })
    }

    pub(super) fn run(mut self) {
        let mut polled: Option<Instant> = None;
        loop {
            let now = Instant::now();
            let mut state = self.shared.lock();
            if state.is_over {
                return;
            }
            let pause = match state.is_poked {
                true => self.interval / POKES,
                false => self.interval,
            };
            let poll_at = polled.map_or(now, |polled| polled + pause);
            let task = next_task(&state, self.answers);
            let is_late = polled.is_none_or(|polled| polled + self.interval * LATE <= now);
            if is_late || (poll_at <= now && task.is_none()) {
                state.is_poked = false;
                drop(state);
                self.poll(now);
                // A site that is slow to answer is not asked all the time.
                polled = Some(Instant::now());
                (self.on_news)();
                continue;
            }
            if let Some(task) = task {
                drop(state);
                self.carry_out(task);
                continue;
            }
            // A poke, a wish, or the next poll: the loop looks again.
            let waited = self.shared.changed.wait_timeout(state, poll_at - now);
            drop(waited);
        }
    }

    fn name(&self, attempt: AttemptId) -> String {
        script::name(attempt, self.about.node)
    }

    /// Calls a command. Without an answer, nothing more is asked before the next poll.
    fn call(&mut self, name: &str, arguments: &[String]) -> Result<String, NoAnswer> {
        let answer = self.commands.call(name, arguments);
        self.note(&answer);
        answer
    }

    fn note(&mut self, answer: &Result<String, NoAnswer>) {
        match answer {
            Err(NoAnswer::Silent(why)) => {
                self.answers = false;
                self.set_contact(Contact::Closed(why.clone()));
            }
            _ => self.answers = true,
        }
    }

    /// Says whether the site takes jobs, if that is new.
    fn set_contact(&self, contact: Contact) {
        let mut state = self.shared.lock();
        let was_open = state.contact == Contact::Open;
        match &contact {
            Contact::Closed(why) if was_open => {
                warn!("the site takes no jobs: {why}");
                state.reports.push(SiteReport::Unreachable);
            }
            Contact::Open if !was_open => {
                info!("the site answers, and takes jobs");
                state.reports.push(SiteReport::Reachable);
            }
            _ => {}
        }
        state.contact = contact;
    }

    fn close(&mut self, why: String) {
        self.set_contact(Contact::Closed(why.clone()));
        self.closed = Some((Instant::now() + CLOSED, why));
    }

    fn poll(&mut self, began: Instant) {
        let nonce = format!("{:08x}", rand::random::<u32>());
        let words = [
            "--noheader".to_owned(),
            "--all".to_owned(),
            "--array".to_owned(),
            format!("--format={}", listing::format(&nonce)),
        ];
        let answer = self.call("squeue", &words);
        self.about.metrics.polled(began.elapsed());
        let text = match answer {
            Ok(text) => text,
            Err(NoAnswer::Refused(why)) => {
                self.answers = false;
                return self.set_contact(Contact::Closed(why));
            }
            Err(NoAnswer::Silent(_)) => return,
        };
        let began_to_think = Instant::now();
        let listing = listing::parse(&text, &nonce);
        let findings = {
            let mut state = self.shared.lock();
            state.listed = listing.len();
            self.compare(&mut state, &listing, began)
        };
        let missing = findings.iter().filter_map(|finding| match finding {
            Finding::Missing(attempt) => Some(*attempt),
            _ => None,
        });
        let missing: Vec<AttemptId> = missing.collect();
        if !missing.is_empty() && self.settle_missing(&missing, &nonce).is_err() {
            return;
        }
        self.report_own(&listing);
        self.about
            .metrics
            .mirrored(listing.len(), began_to_think.elapsed());
        for finding in findings {
            if self.act_on(finding).is_err() {
                return;
            }
        }
        match &self.closed {
            Some((until, why)) if Instant::now() < *until => {
                self.set_contact(Contact::Closed(why.clone()));
            }
            _ => {
                self.closed = None;
                self.set_contact(Contact::Open);
            }
        }
    }

    /// Compares what is known with what is there, as of `began`.
    fn compare(&self, state: &mut State, listing: &[Listed], began: Instant) -> Vec<Finding> {
        let mut there: BTreeMap<AttemptId, Vec<&Listed>> = BTreeMap::new();
        for listed in listing.iter().filter(|listed| listed.user == self.user) {
            if let Some(attempt) = script::attempt_of(&listed.name, self.about.node)
                && !matches!(listed.state, Stands::Ending | Stands::Over)
            {
                there.entry(attempt).or_default().push(listed);
            }
        }
        let mut findings = Vec::new();
        for (attempt, listed) in &there {
            let waits = listed.iter().any(|one| one.state != Stands::Running);
            if !state.known.contains_key(attempt) && waits {
                findings.push(Finding::Left(self.name(*attempt)));
            }
        }
        let mut queued = Vec::new();
        let mut gone = Vec::new();
        let mut clear = Vec::new();
        for (attempt, known) in &mut state.known {
            let listed = there.get(attempt).map_or(&[][..], Vec::as_slice);
            match known.stage {
                Stage::New | Stage::There(_) => {
                    let Some(first) = first_of(listed) else {
                        if matches!(known.stage, Stage::There(by) if by < began) {
                            findings.push(Finding::Missing(*attempt));
                        }
                        continue;
                    };
                    known.stage = Stage::There(began);
                    if known.told == Told::Nothing && known.wish == Wish::Run {
                        known.told = Told::Queued;
                        queued.push(*attempt);
                    }
                    let others = listed.iter().filter(|one| one.id != first.id);
                    findings.extend(others.map(|one| Finding::Twice {
                        id: one.id.clone(),
                        name: one.name.clone(),
                    }));
                    if first.state == Stands::Held(Hold::ByHand) && known.wish == Wish::Run {
                        findings.push(Finding::Held(*attempt));
                    }
                }
                Stage::Begun => {
                    known.is_missed = listed.is_empty();
                    if known.is_missed && self.is_lost(known) {
                        gone.push(*attempt);
                    }
                }
                Stage::Withdrawn(by) => {
                    if !listed.is_empty() {
                        findings.push(Finding::Left(self.name(*attempt)));
                    } else if by < began && !known.cancels && known.is_forgotten {
                        clear.push(*attempt);
                    }
                }
            }
        }
        for attempt in queued {
            state.report(attempt, Seen::Queued);
        }
        for attempt in gone {
            warn!(%attempt, "began, and is not at the site any more; it left no outcome");
            state.report_gone(attempt);
        }
        for attempt in clear {
            state.take_out(attempt);
        }
        findings
    }

    /// Whether nothing of an attempt runs that has begun, and that the site does not list: its supervisor has died on this
    /// computer, or its time is over. A supervisor on another computer may run on until then.
    fn is_lost(&self, known: &Known) -> bool {
        if known.told != Told::Started {
            return false;
        }
        let supervisor = known.folder.supervisor();
        let has_died = supervisor.is_some_and(|process| process.is_local() && !process.lives());
        let is_over = known.until <= wall(self.about.clock_offset);
        // The look at the outcome comes last: it is written before the supervisor ends.
        (has_died || is_over) && known.folder.ended().is_none()
    }

    /// Attempts that were submitted and are not listed: the site has ended them, or has lost them.
    fn settle_missing(&mut self, missing: &[AttemptId], nonce: &str) -> Result<(), NoAnswer> {
        let names: Vec<String> = missing.iter().map(|attempt| self.name(*attempt)).collect();
        let words = [
            "--noheader".to_owned(),
            "--all".to_owned(),
            "--states=all".to_owned(),
            format!("--name={}", names.join(",")),
            format!("--format={}", listing::format(nonce)),
        ];
        let text = self.call("squeue", &words)?;
        let listing = listing::parse(&text, nonce);
        for attempt in missing {
            let name = self.name(*attempt);
            // Any user may give a job this name.
            let is_it = |listed: &&Listed| listed.name == name && listed.user == self.user;
            let listed = listing.iter().find(is_it);
            let mut state = self.shared.lock();
            let Some(known) = state.known.get_mut(attempt) else {
                continue;
            };
            if known.fate().is_some() {
                // It has begun in the meantime.
                continue;
            }
            match listed {
                Some(listed) if listed.state != Stands::Over => {}
                None if known.tries < TRIES && known.wish == Wish::Run && known.needs.is_some() => {
                    warn!(%attempt, "is not at the site, which has lost it: it is submitted again");
                    self.about.metrics.dropped("attempt that the site lost");
                    known.stage = Stage::New;
                }
                found => {
                    let why = match found {
                        Some(_) => "the site has ended it before it began",
                        None => "the site has lost it again and again",
                    };
                    let is_bad = found.is_none() && known.tries >= TRIES;
                    drop(state);
                    info!(%attempt, "is taken back: {why}");
                    self.take_back(*attempt);
                    if is_bad {
                        self.close(format!("it has lost {name} {TRIES} times"));
                    }
                }
            }
        }
        Ok(())
    }

    fn report_own(&mut self, listing: &[Listed]) {
        let (node, user) = (self.about.node, &self.user);
        let attempt = |listed: &Listed| {
            (listed.user == *user).then(|| script::attempt_of(&listed.name, node))?
        };
        let shape = &self.about.shape;
        let now = wall(self.about.clock_offset);
        let is_of_grid = |listed: &Listed| attempt(listed).is_some();
        let reports = self.mirror.report(listing, shape, now, is_of_grid);
        let mut state = self.shared.lock();
        let lengths: BTreeMap<AttemptId, _> = state
            .known
            .iter()
            .filter_map(|(attempt, known)| Some((*attempt, known.needs?.length)))
            .collect();
        state.reports.extend(reports);
        drop(state);
        let length = |listed: &Listed| {
            let known = attempt(listed).and_then(|attempt| lengths.get(&attempt));
            known
                .copied()
                .unwrap_or_else(|| self.mirror.expected(listed, shape, now))
        };
        for started in self.forecasts.note(listing, shape, now, length) {
            self.about.metrics.forecast(
                error(started.forecast.own, started.start),
                started
                    .forecast
                    .slurm
                    .map(|slurm| error(slurm, started.start)),
            );
            self.write_forecast(&started);
        }
    }

    /// Adds a line to the file that the administrator has named for that.
    fn write_forecast(&self, started: &Started) {
        let Some(file) = &self.about.settings.forecasts else {
            return;
        };
        let seconds = |time: gridweave_core::time::Time| time.as_micros() as f64 / 1e6;
        let Started {
            name,
            forecast,
            start,
        } = started;
        let slurm = forecast.slurm.map(seconds);
        let line = serde_json::json!({
            "name": name, "at": seconds(forecast.at), "own": seconds(forecast.own), "slurm": slurm, "start": seconds(*start),
        });
        let opened = OpenOptions::new().create(true).append(true).open(file);
        if let Err(error) = opened.and_then(|mut opened| writeln!(opened, "{line}")) {
            warn!("{file}: {error}");
        }
    }

    fn act_on(&mut self, finding: Finding) -> Result<(), NoAnswer> {
        let (command, words) = match finding {
            Finding::Missing(_) => return Ok(()),
            Finding::Held(attempt) => {
                let name = format!("jobname={}", self.name(attempt));
                ("scontrol", vec!["release".to_owned(), name])
            }
            Finding::Left(name) => ("scancel", self.cancelling(&name)),
            // With a name and an id, only a job that has both is cancelled.
            Finding::Twice { id, name } => {
                warn!("{name} is in the queue twice");
                let words = [self.cancelling(&name), vec![id]].concat();
                ("scancel", words)
            }
        };
        match self.call(command, &words) {
            Err(NoAnswer::Refused(why)) => {
                debug!("{why}");
                Ok(())
            }
            Err(silent) => Err(silent),
            Ok(_) => Ok(()),
        }
    }

    fn cancelling(&self, name: &str) -> Vec<String> {
        vec![
            "--quiet".to_owned(),
            format!("--user={}", self.user),
            format!("--name={name}"),
        ]
    }

    fn carry_out(&mut self, task: Task) {
        match task {
            Task::Submit(attempts) => self.submit(attempts),
            Task::Withdraw(attempt) => self.withdraw(attempt),
            Task::Cancel(attempt) => self.cancel(attempt),
        }
        (self.on_news)();
    }

    /// Submits attempts, all at a time.
    fn submit(&mut self, attempts: Vec<AttemptId>) {
        let mut orders = Vec::new();
        for attempt in attempts {
            let mut state = self.shared.lock();
            let Some(known) = state.known.get_mut(&attempt) else {
                continue;
            };
            known.tries = known.tries.saturating_add(1);
            // Whatever comes, it may be there from now on.
            known.stage = Stage::There(Instant::now());
            if let Some(needs) = known.needs {
                orders.push((attempt, known.folder.path().to_owned(), needs));
            }
        }
        let this = &*self;
        let answers: Vec<_> = std::thread::scope(|scope| {
            let calls = orders.iter().map(|(attempt, path, needs)| {
                scope.spawn(move || (*attempt, this.sbatch(*attempt, path, needs)))
            });
            let calls: Vec<_> = calls.collect();
            calls
                .into_iter()
                .filter_map(|call| call.join().ok())
                .collect()
        });
        for (attempt, answer) in answers {
            self.note(&answer);
            if let Some(known) = self.shared.lock().known.get_mut(&attempt)
                && matches!(known.stage, Stage::There(_))
            {
                // If it got no answer, the next poll tells.
                known.stage = Stage::There(Instant::now());
            }
            if let Err(NoAnswer::Refused(why)) = answer {
                warn!(%attempt, "is refused by the site: {why}");
                self.about.metrics.dropped("attempt that the site refused");
                self.take_back(attempt);
                self.close(why);
            }
        }
    }

    fn sbatch(&self, attempt: AttemptId, path: &Path, needs: &Needs) -> Result<String, NoAnswer> {
        sync(path).map_err(|error| NoAnswer::Refused(format!("{}: {error}", path.display())))?;
        let About {
            shape, settings, ..
        } = &self.about;
        let words = script::arguments(&self.name(attempt), needs, path, shape, settings);
        self.commands.call("sbatch", &words)
    }

    /// Holds it first, so that it does not start while it is taken back.
    fn withdraw(&mut self, attempt: AttemptId) {
        let is_there = {
            let state = self.shared.lock();
            let known = state.known.get(&attempt);
            known.is_some_and(|known| matches!(known.stage, Stage::There(_)))
        };
        if is_there {
            let name = format!("jobname={}", self.name(attempt));
            let held = self.call("scontrol", &["hold".to_owned(), name]);
            if let Err(NoAnswer::Silent(_)) = held {
                return;
            }
        }
        self.take_back(attempt);
    }

    /// Decides that it does not begin, unless it has; then it goes on.
    fn take_back(&mut self, attempt: AttemptId) {
        let known = self
            .shared
            .lock()
            .known
            .get(&attempt)
            .map(|known| known.folder.clone());
        let Some(folder) = known else {
            return;
        };
        // The driver does not wait for the disk.
        let decided = match Fate::Withdrawn.decide(folder.path()) {
            // What has no folder does not begin.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Decided::Now),
            decided => decided,
        };
        let mut state = self.shared.lock();
        let Some(known) = state.known.get_mut(&attempt) else {
            return;
        };
        match decided {
            Ok(Decided::Before(Fate::Begun(_))) => {
                known.stage = Stage::Begun;
                known.cancels = known.wish == Wish::Stop;
                if known.wish == Wish::Withdraw {
                    known.wish = Wish::Run;
                }
            }
            Ok(_) => {
                known.cancels = known.stage != Stage::New;
                known.stage = Stage::Withdrawn(Instant::now());
                if known.wish == Wish::Stop {
                    // The node expects no more of it.
                    known.is_forgotten = true;
                    known.told = Told::Over;
                }
                state.report_gone(attempt);
            }
            Err(error) => {
                // It is tried again after the next poll.
                warn!(%attempt, "cannot be taken back: {error}");
                known.stage = Stage::There(Instant::now());
                self.answers = false;
            }
        }
    }

    fn cancel(&mut self, attempt: AttemptId) {
        let words = self.cancelling(&self.name(attempt));
        if let Err(NoAnswer::Silent(_)) = self.call("scancel", &words) {
            return;
        }
        let mut state = self.shared.lock();
        if let Some(known) = state.known.get_mut(&attempt) {
            known.cancels = false;
            if let Stage::Withdrawn(by) = &mut known.stage {
                // Its folder is needed until it is surely out of the queue.
                *by = Instant::now();
            }
        }
    }
}

/// The first that runs, else the first in the queue.
fn first_of<'a>(listed: &[&'a Listed]) -> Option<&'a Listed> {
    let runs = listed.iter().find(|one| one.state == Stands::Running);
    runs.or_else(|| listed.first()).copied()
}

/// What can be done now: without answers of Slurm, only what needs none.
fn next_task(state: &State, answers: bool) -> Option<Task> {
    let task = |(attempt, known): (&AttemptId, &Known)| {
        let is_new = known.stage == Stage::New;
        let waits = matches!(known.stage, Stage::New | Stage::There(_));
        match known.wish {
            _ if known.cancels => answers.then_some(Task::Cancel(*attempt)),
            Wish::Withdraw | Wish::Stop if waits => {
                (answers || is_new).then_some(Task::Withdraw(*attempt))
            }
            _ => None,
        }
    };
    let submit = || {
        let new = state.known.iter();
        let new = new.filter(|(_, known)| known.wish == Wish::Run && known.stage == Stage::New);
        let mut new: Vec<_> = new
            .map(|(attempt, known)| (known.until, *attempt))
            .collect();
        // Those that came first have the earliest leases.
        new.sort_unstable();
        new.truncate(AT_ONCE);
        let new: Vec<AttemptId> = new.into_iter().map(|(_, attempt)| attempt).collect();
        (answers && !new.is_empty()).then_some(Task::Submit(new))
    };
    state.known.iter().find_map(task).or_else(submit)
}

/// Seconds by which a forecast was late; negative if it was early.
fn error(forecast: gridweave_core::time::Time, start: gridweave_core::time::Time) -> f64 {
    (forecast.as_micros() as f64 - start.as_micros() as f64) / 1e6
}

/// What is in the folder outlives this computer.
fn sync(folder: &Path) -> io::Result<()> {
    for name in ["order", "until", "script", "needs"] {
        File::open(folder.join(name))?.sync_all()?;
    }
    File::open(folder)?.sync_all()?;
    File::open(folder.parent().unwrap_or(folder))?.sync_all()
}

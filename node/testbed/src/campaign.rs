//! A campaign: rounds of chaos, each with a calm at its end, and a judgement.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::bed::Bed;
use crate::checker::{Limits, Verdict, judge};
use crate::control::{Client, ask, ask_for};
use crate::hub::Weather;
use crate::micros;
use crate::seed::Seed;
use crate::stranger::KINDS;

/// Calm that is long enough for every job to end, and for every word to arrive.
const CALM: Duration = Duration::from_secs(150);

/// What is broken, and how often beside the others.
const FAULTS: [(Fault, usize); 14] = [
    (Fault::AgentKilled, 22),
    (Fault::ProgramKilled, 10),
    (Fault::SupervisorKilled, 8),
    (Fault::ComputerCrashed, 8),
    (Fault::AgentStopped, 6),
    (Fault::Partition, 9),
    (Fault::OneWay, 9),
    (Fault::Storm, 5),
    (Fault::ClockSet, 6),
    (Fault::DiskFull, 4),
    (Fault::StoreDamaged, 2),
    (Fault::Stranger, 12),
    (Fault::Drained, 3),
    (Fault::Cancelled, 5),
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fault {
    AgentKilled,
    ProgramKilled,
    SupervisorKilled,
    ComputerCrashed,
    AgentStopped,
    Partition,
    OneWay,
    Storm,
    ClockSet,
    DiskFull,
    StoreDamaged,
    Stranger,
    Drained,
    Cancelled,
}

/// What is to be done at a time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Act {
    Submit,
    Break,
    Start(usize),
    Heal(Vec<(usize, usize)>),
    ClearUp,
    Free(usize),
    Resume(usize),
}

/// How long, how much.
pub(crate) struct Extent {
    pub(crate) length: Duration,
    /// At least so many faults, if there is time.
    pub(crate) faults: u64,
    /// The mean pause between faults, in seconds.
    pub(crate) pause: f64,
    /// How long a round of chaos lasts.
    pub(crate) round: Duration,
    pub(crate) exclusive: bool,
    /// The longest gang.
    pub(crate) most_ranks: usize,
}

/// What came of a campaign.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// By class: how many, and what was seen.
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) rounds: u64,
    pub(crate) took: Duration,
}

pub(crate) struct Campaign<'a> {
    bed: &'a mut Bed,
    extent: Extent,
    seed: Seed,
    acts: BinaryHeap<Reverse<(Instant, u64, Act)>>,
    acted: u64,
    counts: BTreeMap<String, u64>,
    /// Which computers' agents are down on purpose.
    down: Vec<bool>,
    journal: Arc<Mutex<fs::File>>,
    unanswered: Arc<Mutex<BTreeMap<String, u64>>>,
    following: Arc<AtomicBool>,
    places: Arc<Mutex<Vec<(PathBuf, PathBuf)>>>,
    stop: Arc<AtomicBool>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Campaign<'a> {
    pub(crate) fn new(
        bed: &'a mut Bed,
        extent: Extent,
        seed: u64,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let journal = bed.folder.join("submitted");
        let journal = fs::File::options()
            .create(true)
            .append(true)
            .open(journal)?;
        let down = vec![false; bed.computers.len()];
        Ok(Self {
            bed,
            extent,
            seed: Seed::new(seed),
            acts: BinaryHeap::new(),
            acted: 0,
            counts: BTreeMap::new(),
            down,
            journal: Arc::new(Mutex::new(journal)),
            unanswered: Arc::default(),
            following: Arc::new(AtomicBool::new(true)),
            places: Arc::default(),
            stop,
        })
    }

    fn plan(&mut self, within: f64, act: Act) {
        self.acted += 1;
        let at = Instant::now() + Duration::from_secs_f64(within);
        self.acts.push(Reverse((at, self.acted, act)));
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    /// The faults so far.
    fn faults(&self) -> u64 {
        let classes = FAULTS
            .iter()
            .map(|(fault, _)| self.counts.get(&named(*fault)));
        classes.flatten().sum()
    }

    pub(crate) fn run(mut self) -> io::Result<Outcome> {
        let began = Instant::now();
        for number in 0..self.bed.computers.len() {
            self.bed.start(number)?;
            if number == 0 {
                std::thread::sleep(Duration::from_millis(300));
            }
        }
        let missing = self.bed.wait_until_ready(Duration::from_secs(60));
        if !missing.is_empty() {
            return Err(io::Error::other(format!(
                "agents do not find each other: {missing:?}"
            )));
        }
        self.listen();
        let mut rounds = 0;
        let verdict = loop {
            rounds += 1;
            self.chaos(began)?;
            self.calm()?;
            let verdict = judge(&self.bed.folder, Limits::of(self.extent.exclusive))?;
            println!(
                "note: round {rounds}: {} faults after {} s, {} violations",
                self.faults(),
                began.elapsed().as_secs(),
                verdict.violations.len()
            );
            let enough =
                self.faults() >= self.extent.faults && began.elapsed() >= self.extent.length;
            // It stops by itself: a busy machine has so much more time, and no more.
            let over = began.elapsed() >= self.extent.length * 5 / 4;
            if enough || over || !verdict.violations.is_empty() || self.stop.load(Relaxed) {
                break verdict;
            }
        };
        self.following.store(false, Relaxed);
        for (why, count) in std::mem::take(&mut *locked(&self.unanswered)) {
            *self.counts.entry(why).or_default() += count;
        }
        Ok(Outcome {
            verdict,
            faults: self.counts,
            rounds,
            took: began.elapsed(),
        })
    }

    /// Hears what agents tell their users, for each computer in a thread.
    fn listen(&mut self) {
        self.places_changed();
        for number in 0..self.bed.computers.len() {
            let (following, places) = (self.following.clone(), self.places.clone());
            std::thread::spawn(move || {
                while following.load(Relaxed) {
                    let place = locked(&places).get(number).cloned();
                    if let Some((folder, file)) = place {
                        // The agent may be down.
                        let _ = follow(&folder, &file, &following);
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
        }
    }

    /// Tells listeners where the nodes are.
    fn places_changed(&mut self) {
        let told = self.bed.folder.join("told");
        let place = |number| {
            let folder: PathBuf = self.bed.node(number);
            let name = folder.file_name().unwrap_or_default().to_owned();
            (folder, told.join(name))
        };
        let places = (0..self.bed.computers.len()).map(place).collect();
        *locked(&self.places) = places;
    }

    fn chaos(&mut self, began: Instant) -> io::Result<()> {
        let until = Instant::now() + self.extent.round;
        self.plan(0.0, Act::Submit);
        let first = self.seed.between(1.0, 3.0);
        self.plan(first, Act::Break);
        while Instant::now() < until
            && began.elapsed() < self.extent.length * 5 / 4
            && !self.stop.load(Relaxed)
        {
            match self.acts.peek() {
                Some(Reverse((at, ..))) if *at <= Instant::now() => {
                    if let Some(Reverse((.., act))) = self.acts.pop() {
                        self.act(act)?;
                    }
                }
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Ok(())
    }

    fn act(&mut self, act: Act) -> io::Result<()> {
        match act {
            Act::Submit => {
                self.submit();
                let pause = self.seed.between(0.4, 2.4);
                self.plan(pause, Act::Submit);
            }
            Act::Break => {
                self.break_something()?;
                let pause = self.seed.between(0.0, 2.0 * self.extent.pause);
                self.plan(pause, Act::Break);
            }
            Act::Start(number) => {
                if let Some(down) = self.down.get_mut(number) {
                    *down = false;
                }
                self.start_or_again(number);
            }
            Act::Heal(pairs) => self.bed.hub.heal(&pairs),
            Act::ClearUp => self.bed.hub.set_weather(Weather::default()),
            Act::Free(number) => {
                self.bed.free(number);
                self.start_or_again(number);
            }
            Act::Resume(number) => {
                // If its agent is down, it is told later.
                if ask_for(&self.bed.node(number), "resume").is_err() {
                    self.plan(0.5, Act::Resume(number));
                }
            }
        }
        Ok(())
    }

    /// Submits a job at some computer, in a thread of its own: an agent may take its time.
    fn submit(&mut self) {
        let seed = &mut self.seed;
        let number = seed.below(self.bed.computers.len());
        let ranks = match seed.below(10) {
            0..=4 => 1,
            5..=7 => 2,
            _ => 1 + seed.below(self.extent.most_ranks),
        };
        let works = seed.between(0.3, 5.0);
        let seconds = (works * 15.0).ceil() / 10.0 + 1.0;
        // Some take longer than they may, by more than the checker grants to a busy computer.
        let works = if seed.happens(0.08) {
            2.0 * works + 6.0
        } else {
            works
        };
        let (again, times) = match seed.below(4) {
            0 | 1 => ("never", 0),
            2 => ("lost", 3),
            _ => ("always", 3),
        };
        let mut argv = vec![
            json!(std::env::current_exe().unwrap_or_default()),
            json!("job"),
            json!("--seconds"),
            json!(format!("{works:.2}")),
        ];
        if ranks > 1 && seed.happens(0.3) {
            argv.push(json!("--connected"));
        }
        let request = json!({
            "ask": "submit", "program": { "argv": argv }, "nodes": ranks, "seconds": seconds,
            "again": again, "times": times,
        });
        let folder = self.bed.node(number);
        let node = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (journal, unanswered) = (self.journal.clone(), self.unanswered.clone());
        std::thread::spawn(move || {
            let answer = Client::connect(&folder).and_then(|mut client| client.ask(&request));
            let note = |what: String| *locked(&unanswered).entry(what).or_default() += 1;
            match answer {
                Ok(Ok(answer)) => {
                    let job = answer
                        .get("job")
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    let line = format!(
                        "{} {job} {node} {ranks} {seconds} {again} {times}\n",
                        micros()
                    );
                    // The bed's own disk is not full.
                    let _ = locked(&journal).write_all(line.as_bytes());
                }
                Ok(Err(why)) => {
                    let why = why.split_once(" is ").map_or(&*why, |(_, why)| why);
                    note(format!("submission refused: {why}"));
                }
                Err(_) => note("submission without an answer".to_owned()),
            }
        });
    }

    fn break_something(&mut self) -> io::Result<()> {
        let all: usize = FAULTS.iter().map(|(_, weight)| weight).sum();
        let mut at = self.seed.below(all);
        let mut chosen = Fault::AgentKilled;
        for (fault, weight) in FAULTS {
            if at < weight {
                chosen = fault;
                break;
            }
            at -= weight;
        }
        let number = self.seed.below(self.bed.computers.len());
        // A fault that finds nothing to break does not count.
        if self.break_with(chosen, number)? {
            self.count(&named(chosen));
        }
        Ok(())
    }

    fn note(&self, fault: &str, number: usize) -> io::Result<()> {
        let node = self.bed.computers.get(number).map(|one| one.node.clone());
        self.bed.note(
            "faults",
            &format!("{fault} {number} {}", node.unwrap_or_default()),
        )
    }

    /// For how long an agent stays down: mostly shorter than it takes to count as lost, at times longer than a lease.
    fn down_for(&mut self) -> f64 {
        match self.seed.below(10) {
            0..=6 => self.seed.between(0.0, 2.5),
            7 | 8 => self.seed.between(2.5, 8.0),
            _ => self.seed.between(8.0, 20.0),
        }
    }

    /// On a full disk, an agent's settings cannot be written.
    fn start_or_again(&mut self, number: usize) {
        if self.bed.start(number).is_err() {
            self.plan(0.5, Act::Start(number));
        }
    }

    fn start_later(&mut self, number: usize) {
        if let Some(down) = self.down.get_mut(number) {
            *down = true;
        }
        let pause = self.down_for();
        self.plan(pause, Act::Start(number));
    }

    fn break_with(&mut self, fault: Fault, number: usize) -> io::Result<bool> {
        let name = named(fault);
        let agents = self.bed.computers.len();
        match fault {
            Fault::AgentKilled => {
                self.note(&name, number)?;
                if !self.bed.kill_agent(number) {
                    return Ok(false);
                }
                self.start_later(number);
            }
            Fault::AgentStopped => {
                self.note(&name, number)?;
                if !self.bed.stop_agent(number) {
                    return Ok(false);
                }
                self.bed.upgrade(number);
                self.start_later(number);
            }
            Fault::ProgramKilled | Fault::SupervisorKilled => {
                let Some(number) = (0..agents)
                    .map(|more| (number + more) % agents)
                    .find(|number| !self.bed.supervisors(*number).is_empty())
                else {
                    return Ok(false);
                };
                let supervisors = self.bed.supervisors(number);
                let chosen = self.seed.below(supervisors.len());
                let Some((pid, _)) = supervisors.get(chosen) else {
                    return Ok(false);
                };
                let pid = match fault {
                    Fault::SupervisorKilled => Some(*pid),
                    _ => child_of(*pid),
                };
                self.note(&name, number)?;
                let killed = pid.map(|pid| kill(Pid::from_raw(pid), Signal::SIGKILL));
                return Ok(killed.is_some_and(|killed| killed.is_ok()));
            }
            Fault::ComputerCrashed => {
                self.note(&name, number)?;
                if self.bed.crash(number) == 0 {
                    return Ok(false);
                }
                self.start_later(number);
            }
            Fault::Partition | Fault::OneWay => {
                let size = 1 + self.seed.below(agents / 2);
                let island: Vec<usize> = (0..size).map(|more| (number + more) % agents).collect();
                let mut pairs = Vec::new();
                for from in 0..agents {
                    for to in 0..agents {
                        let leaves = island.contains(&from) && !island.contains(&to);
                        let enters = island.contains(&to) && !island.contains(&from);
                        if leaves || (enters && fault == Fault::Partition) {
                            pairs.push((from, to));
                        }
                    }
                }
                for cut_off in island {
                    self.note(&name, cut_off)?;
                }
                self.bed.hub.cut(&pairs);
                let pause = self.seed.between(0.5, 15.0);
                self.plan(pause, Act::Heal(pairs));
            }
            Fault::Storm => {
                let weather = Weather {
                    delay: Duration::from_secs_f64(self.seed.between(0.0, 0.1)),
                    jitter: Duration::from_secs_f64(self.seed.between(0.0, 0.1)),
                    loss: self.seed.between(0.02, 0.3),
                };
                self.note(&name, number)?;
                self.bed.hub.set_weather(weather);
                let pause = self.seed.between(2.0, 10.0);
                self.plan(pause, Act::ClearUp);
            }
            Fault::ClockSet => {
                self.note(&name, number)?;
                if !self.bed.kill_agent(number) {
                    return Ok(false);
                }
                // Two clocks stay within what the grid allows for.
                let offset = self.seed.between(-0.15, 0.15);
                self.bed
                    .set_clock(number, (offset * 1000.0).round() / 1000.0);
                self.start_later(number);
            }
            Fault::DiskFull => {
                let small = (0..agents).map(|more| (number + more) % agents);
                for number in small {
                    if self.bed.fill(number)? {
                        self.note(&name, number)?;
                        let pause = self.seed.between(1.0, 8.0);
                        self.plan(pause, Act::Free(number));
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            Fault::StoreDamaged => return self.damage(number),
            Fault::Stranger => {
                let up = (0..agents).map(|more| (number + more) % agents);
                let up: Vec<usize> = up.collect();
                let number = up.into_iter().find(|number| self.bed.is_up(*number));
                let Some(number) = number else {
                    return Ok(false);
                };
                let kind = KINDS.get(self.seed.below(KINDS.len())).copied();
                let kind = kind.unwrap_or("none");
                self.count(&format!("stranger: {kind}"));
                self.greet(kind, number);
            }
            Fault::Drained => {
                if ask_for(&self.bed.node(number), "drain").is_err() {
                    return Ok(false);
                }
                let pause = self.seed.between(1.0, 6.0);
                self.plan(pause, Act::Resume(number));
            }
            Fault::Cancelled => {
                let request = json!({ "ask": "jobs", "all": false });
                let jobs = ask(&self.bed.node(number), &request);
                let jobs = jobs.ok().and_then(|jobs| jobs.as_array().cloned());
                let jobs = jobs.unwrap_or_default();
                let Some(job) = jobs.get(self.seed.below(jobs.len())) else {
                    return Ok(false);
                };
                let request = json!({ "ask": "cancel", "job": job.get("job") });
                return Ok(ask(&self.bed.node(number), &request).is_ok());
            }
        }
        Ok(true)
    }

    /// A stranger visits, in a process of its own, while the campaign goes on.
    fn greet(&mut self, kind: &str, number: usize) {
        let visit = self.bed.visit(kind, number);
        let journal = self.bed.folder.join("strangers");
        let node = self.bed.computers.get(number).map(|one| one.node.clone());
        let (kind, node) = (kind.to_owned(), node.unwrap_or_default());
        std::thread::spawn(move || {
            let word =
                visit().unwrap_or_else(|error| format!("failed:{error}").replace([' ', '\n'], "_"));
            let line = format!("{} {kind} {node} {word}\n", micros());
            let file = fs::File::options().create(true).append(true).open(journal);
            // The bed's own disk is not full.
            let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
        });
    }

    /// A computer loses power, and part of its store. The agent refuses it by name; the node is gone for good, and its
    /// computer gets a new one.
    fn damage(&mut self, number: usize) -> io::Result<bool> {
        if number == 0 || !self.bed.is_up(number) {
            // One introducer stays.
            return Ok(false);
        }
        self.bed.crash(number);
        self.bed.free(number);
        let store = self.bed.node(number).join("store");
        let length = fs::metadata(&store)?.len();
        let file = fs::File::options().read(true).write(true).open(&store)?;
        let cut = self.seed.happens(0.7);
        let at = (length as f64 * self.seed.between(0.05, 0.95)) as u64;
        match cut {
            true => file.set_len(at)?,
            // A page of it is written over.
            false => file.write_all_at(&[0xa5; 4096], at / 4096 * 4096)?,
        }
        self.bed.start(number)?;
        std::thread::sleep(Duration::from_secs(2));
        let way = if cut { "cut short" } else { "written over" };
        if self.bed.is_up(number) {
            // What is damaged was not in use: then nothing may be missing.
            self.count(&format!(
                "store {way}: it was not in use there, the agent starts"
            ));
            self.note("store-touched", number)?;
            return Ok(true);
        }
        let node = self.bed.computers.get(number).map(|one| one.node.clone());
        let log = self.bed.folder.join("log").join(node.unwrap_or_default());
        let log = fs::read_to_string(log)?;
        let is_named = log
            .lines()
            .next_back()
            .is_some_and(|line| line.contains("is damaged") || line.contains("store"));
        let seen = if is_named {
            "refused by name"
        } else {
            "REFUSED WITHOUT A REASON"
        };
        self.count(&format!("store {way}: {seen}"));
        self.note("store-damaged", number)?;
        self.bed.crash(number);
        self.bed.invite(number)?;
        self.places_changed();
        self.bed.start(number)?;
        Ok(true)
    }

    /// Heals everything, and waits until nothing is unfinished.
    fn calm(&mut self) -> io::Result<()> {
        for Reverse((.., act)) in std::mem::take(&mut self.acts) {
            match act {
                Act::Submit | Act::Break => {}
                act => self.act(act)?,
            }
        }
        // Resumptions of agents that were down.
        self.acts.clear();
        for number in 0..self.bed.computers.len() {
            self.bed.free(number);
            self.bed.start(number)?;
        }
        let missing = self.bed.wait_until_ready(Duration::from_secs(60));
        if !missing.is_empty() {
            let why = format!("agents do not come back: {missing:?}; see their logs");
            return Err(io::Error::other(why));
        }
        let began = Instant::now();
        loop {
            let mut busy = Vec::new();
            for number in 0..self.bed.computers.len() {
                let folder = self.bed.node(number);
                // Once more for those that were not heard.
                let _ = ask_for(&folder, "resume");
                let status = ask_for(&folder, "status").unwrap_or_default();
                let count = |what: &str| status.get(what).and_then(Value::as_u64);
                let (unfinished, running) = (count("unfinished"), count("running"));
                let really = self.bed.supervisors(number).len() as u64;
                if unfinished != Some(0) || running != Some(0) || really > 0 {
                    busy.push(number);
                }
            }
            if busy.is_empty() || began.elapsed() > CALM || self.stop.load(Relaxed) {
                break;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        for number in 0..self.bed.computers.len() {
            let node = self.bed.computers.get(number).map(|one| one.node.clone());
            let node = node.unwrap_or_default();
            for row in self.bed.rows(number)? {
                self.bed.note("rows", &format!("{node} {row}"))?;
            }
        }
        Ok(())
    }
}

/// As the report has it.
fn named(fault: Fault) -> String {
    match fault {
        Fault::AgentKilled => "agent-killed",
        Fault::ProgramKilled => "program-killed",
        Fault::SupervisorKilled => "supervisor-killed",
        Fault::ComputerCrashed => "agent-and-programs-killed",
        Fault::AgentStopped => "agent-upgraded",
        Fault::Partition => "partition",
        Fault::OneWay => "partition-one-way",
        Fault::Storm => "delay-and-loss",
        Fault::ClockSet => "clock-set",
        Fault::DiskFull => "disk-full",
        Fault::StoreDamaged => "store-cut-or-overwritten",
        Fault::Stranger => "stranger",
        Fault::Drained => "drained",
        Fault::Cancelled => "cancelled",
    }
    .to_owned()
}

/// All classes, in the order of the report.
pub(crate) fn classes() -> Vec<String> {
    FAULTS.iter().map(|(fault, _)| named(*fault)).collect()
}

fn child_of(pid: i32) -> Option<i32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.ok()?.split(' ').next()?.parse().ok()
}

/// Writes what an agent tells, until it ends.
fn follow(
    folder: &std::path::Path,
    file: &std::path::Path,
    following: &AtomicBool,
) -> io::Result<()> {
    let mut client = Client::connect(folder)?;
    if client.ask(&json!({ "ask": "events" }))?.is_err() {
        return Ok(());
    }
    let mut file = fs::File::options().create(true).append(true).open(file)?;
    while following.load(Relaxed) {
        match client.line() {
            Ok(line) => file.write_all(format!("{} {line}\n", micros()).as_bytes())?,
            // No event for a while.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

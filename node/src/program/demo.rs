//! `demo`: a grid of five agents on this computer, told as a story.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use serde_json::Value;

use super::{Done, Failure, other};
use crate::control::{Client, Request};
use crate::settings::{FILE, Settings};

/// The agents, by name.
const NAMES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

/// When the story is given up.
const LIMIT: Duration = Duration::from_secs(60);

struct Story {
    /// Ctrl-C, and what else would end this process before it has cleaned up.
    signals: SignalFd,
    room: PathBuf,
    program: PathBuf,
    agents: Vec<Option<Child>>,
    ids: Vec<String>,
    began: Instant,
}

pub(super) fn demo(keep: bool) -> Done {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        signals.add(signal);
    }
    // Agents get an empty mask.
    signals.thread_block().map_err(other)?;
    let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC);
    let signals = signals.map_err(other)?;
    let room = std::env::temp_dir().join(format!("gridweave-demo-{}", std::process::id()));
    fs::create_dir(&room).map_err(|error| other(format!("{}: {error}", room.display())))?;
    let mut story = Story {
        signals,
        room,
        program: std::env::current_exe().map_err(other)?,
        agents: NAMES.map(|_| None).into(),
        ids: Vec::new(),
        began: Instant::now(),
    };
    let told = story.tell_all();
    if story.began.elapsed() > LIMIT {
        story.show_logs();
    }
    story.end();
    match keep {
        true => story.say(&format!("the grid is in {}", story.room.display())),
        false => fs::remove_dir_all(&story.room).map_err(other)?,
    }
    told
}

impl Story {
    fn say(&self, what: &str) {
        // The grid is removed at the end, whether or not the story is heard.
        let mut out = std::io::stdout();
        let _ = writeln!(out, "{:5.1} s  {what}", self.began.elapsed().as_secs_f64());
    }

    fn tell_all(&mut self) -> Done {
        self.found()?;
        let hello = "echo \"rank $GRIDWEAVE_RANK of $GRIDWEAVE_NODES\"";
        let gang = self.submit(0, 3, &format!("{hello}; sleep 1"))?;
        self.say(&format!(
            "a gang for three nodes is submitted at alpha: {gang}"
        ));
        let long = self.submit(1, 1, "sleep 5; echo done")?;
        self.say(&format!(
            "a job of five seconds is submitted at beta: {long}"
        ));
        let row = self.end_of(0, &gang)?;
        self.say(&format!(
            "the gang is {} on {}",
            word(&row, "phase"),
            self.placed(&row)
        ));
        for output in self.outputs(&gang)? {
            self.say(&format!("    it wrote: {}", output.trim()));
        }
        self.wait("the job starts", |story| {
            Ok(story.attempt(&long)?.is_some())
        })?;
        let row = self.ask(1, &Request::Job { job: long.clone() })?;
        let runner = self.runner(&row)?;
        let name = NAMES.get(runner).copied().unwrap_or_default();
        self.kill(runner)?;
        self.say(&format!(
            "{name}, which runs the job of five seconds, is killed (kill -9)"
        ));
        sleep(Duration::from_secs(1));
        let pid = self.attempt(&long)?.unwrap_or_default();
        self.say(&format!(
            "    its program goes on, under its supervisor, process {pid}"
        ));
        self.start(runner)?;
        self.say(&format!("{name} is started again, and finds the program"));
        let row = self.end_of(1, &long)?;
        self.say(&format!(
            "the job is {}; it ran once, as attempt {}",
            word(&row, "phase"),
            word(&row, "attempt")
        ));
        for (job, node) in [(&gang, 0), (&long, 1)] {
            let row = self.ask(node, &Request::Job { job: job.clone() })?;
            if word(&row, "phase") != "done" {
                return Err(other(format!("{job} is not done: {}", word(&row, "why"))));
            }
        }
        self.say("all is done; the agents are ended, and the grid is removed");
        Ok(())
    }

    /// Makes the grid, and starts all agents.
    fn found(&mut self) -> Done {
        self.call(&["init", "grid", "--name", "demo"])?;
        let mut introducer = String::new();
        for (node, name) in NAMES.iter().enumerate() {
            let mut words = vec!["invite", "grid", name, "--output", name];
            words.extend(["--listen", "127.0.0.1:0"]);
            if node > 0 {
                words.extend(["--introducer", &introducer]);
            }
            self.call(&words)?;
            let file = self.room.join(name).join(FILE);
            let mut settings = Settings::read(&file).map_err(other)?;
            // What it runs is in this file, and writes nothing elsewhere.
            settings.jobs.allow_root = true;
            fs::write(&file, settings.to_toml()).map_err(other)?;
            let listed = fs::read_to_string(self.room.join("grid/nodes")).map_err(other)?;
            let id = listed
                .lines()
                .last()
                .and_then(|line| line.split(' ').nth(1));
            self.ids.push(id.unwrap_or_default().to_owned());
            self.start(node)?;
            if node == 0 {
                let port = fs::read_to_string(self.room.join(name).join("port")).map_err(other)?;
                let id = self.ids.first().cloned().unwrap_or_default();
                introducer = format!("{id}@127.0.0.1:{}", port.trim());
            }
        }
        self.say("a grid with an authority of its own, and five agents: alpha to epsilon");
        self.wait("all agents are connected", |story| {
            for node in 0..NAMES.len() {
                let peers = story.ask(node, &Request::Peers)?;
                if peers.as_array().is_none_or(Vec::is_empty) {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        self.say("they have found each other");
        Ok(())
    }

    /// Calls this program.
    fn call(&self, words: &[&str]) -> Done {
        let output = Command::new(&self.program)
            .args(words)
            .current_dir(&self.room)
            .output();
        let output = output.map_err(other)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(other(String::from_utf8_lossy(&output.stderr))),
        }
    }

    fn folder(&self, node: usize) -> PathBuf {
        self.room.join(NAMES.get(node).copied().unwrap_or_default())
    }

    fn start(&mut self, node: usize) -> Done {
        let folder = self.folder(node);
        let mut log = fs::File::options();
        let log = log.create(true).append(true).open(folder.join("log"));
        let agent = Command::new(&self.program)
            .arg("--folder")
            .arg(&folder)
            .arg("run")
            .stdin(Stdio::null())
            .stderr(log.map_err(other)?)
            .spawn();
        if let Some(place) = self.agents.get_mut(node) {
            *place = Some(agent.map_err(other)?);
        }
        self.wait("the agent answers", |story| {
            Ok(story.ask(node, &Request::Status).is_ok())
        })
    }

    fn kill(&mut self, node: usize) -> Done {
        if let Some(mut agent) = self.agents.get_mut(node).and_then(Option::take) {
            agent.kill().map_err(other)?;
            agent.wait().map_err(other)?;
        }
        Ok(())
    }

    fn ask(&self, node: usize, request: &Request) -> Result<Value, Failure> {
        Ok(Client::connect(&self.folder(node))?.ask(request)?)
    }

    fn submit(&self, node: usize, nodes: u32, script: &str) -> Result<String, Failure> {
        let nodes = nodes.to_string();
        let folder = self.folder(node);
        let output = Command::new(&self.program)
            .arg("--folder")
            .arg(folder)
            .args([
                "submit", "--time", "20s", "--nodes", &nodes, "--", "sh", "-c", script,
            ])
            .output()
            .map_err(other)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(other(String::from_utf8_lossy(&output.stderr))),
        }
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Self) -> Result<bool, Failure>) -> Done {
        while !is_so(self)? {
            if let Ok(Some(_)) = self.signals.read_signal() {
                return Err(other("interrupted; the grid is removed"));
            }
            if self.began.elapsed() > LIMIT {
                return Err(other(format!(
                    "this takes too long: {what}; see the logs above"
                )));
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn end_of(&self, node: usize, job: &str) -> Result<Value, Failure> {
        let request = Request::Job {
            job: job.to_owned(),
        };
        self.wait("a job ends", |story| {
            let row = story.ask(node, &request)?;
            Ok(!matches!(
                word(&row, "phase").as_str(),
                "waiting" | "placed"
            ))
        })?;
        self.ask(node, &request)
    }

    /// The process of the supervisor of a job that runs.
    fn attempt(&self, job: &str) -> Result<Option<String>, Failure> {
        let number = job.trim_start_matches('j');
        for node in 0..NAMES.len() {
            for attempt in entries(&self.folder(node).join("attempts"))? {
                let name = attempt.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with(&format!("{number}-")) {
                    let text = fs::read_to_string(attempt.join("supervisor")).unwrap_or_default();
                    let pid = text.split(' ').next().unwrap_or_default();
                    return Ok((!pid.is_empty()).then(|| pid.to_owned()));
                }
            }
        }
        Ok(None)
    }

    /// The number of the agent that runs a job.
    fn runner(&self, row: &Value) -> Result<usize, Failure> {
        let placed = row
            .get("placed")
            .and_then(|placed| placed.get(0))
            .and_then(Value::as_str);
        let runner = self.ids.iter().position(|id| Some(id.as_str()) == placed);
        runner.ok_or_else(|| other("the job runs at no agent"))
    }

    fn placed(&self, row: &Value) -> String {
        let placed = row
            .get("placed")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let name = |id: &Value| {
            let node = self.ids.iter().position(|known| id == known.as_str());
            node.and_then(|node| NAMES.get(node))
                .copied()
                .unwrap_or("?")
        };
        placed.map(name).collect::<Vec<_>>().join(", ")
    }

    /// What the programs of a job wrote.
    fn outputs(&self, job: &str) -> Result<Vec<String>, Failure> {
        let number = job.trim_start_matches('j');
        let mut outputs = Vec::new();
        for node in 0..NAMES.len() {
            for folder in entries(&self.folder(node).join("jobs"))? {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                if name.starts_with(&format!("{number}-")) {
                    let text = fs::read_to_string(folder.join("stdout")).map_err(other)?;
                    let text = self
                        .ids
                        .iter()
                        .zip(NAMES)
                        .fold(text, |text, (id, name)| text.replace(id, name));
                    outputs.push(text);
                }
            }
        }
        outputs.sort();
        Ok(outputs)
    }

    fn show_logs(&self) {
        for name in NAMES {
            let log = fs::read_to_string(self.room.join(name).join("log")).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(10).collect();
            for line in last.iter().rev() {
                eprintln!("{name}: {line}");
            }
        }
    }

    /// Ends all agents, and programs that still run.
    fn end(&mut self) {
        for agent in self.agents.iter_mut().filter_map(Option::as_mut) {
            // It is gone already, or goes now.
            let _ = agent.kill();
            let _ = agent.wait();
        }
        for node in 0..NAMES.len() {
            for attempt in entries(&self.folder(node).join("attempts")).unwrap_or_default() {
                crate::executor::end_supervisor(&attempt);
            }
        }
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(other)?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn word(row: &Value, field: &str) -> String {
    match row.get(field) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

//! A grid of agents on the loopback addresses of this computer, driven through the program as users drive it.

// Each test uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tempfile::TempDir;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_gridweave-node");

/// When a test gives up.
const LIMIT: Duration = Duration::from_secs(40);

/// Times for agents of one computer, all of which may be busy.
pub(crate) const TIMES: &str =
    "slot = '100ms'\nlead = '1s'\ncommit_lead = '400ms'\nmargin = '500ms'\nimprove = '1s'\n";

/// Agents with folders in one temporary folder.
pub(crate) struct Grid {
    room: TempDir,
    agents: Vec<Option<Child>>,
}

impl Grid {
    /// A grid of so many agents, which all run and know each other.
    pub(crate) fn new(nodes: usize, times: &str) -> Self {
        Self::of("asap", nodes, times)
    }

    /// The same with another scheduler.
    pub(crate) fn of(scheduler: &str, nodes: usize, times: &str) -> Self {
        let mut grid = Self::with(&["--scheduler", scheduler], times);
        for _ in 0..nodes {
            grid.invite(&[]);
            let node = grid.agents.len() - 1;
            grid.start(node);
        }
        // In an overlay of few nodes, links come and go; connections stay.
        grid.wait("all are connected", |grid| {
            let peers = |node| grid.answer(node, &["peers"]).as_array().unwrap().len();
            let links = |node| grid.status(node)["neighbours"].as_u64().unwrap();
            nodes == 1
                || (0..nodes).all(|node| peers(node) > 0) && (0..nodes).any(|node| links(node) > 0)
        });
        grid
    }

    /// A grid without nodes.
    pub(crate) fn empty(times: &str) -> Self {
        Self::with(&[], times)
    }

    fn with(options: &[&str], times: &str) -> Self {
        let room = tempfile::tempdir().unwrap();
        let grid = Self {
            room,
            agents: Vec::new(),
        };
        grid.run(&[&["init", "grid"], options].concat());
        let file = grid.path("grid/grid.toml");
        let text = fs::read_to_string(&file).unwrap();
        let (grid_table, _) = text.split_once("[times]").unwrap();
        fs::write(file, format!("{grid_table}[times]\n{times}")).unwrap();
        grid
    }

    /// A file in the temporary folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.room.path().join(name)
    }

    /// The folder of a node.
    pub(crate) fn folder(&self, node: usize) -> PathBuf {
        self.path(&format!("node{node}"))
    }

    /// Makes the folder of a further node, which joins through the first one.
    pub(crate) fn invite(&mut self, more: &[&str]) {
        let node = format!("node{}", self.agents.len());
        let mut words = vec!["invite", "grid", &node, "--output", &node];
        words.extend(["--listen", "127.0.0.1:0"]);
        let introducer;
        if !self.agents.is_empty() {
            introducer = format!("{}@127.0.0.1:{}", self.id(0), self.port(0));
            words.extend(["--introducer", &introducer]);
        }
        words.extend(more);
        self.run(&words);
        self.allow_root(&node);
        self.agents.push(None);
    }

    /// Makes the folder of a further node, which joins through this one.
    pub(crate) fn invite_through(&mut self, introducer: &str) {
        let node = format!("node{}", self.agents.len());
        let words = ["invite", "grid", &node, "--output", &node];
        self.run(
            &[
                &words[..],
                &["--listen", "127.0.0.1:0", "--introducer", introducer],
            ]
            .concat(),
        );
        self.allow_root(&node);
        self.agents.push(None);
    }

    /// Takes a folder as that of a further node.
    pub(crate) fn adopt(&mut self, folder: &str) {
        let node = format!("node{}", self.agents.len());
        fs::rename(self.path(folder), self.path(&node)).unwrap();
        self.allow_root(&node);
        self.agents.push(None);
    }

    fn allow_root(&self, folder: &str) {
        let file = self.path(folder).join("node.toml");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(
            file,
            text.replace("allow_root = false", "allow_root = true"),
        )
        .unwrap();
    }

    /// The process of an agent.
    pub(crate) fn process(&self, node: usize) -> u32 {
        self.agents[node].as_ref().unwrap().id()
    }

    /// The id of a node.
    pub(crate) fn id(&self, node: usize) -> String {
        let listed = fs::read_to_string(self.path("grid/nodes")).unwrap();
        let line = listed.lines().nth(node).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    }

    /// The port that the kernel gave to a node.
    pub(crate) fn port(&self, node: usize) -> u16 {
        let file = self.folder(node).join("port");
        fs::read_to_string(file).unwrap().parse().unwrap()
    }

    /// Starts an agent, and waits until it answers.
    pub(crate) fn start(&mut self, node: usize) {
        let log = fs::File::options();
        let log = { log }
            .create(true)
            .append(true)
            .open(self.path(&format!("log{node}")));
        let agent = Command::new(PROGRAM)
            .args(["--folder", &format!("node{node}"), "run"])
            .current_dir(self.room.path())
            .stdin(Stdio::null())
            .stderr(log.unwrap())
            .spawn();
        self.agents[node] = Some(agent.unwrap());
        self.wait("the agent answers", |grid| {
            grid.ask(node, &["status"]).status.success()
        });
    }

    /// Ends an agent as a crash does.
    pub(crate) fn kill(&mut self, node: usize) {
        let mut agent = self.agents[node].take().unwrap();
        agent.kill().unwrap();
        assert_eq!(agent.wait().unwrap().signal(), Some(9));
    }

    /// Waits for an agent that ends by itself.
    pub(crate) fn ended(&mut self, node: usize) {
        let status = self.agents[node].take().unwrap().wait().unwrap();
        assert_eq!(status.code(), Some(1));
    }

    /// Calls the program.
    pub(crate) fn call(&self, words: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.args(words).current_dir(self.room.path());
        command.output().unwrap()
    }

    /// Calls the program, which succeeds.
    pub(crate) fn run(&self, words: &[&str]) -> String {
        let output = self.call(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asks an agent.
    pub(crate) fn ask(&self, node: usize, words: &[&str]) -> Output {
        let folder = format!("node{node}");
        let mut all = vec!["--json", "--folder", &folder];
        all.extend(words);
        self.call(&all)
    }

    /// What an agent answers.
    pub(crate) fn answer(&self, node: usize, words: &[&str]) -> Value {
        let output = self.ask(node, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// How a node is.
    pub(crate) fn status(&self, node: usize) -> Value {
        self.answer(node, &["status"])
    }

    /// Submits a job, which runs this in a shell, and returns its name.
    pub(crate) fn submit(&self, node: usize, options: &[&str], script: &str) -> String {
        let mut words = vec!["submit"];
        words.extend(options);
        words.extend(["--", "sh", "-c", script]);
        self.answer(node, &words)["job"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// A script that writes when it begins and ends, and takes so many seconds.
    pub(crate) fn script(&self, seconds: &str) -> String {
        let file = self.path("written");
        let file = file.display();
        format!(
            "me=\"$GRIDWEAVE_JOB $GRIDWEAVE_ATTEMPT $GRIDWEAVE_RANK\"; \
             echo \"$me begins $(date +%s%N)\" >>{file}; sleep {seconds}; \
             echo \"$me ends $(date +%s%N)\" >>{file}"
        )
    }

    /// What scripts have written.
    pub(crate) fn written(&self) -> Vec<Line> {
        let text = fs::read_to_string(self.path("written")).unwrap_or_default();
        text.lines().filter_map(Line::read).collect()
    }

    /// Waits until this is so.
    pub(crate) fn wait(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            if began.elapsed() > LIMIT {
                panic!("not in time: {what}\n{}", self.logs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits for the end of a job, and returns how it ended.
    pub(crate) fn end_of(&self, node: usize, job: &str) -> Value {
        let mut row = Value::Null;
        self.wait("the job ends", |grid| {
            row = grid.answer(node, &["status", job]);
            matches!(row["phase"].as_str(), Some("done" | "failed" | "cancelled"))
        });
        row
    }

    /// The nodes of a job, as their numbers in this grid.
    pub(crate) fn nodes_of(&self, row: &Value) -> Vec<usize> {
        let all: Vec<String> = (0..self.agents.len()).map(|node| self.id(node)).collect();
        let placed = row["placed"].as_array().unwrap().iter();
        let number = |id: &Value| all.iter().position(|other| id == other.as_str()).unwrap();
        placed.map(number).collect()
    }

    /// What an agent has counted.
    pub(crate) fn log(&self, node: usize) -> String {
        fs::read_to_string(self.path(&format!("log{node}"))).unwrap_or_default()
    }

    fn logs(&self) -> String {
        (0..self.agents.len())
            .map(|node| format!("== node {node}\n{}", self.log(node)))
            .collect()
    }
}

impl Drop for Grid {
    /// Ends all agents and what they run.
    fn drop(&mut self) {
        for node in 0..self.agents.len() {
            if self.agents[node].is_some() {
                self.kill(node);
            }
            for attempt in fs::read_dir(self.folder(node).join("attempts"))
                .into_iter()
                .flatten()
            {
                end_supervisor(&attempt.unwrap().path());
            }
        }
    }
}

/// Tells the supervisor in this folder to end.
fn end_supervisor(attempt: &Path) {
    let text = fs::read_to_string(attempt.join("supervisor")).unwrap_or_default();
    if let Some(pid) = text.split(' ').next().and_then(|pid| pid.parse().ok()) {
        let pid = nix::unistd::Pid::from_raw(pid);
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
    }
}

/// A line of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// The number of the job.
    pub(crate) job: String,
    /// The number of the attempt.
    pub(crate) attempt: String,
    /// The rank.
    pub(crate) rank: String,
    /// `begins` or `ends`.
    pub(crate) what: String,
    /// When, in nanoseconds since 1970.
    pub(crate) at: u128,
}

impl Line {
    fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [job, attempt, rank, what, at] = words[..] else {
            return None;
        };
        Some(Self {
            job: format!("j{job}"),
            attempt: attempt.to_owned(),
            rank: rank.to_owned(),
            what: what.to_owned(),
            at: at.parse().ok()?,
        })
    }
}

/// Now, in nanoseconds since 1970.
pub(crate) fn now() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos()
}

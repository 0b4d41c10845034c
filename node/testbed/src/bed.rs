//! Computers of the bed: a namespace with a device of the hub, a disk, and an agent each. All that was made is removed
//! when the bed is dropped: processes, namespaces, disks.

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::control::ask_for;
use crate::hub::{DEVICE, Hub, address};
use crate::micros;

/// Every so many computers, one has a small disk.
const SMALL_DISKS: usize = 4;

/// The size of a small disk.
const SMALL: &str = "size=24m";

/// Where agents listen.
pub(crate) const PORT: u16 = 4850;

/// What a bed is made of.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The agent's program.
    pub(crate) program: PathBuf,
    /// A later build of it, for upgrades.
    pub(crate) other: PathBuf,
    pub(crate) agents: usize,
    pub(crate) scheduler: String,
    /// The table `[times]` of the grid.
    pub(crate) times: String,
    pub(crate) seed: u64,
    /// The mistake that is made on purpose in all agents.
    pub(crate) canary: Option<String>,
}

pub(crate) struct Computer {
    number: usize,
    namespace: String,
    disk: PathBuf,
    is_small: bool,
    /// The name of its node, which changes when its disk is lost.
    pub(crate) node: String,
    pub(crate) id: String,
    agent: Option<Child>,
    /// By how much its clock is off, in seconds.
    offset: f64,
    uses_other: bool,
}

/// The computers, and one more for strangers.
pub(crate) struct Bed {
    pub(crate) folder: PathBuf,
    plan: Plan,
    pub(crate) hub: Hub,
    pub(crate) computers: Vec<Computer>,
    strangers: String,
    lives: usize,
}

/// Why there is no bed.
pub(crate) enum NoBed {
    /// This machine does not allow it.
    Skipped(String),
    Failed(io::Error),
}

impl From<io::Error> for NoBed {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

fn run(words: &[&str]) -> io::Result<Output> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(io::Error::other("nothing to run"));
    };
    let output = Command::new(program).args(arguments).output()?;
    match output.status.success() {
        true => Ok(output),
        false => {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(io::Error::other(format!(
                "{}: {}",
                words.join(" "),
                why.trim()
            )))
        }
    }
}

/// Removes namespaces when it is dropped.
struct Namespaces(Vec<String>);

impl Namespaces {
    fn add(&mut self, name: &str, number: usize) -> io::Result<()> {
        run(&["ip", "netns", "add", name])?;
        self.0.push(name.to_owned());
        run(&["ip", "-n", name, "link", "set", "lo", "up"])?;
        let own = format!("{}/24", address(number));
        run(&[
            "ip", "-n", name, "tuntap", "add", "dev", DEVICE, "mode", "tun",
        ])?;
        run(&["ip", "-n", name, "addr", "add", &own, "dev", DEVICE])?;
        run(&["ip", "-n", name, "link", "set", DEVICE, "up"])?;
        Ok(())
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            kill_all(name);
            // It is told below what remains.
            let _ = run(&["ip", "netns", "del", name]);
        }
    }
}

/// Kills all processes of a namespace, and returns how many there were.
fn kill_all(namespace: &str) -> usize {
    let mut killed = 0;
    // Supervisors may start a program in between.
    for _ in 0..3 {
        let Ok(listed) = run(&["ip", "netns", "pids", namespace]) else {
            return killed;
        };
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        for pid in listed.lines().filter_map(|line| line.trim().parse().ok()) {
            killed += usize::from(kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok());
        }
    }
    killed
}

impl Bed {
    /// Makes namespaces, the hub, disks and a grid. Agents are not started yet.
    pub(crate) fn new(folder: &Path, plan: Plan) -> Result<Self, NoBed> {
        if !nix::unistd::geteuid().is_root() {
            return Err(NoBed::Skipped("only root makes namespaces".to_owned()));
        }
        if !Path::new("/dev/net/tun").exists() {
            return Err(NoBed::Skipped("there is no /dev/net/tun".to_owned()));
        }
        fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        let mut namespaces = Namespaces(Vec::new());
        for number in 0..=plan.agents {
            let name = format!("gwbed{}x{number}", std::process::id());
            if let Err(error) = namespaces.add(&name, number) {
                return Err(NoBed::Skipped(format!("no namespaces: {error}")));
            }
        }
        let hub = Hub::new(&namespaces.0, plan.seed)?;
        // From here on the bed removes them.
        let names = std::mem::take(&mut namespaces.0);
        let strangers = names.last().cloned().unwrap_or_default();
        let mut bed = Self {
            folder,
            hub,
            computers: Vec::new(),
            strangers,
            lives: 0,
            plan,
        };
        for (number, namespace) in names.into_iter().enumerate().take(bed.plan.agents) {
            bed.add(number, namespace)?;
        }
        bed.make_grid()?;
        for number in 0..bed.plan.agents {
            bed.invite(number)?;
        }
        Ok(bed)
    }

    fn add(&mut self, number: usize, namespace: String) -> io::Result<()> {
        let disk = self.folder.join(format!("disk/{number}"));
        fs::create_dir_all(&disk)?;
        let is_small = number % SMALL_DISKS == SMALL_DISKS - 1;
        if is_small {
            let flags = MsFlags::empty();
            mount(Some("tmpfs"), &disk, Some("tmpfs"), flags, Some(SMALL))?;
        }
        self.computers.push(Computer {
            number,
            namespace,
            disk,
            is_small,
            node: String::new(),
            id: String::new(),
            agent: None,
            offset: 0.0,
            uses_other: false,
        });
        Ok(())
    }

    fn make_grid(&self) -> io::Result<()> {
        let grid = self.folder.join("grid");
        self.call(&[
            "init",
            &grid.to_string_lossy(),
            "--scheduler",
            &self.plan.scheduler,
        ])?;
        let file = grid.join("grid.toml");
        let text = fs::read_to_string(&file)?;
        let (table, _) = text.split_once("[times]").unwrap_or((&text, ""));
        fs::write(file, format!("{table}[times]\n{}", self.plan.times))?;
        for part in ["ran", "log", "told"] {
            fs::create_dir_all(self.folder.join(part))?;
        }
        Ok(())
    }

    /// Calls the agent's program.
    pub(crate) fn call(&self, words: &[&str]) -> io::Result<String> {
        let program = self.plan.program.to_string_lossy();
        let output = run(&[&[program.as_ref()], words].concat())?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Gives a computer a new node: a new folder, and a new certificate.
    pub(crate) fn invite(&mut self, number: usize) -> io::Result<()> {
        self.lives += 1;
        let node = format!("c{number}l{}", self.lives);
        let at = format!("{}:{PORT}", address(number));
        let others = self.computers.iter();
        let others = others.filter(|other| other.number != number && !other.id.is_empty());
        let introducers: Vec<String> = others
            .take(4)
            .map(|other| format!("{}@{}:{PORT}", other.id, address(other.number)))
            .collect();
        let Some(computer) = self.computers.get(number) else {
            return Ok(());
        };
        let folder = computer.disk.join(&node);
        let (grid, out) = (self.folder.join("grid"), folder.to_string_lossy());
        let grid = grid.to_string_lossy();
        let listen = format!("0.0.0.0:{PORT}");
        let mut words = vec!["invite", &grid, &node, "--output", &out];
        words.extend(["--listen", &listen, "--address", &at]);
        for introducer in &introducers {
            words.extend(["--introducer", introducer]);
        }
        let told = self.call(&words)?;
        let id = told
            .split(" is ")
            .nth(1)
            .and_then(|rest| rest.split(';').next());
        let id = id.unwrap_or_default().to_owned();
        set(&folder, "allow_root", "true")?;
        fs::create_dir_all(self.folder.join("ran").join(&node))?;
        if let Some(computer) = self.computers.get_mut(number) {
            computer.node = node;
            computer.id = id;
            computer.offset = 0.0;
        }
        Ok(())
    }

    /// The folder of the node of a computer.
    pub(crate) fn node(&self, number: usize) -> PathBuf {
        let computer = self.computers.get(number);
        computer.map_or_else(PathBuf::new, |computer| computer.disk.join(&computer.node))
    }

    /// A command in the namespace of a computer. `ip netns exec` would hide its cgroups.
    fn inside(namespace: &str, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/var/run/netns/{namespace}"));
        command.arg(program).stdin(Stdio::null());
        command
    }

    /// Starts the agent of a computer, if it does not run.
    pub(crate) fn start(&mut self, number: usize) -> io::Result<()> {
        if self.is_up(number) {
            return Ok(());
        }
        let folder = self.node(number);
        let Some(computer) = self.computers.get_mut(number) else {
            return Ok(());
        };
        set(&folder, "clock_offset", &format!("{:?}", computer.offset))?;
        let log = self.folder.join("log").join(&computer.node);
        let log = fs::File::options().create(true).append(true).open(log)?;
        let program = match computer.uses_other {
            true => &self.plan.other,
            false => &self.plan.program,
        };
        let mut agent = Self::inside(&computer.namespace, program);
        agent.arg("--folder").arg(&folder).arg("run");
        agent.env("HOME", self.folder.join("ran").join(&computer.node));
        if let Some(canary) = &self.plan.canary {
            agent.env("GRIDWEAVE_CANARY", canary);
        }
        agent.stdout(Stdio::null()).stderr(log).process_group(0);
        computer.agent = Some(agent.spawn()?);
        Ok(())
    }

    /// Whether the process of the agent runs.
    pub(crate) fn is_up(&mut self, number: usize) -> bool {
        let agent = self.computers.get_mut(number);
        let Some(agent) = agent.and_then(|computer| computer.agent.as_mut()) else {
            return false;
        };
        matches!(agent.try_wait(), Ok(None))
    }

    /// The process of the agent.
    pub(crate) fn process(&self, number: usize) -> Option<u32> {
        let computer = self.computers.get(number)?;
        Some(computer.agent.as_ref()?.id())
    }

    /// Waits until the agents of these computers answer and are connected with others. Returns those that do not.
    pub(crate) fn wait_until_ready(&mut self, within: Duration) -> Vec<usize> {
        let began = Instant::now();
        loop {
            let alone = self.computers.len() == 1;
            let mut missing = Vec::new();
            for number in 0..self.computers.len() {
                let peers = ask_for(&self.node(number), "peers");
                let is_ready = peers.is_ok_and(|peers| {
                    alone || peers.as_array().is_some_and(|peers| !peers.is_empty())
                });
                if !is_ready {
                    missing.push(number);
                }
            }
            if missing.is_empty() || began.elapsed() > within {
                return missing;
            }
            for number in &missing {
                // It may have ended, as on a full disk.
                let _ = self.start(*number);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Kills the agent of a computer. Programs go on.
    pub(crate) fn kill_agent(&mut self, number: usize) -> bool {
        self.end_agent(number, Signal::SIGKILL)
    }

    /// Ends an agent as a restart does.
    pub(crate) fn stop_agent(&mut self, number: usize) -> bool {
        self.end_agent(number, Signal::SIGTERM)
    }

    fn end_agent(&mut self, number: usize, signal: Signal) -> bool {
        let agent = self.computers.get_mut(number);
        let Some(mut agent) = agent.and_then(|computer| computer.agent.take()) else {
            return false;
        };
        let was_up = matches!(agent.try_wait(), Ok(None));
        if was_up {
            let _ = kill(Pid::from_raw(agent.id() as i32), signal);
            let began = Instant::now();
            while matches!(agent.try_wait(), Ok(None)) && began.elapsed().as_secs() < 10 {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = agent.kill();
        }
        let _ = agent.wait();
        was_up
    }

    /// Kills all processes of a computer.
    pub(crate) fn crash(&mut self, number: usize) -> usize {
        let computer = self.computers.get(number);
        let namespace = computer.map(|computer| computer.namespace.clone());
        let killed = kill_all(&namespace.unwrap_or_default());
        self.kill_agent(number);
        killed
    }

    /// The supervisors that run on a computer: their processes, and their attempts.
    pub(crate) fn supervisors(&self, number: usize) -> Vec<(i32, String)> {
        let attempts = fs::read_dir(self.node(number).join("attempts"));
        let mut found = Vec::new();
        for attempt in attempts.into_iter().flatten().flatten() {
            let text = fs::read_to_string(attempt.path().join("supervisor")).unwrap_or_default();
            let pid = text.split(' ').next().and_then(|pid| pid.parse().ok());
            let words = pid.and_then(|pid: i32| fs::read(format!("/proc/{pid}/cmdline")).ok());
            let words = words.unwrap_or_default();
            if let Some(pid) = pid
                && words
                    .split(|byte| *byte == 0)
                    .any(|word| word == b"supervise")
            {
                found.push((pid, attempt.file_name().to_string_lossy().into_owned()));
            }
        }
        found.sort();
        found
    }

    /// Fills the disk of a computer, if it is a small one.
    pub(crate) fn fill(&self, number: usize) -> io::Result<bool> {
        let Some(computer) = self
            .computers
            .get(number)
            .filter(|computer| computer.is_small)
        else {
            return Ok(false);
        };
        let mut file = fs::File::create(computer.disk.join("fill"))?;
        let zeros = vec![0; 4096];
        while file.write_all(&zeros).is_ok() {}
        Ok(true)
    }

    pub(crate) fn free(&self, number: usize) {
        if let Some(computer) = self.computers.get(number) {
            // There is none where the disk was not filled.
            let _ = fs::remove_file(computer.disk.join("fill"));
        }
    }

    /// Sets the clock of a computer off, from the next start of its agent on.
    pub(crate) fn set_clock(&mut self, number: usize, offset: f64) {
        if let Some(computer) = self.computers.get_mut(number) {
            computer.offset = offset;
        }
    }

    /// Replaces the program of a computer, from the next start of its agent on.
    pub(crate) fn upgrade(&mut self, number: usize) {
        if let Some(computer) = self.computers.get_mut(number) {
            computer.uses_other = !computer.uses_other;
        }
    }

    /// A stranger that talks to the agent of a computer, as a process in a namespace of its own. It returns what came of
    /// it, in a word.
    pub(crate) fn visit(
        &self,
        kind: &str,
        number: usize,
    ) -> impl FnOnce() -> io::Result<String> + use<> {
        self.visit_with(kind, number, 100)
    }

    /// The same; a stranger that never ends its handshakes begins so many.
    pub(crate) fn visit_with(
        &self,
        kind: &str,
        number: usize,
        handshakes: usize,
    ) -> impl FnOnce() -> io::Result<String> + use<> {
        let id = |number: usize| self.computers.get(number).map(|one| one.id.clone());
        let victim = (0..self.computers.len())
            .rev()
            .find(|other| *other != number);
        let stranger = std::env::current_exe().map(|program| {
            let mut stranger = Self::inside(&self.strangers, &program);
            stranger.args([
                "stranger",
                kind,
                "--at",
                &format!("{}:{PORT}", address(number)),
            ]);
            stranger.args(["--node", &id(number).unwrap_or_default()]);
            let victim = victim.and_then(id).unwrap_or_else(|| "n1".to_owned());
            stranger.args(["--handshakes", &handshakes.to_string()]);
            stranger
                .args(["--victim", &victim, "--grid"])
                .arg(self.folder.join("grid"));
            stranger
        });
        move || {
            let output = stranger?.output()?;
            let word = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            match word.is_empty() {
                false => Ok(word),
                true => Err(io::Error::other(
                    String::from_utf8_lossy(&output.stderr).into_owned(),
                )),
            }
        }
    }

    /// What agents say of the jobs that were submitted there.
    pub(crate) fn rows(&self, number: usize) -> io::Result<Vec<Value>> {
        let request = serde_json::json!({ "ask": "jobs", "all": true });
        let rows = crate::control::ask(&self.node(number), &request)?;
        Ok(rows.as_array().cloned().unwrap_or_default())
    }

    /// Adds a line to a journal of the bed, with the time before it.
    pub(crate) fn note(&self, journal: &str, line: &str) -> io::Result<()> {
        let file = self.folder.join(journal);
        let mut file = fs::File::options().create(true).append(true).open(file)?;
        file.write_all(format!("{} {line}\n", micros()).as_bytes())
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        for number in 0..self.computers.len() {
            self.crash(number);
        }
        let names: Vec<String> = self
            .computers
            .iter()
            .map(|one| one.namespace.clone())
            .collect();
        drop(Namespaces([names, vec![self.strangers.clone()]].concat()));
        for computer in &self.computers {
            if computer.is_small {
                // Its files are in memory, and go with it.
                let _ = umount2(&computer.disk, MntFlags::MNT_DETACH);
            }
        }
    }
}

/// Replaces a value in `node.toml`.
fn set(folder: &Path, key: &str, value: &str) -> io::Result<()> {
    let file = folder.join("node.toml");
    let text = fs::read_to_string(&file)?;
    let lines = text.lines().map(|line| match line.split_once(" = ") {
        Some((known, _)) if known == key => format!("{key} = {value}\n"),
        _ => format!("{line}\n"),
    });
    let changed: String = lines.collect();
    if changed != text {
        // A full disk must not cut it short.
        let draft = folder.join("node.toml.draft");
        fs::write(&draft, changed)?;
        fs::rename(draft, file)?;
    }
    Ok(())
}

//! Jobs as real programs, which outlive the agent that started them. Needs a Unix system.
//!
//! ```sh
//! cargo run -p gridweave-core --features wire --example processes
//! ```
//! This process is the user: it starts four agents, submits a job for one node, one for two, and one that takes longer
//! than it says, kills the agent of the first job twice, and checks that every program ran once. [`agent`] is a node
//! that starts programs, [`supervisor`] the process that ends a program in time even if its agent is down.

mod agent;
#[path = "../udp/disk.rs"]
mod disk;
mod supervisor;

use std::error::Error;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const NODES: usize = 4;

/// When the user gives up. An agent ends after that time, too.
const LIMIT: Duration = Duration::from_secs(30);

/// How long agents and supervisors wait before they look at files again.
const TICK: Duration = Duration::from_millis(20);

/// What all jobs run, in the folder of the user. It takes four seconds.
const PROGRAM: &str = r#"
    me="job $GRIDWEAVE_JOB, rank $GRIDWEAVE_RANK of nodes $GRIDWEAVE_NODES, attempt $GRIDWEAVE_ATTEMPT"
    echo "$me begins" >> output; sleep 4; echo "$me ends" >> output"#;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [_] => use_the_grid(),
        [_, "agent", me, ref ports @ ..] => agent::run(me.parse()?, ports),
        [_, "supervisor", folder, program] => supervisor::run(Path::new(folder), program),
        _ => Err("give no arguments".into()),
    }
}

struct User {
    /// Agents take orders from its port, and report to it. A real agent has a Unix socket with permissions instead: any
    /// process of this machine could take the port.
    socket: UdpSocket,
    /// The ports of the agents, and last that of the user.
    ports: Vec<u16>,
    agents: Vec<Child>,
    folder: PathBuf,
    began: Instant,
    /// What agents have said.
    heard: Vec<(usize, String)>,
}

fn use_the_grid() -> Result<()> {
    let (mut sockets, mut ports) = (Vec::new(), Vec::new());
    for _ in 0..=NODES {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        ports.push(socket.local_addr()?.port());
        sockets.push(socket);
    }
    let socket = sockets.pop().ok_or("the last is the user's")?;
    // Agents take the other ports.
    drop(sockets);
    let folder = std::env::temp_dir().join(format!("gridweave-processes-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let mut user = User {
        socket,
        ports,
        agents: Vec::new(),
        folder,
        began: Instant::now(),
        heard: Vec::new(),
    };
    for node in 0..NODES {
        let agent = user.start(node)?;
        user.agents.push(agent);
    }
    // Each of them says first that it knows the others.
    while user.heard.len() < NODES {
        user.listen(LIMIT)?;
    }
    for (job, nodes, seconds) in [(1, 1, 8), (2, 2, 8), (3, 1, 1)] {
        user.submit(job, nodes, seconds)?;
        user.wait_for(&format!("job {job} is accepted"))?;
    }
    let node = user.wait_for("job 1 starts")?;
    // The agent comes back while the program runs, and once more after the end of the program.
    user.kill(node)?;
    user.pause(800)?;
    user.agents[node] = user.start(node)?;
    user.wait_for("job 1 still runs")?;
    user.pause(500)?;
    user.kill(node)?;
    while user.written("job 1, rank 0", "ends") == 0 {
        user.pause(100)?;
    }
    user.pause(500)?;
    user.agents[node] = user.start(node)?;
    user.wait_for("job 1 has ended")?;
    user.wait_for("job 1 is done")?;
    user.wait_for("job 2 is done")?;
    user.wait_for("job 3: Failed(Overran)")?;

    user.tell(&format!("the programs wrote:\n{}", user.output()));
    assert_eq!(user.written("job", "begins"), 4, "no program ran twice");
    assert_eq!(user.written("job", "ends"), 3, "no program ended twice");
    for program in ["job 1, rank 0", "job 2, rank 0", "job 2, rank 1"] {
        assert_eq!(user.written(program, "ends"), 1, "{program}");
    }
    user.tell("every program ran once, and none for too long");
    Ok(())
}

impl User {
    fn start(&self, node: usize) -> Result<Child> {
        self.tell(&format!("the agent of node {node} is started"));
        let mut agent = Command::new(std::env::current_exe()?);
        agent.args(["agent", &node.to_string()]);
        agent.args(self.ports.iter().map(u16::to_string));
        Ok(agent.current_dir(&self.folder).spawn()?)
    }

    fn kill(&mut self, node: usize) -> Result<()> {
        self.agents[node].kill()?;
        self.agents[node].wait()?;
        self.tell(&format!("the agent of node {node} is killed"));
        Ok(())
    }

    /// Submits a job for this many nodes and seconds at the first node.
    fn submit(&self, job: u64, nodes: usize, seconds: u64) -> Result<()> {
        self.tell(&format!(
            "job {job} is submitted: nodes {nodes}, seconds {seconds}"
        ));
        let order = format!("{job} {nodes} {seconds} {PROGRAM}");
        let address = (Ipv4Addr::LOCALHOST, self.ports[0]);
        self.socket.send_to(order.as_bytes(), address)?;
        Ok(())
    }

    /// Waits until an agent has said something that begins so, and returns its node.
    fn wait_for(&mut self, what: &str) -> Result<usize> {
        loop {
            let mut heard = self.heard.iter();
            if let Some((node, _)) = heard.find(|(_, said)| said.starts_with(what)) {
                return Ok(*node);
            }
            self.listen(LIMIT)?;
        }
    }

    /// Hears what agents say in that time.
    fn pause(&mut self, milliseconds: u64) -> Result<()> {
        let end = Instant::now() + Duration::from_millis(milliseconds);
        while Instant::now() < end {
            self.listen(end - Instant::now())?;
        }
        Ok(())
    }

    /// Hears what an agent says next, if one says something within that time.
    fn listen(&mut self, wait: Duration) -> Result<()> {
        let left = LIMIT.saturating_sub(self.began.elapsed());
        if left.is_zero() {
            return Err("this takes too long".into());
        }
        let wait = wait.min(left).max(Duration::from_millis(1));
        self.socket.set_read_timeout(Some(wait))?;
        let mut room = [0; 1024];
        if let Ok((length, address)) = self.socket.recv_from(&mut room) {
            let node = self.ports.iter().position(|port| *port == address.port());
            let node = node.ok_or("a stranger reports")?;
            let said = String::from_utf8_lossy(&room[..length]).into_owned();
            self.tell(&format!("node {node}: {said}"));
            self.heard.push((node, said));
        }
        Ok(())
    }

    /// How many lines of programs begin and end so.
    fn written(&self, program: &str, what: &str) -> usize {
        let is_that = |line: &&str| line.starts_with(program) && line.ends_with(what);
        self.output().lines().filter(is_that).count()
    }

    /// All that programs have written.
    fn output(&self) -> String {
        std::fs::read_to_string(self.folder.join("output")).unwrap_or_default()
    }

    fn tell(&self, what: &str) {
        println!("{:6.2} s  {what}", self.began.elapsed().as_secs_f64());
    }
}

impl Drop for User {
    /// Ends all agents. Supervisors end their programs when the folder is gone.
    fn drop(&mut self) {
        for agent in &mut self.agents {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

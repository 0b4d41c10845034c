//! A real grid on one machine: five processes with an `asap` node each, which talk over UDP in the wire format.
//!
//! ```sh
//! cargo run -p gridweave-core --features wire --example udp
//! ```
//! This process starts the five, introduces them to each other, submits jobs that want three nodes each, kills a node
//! while it runs a job, and starts it again a little later with what is on its disk. All jobs are done nevertheless.
//!
//! [`agent`] is what an agent has to be: a socket, a clock, timers, and a [`disk`].

mod agent;
mod disk;

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const NODES: usize = 5;
const JOBS: u64 = 4;

/// How many nodes a job wants: few enough that the others can do it when one is gone.
const WANTED: usize = 3;

/// Jobs are submitted at the first of the nodes. One of the others is killed: each job runs on one of those at least.
const SUBMITTERS: usize = 2;

/// If jobs are not done by then, something is wrong.
const LIMIT: Duration = Duration::from_secs(90);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.as_slice() {
        [_] => coordinate(),
        [_, id, folder] => agent::run(id.parse()?, Path::new(folder)),
        _ => Err("give no arguments".into()),
    }
}

/// What a node says to this process.
struct Line {
    node: usize,
    /// The number of the node's life.
    life: usize,
    text: String,
}

/// The process of a node, and the way to tell it something.
struct Process {
    child: Child,
    orders: ChildStdin,
}

/// All agent processes. An agent ends when its input closes, so all of them end with this process.
struct Grid {
    folder: PathBuf,
    processes: Vec<Process>,
    ports: Vec<u16>,
    /// Microseconds between 1970 and the time zero of the grid.
    origin: u128,
    said: Receiver<Line>,
    /// Cloned for each process that is started, to send its lines.
    saying: Sender<Line>,
    began: Instant,
}

fn coordinate() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("gridweave-udp-{}", std::process::id()));
    let (saying, said) = channel();
    let mut grid = Grid {
        folder,
        processes: Vec::new(),
        ports: Vec::new(),
        origin: SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros(),
        said,
        saying,
        began: Instant::now(),
    };
    for node in 0..NODES {
        let (process, port) = grid.spawn(node, 0)?;
        grid.processes.push(process);
        grid.ports.push(port);
    }
    for node in 0..NODES {
        grid.introduce(node)?;
    }
    println!("{NODES} processes, UDP ports {:?}", grid.ports);
    let outcome = grid.run();
    let folder = grid.folder.clone();
    for mut process in grid.processes {
        // An agent ends when its orders do.
        drop(process.orders);
        process.child.wait()?;
    }
    std::fs::remove_dir_all(folder)?;
    outcome
}

impl Grid {
    /// Starts the process of a node, and says on which port it listens.
    fn spawn(&self, node: usize, life: usize) -> Result<(Process, u16), Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(node.to_string())
            .arg(self.folder.join(node.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take().ok_or("its input is a pipe")?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("its output is a pipe")?).lines();
        let port = lines.next().ok_or("it says its port first")??.parse()?;
        let saying = self.saying.clone();
        std::thread::spawn(move || {
            for text in lines.map_while(Result::ok) {
                // It fails only at the end, when the receiver is gone.
                let _ = saying.send(Line { node, life, text });
            }
        });
        Ok((Process { child, orders }, port))
    }

    /// Tells a node the ports of all nodes, and to start.
    fn introduce(&mut self, node: usize) -> Result<(), Box<dyn Error>> {
        let orders = &mut self.processes[node].orders;
        for (peer, port) in self.ports.iter().enumerate() {
            writeln!(orders, "peer {peer} {port}")?;
        }
        writeln!(orders, "start {}", self.origin)?;
        Ok(())
    }

    fn tell(&self, what: &str) {
        println!("{:6.2} s  {what}", self.began.elapsed().as_secs_f64());
    }

    fn run(&mut self) -> Result<(), Box<dyn Error>> {
        // Long enough for all to know each other.
        std::thread::sleep(Duration::from_secs(3));
        for job in 0..JOBS {
            let node = job as usize % SUBMITTERS;
            let orders = &mut self.processes[node].orders;
            writeln!(orders, "submit {job} {WANTED}")?;
            self.tell(&format!(
                "job {job} for {WANTED} nodes is submitted at node {node}"
            ));
        }
        let (mut finished, mut killed, mut restart_at) = (0, None, None);
        while finished < JOBS || restart_at.is_some() {
            if self.began.elapsed() > LIMIT {
                return Err(format!("only {finished} of {JOBS} jobs are done").into());
            }
            if restart_at.is_some_and(|at| Instant::now() >= at)
                && let Some(node) = killed
            {
                restart_at = None;
                self.restart(node)?;
            }
            let line = match self.said.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err("all agents are gone".into()),
            };
            // What a node had said before it was killed.
            if killed == Some(line.node) && restart_at.is_some() && line.life == 0 {
                continue;
            }
            self.tell(&format!("node {}: {}", line.node, line.text));
            if line.text.ends_with("Finished") {
                finished += 1;
            }
            if line.text.contains("Failed") {
                return Err(line.text.into());
            }
            if line.text.contains(": Started") && line.node >= SUBMITTERS && killed.is_none() {
                self.processes[line.node].child.kill()?;
                self.processes[line.node].child.wait()?;
                self.tell(&format!("node {} is killed while it runs a job", line.node));
                killed = Some(line.node);
                restart_at = Some(Instant::now() + Duration::from_secs(2));
            }
        }
        self.tell(&format!("all {JOBS} jobs are done"));
        Ok(())
    }

    /// The node comes up again at another port, with what is on its disk.
    fn restart(&mut self, node: usize) -> Result<(), Box<dyn Error>> {
        let (process, port) = self.spawn(node, 1)?;
        (self.processes[node], self.ports[node]) = (process, port);
        self.introduce(node)?;
        for process in &mut self.processes {
            writeln!(process.orders, "peer {node} {port}")?;
        }
        self.tell(&format!("node {node} is started again, at port {port}"));
        Ok(())
    }
}

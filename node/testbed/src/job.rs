//! The program that jobs of the bed run. It writes when it begins, that it is alive, and when it ends.
//!
//! Each line of the file `$HOME/ran` is `JOB ATTEMPT RANK WHAT MICROSECONDS`, by the clock of the computer. Agents of a
//! bed have a home for each node.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::micros;

/// How often it says that it is alive.
const ALIVE: Duration = Duration::from_millis(200);

struct Ran {
    file: std::fs::File,
    me: String,
}

impl Ran {
    fn say(&mut self, what: &str) -> io::Result<()> {
        // One write: lines of several programs are not mixed.
        let line = format!("{} {what} {}\n", self.me, micros());
        self.file.write_all(line.as_bytes())
    }
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|_| io::Error::other(format!("{name} is not set")))
}

/// Runs for so long. With `connected`, all ranks connect with the first one, and end together.
pub(crate) fn run(seconds: f64, connected: bool) -> io::Result<()> {
    let (job, attempt) = (variable("GRIDWEAVE_JOB")?, variable("GRIDWEAVE_ATTEMPT")?);
    let rank = variable("GRIDWEAVE_RANK")?;
    let file = PathBuf::from(variable("HOME")?).join("ran");
    let file = OpenOptions::new().create(true).append(true).open(file)?;
    let me = format!("{job} {attempt} {rank}");
    let mut ran = Ran { file, me };
    ran.say("begins")?;
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let number: u64 = job.parse().map_err(io::Error::other)?;
    let mut peers = match connected {
        true => meet(&rank, 20_000 + (number % 20_000) as u16, &mut ran, until)?,
        false => Vec::new(),
    };
    while Instant::now() < until {
        std::thread::sleep(ALIVE.min(until - Instant::now()));
        ran.say("alive")?;
        for peer in &mut peers {
            peer.write_all(b".")?;
        }
    }
    part(&mut peers, &mut ran)?;
    ran.say("ends")
}

/// Connects the ranks: the first one with all others.
fn meet(rank: &str, port: u16, ran: &mut Ran, until: Instant) -> io::Result<Vec<TcpStream>> {
    let addresses = variable("GRIDWEAVE_ADDRESSES")?;
    let addresses: Vec<&str> = addresses.split(' ').collect();
    let mut peers = Vec::new();
    if rank == "0" {
        let listener = TcpListener::bind(("0.0.0.0", port))?;
        listener.set_nonblocking(true)?;
        while peers.len() + 1 < addresses.len() {
            match listener.accept() {
                Ok((peer, _)) => {
                    peer.set_nonblocking(false)?;
                    peers.push(peer);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(20));
                    ran.say("alive")?;
                }
                Err(error) => return Err(error),
            }
        }
        return Ok(peers);
    }
    let first = addresses.first().copied().unwrap_or_default();
    loop {
        let at = format!("{first}:{port}");
        let at = at.parse().map_err(io::Error::other)?;
        match TcpStream::connect_timeout(&at, Duration::from_millis(500)) {
            Ok(peer) => return Ok(vec![peer]),
            Err(error) if Instant::now() > until + Duration::from_secs(60) => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
        ran.say("alive")?;
    }
}

/// Waits until all peers are done, too.
fn part(peers: &mut [TcpStream], ran: &mut Ran) -> io::Result<()> {
    for peer in &mut *peers {
        peer.write_all(b"!")?;
        peer.set_read_timeout(Some(ALIVE))?;
    }
    for peer in peers {
        let mut room = [0; 256];
        loop {
            match peer.read(&mut room) {
                Ok(0) => return Err(io::Error::other("a rank has gone")),
                Ok(length) if room.iter().take(length).any(|byte| *byte == b'!') => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ran.say("alive")?,
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

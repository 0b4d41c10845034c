//! What strangers cost the agent that refuses them: memory, processor time, and how long its jobs take meanwhile.

use std::fs;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bed::Bed;
use crate::control::{ask, ask_for};
use crate::stranger::{HALF_OPEN, KINDS};

/// The most megabytes that an agent may have, whatever strangers do.
const MOST_MEGABYTES: f64 = 64.0;

/// When a job counts as lost.
const LIMIT: Duration = Duration::from_secs(60);

/// What an agent has used: the most memory since the last reset, in megabytes, and processor time in seconds.
fn used(process: u32) -> io::Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
    let ticks = behind.split(' ').skip(11).take(2);
    let ticks: f64 = ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    Ok((peak.unwrap_or(0.0) / 1024.0, ticks / 100.0))
}

/// How many peers the agent says it has refused, for all reasons.
fn refused(bed: &Bed) -> io::Result<u64> {
    let figures = ask_for(&bed.node(0), "figures")?;
    let lines = figures.as_str().unwrap_or_default().lines();
    let refused = lines.filter(|line| line.starts_with("gridweave_peers_refused_total"));
    Ok(refused
        .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
        .sum())
}

/// Runs a job on both nodes, and returns how long that took, in seconds.
fn job(bed: &Bed) -> io::Result<f64> {
    let began = Instant::now();
    let program = json!({ "argv": ["true"] });
    let request = json!({ "ask": "submit", "program": program, "nodes": 2, "seconds": 2.0 });
    let answer = ask(&bed.node(0), &request)?;
    let question = json!({ "ask": "job", "job": answer.get("job") });
    while began.elapsed() < LIMIT {
        let row = ask(&bed.node(0), &question)?;
        match row.get("phase").and_then(Value::as_str) {
            Some("done") => return Ok(began.elapsed().as_secs_f64()),
            Some("failed" | "cancelled") => return Err(io::Error::other(row.to_string())),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    Err(io::Error::other("a job takes too long"))
}

/// Sends strangers of all kinds, one after the other, and prints what they cost. Whether all were refused.
pub(crate) fn run(bed: &mut Bed, visits: usize, handshakes: usize) -> io::Result<bool> {
    for number in 0..bed.computers.len() {
        bed.start(number)?;
    }
    let missing = bed.wait_until_ready(Duration::from_secs(60));
    let Some(process) = bed.process(0).filter(|_| missing.is_empty()) else {
        return Err(io::Error::other("agents do not find each other"));
    };
    job(bed)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| peers | times | admitted | counted as refused | most memory, MB | CPU-seconds of the agent | a gang of two meanwhile, s |"
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|---:|")?;
    let mut most = 0.0_f64;
    let mut admitted_in_all = 0;
    // First without a stranger, to compare with.
    let kinds = KINDS.map(|kind| (Some(kind), visits));
    let kinds = [(None, 1)].into_iter().chain(kinds);
    for (kind, times) in kinds.chain([(Some(HALF_OPEN), 1)]) {
        fs::write(format!("/proc/{process}/clear_refs"), "5")?;
        let (before, count) = (used(process)?, refused(bed)?);
        let mut words = Vec::new();
        let mut took = None;
        for visit in 0..times {
            let stranger = kind.map(|kind| bed.visit_with(kind, 0, handshakes));
            let visiting = std::thread::spawn(move || match stranger {
                Some(stranger) => stranger(),
                None => {
                    std::thread::sleep(Duration::from_secs(10));
                    Ok(String::new())
                }
            });
            if visit == 0 {
                std::thread::sleep(Duration::from_millis(50));
                took = Some(job(bed)?);
            }
            let word = visiting.join();
            words.push(word.map_err(|_| io::Error::other("a stranger has failed"))??);
        }
        let after = used(process)?;
        let admitted = words.iter().filter(|word| *word == "admitted").count();
        admitted_in_all += admitted;
        most = most.max(after.0);
        let (name, times) = match kind {
            None => ("no stranger, for ten seconds".to_owned(), times),
            Some(HALF_OPEN) => ("handshakes that never end".to_owned(), handshakes),
            Some("garbage") => ("garbage, 200 datagrams".to_owned(), times),
            Some("none") => ("without a certificate".to_owned(), times),
            Some(kind) => (format!("certificate: {kind}"), times),
        };
        writeln!(
            out,
            "| {name} | {times} | {admitted} | {} | {:.1} | {:.2} | {:.1} |",
            refused(bed)? - count,
            after.0,
            after.1 - before.1,
            took.unwrap_or(0.0),
        )?;
    }
    writeln!(
        out,
        "bar: strangers that were admitted | at most 0 | {admitted_in_all}"
    )?;
    writeln!(
        out,
        "bar: megabytes of memory of the agent | at most {MOST_MEGABYTES} | {most:.1}"
    )?;
    let load = fs::read_to_string("/proc/loadavg")?;
    writeln!(
        out,
        "note: a gang that no stranger disturbed afterwards took {:.1} s; the load of the machine was {}",
        job(bed)?,
        load.trim()
    )?;
    Ok(admitted_in_all == 0 && most <= MOST_MEGABYTES)
}

//! EASY backfilling on one [`Availability`]: the first job that waits gets the earliest start there is, and later ones
//! start before it if they do not delay it.
//!
//! ```sh
//! cargo run --release -p gridweave-core --example easy -- lab/data/unilu-gaia-7d.swf
//! ```
//! Reads a trace in the Standard Workload Format, takes run times as they are, and prints how long jobs waited.

use std::collections::VecDeque;
use std::error::Error;
use std::{env, fs};

use gridweave_core::schedule::availability::Availability;
use gridweave_core::time::{Interval, Span, Time};

/// A job of the trace.
#[derive(Clone, Copy)]
struct Job {
    submitted: Time,
    takes: Span,
    processors: u32,
}

/// The jobs of a trace that ran, from the first one on, and the number of processors.
fn read(trace: &str) -> Result<(Vec<Job>, u32), Box<dyn Error>> {
    let processors = trace
        .lines()
        .find_map(|line| line.strip_prefix("; MaxProcs:"));
    let processors = processors.ok_or("the trace does not say MaxProcs")?;
    let rows = trace.lines().filter(|line| !line.starts_with(';'));
    let mut jobs = Vec::new();
    for row in rows {
        let fields: Vec<&str> = row.split_whitespace().collect();
        let [_, submitted, _, takes, count, ..] = fields[..] else {
            continue;
        };
        let (takes, count): (i64, i64) = (takes.parse()?, count.parse()?);
        if takes > 0 && count > 0 {
            jobs.push(Job {
                submitted: Time::from_secs(submitted.parse()?),
                takes: Span::from_secs(takes.try_into()?),
                processors: count.try_into()?,
            });
        }
    }
    jobs.sort_by_key(|job| job.submitted);
    Ok((jobs, processors.trim().parse()?))
}

/// The seconds that each job waited, in the order in which jobs start.
fn waits(jobs: &[Job], processors: u32) -> Result<Vec<u64>, Box<dyn Error>> {
    let mut machine = Availability::new(processors)?;
    let (mut queue, mut waits) = (VecDeque::<Job>::new(), Vec::new());
    let mut ends = std::collections::BTreeSet::new();
    let mut jobs = jobs.iter().peekable();
    while let Some(now) = jobs
        .peek()
        .map(|job| job.submitted)
        .into_iter()
        .chain(ends.first().copied())
        .min()
    {
        ends.remove(&now);
        while let Some(job) = jobs.next_if(|job| job.submitted <= now) {
            queue.push_back(*job);
        }
        machine.advance(now);
        // What is reserved for the first job that waits is in the plan only: it may start earlier after all.
        let mut plan = machine.clone();
        let mut is_first = true;
        let mut waiting = VecDeque::new();
        for job in queue.drain(..) {
            let start = plan.earliest_fit(now, job.processors, job.takes)?;
            let interval = Interval::starting(start, job.takes)?;
            if start == now {
                plan.reserve(interval, job.processors)?;
                machine.reserve(interval, job.processors)?;
                ends.insert(interval.end());
                waits.push((now - job.submitted).as_secs());
                continue;
            }
            if is_first {
                plan.reserve(interval, job.processors)?;
            }
            is_first = false;
            waiting.push_back(job);
        }
        queue = waiting;
    }
    Ok(waits)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args()
        .nth(1)
        .ok_or("name a trace in SWF, such as lab/data/unilu-gaia-7d.swf")?;
    let (jobs, processors) = read(&fs::read_to_string(path)?)?;
    let mut waits = waits(&jobs, processors)?;
    waits.sort_unstable();
    let mean = waits.iter().sum::<u64>() as f64 / waits.len().max(1) as f64;
    let p95 = waits.get(waits.len() * 95 / 100).copied().unwrap_or(0);
    println!(
        "{} jobs on {processors} processors: mean wait {mean:.0} s, 95 % at most {p95} s",
        waits.len()
    );
    Ok(())
}

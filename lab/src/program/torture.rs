//! `gridweave torture`.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::bail;
use serde_json::{Value, json};

use super::Ending;
use super::options::Torture;
use super::progress::{Goal, Watched};
use super::session::Session;
use crate::torture::{
    Counters, Fault, Invariant, Jobs, Report, Request, Traced, minimised, run, run_with,
};

/// How many failing seeds are minimised and printed.
const MOST_SHOWN: usize = 3;

/// How many seeds run between two checks whether enough have failed.
const AT_A_TIME: u64 = 1000;

/// Runs seeds until all are done, or enough have failed.
pub(super) fn torture(session: &Session, options: &Torture) -> anyhow::Result<Ending> {
    match options.seed {
        Some(seed) => one(session, options, seed),
        None => many(session, options),
    }
}

fn request(options: &Torture, seed: u64) -> Request {
    Request {
        seed,
        scheduler: options.scheduler,
        without: options.without.iter().copied().collect::<BTreeSet<Fault>>(),
        nodes: options.nodes,
        jobs: options.jobs,
        chaos: options.chaos,
        group_commit: options.group_commit,
        flaw: None,
    }
}

fn one(session: &Session, options: &Torture, seed: u64) -> anyhow::Result<Ending> {
    let request = request(options, seed);
    let traced = match (options.trace, options.gossip) {
        (_, true) => Traced::All,
        (true, false) => Traced::Jobs,
        (false, false) => Traced::Nothing,
    };
    let report = run_with(&request, traced);
    for line in &report.trace {
        session.say(line);
    }
    session.say(&described(&report));
    session.tell(&in_json(&report))?;
    Ok(match report.breach {
        Some(_) => Ending::Broken,
        None => Ending::Done,
    })
}

fn many(session: &Session, options: &Torture) -> anyhow::Result<Ending> {
    let Range { start, end } = options.seeds.clone().unwrap_or(0..1000);
    if start >= end {
        bail!("--seeds {start}..{end} names no seed; let the second number be greater");
    }
    let began = std::time::Instant::now();
    session.interrupt.begin();
    let watched = Watched::new(session, (end - start) as usize, Goal::Runs);
    let mut sum = Sum::default();
    let mut next = start;
    while next < end && sum.broken.len() < MOST_SHOWN && !session.stopped() {
        let until = end.min(next.saturating_add(AT_A_TIME));
        let reports = watched.each((next..until).collect(), |seed: u64, _| {
            (!session.stopped()).then(|| run(&request(options, seed)))
        });
        for report in reports.into_iter().flatten() {
            sum.take(report);
        }
        next = until;
    }
    let shown = sum.broken.iter().take(MOST_SHOWN);
    let shown: Vec<Report> = shown
        .map(|report| minimised(&report.request).unwrap_or_else(|| report.clone()))
        .collect();
    session.interrupt.end();
    let seconds = began.elapsed().as_secs_f64();
    session.say(&sum.described(seconds));
    for report in &shown {
        session.say("");
        session.say(&described(report));
        session.say(&format!("replay: {} --trace", report.request));
    }
    session.tell(&sum.in_json(seconds, &shown))?;
    Ok(if !sum.broken.is_empty() {
        Ending::Broken
    } else if session.stopped() {
        Ending::Interrupted
    } else {
        Ending::Done
    })
}

fn described(report: &Report) -> String {
    let faults: Vec<&str> = report.faults.iter().map(|fault| fault.name()).collect();
    let jobs = &report.jobs;
    let mut text = format!(
        "seed {}, {}: {} events until {:?}, digest {}\nfaults: {}\njobs: {} taken, {} finished, {} failed, {} cancelled, {} orphaned",
        report.request.seed,
        report.request.scheduler(),
        report.events,
        report.ended,
        report.digest,
        if faults.is_empty() {
            "none".into()
        } else {
            faults.join(", ")
        },
        jobs.taken,
        jobs.finished,
        jobs.failed,
        jobs.cancelled,
        jobs.orphaned,
    );
    if let Some(breach) = &report.breach {
        let says = breach.invariant.says();
        text += &format!("\nBROKEN {breach}\n({says})");
    }
    text
}

fn counted(counters: &Counters) -> Value {
    let counters = counters
        .iter()
        .map(|(name, count)| (name.into(), count.into()));
    Value::Object(counters.collect())
}

fn in_json(report: &Report) -> Value {
    let jobs = &report.jobs;
    json!({
        "seed": report.request.seed,
        "scheduler": report.request.scheduler().name(),
        "faults": report.faults.iter().map(|fault| fault.name()).collect::<Vec<_>>(),
        "broken": report.breach.as_ref().map(|breach| json!({
            "invariant": breach.invariant.name(),
            "at": breach.at.as_micros() as f64 / 1e6,
            "node": breach.node.map(gridweave_core::id::NodeId::get),
            "what": breach.what,
        })),
        "replay": format!("{} --trace", report.request),
        "events": report.events,
        "ended": report.ended.as_micros() as f64 / 1e6,
        "digest": report.digest,
        "jobs": jobs_in_json(jobs),
        "counters": counted(&report.counters),
    })
}

fn jobs_in_json(jobs: &Jobs) -> Value {
    json!({
        "taken": jobs.taken,
        "finished": jobs.finished,
        "failed": jobs.failed,
        "cancelled": jobs.cancelled,
        "orphaned": jobs.orphaned,
    })
}

/// The sum over all seeds.
#[derive(Default)]
struct Sum {
    runs: u64,
    events: u64,
    jobs: Jobs,
    /// The jobs of runs with liars.
    among_liars: Jobs,
    liar_links: [u64; 2],
    counters: Counters,
    broken: Vec<Report>,
}

impl Sum {
    fn take(&mut self, report: Report) {
        self.runs += 1;
        self.events += report.events;
        self.jobs.merge(&report.jobs);
        if report.faults.contains(&Fault::Liars) {
            self.among_liars.merge(&report.jobs);
            for (sum, count) in self.liar_links.iter_mut().zip(report.liar_links) {
                *sum += count;
            }
        }
        self.counters.merge(&report.counters);
        if report.breach.is_some() {
            self.broken.push(report);
        }
    }

    fn described(&self, seconds: f64) -> String {
        let part = |count: u64, of: u64| 100.0 * count as f64 / of.max(1) as f64;
        let (jobs, liars) = (&self.jobs, &self.among_liars);
        let mut text = String::new();
        for (name, count) in self.counters.iter() {
            text += &format!("{count:>12}  {name}\n");
        }
        text += &format!(
            "{} runs, {} events, {seconds:.1} s; {} jobs taken, {:.1} % finished, {} orphaned\n",
            self.runs,
            self.events,
            jobs.taken,
            part(jobs.finished, jobs.taken),
            jobs.orphaned,
        );
        if liars.taken > 0 {
            text += &format!(
                "among liars: {} honest jobs taken, {:.1} % finished; {:.1} % of honest links lead to liars\n",
                liars.taken,
                part(liars.finished, liars.taken),
                part(self.liar_links[0], self.liar_links[1]),
            );
        }
        match self.broken.first() {
            None => text += "nothing broke",
            Some(_) => {
                text += &format!("{} runs broke an invariant:", self.broken.len());
                for report in &self.broken {
                    let breach = report.breach.as_ref().map(|breach| breach.invariant);
                    let name = breach.map_or("", Invariant::name);
                    text += &format!("\n  {}  ({name})", report.request);
                }
            }
        }
        text
    }

    fn in_json(&self, seconds: f64, shown: &[Report]) -> Value {
        json!({
            "runs": self.runs,
            "events": self.events,
            "seconds": seconds,
            "jobs": jobs_in_json(&self.jobs),
            "among_liars": jobs_in_json(&self.among_liars),
            "links_to_liars": self.liar_links[0],
            "links_among_liars": self.liar_links[1],
            "counters": counted(&self.counters),
            "failing_seeds": self.broken.iter().map(|report| report.request.seed).collect::<Vec<_>>(),
            "broken": shown.iter().map(in_json).collect::<Vec<_>>(),
        })
    }
}

//! Scenes with an exact end: what must happen, and within which time.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bed::Bed;
use crate::checker::{Limits, Run, judge, runs_of};
use crate::control::ask;
use crate::micros;
use crate::stranger::KINDS;

/// The lease of the bed's grids, in seconds, and what a word may take beyond it.
const LEASE: f64 = 8.0;
const BAR: f64 = LEASE + 1.0;

/// When a scene has failed.
const LIMIT: Duration = Duration::from_secs(90);

/// All scenes.
pub(crate) const SCENES: [&str; 5] = ["kills", "lease", "partition", "upgrade", "strangers"];

/// What was seen: what, how long it took in seconds or what was found, and what must be.
pub(crate) struct Row {
    what: String,
    seen: String,
    must: String,
    holds: bool,
}

impl Row {
    fn within(what: &str, seconds: f64, most: f64) -> Self {
        Self {
            what: what.to_owned(),
            seen: format!("{seconds:.2} s"),
            must: format!("at most {most:.1} s"),
            holds: seconds <= most,
        }
    }

    fn is(what: &str, seen: &dyn Display, must: &dyn Display) -> Self {
        let (seen, must) = (seen.to_string(), must.to_string());
        let holds = seen == must;
        Self {
            what: what.to_owned(),
            seen,
            must,
            holds,
        }
    }
}

/// How a job is submitted.
#[derive(Clone, Copy)]
struct Order {
    at: usize,
    ranks: u64,
    /// How long its program takes.
    works: f64,
    seconds: f64,
    again: &'static str,
    connected: bool,
}

/// A single job that may run again after a loss.
const SINGLE: Order = Order {
    at: 0,
    ranks: 1,
    works: 20.0,
    seconds: 30.0,
    again: "lost",
    connected: false,
};

struct Scene<'a> {
    bed: &'a mut Bed,
    rows: Vec<Row>,
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

impl Scene<'_> {
    fn submit(&self, order: Order) -> io::Result<u64> {
        let mut argv = vec![
            json!(std::env::current_exe()?),
            json!("job"),
            json!("--seconds"),
            json!(order.works.to_string()),
        ];
        if order.connected {
            argv.push(json!("--connected"));
        }
        let times = if order.again == "never" { 0 } else { 3 };
        let request = json!({
            "ask": "submit", "program": { "argv": argv }, "nodes": order.ranks, "seconds": order.seconds,
            "again": order.again, "times": times,
        });
        let folder = self.bed.node(order.at);
        let answer = ask(&folder, &request)?;
        let name = answer
            .get("job")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let node = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (ranks, seconds, again) = (order.ranks, order.seconds, order.again);
        let line = format!("{name} {node} {ranks} {seconds} {again} {times}");
        self.bed.note("submitted", &line)?;
        name.trim_start_matches('j')
            .parse()
            .map_err(io::Error::other)
    }

    /// The ranks of an attempt at a job that have begun, counted from one attempt on.
    fn begun(&self, job: u64) -> io::Result<Vec<(u64, u64, Run)>> {
        let attempts = runs_of(&self.bed.folder, job)?;
        let mut all = Vec::new();
        for (attempt, ranks) in attempts {
            all.extend(ranks.into_iter().map(|(rank, run)| (attempt, rank, run)));
        }
        Ok(all)
    }

    fn wait<T>(
        &mut self,
        what: &str,
        mut is_so: impl FnMut(&mut Self) -> io::Result<Option<T>>,
    ) -> io::Result<T> {
        let began = Instant::now();
        loop {
            if let Some(found) = is_so(self)? {
                return Ok(found);
            }
            if began.elapsed() > LIMIT {
                return Err(io::Error::other(format!("this does not happen: {what}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until so many ranks have begun, and returns the computers where they did.
    fn wait_for_begin(&mut self, job: u64, ranks: usize) -> io::Result<Vec<usize>> {
        let runs = self.wait("the job begins", |scene| {
            let begun = scene.begun(job)?;
            Ok((begun.len() >= ranks).then_some(begun))
        })?;
        let computer = |run: &Run| {
            self.bed
                .computers
                .iter()
                .position(|one| one.node == run.node)
        };
        Ok(runs.iter().filter_map(|(.., run)| computer(run)).collect())
    }

    /// Waits for the last word on a job, and returns it.
    fn wait_for_word(&mut self, at: usize, job: u64) -> io::Result<String> {
        self.wait("the job gets its last word", |scene| {
            let phase = scene.phase(at, job);
            Ok(phase.filter(|phase| matches!(phase.as_str(), "done" | "failed" | "cancelled")))
        })
    }

    /// What the agent where a job was submitted says of it, unless that agent is down.
    fn phase(&self, at: usize, job: u64) -> Option<String> {
        let question = json!({ "ask": "job", "job": format!("j{job}") });
        let row = ask(&self.bed.node(at), &question).ok()?;
        Some(row.get("phase")?.as_str()?.to_owned())
    }

    /// Waits until a later attempt begins or the user is told the end. Returns when, in seconds since then.
    fn wait_until_it_goes_on(&mut self, at: usize, job: u64, since: u64) -> io::Result<f64> {
        let first = self.begun(job)?.iter().map(|(attempt, ..)| *attempt).max();
        self.wait("it goes on, or its user is told", |scene| {
            let begun = scene.begun(job)?;
            let later = begun.iter().find(|(attempt, ..)| Some(*attempt) > first);
            if let Some((.., run)) = later {
                return Ok(Some(seconds(run.begins.saturating_sub(since))));
            }
            let is_told = scene
                .phase(at, job)
                .is_some_and(|phase| matches!(phase.as_str(), "done" | "failed"));
            Ok(is_told.then(|| seconds(micros() - since)))
        })
    }

    fn cancel(&mut self, at: usize, job: u64) -> io::Result<()> {
        ask(
            &self.bed.node(at),
            &json!({ "ask": "cancel", "job": format!("j{job}") }),
        )?;
        self.wait_for_word(at, job).map(|_| ())
    }

    /// A job that runs at another computer than that of its submitter.
    fn elsewhere(&mut self, order: Order) -> io::Result<(u64, usize)> {
        for _ in 0..20 {
            let job = self.submit(order)?;
            let computers = self.wait_for_begin(job, order.ranks as usize)?;
            match computers.first() {
                Some(first) if *first != order.at => return Ok((job, *first)),
                _ => self.cancel(order.at, job)?,
            }
        }
        Err(io::Error::other("all jobs run where they are submitted"))
    }

    fn again(&mut self, number: usize) -> io::Result<()> {
        self.bed.start(number)?;
        self.bed.wait_until_ready(Duration::from_secs(30));
        Ok(())
    }

    /// Whether the first node, which came back, still knows a job.
    fn submitter_knows(&mut self, job: u64, row: &str) -> bool {
        let question = json!({ "ask": "job", "job": format!("j{job}") });
        let knows = ask(&self.bed.node(0), &question).is_ok();
        self.rows.push(Row::is(row, &knows, &true));
        knows
    }

    /// Kill -9 of a submitter, a runner, both.
    fn kills(&mut self) -> io::Result<()> {
        // The submitter only: the job goes on, and its user is told when the submitter is back.
        let order = Order {
            works: 4.0,
            ..SINGLE
        };
        let (job, _) = self.elsewhere(order)?;
        self.bed.kill_agent(0);
        std::thread::sleep(Duration::from_secs(2));
        self.again(0)?;
        if self.submitter_knows(
            job,
            "agent of the submitter killed: it knows the job afterwards",
        ) {
            let word = self.wait_for_word(0, job)?;
            let end = self
                .begun(job)?
                .iter()
                .map(|(.., run)| run.last)
                .max()
                .unwrap_or(0);
            let told = seconds(micros().saturating_sub(end));
            self.rows.push(Row::within(
                &format!("the same: its user is told '{word}' after its end"),
                told,
                BAR,
            ));
            self.rows
                .push(Row::is("the same: attempts", &self.begun(job)?.len(), &1));
        }

        // The computer that runs it, for good.
        let (job, runner) = self.elsewhere(SINGLE)?;
        let since = micros();
        self.bed.crash(runner);
        let took = self.wait_until_it_goes_on(0, job, since)?;
        self.rows.push(Row::within(
            "agent and program of the runner killed: runs elsewhere",
            took,
            BAR,
        ));
        self.again(runner)?;
        self.cancel(0, job)?;

        // The same, and it comes back at once.
        let order = Order {
            works: 50.0,
            seconds: 60.0,
            ..SINGLE
        };
        let (job, runner) = self.elsewhere(order)?;
        let since = micros();
        self.bed.crash(runner);
        self.again(runner)?;
        let took = self.wait_until_it_goes_on(0, job, since)?;
        self.rows.push(Row::within(
            "the same, and its agent comes back at once: runs again",
            took,
            BAR,
        ));
        self.cancel(0, job)?;

        // Submitter and runner.
        let order = Order {
            works: 50.0,
            seconds: 60.0,
            again: "never",
            ..SINGLE
        };
        let (job, runner) = self.elsewhere(order)?;
        let since = micros();
        self.bed.crash(runner);
        self.bed.crash(0);
        self.again(0)?;
        self.again(runner)?;
        if self.submitter_knows(
            job,
            "agents and programs of both killed: the submitter knows the job",
        ) {
            let took = self.wait_until_it_goes_on(0, job, since)?;
            self.rows
                .push(Row::within("the same: its user is told", took, BAR));
        }
        Ok(())
    }

    /// An agent that is down for longer than the lease of its job.
    fn lease(&mut self) -> io::Result<()> {
        let (job, runner) = self.elsewhere(SINGLE)?;
        let killed = micros();
        self.bed.kill_agent(runner);
        let took = self.wait_until_it_goes_on(0, job, killed)?;
        let begun = self.begun(job)?;
        let (.., first) = begun.first().cloned().unwrap_or_default();
        let (.., later) = begun.last().cloned().unwrap_or_default();
        let ran_on = seconds(first.last.saturating_sub(killed));
        self.rows.push(Row::within(
            "agent of the runner down: its program ends",
            ran_on,
            BAR,
        ));
        self.rows.push(Row::within(
            "the same: it begins elsewhere",
            took,
            BAR + 1.0,
        ));
        let (last, begins) = (first.last, later.begins);
        let what =
            format!("the same: the first ends before the second begins ({last} and {begins} us)");
        self.rows.push(Row::is(&what, &(last < begins), &true));
        self.again(runner)?;
        let word = self.wait_for_word(0, job)?;
        self.rows
            .push(Row::is("the same: what its user is told", &word, &"done"));
        let ends = self
            .begun(job)?
            .iter()
            .filter(|(.., run)| run.ended)
            .count();
        self.rows
            .push(Row::is("the same: how often it ran to its end", &ends, &1));
        Ok(())
    }

    /// A gang whose ranks are connected, and a partition between them that heals.
    fn partition(&mut self) -> io::Result<()> {
        let order = Order {
            ranks: 2,
            works: 8.0,
            seconds: 30.0,
            again: "never",
            connected: true,
            ..SINGLE
        };
        let job = self.submit(order)?;
        let computers = self.wait_for_begin(job, 2)?;
        std::thread::sleep(Duration::from_secs(1));
        let (one, two) = (computers.first().copied(), computers.last().copied());
        let (one, two) = (one.unwrap_or(0), two.unwrap_or(0));
        let pairs = [(one, two), (two, one)];
        let cut = micros();
        self.bed.hub.cut(&pairs);
        std::thread::sleep(Duration::from_secs_f64(2.5));
        self.bed.hub.heal(&pairs);
        let healed = micros();
        let word = self.wait_for_word(0, job)?;
        let begun = self.begun(job)?;
        let what = format!(
            "ranks cut off from each other for {:.1} s: what their user is told",
            seconds(healed - cut)
        );
        self.rows.push(Row::is(&what, &word, &"done"));
        let ended = begun.iter().filter(|(.., run)| run.ended).count();
        self.rows
            .push(Row::is("the same: ranks that ran to their end", &ended, &2));
        self.rows.push(Row::is(
            "the same: packets were stopped",
            &(self.bed.hub.traffic().blocked > 0),
            &true,
        ));
        Ok(())
    }

    /// Agents are replaced by another build while jobs run.
    fn upgrade(&mut self) -> io::Result<()> {
        let order = Order {
            works: 12.0,
            seconds: 30.0,
            again: "always",
            ..SINGLE
        };
        let mut jobs = Vec::new();
        for at in 0..self.bed.computers.len() {
            jobs.push((at, self.submit(Order { at, ..order })?));
        }
        for (_, job) in &jobs {
            self.wait_for_begin(*job, 1)?;
        }
        for number in 0..self.bed.computers.len() {
            self.bed.stop_agent(number);
            self.bed.upgrade(number);
            self.again(number)?;
        }
        let mut done = 0;
        let mut attempts = 0;
        for (at, job) in &jobs {
            done += usize::from(self.wait_for_word(*at, *job)? == "done");
            attempts += self.begun(*job)?.len();
        }
        self.rows.push(Row::is(
            "agents replaced by another build while jobs run: jobs told done",
            &done,
            &jobs.len(),
        ));
        self.rows
            .push(Row::is("the same: attempts", &attempts, &jobs.len()));
        Ok(())
    }

    fn strangers(&mut self) -> io::Result<()> {
        for kind in KINDS {
            let must = if kind == "garbage" { "sent" } else { "refused" };
            let word = self.bed.visit(kind, 0)()?;
            self.rows.push(Row::is(
                &format!("stranger, certificate: {kind}"),
                &word,
                &must,
            ));
        }
        let order = Order {
            works: 0.1,
            seconds: 5.0,
            ..SINGLE
        };
        let job = self.submit(order)?;
        let word = self.wait_for_word(0, job)?;
        self.rows.push(Row::is("a job afterwards", &word, &"done"));
        Ok(())
    }
}

/// Plays these scenes one after the other, and returns what was seen.
pub(crate) fn play(bed: &mut Bed, scenes: &[String]) -> io::Result<Vec<Row>> {
    for number in 0..bed.computers.len() {
        bed.start(number)?;
    }
    let missing = bed.wait_until_ready(Duration::from_secs(60));
    if !missing.is_empty() {
        return Err(io::Error::other(format!(
            "agents do not find each other: {missing:?}"
        )));
    }
    let mut scene = Scene {
        bed,
        rows: Vec::new(),
    };
    for name in scenes {
        eprintln!("scene: {name}");
        let played = match name.as_str() {
            "kills" => scene.kills(),
            "lease" => scene.lease(),
            "partition" => scene.partition(),
            "upgrade" => scene.upgrade(),
            _ => scene.strangers(),
        };
        if let Err(error) = played {
            let row = Row::is(&format!("scene '{name}'"), &error, &"played");
            scene.rows.push(row);
        }
    }
    let Scene { bed, mut rows } = scene;
    for number in 0..bed.computers.len() {
        let node = bed.computers.get(number).map(|one| one.node.clone());
        for row in bed.rows(number)? {
            bed.note(
                "rows",
                &format!("{} {row}", node.clone().unwrap_or_default()),
            )?;
        }
    }
    let verdict = judge(&bed.folder, Limits::of(true))?;
    for (rule, case) in &verdict.violations {
        eprintln!("VIOLATION: {rule}: {case}");
    }
    rows.push(Row::is(
        "violations that the outside checker saw",
        &verdict.violations.len(),
        &0,
    ));
    Ok(rows)
}

/// Prints what was seen. Whether it is as it must be.
pub(crate) fn tell(rows: &[Row]) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    writeln!(out, "| what | seen | must be | |\n|---|---|---|---|")?;
    for row in rows {
        let word = if row.holds { "holds" } else { "FAILS" };
        writeln!(
            out,
            "| {} | {} | {} | {word} |",
            row.what, row.seen, row.must
        )?;
    }
    let load = std::fs::read_to_string("/proc/loadavg")?;
    writeln!(
        out,
        "note: lease {LEASE} s; the load of the machine was {}",
        load.trim()
    )?;
    Ok(rows.iter().all(|row| row.holds))
}

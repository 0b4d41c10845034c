//! `gridweave run`.

use std::io;
use std::path::PathBuf;

use anyhow::bail;
use gridweave_core::id::JobId;
use gridweave_sim::hosting::{Life, Moment};

use super::Ending;
use super::execute::PlannedRun;
use super::hints::rejected_gangs;
use super::options::Setup;
use super::session::{Session, complain};
use super::table::{Line, draw, draw_organisations};
use crate::config::Config;
use crate::experiment::{Prepared, Results, is_partial, join, prepare};
use crate::report::{Contest, Kind, Page, Track};
use crate::results::{Draft, FolderError, Summary, write_json};
use crate::schedulers::Scheduler;

/// Replays a workload under one scheduler.
pub(super) fn run(
    session: &Session,
    scheduler: Option<Scheduler>,
    explain: Option<u64>,
    setup: &Setup,
) -> anyhow::Result<Ending> {
    let mut config = setup.config()?;
    if let Some(scheduler) = scheduler {
        config.scheduler = scheduler;
    }
    let mut prepared = prepare(&config)?;
    prepared.check()?;
    if let Some(name) = explain {
        prepared.explained = Some(explained(name, &prepared, setup.runs())?);
    }
    let prepared = prepared;
    let draft = session.draft(&setup.out())?;
    let wanted = setup.runs();
    let tasks = setup.seeds(&config).map(|seed| PlannedRun {
        place: place(wanted, seed),
        prepared: prepared.clone(),
        seed,
    });
    let first = config.seed;
    let keep = |prepared: &Prepared, results: Results| {
        let drawn = wanted > 1 && prepared.config.seed - first < MOST_DRAWN;
        let track = drawn.then(|| of_seed(prepared, &results));
        let (summary, life) = (results.summary, results.run.life);
        (summary, track, life)
    };
    let made = session.execute(tasks.collect(), &draft, keep)?;
    let made: Vec<_> = made.into_iter().flatten().collect();
    let summaries: Vec<&Summary> = made.iter().map(|(summary, ..)| summary).collect();
    if summaries.is_empty() {
        session.note("gridweave: stopped before the first run began; nothing is written");
        return Ok(Ending::Interrupted);
    }
    let joined = join(&summaries, wanted)?;
    if wanted > 1 {
        write_config(&draft, &prepared.config)?;
        draft.write("summary.json", |file| write_json(&joined, file))?;
        let mut page = Page::new(
            Kind::Run,
            format!(
                "{} on {}, {wanted} seeds",
                config.scheduler, prepared.workload.name
            ),
            format!("gridweave run --config config.toml --runs {wanted} --out again"),
        );
        page.notes.clone_from(&prepared.notes);
        if u64::from(wanted) > MOST_DRAWN {
            page.notes.push(format!(
                "the first {MOST_DRAWN} of {wanted} seeds are drawn"
            ));
        }
        page.partial = is_partial(&summaries, wanted);
        page.config = prepared.config.to_toml()?;
        let mut contest = Contest::among("seeds", &prepared);
        let tracks = made.iter().filter_map(|(_, track, _)| track.clone());
        contest.tracks = tracks.collect();
        contest.fit_into(0);
        page.contests.push(contest);
        draft.write("report.html", |file| page.write(file))?;
    }
    session.publish(draft)?;

    session.note_workload(&prepared);
    session.hint(rejected_gangs(&prepared));
    note_violations(&summaries);
    session.say(&format!(
        "{}: {} jobs on {} nodes",
        prepared.workload.name,
        prepared.workload.jobs.len(),
        prepared.grid.len()
    ));
    let ending = ending(session, &summaries, wanted);
    let line = Line {
        name: config.scheduler.to_string(),
        summaries,
        ratios: Vec::new(),
        requested: Default::default(),
    };
    let lines = [line];
    session.say(&draw(&lines, None));
    if let Some(table) = draw_organisations(&lines) {
        session.say(&table);
    }
    for life in made.iter().filter_map(|(.., life)| life.as_ref()) {
        session.say(&told(explain.unwrap_or_default(), life));
    }
    session.point_to(&setup.out());
    if ending == Ending::Interrupted {
        session.note("gridweave: stopped early; the results are partial, and say so");
    }
    session.tell(&joined)?;
    Ok(ending)
}

/// The job with this `job_id` in `jobs.csv`.
fn explained(name: u64, prepared: &Prepared, runs: u32) -> anyhow::Result<JobId> {
    let scheduler = prepared.config.scheduler;
    if scheduler.side().is_central() {
        bail!(
            "{scheduler} asks no nodes, so there is nothing to explain; use --scheduler asap, criteria, aria or desktop"
        );
    }
    if runs > 1 {
        bail!("--explain tells the life of a job in one run; leave out --runs");
    }
    // A trace may use a number twice; the first job of that number is meant.
    let mut numbers = prepared.workload.jobs.iter().map(|job| job.number);
    let Some(index) = numbers.clone().position(|number| number == name) else {
        let first = numbers.next().unwrap_or_default();
        bail!("the workload has no job {name}; its first is {first}, and jobs.csv names them all");
    };
    Ok(JobId::new(index as u64))
}

/// The life of a job, as it is printed.
fn told(name: u64, life: &Life) -> String {
    let mut text = format!("The life of job {name}, by the second and the node:");
    let node = |moment: &Moment| moment.node.to_string();
    let widest = life.moments.iter().map(|moment| node(moment).len()).max();
    for moment in &life.moments {
        let seconds = moment.at.as_micros() as f64 / 1e6;
        let (node, widest) = (node(moment), widest.unwrap_or_default());
        text += &format!("\n{seconds:>14.3}  {node:<widest$}  {}", moment.what);
    }
    if life.reasons.iter().len() > 0 {
        text += "\n\nReasons that nodes gave about any job:";
    }
    for (why, count) in life.reasons.iter() {
        text += &format!("\n{count:>14}  {why}");
    }
    text
}

/// The most seeds that are drawn on the same axes.
const MOST_DRAWN: u64 = 10;

/// The drawing of a run under one of several seeds. Jobs may differ between seeds, so it leaves out where they ran.
fn of_seed(prepared: &Prepared, results: &Results) -> Track {
    let seed = prepared.config.seed;
    Track {
        name: format!("seed {seed}"),
        report: Some(format!("seed-{seed}/report.html")),
        places: None,
        ..Track::of(prepared, results)
    }
}

/// The folder of a run's files: one per seed if there are several.
pub(super) fn place(wanted: u32, seed: u64) -> PathBuf {
    if wanted > 1 {
        PathBuf::from(format!("seed-{seed}"))
    } else {
        PathBuf::new()
    }
}

/// Writes the configuration that repeats everything in the folder.
pub(super) fn write_config(draft: &Draft, config: &Config) -> Result<(), FolderError> {
    draft.write("config.toml", |file| {
        let text = config.to_toml().map_err(io::Error::other)?;
        io::Write::write_all(file, text.as_bytes())
    })
}

/// Prints which runs broke an invariant or lost a job.
pub(super) fn note_violations(summaries: &[&Summary]) {
    for summary in summaries {
        if summary.violations > 0 {
            complain(&format!(
                "gridweave: {} with seed {} broke an invariant or lost a job, {} times in all",
                summary.scheduler, summary.seed, summary.violations
            ));
        }
    }
}

/// The exit status for these runs. A run that its configuration ends early counts as done.
pub(super) fn ending(session: &Session, summaries: &[&Summary], wanted: u32) -> Ending {
    if summaries.iter().any(|summary| summary.violations > 0) {
        Ending::Broken
    } else if session.stopped() && is_partial(summaries, wanted) {
        Ending::Interrupted
    } else {
        Ending::Done
    }
}

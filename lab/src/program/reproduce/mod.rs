//! `gridweave reproduce`.

mod files;
mod make;
mod pages;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::bail;
use serde_json::Value;

use self::make::{Plan, Shown};
use super::Ending;
use super::options::Reproduction;
use super::run::{note_violations, write_config};
use super::session::Session;
use super::validate::refuse_stream;
use crate::config::Config;
use crate::reproduce::kept::Kept;
use crate::reproduce::{Options, Reproducible, Size, p1, p2, p3, p4};
use crate::results::{Summary, write_json};

/// The papers, by name.
pub(super) const PAPERS: [&str; 4] = ["p1", "p2", "p3", "p4"];

/// Makes a paper, or all, or looks for stale pages.
pub(super) fn reproduce(
    session: &Session,
    paper: Option<&str>,
    choice: &Reproduction,
) -> anyhow::Result<Ending> {
    match (paper, &choice.stale) {
        (_, Some(folder)) => {
            let papers = PAPERS.into_iter().filter(|name| {
                let wanted = paper.filter(|paper| *paper != "all");
                wanted.is_none_or(|wanted| wanted == *name)
            });
            pages::stale(session, folder, papers, choice)
        }
        (_, None) if choice.records.is_some() => pages::fill(session, choice),
        (Some("all") | None, None) => all(session, choice),
        (Some(name), None) => one(session, name, choice),
    }
}

/// Refuses options that a paper does not use.
fn refuse(given: &[(bool, &str)], why: &str) -> anyhow::Result<()> {
    match given.iter().find(|(given, _)| *given) {
        Some((_, option)) => bail!("{option}: {why}"),
        None => Ok(()),
    }
}

/// Makes the tables and figures of all papers, one after the other, until the user stops it.
fn all(session: &Session, choice: &Reproduction) -> anyhow::Result<Ending> {
    let given = [
        (!choice.only.is_empty(), "--only"),
        (choice.trace.is_some(), "--trace"),
        (choice.nodes.is_some(), "--nodes"),
        (choice.coordinates.is_some(), "--coordinates"),
        (choice.round_trips.is_some(), "--round-trips"),
        (choice.page.is_some(), "--page"),
    ];
    refuse(&given, "is not for all papers; name one, such as p1")?;
    let choices = PAPERS.map(|name| Reproduction {
        out: choice.out.as_ref().map(|out| out.join(name)),
        ..choice.clone()
    });
    // Hours may pass before the last paper, so a folder that cannot be used is reported now.
    for (name, choice) in PAPERS.iter().zip(&choices) {
        drop(session.draft(&out(name, choice)?)?);
    }
    let mut ending = Ending::Done;
    for (name, choice) in PAPERS.iter().zip(&choices) {
        match one(session, name, choice)? {
            Ending::Done => {}
            Ending::Broken => ending = Ending::Broken,
            Ending::Interrupted => return Ok(Ending::Interrupted),
        }
    }
    Ok(ending)
}

/// Makes the tables and figures of the paper of this name.
fn one(session: &Session, name: &str, choice: &Reproduction) -> anyhow::Result<Ending> {
    if let Some(trace) = &choice.trace {
        refuse_stream(trace)?;
    }
    let places = [
        (choice.coordinates.is_some(), "--coordinates"),
        (choice.round_trips.is_some(), "--round-trips"),
    ];
    let jobs = [
        (choice.trace.is_some(), "--trace"),
        (choice.nodes.is_some(), "--nodes"),
    ];
    match name {
        "p1" => refuse(&places, "p1 knows nothing of where nodes are; leave it out")?,
        "p4" => {
            let why = "p4 makes up its own nodes and jobs; leave it out";
            refuse(&[places, jobs].concat(), why)?;
        }
        _ => {}
    }
    let last = choice.seed.saturating_add(u64::from(choice.runs - 1));
    if last > Config::LARGEST_SEED {
        bail!("--runs goes beyond the largest seed; give a smaller --seed");
    }
    let options = options(choice);
    with_paper(name, &options, |paper| {
        made(session, choice, &options, paper)
    })
}

/// The choices that decide what is made.
fn options(choice: &Reproduction) -> Options {
    Options {
        size: match choice.quick {
            true => Size::Quick,
            false => Size::Full,
        },
        trace: choice.trace.clone(),
        nodes: choice.nodes,
        coordinates: choice.coordinates.clone(),
        round_trips: choice.round_trips.clone(),
        seed: choice.seed,
    }
}

/// Calls `then` with the paper of this name.
fn with_paper<R>(
    name: &str,
    options: &Options,
    then: impl FnOnce(&dyn Reproducible) -> anyhow::Result<R>,
) -> anyhow::Result<R> {
    match name {
        "p2" => {
            let setup = p2::Setup::new(options)?;
            then(&p2::PAPER.with(&setup, &setup.base))
        }
        "p3" => {
            let setup = p3::Setup::new(options)?;
            then(&p3::PAPER.with(&setup, &setup.base))
        }
        "p4" => {
            let setup = p4::Setup::new(options)?;
            then(&p4::PAPER.with(&setup, &setup.base))
        }
        _ => {
            let setup = p1::Setup::new(options)?;
            then(&p1::PAPER.with(&setup, &setup.base))
        }
    }
}

/// The title of the paper of this name, and what a reader of its page must know.
fn title_and_about(name: &str) -> (&'static str, &'static str) {
    match name {
        "p2" => (p2::PAPER.title, p2::PAPER.about),
        "p3" => (p3::PAPER.title, p3::PAPER.about),
        "p4" => (p4::PAPER.title, p4::PAPER.about),
        _ => (p1::PAPER.title, p1::PAPER.about),
    }
}

/// The runs that are kept.
fn kept(session: &Session, choice: &Reproduction) -> anyhow::Result<Kept> {
    Ok(Kept::open(&choice.kept, &session.program()?)?)
}

/// Makes the runs of some parts of a paper, and their tables.
fn made(
    session: &Session,
    choice: &Reproduction,
    options: &Options,
    paper: &dyn Reproducible,
) -> anyhow::Result<Ending> {
    let plan = Plan::new(paper, &choice.only)?;
    let page = pages::file(paper.key(), choice)?;
    let (there, earlier) = match &page {
        Some(page) if choice.add => pages::earlier(choice, page, &plan.names())?,
        _ => (0, BTreeMap::new()),
    };
    let missing = &Reproduction {
        seed: choice.seed + u64::from(there),
        runs: choice.runs - there,
        ..choice.clone()
    };
    let tasks = plan.tasks(missing)?;
    let out = out(paper.key(), choice)?;
    let commit = page.as_deref().map(pages::commit).unwrap_or_default();
    let draft = session.draft(&out)?;
    let kept = kept(session, choice)?;
    let interrupted = || {
        session.note(&format!(
            "gridweave: stopped before all runs were made; nothing is written, and the same command goes on from there ({})",
            choice.kept.display()
        ));
        Ok(Ending::Interrupted)
    };
    let Some(made) = plan.make(session, missing, options, &kept, tasks)? else {
        return interrupted();
    };
    let shown = plan.shown(&made, earlier);
    if let Some(page) = &page
        && !pages::write(session, choice, paper, &shown, (page, &commit), &kept)?
    {
        return interrupted();
    }

    let runs = made.runs();
    let report: Value = files::whole(paper, &paper.facts(), choice, &shown, &runs)?;
    let text: Vec<String> = shown.iter().map(Shown::text).collect();
    let text = text.join("\n");
    let browsed = files::page(paper, &shown, &report, choice);
    draft.write("report.html", |file| browsed.write(file))?;
    files::write(&draft, paper.key(), &shown, &text)?;
    files::write_runs(&draft, paper.key(), &runs, choice)?;
    write_config(&draft, paper.base())?;
    draft.write(format!("{}.json", paper.key()), |file| {
        write_json(&report, file)
    })?;
    session.publish(draft)?;

    let summaries: Vec<&Summary> = runs.iter().map(|(_, run)| &run.summary).collect();
    note_violations(&summaries);
    if let Some((_, run)) = runs.first() {
        session.note_workload(&run.prepared);
    }
    session.say(&text);
    session.point_to(&out);
    if let Some(page) = page {
        session.say(&format!("page: {}", page.display()));
    }
    session.tell(&report)?;
    let broken = summaries.iter().any(|summary| summary.violations > 0);
    Ok(if broken { Ending::Broken } else { Ending::Done })
}

/// The folder for the results of a paper; refuses one with results of another paper.
fn out(key: &str, choice: &Reproduction) -> anyhow::Result<PathBuf> {
    let Some(out) = &choice.out else {
        return Ok(PathBuf::from(format!("gridweave-reproduce-{key}")));
    };
    for other in PAPERS {
        if other != key && out.join(format!("{other}.json")).exists() {
            bail!(
                "{}: holds results of {other}; choose another folder with --out",
                out.display()
            );
        }
    }
    Ok(out.clone())
}

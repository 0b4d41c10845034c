//! Pages of results: written from what was made, and looked through for what is stale.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::json;

use super::super::Ending;
use super::super::options::Reproduction;
use super::super::session::Session;
use super::files::command;
use super::make::{Plan, Shown, seeds};
use super::{kept, options, title_and_about, with_paper};
use crate::reproduce::Reproducible;
use crate::reproduce::kept::Kept;
use crate::reproduce::page::{self, Origin, Page, Section};
use crate::reproduce::record::{self, Record};
use crate::reproduce::seeds::BySeed;
use crate::results::DraftFile;

/// The page that a paper is written to, if one was asked for; refuses a file that is no page of results.
pub(super) fn file(key: &str, choice: &Reproduction) -> anyhow::Result<Option<PathBuf>> {
    let file = match (&choice.page, &choice.pages) {
        (Some(file), _) => file.clone(),
        (None, Some(folder)) => folder.join(format!("{key}.md")),
        (None, None) => return Ok(None),
    };
    if file.exists() {
        read(&file, key)?;
    } else if let Some(folder) = file.parent().filter(|folder| !folder.exists())
        && !folder.as_os_str().is_empty()
    {
        bail!(
            "{}: there is no such folder; make it first",
            folder.display()
        );
    }
    Ok(Some(file))
}

/// Reads a page of a paper.
fn read(file: &Path, key: &str) -> anyhow::Result<Page> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    if !text.starts_with(&format!("# {} reproduced\n", key.to_uppercase())) {
        bail!(
            "{}: is not a page of results of {key}; choose another file",
            file.display()
        );
    }
    let page = Page::parse(&text);
    page.map_err(|problem| {
        anyhow::anyhow!(
            "{}: {problem}; delete the file, and make the page anew",
            file.display()
        )
    })
}

/// Writes a file, whole or not at all.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let draft = DraftFile::new(file)?;
    draft.write(|to| to.write_all(text.as_bytes()))?;
    draft.publish()
}

/// A page as it is, empty if there is none.
fn old(file: &Path, key: &str) -> anyhow::Result<Page> {
    match file.exists() {
        true => read(file, key),
        false => Ok(Page::default()),
    }
}

/// The file with the figures of a part under each seed, in the folder beside its page.
fn figures_file(part: &str) -> String {
    format!("{part}-by-seed.csv")
}

/// How many of the chosen seeds these parts of a page have, the first ones, with their figures.
pub(super) fn earlier(
    choice: &Reproduction,
    file: &Path,
    parts: &[&str],
) -> anyhow::Result<(u32, BTreeMap<String, BySeed>)> {
    let mut all = BTreeMap::new();
    let mut known = None;
    for part in parts {
        let file = file.with_extension("").join(figures_file(part));
        let refused = |why: &str| anyhow::anyhow!("--add: {} {why}", file.display());
        let text = fs::read_to_string(&file);
        let text = text.map_err(|_| {
            refused("is not there; make all seeds of this part at once, without --add")
        })?;
        let (first, count, figures) = BySeed::parse(&text, Kept::CODE).map_err(refused)?;
        if first != choice.seed {
            return Err(refused(&format!(
                "begins with seed {first}; give --seed {first}"
            )));
        }
        if count >= choice.runs {
            return Err(refused(&format!(
                "has {count} seeds; give more than --runs {count}"
            )));
        }
        if *known.get_or_insert(count) != count {
            return Err(refused(
                "has fewer or more seeds than another part; name fewer with --only",
            ));
        }
        all.insert((*part).to_owned(), figures);
    }
    Ok((known.unwrap_or(0), all))
}

/// Writes what was made into a page: the sections of these parts are new, all others stay. Whether it was written: it is
/// not after a Ctrl-C.
pub(super) fn write(
    session: &Session,
    choice: &Reproduction,
    paper: &dyn Reproducible,
    shown: &[Shown],
    (file, before): (&Path, &str),
    kept: &Kept,
) -> anyhow::Result<bool> {
    let key = paper.key();
    let made = shown.iter().filter(|part| !part.report.tables.is_empty());
    let names: Vec<String> = made.clone().map(|part| part.name.to_owned()).collect();
    let Some(digests) = quick_digests(session, key, &names, kept)? else {
        return Ok(false);
    };
    // A program that was built before a change is not one of the commit with that change.
    let commit = match commit(file) {
        now if now == before => now,
        _ => "unknown".into(),
    };
    let charts = file.file_stem().unwrap_or_default().to_string_lossy();
    let sections = made.map(|part| {
        // Where files are on this machine is of no use to a reader.
        let named = |file: &Option<PathBuf>| Some(file.as_ref()?.file_name()?.into());
        let only = Reproduction {
            only: vec![part.name.to_owned()],
            trace: named(&choice.trace),
            coordinates: named(&choice.coordinates),
            round_trips: named(&choice.round_trips),
            ..choice.clone()
        };
        let origin = Origin {
            command: command(key, &only),
            commit: commit.clone(),
            code: Kept::CODE.into(),
            seeds: seeds(choice).collect(),
            quick: choice.quick,
        };
        let digest = digests.get(part.name).map_or("none", String::as_str);
        let title = (part.name, part.title);
        Section::new(title, digest.into(), &part.report, &origin, &charts)
    });
    let mut page = old(file, key)?;
    let changed = |old: &&Section| {
        let now = digests.get(old.part.as_str());
        now.is_some_and(|now| *now != old.digest)
    };
    if choice.add
        && let Some(old) = page.sections.iter().find(changed)
    {
        bail!(
            "--add: the tables of {} are made otherwise now; make all its seeds again without --add",
            old.part
        );
    }
    let order: Vec<&str> = paper.parts().iter().map(|(name, _)| *name).collect();
    page.update(sections.collect(), &order);
    let folder = file.with_extension("");
    let charts = page::charts(shown.iter().map(|part| &part.report));
    let mut beside: BTreeMap<String, String> = charts.collect();
    let mut without = Vec::new();
    for part in shown {
        let name = figures_file(part.name);
        match part.by_seed.text(choice.seed, Kept::CODE) {
            Ok(Some(text)) => drop(beside.insert(name, text)),
            Ok(None) => without.push(name),
            Err(problem) => bail!("--add: {name} {problem}"),
        }
    }
    for name in without {
        // If there is one, it is of other seeds.
        let _ = fs::remove_file(folder.join(name));
    }
    for (name, text) in beside {
        fs::create_dir_all(&folder)?;
        replace(&folder.join(name), &text)?;
    }
    replace(file, &page.text(key, paper.title(), paper.about()))?;
    Ok(true)
}

/// Makes the quick runs of these parts, and returns the digest of each; `None` after a Ctrl-C.
fn quick_digests(
    session: &Session,
    key: &str,
    parts: &[String],
    kept: &Kept,
) -> anyhow::Result<Option<BTreeMap<&'static str, String>>> {
    let quick = Reproduction::quick();
    let options = options(&quick);
    with_paper(key, &options, |paper| {
        let all = Plan::new(paper, &[])?;
        // A part that needs a trace has no quick run.
        let mut names: Vec<String> = all.names().into_iter().map(str::to_owned).collect();
        names.retain(|name| parts.contains(name));
        if names.is_empty() {
            return Ok(Some(BTreeMap::new()));
        }
        let plan = Plan::new(paper, &names)?;
        let tasks = plan.tasks(&quick)?;
        let made = plan.make(session, &quick, &options, kept, tasks)?;
        let shown = made.map(|made| plan.shown(&made, BTreeMap::new()));
        Ok(shown.map(|shown| {
            let digests = shown.into_iter().map(|part| (part.name, part.digest));
            digests.collect()
        }))
    })
}

/// Lists the parts whose code has changed since their pages were written, and marks them there. A page that has to be
/// marked first did not tell the truth, which ends the program with an error.
pub(super) fn stale(
    session: &Session,
    folder: &Path,
    papers: impl Iterator<Item = &'static str>,
    choice: &Reproduction,
) -> anyhow::Result<Ending> {
    if !folder.is_dir() {
        bail!("--stale {}: is no folder", folder.display());
    }
    let kept = kept(session, choice)?;
    let (mut told, mut listed, mut unseen, mut looked) = (true, Vec::new(), Vec::new(), 0);
    for key in papers {
        let file = folder.join(format!("{key}.md"));
        if !file.exists() {
            continue;
        }
        let mut page = read(&file, key)?;
        let wanted =
            |part: &str| choice.only.is_empty() || choice.only.iter().any(|only| only == part);
        let sections = page.sections.iter().map(|section| section.part.clone());
        let parts: Vec<String> = sections.filter(|part| wanted(part)).collect();
        let Some(digests) = quick_digests(session, key, &parts, &kept)? else {
            return Ok(Ending::Interrupted);
        };
        for section in &mut page.sections {
            let Some(digest) = digests.get(section.part.as_str()) else {
                if wanted(&section.part) {
                    unseen.push(format!("{key} {}", section.part));
                }
                continue;
            };
            looked += 1;
            let stale = *digest != section.digest;
            told &= !stale || section.is_stale();
            section.mark(stale);
            if stale {
                listed.push(format!("{key} {}", section.part));
            }
        }
        let (title, about) = title_and_about(key);
        replace(&file, &page.text(key, title, about))?;
    }
    session.interrupt.end();
    if looked == 0 {
        bail!(
            "{}: has no part to look at; write a page with --page",
            folder.display()
        );
    }
    for part in &listed {
        session.say(part);
    }
    let advice = match told {
        true => "",
        false => "; they are marked now: keep the page so, or make them again with --page",
    };
    session.note(&format!(
        "gridweave: {} of {looked} parts are stale{advice}",
        listed.len()
    ));
    if !unseen.is_empty() {
        session.note(&format!(
            "gridweave: not looked at: {}; without a trace there is no quick run of it",
            unseen.join(", ")
        ));
    }
    session.tell(&json!({ "stale": listed, "parts": looked, "unseen": unseen }))?;
    Ok(if told { Ending::Done } else { Ending::Broken })
}

/// Puts records into the places of pages.
pub(super) fn fill(session: &Session, choice: &Reproduction) -> anyhow::Result<Ending> {
    let folder = choice.records.as_deref().unwrap_or(Path::new("."));
    let mut records = BTreeMap::new();
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let file = entry?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        if file.extension().is_some_and(|kind| kind == "json") {
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let record = Record::parse(&text).map_err(|problem| {
                anyhow::anyhow!("{}: {problem}; make it anew", file.display())
            })?;
            records.insert(name.into_owned(), record);
        }
    }
    // All pages are read before the first one is written.
    let mut pages = Vec::new();
    for file in &choice.into {
        let old = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let (new, missing) = record::fill(&old, &records);
        for name in missing {
            session.note(&format!(
                "gridweave: {}: there is no record {name}; its place stays as it is",
                file.display()
            ));
        }
        pages.push((file, new));
    }
    for (file, text) in pages {
        replace(file, &text)?;
    }
    Ok(Ending::Done)
}

/// The commit of the code, as far as the repository around a page tells: the last one that changed the program.
pub(super) fn commit(page: &Path) -> String {
    const CODE: [&str; 5] = [":/core", ":/sim", ":/lab", ":/Cargo.toml", ":/Cargo.lock"];
    let folder = page
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let git = |command: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder.unwrap_or(Path::new(".")));
        let output = git.args(command).arg("--").args(CODE).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["log", "-1", "--abbrev=7", "--format=%h"]);
    let Some(commit) = commit.filter(|commit| !commit.is_empty()) else {
        return "unknown".into();
    };
    match git(&["status", "--porcelain"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with changes"),
    }
}

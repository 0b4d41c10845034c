//! `gridweave trace`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::Ending;
use super::interrupt::Unfinished;
use super::options::Cut;
use super::session::Session;
use crate::config::Config;
use crate::experiment::prepare;
use crate::results::DraftFile;
use crate::workload::{Info, Kept, Origin, Workload, read, write};

/// Prints what is in a trace.
pub(super) fn info(session: &Session, file: &Path, nodes: Option<u32>) -> anyhow::Result<Ending> {
    let trace = read(file, Origin::FirstJob)?;
    let info = Info::of(&trace, nodes.or(trace.header.max_procs()));
    session.say(info.to_string().trim_end());
    session.tell(&serde_json::to_value(&info)?)?;
    Ok(Ending::Done)
}

/// Writes a trace as SWF.
pub(super) fn convert(
    session: &Session,
    file: &Path,
    to: &Path,
    cut: &Cut,
) -> anyhow::Result<Ending> {
    let mut trace = read(file, Origin::FirstJob)?;
    let named = || file.display().to_string();
    let transform = cut
        .transform(trace.header.max_procs())
        .with_context(named)?;
    let workload = std::mem::take(&mut trace.workload);
    let transformed = transform.apply(workload).with_context(named)?;
    let ending = save(
        session,
        &transformed.workload,
        &trace.kept_after(&transform),
        to,
    )?;
    if trace.skipped.total() > 0 {
        let is_cut = transform.window.is_some() || transform.first.is_some();
        let whole = if is_cut { ", the whole file" } else { "" };
        session.note(&format!("{}{whole}: {}", file.display(), trace.skipped));
    }
    Ok(ending)
}

/// Generates a workload and writes it as SWF.
pub(super) fn generate(
    session: &Session,
    name: &str,
    to: &Path,
    seed: u64,
    set: &[String],
) -> anyhow::Result<Ending> {
    let mut config = Config::default().with(&format!("workload.source={name}"))?;
    let source = config.workload.source;
    config.seed = seed;
    for setting in set {
        config = config
            .with(setting)
            .with_context(|| format!("--set {setting}"))?;
    }
    if config.workload.source != source {
        bail!("--set workload.source asks for something other than {name}; leave it out");
    }
    let prepared = prepare(&config)?;
    let kept = Kept {
        header: None,
        unix_start: None,
        max_procs: u32::try_from(prepared.grid.capacity()).ok(),
    };
    save(session, &prepared.workload, &kept, to)
}

fn save(
    session: &Session,
    workload: &Workload,
    kept: &Kept<'_>,
    to: &Path,
) -> anyhow::Result<Ending> {
    if to.exists() {
        bail!("{}: exists; remove it or choose another name", to.display());
    }
    // An immediate end would leave a half-written file behind.
    session.interrupt.begin();
    put(session, workload, kept, to).map_err(|error| unwritten(to, &error))?;
    session.interrupt.end();
    if !(workload.requirements.is_empty() && workload.deadlines.is_empty()) {
        session.note("SWF has no place for requirements and deadlines; they are left out");
    }
    session.note(&format!("{}: {} jobs", to.display(), workload.jobs.len()));
    session.tell(&json!({ "file": to.display().to_string(), "jobs": workload.jobs.len() }))?;
    Ok(if session.stopped() {
        Ending::Interrupted
    } else {
        Ending::Done
    })
}

/// The error that a file could not be written.
fn unwritten(file: &Path, error: &io::Error) -> anyhow::Error {
    let file = file.display();
    anyhow::anyhow!("{file}: cannot be written ({error}); check its folder")
}

/// Writes the file, whole or not at all.
fn put(session: &Session, workload: &Workload, kept: &Kept<'_>, to: &Path) -> io::Result<()> {
    let unfinished = |draft: &DraftFile| Unfinished::draft(draft.path(), &[]);
    let draft = session.interrupt.draft(|| DraftFile::new(to), unfinished)?;
    draft.write(|file| fill(workload, kept, file, to))?;
    let path = draft.path().to_owned();
    session.interrupt.finish(&path, || draft.publish())
}

fn fill(workload: &Workload, kept: &Kept<'_>, file: impl Write, to: &Path) -> io::Result<()> {
    if to.extension().is_some_and(|extension| extension == "gz") {
        let mut gzip = GzEncoder::new(file, Compression::default());
        write(workload, kept, &mut gzip)?;
        gzip.finish()?;
        return Ok(());
    }
    write(workload, kept, file)
}

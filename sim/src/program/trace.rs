//! `gridweave trace`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use super::Ending;
use super::options::Cut;
use super::session::Session;
use crate::config::Config;
use crate::experiment::prepare;
use crate::workload::{Info, Kept, Origin, Workload, read, write};

/// Says what is in a trace.
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
        session.note(&format!("{}: {}", file.display(), trace.skipped));
    }
    Ok(ending)
}

/// Makes up a workload and writes it as SWF.
pub(super) fn generate(
    session: &Session,
    name: &str,
    to: &Path,
    seed: u64,
    set: &[String],
) -> anyhow::Result<Ending> {
    let mut config = Config::default().with(&format!("workload.source={name}"))?;
    config.seed = seed;
    for setting in set {
        config = config
            .with(setting)
            .with_context(|| format!("--set {setting}"))?;
    }
    let prepared = prepare(&config)?;
    let kept = Kept {
        header: None,
        unix_start: None,
        max_procs: u32::try_from(prepared.facts().capacity()).ok(),
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
    let unwritable = || format!("{}: cannot be written; check the folder", to.display());
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let file = NamedTempFile::new_in(parent.unwrap_or(Path::new("."))).with_context(unwritable)?;
    fill(workload, kept, file.as_file(), to).with_context(unwritable)?;
    // It is private to this user until now; the finished file is like any other.
    let file = file.persist(to).map_err(|error| error.error);
    file.and_then(|file| share(&file))
        .with_context(unwritable)?;
    if !(workload.requirements.is_empty() && workload.deadlines.is_empty()) {
        session.note("SWF has no place for requirements and deadlines; they are left out");
    }
    session.note(&format!("{}: {} jobs", to.display(), workload.jobs.len()));
    Ok(Ending::Done)
}

fn fill(workload: &Workload, kept: &Kept<'_>, file: &File, to: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    if to.extension().is_some_and(|extension| extension == "gz") {
        let mut gzip = GzEncoder::new(&mut file, Compression::default());
        write(workload, kept, &mut gzip)?;
        gzip.finish()?;
    } else {
        write(workload, kept, &mut file)?;
    }
    file.flush()
}

#[cfg(unix)]
fn share(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn share(_: &File) -> io::Result<()> {
    Ok(())
}

//! Makes runs, and writes the results of each.

use std::path::{Path, PathBuf};

use super::progress::{Goal, Watched};
use super::session::Session;
use crate::experiment::{Prepared, Results};
use crate::report::Page;
use crate::results::Draft;

/// A planned run, and where its files go in the draft.
pub(super) struct PlannedRun {
    pub(super) place: PathBuf,
    /// Its seed does not count.
    pub(super) prepared: Prepared,
    pub(super) seed: u64,
}

/// Writes the report of one run beside its other files.
pub(super) fn write_report(
    prepared: &Prepared,
    results: &Results,
    draft: &Draft,
    place: &Path,
) -> anyhow::Result<()> {
    let page = Page::of_run(prepared, results)?;
    draft.write(place.join("report.html"), |file| page.write(file))?;
    Ok(())
}

/// Writes the files of one run into a folder, as `gridweave run --out` does.
pub fn write_run(prepared: &Prepared, results: &Results, folder: &Path) -> anyhow::Result<()> {
    let draft = Draft::new(folder)?;
    results.write(prepared, &draft, Path::new(""))?;
    write_report(prepared, results, &draft, Path::new(""))?;
    Ok(draft.publish()?)
}

impl Session {
    /// Makes runs on all cores, writes the files of each, and keeps what `keep` returns; `None` for runs that a Ctrl-C
    /// kept from beginning. From here to [`Session::publish`], the first Ctrl-C does not end the program at once.
    pub(super) fn execute<K: Send>(
        &self,
        tasks: Vec<PlannedRun>,
        draft: &Draft,
        keep: impl Fn(&Prepared, Results) -> K + Sync,
    ) -> anyhow::Result<Vec<Option<K>>> {
        self.interrupt.begin();
        let jobs = tasks
            .iter()
            .map(|task| task.prepared.workload.jobs.len() as u64);
        let watched = Watched::new(self, tasks.len(), Goal::Jobs(jobs.sum()));
        let made = watched.each(tasks, |task, monitor| {
            if self.stopped() {
                return Ok(None);
            }
            let prepared = task.prepared.seeded(task.seed)?;
            let results = prepared.execute(monitor)?;
            results.write(&prepared, draft, &task.place)?;
            write_report(&prepared, &results, draft, &task.place)?;
            Ok(Some(keep(&prepared, results)))
        });
        made.into_iter().collect()
    }
}

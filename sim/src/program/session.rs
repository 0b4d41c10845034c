//! What all commands share: how to speak, and when to stop.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::options::Output;
use super::progress::Watched;
use crate::experiment::{Prepared, Results};
use crate::monitor::Monitor;
use crate::results::Draft;

/// One use of the program.
pub(super) struct Session {
    json: bool,
    quiet: bool,
    progress: bool,
    stop: Arc<AtomicBool>,
}

/// Standard output; that nobody listens any more is no error of ours.
pub(super) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match io::stdout().write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match io::stdout().flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// One run to be made, and where its files go in the draft.
pub(super) struct Task {
    pub(super) place: PathBuf,
    pub(super) prepared: Prepared,
}

impl Session {
    pub(super) fn new(output: &Output) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        // Without a handler, Ctrl-C ends the program at once, and nothing is left behind but a hidden folder.
        let _ = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            eprintln!("gridweave: stopping; press Ctrl-C again to leave at once, without results");
        });
        let terminal = io::stdout().is_terminal() && io::stderr().is_terminal();
        Self {
            json: output.json,
            quiet: output.quiet,
            progress: terminal && !output.no_progress && !output.quiet,
            stop,
        }
    }

    /// Whether someone pressed Ctrl-C.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A monitor that stops when the program should.
    pub(super) fn monitor(&self) -> Monitor {
        Monitor::sharing(Arc::clone(&self.stop))
    }

    pub(super) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Says something that is not a result.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// Says what people want to read, unless a program listens.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            let _ = writeln!(Stdout, "{text}");
        }
    }

    /// Says what programs want to read, if one listens.
    pub(super) fn tell(&self, value: &Value) -> anyhow::Result<()> {
        if self.json {
            serde_json::to_writer_pretty(Stdout, value)?;
            writeln!(Stdout)?;
        }
        Ok(())
    }

    /// Makes runs on all cores and writes the files of each. Those that had not begun when someone pressed Ctrl-C are
    /// missing.
    pub(super) fn execute(
        &self,
        tasks: Vec<Task>,
        draft: &Draft,
    ) -> anyhow::Result<Vec<Option<Results>>> {
        let jobs = tasks
            .iter()
            .map(|task| task.prepared.workload.jobs.len() as u64);
        let watched = Watched::new(self, tasks.len(), jobs.sum());
        let made = watched.each(tasks, |task, monitor| {
            if self.stopped() {
                return Ok(None);
            }
            let results = task.prepared.execute(monitor)?;
            results.write(&task.prepared, draft, &task.place)?;
            Ok(Some(results))
        });
        made.into_iter().collect()
    }

    /// Says what there is to know about a workload. Only after everything went well: an error is a single line.
    pub(super) fn note_workload(&self, prepared: &Prepared) {
        for note in &prepared.notes {
            self.note(note);
        }
    }

    /// Says where results are.
    pub(super) fn point_to(&self, folder: &Path) {
        self.say(&format!("\nresults: {}", folder.display()));
        if self.stopped() {
            self.note("gridweave: stopped early; the results are partial, and say so");
        }
    }
}

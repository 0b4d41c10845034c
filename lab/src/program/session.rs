//! What all commands share: how to print, and when to stop.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::interrupt::{Interrupt, Unfinished};
use super::options::Output;
use super::plain::{one_line, printable};
use crate::experiment::Prepared;
use crate::results::Draft;
use gridweave_sim::monitor::Monitor;

/// A program that calls a command of this one.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Stops the command, as the first Ctrl-C does.
    pub stop: Arc<AtomicBool>,
    /// Is told how far all runs of the command are together.
    pub progress: Arc<Monitor>,
    /// The file with the code of this library: runs that another file made are not taken for runs of this one.
    pub program: PathBuf,
}

/// One call of the program.
pub(super) struct Session {
    /// The program that called the command, if it is not the command line.
    pub(super) caller: Option<Caller>,
    /// What the caller is told.
    told: Mutex<Option<Value>>,
    json: bool,
    quiet: bool,
    progress: bool,
    /// The first error of standard output.
    lost: Mutex<Option<io::Error>>,
    pub(super) interrupt: Interrupt,
}

/// Standard output. If its reader is gone, that is no error.
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

/// Prints one line on standard error. If that fails, there is no other way to report it.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(text));
}

/// A word, quoted for a shell if needed.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-+.,_/=:%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    let inside = word.replace('\'', "'\\''");
    format!("'{inside}'")
}

impl Session {
    pub(super) fn new(output: &Output) -> Self {
        let terminal = io::stdout().is_terminal() && io::stderr().is_terminal();
        Self {
            caller: None,
            told: Mutex::default(),
            json: output.json,
            quiet: output.quiet,
            progress: terminal && !output.no_progress && !output.quiet,
            lost: Mutex::default(),
            interrupt: Interrupt::listen(),
        }
    }

    /// A session that prints nothing.
    pub(super) fn called_by(caller: Caller) -> Self {
        Self {
            told: Mutex::default(),
            json: true,
            quiet: true,
            progress: false,
            lost: Mutex::default(),
            interrupt: Interrupt::asked_by(Arc::clone(&caller.stop)),
            caller: Some(caller),
        }
    }

    /// What the caller is told, once.
    pub(super) fn told(&self) -> Option<Value> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.take()
    }

    /// The file with the code that makes runs.
    pub(super) fn program(&self) -> io::Result<PathBuf> {
        match &self.caller {
            Some(caller) => Ok(caller.program.clone()),
            None => std::env::current_exe(),
        }
    }

    /// Whether the user pressed Ctrl-C.
    pub(super) fn stopped(&self) -> bool {
        self.interrupt.asked()
    }

    /// A monitor that stops when the user presses Ctrl-C.
    pub(super) fn monitor(&self) -> Monitor {
        Monitor::sharing(self.interrupt.flag())
    }

    pub(super) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Prints a note on standard error, unless `--quiet` is given.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            complain(text);
        }
    }

    /// Prints text for people, unless `--json` or `--quiet` is given.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            self.print(&printable(text));
        }
    }

    /// Writes to standard output; an error is reported at the end of the program.
    fn print(&self, text: &str) {
        let written = writeln!(Stdout, "{text}").and_then(|()| Stdout.flush());
        if let Err(error) = written {
            let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert(error);
        }
    }

    /// The first error of standard output, if any.
    pub(super) fn lost(&self) -> Option<io::Error> {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.take()
    }

    /// Prints JSON for programs, if `--json` is given, or tells it to the caller.
    pub(super) fn tell(&self, value: &Value) -> anyhow::Result<()> {
        if self.caller.is_some() {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            *told = Some(value.clone());
        } else if self.json {
            let text = serde_json::to_string_pretty(value)?;
            self.print(&text);
        }
        Ok(())
    }

    /// Begins a folder of results.
    pub(super) fn draft(&self, folder: &Path) -> anyhow::Result<Draft> {
        let unfinished = |draft: &Draft| Unfinished::draft(draft.path(), draft.around());
        Ok(self.interrupt.draft(|| Draft::new(folder), unfinished)?)
    }

    /// Publishes a folder of results.
    pub(super) fn put_in_place(&self, draft: Draft) -> anyhow::Result<()> {
        let path = draft.path().to_owned();
        Ok(self.interrupt.finish(&path, || draft.publish())?)
    }

    /// Publishes results. All output comes later, so that a failure to print does not lose them.
    pub(super) fn publish(&self, draft: Draft) -> anyhow::Result<()> {
        self.put_in_place(draft)?;
        self.interrupt.end();
        Ok(())
    }

    /// Prints the notes on a workload. Only after success: an error is a single line.
    pub(super) fn note_workload(&self, prepared: &Prepared) {
        for note in &prepared.notes {
            self.note(note);
        }
    }

    /// Prints a hint about results that may surprise, if there is one.
    pub(super) fn hint(&self, hint: Option<String>) {
        if let Some(hint) = hint {
            self.note(&format!("gridweave: {hint}"));
        }
    }

    /// Prints where the results are.
    pub(super) fn point_to(&self, folder: &Path) {
        self.say(&format!("\nresults: {}", folder.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_not_take_it_as_it_is() {
        assert_eq!(quoted("runs/a-1.toml"), "runs/a-1.toml");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}

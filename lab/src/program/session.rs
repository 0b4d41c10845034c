//! What all commands share: how to speak, and when to stop.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::interrupt::{Interrupt, Unfinished};
use super::options::Output;
use super::plain::{one_line, printable};
use crate::experiment::Prepared;
use crate::results::Draft;
use gridweave_sim::monitor::Monitor;

/// One use of the program.
pub(super) struct Session {
    json: bool,
    quiet: bool,
    progress: bool,
    /// Why standard output did not take something.
    lost: Mutex<Option<io::Error>>,
    pub(super) interrupt: Interrupt,
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

/// Says something on standard error, in one line; if nobody can hear it, there is nobody to tell.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(text));
}

/// A word as a shell takes it.
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
            json: output.json,
            quiet: output.quiet,
            progress: terminal && !output.no_progress && !output.quiet,
            lost: Mutex::default(),
            interrupt: Interrupt::listen(),
        }
    }

    /// Whether someone pressed Ctrl-C.
    pub(super) fn stopped(&self) -> bool {
        self.interrupt.asked()
    }

    /// A monitor that stops when the program should.
    pub(super) fn monitor(&self) -> Monitor {
        Monitor::sharing(self.interrupt.flag())
    }

    pub(super) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Says something that is not a result.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            complain(text);
        }
    }

    /// Says what people want to read, unless a program listens.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            self.print(&printable(text));
        }
    }

    /// Writes to standard output; what cannot be written is told at the end.
    fn print(&self, text: &str) {
        let written = writeln!(Stdout, "{text}").and_then(|()| Stdout.flush());
        if let Err(error) = written {
            let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert(error);
        }
    }

    /// Why something that was asked for could not be said, if so.
    pub(super) fn lost(&self) -> Option<io::Error> {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.take()
    }

    /// Says what programs want to read, if one listens.
    pub(super) fn tell(&self, value: &Value) -> anyhow::Result<()> {
        if self.json {
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

    /// Puts a folder of results in its place.
    pub(super) fn put_in_place(&self, draft: Draft) -> anyhow::Result<()> {
        let path = draft.path().to_owned();
        Ok(self.interrupt.finish(&path, || draft.publish())?)
    }

    /// Puts results in their place. Whatever is said about them comes later: that nobody listens must not lose them.
    pub(super) fn publish(&self, draft: Draft) -> anyhow::Result<()> {
        self.put_in_place(draft)?;
        self.interrupt.end();
        Ok(())
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

//! What the tests of the program have in common: a folder to work in.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Stdio;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder to work in, and the program in it.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gridweave"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .expect("the program runs")
    }

    /// Begins it, to be asked to end.
    #[cfg(unix)]
    pub(crate) fn begin(&self, arguments: &[&str]) -> std::process::Child {
        Command::new(env!("CARGO_BIN_EXE_gridweave"))
            .args(arguments)
            .current_dir(self.0.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs")
    }

    /// Waits until there is something that was not there before.
    #[cfg(unix)]
    pub(crate) fn await_more_than(&self, entries: usize) {
        for _ in 0..600 {
            if self.list().len() > entries {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    /// Runs it and expects it to succeed; returns what it printed.
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).expect("output is text")
    }

    /// Runs it and expects it to refuse: exit status 2, one line on stderr, nothing on stdout, nothing left behind.
    pub(crate) fn bad(&self, arguments: &[&str]) -> String {
        let before = self.list();
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).expect("errors are text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(self.list(), before, "{arguments:?} left something behind");
        errors
    }

    /// Everything in the folder, by path.
    pub(crate) fn list(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the folder is readable") {
                let path = entry.expect("the entry is readable").path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> String {
        fs::write(self.path(name), content).expect("the file can be written");
        name.into()
    }
}

pub(crate) fn summary(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.join("summary.json")).expect("there is a summary");
    serde_json::from_str(&text).expect("the summary is JSON")
}

#[cfg(unix)]
pub(crate) fn send(signal: &str, child: &std::process::Child) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(sent.success());
}

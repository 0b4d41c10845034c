//! A folder to work in, for the tests of the program.

use std::fs;
use std::path::PathBuf;
#[cfg(unix)]
use std::process::{Child, Stdio};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which the program runs.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    /// A folder with a trace of a hundred jobs on 16 processors in `log.swf`.
    pub(crate) fn with_trace() -> Self {
        let desk = Self::new();
        desk.write("log.swf", trace());
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program with these arguments, separated by spaces.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridweave"));
        command.args(line.split(' ')).current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).output().expect("the program runs")
    }

    /// Starts the program in the background.
    #[cfg(unix)]
    pub(crate) fn begin(&self, line: &str) -> Child {
        let mut command = self.command(line);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the program runs")
    }

    /// Waits until the folder has more than so many entries.
    #[cfg(unix)]
    pub(crate) fn await_more_than(&self, entries: usize) {
        for _ in 0..600 {
            if self.list().len() > entries {
                return;
            }
            pause(50);
        }
    }

    /// Runs the program, asserts that it succeeds, and returns what it printed.
    pub(crate) fn good(&self, line: &str) -> String {
        let output = self.run(line);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{line}: {errors}");
        String::from_utf8(output.stdout).expect("output is text")
    }

    /// Runs the program and asserts that it refuses: status 2, one line on stderr, nothing on stdout, no new file.
    pub(crate) fn bad(&self, line: &str) -> String {
        let before = self.list();
        let output = self.run(line);
        let errors = String::from_utf8(output.stderr).expect("errors are text");
        assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{line}: {errors}");
        assert!(output.stdout.is_empty(), "{line}");
        assert_eq!(self.list(), before, "{line} left something behind");
        errors
    }

    /// All entries of the folder, by path.
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

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).expect("the file can be written");
        name.into()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file can be read")
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        json(&self.read(name))
    }

    pub(crate) fn make_folder(&self, name: &str) {
        fs::create_dir_all(self.path(name)).expect("a folder can be made");
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("it is there");
    }

    /// The summary of the results in a folder.
    pub(crate) fn summary(&self, folder: &str) -> Value {
        self.json(&format!("{folder}/summary.json"))
    }
}

/// A trace of a hundred jobs on 16 processors.
pub(crate) fn trace() -> String {
    let mut text = String::from("; MaxProcs: 16\n; Acknowledge: Nobody\n");
    for job in 0..100 {
        let (submit, run, processors) = (job * 60, 100 + job * 7 % 500, 1 + job * 5 % 16);
        let requested = run + 100 - job % 3 * 80;
        text += &format!(
            "{job} {submit} -1 {run} {processors} -1 -1 -1 {requested} -1 1 3 1 -1 -1 -1 -1 -1\n"
        );
    }
    text
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[cfg(unix)]
pub(crate) fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(sent.success());
}

#[cfg(unix)]
pub(crate) fn pause(millis: u64) {
    std::thread::sleep(std::time::Duration::from_millis(millis));
}

/// Waits for an interrupted program, and asserts its exit status.
#[cfg(unix)]
pub(crate) fn await_interrupted(child: &mut Child) {
    let status = child.wait().expect("the program ends");
    assert_eq!(status.code(), Some(130));
}

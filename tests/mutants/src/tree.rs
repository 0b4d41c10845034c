//! A copy of the project with mutants in its core, and the test programs that cargo builds from it.
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::instrument::{Instrumented, instrument};
use crate::list::{self, Mutant};

/// Where the core's sources are.
const CORE: &str = "core/src/";
/// Test programs that are left out: they need other builds.
const NOT_TRIED: [&str; 2] = ["canaries", "ledger_loom"];

pub struct Tree {
    folder: PathBuf,
    target: PathBuf,
    /// The core's files that can have mutants: path below `core/src`, and source.
    sources: Vec<(String, String)>,
}

/// A test program, and the folder in which it runs.
pub struct Program {
    pub name: String,
    pub path: PathBuf,
    pub folder: PathBuf,
}

impl Tree {
    /// Copies the project in the current folder to `tree` below `out`.
    pub fn copy(out: &Path) -> Result<Self> {
        let mut tree = Self {
            folder: out.join("tree"),
            target: out.join("target"),
            sources: Vec::new(),
        };
        let listed = Command::new("git")
            .args(["ls-files", "-co", "--exclude-standard"])
            .output()?;
        ensure!(
            listed.status.success(),
            "git ls-files: {}",
            String::from_utf8_lossy(&listed.stderr)
        );
        for path in String::from_utf8(listed.stdout)?.lines() {
            match path.strip_prefix(CORE) {
                Some(file) if is_mutated(file) => tree
                    .sources
                    .push((file.to_owned(), fs::read_to_string(path)?)),
                _ if Path::new(path).is_file() => write(&tree.folder.join(path), &fs::read(path)?)?,
                _ => {}
            }
        }
        tree.sources.sort();
        write(
            &tree.folder.join(CORE).join("mutants.rs"),
            include_bytes!("switch.rs"),
        )?;
        Ok(tree)
    }

    /// Every mutant of the core, in order of file and position.
    pub fn mutants(&self) -> Result<Vec<Mutant>> {
        let mut all = Vec::new();
        for (file, source) in &self.sources {
            all.extend(list::mutants(file, source).with_context(|| file.clone())?);
        }
        Ok(all)
    }

    fn instrument(&self, mutants: &[(usize, &Mutant)]) -> Result<Vec<(&str, Instrumented)>> {
        let mut files = Vec::new();
        for (file, source) in &self.sources {
            let own: Vec<_> = mutants
                .iter()
                .copied()
                .filter(|(_, mutant)| mutant.file == *file)
                .collect();
            let mut with = instrument(source, &own);
            if file == "lib.rs" {
                with.text = with.text.replace("#![no_std]", "#![no_std]\n#![feature(core_intrinsics, const_eval_select)]\n#![allow(internal_features)]");
                with.text += "\n#[allow(missing_docs)]\npub mod mutants;\n";
            }
            write(&self.folder.join(CORE).join(file), with.text.as_bytes())?;
            files.push((file.as_str(), with));
        }
        Ok(files)
    }

    /// Writes exactly these mutants into the core. Returns the numbers of mutants that do not compile.
    pub fn check(&self, mutants: &[(usize, &Mutant)]) -> Result<BTreeSet<usize>> {
        let files = self.instrument(mutants)?;
        let messages = self.cargo(&["check", "-p", "gridweave-core", "--features", "wire"])?;
        let errors = messages.iter().map(|message| &message["message"]);
        let errors: Vec<_> = errors
            .filter(|message| message["level"] == "error")
            .collect();
        let bad: BTreeSet<_> = errors
            .iter()
            .flat_map(|error| blamed(error, &files))
            .collect();
        if let Some(error) = errors.first().filter(|_| bad.is_empty()) {
            bail!(
                "an error of no mutant: {}",
                error["rendered"].as_str().unwrap_or_default()
            );
        }
        Ok(bad)
    }

    /// Builds the core's unit tests, its other tests and the suites, with the mutants in the core.
    pub fn build(&self) -> Result<Vec<Program>> {
        let mut arguments = vec![
            "test",
            "--no-run",
            "-p",
            "gridweave-core",
            "-p",
            "gridweave-tests",
            "--features",
            "gridweave-core/wire",
            "--lib",
        ];
        let mut tests = BTreeSet::new();
        for folder in ["core/tests", "tests/tests"] {
            for entry in fs::read_dir(folder)? {
                let name = entry?
                    .path()
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                tests.extend((!NOT_TRIED.contains(&name.as_str())).then_some(name));
            }
        }
        arguments.extend(tests.iter().flat_map(|test| ["--test", test]));
        let mut programs = Vec::new();
        for message in self.cargo(&arguments)? {
            if let Some(error) = message["message"]["rendered"]
                .as_str()
                .filter(|_| message["message"]["level"] == "error")
            {
                bail!("{error}");
            }
            if let Some(path) = message["executable"]
                .as_str()
                .filter(|_| message["profile"]["test"] == true)
            {
                let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
                programs.push(Program {
                    name: message["target"]["name"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                    path: path.into(),
                    folder: manifest.parent().unwrap_or(manifest).to_owned(),
                });
            }
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(programs)
    }

    /// Runs cargo and returns its messages.
    fn cargo(&self, arguments: &[&str]) -> Result<Vec<Value>> {
        let said = Command::new("cargo")
            .args(arguments)
            .args(["--quiet", "--message-format=json"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            // Needed for `const_eval_select`, by which a `const fn` asks whether a mutant is on.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .stderr(Stdio::inherit())
            .output()?;
        Ok(String::from_utf8(said.stdout)?
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }
}

/// The mutants that cause an error: those at its first span that lies in a mutant.
fn blamed(error: &Value, files: &[(&str, Instrumented)]) -> Vec<usize> {
    let none = Vec::new();
    let own = error["spans"].as_array().unwrap_or(&none).iter();
    let notes = error["children"]
        .as_array()
        .unwrap_or(&none)
        .iter()
        .flat_map(|child| child["spans"].as_array().unwrap_or(&none));
    let (first, second): (Vec<_>, Vec<_>) = own
        .chain(notes)
        .partition(|span| span["is_primary"] == true);
    let found = first.into_iter().chain(second).find_map(|span| {
        let file = span["file_name"].as_str()?.strip_prefix(CORE)?;
        let (_, with) = files.iter().find(|(name, _)| *name == file)?;
        let blamed = with.blamed(usize::try_from(span["byte_start"].as_u64()?).ok()?);
        (!blamed.is_empty()).then(|| blamed.to_vec())
    });
    found.unwrap_or_default()
}

fn is_mutated(file: &str) -> bool {
    file.ends_with(".rs")
        && !file.ends_with("tests.rs")
        && !file.contains("tests/")
        && file != "canary.rs"
}

/// Writes a file, unless it has this content already: then cargo need not build it again.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().context("no folder")?)?;
    fs::write(path, content).with_context(|| path.display().to_string())
}

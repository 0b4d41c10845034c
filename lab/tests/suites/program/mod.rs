//! The program as a user meets it, by subject.

mod bad_input;
mod compare;
mod configuration;
mod help;
#[cfg(unix)]
mod interrupt;
mod output;
mod run;
mod torture;
mod traces;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;

use crate::desk::Desk;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// The names of all entries of a folder.
fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("the entry is readable").file_name());
    let mut names: Vec<OsString> = names.collect();
    names.sort();
    names
}

/// Asserts that two folders have the same files, except `engine.json`.
fn same_files(one: &Path, other: &Path) {
    let names = (names(one), names(other));
    assert!(!names.0.is_empty());
    assert_eq!(names.0, names.1);
    for name in names.0 {
        let (one, other) = (one.join(&name), other.join(&name));
        if one.is_dir() {
            same_files(&one, &other);
        } else if name != "engine.json" {
            assert!(
                fs::read(&one).ok() == fs::read(&other).ok(),
                "{name:?} differs"
            );
        }
    }
}

/// What the program prints on standard error, if it succeeds.
fn hints(desk: &Desk, line: &str) -> String {
    let output = desk.run(line);
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(output.status.code(), Some(0), "{line}: {errors}");
    errors
}

/// One job of one node and two of several, the last of them a day after the others. A fourth one cannot run.
const GANGS: &str = "; MaxProcs: 4\n\
    1 0 -1 60 1 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n\
    2 5 -1 60 2 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n\
    3 86400 -1 60 3 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n\
    4 86401 -1 0 3 -1 -1 -1 90 -1 1 3 1 -1 -1 2 -1 -1\n";

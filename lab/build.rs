//! Names the code that decides runs, so that finished runs outlive changes of tables and pages.

use std::fs;
use std::path::{Path, PathBuf};

/// What decides a run, and how it is kept: all but what plans runs, shows them, or tortures.
const DECIDES: [&str; 6] = [
    "../Cargo.lock",
    "../core/src",
    "../sim/src",
    "src",
    "src/reproduce/kept.rs",
    "data",
];
const SHOWS: [&str; 5] = [
    "src/reproduce",
    "src/report",
    "src/program",
    "src/torture",
    "src/main.rs",
];

fn main() {
    // A crate from a registry has no workspace around it. Then the program itself names the code.
    let is_whole = DECIDES.iter().all(|path| Path::new(path).exists());
    let mut files = Vec::new();
    for path in DECIDES.iter().filter(|_| is_whole) {
        println!("cargo::rerun-if-changed={path}");
        collect(Path::new(path), &mut files);
    }
    println!("cargo::rerun-if-changed=build.rs");
    files.sort();
    let digest = match is_whole {
        true => digest(&files),
        false => String::new(),
    };
    println!("cargo::rustc-env=GRIDWEAVE_SOURCES={digest}");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if SHOWS.iter().any(|shows| path == Path::new(shows)) {
        return;
    }
    let Ok(entries) = fs::read_dir(path) else {
        files.push(path.into());
        return;
    };
    for entry in entries.flatten() {
        collect(&entry.path(), files);
    }
}

/// Two hashes after Fowler, Noll and Vo of all names and contents.
fn digest(files: &[PathBuf]) -> String {
    let mut hashes = [0xcbf2_9ce4_8422_2325_u64, 0x6c62_272e_07bb_0142];
    for file in files {
        let name = file.to_string_lossy().replace('\\', "/").into_bytes();
        let content = fs::read(file).unwrap_or_default();
        let length = content.len().to_le_bytes();
        for byte in [&name, &length[..], &content].into_iter().flatten() {
            for hash in &mut hashes {
                *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    format!("{:016x}{:016x}", hashes[0], hashes[1])
}

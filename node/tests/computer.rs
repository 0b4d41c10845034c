//! What the computer of a node gives to jobs, or refuses: cgroups, room on the disk. Only root mounts what these tests need;
//! otherwise they print SKIPPED.

#![allow(missing_docs, unused_crate_dependencies)]

mod grid;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use grid::{Grid, TIMES};

/// A file system that is taken away in the end.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: PathBuf, kind: &str, options: &str) -> Option<Self> {
        fs::create_dir_all(&at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", kind, "-o", options, "none"])
            .arg(&at)
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(at)),
            _ => {
                println!("SKIPPED: {kind} cannot be mounted here");
                None
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn set(grid: &Grid, table: &str, line: &str) {
    let file = grid.path("node0/node.toml");
    let text = fs::read_to_string(&file).unwrap();
    let table = format!("[{table}]\n");
    fs::write(file, text.replace(&table, &format!("{table}{line}\n"))).unwrap();
}

fn lives(pid: &Path) -> bool {
    let pid = fs::read_to_string(pid).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, behind)| !behind.starts_with('Z'))
}

#[test]
fn nothing_of_a_job_in_a_cgroup_is_left_when_it_ends() {
    let mut grid = Grid::empty(TIMES);
    let Some(mounted) = Mounted::new(grid.path("cgroup"), "cgroup2", "rw") else {
        return;
    };
    let parent = mounted.0.join(format!("gridweave-{}", std::process::id()));
    fs::create_dir(&parent).unwrap();
    grid.invite(&[]);
    set(&grid, "jobs", &format!("cgroup = \"{}\"", parent.display()));
    grid.start(0);
    let (seen, daemon) = (grid.path("seen"), grid.path("daemon"));
    let script = format!(
        "cat /proc/self/cgroup >{}; setsid sleep 60 >/dev/null 2>&1 & echo $! >{}; sleep 0.2",
        seen.display(),
        daemon.display()
    );
    let job = grid.submit(0, &["--time", "5s"], &script);
    let row = grid.end_of(0, &job);
    assert_eq!(row["phase"], "done", "{row}");
    let seen = fs::read_to_string(seen).unwrap();
    let number = job.trim_start_matches('j');
    assert!(seen.contains(&format!("/{number}-")), "{seen}");
    assert!(!lives(&daemon), "it ended with its job");
    grid.wait("its cgroup is removed", |_| {
        let left = fs::read_dir(&parent).unwrap().flatten();
        left.filter(|entry| entry.path().is_dir()).count() == 0
    });
    drop(grid);
    fs::remove_dir(parent).unwrap();
}

#[test]
fn an_agent_without_room_on_its_disk_ends_and_goes_on_when_there_is_some() {
    let mut grid = Grid::empty(TIMES);
    let Some(_mounted) = Mounted::new(grid.path("disk"), "tmpfs", "size=8m") else {
        return;
    };
    grid.invite(&[]);
    // The folder of the node is on the small disk.
    let (node, disk) = (grid.folder(0), grid.path("disk/node"));
    let copied = Command::new("cp").arg("-a").args([&node, &disk]).status();
    assert!(copied.unwrap().success());
    fs::remove_dir_all(&node).unwrap();
    std::os::unix::fs::symlink(&disk, &node).unwrap();
    grid.start(0);
    let first = grid.submit(0, &["--time", "5s"], "true");
    assert_eq!(grid.end_of(0, &first)["phase"], "done");
    let filling = grid.path("disk/filling");
    // As much as there is room for.
    let _ = Command::new("dd")
        .args(["if=/dev/zero", "bs=4096"])
        .arg(format!("of={}", filling.display()))
        .output();
    grid.wait("it ends", |grid| {
        grid.ask(0, &["submit", "--time", "5s", "--", "true"]);
        grid.log(0).contains("the agent ends")
    });
    assert!(grid.log(0).contains("No space left"), "{}", grid.log(0));
    grid.ended(0);
    fs::remove_file(filling).unwrap();
    grid.start(0);
    assert_eq!(grid.answer(0, &["status", &first])["phase"], "done");
    let later = grid.submit(0, &["--time", "5s"], "true");
    assert_eq!(grid.end_of(0, &later)["phase"], "done");
}

#[test]
fn many_jobs_of_one_submission_find_their_indices() {
    let grid = Grid::new(1, TIMES);
    let file = grid.path("indices");
    let script = format!("echo $GRIDWEAVE_INDEX >>{}", file.display());
    let options = ["submit", "--time", "1s", "--count", "3", "--wait"];
    let output = grid.ask(0, &[&options[..], &["--", "sh", "-c", &script]].concat());
    assert!(output.status.success(), "{output:?}");
    let mut indices: Vec<String> = fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    indices.sort();
    assert_eq!(indices, ["0", "1", "2"]);
    for bad in ["0", "1001"] {
        let refused = grid.ask(0, &["submit", "--time", "1s", "--count", bad, "--", "true"]);
        assert!(!refused.status.success());
    }
}

//! Which process it is: numbers of processes are used again, also after the computer was started anew.

use std::fs;

use nix::unistd::Pid;

/// A process, told from others that had or will have its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Process {
    pid: i32,
    /// In ticks since the computer was started.
    started: u64,
    boot: String,
}

/// What `/proc` says of a process.
struct Stat {
    parent: i32,
    started: u64,
    is_zombie: bool,
}

fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses, and may have spaces and parentheses.
    let (_, behind) = text.rsplit_once(") ")?;
    let mut fields = behind.split(' ');
    let is_zombie = fields.next()? == "Z";
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Stat {
        parent,
        started,
        is_zombie,
    })
}

fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.unwrap_or_default().trim().to_owned()
}

impl Process {
    /// The process with this number, if there is one.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let started = stat(pid)?.started;
        let boot = boot();
        Some(Self { pid, started, boot })
    }

    /// Whether it still runs.
    pub(super) fn lives(&self) -> bool {
        let found = stat(self.pid);
        found.is_some_and(|stat| stat.started == self.started && !stat.is_zombie)
            && boot() == self.boot
    }

    /// Whether it is, or was, one of this computer since it was started.
    pub(super) fn is_local(&self) -> bool {
        boot() == self.boot
    }

    /// Its number, if it still runs.
    pub(super) fn pid(&self) -> Option<Pid> {
        self.lives().then(|| Pid::from_raw(self.pid))
    }

    pub(super) fn to_text(&self) -> String {
        format!("{} {} {}", self.pid, self.started, self.boot)
    }

    pub(super) fn from_text(text: &str) -> Option<Self> {
        let mut words = text.trim().splitn(3, ' ');
        Some(Self {
            pid: words.next()?.parse().ok()?,
            started: words.next()?.parse().ok()?,
            boot: words.next()?.to_owned(),
        })
    }
}

/// The processes that have this one as their parent. It has one thread.
pub(super) fn own_children() -> Vec<Pid> {
    let own = std::process::id();
    let pids = |text: &str| text.split(' ').filter_map(|pid| pid.parse().ok()).collect();
    let pids: Vec<i32> = match fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(listed) => pids(&listed),
        // A kernel may be built without this file.
        Err(_) => all_processes()
            .filter(|pid| stat(*pid).is_some_and(|stat| i64::from(stat.parent) == i64::from(own)))
            .collect(),
    };
    pids.into_iter().map(Pid::from_raw).collect()
}

fn all_processes() -> impl Iterator<Item = i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_another_with_its_number() {
        let own = Process::of(std::process::id() as i32).unwrap();
        assert!(own.lives());
        assert_eq!(Process::from_text(&own.to_text()), Some(own.clone()));
        let earlier = Process {
            started: own.started - 1,
            ..own.clone()
        };
        assert!(!earlier.lives());
        let boot = "another".to_owned();
        assert!(!Process { boot, ..own }.lives());
        assert_eq!(Process::of(-1), None);
    }
}

//! A cgroup (version 2) for each attempt: limits for all its processes together, and an end for all of them at once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::program::Limits;

/// The cgroup of an attempt.
pub(super) struct Cgroup(PathBuf);

impl Cgroup {
    /// Makes the cgroup of this name below another one.
    pub(super) fn make(parent: &Path, name: &str, limits: &Limits) -> io::Result<Self> {
        let path = parent.join(name);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let cgroup = Self(path);
        match cgroup.limit(limits) {
            Ok(()) => Ok(cgroup),
            Err(error) => {
                cgroup.remove();
                Err(error)
            }
        }
    }

    fn limit(&self, limits: &Limits) -> io::Result<()> {
        if let Some(memory) = limits.memory
            && self.limits_memory()
        {
            self.set("memory.max", memory)?;
            // Swap would be memory beyond the limit; there may be no such file.
            let _ = self.set("memory.swap.max", 0);
        }
        if let Some(processes) = limits.processes {
            self.set("pids.max", processes)?;
        }
        Ok(())
    }

    /// Whether it can limit memory: its parent may not have the controller.
    pub(super) fn limits_memory(&self) -> bool {
        self.0.join("memory.max").exists()
    }

    /// The cgroup that an earlier process made.
    pub(super) fn of(parent: &Path, name: &str) -> Self {
        Self(parent.join(name))
    }

    fn set(&self, file: &str, value: u64) -> io::Result<()> {
        fs::write(self.0.join(file), value.to_string())
    }

    /// This process, and those that it starts, belong to it from now on.
    pub(super) fn enter(&self) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), std::process::id().to_string())
    }

    /// Kills all its processes.
    pub(super) fn kill(&self) {
        // It is gone, or the kernel has no such file: processes are killed one by one, too.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }

    /// Removes it, when its processes are gone.
    pub(super) fn remove(&self) {
        let _ = fs::remove_dir(&self.0);
    }
}

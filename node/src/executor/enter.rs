use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, User, getppid, initgroups, setgid, setuid};

use super::cgroup::Cgroup;
use super::folder::{Folder, Order};

/// What the process of a program does before it becomes the program: it takes its place in the cgroup, its limits, its
/// user and its files, and makes sure that it dies with its supervisor. Returns only if that fails.
pub fn enter(folder: &Path, supervisor: i32) -> io::Error {
    let order = match Folder::new(folder).order() {
        Ok(order) => order,
        Err(error) => return error,
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    match prepare(&order, &name, supervisor) {
        Err(error) => error,
        Ok((output, error_output)) => {
            let mut told = error_output.try_clone();
            let (program, arguments) = match order.program.argv.split_first() {
                Some((program, arguments)) => (program, arguments),
                None => return io::Error::other("there is no program"),
            };
            let error = Command::new(program)
                .args(arguments)
                .env_clear()
                .envs(&order.environment)
                .stdin(Stdio::null())
                .stdout(output)
                .stderr(error_output)
                .exec();
            if let Ok(told) = &mut told {
                // The user looks for the reason there.
                let _ = writeln!(told, "gridweave-node: cannot run {program}: {error}");
            }
            error
        }
    }
}

fn prepare(order: &Order, name: &str, supervisor: i32) -> io::Result<(File, File)> {
    let cgroup = order.cgroup.as_ref();
    let cgroup = cgroup.map(|parent| Cgroup::of(parent, name));
    if let Some(cgroup) = &cgroup {
        cgroup.enter()?;
    }
    if let Some(memory) = order.program.limits.memory
        && !cgroup.is_some_and(|cgroup| cgroup.limits_memory())
    {
        setrlimit(Resource::RLIMIT_AS, memory, memory)?;
    }
    if let Some(files) = order.program.limits.files {
        setrlimit(Resource::RLIMIT_NOFILE, files, files)?;
    }
    if let Some(name) = &order.user {
        become_user(name)?;
    }
    // After the change of the user, which would undo it.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    prctl::set_no_new_privs()?;
    if getppid() != Pid::from_raw(supervisor) {
        return Err(io::Error::other("the supervisor has died"));
    }
    // The supervisor has blocked some.
    SigSet::empty().thread_set_mask()?;
    std::env::set_current_dir(&order.folder)?;
    Ok((create(&order.output)?, create(&order.error)?))
}

fn create(file: &Path) -> io::Result<File> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).append(true).open(file)
}

fn become_user(name: &str) -> io::Result<()> {
    let user = User::from_name(name)?;
    let user = user.ok_or_else(|| io::Error::other(format!("there is no user '{name}'")))?;
    initgroups(&CString::new(name)?, user.gid)?;
    setgid(user.gid)?;
    setuid(user.uid)?;
    Ok(())
}

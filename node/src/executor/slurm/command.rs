//! Slurm's commands: argument vectors, never a shell, and each ends in time.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::listing::MOST;

/// The most bytes of a complaint that are kept.
const COMPLAINT: u64 = 4096;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoAnswer {
    /// The controller does not answer, or not in time. What was asked may have been done, or may be done later.
    Silent(String),
    /// It was refused.
    Refused(String),
}

/// How Slurm's commands are called.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    pub(super) folder: Option<PathBuf>,
    pub(super) conf: Option<String>,
    pub(super) timeout: Duration,
}

impl Commands {
    /// Calls a command, and returns what it prints.
    pub(super) fn call(&self, name: &str, arguments: &[String]) -> Result<String, NoAnswer> {
        let path = match &self.folder {
            Some(folder) => folder.join(name),
            None => PathBuf::from(name),
        };
        let mut command = Command::new(&path);
        command.args(arguments).env_clear();
        for name in ["PATH", "HOME", "USER", "LOGNAME", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let conf = self.conf.clone().map(Into::into);
        if let Some(conf) = conf.or_else(|| std::env::var_os("SLURM_CONF")) {
            command.env("SLURM_CONF", conf);
        }
        // Times as seconds since 1970, whatever the zone.
        command.env("SLURM_TIME_FORMAT", "%s").env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).current_dir("/");
        let began = Instant::now();
        let ran = command.spawn().and_then(|child| self.wait(child));
        match ran {
            Err(error) => Err(NoAnswer::Silent(format!("{}: {error}", path.display()))),
            Ok(Ran::TooLong) => {
                let seconds = began.elapsed().as_secs_f64();
                let why = format!("{name} gave no answer in {seconds:.1} s");
                Err(NoAnswer::Silent(why))
            }
            Ok(Ran::Ended {
                succeeded: true,
                output,
                ..
            }) => Ok(output),
            Ok(Ran::Ended { complaint, .. }) => {
                let why = format!("{name}: {}", last_line(&complaint));
                Err(match is_of_contact(&complaint) {
                    true => NoAnswer::Silent(why),
                    false => NoAnswer::Refused(why),
                })
            }
        }
    }

    fn wait(&self, mut child: Child) -> io::Result<Ran> {
        let until = Instant::now() + self.timeout;
        let output = child.stdout.take().map(|pipe| read(pipe, MOST as u64));
        let complaint = child.stderr.take().map(|pipe| read(pipe, COMPLAINT));
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() >= until {
                child.kill()?;
                child.wait()?;
                return Ok(Ran::TooLong);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let text = |thread: Option<JoinHandle<String>>| {
            thread
                .and_then(|thread| thread.join().ok())
                .unwrap_or_default()
        };
        Ok(Ran::Ended {
            succeeded: status.success(),
            output: text(output),
            complaint: text(complaint),
        })
    }
}

enum Ran {
    TooLong,
    Ended {
        succeeded: bool,
        output: String,
        complaint: String,
    },
}

fn read(pipe: impl Read + Send + 'static, most: u64) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut pipe = pipe;
        let mut bytes = Vec::new();
        // What was read by then is all that is known.
        let _ = pipe.by_ref().take(most).read_to_end(&mut bytes);
        let _ = io::copy(&mut pipe, &mut io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or("it failed")
}

/// Whether a complaint says that the controller was not reached, or did not answer: then it may have done what was asked.
pub(super) fn is_of_contact(complaint: &str) -> bool {
    const WORDS: [&str; 12] = [
        "contact slurm controller",
        "timed out",
        "Connection refused",
        "Connection reset",
        "Zero Bytes",
        "ommunication",
        "standby",
        "receive failure",
        "Transport endpoint",
        "authentication",
        "temporarily unavailable",
        "Unable to resolve",
    ];
    WORDS.iter().any(|word| complaint.contains(word))
}

/// A word for `sh` in single quotes.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

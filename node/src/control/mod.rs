//! What users and administrators ask of an agent, over a Unix socket: a request is a line of JSON, and so is an answer.
//!
//! Only the user of the agent and root can open the socket. The operating system says which user is at the other end.

mod client;
mod server;

pub use client::{Client, ClientError};
pub use server::{Elsewhere, serve};

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::executor::Program;

/// The longest line of a request, in bytes.
pub const MOST_LINE: usize = 64 << 10;

/// The socket in the folder of a node.
pub fn socket_of(folder: &Path) -> PathBuf {
    folder.join("control.socket")
}

/// What is asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
pub enum Request {
    /// Run a job.
    Submit(Box<Submission>),
    /// Stop a job, wherever it waits or runs.
    Cancel {
        /// Its id, as `j7`.
        job: String,
    },
    /// Take no new jobs.
    Drain,
    /// Take jobs again.
    Resume,
    /// Which jobs were submitted here.
    Jobs {
        /// Also those that have ended.
        #[serde(default)]
        all: bool,
    },
    /// How one job is.
    Job {
        /// Its id, as `j7`.
        job: String,
    },
    /// How the node is.
    Status,
    /// Which nodes it talks to.
    Peers,
    /// What each user had here.
    Usage,
    /// All figures, in the text format of Prometheus.
    Figures,
    /// What happens to jobs from now on: a line for each event, until the connection ends.
    Events,
}

/// A job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// What to run.
    pub program: Program,
    /// How many nodes it wants at once.
    #[serde(default = "one")]
    pub nodes: u32,
    /// How many cores it gets, or each of its nodes must have.
    #[serde(default)]
    pub cores: Option<u32>,
    /// How many gigabytes of memory each of its nodes must have.
    #[serde(default)]
    pub memory: u64,
    /// How many accelerators each of its nodes must have.
    #[serde(default)]
    pub accelerators: u64,
    /// For how many seconds it may run.
    pub seconds: f64,
    /// How many times it is submitted, each as a job of its own that finds its index in `GRIDWEAVE_INDEX`.
    #[serde(default = "one")]
    pub count: u32,
    /// When it may run again.
    #[serde(default)]
    pub again: Again,
    /// How often it may run again.
    #[serde(default)]
    pub times: u8,
}

const fn one() -> u32 {
    1
}

/// When a job may run again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Again {
    /// It runs once.
    #[default]
    Never,
    /// After a node was lost.
    Lost,
    /// Also after it broke, or ran for too long.
    Always,
}

/// What an agent answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It is done, or this is what was asked.
    Ok(Value),
    /// It is not done; the reason in a line.
    Error(String),
}

impl Answer {
    /// What was asked.
    pub const fn ok(value: Value) -> Self {
        Self::Ok(value)
    }

    /// Why nothing is done.
    pub fn error(why: impl Into<String>) -> Self {
        Self::Error(why.into())
    }
}

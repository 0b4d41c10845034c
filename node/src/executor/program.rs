use std::collections::BTreeMap;

use gridweave_core::job::Payload;
use serde::{Deserialize, Serialize};

/// What to run for a job: this is what a job's payload has, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables of its environment, beside those that every job has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Where it runs; in a new folder of its own if this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Where its output goes: `stdout` in its folder if this is missing. `%j` is the job, `%r` the rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where its error output goes: `stderr` in its folder if this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it may use.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
}

/// What a program may use on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of memory: of all its processes with a cgroup, else of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Open files of each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Processes: only with a cgroup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
}

impl Limits {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a program cannot be that of a job.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// There is no program.
    #[error("there is nothing to run: name a program")]
    Empty,
    /// A text has a zero byte, or a variable has no proper name.
    #[error("'{0}' cannot be passed to a program")]
    Unusable(String),
    /// It does not fit into a job.
    #[error(
        "the program, its arguments and its environment take {0} bytes, and a job has room for 4096: put them into a script"
    )]
    TooLong(usize),
    /// The payload is that of another host.
    #[error("the job has no program that this agent can read: {0}")]
    Unreadable(String),
}

impl Program {
    /// Refuses what cannot be run.
    fn check(&self) -> Result<(), ProgramError> {
        if self.argv.first().is_none_or(String::is_empty) {
            return Err(ProgramError::Empty);
        }
        let named = self.environment.keys();
        if let Some(bad) = named
            .clone()
            .find(|name| name.is_empty() || name.contains('='))
        {
            return Err(ProgramError::Unusable(bad.clone()));
        }
        let files = [&self.folder, &self.output, &self.error];
        let files = files.into_iter().flatten();
        let mut texts = named
            .chain(self.environment.values())
            .chain(&self.argv)
            .chain(files);
        match texts.find(|text| text.contains('\0')) {
            Some(bad) => Err(ProgramError::Unusable(bad.replace('\0', "\\0"))),
            None => Ok(()),
        }
    }

    /// The payload of its job.
    pub fn to_payload(&self) -> Result<Payload, ProgramError> {
        self.check()?;
        let text = serde_json::to_vec(self);
        let text = text.map_err(|error| ProgramError::Unreadable(error.to_string()))?;
        Payload::new(&text).map_err(|_| ProgramError::TooLong(text.len()))
    }

    /// What a payload says.
    pub fn from_payload(payload: &Payload) -> Result<Self, ProgramError> {
        let program: Self = serde_json::from_slice(payload.as_bytes())
            .map_err(|error| ProgramError::Unreadable(error.to_string()))?;
        program.check()?;
        Ok(program)
    }
}

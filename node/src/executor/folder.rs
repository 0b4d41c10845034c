//! The folder of an attempt, through which an agent and a supervisor talk.
//!
//! | file | written by | what |
//! |---|---|---|
//! | `order` | agent | what to run, as JSON |
//! | `until` | agent | until when it may run, in microseconds since 1970 |
//! | `supervisor` | supervisor | which process it is |
//! | `outcome` | supervisor | how it ended, as JSON |
//!
//! Each file is written whole or not at all. An outcome must outlive the computer: the agent has it in its store, removes
//! the folder, and then the supervisor ends; without an agent the supervisor writes it through to the disk. The other
//! files are for processes that do not outlive the computer.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use gridweave_core::id::{OrganisationId, UserId};
use gridweave_core::job::{Outcome, Submitter};
use gridweave_core::time::Time;
use serde::{Deserialize, Serialize};

use super::liveness::Process;
use super::{Ended, Program};

/// What a supervisor is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) program: Program,
    /// All variables of its environment.
    pub(super) environment: BTreeMap<String, String>,
    /// Where it runs.
    pub(super) folder: PathBuf,
    pub(super) output: PathBuf,
    pub(super) error: PathBuf,
    /// The user that it runs as; that of the agent if this is missing.
    pub(super) user: Option<String>,
    /// The cgroup below which it gets its own.
    pub(super) cgroup: Option<PathBuf>,
    /// The socket of the agent, which likes to hear of the end at once.
    pub(super) socket: PathBuf,
    /// For how long it may run, in microseconds, whatever `until` says.
    #[serde(default)]
    pub(super) longest: Option<u64>,
    /// The offset of the clock by which `until` is meant, in microseconds.
    pub(super) clock_offset: i64,
    /// The submitter: user and organisation.
    pub(super) submitter: (u32, u32),
}

/// How an attempt ended, as its supervisor saw it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Verdict {
    pub(super) outcome: Kind,
    /// In words.
    pub(super) how: String,
    pub(super) began: u64,
    pub(super) ended: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Done,
    Broke,
    Overran,
}

impl From<Kind> for Outcome {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Done => Self::Done,
            Kind::Broke => Self::Broke,
            Kind::Overran => Self::Overran,
        }
    }
}

/// The folder of one attempt.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn write_order(&self, order: &Order) -> io::Result<()> {
        let text = serde_json::to_vec(order)?;
        write(&self.0.join("order"), &text, Outlives::Process)
    }

    pub(super) fn order(&self) -> io::Result<Order> {
        Ok(serde_json::from_slice(&fs::read(self.0.join("order"))?)?)
    }

    pub(super) fn write_until(&self, until: Time) -> io::Result<()> {
        let text = until.as_micros().to_string();
        write(&self.0.join("until"), text.as_bytes(), Outlives::Process)
    }

    /// Until when it may run: no longer, if that cannot be read.
    pub(super) fn until(&self) -> Time {
        self.told_until().unwrap_or(Time::ZERO)
    }

    /// The same, if it can be read.
    pub(super) fn told_until(&self) -> Option<Time> {
        let text = fs::read_to_string(self.0.join("until")).ok()?;
        Some(Time::from_micros(text.parse().ok()?))
    }

    pub(super) fn write_supervisor(&self, process: &Process) -> io::Result<()> {
        let text = process.to_text();
        write(
            &self.0.join("supervisor"),
            text.as_bytes(),
            Outlives::Process,
        )
    }

    pub(super) fn supervisor(&self) -> Option<Process> {
        Process::from_text(&fs::read_to_string(self.0.join("supervisor")).ok()?)
    }

    pub(super) fn write_verdict(&self, verdict: &Verdict) -> io::Result<()> {
        let text = serde_json::to_vec(verdict)?;
        write(&self.0.join("outcome"), &text, Outlives::Process)
    }

    /// Whether the agent has forgotten the attempt.
    pub(super) fn is_gone(&self) -> bool {
        !self.0.exists()
    }

    /// Has the outcome outlive a loss of power from now on.
    pub(super) fn sync_verdict(&self) -> io::Result<()> {
        File::open(self.0.join("outcome"))?.sync_all()?;
        File::open(&self.0)?.sync_all()
    }

    /// How it ended, if it has.
    pub(super) fn ended(&self) -> Option<Ended> {
        let text = fs::read(self.0.join("outcome")).ok()?;
        let verdict: Verdict = serde_json::from_slice(&text).ok()?;
        Some(Ended {
            outcome: verdict.outcome.into(),
            submitter: self.submitter(),
            began: Time::from_micros(verdict.began),
            ended: Time::from_micros(verdict.ended),
            how: verdict.how,
        })
    }

    pub(super) fn submitter(&self) -> Submitter {
        let (user, organisation) = self.order().map_or((0, 0), |order| order.submitter);
        Submitter {
            user: UserId::new(user),
            organisation: OrganisationId::new(organisation),
        }
    }
}

/// What a file must outlive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outlives {
    /// Its writer.
    Process,
    /// A loss of power: it is on the disk when this returns.
    Computer,
}

/// Writes a file whole or not at all.
pub(super) fn write(path: &Path, bytes: &[u8], outlives: Outlives) -> io::Result<()> {
    let draft = path.with_extension("draft");
    fs::write(&draft, bytes)?;
    if outlives == Outlives::Computer {
        File::open(&draft)?.sync_all()?;
    }
    fs::rename(&draft, path)?;
    match (outlives, path.parent()) {
        (Outlives::Computer, Some(folder)) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

//! What a node is told by its administrator: the file `node.toml` in its folder.
//!
//! The tables `[grid]` and `[times]` must be the same on all nodes: `gridweave-node invite` copies them from the grid's
//! own file. The other settings are the node's own.

mod slurm;
mod spans;
#[cfg(test)]
mod tests;

pub use slurm::Slurm;
pub use spans::{Length, length};

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;

use gridweave_core::id::NodeId;
use gridweave_core::scheduler::agent::{self, Distance};
use serde::{Deserialize, Serialize};

use crate::identity::number;
use crate::policy::MOST_NAMED;

/// The file in a node's folder.
pub const FILE: &str = "node.toml";

/// All settings of a node.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What the node listens at, and which nodes introduce it.
    pub network: Network,
    /// What all nodes of the grid have in common.
    pub grid: Grid,
    /// Times of the protocols, the same on all nodes; those that are missing are the network's.
    pub times: Times,
    /// How jobs run here.
    pub jobs: Jobs,
    /// Which jobs run here.
    pub policy: Policy,
    /// What the node tells of itself.
    pub observe: Observe,
    /// The Slurm cluster that the node stands before, if it runs no jobs itself. Only with `aria`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slurm: Option<Slurm>,
}

/// What a node listens at, and which nodes introduce it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// The UDP address to listen at. With port 0 the kernel chooses one at the first start, and it is kept.
    pub listen: SocketAddr,
    /// The address that peers are told, if it is not the one from which messages come.
    pub advertise: Option<SocketAddr>,
    /// Nodes of the grid through which this one joins, at most four. Without any it is the first.
    pub introducers: Vec<Introducer>,
    /// Nodes that are refused although their certificates are valid.
    pub banned: Vec<Name>,
    /// The most connections at once.
    pub connections: usize,
    /// Seconds by which the clock of this node is set off: for tests.
    pub clock_offset: f64,
}

/// What all nodes of a grid have in common.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grid {
    /// What people call it.
    pub name: String,
    /// How jobs find nodes.
    pub scheduler: Scheduler,
    /// How far the nodes are from each other.
    pub distance: Distance,
    /// For `desktop`: the most cores, gigabytes of memory and accelerators that any node has.
    pub most: Option<[u64; 3]>,
}

/// How jobs find nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// Whole nodes, several at once, as soon as possible.
    #[default]
    Asap,
    /// Whole nodes, several at once, near each other or soon.
    Criteria,
    /// Cores of one node, of which each has a queue of its own.
    Aria,
    /// Cores of one desktop that has what the job needs.
    Desktop,
}

/// Times of the protocols.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Times {
    /// Jobs start at multiples of this, and get multiples of it.
    pub slot: Option<Length>,
    /// From a search to the start of a job.
    pub lead: Option<Length>,
    /// From the commit of a job to its start.
    pub commit_lead: Option<Length>,
    /// How much longer a job may run than it says.
    pub margin: Option<Length>,
    /// The longest that a job runs on without a word of the node where it was submitted, and the longest until it goes on
    /// elsewhere when its own node is lost. An agent may be away for a third of it.
    pub lease: Option<Length>,
    /// The largest difference of two clocks.
    pub max_skew: Option<Length>,
    /// How often a waiting job is searched for again.
    pub improve: Option<Length>,
    /// For `aria`: by how much sooner a waiting job must be done at another site to move there.
    pub gain: Option<Length>,
}

impl From<Times> for agent::Times {
    fn from(times: Times) -> Self {
        let span = |given: Option<Length>| given.map(|Length(span)| span);
        Self {
            slot: span(times.slot),
            lead: span(times.lead),
            commit_lead: span(times.commit_lead),
            margin: span(times.margin),
            lease: span(times.lease),
            silence: None,
            max_skew: span(times.max_skew),
            improve: span(times.improve),
            gain: span(times.gain),
        }
    }
}

/// How jobs run here.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Jobs {
    /// The user that jobs run as, if the agent runs as root.
    pub user: Option<String>,
    /// Whether jobs may run as root.
    pub allow_root: bool,
    /// The cores that jobs may use: all by default. Only `aria` and `desktop` count them.
    pub cores: Option<u32>,
    /// Gigabytes of memory: all by default.
    pub memory: Option<u64>,
    /// The number of accelerators.
    pub accelerators: u64,
    /// A cgroup (version 2) below which each job gets one of its own, such as `/sys/fs/cgroup/gridweave`.
    pub cgroup: Option<String>,
}

/// Which jobs run here.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The organisations whose jobs run here; all if there are none. The node's own is always among them.
    pub organisations: Vec<u32>,
    /// The most unfinished jobs of one user that were submitted here.
    pub most_jobs_per_user: Option<u32>,
}

/// What a node tells of itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Observe {
    /// The loopback address of the status page and of figures for Prometheus.
    pub web: Option<SocketAddr>,
    /// The least severe lines that are written: `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// Whether lines are JSON.
    pub json: bool,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([0, 0, 0, 0], 4850)),
            advertise: None,
            introducers: Vec::new(),
            banned: Vec::new(),
            connections: 1024,
            clock_offset: 0.0,
        }
    }
}

impl Default for Observe {
    fn default() -> Self {
        Self {
            web: None,
            level: "info".to_owned(),
            json: false,
        }
    }
}

/// A node and its address, written `n7@10.0.0.1:4850`. The address may have the name of a computer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Introducer {
    /// The id in its certificate.
    pub node: NodeId,
    /// Its address, or a name and a port.
    pub address: String,
}

impl TryFrom<String> for Introducer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong =
            || format!("'{text}' is no introducer: write NODE@ADDRESS:PORT, as n7@10.0.0.1:4850");
        let (node, address) = text.split_once('@').ok_or_else(wrong)?;
        let node = number(node, 'n').map(NodeId::new).ok_or_else(wrong)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        if host.is_empty() || port.parse::<u16>().is_err() {
            return Err(wrong());
        }
        let address = address.to_owned();
        Ok(Self { node, address })
    }
}

impl From<Introducer> for String {
    fn from(introducer: Introducer) -> Self {
        introducer.to_string()
    }
}

impl fmt::Display for Introducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.node, self.address)
    }
}

/// The id of a node, written `n7`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(pub NodeId);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let node = number(&text, 'n').map(|node| Self(NodeId::new(node)));
        node.ok_or_else(|| format!("'{text}' is no node: write its id, as n7"))
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.to_string()
    }
}

/// Why settings are refused: one line with the file and the place in it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

impl Settings {
    /// The settings in this file.
    pub fn read(file: &Path) -> Result<Self, SettingsError> {
        let shown = file.display();
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| SettingsError(format!("cannot read {shown}: {error}")))?;
        let settings: Self = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                1 + text
                    .get(..span.start)
                    .unwrap_or_default()
                    .matches('\n')
                    .count()
            });
            let why = error.message().lines().next().unwrap_or_default();
            SettingsError(format!("{shown}, line {line}: {why}"))
        })?;
        let refuse = |why: &str| Err(SettingsError(format!("{shown}: {why}")));
        if settings.network.introducers.len() > 4 {
            return refuse("network.introducers has more than four nodes: keep the most reliable");
        }
        if settings.policy.organisations.len() > MOST_NAMED {
            return refuse(
                "policy.organisations has more than fifteen: name none to run jobs of all",
            );
        }
        if settings.grid.scheduler == Scheduler::Desktop
            && !settings.policy.organisations.is_empty()
        {
            return refuse(
                "policy.organisations bounds nothing under 'desktop', which runs the jobs of all: remove it, or choose another scheduler",
            );
        }
        if settings
            .observe
            .web
            .is_some_and(|web| !web.ip().is_loopback())
        {
            return refuse("observe.web is not a loopback address: use 127.0.0.1 and a proxy");
        }
        if !settings.network.clock_offset.is_finite() {
            return refuse("network.clock_offset is not a number of seconds");
        }
        if let Some(slurm) = &settings.slurm {
            let scheduler = settings.grid.scheduler;
            if let Err(why) = slurm.check(scheduler, &settings.jobs) {
                return refuse(&why);
            }
        }
        if settings.observe.level.parse::<tracing::Level>().is_err() {
            return refuse("observe.level is not error, warn, info, debug or trace");
        }
        Ok(settings)
    }

    /// The same, as a file has it.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

use serde::{Deserialize, Serialize};

use super::{Jobs, Length, Scheduler};

/// The Slurm cluster that a node stands before: one partition of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slurm {
    /// The partition for jobs of the grid: the cluster's default one if this is missing.
    pub partition: Option<String>,
    /// The account that is charged for jobs of the grid.
    pub account: Option<String>,
    /// Their quality of service.
    pub qos: Option<String>,
    /// The cluster's configuration, if it is not where Slurm's own commands find it.
    pub conf: Option<String>,
    /// Where `gridweave-node` is on the computers of the partition, if not where it is on this one.
    pub program: Option<String>,
    /// The folder of Slurm's commands, if they are not on the path.
    pub commands: Option<String>,
    /// The folder of attempts and outputs, which this computer and all of the partition see under this name; the folder of
    /// the node if this is missing.
    pub folder: Option<String>,
    /// How often the queue is asked for: every ten seconds if this is missing.
    pub interval: Option<Length>,
    /// How long a command of Slurm may take: five seconds if this is missing.
    pub timeout: Option<Length>,
    /// More options of `sbatch` for all jobs of the grid, as `--licenses=matlab:1`.
    pub options: Vec<String>,
    /// A file that gets a line for each job that starts: when it was forecast to start by this node, and by Slurm.
    pub forecasts: Option<String>,
}

/// Options that the agent sets itself.
const OWN: [&str; 16] = [
    "--job-name",
    "-J",
    "--array",
    "-a",
    "--requeue",
    "--parsable",
    "--wrap",
    "--output",
    "-o",
    "--wait",
    "-W",
    "--nodes",
    "-N",
    "--chdir",
    "-D",
    "--test-only",
];

impl Slurm {
    pub(super) fn check(&self, scheduler: Scheduler, jobs: &Jobs) -> Result<(), String> {
        if scheduler != Scheduler::Aria {
            return Err("[slurm] needs grid.scheduler = \"aria\"".to_owned());
        }
        if jobs.user.is_some() || jobs.cgroup.is_some() {
            return Err("jobs.user and jobs.cgroup have no effect with [slurm]: run the agent as the user that submits jobs".to_owned());
        }
        let name = |option: &String| option.split('=').next().unwrap_or_default().to_owned();
        if let Some(bad) = self.options.iter().find(|option| {
            !option.starts_with('-')
                || OWN.contains(&name(option).as_str())
                || option.contains('\0')
        }) {
            return Err(format!(
                "slurm.options: '{bad}' is set by the agent, or is no option of sbatch in one word"
            ));
        }
        let is_word = |text: &String| !text.is_empty() && !text.starts_with('-');
        for (what, text) in [
            ("partition", &self.partition),
            ("account", &self.account),
            ("qos", &self.qos),
        ] {
            if text.as_ref().is_some_and(|text| !is_word(text)) {
                return Err(format!("slurm.{what} is no name"));
            }
        }
        for (what, length) in [("interval", self.interval), ("timeout", self.timeout)] {
            if length.is_some_and(|Length(span)| span.as_micros() < 100_000) {
                return Err(format!("slurm.{what} is shorter than 100ms"));
            }
        }
        Ok(())
    }
}

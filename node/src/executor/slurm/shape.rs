//! What a partition is: from `scontrol show config`, `scontrol -o show partition` and `sinfo`.

use std::num::NonZeroU32;

use gridweave_core::scheduler::agent::Mirror;
use gridweave_core::time::Span;
use serde::{Deserialize, Serialize};

use super::listing::limit;

/// The most jobs of a site that are mirrored.
const MOST: usize = 20_000;

/// A partition, as its configuration says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// The version of Slurm.
    pub version: String,
    /// Its name.
    pub partition: String,
    /// All processors of computers that are not down.
    pub processors: NonZeroU32,
    /// Those of the largest computer.
    pub cores: NonZeroU32,
    /// Gigabytes of memory of the largest computer.
    pub memory: u64,
    /// Accelerators of the computer with the most.
    pub accelerators: u64,
    /// Whether short jobs may pass.
    pub backfills: bool,
    /// The longest that a job may run, in microseconds.
    pub longest: Option<u64>,
    /// What the forecasts leave out, in words.
    pub remarks: Vec<String>,
}

/// Why a partition cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unfit {
    /// As it is set up.
    Refused(String),
    /// None of its computers is up now.
    Down(String),
}

/// The value of a key in `scontrol show config`.
fn value<'a>(config: &'a str, key: &str) -> Option<&'a str> {
    let lines = config.lines().filter_map(|line| line.split_once('='));
    let mut named = lines.filter(|(name, _)| name.trim() == key);
    Some(named.next()?.1.trim())
}

/// The value of a key in a line of `scontrol -o show partition`.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut words = line.split(' ');
    words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

impl Shape {
    /// Reads the three answers, or says why the partition cannot be used.
    pub(super) fn read(
        wanted: Option<&str>,
        config: &str,
        partitions: &str,
        nodes: &str,
    ) -> Result<Self, Unfit> {
        let is_wanted = |line: &&str| match wanted {
            Some(name) => field(line, "PartitionName") == Some(name),
            None => field(line, "Default") == Some("YES"),
        };
        let line = partitions.lines().find(is_wanted);
        let line = line.ok_or_else(|| {
            Unfit::Refused(match wanted {
                Some(name) => format!("Slurm has no partition '{name}': see slurm.partition"),
                None => "Slurm has no default partition: name one in slurm.partition".to_owned(),
            })
        })?;
        let partition = field(line, "PartitionName").unwrap_or_default().to_owned();
        let of_config = |key| value(config, key).unwrap_or_default();
        let select = of_config("SelectType");
        let shares = field(line, "OverSubscribe").unwrap_or_default();
        if select == "select/linear"
            || shares.starts_with("EXCLUSIVE")
            || field(line, "ExclusiveUser") == Some("YES")
        {
            return Err(Unfit::Refused(format!(
                "partition {partition} gives whole computers to a job or a user ({select}, OverSubscribe={shares}): that is not mirrored, name another one in slurm.partition"
            )));
        }
        let (mut processors, mut cores, mut memory, mut accelerators) = (0_u32, 0_u32, 0, 0);
        for line in nodes.lines() {
            let mut fields = line.split('|');
            let mut number = || fields.next()?.trim_end_matches('+').parse::<u64>().ok();
            let (Some(count), Some(megabytes)) = (number(), number()) else {
                continue;
            };
            let (gres, state) = (fields.next(), fields.next().unwrap_or_default());
            // One that does not respond is soon back, or down: a controller that was just started knows no better.
            let is_away = ["down", "drain", "drng", "fail", "maint", "futr"];
            if is_away.iter().any(|away| state.starts_with(away)) {
                continue;
            }
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            processors = processors.saturating_add(count);
            cores = cores.max(count);
            memory = memory.max(megabytes / 1024);
            accelerators = accelerators.max(gres.map_or(0, gpus));
        }
        let none = || {
            Unfit::Down(format!(
                "no computer of partition {partition} is up: sinfo shows why"
            ))
        };
        let processors = NonZeroU32::new(processors).ok_or_else(none)?;
        let cores = NonZeroU32::new(cores).ok_or_else(none)?;
        let mut remarks = Vec::new();
        let mut remark = |is_so: bool, text: &str| {
            if is_so {
                remarks.push(text.to_owned());
            }
        };
        let priorities = of_config("PriorityType");
        remark(
            priorities != "priority/basic",
            "PriorityType is not priority/basic: forecasts take jobs in the order in which Slurm lists them now",
        );
        remark(
            of_config("PrivateData").contains("jobs"),
            "PrivateData hides jobs of other users: forecasts lack them",
        );
        let preempts = field(line, "PreemptMode").unwrap_or("OFF");
        remark(
            preempts != "OFF",
            "jobs may be preempted: such a job is lost, and placed again if its user allows it",
        );
        Ok(Self {
            version: of_config("SLURM_VERSION").to_owned(),
            processors,
            cores,
            memory,
            accelerators,
            backfills: of_config("SchedulerType") == "sched/backfill",
            longest: field(line, "MaxTime").and_then(limit).map(Span::as_micros),
            remarks,
            partition,
        })
    }

    /// The same for the scheduler.
    pub fn mirror(&self) -> Mirror {
        Mirror {
            processors: self.processors,
            backfills: self.backfills,
            longest: self.longest.map(Span::from_micros),
            most: MOST,
        }
    }
}

/// The accelerators in `gpu:2,gpu:a100:4(S:0-1)`.
fn gpus(gres: &str) -> u64 {
    let named = gres.split(',').filter(|part| part.starts_with("gpu"));
    let counts = named.filter_map(|part| {
        let part = part.split('(').next()?;
        part.rsplit(':').next()?.parse::<u64>().ok()
    });
    counts.sum()
}
